//! Fits sections into one text within a budget: first each section gets its guaranteed share, then the
//! rest goes to the sections that were cut, in order.

use tome_text::estimate_tokens;

use super::section::{FittedSection, TextSection};
use super::token_budget::{RemainingBudget, TokenBudget};
use crate::quote;

/// A complete injected text, between its marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InjectionText {
    /// The text.
    pub text: String,
    /// Estimated tokens.
    pub tokens: u64,
    /// Names of the sections that were left out or cut.
    pub cut: Vec<String>,
}

/// The lines around the sections.
pub(super) struct TextFrame {
    /// The kind of injection, for its mark.
    pub kind: &'static str,
    pub above: Vec<String>,
    pub below: Vec<String>,
}

/// Composes a text. `None` if there is no content, or the budget is too small for any of it.
pub(super) fn compose(
    frame: &TextFrame,
    sections: &[TextSection],
    budget: TokenBudget,
) -> Option<InjectionText> {
    let sections: Vec<&TextSection> =
        sections.iter().filter(|section| !section.blocks.is_empty()).collect();
    let mut left = RemainingBudget::new(budget);
    let mut above = vec![quote::open_injection(frame.kind)];
    above.extend(frame.above.iter().cloned());
    let mut below = frame.below.clone();
    below.push(quote::close_injection());
    let names: Vec<&str> = sections.iter().map(|section| section.name).collect();
    // Reserve the longest possible notice.
    let notice = omitted_notice(&names);
    if !left.try_take(&above) || !left.try_take(&below) || !left.try_take(&notice) {
        return None;
    }
    let fitted = fit_sections(&sections, left);
    let is_there = |(_, fitted): &(&&TextSection, &FittedSection)| !fitted.lines.is_empty();
    let (there, gone): (Vec<_>, Vec<_>) = sections.iter().zip(&fitted).partition(is_there);
    if there.is_empty() && !sections.is_empty() {
        return None;
    }
    let gone: Vec<&str> = gone.iter().map(|(section, _)| section.name).collect();
    let cut = sections.iter().zip(&fitted).filter(|(_, fitted)| fitted.cut > 0);
    let cut = cut.map(|(section, _)| section.name.to_lowercase()).collect();
    let lines = above.into_iter().chain(there.iter().flat_map(|(_, it)| it.lines.clone()));
    let text = lines.chain(omitted_notice(&gone)).chain(below).collect::<Vec<_>>().join("\n");
    let tokens = estimate_tokens(&text);
    (tokens <= budget.tokens && text.len() <= budget.bytes).then_some(InjectionText {
        text,
        tokens,
        cut,
    })
}

/// The notice for sections that were left out completely.
fn omitted_notice(names: &[&str]) -> Vec<String> {
    if names.is_empty() {
        return Vec::new();
    }
    let names = names.join(", ").to_lowercase();
    vec![String::new(), format!("[Left out for space: {names}. recall_memory finds it.]")]
}

fn fit_sections(sections: &[&TextSection], budget: RemainingBudget) -> Vec<FittedSection> {
    let mut spare = budget;
    let mut fitted = Vec::with_capacity(sections.len());
    for section in sections {
        let share = budget.percent(section.share);
        let fitted_section = section.fit(share);
        spare = spare.minus(share.minus(fitted_section.left));
        fitted.push(fitted_section);
    }
    let cut = sections.iter().zip(&mut fitted).filter(|(_, fitted)| fitted.cut > 0);
    for (section, fitted_section) in cut {
        let taken = budget.percent(section.share).minus(fitted_section.left);
        let again = section.fit(taken.plus(spare));
        // More space may select other lines; keep the result only if nothing is lost. A whole section has no
        // notices, so it may have fewer lines.
        let has_more_lines = again.lines.len() >= fitted_section.lines.len();
        if again.cut < fitted_section.cut || again.cut == fitted_section.cut && has_more_lines {
            spare = again.left;
            *fitted_section = again;
        }
    }
    fitted
}
