//! The script as a reflector: writes one episode about a fix that the user reported.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;
use tome_llm::ChatResponse;

use super::turn::OfflineTurn;

/// Markers in the reflection prompt: before the transcript, and before the month's episode file.
const TRANSCRIPT_MARK: &str = "What happened:";
const EPISODES_MARK: &str = "episodes of this month are in ";

static REPORTED_FIX: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?im)^USER: .*?\b(?:we|i) (?:just )?(?:fixed|solved|found|repaired) (?P<what>[^.!?\n]+?)(?:[,;:]? (?:because|since|the cause was|it was) (?P<why>[^.!?\n]+))?[.!?]?\s*$",
    )
    .ok()
});

pub fn next_reply(turn: &OfflineTurn<'_>) -> ChatResponse {
    let none = || ChatResponse::from_text("none");
    if !turn.done.is_empty() {
        return none();
    }
    let prompt = turn.prompt;
    let (notes, transcript) = prompt.split_once(TRANSCRIPT_MARK).unwrap_or(("", prompt));
    let Some(captures) =
        REPORTED_FIX.as_ref().and_then(|fixed| fixed.captures_iter(transcript).last())
    else {
        return none();
    };
    let what = captures.name("what").map_or("", |what| what.as_str().trim());
    let title = format!("Fixed {what}");
    let path = notes.split_once(EPISODES_MARK).and_then(|(_, rest)| rest.split_once(".md"));
    let Some((path, _)) = path.filter(|_| !notes.contains(&title)) else { return none() };
    let day =
        notes.split_once("Today is ").and_then(|(_, rest)| rest.get(..10)).unwrap_or_default();
    let why = captures.name("why").map_or("not said", |why| why.as_str().trim());
    let entry = format!(
        "## {title}\n- Summary: {what}\n- Date: {day}\n- Problem: {what}\n- Solution: fixed; the cause: {why}\n- Lesson: look for this cause first"
    );
    turn.call_tools(
        "",
        vec![("memory_append", json!({ "path": format!("{path}.md"), "entry": entry }))],
    )
}
