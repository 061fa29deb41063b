//! The expected events of a crash test: which were acknowledged, and their content. The content
//! follows from the id, so that any event can be checked without storing what was sent.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tome_model::{Event, EventLine, Millis};

use super::CrashTestReport;
use super::hooks::{DeliveryBalance, HookDeliveries, HookOutcome};
use crate::SeededRng;

/// 2020-03-03T09:30:00Z, the start of the first round: long before any real event.
const BEGAN_MS: u64 = 1_583_227_800_000;
/// Long after the last round: events of hooks carry the current time.
pub(super) const HOOKS_FROM: Millis = Millis(1_750_000_000_000);
/// Each round has its own hour, so that its events can be queried.
const ROUND_MS: u64 = 3_600_000;
/// Projects, and so ledgers, that are written to.
const PROJECTS: u64 = 3;

/// The expected events, shared by all writers.
#[derive(Debug, Clone, Default)]
pub(super) struct ExpectedEvents(Arc<Mutex<ExpectedState>>);

#[derive(Debug, Default)]
struct ExpectedState {
    acknowledged: HashSet<String>,
    deliveries: HookDeliveries,
}

impl ExpectedEvents {
    pub(super) fn record_acknowledged(&self, ids: impl IntoIterator<Item = String>) {
        self.lock_state().acknowledged.extend(ids);
    }

    /// Records the outcome of a hook.
    pub(super) fn record_hook(&self, mark: String, ended: HookOutcome) {
        self.lock_state().deliveries.add(mark, ended);
    }

    /// Compares the deliveries of all hooks with the stored events.
    pub(super) fn check_deliveries(
        &self,
        listed: &[Event],
        report: &mut CrashTestReport,
    ) -> DeliveryBalance {
        let mut pages = self.lock_state();
        let balance = pages.deliveries.compare_with(listed);
        report.hooked = balance.delivered;
        report.hooks_killed = balance.killed;
        report.hooks_suspended = pages.deliveries.suspended;
        report.hook_slowest = pages.deliveries.slowest;
        report.stored = balance.stored;
        report.counted_lost = balance.missing;
        for problem in std::mem::take(&mut pages.deliveries.problems) {
            report.record_violation(problem);
        }
        balance
    }

    /// Checks the events of one round that clients sent.
    pub(super) fn check_round(&self, round: u32, listed: &[Event], report: &mut CrashTestReport) {
        let of_round = format!("r{round}-");
        self.check_matching(|id| id.starts_with(&of_round), listed, report);
    }

    /// Checks all events that clients sent; those of hooks are in other sessions.
    pub(super) fn check_all(&self, listed: &[Event], report: &mut CrashTestReport) {
        let sent: Vec<Event> = listed
            .iter()
            .filter(|event| !event.session.as_str().starts_with("hook-"))
            .cloned()
            .collect();
        self.check_matching(|_| true, &sent, report);
    }

    fn check_matching(
        &self,
        wanted: impl Fn(&str) -> bool,
        listed: &[Event],
        report: &mut CrashTestReport,
    ) {
        let pages = self.lock_state();
        report.acknowledged = pages.acknowledged.len() as u64;
        let mut seen = HashSet::new();
        for event in listed {
            if !seen.insert(event.id.as_str()) {
                report.duplicates += 1;
                report.record_violation(format!("{} is stored twice", event.id));
            }
            if let Some(problem) = find_difference(event) {
                report.torn += 1;
                report.record_violation(format!("{}: {problem}", event.id));
            }
        }
        for id in pages.acknowledged.iter().filter(|id| wanted(id)) {
            if !seen.contains(id.as_str()) {
                report.lost += 1;
                report.record_violation(format!("{id} was acknowledged and is missing"));
            }
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, ExpectedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time range of a round.
pub(super) fn round_range(round: u32) -> Range<Millis> {
    let start = BEGAN_MS + u64::from(round) * ROUND_MS;
    Millis(start)..Millis(start + ROUND_MS)
}

pub(super) fn hook_session(round: u32) -> String {
    format!("hook-r{round}")
}

/// The id of a writer's n-th event in a round.
pub(super) fn event_id(round: u32, writer: u64, n: u64) -> String {
    format!("r{round}-w{writer}-n{n}")
}

pub(super) fn expected_line(id: &str, world: &Path) -> EventLine {
    let [round, writer, n] = parse_id(id);
    let hash = SeededRng::for_worker(round ^ (writer << 20), n).next_u64();
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
        at: Millis(round_range(u32::try_from(round).unwrap_or(0)).start.0 + n % ROUND_MS),
        session_id: format!("s{writer}"),
        agent: if writer.is_multiple_of(2) { "codex" } else { "gemini" }.into(),
        cwd: world.join(format!("project{}", writer % PROJECTS)).to_string_lossy().into_owned(),
        kind: if tool.is_some() { "tool_result" } else { "user_message" }.into(),
        text: filler(id, length),
        tool,
        ..EventLine::default()
    }
}

/// Text that begins and ends with the id, with multi-byte characters in between.
fn filler(id: &str, length: u64) -> String {
    let times = usize::try_from(length).unwrap_or(0) / 8;
    format!("<{id}> {} </{id}>", "léxer 日".repeat(times))
}

fn parse_id(id: &str) -> [u64; 3] {
    let mut numbers =
        id.split('-').map(|part| part.get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}

/// Compares an event with the one expected for its id.
fn find_difference(event: &Event) -> Option<String> {
    let sent = expected_line(event.id.as_str(), Path::new("/"));
    let whole = event.text == sent.text
        && event.tool == sent.tool
        && event.at == sent.at
        && event.session.as_str() == sent.session_id
        && event.agent.as_str() == sent.agent
        && event.kind.as_str() == sent.kind;
    (!whole)
        .then(|| format!("{} bytes of text of {}, not as sent", event.text.len(), sent.text.len()))
}
