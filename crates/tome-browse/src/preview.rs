//! The preview of the chosen item, as lines of the current width.

use ratatui::text::Line;
use tome_terminal::Highlighter;

use crate::item::ItemTarget;
use crate::text::{Theme, render_preview};

/// Lines above the first match that stay in view.
const LINES_BEFORE_MATCH: usize = 2;

/// The text of the preview and the part of it that is shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct Preview {
    /// The item that it is of.
    pub(crate) target: Option<ItemTarget>,
    text: String,
    pub(crate) lines: Vec<Line<'static>>,
    pub(crate) first_shown: usize,
}

impl Preview {
    /// Shows a text, from its beginning.
    pub(crate) fn show(&mut self, target: ItemTarget, text: String) {
        self.target = Some(target);
        self.text = text;
        self.first_shown = 0;
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Lays the text out again.
    pub(crate) fn lay_out(&mut self, width: usize, highlighter: &Highlighter, theme: Theme) {
        self.lines = render_preview(&self.text, width, highlighter, theme);
    }

    /// Scrolls to the first match if it is out of view.
    pub(crate) fn reveal_match(&mut self, rows: usize, theme: Theme) {
        let is_match = |line: &Line<'_>| {
            let found = theme.found();
            line.spans.iter().any(|span| {
                span.style.bg == found.bg && span.style.add_modifier.contains(found.add_modifier)
            })
        };
        let first = self.lines.iter().position(is_match).unwrap_or(0);
        if first >= rows {
            self.first_shown = first.saturating_sub(LINES_BEFORE_MATCH);
        }
        self.scroll_by(0, rows);
    }

    /// Scrolls by some lines; the last line stays in view.
    pub(crate) fn scroll_by(&mut self, step: isize, rows: usize) {
        let last = self.lines.len().saturating_sub(rows);
        self.first_shown = self.first_shown.saturating_add_signed(step).min(last);
    }
}
