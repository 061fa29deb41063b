//! Separates the user's own text in a prompt from injected text.

use tome_model::strip_injections;

/// Prefixes of text that harnesses insert as prompts: reasons of stop hooks and results of
/// background work. It is kept, but not as the user's text.
const HARNESS_PREFIXES: [&str; 5] = [
    "<hook_prompt",
    "Stop hook feedback:",
    "<task-notification",
    "<teammate-message",
    "<cross-session-message",
];

pub(super) enum PromptAuthor {
    /// Contains only text injected by Tome.
    Tome,
    User(String),
    Harness(String),
}

/// Strips Tome's injections from a prompt and determines its author.
pub(super) fn classify_prompt(prompt: &str) -> PromptAuthor {
    let text = strip_injections(prompt);
    let left = text.trim();
    let is_harness = starts_with_any(left, &HARNESS_PREFIXES);
    let had_injection = text.len() != prompt.len();
    match (left.is_empty(), is_harness, had_injection) {
        // A harness wrapper around an injection contains nothing else.
        (true, ..) | (_, true, true) => PromptAuthor::Tome,
        (_, true, false) => PromptAuthor::Harness(text),
        (_, false, _) => PromptAuthor::User(text),
    }
}

/// Whether a text starts with one of these prefixes, apart from whitespace.
pub(super) fn starts_with_any(text: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| text.trim_start().starts_with(prefix))
}

/// Strips the leading blocks with this tag.
pub(super) fn strip_leading_blocks<'a>(text: &'a str, open: &str, close: &str) -> &'a str {
    let mut rest = text;
    while let Some((_, after)) =
        rest.trim_start().strip_prefix(open).and_then(|inside| inside.split_once(close))
    {
        rest = after.trim_start();
    }
    rest
}

/// Returns the inside of a tag that wraps the whole text, or else the text itself.
pub(super) fn strip_wrapper<'a>(text: &'a str, open: &str, close: &str) -> &'a str {
    text.trim()
        .strip_prefix(open)
        .and_then(|rest| rest.strip_suffix(close))
        .filter(|inside| !inside.contains(close))
        .map_or(text, |inside| inside.trim_matches('\n'))
}

/// Strips the pair of quotes that `opencode run` puts around an argument with spaces, and unescapes
/// the quotes inside.
pub(super) fn strip_argument_quotes(text: &str) -> String {
    let inside = text.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inside {
        Some(inside) if !inside.replace("\\\"", "").contains('"') && !inside.ends_with('\\') => {
            inside.replace("\\\"", "\"")
        }
        _ => text.to_owned(),
    }
}
