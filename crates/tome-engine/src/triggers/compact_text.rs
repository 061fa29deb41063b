//! Compact forms of texts: hashes and single lines.

use tome_model::{hash_parts, truncate_to};
use tome_text::collapse_whitespace;

use super::limits::{PLAN_TEXT_BYTES_MAX, STEP_BYTES_MAX};

/// A stable hash: it is stored in states, so it must not change between machines or versions.
pub(super) fn stable_hash(parts: &[&str]) -> u64 {
    // The upper half always fits.
    u64::try_from(hash_parts("tome triggers v1", parts) >> 64).unwrap_or_default()
}

/// Appends a step to the text of a plan as one line, within the limits.
pub(super) fn append_step(about: &mut String, step: &str) {
    let bytes_max = PLAN_TEXT_BYTES_MAX.saturating_sub(about.len() + 1).min(STEP_BYTES_MAX);
    let step = to_one_line(step, bytes_max);
    if step.is_empty() {
        return;
    }
    if !about.is_empty() {
        about.push('\n');
    }
    about.push_str(&step);
}

/// The start of a text as one line, without control characters.
fn to_one_line(text: &str, bytes_max: usize) -> String {
    // Truncate first, so that a long text is not scanned.
    let head = truncate_to(text, bytes_max * 4);
    let plain: String = head.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    truncate_to(&collapse_whitespace(&plain), bytes_max).trim_end().to_owned()
}
