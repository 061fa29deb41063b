//! The relevance threshold: below it, recall returns no hits rather than irrelevant ones.
//!
//! It applies to the result list as a whole: the best coverage of the query by one text, and the
//! best similarity. Single hits need not pass it, because a turn is often relevant only through the
//! turns around it.

use super::literal::ExactMatch;
use super::plan::RecallPlan;
use super::rank::RankedCandidate;

/// Minimum of coverage plus similarity.
const COVERAGE_PLUS_SIMILARITY_MIN: f32 = 0.66;
/// Minimum coverage if there is no similarity score.
const COVERAGE_MIN: f32 = 0.2;
/// The same for scripts without spaces, where many character pairs of the query span two words.
const PAIRS_COVERAGE_MIN: f32 = 0.14;

/// A text with this coverage answers the whole query.
const FULL_COVERAGE: f32 = 0.99;
/// A text with this similarity may be a paraphrase.
const PARAPHRASE_SIMILARITY_MIN: f32 = 0.65;

/// Minimum of coverage plus similarity for a proactive hit.
const PROACTIVE_SUM_MIN: f32 = 1.0;
/// Minimum similarity for a proactive hit: in a small store, one or two words easily cover half of
/// a query.
const PROACTIVE_SIMILARITY_MIN: f32 = 0.4;
/// Minimum coverage for a proactive hit if there is no similarity score.
const PROACTIVE_COVERAGE_MIN: f32 = 0.6;

/// Returns whether a hit is relevant enough to be shown without being asked for. Its surroundings
/// do not count, because only one line is shown.
pub(super) fn passes_proactive_threshold(one: &RankedCandidate) -> bool {
    match one.cosine {
        Some(near) => near >= PROACTIVE_SIMILARITY_MIN && one.coverage + near >= PROACTIVE_SUM_MIN,
        None => one.coverage >= PROACTIVE_COVERAGE_MIN,
    }
}

/// Evidence that the results are relevant.
pub(super) struct RelevanceEvidence {
    /// Best share of the query that one text covers, weighted by IDF.
    pub coverage: f32,
    /// Best similarity; `None` if there is no vector index.
    pub similarity: Option<f32>,
    /// Whether a text contains the query verbatim. Only checked if the rest is not enough.
    pub exact: bool,
    /// Minimum coverage if there is no similarity score.
    coverage_min: f32,
}

impl RelevanceEvidence {
    pub(super) fn from_ranked(ranked: &[RankedCandidate], plan: &RecallPlan) -> Self {
        let coverage = ranked.iter().map(|one| one.coverage).fold(0.0, f32::max);
        let nearness = ranked.iter().filter_map(|one| one.cosine).reduce(f32::max);
        let evidence = Self {
            coverage,
            similarity: nearness,
            exact: false,
            coverage_min: coverage_min(&plan.text),
        };
        let is_exact = |one: &RankedCandidate| {
            let body = one.candidate.body.as_ref();
            let look = body.and_then(|body| plan.matcher.match_with_title(&body.title, &body.text));
            look.is_some_and(|look| look.exact != ExactMatch::No)
        };
        let exact =
            !evidence.passes_threshold() && ranked.iter().take(EXACT_MATCH_DEPTH).any(is_exact);
        Self { exact, ..evidence }
    }

    /// Returns whether the results pass the threshold.
    pub(super) fn passes_threshold(&self) -> bool {
        let sum = match self.similarity {
            Some(nearness) => self.coverage + nearness.max(0.0) >= COVERAGE_PLUS_SIMILARITY_MIN,
            None => self.coverage >= self.coverage_min,
        };
        self.exact || sum
    }

    /// Returns whether a hit may be listed. If one text covers the whole query, hits that cover
    /// none of it and are not similar enough are dropped.
    pub(super) fn admits_hit(&self, one: &RankedCandidate) -> bool {
        self.coverage < FULL_COVERAGE
            || one.coverage > 0.0
            || one.cosine.is_some_and(|near| near >= PARAPHRASE_SIMILARITY_MIN)
    }

    /// Summary for `explain`.
    pub(super) fn explain(&self) -> String {
        let nearness = self.similarity.map_or_else(|| "-".to_owned(), |near| format!("{near:.2}"));
        let exact = if self.exact { ", verbatim" } else { "" };
        let verdict = if self.passes_threshold() { "relevant" } else { "nothing relevant" };
        format!("coverage {:.2}, similarity {nearness}{exact}: {verdict}", self.coverage)
    }
}

/// Minimum coverage for a query, by its script.
fn coverage_min(question: &str) -> f32 {
    let letters = || question.chars().filter(|letter| letter.is_alphanumeric());
    let spaceless = letters().filter(|letter| tome_text::is_unspaced(*letter)).count();
    if 2 * spaceless > letters().count() { PAIRS_COVERAGE_MIN } else { COVERAGE_MIN }
}

/// Number of hits to check for a verbatim match.
const EXACT_MATCH_DEPTH: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_characters_need_not_cover_as_much_as_words() {
        assert!(
            coverage_min("规模超过五百人的活动有几个？")
                < coverage_min("how many events are larger?")
        );
        assert_eq!(coverage_min("who wrote 峰会 in the summary"), COVERAGE_MIN);
        assert_eq!(coverage_min("?"), COVERAGE_MIN);
    }
}
