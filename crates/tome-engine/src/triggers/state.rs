//! The trigger state of one session, and its transitions.
//!
//! Serialized as JSON with a `version`. An unknown version or unreadable bytes start over: at worst
//! an injection too many or too few, never an error.

use serde::{Deserialize, Serialize};
use tome_model::{EventKind, Tool, strip_injections};

use super::dedup::RecentEvents;
use super::limits::STATE_BYTES_MAX;
use super::plan::{self, DetectedPlan};
use super::reminder::ReminderPace;
use super::tasks::TaskList;
use super::{
    DueInjection, StoreReason, TriggerEvent, TriggerSettings, frustration, texts, tool_calls,
};

const VERSION: u8 = 1;

/// The state of one session. Its size is bounded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TriggerState {
    version: u8,
    /// Whether the whole session is a subagent's.
    is_subagent: bool,
    recent: RecentEvents,
    tasks: TaskList,
    /// The plan to replan at the next event that accepts text.
    carried: Option<String>,
    /// Stored under its former name.
    #[serde(rename = "in_loop")]
    in_turn: TurnState,
    work: WorkState,
    pace: ReminderPace,
}

/// Flags since the last prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TurnState {
    replanned: bool,
    edited: bool,
    /// The agent is answering the request to store, so its tool calls do not count as work.
    storing: bool,
}

/// Work since lessons were last stored or requested.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WorkState {
    tool_calls: u32,
    edited: bool,
    planned: bool,
    /// A reply proposed a plan that the agent has not started on.
    proposed: bool,
    frustrated: bool,
}

impl Default for TriggerState {
    fn default() -> Self {
        Self {
            version: VERSION,
            is_subagent: false,
            recent: RecentEvents::default(),
            tasks: TaskList::default(),
            carried: None,
            in_turn: TurnState::default(),
            work: WorkState::default(),
            pace: ReminderPace::default(),
        }
    }
}

impl TriggerState {
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
    pub fn process_event(
        &mut self,
        seen: &TriggerEvent<'_>,
        settings: &TriggerSettings,
    ) -> Option<DueInjection> {
        self.is_subagent |= seen.is_subagent_session();
        if self.is_subagent || seen.is_in_subagent() {
            self.on_subagent_event(seen, settings);
            return None;
        }
        if !is_relevant(seen) || !self.recent.insert_if_new(seen.fingerprint) {
            return None;
        }
        match (seen.kind, seen.tool) {
            (EventKind::UserMessage, _) => self.on_prompt(seen, settings),
            (EventKind::ToolResult, Some(tool)) => self.on_tool_result(seen, tool, settings),
            (EventKind::AssistantStop, _) if seen.is_text_of_earlier_stop() => {
                self.on_reply(seen.text, settings)
            }
            (EventKind::AssistantStop, _) => self.on_stop(seen, settings),
            (EventKind::AssistantMessage, _) => self.on_reply(seen.text, settings),
            (EventKind::SessionStart, _) => self.on_clear(),
            (EventKind::Unknown, _) => self.on_harness_event(seen, settings),
            _ => None,
        }
    }

    /// Records that a due injection did not reach the agent: it is due again at the next event that
    /// accepts it.
    pub fn mark_missed(&mut self, due: &DueInjection, settings: &TriggerSettings) {
        match due {
            DueInjection::Replan { about } => {
                self.in_turn.replanned = false;
                // Keep a newer plan.
                self.carried.get_or_insert_with(|| about.clone());
            }
            DueInjection::Store { why, frustrated } => {
                self.in_turn.storing = false;
                self.work.restore(*why, *frustrated);
            }
            DueInjection::Overview { .. } => self.pace.mark_missed(settings),
        }
    }

    fn on_prompt(
        &mut self,
        seen: &TriggerEvent<'_>,
        settings: &TriggerSettings,
    ) -> Option<DueInjection> {
        if texts::is_own_text(seen.text) {
            return None;
        }
        self.in_turn = TurnState::default();
        self.pace.on_prompt();
        self.work.frustrated |= frustration::is_frustrated(&strip_injections(seen.text));
        self.take_due(settings)
    }

    fn on_tool_result(
        &mut self,
        seen: &TriggerEvent<'_>,
        tool: &Tool,
        settings: &TriggerSettings,
    ) -> Option<DueInjection> {
        let failed = seen.is_failed();
        self.pace.on_tool_call();
        if !self.in_turn.storing {
            self.count_call(tool, failed);
        }
        if failed {
            // Not every agent accepts text here.
            return None;
        }
        if let Some(plan) = plan::parse_tool_call(tool, &mut self.tasks) {
            self.on_plan(plan, settings);
        }
        self.record_memory_call(tool, settings);
        self.take_due(settings)
    }

    fn count_call(&mut self, tool: &Tool, failed: bool) {
        self.work.tool_calls = self.work.tool_calls.saturating_add(1);
        self.work.planned |= std::mem::take(&mut self.work.proposed);
        if !failed && tool_calls::is_edit(tool) {
            self.work.edited = true;
            self.in_turn.edited = true;
        }
    }

    /// Handles a plan made with a tool.
    fn on_plan(&mut self, plan: DetectedPlan, settings: &TriggerSettings) {
        if plan.steps <= settings.plan_steps || self.in_turn.storing {
            return;
        }
        self.work.planned = true;
        self.carry_plan(plan);
    }

    fn carry_plan(&mut self, plan: DetectedPlan) {
        if !self.in_turn.replanned {
            self.carried = Some(plan.about);
        }
    }

    /// Handles a reply that may be a plan. A reply after edits is a report, not a plan. A proposed
    /// plan counts as work only once the agent starts on it.
    fn on_reply(&mut self, reply: &str, settings: &TriggerSettings) -> Option<DueInjection> {
        if self.in_turn.edited || self.in_turn.replanned || self.in_turn.storing {
            return None;
        }
        let plan = plan::parse_reply(reply).filter(|plan| plan.steps > settings.plan_steps)?;
        self.work.proposed = true;
        self.carry_plan(plan);
        None
    }

    fn on_stop(
        &mut self,
        seen: &TriggerEvent<'_>,
        settings: &TriggerSettings,
    ) -> Option<DueInjection> {
        self.on_reply(seen.text, settings);
        let storing = std::mem::take(&mut self.in_turn.storing);
        if storing || seen.is_stop_hook_active() || seen.is_failed() || !settings.store {
            return None;
        }
        let why = self.work.store_reason(settings)?;
        let frustrated = self.work.frustrated;
        self.work.reset();
        self.in_turn.storing = true;
        Some(DueInjection::Store { why, frustrated })
    }

    /// Handles events of the agent's harness. None of them accepts text.
    fn on_harness_event(
        &mut self,
        seen: &TriggerEvent<'_>,
        settings: &TriggerSettings,
    ) -> Option<DueInjection> {
        match seen.harness_event()? {
            "TaskCreated" => {
                let id = seen.payload_text("task_id");
                let plan = plan::add_task(&mut self.tasks, id, seen.text)?;
                self.on_plan(plan, settings);
            }
            "TaskCompleted" => self.tasks.finish(seen.payload_text("task_id")?),
            _ => {}
        }
        None
    }

    /// Handles `/clear`: drops the plan and work of the old conversation but keeps the reminder
    /// pace. As always, the next prompt begins a turn.
    fn on_clear(&mut self) -> Option<DueInjection> {
        let Self { recent, in_turn, pace, .. } = std::mem::take(self);
        *self = Self { recent, in_turn, pace, ..Self::default() };
        None
    }

    /// Subagents are often used to write notes and lessons: only those calls count.
    fn on_subagent_event(&mut self, seen: &TriggerEvent<'_>, settings: &TriggerSettings) {
        let Some(tool) = seen.tool.filter(|_| !self.is_subagent && !seen.is_failed()) else {
            return;
        };
        let counts = tool_calls::saves_memory(tool) || tool_calls::writes_overview(tool);
        if counts && self.recent.insert_if_new(seen.fingerprint) {
            self.record_memory_call(tool, settings);
        }
    }

    fn record_memory_call(&mut self, tool: &Tool, settings: &TriggerSettings) {
        if tool_calls::saves_memory(tool) {
            self.work.reset();
        }
        if tool_calls::writes_overview(tool) {
            self.pace.record_write(settings);
        }
    }

    /// Returns what is due at an event that accepts text.
    fn take_due(&mut self, settings: &TriggerSettings) -> Option<DueInjection> {
        if self.in_turn.storing {
            return None;
        }
        if let Some(about) = self.carried.take()
            && settings.replan
            && !self.in_turn.replanned
        {
            self.in_turn.replanned = true;
            return Some(DueInjection::Replan { about });
        }
        let rounds = self.pace.take_due(settings)?;
        Some(DueInjection::Overview { rounds })
    }
}

/// Whether an event can change the state; others need no deduplication.
fn is_relevant(seen: &TriggerEvent<'_>) -> bool {
    match seen.kind {
        EventKind::UserMessage | EventKind::AssistantMessage | EventKind::AssistantStop => true,
        EventKind::ToolResult => seen.tool.is_some(),
        EventKind::SessionStart => seen.is_clear(),
        EventKind::Unknown => {
            matches!(seen.harness_event(), Some("TaskCreated" | "TaskCompleted"))
        }
        _ => false,
    }
}

impl WorkState {
    /// Returns the reason to request lessons, if any.
    fn store_reason(&self, settings: &TriggerSettings) -> Option<StoreReason> {
        let tool_calls = self.tool_calls;
        match () {
            () if self.planned => Some(StoreReason::Plan),
            () if self.edited && tool_calls >= settings.store_tool_calls => {
                Some(StoreReason::Work { tool_calls })
            }
            () if self.frustrated && tool_calls > 0 => Some(StoreReason::Frustration),
            () => None,
        }
    }

    /// Restores the work after a request that did not reach the agent.
    fn restore(&mut self, why: StoreReason, frustrated: bool) {
        self.frustrated |= frustrated;
        match why {
            StoreReason::Plan => self.planned = true,
            StoreReason::Work { tool_calls } => {
                self.edited = true;
                self.tool_calls = self.tool_calls.saturating_add(tool_calls);
            }
            StoreReason::Frustration => self.tool_calls = self.tool_calls.max(1),
        }
    }

    /// Resets the work once lessons are stored or requested. A plan that was only proposed is kept.
    fn reset(&mut self) {
        *self = Self { proposed: self.proposed, ..Self::default() };
    }
}
