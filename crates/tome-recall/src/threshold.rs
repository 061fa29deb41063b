//! Decides whether there is anything to show.
//!
//! A query gets its best hits, however weak, unless nothing shares a telling word or a meaning with
//! it. That is decided for the result list as a whole, because a turn is often relevant only through
//! the turns around it. A hint must be relevant by itself.

use super::Tier;
use super::confidence::Confidence;
use super::literal::ExactMatch;
use super::plan::RecallPlan;
use super::rank::RankedCandidate;
use super::unanswered_questions::is_statement;

/// Lowest coverage of a text that shares a telling word with the query.
const COVERAGE_MIN: f32 = 0.05;
/// The same for scripts without spaces, where many character pairs of the query span two words.
const PAIRS_COVERAGE_MIN: f32 = 0.03;
/// Lowest similarity of a text that shares a meaning with the query.
const MEANING_SIMILARITY_MIN: f32 = 0.5;

/// A text with this coverage answers the whole query.
const WHOLE_QUERY_COVERAGE: f32 = 0.99;
/// A text with this similarity may be a paraphrase.
const PARAPHRASE_SIMILARITY_MIN: f32 = 0.65;

/// Minimum of coverage plus similarity for a proactive hit.
const PROACTIVE_SUM_MIN: f32 = 1.0;
/// Minimum similarity for a proactive hit: in a small store, one or two words easily cover half of
/// a query.
const PROACTIVE_SIMILARITY_MIN: f32 = 0.4;
/// Minimum coverage for a proactive hit if there is no similarity score.
const PROACTIVE_COVERAGE_MIN: f32 = 0.6;

/// A lesson with this coverage has practically every word of the query.
const LESSON_COVERAGE_MIN: f32 = 0.95;

/// Returns whether a hit is relevant enough to be shown without being asked for. Its surroundings
/// do not count, because only one line is shown, nor does how far it stands out: several records
/// about a prompt may be worth a hint.
pub(super) fn passes_proactive_threshold(one: &RankedCandidate) -> bool {
    is_relevant_alone(one.coverage, one.similarity)
}

/// Rates lessons at least likely that are relevant by themselves, even if they do not stand out:
/// several lessons on one subject may be an answer. `script_weight` is that of the query's
/// script, whose words the embedder may not know.
pub(super) fn raise_relevant_lessons(ranked: &mut [RankedCandidate], script_weight: f32) {
    for one in ranked {
        let similarity = one.similarity.filter(|_| script_weight >= 1.0);
        if one.coverage >= LESSON_COVERAGE_MIN || is_relevant_alone(one.coverage, similarity) {
            one.confidence = one.confidence.max(Confidence::Likely);
        }
    }
}

/// A query of so many content words, all of which a short statement has, is likely about it.
const SHORT_QUERY_WORDS_MAX: usize = 2;
const SHORT_STATEMENT_WORDS_MAX: usize = 40;
/// Statements that have all of them, if the words are rare.
const RARE_STATEMENTS_MAX: usize = 8;
/// Share of the query that a statement with all of its words covers.
const EVERY_WORD_COVERAGE: f32 = 0.95;

/// Rates short statements at least likely that have every word of a query of one or two rare words: several of them
/// do not stand out from each other.
pub(super) fn raise_complete_statements(ranked: &mut [RankedCandidate], query: &str) {
    let words = tome_text::content_stems(query).len();
    if !(1..=SHORT_QUERY_WORDS_MAX).contains(&words) {
        return;
    }
    let is_complete = |one: &RankedCandidate| {
        let body = one.candidate.body.as_ref();
        one.coverage >= EVERY_WORD_COVERAGE
            && is_statement(one)
            && body.is_some_and(|body| body.order_key().is_some())
    };
    if ranked.iter().filter(|one| is_complete(one)).count() > RARE_STATEMENTS_MAX {
        return;
    }
    for one in ranked.iter_mut().filter(|one| is_complete(one)) {
        let body = one.candidate.body.as_ref();
        let words = body.map_or(0, |body| tome_text::count_words(&body.text));
        if words <= SHORT_STATEMENT_WORDS_MAX {
            one.confidence = one.confidence.max(Confidence::Likely);
        }
    }
}

fn is_relevant_alone(coverage: f32, similarity: Option<f32>) -> bool {
    match similarity {
        Some(similarity) => {
            similarity >= PROACTIVE_SIMILARITY_MIN && coverage + similarity >= PROACTIVE_SUM_MIN
        }
        None => coverage >= PROACTIVE_COVERAGE_MIN,
    }
}

/// Whether the results have anything to do with the query.
pub(super) struct RelevanceEvidence {
    /// Best share of the query that one text covers, weighted by IDF.
    pub coverage: f32,
    /// Best similarity; `None` if there is no vector index.
    pub similarity: Option<f32>,
    /// Whether a text contains the query verbatim. Only checked if the rest is not enough.
    pub exact: bool,
    coverage_min: f32,
    /// Whether hits have keyword scores: the vectors tier computes none.
    has_keyword_scores: bool,
}

impl RelevanceEvidence {
    pub(super) fn from_ranked(ranked: &[RankedCandidate], plan: &RecallPlan) -> Self {
        let coverage = ranked.iter().map(|one| one.coverage).fold(0.0, f32::max);
        let similarity = ranked.iter().filter_map(|one| one.similarity).reduce(f32::max);
        let coverage_min = coverage_min(&plan.text);
        let has_keyword_scores = plan.tier != Some(Tier::Vectors);
        let evidence =
            Self { coverage, similarity, exact: false, coverage_min, has_keyword_scores };
        let is_exact = |one: &RankedCandidate| {
            let body = one.candidate.body.as_ref();
            let text_match =
                body.and_then(|body| plan.matcher.match_with_title(&body.title, &body.text));
            text_match.is_some_and(|text_match| text_match.exact != ExactMatch::No)
        };
        let exact =
            !evidence.passes_threshold() && ranked.iter().take(EXACT_MATCH_DEPTH).any(is_exact);
        Self { exact, ..evidence }
    }

    /// Returns whether anything shares a telling word or a meaning with the query.
    pub(super) fn passes_threshold(&self) -> bool {
        self.exact
            || self.coverage >= self.coverage_min
            || self.similarity.is_some_and(|similarity| similarity >= MEANING_SIMILARITY_MIN)
    }

    /// Returns whether a hit may be listed. An event without a text is dropped, such as the start of
    /// a session before a prompt that matches. If one text covers the whole query and keywords were
    /// scored, hits are dropped that have none of its words, not even around them, and are not similar
    /// enough.
    pub(super) fn admits_hit(&self, one: &RankedCandidate) -> bool {
        let body = one.candidate.body.as_ref();
        let has_text =
            body.is_some_and(|body| !body.text.trim().is_empty() || !body.title.trim().is_empty());
        has_text
            && (!self.has_keyword_scores
                || self.coverage < WHOLE_QUERY_COVERAGE
                || one.bm25_share > 0.0
                || one.similarity.is_some_and(|similarity| similarity >= PARAPHRASE_SIMILARITY_MIN))
    }

    /// Summary for `explain`.
    pub(super) fn explain(&self) -> String {
        let similarity =
            self.similarity.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
        let exact = if self.exact { ", verbatim" } else { "" };
        let verdict = if self.passes_threshold() { "relevant" } else { "nothing relevant" };
        format!("coverage {:.2}, similarity {similarity}{exact}: {verdict}", self.coverage)
    }
}

/// Minimum coverage for a query, by its script.
fn coverage_min(query: &str) -> f32 {
    let letters = || query.chars().filter(|letter| letter.is_alphanumeric());
    let spaceless = letters().filter(|letter| tome_text::is_unspaced(*letter)).count();
    if 2 * spaceless > letters().count() { PAIRS_COVERAGE_MIN } else { COVERAGE_MIN }
}

/// Number of hits to check for a verbatim match.
const EXACT_MATCH_DEPTH: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_pairs_need_less_coverage_than_words() {
        assert!(
            coverage_min("规模超过五百人的活动有几个？")
                < coverage_min("how many events are larger?")
        );
        assert_eq!(coverage_min("who wrote 峰会 in the summary"), COVERAGE_MIN);
        assert_eq!(coverage_min("?"), COVERAGE_MIN);
    }
}
