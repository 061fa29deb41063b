//! The crash test's own books: what was sent, what was acknowledged, and what an event looks like
//! that was not torn. Everything about an event follows from its id, so that any of them can be
//! checked without having been kept.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tome_model::{Event, EventLine, Millis};

use super::Report;
use crate::Chance;

/// 2020-03-03T09:30:00Z, when the siege begins: long before any real event.
const BEGAN_MS: u64 = 1_583_227_800_000;
/// Every round has an hour of its own, so that its events can be asked for.
const ROUND_MS: u64 = 3_600_000;
/// Projects, and so ledgers, that the writers write to.
const PROJECTS: u64 = 3;

/// What was sent, shared by all writers.
#[derive(Debug, Clone, Default)]
pub(super) struct Book(Arc<Mutex<Pages>>);

#[derive(Debug, Default)]
struct Pages {
    acknowledged: HashSet<String>,
    hooked: HashSet<String>,
    hook_slowest: Duration,
    hooks_missing: u64,
    uncounted: u64,
}

impl Book {
    pub(super) fn acknowledged(&self, ids: impl IntoIterator<Item = String>) {
        self.pages().acknowledged.extend(ids);
    }

    pub(super) fn hooked(&self, mark: String, took: Duration) {
        let mut pages = self.pages();
        pages.hooked.insert(mark);
        pages.hook_slowest = pages.hook_slowest.max(took);
    }

    /// The events of one round that clients sent.
    pub(super) fn compare(&self, round: u32, listed: &[Event], report: &mut Report) {
        let of_round = format!("r{round}-");
        self.compare_those(|id| id.starts_with(&of_round), listed, report);
    }

    /// All events that clients sent; those of hooks are in other sessions.
    pub(super) fn compare_all(&self, listed: &[Event], report: &mut Report) {
        let sent: Vec<Event> = listed
            .iter()
            .filter(|event| !event.session.as_str().starts_with("hook-"))
            .cloned()
            .collect();
        self.compare_those(|_| true, &sent, report);
        let marks: HashSet<&str> = listed.iter().filter_map(mark_of).collect();
        let pages = self.pages();
        let missing =
            pages.hooked.iter().filter(|mark| !marks.contains(mark.as_str())).count() as u64;
        if missing > pages.hooks_missing {
            report.violation(format!(
                "{} events of hooks were there in their round and are gone",
                missing - pages.hooks_missing
            ));
        }
    }

    fn compare_those(&self, wanted: impl Fn(&str) -> bool, listed: &[Event], report: &mut Report) {
        let pages = self.pages();
        report.acknowledged = pages.acknowledged.len() as u64;
        let mut seen = HashSet::new();
        for event in listed {
            if !seen.insert(event.id.as_str()) {
                report.duplicates += 1;
                report.violation(format!("{} is there twice", event.id));
            }
            if let Some(problem) = torn(event) {
                report.torn += 1;
                report.violation(format!("{}: {problem}", event.id));
            }
        }
        for id in pages.acknowledged.iter().filter(|id| wanted(id)) {
            if !seen.contains(id.as_str()) {
                report.lost += 1;
                report.violation(format!("{id} was acknowledged and is not there"));
            }
        }
    }

    /// The events of one round that hooks took. What is missing has to have been counted.
    pub(super) fn compare_hooks(
        &self,
        round: u32,
        listed: &[Event],
        counted_lost: u64,
        report: &mut Report,
    ) {
        let mut pages = self.pages();
        let mut seen: HashMap<&str, u32> = HashMap::new();
        for event in listed {
            match mark_of(event) {
                Some(mark) => *seen.entry(mark).or_default() += 1,
                None => {
                    report.torn += 1;
                    report.violation(format!("{} of a hook has no mark", event.id));
                }
            }
        }
        for (mark, times) in seen.iter().filter(|(_, times)| **times > 1) {
            report.duplicates += u64::from(*times) - 1;
            report.violation(format!("{mark} of a hook is there {times} times"));
        }
        let of_round = format!("r{round}-");
        let missing = pages
            .hooked
            .iter()
            .filter(|mark| mark.starts_with(&of_round) && !seen.contains_key(mark.as_str()))
            .count() as u64;
        pages.hooks_missing += missing;
        report.hooked = pages.hooked.len() as u64;
        report.hook_slowest = pages.hook_slowest;
        report.counted_lost = pages.hooks_missing;
        let uncounted =
            pages.hooks_missing.saturating_sub(counted_lost).saturating_sub(pages.uncounted);
        pages.uncounted += uncounted;
        if uncounted > 0 {
            report.lost += uncounted;
            report.violation(format!(
                "{uncounted} events of hooks are gone and were not counted as lost"
            ));
        }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The moments of a round.
pub(super) fn moments_of(round: u32) -> Range<Millis> {
    let start = BEGAN_MS + u64::from(round) * ROUND_MS;
    Millis(start)..Millis(start + ROUND_MS)
}

/// The session of a round's hooks.
pub(super) fn hook_session(round: u32) -> String {
    format!("hook-r{round}")
}

/// The id of a writer's n-th event of a round.
pub(super) fn id_of(round: u32, writer: u64, n: u64) -> String {
    format!("r{round}-w{writer}-n{n}")
}

/// The event of an id, on its way in.
pub(super) fn line_of(id: &str, world: &Path) -> EventLine {
    let [round, writer, n] = numbers(id);
    let hash = Chance::of(round ^ (writer << 20), n).number();
    let length = match hash % 50 {
        0 => 20_000,
        1..10 => 0,
        _ => hash % 1_500,
    };
    let tool = hash.is_multiple_of(3).then(|| tome_model::Tool {
        name: "Bash".into(),
        input: json!({"command": format!("echo {id}")}),
        output: Value::String(filler(id, length / 2)),
    });
    EventLine {
        id: Some(id.to_owned()),
        at: Millis(moments_of(u32::try_from(round).unwrap_or(0)).start.0 + n % ROUND_MS),
        session_id: format!("s{writer}"),
        agent: if writer.is_multiple_of(2) { "codex" } else { "gemini" }.into(),
        cwd: world.join(format!("project{}", writer % PROJECTS)).to_string_lossy().into_owned(),
        kind: if tool.is_some() { "tool_result" } else { "user_message" }.into(),
        text: filler(id, length),
        tool,
        ..EventLine::default()
    }
}

/// Words that begin and end with the id, with a character of several bytes in between.
fn filler(id: &str, length: u64) -> String {
    let times = usize::try_from(length).unwrap_or(0) / 8;
    format!("<{id}> {} </{id}>", "léxer 日".repeat(times))
}

fn numbers(id: &str) -> [u64; 3] {
    let mut numbers =
        id.split('-').map(|part| part.get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}

/// What is wrong with an event, compared with the one that its id stands for.
fn torn(event: &Event) -> Option<String> {
    let sent = line_of(event.id.as_str(), Path::new("/"));
    let whole = event.text == sent.text
        && event.tool == sent.tool
        && event.at == sent.at
        && event.session.as_str() == sent.session_id
        && event.agent.as_str() == sent.agent
        && event.kind.as_str() == sent.kind;
    (!whole)
        .then(|| format!("{} bytes of text of {}, not as sent", event.text.len(), sent.text.len()))
}

fn mark_of(event: &Event) -> Option<&str> {
    event.tool.as_ref()?.input.get("mark")?.as_str()
}
