//! The trigger state of one session, and its transitions.
//!
//! Serialized as JSON with a `version`. An unknown version or unreadable bytes start over: at worst
//! a nudge too many or too few, never an error.

use serde::{Deserialize, Serialize};
use tome_model::{EventKind, Tool, strip_injections};

use super::limits::STATE_BYTES_MAX;
use super::overview::Pace;
use super::plan::{self, Plan};
use super::recent::Recent;
use super::tasks::Tasks;
use super::{Due, Seen, Settings, Why, deeds, frustration, texts};

const VERSION: u8 = 1;

/// The state of one session. Its size is bounded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct State {
    version: u8,
    /// Whether the whole session is a subagent's.
    is_subagent: bool,
    recent: Recent,
    tasks: Tasks,
    /// The plan to replan at the next event that accepts text.
    carried: Option<String>,
    in_loop: Loop,
    work: Work,
    pace: Pace,
}

/// Flags since the last prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Loop {
    replanned: bool,
    edited: bool,
    /// The agent is answering the request to store, so its tool calls do not count as work.
    storing: bool,
}

/// Work since lessons were last stored or requested.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Work {
    tool_calls: u32,
    edited: bool,
    planned: bool,
    /// A reply proposed a plan that the agent has not started on.
    proposed: bool,
    frustrated: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: VERSION,
            is_subagent: false,
            recent: Recent::default(),
            tasks: Tasks::default(),
            carried: None,
            in_loop: Loop::default(),
            work: Work::default(),
            pace: Pace::default(),
        }
    }
}

impl State {
    /// Deserializes a state; a fresh one if the bytes are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        if bytes.len() > STATE_BYTES_MAX {
            return Self::default();
        }
        let read: Self = serde_json::from_slice(bytes).unwrap_or_default();
        if read.version == VERSION { read } else { Self::default() }
    }

    /// Serializes the state, into at most `STATE_BYTES_MAX` bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Serializing plain fields cannot fail; empty bytes would be a fresh state.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Processes an event of the session and returns what is due in response.
    pub fn step(&mut self, seen: &Seen<'_>, settings: &Settings) -> Option<Due> {
        self.is_subagent |= seen.opens_subagent();
        if self.is_subagent || seen.in_subagent() {
            self.note_subagent(seen, settings);
            return None;
        }
        if !matters(seen) || !self.recent.is_new(seen.sighting) {
            return None;
        }
        match (seen.kind, seen.tool) {
            (EventKind::UserMessage, _) => self.prompt(seen, settings),
            (EventKind::ToolResult, Some(tool)) => self.tool_result(seen, tool, settings),
            (EventKind::AssistantStop, _) if seen.answers_earlier_stop() => {
                self.reply(seen.text, settings)
            }
            (EventKind::AssistantStop, _) => self.stop(seen, settings),
            (EventKind::AssistantMessage, _) => self.reply(seen.text, settings),
            (EventKind::SessionStart, _) => self.clear(),
            (EventKind::Unknown, _) => self.harness(seen, settings),
            _ => None,
        }
    }

    /// Records that a due injection did not reach the agent: it is due again at the next event that
    /// accepts it.
    pub fn missed(&mut self, due: &Due, settings: &Settings) {
        match due {
            Due::Replan { about } => {
                self.in_loop.replanned = false;
                // Keep a newer plan.
                self.carried.get_or_insert_with(|| about.clone());
            }
            Due::Store { why, frustrated } => {
                self.in_loop.storing = false;
                self.work.take_up(*why, *frustrated);
            }
            Due::Overview { .. } => self.pace.missed(settings),
        }
    }

    fn prompt(&mut self, seen: &Seen<'_>, settings: &Settings) -> Option<Due> {
        if texts::is_own(seen.text) {
            return None;
        }
        self.in_loop = Loop::default();
        self.pace.prompt();
        self.work.frustrated |= frustration::shows(&strip_injections(seen.text));
        self.speak(settings)
    }

    fn tool_result(&mut self, seen: &Seen<'_>, tool: &Tool, settings: &Settings) -> Option<Due> {
        let failed = seen.failed();
        self.pace.tool_call();
        if !self.in_loop.storing {
            self.count_call(tool, failed);
        }
        if failed {
            // Not every agent accepts text here.
            return None;
        }
        if let Some(plan) = plan::of_call(tool, &mut self.tasks) {
            self.planned(plan, settings);
        }
        self.note_memory(tool, settings);
        self.speak(settings)
    }

    fn count_call(&mut self, tool: &Tool, failed: bool) {
        self.work.tool_calls = self.work.tool_calls.saturating_add(1);
        self.work.planned |= std::mem::take(&mut self.work.proposed);
        if !failed && deeds::is_edit(tool) {
            self.work.edited = true;
            self.in_loop.edited = true;
        }
    }

    /// Handles a plan made with a tool.
    fn planned(&mut self, plan: Plan, settings: &Settings) {
        if plan.steps <= settings.plan_steps || self.in_loop.storing {
            return;
        }
        self.work.planned = true;
        self.carry(plan);
    }

    fn carry(&mut self, plan: Plan) {
        if !self.in_loop.replanned {
            self.carried = Some(plan.about);
        }
    }

    /// Handles a reply that may be a plan. A reply after edits is a report, not a plan. A proposed
    /// plan counts as work only once the agent starts on it.
    fn reply(&mut self, reply: &str, settings: &Settings) -> Option<Due> {
        if self.in_loop.edited || self.in_loop.replanned || self.in_loop.storing {
            return None;
        }
        let plan = plan::of_reply(reply).filter(|plan| plan.steps > settings.plan_steps)?;
        self.work.proposed = true;
        self.carry(plan);
        None
    }

    fn stop(&mut self, seen: &Seen<'_>, settings: &Settings) -> Option<Due> {
        self.reply(seen.text, settings);
        let storing = std::mem::take(&mut self.in_loop.storing);
        if storing || seen.stop_hook_active() || seen.failed() || !settings.store {
            return None;
        }
        let why = self.work.why(settings)?;
        let frustrated = self.work.frustrated;
        self.work.done();
        self.in_loop.storing = true;
        Some(Due::Store { why, frustrated })
    }

    /// Handles events of the agent's harness. None of them accepts text.
    fn harness(&mut self, seen: &Seen<'_>, settings: &Settings) -> Option<Due> {
        match seen.harness_event()? {
            "TaskCreated" => {
                let id = seen.payload_text("task_id");
                let plan = plan::task(&mut self.tasks, id, seen.text)?;
                self.planned(plan, settings);
            }
            "TaskCompleted" => self.tasks.finish(seen.payload_text("task_id")?),
            _ => {}
        }
        None
    }

    /// Handles `/clear`: drops the plan and work of the old conversation but keeps the reminder
    /// pace. As always, the next prompt begins a loop.
    fn clear(&mut self) -> Option<Due> {
        let Self { recent, in_loop, pace, .. } = std::mem::take(self);
        *self = Self { recent, in_loop, pace, ..Self::default() };
        None
    }

    /// Subagents are often used to write notes and lessons: only those calls count.
    fn note_subagent(&mut self, seen: &Seen<'_>, settings: &Settings) {
        let Some(tool) = seen.tool.filter(|_| !self.is_subagent && !seen.failed()) else { return };
        let counts = deeds::is_store(tool) || deeds::writes_overview(tool);
        if counts && self.recent.is_new(seen.sighting) {
            self.note_memory(tool, settings);
        }
    }

    fn note_memory(&mut self, tool: &Tool, settings: &Settings) {
        if deeds::is_store(tool) {
            self.work.done();
        }
        if deeds::writes_overview(tool) {
            self.pace.written(settings);
        }
    }

    /// Returns what is due at an event that accepts text.
    fn speak(&mut self, settings: &Settings) -> Option<Due> {
        if self.in_loop.storing {
            return None;
        }
        if let Some(about) = self.carried.take()
            && settings.replan
            && !self.in_loop.replanned
        {
            self.in_loop.replanned = true;
            return Some(Due::Replan { about });
        }
        let rounds = self.pace.due(settings)?;
        Some(Due::Overview { rounds })
    }
}

/// Whether an event can change the state; others need no deduplication.
fn matters(seen: &Seen<'_>) -> bool {
    match seen.kind {
        EventKind::UserMessage | EventKind::AssistantMessage | EventKind::AssistantStop => true,
        EventKind::ToolResult => seen.tool.is_some(),
        EventKind::SessionStart => seen.clears(),
        EventKind::Unknown => {
            matches!(seen.harness_event(), Some("TaskCreated" | "TaskCompleted"))
        }
        _ => false,
    }
}

impl Work {
    /// Returns the reason to request lessons, if any.
    fn why(&self, settings: &Settings) -> Option<Why> {
        let tool_calls = self.tool_calls;
        match () {
            () if self.planned => Some(Why::Plan),
            () if self.edited && tool_calls >= settings.store_tool_calls => {
                Some(Why::Work { tool_calls })
            }
            () if self.frustrated && tool_calls > 0 => Some(Why::Frustration),
            () => None,
        }
    }

    /// Restores the work after a request that did not reach the agent.
    fn take_up(&mut self, why: Why, frustrated: bool) {
        self.frustrated |= frustrated;
        match why {
            Why::Plan => self.planned = true,
            Why::Work { tool_calls } => {
                self.edited = true;
                self.tool_calls = self.tool_calls.saturating_add(tool_calls);
            }
            Why::Frustration => self.tool_calls = self.tool_calls.max(1),
        }
    }

    /// Resets the work once lessons are stored or requested. A plan that was only proposed is kept.
    fn done(&mut self) {
        *self = Self { proposed: self.proposed, ..Self::default() };
    }
}
