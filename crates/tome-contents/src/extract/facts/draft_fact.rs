//! A fact as the extractors find it, before its excerpts are checked.

use tome_model::FactKind;
use tome_text::truncate_words;

use crate::Evidence;
use crate::extract::language::text::cut_excerpt;

/// Characters of a fact's text.
pub(crate) const FACT_CHARS_MAX: usize = 300;
/// Separates a request from its conclusion.
pub(crate) const QUESTION_END: &str = " → ";
/// After a failure that passed later without a change.
pub(crate) const PASSED_BY_ITSELF: &str = " — passed in a later run";
/// After a failure that passed after a change.
pub(crate) const PASSED_AFTER: &str = " — passed after ";
/// After a failure that passed later.
pub(crate) const PASSED: &str = " — passed";
/// Weight of a failure that was no lasting problem: shown only if there is nothing else.
pub(crate) const PASSING_TROUBLE: u32 = 1;

/// A fact before its excerpts have been checked.
#[derive(Debug, Clone)]
pub(crate) struct DraftFact {
    pub(crate) kind: FactKind,
    pub(crate) text: String,
    /// The event that shows it.
    pub(crate) event: usize,
    pub(crate) weight: u32,
    pub(crate) evidence: Vec<Evidence>,
}

impl DraftFact {
    pub(crate) fn new(
        kind: FactKind,
        text: &str,
        weight: u32,
        evidence: Vec<Evidence>,
    ) -> Option<Self> {
        let event = evidence.last()?.event;
        let text = truncate_words(text.trim(), FACT_CHARS_MAX);
        let says = text.chars().any(char::is_alphanumeric)
            && evidence.iter().all(|one| !one.excerpt.is_empty());
        says.then_some(Self { kind, text, event, weight, evidence })
    }
}

pub(crate) fn build_evidence(event: usize, raw: &str) -> Evidence {
    Evidence { event, excerpt: cut_excerpt(raw) }
}

pub(crate) fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or(text)
}
