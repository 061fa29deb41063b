//! How likely a hit is relevant.
//!
//! The estimate is a logistic regression over what is known of a hit, fitted on the development
//! sets and checked on each of them with a fit on the others.

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
const STRONG_MIN: f32 = 0.9;
const LIKELY_MIN: f32 = 0.6;

/// Coefficients of the regression.
const INTERCEPT: f32 = -5.0;
const WORDS: f32 = 3.0;
const COVERAGE: f32 = 2.0;
const SIMILARITY: f32 = 3.0;
const BEHIND: f32 = -6.0;

/// What is known of a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Evidence {
    /// Share of the highest possible BM25 score.
    pub words: f32,
    /// Share of the query's words that its best chunk has, weighted by IDF.
    pub coverage: f32,
    /// Highest cosine similarity, if known.
    pub similarity: Option<f32>,
    /// How much lower its score is than the best one.
    pub behind: f32,
}

impl Evidence {
    pub(super) fn confidence(self) -> Confidence {
        match self.probability() {
            p if p >= STRONG_MIN => Confidence::Strong,
            p if p >= LIKELY_MIN => Confidence::Likely,
            _ => Confidence::Weak,
        }
    }

    /// Estimated probability that the hit is relevant.
    fn probability(self) -> f32 {
        let similarity = self.similarity.unwrap_or(0.0).max(0.0);
        let sum = INTERCEPT
            + WORDS * self.words
            + COVERAGE * self.coverage
            + SIMILARITY * similarity
            + BEHIND * self.behind;
        1.0 / (1.0 + (-sum).exp())
    }
}
