//! The floor: below it there is no answer, however near something is to being one.
//!
//! It is asked of the whole list: how much of the question its best text has, and how near the
//! nearest one is. A turn is often an answer because of the turns around it, so single hits are not
//! held to it.

use super::literal::Exact;
use super::plan::Plan;
use super::rank::Ranked;

/// What coverage and nearness come to at least, together.
const SUM_MIN: f32 = 0.66;
/// What the coverage alone comes to at least, where no vector says anything.
const COVERAGE_MIN: f32 = 0.2;
/// And in scripts without spaces, where many of the pairs that are looked for lie across two words.
const PAIRS_COVERAGE_MIN: f32 = 0.14;

/// A text that covers so much answers the whole question.
const WHOLE: f32 = 0.99;
/// And what is so near may say the same in other words.
const ALIKE: f32 = 0.65;

/// What coverage and nearness of a hit that nobody asked for come to at least, together.
const UNASKED_SUM_MIN: f32 = 1.0;
/// How near it is at least: in a small store a word or two are easily half of a question.
const UNASKED_NEAR_MIN: f32 = 0.4;
/// What its coverage alone comes to at least, where no vector says anything.
const UNASKED_COVERAGE_MIN: f32 = 0.6;

/// Whether a hit is worth being shown to somebody who did not ask. What stands beside it does not
/// count: one line of it is all that is shown.
pub(super) fn stands_alone(one: &Ranked) -> bool {
    match one.cosine {
        Some(near) => near >= UNASKED_NEAR_MIN && one.coverage + near >= UNASKED_SUM_MIN,
        None => one.coverage >= UNASKED_COVERAGE_MIN,
    }
}

/// How much speaks for there being an answer.
pub(super) struct Evidence {
    /// The share of the question that one text has, at best, weighed by how rare its words are.
    pub coverage: f32,
    /// How near the nearest text is; `None` where nothing is known of it.
    pub nearness: Option<f32>,
    /// Whether a text has what was asked for as it stands. Looked up where nothing else is enough.
    pub exact: bool,
    /// What the coverage alone comes to at least.
    least: f32,
}

impl Evidence {
    pub(super) fn of(ranked: &[Ranked], plan: &Plan) -> Self {
        let coverage = ranked.iter().map(|one| one.coverage).fold(0.0, f32::max);
        let nearness = ranked.iter().filter_map(|one| one.cosine).reduce(f32::max);
        let evidence = Self { coverage, nearness, exact: false, least: least_of(&plan.text) };
        let is_exact = |one: &Ranked| {
            let body = one.candidate.body.as_ref();
            let look = body.and_then(|body| plan.needle.look_under(&body.title, &body.text));
            look.is_some_and(|look| look.exact != Exact::No)
        };
        let exact = !evidence.is_enough() && ranked.iter().take(EXACT_AMONG).any(is_exact);
        Self { exact, ..evidence }
    }

    /// Whether there is an answer.
    pub(super) fn is_enough(&self) -> bool {
        let sum = match self.nearness {
            Some(nearness) => self.coverage + nearness.max(0.0) >= SUM_MIN,
            None => self.coverage >= self.least,
        };
        self.exact || sum
    }

    /// Whether a hit may be listed. Where a text answers the whole question, what only stands beside
    /// it, or is merely like it, is no answer.
    pub(super) fn admits(&self, one: &Ranked) -> bool {
        self.coverage < WHOLE || one.coverage > 0.0 || one.cosine.is_some_and(|near| near >= ALIKE)
    }

    /// In a few words.
    pub(super) fn explained(&self) -> String {
        let nearness = self.nearness.map_or_else(|| "-".to_owned(), |near| format!("{near:.2}"));
        let exact = if self.exact { ", word for word" } else { "" };
        let verdict = if self.is_enough() { "an answer" } else { "nothing relevant" };
        format!("coverage {:.2}, nearness {nearness}{exact}: {verdict}", self.coverage)
    }
}

/// What of a question has to be covered.
fn least_of(question: &str) -> f32 {
    let letters = || question.chars().filter(|letter| letter.is_alphanumeric());
    let spaceless = letters().filter(|letter| tome_text::is_unspaced(*letter)).count();
    if 2 * spaceless > letters().count() { PAIRS_COVERAGE_MIN } else { COVERAGE_MIN }
}

/// Hits that are looked at for what was asked as it stands.
const EXACT_AMONG: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_characters_need_not_cover_as_much_as_words() {
        assert!(least_of("规模超过五百人的活动有几个？") < least_of("how many events are larger?"));
        assert_eq!(least_of("who wrote 峰会 in the summary"), COVERAGE_MIN);
        assert_eq!(least_of("?"), COVERAGE_MIN);
    }
}
