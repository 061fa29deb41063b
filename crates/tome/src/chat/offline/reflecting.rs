//! The script as a reflector: writes one episode about a fix that the user reported.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;
use tome_llm::Reply;

use super::turn::Turn;

/// Markers in the reflection prompt: before the transcript, and before the month's episode file.
const TRANSCRIPT: &str = "What happened:";
const MONTH: &str = "episodes of this month are in ";

static FIXED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?im)^USER: .*?\b(?:we|i) (?:just )?(?:fixed|solved|found|repaired) (?P<what>[^.!?\n]+?)(?:[,;:]? (?:because|since|the cause was|it was) (?P<why>[^.!?\n]+))?[.!?]?\s*$",
    )
    .ok()
});

pub fn reply(turn: &Turn<'_>) -> Reply {
    let none = || Reply::said("none");
    if !turn.done.is_empty() {
        return none();
    }
    let asked = turn.prompt;
    let (known, said) = asked.split_once(TRANSCRIPT).unwrap_or(("", asked));
    let Some(found) = FIXED.as_ref().and_then(|fixed| fixed.captures_iter(said).last()) else {
        return none();
    };
    let what = found.name("what").map_or("", |what| what.as_str().trim());
    let title = format!("Fixed {what}");
    let path = known.split_once(MONTH).and_then(|(_, rest)| rest.split_once(".md"));
    let Some((path, _)) = path.filter(|_| !known.contains(&title)) else { return none() };
    let day =
        known.split_once("Today is ").and_then(|(_, rest)| rest.get(..10)).unwrap_or_default();
    let why = found.name("why").map_or("not said", |why| why.as_str().trim());
    let entry = format!(
        "## {title}\n- Summary: {what}\n- Date: {day}\n- Problem: {what}\n- Solution: fixed; the cause: {why}\n- Lesson: look for this cause first"
    );
    turn.calls("", vec![("memory_append", json!({ "path": format!("{path}.md"), "entry": entry }))])
}
