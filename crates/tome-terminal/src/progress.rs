//! The progress of a long command, on standard error.

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::is_stderr_terminal;

/// Creates a progress bar with a template of indicatif, or a spinner if `length` is unknown. It is
/// hidden if standard error is not a terminal.
pub fn progress_bar(length: Option<u64>, template: &str) -> ProgressBar {
    if !is_stderr_terminal() {
        return ProgressBar::hidden();
    }
    let bar = length.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
