//! Reads Copilot CLI's logs: `session-state/<session>/events.jsonl`. Each line is `{type, data, id,
//! timestamp, parentId}`. A prompt has `content` as typed and `transformedContent` as sent to the
//! model. The reason that a stop hook gives for continuing comes back as a prompt, after the
//! `hook.end` record with the same text.
//!
//! A reply is identified by its message id. The last reply before a stop is the turn's answer: the
//! `hook.start` record of the `agentStop` hook marks the end of the turn and carries the time of
//! the hook's payload. Without that record the log is incomplete for the turn.

use std::collections::HashSet;

use serde_json::{Map, Value};
use tome_model::{Draft, EventKind, Millis, Role, Tool};

use crate::agents::fields::{Fields, words_of};
use crate::agents::scene::stamp_of;
use crate::agents::transcript::{Calls, Here, Origin, Skip, Step, Steps, Transcript};

pub(in crate::agents) struct Log {
    path: String,
    here: Here,
    started: bool,
    calls: Calls,
    /// Reasons given by stop hooks, which come back as prompts.
    reasons: HashSet<String>,
    /// The main agent's newest reply, until the log shows whether the turn ended with it.
    newest_reply: Option<Box<Draft>>,
}

impl Log {
    pub(in crate::agents) fn new(origin: Origin) -> Self {
        Self {
            here: Here::new(&origin),
            path: origin.path,
            started: false,
            calls: Calls::default(),
            reasons: HashSet::new(),
            newest_reply: None,
        }
    }

    fn start(&mut self, mut about: Fields) -> Step {
        let session = about.take("sessionId");
        if session.as_str().is_some_and(|session| !session.is_empty()) {
            self.here.session = session;
        }
        let mut context = about.object("context");
        self.here.enter(context.get("cwd"));
        // A resumed log repeats the start record.
        if std::mem::replace(&mut self.started, true) {
            return Step::Skipped(Skip::Bookkeeping);
        }
        self.here.pass(about.get("startTime"));
        let mut fields = Fields::default();
        fields.put("transcript", self.path.clone());
        fields.put("version", about.take("copilotVersion"));
        fields.put("model", about.take("selectedModel"));
        fields.put("branch", context.take("branch"));
        self.here.moment(EventKind::SessionStart, &["transcript"], String::new(), fields)
    }

    fn prompt(&mut self, mut about: Fields) -> Step {
        let text = about.words("content");
        let source = about.str("source").unwrap_or("user");
        if source != "user" || self.reasons.contains(text.trim()) {
            return Step::Skipped(Skip::Injected);
        }
        if is_subagents(&about) {
            let fields = about_subagent(&mut about);
            return self.here.moment(EventKind::Unknown, &["subagent_prompt"], text, fields);
        }
        let mut fields = Fields::default();
        fields.put("message_id", about.take("messageId"));
        self.here.prompt(&text, None, fields)
    }

    fn reply(&mut self, record_id: &str, mut about: Fields, steps: &mut Steps) {
        let in_subagent = is_subagents(&about);
        let mut fields = about_subagent(&mut about);
        let message_id = about.words("messageId");
        fields.put("message_id", message_id.clone());
        fields.put("model", about.take("model"));
        if let Value::Array(calls) = about.take("toolRequests") {
            for call in calls {
                let Value::Object(call) = call else { continue };
                let mut call = Fields::new(call);
                let (id, name) = (call.words("toolCallId"), call.words("name"));
                self.calls.made(&id, name, call.take("arguments"));
            }
        }
        let name = if message_id.is_empty() { record_id } else { &message_id };
        let step = named_reply(&self.here, name, about.words("content"), fields);
        if in_subagent {
            return steps.push(step);
        }
        // A reply without text also ends the previous one: a turn may end without an answer.
        self.flush_reply(steps);
        match step {
            Step::Event(draft) => self.newest_reply = Some(draft),
            skipped @ Step::Skipped(_) => steps.push(skipped),
        }
    }

    /// Emits the newest reply as an ordinary message: the turn went on after it, or the log ends.
    fn flush_reply(&mut self, steps: &mut Steps) {
        steps.extend(self.newest_reply.take().map(Step::Event));
    }

    /// Handles the start of a hook. Before a stop hook, the newest reply is the turn's answer. It
    /// gets the time of the stop, so that it sorts after everything recorded before that stop.
    fn hook_started(&mut self, mut about: Fields, steps: &mut Steps) {
        if let Some(stopped) = stop_time(&mut about, self.here.at)
            && let Some(mut answer) = self.newest_reply.take()
        {
            answer.kind = EventKind::AssistantStop;
            answer.at = stopped;
            steps.push(Step::Event(answer));
        }
        steps.push(Step::Skipped(Skip::Bookkeeping));
    }

    /// Registers the call if the reply that requested it was damaged.
    fn called(&mut self, mut about: Fields) -> Step {
        let id = about.words("toolCallId");
        if !self.calls.is_known(&id) {
            let name = about.words("toolName");
            self.calls.made(&id, name, about.take("arguments"));
        }
        Step::Skipped(Skip::Bookkeeping)
    }

    fn answered(&mut self, mut about: Fields) -> Step {
        let id = about.words("toolCallId");
        let (name, input) = self.calls.answered(&id);
        let input = match input {
            Value::String(text) => serde_json::from_str::<Map<String, Value>>(&text)
                .map_or(Value::String(text), Value::Object),
            input => input,
        };
        let mut fields = about_subagent(&mut about);
        let mut result = about.object("result");
        let output = match about.get("success") {
            Some(Value::Bool(false)) => {
                fields.put_failed();
                let mut error = about.object("error");
                let message = error.take("message");
                if message.is_null() { result.take("content") } else { message }
            }
            _ => result.take("content"),
        };
        let output = match output {
            Value::String(text) => Value::String(without_guidance(&text)),
            output => output,
        };
        self.here.tool(&id, Tool { name, input, output }, fields)
    }

    fn hook_ended(&mut self, mut about: Fields) -> Step {
        let reason = about.object("output").words("reason");
        if !reason.is_empty() {
            self.reasons.insert(reason.trim().to_owned());
        }
        Step::Skipped(Skip::Bookkeeping)
    }

    fn subagent(&mut self, kind: EventKind, mut about: Fields) -> Step {
        let id = about.words("toolCallId");
        let mut fields = Fields::default();
        fields.put("agent_id", id.clone());
        fields.put("agent_name", about.take("agentName"));
        self.here.moment(kind, &[&id], String::new(), fields)
    }

    fn compacted(&mut self, mut about: Fields) -> Step {
        let text = words_of(about.take("summaryContent"));
        let mut fields = Fields::default();
        fields.put("phase", "after");
        fields.put("tokens_before", about.take("preCompactionTokens"));
        fields.put("tokens_after", about.take("postCompactionTokens"));
        self.here.moment(EventKind::Compaction, &["after"], text, fields)
    }

    fn ended(&mut self, mut about: Fields) -> Step {
        let mut fields = Fields::default();
        fields.put("reason", about.take("shutdownType"));
        self.here.moment(EventKind::SessionEnd, &["transcript"], String::new(), fields)
    }
}

/// Returns the time of the stop that a `hook.start` record belongs to; `None` for hooks of other
/// events. Falls back to `written`, the time of the record itself.
pub(super) fn stop_time(about: &mut Fields, written: Millis) -> Option<Millis> {
    let is_stop = about.str("hookType") == Some("agentStop");
    is_stop.then(|| stamp_of(&about.object("input").take("timestamp")).unwrap_or(written))
}

/// Builds a reply identified by its message id in the log.
fn named_reply(here: &Here, name: &str, text: String, fields: Fields) -> Step {
    if name.is_empty() || text.trim().is_empty() {
        return here.reply(text, fields);
    }
    here.scene().map_or(Step::Skipped(Skip::Bookkeeping), |scene| {
        let identity = scene.whose().named(Role::Assistant, name);
        Step::event(scene.draft(EventKind::AssistantMessage, identity, text, fields))
    })
}

fn is_subagents(about: &Fields) -> bool {
    about.str("parentToolCallId").is_some()
}

fn about_subagent(about: &mut Fields) -> Fields {
    let mut fields = Fields::default();
    let parent = about.take("parentToolCallId");
    if !parent.is_null() {
        fields.put("agent_id", parent);
    }
    fields
}

/// Removes the text that post-tool hooks appended to a tool's output.
fn without_guidance(text: &str) -> String {
    let text = tome_model::strip_injections(text);
    let guidance = "Additional guidance from postToolUse hooks:";
    match text.split_once(guidance) {
        Some((before, _)) if before.trim_end().ends_with("succeeded.") => {
            let kept = before.rsplit_once("Tool \"").map_or(before, |(kept, _)| kept);
            kept.trim_end().to_owned()
        }
        _ => text,
    }
}

impl Transcript for Log {
    fn record(&mut self, record: Map<String, Value>, steps: &mut Steps) {
        let mut record = Fields::new(record);
        self.here.pass(record.get("timestamp"));
        let about = record.object("data");
        let kind = record.str("type").unwrap_or_default();
        match kind {
            "assistant.message" => {
                return self.reply(record.str("id").unwrap_or_default(), about, steps);
            }
            "hook.start" => return self.hook_started(about, steps),
            "user.message" | "session.shutdown" => self.flush_reply(steps),
            _ => {}
        }
        steps.push(match kind {
            "session.start" | "session.resume" => self.start(about),
            "user.message" => self.prompt(about),
            "tool.execution_start" => self.called(about),
            "tool.execution_complete" => self.answered(about),
            "hook.end" => self.hook_ended(about),
            "subagent.started" => self.subagent(EventKind::SubagentStart, about),
            "subagent.completed" | "subagent.failed" => {
                self.subagent(EventKind::SubagentStop, about)
            }
            "session.compaction_complete" => self.compacted(about),
            "session.shutdown" => self.ended(about),
            "system.message" => Step::Skipped(Skip::Injected),
            _ => Step::Skipped(Skip::Bookkeeping),
        });
    }

    fn end(&mut self, steps: &mut Steps) {
        self.flush_reply(steps);
        self.calls.end(steps);
    }
}
