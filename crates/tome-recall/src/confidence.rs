//! How likely a hit is relevant.
//!
//! The estimate is a logistic regression over what is known of a hit, fitted on the development
//! sets and checked on each of them with a fit on the others. A second one rates the turns of the best hits; it
//! was fitted on questions about the coding sessions of 12 projects and checked on 10 others.

/// How likely a hit, or the best hit of an answer, is relevant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// The best there is, but probably no answer.
    Weak,
    /// More likely relevant than not.
    Likely,
    /// Almost certainly relevant.
    Strong,
}

impl Confidence {
    /// The name on the wire and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Likely => "likely",
            Self::Strong => "strong",
        }
    }
}

/// Minimum probability of a strong and of a likely hit.
const STRONG_MIN: f32 = 0.93;
const LIKELY_MIN: f32 = 0.6;

/// Coefficients of the regression.
const INTERCEPT: f32 = -2.5;
const SIMILARITY_COEFFICIENT: f32 = 1.3;
const GAP_TO_BEST_COEFFICIENT: f32 = -3.6;
const LEAD_OVER_THIRD_COEFFICIENT: f32 = 9.0;

/// The best hit is likely if its coverage is at least this, even if other hits have the same.
const BEST_HIT_COVERAGE_MIN: f32 = 0.95;

/// Score that the third hit is assumed to have at least: with few records, being the only hit
/// means nothing.
const THIRD_SCORE_MIN: f32 = 0.4;

/// Scores that the confidence is estimated from. Scores mean little by themselves, because queries differ in how well
/// anything can match them; how far a hit stands out from the others is most informative. It is
/// compared with the third hit, because the second often repeats the best one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ConfidenceFeatures {
    /// Fused score of the hit, of the best one and of the third.
    pub score: f32,
    pub best: f32,
    pub third: f32,
    /// Highest cosine similarity of the hit; 0 if unknown.
    pub similarity: f32,
    /// Share of the query's words that its best chunk has, weighted by IDF.
    pub coverage: f32,
}

impl ConfidenceFeatures {
    pub(super) fn confidence(self) -> Confidence {
        match self.probability() {
            p if p >= STRONG_MIN => Confidence::Strong,
            p if p >= LIKELY_MIN => Confidence::Likely,
            _ if self.score >= self.best && self.coverage >= BEST_HIT_COVERAGE_MIN => {
                Confidence::Likely
            }
            _ => Confidence::Weak,
        }
    }

    /// Estimated probability that the hit is relevant.
    fn probability(self) -> f32 {
        let best = self.best.max(f32::EPSILON);
        let lead = (self.score - self.third.max(THIRD_SCORE_MIN)).max(0.0) / best;
        let gap = (best - self.score).max(0.0) / best;
        let sum = INTERCEPT
            + SIMILARITY_COEFFICIENT * self.similarity
            + GAP_TO_BEST_COEFFICIENT * gap
            + LEAD_OVER_THIRD_COEFFICIENT * lead;
        1.0 / (1.0 + (-sum).exp())
    }
}

/// Minimum probability of a strong and of a likely turn.
const STRONG_TURN_MIN: f32 = 0.85;
const LIKELY_TURN_MIN: f32 = 0.6;

/// Coefficients of the regression over turns.
const TURN_INTERCEPT: f32 = -2.0;
const TURN_LEAD_COEFFICIENT: f32 = 4.6;
const TURN_GAP_COEFFICIENT: f32 = -2.0;
const TURN_SIMILARITY_COEFFICIENT: f32 = 1.7;
const TURN_HITS_COEFFICIENT: f32 = 0.18;

/// Inputs of the confidence estimate for a turn. The hits of one turn agree with each other, so it is compared with
/// the other turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TurnFeatures {
    /// Score of the turn, of the best one, and of the best other one.
    pub score: f32,
    pub best: f32,
    pub best_other: f32,
    /// Highest similarity of its hits; 0 if unknown.
    pub similarity: f32,
    /// Number of its hits.
    pub hits: usize,
}

impl TurnFeatures {
    pub(super) fn confidence(self) -> Confidence {
        match self.probability() {
            p if p >= STRONG_TURN_MIN => Confidence::Strong,
            p if p >= LIKELY_TURN_MIN => Confidence::Likely,
            _ => Confidence::Weak,
        }
    }

    /// Estimated probability that the turn is relevant.
    fn probability(self) -> f32 {
        let best = self.best.max(f32::EPSILON);
        let lead = (self.score - self.best_other.max(THIRD_SCORE_MIN)).max(0.0) / best;
        let gap = (best - self.score).max(0.0) / best;
        let sum = TURN_INTERCEPT
            + TURN_LEAD_COEFFICIENT * lead
            + TURN_GAP_COEFFICIENT * gap
            + TURN_SIMILARITY_COEFFICIENT * self.similarity
            + TURN_HITS_COEFFICIENT * self.hits as f32;
        1.0 / (1.0 + (-sum).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_leads_the_others_is_likely() {
        let first =
            TurnFeatures { score: 1.5, best: 1.5, best_other: 0.8, similarity: 0.6, hits: 4 };
        assert_eq!(first.confidence(), Confidence::Strong);
        assert_eq!(TurnFeatures { best_other: 1.2, ..first }.confidence(), Confidence::Likely);
        assert_eq!(TurnFeatures { best_other: 1.45, ..first }.confidence(), Confidence::Weak);
        // A turn behind the best one.
        let second = TurnFeatures { score: 0.8, best: 1.5, best_other: 1.5, ..first };
        assert_eq!(second.confidence(), Confidence::Weak);
        // The only turn, which hardly matches.
        let only =
            TurnFeatures { score: 0.3, best: 0.3, best_other: 0.0, similarity: 0.2, hits: 1 };
        assert_eq!(only.confidence(), Confidence::Weak);
    }

    fn rate(score: f32, best: f32, third: f32) -> Confidence {
        ConfidenceFeatures { score, best, third, similarity: 0.6, coverage: 0.5 }.confidence()
    }

    #[test]
    fn a_hit_that_stands_out_is_strong() {
        assert_eq!(rate(1.2, 1.2, 0.4), Confidence::Strong);
        assert_eq!(rate(0.8, 0.8, 0.5), Confidence::Likely);
        assert_eq!(rate(0.5, 0.5, 0.48), Confidence::Weak);
        // Said twice.
        assert_eq!(rate(1.15, 1.2, 0.4), Confidence::Strong);
        // A hit far behind the best one.
        assert_eq!(rate(0.4, 1.2, 0.4), Confidence::Weak);
    }

    #[test]
    fn the_best_hit_with_every_word_is_likely() {
        let best = ConfidenceFeatures {
            score: 0.5,
            best: 0.5,
            third: 0.48,
            similarity: 0.4,
            coverage: 1.0,
        };
        assert_eq!(best.confidence(), Confidence::Likely);
        assert_eq!(ConfidenceFeatures { score: 0.49, ..best }.confidence(), Confidence::Weak);
    }

    #[test]
    fn the_only_hit_is_rated_by_its_score() {
        assert_eq!(rate(0.28, 0.28, 0.0), Confidence::Weak);
        assert_eq!(rate(0.9, 0.9, 0.0), Confidence::Strong);
    }
}
