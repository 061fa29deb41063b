//! A section of an injected text: blocks by priority, truncated to fit a budget.
//!
//! Keeps blocks from the front; a notice states how many are missing and how to get them. A section
//! never exceeds its budget, whatever its blocks contain.

use super::token_budget::RemainingBudget;
use crate::quote;

/// Longer lines are truncated, with a notice.
const LINE_CHARS_MAX: usize = 600;

/// A section of an injected text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextSection {
    /// Used for the heading and for the notice that it was left out.
    pub name: &'static str,
    /// Printed below the heading; may be empty.
    pub about: String,
    /// By priority.
    pub blocks: Vec<TextBlock>,
    /// Singular and plural of a block: `note`, `notes`.
    pub noun: (&'static str, &'static str),
    /// How to get the omitted blocks.
    pub rest: &'static str,
    /// The source to name in the fence, if the text is from outside.
    pub quoted: Option<String>,
    /// The guaranteed part of the budget, in percent.
    pub share: u64,
}

/// Lines that stay together where possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextBlock {
    pub head: String,
    pub lines: Vec<String>,
    /// How to get the omitted lines.
    pub rest: String,
}

impl TextBlock {
    pub(super) fn from_line(text: &str) -> Self {
        Self { head: clip_line(text), lines: Vec::new(), rest: String::new() }
    }

    pub(super) fn from_text(head: &str, text: &str, rest: String) -> Self {
        let text = quote::neutralize_markers(text);
        let lines = text.trim_matches('\n').lines().map(clip_line).collect();
        Self { head: clip_line(head), lines, rest }
    }

    fn all_lines(&self) -> Vec<String> {
        std::iter::once(&self.head).chain(&self.lines).cloned().collect()
    }
}

/// Escapes marks and truncates a line.
fn clip_line(text: &str) -> String {
    let text = quote::neutralize_markers(text).replace('\n', " ");
    let kept = tome_text::first_chars(&text, LINE_CHARS_MAX);
    if kept.len() < text.len() { format!("{kept}… [line cut]") } else { text }
}

/// A section truncated to its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FittedSection {
    pub lines: Vec<String>,
    /// The remainder of its budget.
    pub left: RemainingBudget,
    /// Blocks that are missing or incomplete.
    pub cut: usize,
}

impl TextSection {
    /// Keeps as many blocks as fit into the budget.
    pub(super) fn fit(&self, budget: RemainingBudget) -> FittedSection {
        let nothing = FittedSection { lines: Vec::new(), left: budget, cut: self.blocks.len() };
        if self.blocks.is_empty() {
            return nothing;
        }
        let (above, below) = self.frame_lines();
        let mut left = budget;
        if !left.try_take(&above) || !left.try_take(&below) {
            return nothing;
        }
        let all: Vec<String> = self.blocks.iter().flat_map(TextBlock::all_lines).collect();
        let mut whole = left;
        if whole.try_take(&all) {
            let lines = above.into_iter().chain(all).chain(below).collect();
            return FittedSection { lines, left: whole, cut: 0 };
        }
        // Reserve the longest possible notice.
        let (mut kept, count) = (Vec::new(), self.blocks.len());
        let mut rest = left;
        if !rest.try_take(&[self.omission_notice(count)]) {
            return nothing;
        }
        let mut taken = 0;
        for block in &self.blocks {
            let lines = block.all_lines();
            if rest.try_take(&lines) {
                kept.extend(lines);
                taken += 1;
                continue;
            }
            kept.extend(fit_block_start(block, &mut rest));
            break;
        }
        let notice = self.omission_notice(count - taken);
        let lines: Vec<String> =
            above.into_iter().chain(kept).chain([notice]).chain(below).collect();
        let mut left = budget;
        if left.try_take(&lines) {
            FittedSection { lines, left, cut: count - taken }
        } else {
            nothing
        }
    }

    /// The lines before and after the blocks.
    fn frame_lines(&self) -> (Vec<String>, Vec<String>) {
        let mut above = vec![String::new(), format!("## {}", self.name)];
        if !self.about.is_empty() {
            above.push(clip_line(&self.about));
        }
        let Some(from) = &self.quoted else { return (above, Vec::new()) };
        let [open, close] = quote::fence_lines(from);
        above.push(open);
        (above, vec![close])
    }

    fn omission_notice(&self, count: usize) -> String {
        let (one, many) = self.noun;
        let noun = if count == 1 { one } else { many };
        format!("[{count} {noun} left out or cut: {}]", self.rest)
    }
}

/// Returns the first lines of a block that does not fit whole; empty if none fit.
fn fit_block_start(block: &TextBlock, budget: &mut RemainingBudget) -> Vec<String> {
    let notice = |cut: usize| {
        let lines = if cut == 1 { "line" } else { "lines" };
        format!("[{cut} more {lines}: {}]", block.rest)
    };
    let mut left = *budget;
    if block.lines.is_empty()
        || !left.try_take(&[notice(block.lines.len())])
        || !left.try_take(&[&block.head])
    {
        return Vec::new();
    }
    let fitting = block.lines.iter().take_while(|line| left.try_take(&[line])).count();
    if fitting == 0 {
        return Vec::new();
    }
    let mut lines = vec![block.head.clone()];
    lines.extend(block.lines.iter().take(fitting).cloned());
    lines.push(notice(block.lines.len() - fitting));
    // The longest possible notice was reserved above.
    budget.try_take(&lines);
    lines
}
