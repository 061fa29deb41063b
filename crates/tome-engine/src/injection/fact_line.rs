//! A statement of the contents in one line, with its day and its evidence.

use tome_model::{Fact, Millis};

use crate::quote::quote_line;

/// Characters of a statement.
pub(super) const TEXT_CHARS_MAX: usize = 220;

pub(super) fn format_cited_fact(label: &str, fact: &Fact) -> String {
    format!("{label}{}{}", quote_line(&fact.text, TEXT_CHARS_MAX), format_citation(fact))
}

pub(super) fn format_citation(fact: &Fact) -> String {
    fact.grips().last().map_or(String::new(), |grip| format!(" [{grip}]"))
}

pub(super) fn format_day(at: Millis) -> String {
    at.to_string().chars().take(10).collect()
}
