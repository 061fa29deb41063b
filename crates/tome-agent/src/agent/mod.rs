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
use tome_engine::triggers::{Due, texts};
use tome_engine::{Room, nudge_text, protocol_text};
use tome_llm::{ChatModel, End, Heard, ModelFailure, Reply, Stop, Usage};
use tome_model::{Event, EventKind, ModelError};

use crate::compaction::{Compaction, Compactor, event};
use crate::context::{Context, Unit};
use crate::limits::{RESUMED_EVENTS_MAX, SHORTER_TRIES_MAX};
use crate::{AgentError, Memory, MemoryError, ReflectError, ReflectSettings, Reflection, reflect};

pub use outcome::{Ended, Run, Said};
pub use settings::AgentSettings;

use log::Log;

/// Token budget of a reminder.
const NUDGE: Room = Room { tokens: 400, bytes: usize::MAX };

/// An agent working in one session.
pub struct Agent {
    model: Arc<dyn ChatModel>,
    memory: Arc<dyn Memory>,
    settings: AgentSettings,
    context: Context,
    log: Log,
    usage: Usage,
    /// Whether the start of this run of the session is recorded.
    is_begun: bool,
}

impl Agent {
    /// Creates an agent from a model and the memory of a session. A session that has events is resumed.
    pub fn new(
        model: Arc<dyn ChatModel>,
        memory: Arc<dyn Memory>,
        settings: AgentSettings,
    ) -> Result<Self, AgentError> {
        let system = format!("{}\n\n{}", settings.system.trim(), protocol_text());
        let tools = settings.tools.offered(&memory);
        let mut context = Context::new(settings.context.clone(), system, tools)?;
        let before = memory.events(RESUMED_EVENTS_MAX)?;
        let resumed = resume::resumed(&before, &context);
        context.take_up(resumed.compacted);
        for unit in resumed.units {
            context.push(unit);
        }
        let log = Log::new(settings.triggers.clone(), &before);
        let mut agent = Self {
            model,
            memory,
            settings,
            context,
            log,
            usage: Usage::default(),
            is_begun: false,
        };
        agent.open_context(None)?;
        Ok(agent)
    }

    /// Returns the memory of this session.
    pub fn memory(&self) -> &Arc<dyn Memory> {
        &self.memory
    }

    /// Returns the model.
    pub fn model(&self) -> &Arc<dyn ChatModel> {
        &self.model
    }

    /// Returns the context window, for inspection.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Total tokens used by all runs of this agent.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Whether the session had events before this agent was created; `false` once a run has started.
    pub fn is_resumed(&self) -> bool {
        !self.is_begun && !self.log.is_new()
    }

    /// Returns the newest events of the session, at most `newest_max`, oldest first.
    pub fn events(&self, newest_max: usize) -> Result<Vec<Event>, AgentError> {
        Ok(self.memory.events(newest_max)?)
    }

    /// Reflects on the session so far, unless there is little activity; see
    /// [`reflect`](crate::reflect()).
    pub fn reflect(&mut self, stop: &Stop) -> Result<Reflection, AgentError> {
        let events = self.memory.events(RESUMED_EVENTS_MAX)?;
        let reflection = self.reflect_on(&events, stop);
        let spent = match &reflection {
            Ok(reflection) => reflection.usage,
            Err(error) => error.so_far.usage,
        };
        self.usage = self.usage.plus(&spent);
        Ok(reflection?)
    }

    fn reflect_on(&self, events: &[Event], stop: &Stop) -> Result<Reflection, ReflectError> {
        let window_tokens = self.settings.context.window_tokens;
        let settings = ReflectSettings { window_tokens, ..self.settings.reflect.clone() };
        reflect(&*self.model, &self.memory, &settings, events, self.memory.now(), stop)
    }

    /// Runs one prompt to its end: final reply, round limit or cancellation. Reports progress to the
    /// callback.
    pub fn run(
        &mut self,
        prompt: &str,
        said: &mut dyn FnMut(Said<'_>),
        stop: &Stop,
    ) -> Result<Run, AgentError> {
        if prompt.trim().is_empty() {
            return Err(MemoryError::from(ModelError::Missing { field: "prompt" }).into());
        }
        self.begin()?;
        let memory = Arc::clone(&self.memory);
        let moment = self.log.moment(&*memory, EventKind::UserMessage, prompt);
        let logged = self.log.keep_first(&*memory, moment)?;
        let notes = self.note(logged.due, said).into_iter().collect();
        let shown = step::shown_prompt(prompt, &self.context);
        self.context.push(Unit::prompt(&shown, notes, vec![logged.moment]));
        let mut run = Run::default();
        let ended = self.rounds(&mut run, said, stop);
        self.usage = self.usage.plus(&run.usage);
        run.ended = ended?;
        self.log.flush(&*memory)?;
        Ok(run)
    }

    fn rounds(
        &mut self,
        run: &mut Run,
        said: &mut dyn FnMut(Said<'_>),
        stop: &Stop,
    ) -> Result<Ended, AgentError> {
        while run.rounds < self.settings.rounds_max {
            if stop.is_stopped() {
                return Ok(self.give_up(Ended::Stopped));
            }
            run.rounds += 1;
            let reply = match self.ask(run, said, stop) {
                Ok(reply) => reply,
                Err(AgentError::Model(ModelFailure::Stopped)) => {
                    return Ok(self.give_up(Ended::Stopped));
                }
                Err(error) => {
                    // Record the failure, so that a resumed session shows where this run ended.
                    self.give_up(Ended::Failed);
                    return Err(error);
                }
            };
            run.usage = run.usage.plus(&reply.usage);
            if reply.calls().next().is_some() {
                self.step(run, &reply, said, stop);
            } else if self.reply_ended(run, &reply, said) {
                return Ok(Ended::of(reply.end));
            }
        }
        Ok(self.give_up(Ended::RoundsSpent))
    }

    /// Records the model's final reply. Returns `false` if the model must react to a trigger.
    fn reply_ended(
        &mut self,
        run: &mut Run,
        reply: &Reply,
        said: &mut dyn FnMut(Said<'_>),
    ) -> bool {
        let memory = Arc::clone(&self.memory);
        let text = reply.text();
        let moment = self.log.moment(&*memory, EventKind::AssistantStop, &text);
        let moment = match reply.end {
            End::Done | End::Calls => moment,
            End::Cut => moment.with_meta("end", "cut"),
            End::Refused => moment.with_meta("end", "refused").with_meta("failed", true),
        };
        let logged = self.log.keep(&*memory, moment);
        self.context.push(Unit::reply(&text, vec![logged.moment]));
        // The answer is the reply before any injection, not the model's reaction to it.
        if run.text.is_empty() {
            run.text = text;
        }
        let Some(note) = self.note(logged.due, said) else { return true };
        self.context.push(Unit::note(note));
        false
    }

    /// Records the end of a run that has no final reply.
    fn give_up(&mut self, ended: Ended) -> Ended {
        let memory = Arc::clone(&self.memory);
        let words = match ended {
            Ended::RoundsSpent => format!(
                "(Stopped after {} rounds of tool calls without a final answer.)",
                self.settings.rounds_max
            ),
            _ => String::new(),
        };
        let moment = self.log.moment(&*memory, EventKind::AssistantStop, &words);
        let moment = moment.with_meta("failed", true).with_meta("end", ended.as_str());
        let logged = self.log.keep(&*memory, moment);
        self.context.push(Unit::reply(&words, vec![logged.moment]));
        ended
    }

    /// Requests a reply, and retries with fewer turns if the request exceeds the model's context.
    fn ask(
        &mut self,
        run: &mut Run,
        said: &mut dyn FnMut(Said<'_>),
        stop: &Stop,
    ) -> Result<Reply, AgentError> {
        let model = Arc::clone(&self.model);
        let mut tries = 0;
        loop {
            // Events must be stored before the model acts on them: a full disk ends the run here.
            self.log.flush(&*self.memory)?;
            self.make_room(run, said, stop)?;
            self.log.flush(&*self.memory)?;
            let talk = self.context.talk(self.memory.overview()?.as_deref());
            let mut partly = String::new();
            let heard = &mut |heard: Heard<'_>| {
                match heard {
                    Heard::Text(text) => partly.push_str(text),
                    Heard::Again => partly.clear(),
                    Heard::Call { .. } => {}
                }
                said(Said::of(heard));
            };
            match model.reply(&talk, heard, stop) {
                Ok(reply) => return Ok(reply),
                Err(failure @ ModelFailure::ContextTooLong { .. }) if tries < SHORTER_TRIES_MAX => {
                    tries += 1;
                    if !self.context.halve() {
                        return Err(failure.into());
                    }
                }
                Err(failure) => {
                    self.keep_partly(&partly);
                    return Err(failure.into());
                }
            }
        }
    }

    /// Records the text of a reply that was interrupted.
    fn keep_partly(&mut self, partly: &str) {
        if partly.trim().is_empty() {
            return;
        }
        let memory = Arc::clone(&self.memory);
        let moment = self.log.moment(&*memory, EventKind::AssistantMessage, partly);
        let logged = self.log.keep(&*memory, moment.with_meta("end", "cut"));
        self.context.push(Unit::reply(partly, vec![logged.moment]));
    }

    /// Compacts turns until the context fits its budget.
    fn make_room(
        &mut self,
        run: &mut Run,
        said: &mut dyn FnMut(Said<'_>),
        stop: &Stop,
    ) -> Result<(), AgentError> {
        while self.context.is_full() {
            let left = self.context.leave();
            if left.is_empty() {
                break;
            }
            let made = self.compact(&left, stop);
            run.usage = run.usage.plus(&made.usage);
            run.compactions += 1;
            said(Said::Compacted(&made));
            if self.settings.reflect_on_compaction {
                let who = self.memory.who();
                let moments = left.iter().flat_map(Unit::moments);
                let events: Vec<Event> = moments.map(|moment| event(who, moment)).collect();
                // A failed reflection loses nothing: the events are in the ledger.
                let reflection = self.reflect_on(&events, stop);
                let reflection = reflection.unwrap_or_else(|error| *error.so_far);
                run.usage = run.usage.plus(&reflection.usage);
                said(Said::Reflected(&reflection));
            }
        }
        Ok(())
    }

    fn compact(&mut self, left: &[Unit], stop: &Stop) -> Compaction {
        let memory = Arc::clone(&self.memory);
        let compactor = Compactor {
            memory: &*memory,
            model: &*self.model,
            by: &self.settings.compact_by,
            stop,
            tokens_max: self.settings.context.window_tokens / 10 * 6,
            number: self.context.compacted().times,
        };
        let made = compactor.compact(left);
        let kept = self.context.units().find_map(|unit| unit.moments().first());
        let kept = kept.map(|moment| moment.id.to_string());
        let moment = self.log.moment(&*memory, EventKind::Compaction, &made.summary);
        let moment = moment
            .with_meta("phase", "after")
            .with_meta("trigger", "window")
            .with_meta(resume::MESSAGES, made.messages)
            .with_meta(resume::FILE, made.file.clone().map_or(Value::Null, Value::from))
            .with_meta(resume::KEPT_FROM, kept.map_or(Value::Null, Value::from));
        self.log.keep(&*memory, moment);
        let room = self.context.summary_room();
        let latest = resume::latest(made.file.as_deref(), &made.summary, room);
        // Without an index the head is shorter; the conversation can continue.
        let _ = self.open_context(Some(latest));
        made
    }

    /// Rebuilds the head of the context: the index of notes and the latest compaction.
    fn open_context(&mut self, latest: Option<String>) -> Result<(), AgentError> {
        let index = self.memory.index(self.settings.context.index());
        let read = index.as_ref().ok().cloned().flatten();
        self.context.open(read.as_deref(), latest);
        index?;
        Ok(())
    }

    fn begin(&mut self) -> Result<(), AgentError> {
        if self.is_begun {
            return Ok(());
        }
        let memory = Arc::clone(&self.memory);
        let source = if self.log.is_new() { "startup" } else { "resume" };
        let moment = self.log.moment(&*memory, EventKind::SessionStart, "");
        let moment = moment.with_meta("source", source).with_meta("model", self.model.name());
        self.log.keep_first(&*memory, moment)?;
        self.is_begun = true;
        Ok(())
    }

    /// Ends the session. It can still be resumed later.
    pub fn finish(&mut self, reason: &str) -> Result<(), AgentError> {
        let memory = Arc::clone(&self.memory);
        if self.is_begun {
            let moment = self.log.moment(&*memory, EventKind::SessionEnd, "");
            self.log.keep_first(&*memory, moment.with_meta("reason", reason))?;
            self.is_begun = false;
        }
        Ok(())
    }

    /// Composes the injection for a trigger. If its content is unavailable, nothing is injected.
    fn note(&self, due: Option<Due>, said: &mut dyn FnMut(Said<'_>)) -> Option<String> {
        let due = due?;
        let composed = match &due {
            Due::Replan { about } => self.memory.lessons(about).ok().flatten(),
            Due::Store { .. } | Due::Overview { .. } => {
                nudge_text(due.name(), &texts::of(&due), NUDGE)
            }
        }?;
        said(Said::Injected { why: due.name(), text: &composed.text });
        let _ = self.memory.injected(due.name(), &composed);
        Some(composed.text)
    }
}
