//! The agent loop: alternates model replies and tool calls until the model is done with a prompt.
//!
//! A prompt is recorded before the model sees it, and tool results before they are sent back. A failing
//! model, a cancelled run or a killed process therefore always leaves a session that can be resumed.

mod log;
mod outcome;
mod resume;
mod settings;
mod step;

use std::sync::Arc;

use serde_json::Value;
use tome_engine::triggers::{DueInjection, texts};
use tome_engine::{TokenBudget, render_rules, render_short_injection};
use tome_llm::{
    CancelToken, ChatModel, ChatResponse, ModelFailure, StopReason, StreamEvent, Usage,
};
use tome_model::{Event, EventKind, InvalidInput};

use crate::compaction::{Compaction, Compactor};
use crate::context::{ContextUnit, ContextWindow};
use crate::limits::{RESUMED_EVENTS_MAX, SHORTENING_RETRIES_MAX};
use crate::{
    AgentError, Memory, MemoryError, Reflection, ReflectionError, ReflectionSettings, reflect,
};

pub use outcome::{AgentEvent, AgentRun, FinishReason};
pub use settings::AgentSettings;

use log::SessionLog;

/// Token budget of a reminder.
const TRIGGER_BUDGET: TokenBudget = TokenBudget { tokens: 400, bytes: usize::MAX };

/// An agent working in one session.
pub struct AgentLoop {
    model: Arc<dyn ChatModel>,
    memory: Arc<dyn Memory>,
    settings: AgentSettings,
    context: ContextWindow,
    log: SessionLog,
    usage: Usage,
    /// Whether the start of this run of the session is recorded.
    is_started: bool,
    /// Whether the session has events, and no run of this agent has started yet.
    is_resumed: bool,
}

impl AgentLoop {
    /// Creates an agent from a model and the memory of a session. A session that has events is resumed.
    pub fn new(
        model: Arc<dyn ChatModel>,
        memory: Arc<dyn Memory>,
        settings: AgentSettings,
    ) -> Result<Self, AgentError> {
        let system = format!("{}\n\n{}", settings.system_prompt.trim(), render_rules());
        let tools = settings.tools.definitions(&memory);
        let mut context = ContextWindow::new(settings.context.clone(), system, tools)?;
        let before = memory.recent_events(RESUMED_EVENTS_MAX)?;
        let resumed = resume::restore_session(&before, &context);
        context.restore_totals(resumed.compacted);
        for unit in resumed.units {
            context.push(unit);
        }
        let log = SessionLog::new(settings.triggers.clone(), &before);
        let is_resumed = !log.is_new();
        let mut agent = Self {
            model,
            memory,
            settings,
            context,
            log,
            usage: Usage::default(),
            is_started: false,
            is_resumed,
        };
        agent.refresh_head(None)?;
        Ok(agent)
    }

    /// Returns the memory of this session.
    pub fn memory(&self) -> &Arc<dyn Memory> {
        &self.memory
    }

    /// Returns the model, shared with whoever created the agent.
    pub fn model(&self) -> &Arc<dyn ChatModel> {
        &self.model
    }

    /// Returns the context window, for inspection.
    pub fn context(&self) -> &ContextWindow {
        &self.context
    }

    /// Total tokens used by all runs of this agent.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Whether the session had events before this agent was created; `false` once a run has started.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// Returns the newest events of the session, at most `newest_max`, oldest first.
    pub fn recent_events(&self, newest_max: usize) -> Result<Vec<Event>, AgentError> {
        Ok(self.memory.recent_events(newest_max)?)
    }

    /// Reflects on the session so far, unless there is little activity; see
    /// [`reflect`](crate::reflect()).
    pub fn reflect(&mut self, stop: &CancelToken) -> Result<Reflection, AgentError> {
        let events = self.memory.recent_events(RESUMED_EVENTS_MAX)?;
        let reflection = self.reflect_on(&events, stop);
        let spent = match &reflection {
            Ok(reflection) => reflection.usage,
            Err(error) => error.partial.usage,
        };
        self.usage = self.usage.plus(&spent);
        Ok(reflection?)
    }

    fn reflect_on(
        &self,
        events: &[Event],
        stop: &CancelToken,
    ) -> Result<Reflection, ReflectionError> {
        let window_tokens = self.settings.context.window_tokens;
        let settings = ReflectionSettings { window_tokens, ..self.settings.reflection.clone() };
        reflect(&*self.model, &self.memory, &settings, events, self.memory.now(), stop)
    }

    /// Runs one prompt to its end: final reply, round limit or cancellation. Reports progress to the
    /// callback.
    pub fn run(
        &mut self,
        prompt: &str,
        on_event: &mut dyn FnMut(AgentEvent<'_>),
        stop: &CancelToken,
    ) -> Result<AgentRun, AgentError> {
        if prompt.trim().is_empty() {
            return Err(MemoryError::from(InvalidInput::Missing { field: "prompt" }).into());
        }
        self.record_start()?;
        let memory = Arc::clone(&self.memory);
        let event = self.log.new_event(&*memory, EventKind::UserMessage, prompt);
        let logged = self.log.append_strict(&*memory, event)?;
        let notes = self.compose_injection(logged.due, on_event).into_iter().collect();
        let shown = step::cap_prompt(prompt, &self.context);
        self.context.push(ContextUnit::prompt(&shown, notes, vec![logged.event]));
        let mut run = AgentRun::default();
        let ended = self.run_rounds(&mut run, on_event, stop);
        self.usage = self.usage.plus(&run.usage);
        run.finish_reason = ended?;
        self.log.flush(&*memory)?;
        Ok(run)
    }

    fn run_rounds(
        &mut self,
        run: &mut AgentRun,
        on_event: &mut dyn FnMut(AgentEvent<'_>),
        stop: &CancelToken,
    ) -> Result<FinishReason, AgentError> {
        while run.rounds < self.settings.rounds_max {
            if stop.is_cancelled() {
                return Ok(self.record_abort(FinishReason::Cancelled));
            }
            run.rounds += 1;
            let reply = match self.request_reply(run, on_event, stop) {
                Ok(reply) => reply,
                Err(AgentError::Model(ModelFailure::Cancelled)) => {
                    return Ok(self.record_abort(FinishReason::Cancelled));
                }
                Err(error) => {
                    // Record the failure, so that a resumed session shows where this run ended.
                    self.record_abort(FinishReason::Failed);
                    return Err(error);
                }
            };
            run.usage = run.usage.plus(&reply.usage);
            if reply.tool_calls().next().is_some() {
                self.run_tool_calls(run, &reply, on_event, stop);
            } else if self.finish_reply(run, &reply, on_event) {
                return Ok(FinishReason::from_stop_reason(reply.stop_reason));
            }
        }
        Ok(self.record_abort(FinishReason::MaxRounds))
    }

    /// Records the model's final reply. Returns `false` if the model must react to a trigger.
    fn finish_reply(
        &mut self,
        run: &mut AgentRun,
        reply: &ChatResponse,
        on_event: &mut dyn FnMut(AgentEvent<'_>),
    ) -> bool {
        let memory = Arc::clone(&self.memory);
        let text = reply.text();
        let event = self.log.new_event(&*memory, EventKind::AssistantStop, &text);
        let event = match reply.stop_reason {
            StopReason::EndTurn | StopReason::ToolCalls => event,
            StopReason::MaxTokens => event.with_meta("end", "cut"),
            StopReason::Refusal => event.with_meta("end", "refused").with_meta("failed", true),
        };
        let logged = self.log.append(&*memory, event);
        self.context.push(ContextUnit::reply(&text, vec![logged.event]));
        // The answer is the reply before any injection, not the model's reaction to it.
        if run.text.is_empty() {
            run.text = text;
        }
        let Some(note) = self.compose_injection(logged.due, on_event) else { return true };
        self.context.push(ContextUnit::note(note));
        false
    }

    /// Records the end of a run that has no final reply.
    fn record_abort(&mut self, ended: FinishReason) -> FinishReason {
        let memory = Arc::clone(&self.memory);
        let words = match ended {
            FinishReason::MaxRounds => format!(
                "(Stopped after {} rounds of tool calls without a final answer.)",
                self.settings.rounds_max
            ),
            _ => String::new(),
        };
        let event = self.log.new_event(&*memory, EventKind::AssistantStop, &words);
        let event = event.with_meta("failed", true).with_meta("end", ended.as_str());
        let logged = self.log.append(&*memory, event);
        self.context.push(ContextUnit::reply(&words, vec![logged.event]));
        ended
    }

    /// Requests a reply, and retries with fewer turns if the request exceeds the model's context.
    fn request_reply(
        &mut self,
        run: &mut AgentRun,
        on_event: &mut dyn FnMut(AgentEvent<'_>),
        stop: &CancelToken,
    ) -> Result<ChatResponse, AgentError> {
        let model = Arc::clone(&self.model);
        let mut tries = 0;
        loop {
            // Events must be stored before the model acts on them: a full disk ends the run here.
            self.log.flush(&*self.memory)?;
            self.compact_to_fit(run, on_event, stop)?;
            self.log.flush(&*self.memory)?;
            let request = self.context.build_request(self.memory.overview()?.as_deref());
            let mut partly = String::new();
            let on_stream_event = &mut |event: StreamEvent<'_>| {
                match event {
                    StreamEvent::Text(text) => partly.push_str(text),
                    StreamEvent::Retry => partly.clear(),
                    StreamEvent::ToolCallStart { .. } => {}
                }
                on_event(AgentEvent::from_stream_event(event));
            };
            match model.reply(&request, on_stream_event, stop) {
                Ok(reply) => return Ok(reply),
                Err(failure @ ModelFailure::ContextTooLong { .. })
                    if tries < SHORTENING_RETRIES_MAX =>
                {
                    tries += 1;
                    if !self.context.halve_budget() {
                        return Err(failure.into());
                    }
                }
                Err(failure) => {
                    self.record_partial_reply(&partly);
                    return Err(failure.into());
                }
            }
        }
    }

    /// Records the text of a reply that was interrupted.
    fn record_partial_reply(&mut self, partly: &str) {
        if partly.trim().is_empty() {
            return;
        }
        let memory = Arc::clone(&self.memory);
        let event = self.log.new_event(&*memory, EventKind::AssistantMessage, partly);
        let logged = self.log.append(&*memory, event.with_meta("end", "cut"));
        self.context.push(ContextUnit::reply(partly, vec![logged.event]));
    }

    /// Compacts turns until the context fits its budget.
    fn compact_to_fit(
        &mut self,
        run: &mut AgentRun,
        on_event: &mut dyn FnMut(AgentEvent<'_>),
        stop: &CancelToken,
    ) -> Result<(), AgentError> {
        while self.context.is_full() {
            let left = self.context.evict();
            if left.is_empty() {
                break;
            }
            let compaction = self.compact(&left, stop);
            run.usage = run.usage.plus(&compaction.usage);
            run.compactions += 1;
            on_event(AgentEvent::Compacted(&compaction));
            if self.settings.reflect_on_compaction {
                let who = self.memory.session();
                let events = left.iter().flat_map(ContextUnit::events);
                let events: Vec<Event> = events.map(|event| who.to_event(event)).collect();
                // A failed reflection loses nothing: the events are in the ledger.
                let reflection = self.reflect_on(&events, stop);
                let reflection = reflection.unwrap_or_else(|error| *error.partial);
                run.usage = run.usage.plus(&reflection.usage);
                on_event(AgentEvent::Reflected(&reflection));
            }
        }
        Ok(())
    }

    fn compact(&mut self, left: &[ContextUnit], stop: &CancelToken) -> Compaction {
        let memory = Arc::clone(&self.memory);
        let compactor = Compactor {
            memory: &*memory,
            model: &*self.model,
            strategy: &self.settings.compaction,
            stop,
            tokens_max: self.settings.context.window_tokens / 10 * 6,
            earlier: self.context.compacted().compactions,
        };
        let compacted = compactor.compact(left);
        let kept = self.context.units().find_map(|unit| unit.events().first());
        let kept = kept.map(|event| event.id.to_string());
        let event = self.log.new_event(&*memory, EventKind::Compaction, &compacted.summary);
        let event = event
            .with_meta("phase", "after")
            .with_meta("trigger", "window")
            .with_meta(log::META_MESSAGES, compacted.messages)
            .with_meta(log::META_FILE, compacted.file.clone().map_or(Value::Null, Value::from))
            .with_meta(log::META_KEPT_FROM, kept.map_or(Value::Null, Value::from));
        self.log.append(&*memory, event);
        let budget = self.context.summary_budget();
        let latest =
            resume::render_compaction(compacted.file.as_deref(), &compacted.summary, budget);
        // Without an index the head is shorter; the conversation can continue.
        let _ = self.refresh_head(Some(latest));
        compacted
    }

    /// Rebuilds the head of the context: the index of notes and the latest compaction.
    fn refresh_head(&mut self, latest: Option<String>) -> Result<(), AgentError> {
        let index = self.memory.notes_index(self.settings.context.index_budget());
        let read = index.as_ref().ok().cloned().flatten();
        self.context.set_head(read.as_deref(), latest);
        index?;
        Ok(())
    }

    fn record_start(&mut self) -> Result<(), AgentError> {
        if self.is_started {
            return Ok(());
        }
        let memory = Arc::clone(&self.memory);
        let source = if self.log.is_new() { "startup" } else { "resume" };
        let event = self.log.new_event(&*memory, EventKind::SessionStart, "");
        let event = event.with_meta("source", source).with_meta("model", self.model.name());
        self.log.append_strict(&*memory, event)?;
        self.is_started = true;
        self.is_resumed = false;
        Ok(())
    }

    /// Ends the session. It can still be resumed later.
    pub fn finish(&mut self, reason: &str) -> Result<(), AgentError> {
        let memory = Arc::clone(&self.memory);
        if self.is_started {
            let event = self.log.new_event(&*memory, EventKind::SessionEnd, "");
            self.log.append_strict(&*memory, event.with_meta("reason", reason))?;
            self.is_started = false;
        }
        Ok(())
    }

    /// Composes the injection for a trigger. If its content is unavailable, nothing is injected.
    fn compose_injection(
        &self,
        due: Option<DueInjection>,
        on_event: &mut dyn FnMut(AgentEvent<'_>),
    ) -> Option<String> {
        let due = due?;
        let composed = match &due {
            DueInjection::Replan { about } => self.memory.recall_lessons(about).ok().flatten(),
            DueInjection::Store { .. } | DueInjection::Overview { .. } => {
                render_short_injection(due.name(), &texts::render_due(&due), TRIGGER_BUDGET)
            }
        }?;
        on_event(AgentEvent::Injected { why: due.name(), text: &composed.text });
        let _ = self.memory.record_injection(due.name(), &composed);
        Some(composed.text)
    }
}
