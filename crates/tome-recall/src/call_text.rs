//! The text of a hit in a tool call: the call in one line, how it ended, and the passage that
//! matched.
//!
//! ```text
//! $ cargo test -p lexer (failed)
//! …thread 'idents' panicked at src/lexer.rs:40…
//! ```

use std::ops::Range;

use tome_contents::{ToolCallSummary, find_rejection_words, read_tool_call, tool_input_texts};
use tome_model::{Event, FileAction};
use tome_text::{LineBreaks, excerpt_around, truncate_words};

/// Characters of the line that describes the call.
const LINE_CHARS_MAX: usize = 120;
/// Characters of the passage.
const PASSAGE_CHARS_MAX: usize = 280;

/// Renders the hit; `None` if the event is not a tool call. `text` is the searchable text of the event,
/// and `shown` the range of the match in it.
pub(super) fn render_call_text(
    event: &Event,
    text: &str,
    shown: &Range<usize>,
    chars_max: usize,
) -> Option<String> {
    // Those are the user's words.
    if find_rejection_words(event).is_some() {
        return None;
    }
    let call = read_tool_call(event)?;
    let (prompt, outcome) = (call.prompt_mark(), call.outcome_mark());
    let line = format!("{prompt}{}{outcome}", truncate_words(&call.line, LINE_CHARS_MAX));
    // One more for the end of the line, and two for the marks of a cut.
    let chars_left = chars_max.saturating_sub(line.chars().count() + 3).min(PASSAGE_CHARS_MAX);
    if let Some((body, shown)) = find_in_commit(&call, text, shown) {
        return Some(format!(
            "{line}\n{}",
            excerpt_around(body, &shown, chars_left, LineBreaks::Keep)
        ));
    }
    let from = skip_arguments(event, &call, text, shown);
    let rest = text.get(from..).unwrap_or_default();
    let shown = shown.start.saturating_sub(from)..shown.end.saturating_sub(from);
    let excerpt = excerpt_around(rest, &shown, chars_left, LineBreaks::Keep);
    Some(if excerpt.is_empty() { line } else { format!("{line}\n{excerpt}") })
}

/// The body of a commit's message, which says why, if the match is in the message; and the match in the
/// body, or its beginning if the subject matched.
fn find_in_commit<'c>(
    call: &'c ToolCallSummary<'_>,
    text: &str,
    shown: &Range<usize>,
) -> Option<(&'c str, Range<usize>)> {
    let message = call.commit.as_ref().filter(|message| !message.body.is_empty())?;
    let matched = text.get(shown.clone())?.trim();
    let body = message.body.as_str();
    let begin = text.find(&message.subject)?;
    let is_inside = (begin..begin + message.subject.len() + body.len()).contains(&shown.start);
    match body.find(matched).filter(|_| is_inside) {
        Some(at) => Some((body, at..at + matched.len())),
        // The subject, or git's line that repeats it: `[main 1a2b3c4] Subject`.
        None => {
            let (before, after) = (text.get(..shown.start)?, text.get(shown.start..)?);
            let begin = before.rfind('\n').map_or(0, |at| at + 1);
            let end = after.find('\n').map_or(text.len(), |at| shown.start + at);
            text.get(begin..end)?.contains(&message.subject).then_some((body, 0..0))
        }
    }
}

/// Bytes at the start of the searchable text that need not be shown, because the line shows them: the
/// input of a command or of a search, and the path of an edit. Stops at an argument that matched.
fn skip_arguments(
    event: &Event,
    call: &ToolCallSummary<'_>,
    text: &str,
    shown: &Range<usize>,
) -> usize {
    let Some(tool) = &event.tool else { return 0 };
    let is_changed = |(_, kind): &(&str, FileAction)| *kind != FileAction::Read;
    let is_edit = call.command.is_none() && call.files.iter().any(is_changed);
    let matched = text.get(shown.clone()).unwrap_or_default();
    let mut from = 0;
    for argument in tool_input_texts(tool) {
        if is_edit && !call.files.iter().any(|(path, _)| *path == argument) {
            break;
        }
        let rest = text.get(from..).unwrap_or_default();
        let Some(rest) = rest.strip_prefix(&*argument) else { break };
        let is_match = (from..from + argument.len()).contains(&shown.start);
        if is_match && !call.line.contains(matched) {
            break;
        }
        from = text.len() - rest.trim_start_matches('\n').len();
    }
    from
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tome_model::{Agent, EventId, EventKind, Millis, Role, SessionId, Tool};

    use super::*;

    fn render(
        name: &str,
        input: serde_json::Value,
        output: serde_json::Value,
        word: &str,
    ) -> String {
        let tool = Tool { name: name.to_owned(), input, output };
        let event = Event {
            id: EventId::parse("event-1").unwrap(),
            session: SessionId::parse("session-1").unwrap(),
            agent: Agent::parse("claude-code").unwrap(),
            kind: EventKind::ToolResult,
            role: Role::Tool,
            text: String::new(),
            tool: Some(tool),
            at: Millis(1),
            arrived: Millis(1),
            project: "/app".to_owned(),
            cwd: "/app".to_owned(),
            meta: serde_json::Map::default(),
        };
        let text = crate::indexer::event_text(&event);
        let at = text.find(word).unwrap();
        render_call_text(&event, &text, &(at..at + word.len()), 120).unwrap()
    }

    #[test]
    fn a_command_is_shown_as_typed_with_its_outcome_and_output() {
        let input =
            json!({"command": "cd /app && cargo test -p lexer", "description": "Run tests"});
        let output =
            json!({"stdout": "test idents ... FAILED\nerror: test failed", "is_error": true});
        let shown = "$ cargo test -p lexer (exit 1)\ntest idents ... FAILED\nerror: test failed";
        assert_eq!(render("Bash", input.clone(), output.clone(), "idents"), shown);
        // The line shows it already.
        assert_eq!(render("Bash", input, output, "cargo test"), shown);
    }

    #[test]
    fn a_commit_is_shown_with_the_body_of_its_message() {
        let command = "git commit -F - <<'EOF'\nlexer: accept emoji\n\nThey are letters, too.\nEOF";
        let shown = render("Bash", json!({"command": command}), json!("[main 1a2b3c4]"), "emoji");
        let expected = "$ git commit -m \"lexer: accept emoji\" …\nThey are letters, too.";
        assert_eq!(shown, expected);
        let output = json!("[accept-them 1a2b3c4] lexer: accept emoji\n 1 file changed");
        let shown = render("Bash", json!({"command": command}), output, "accept-them");
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_search_is_its_pattern_and_an_edit_its_path() {
        let input = json!({"pattern": "is_letter", "path": "/app", "output_mode": "content"});
        let shown = render("Grep", input, json!("src/lexer.rs:3: fn is_letter"), "lexer");
        assert_eq!(shown, "Grep is_letter\nsrc/lexer.rs:3: fn is_letter");
        let input =
            json!({"file_path": "/app/src/lexer.rs", "old_string": "a", "new_string": "b2"});
        let shown = render("Edit", input, json!("updated"), "b2");
        assert_eq!(shown, "Edit src/lexer.rs\na\nb2\nupdated");
    }
}
