//! What of a prompt the person said.

use tome_model::strip_injections;

/// How texts begin that an agent's harness puts where prompts stand: reasons of stop hooks, and
/// results of background work. They are kept, but not as the person's words.
const HARNESS: [&str; 4] =
    ["<hook_prompt", "Stop hook feedback:", "<task-notification", "<teammate-message"];

/// Whose words a prompt holds.
pub(super) enum Said {
    /// Nobody's but Tome's own.
    Nothing,
    /// The person's.
    Person(String),
    /// The harness's.
    Harness(String),
}

/// The prompt without what Tome put into it.
pub(super) fn said(prompt: &str) -> Said {
    let text = strip_injections(prompt);
    let left = text.trim();
    let harness = HARNESS.iter().any(|mark| left.starts_with(mark));
    let own = text.len() != prompt.len();
    match (left.is_empty(), harness, own) {
        // A harness's wrapping around Tome's own words holds nothing else.
        (true, ..) | (_, true, true) => Said::Nothing,
        (_, true, false) => Said::Harness(text),
        (_, false, _) => Said::Person(text),
    }
}

/// The text without the blocks of this tag that it begins with.
pub(super) fn without_leading_blocks<'a>(text: &'a str, open: &str, close: &str) -> &'a str {
    let mut rest = text;
    while let Some((_, after)) =
        rest.trim_start().strip_prefix(open).and_then(|inside| inside.split_once(close))
    {
        rest = after.trim_start();
    }
    rest
}

/// The inside of a tag that wraps the whole text; the text as it is if none does.
pub(super) fn unwrapped<'a>(text: &'a str, open: &str, close: &str) -> &'a str {
    text.trim()
        .strip_prefix(open)
        .and_then(|rest| rest.strip_suffix(close))
        .filter(|inside| !inside.contains(close))
        .map_or(text, |inside| inside.trim_matches('\n'))
}

/// The text without the one pair of quotes that `opencode run` puts around an argument with spaces
/// in it (and the backslashes before the quotes inside).
pub(super) fn unquoted(text: &str) -> String {
    let inside = text.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inside {
        Some(inside) if !inside.replace("\\\"", "").contains('"') && !inside.ends_with('\\') => {
            inside.replace("\\\"", "\"")
        }
        _ => text.to_owned(),
    }
}
