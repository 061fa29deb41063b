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

use crate::agents::fields::{PayloadFields, text_from_value};
use crate::agents::hook_context::parse_timestamp;
use crate::agents::transcript_record::{
    PendingToolCalls, RecordContext, RecordOutcome, RecordOutcomes, RecordSkipReason,
    TranscriptOrigin, TranscriptReader,
};

pub(in crate::agents) struct CopilotLogReader {
    path: String,
    context: RecordContext,
    started: bool,
    calls: PendingToolCalls,
    /// Reasons given by stop hooks, which come back as prompts.
    reasons: HashSet<String>,
    /// The main agent's newest reply, until the log shows whether the turn ended with it.
    newest_reply: Option<Box<Draft>>,
}

impl CopilotLogReader {
    pub(in crate::agents) fn new(origin: TranscriptOrigin) -> Self {
        Self {
            context: RecordContext::new(&origin),
            path: origin.path,
            started: false,
            calls: PendingToolCalls::default(),
            reasons: HashSet::new(),
            newest_reply: None,
        }
    }

    fn session_start_event(&mut self, mut about: PayloadFields) -> RecordOutcome {
        let session = about.take_value("sessionId");
        if session.as_str().is_some_and(|session| !session.is_empty()) {
            self.context.session = session;
        }
        let mut context = about.take_object("context");
        self.context.update_cwd(context.get("cwd"));
        self.context.update_branch(context.get("branch"));
        // A resumed log repeats the start record.
        if std::mem::replace(&mut self.started, true) {
            return RecordOutcome::Skipped(RecordSkipReason::Bookkeeping);
        }
        self.context.update_time(about.get("startTime"));
        let mut fields = PayloadFields::default();
        fields.set("transcript", self.path.clone());
        fields.set("version", about.take_value("copilotVersion"));
        fields.set("model", about.take_value("selectedModel"));
        fields.set("branch", context.take_value("branch"));
        self.context.lifecycle_event(
            EventKind::SessionStart,
            &["transcript"],
            String::new(),
            fields,
        )
    }

    fn prompt_event(&mut self, mut about: PayloadFields) -> RecordOutcome {
        let text = about.take_text("content");
        let source = about.get_str("source").unwrap_or("user");
        if source != "user" || self.reasons.contains(text.trim()) {
            return RecordOutcome::Skipped(RecordSkipReason::Injected);
        }
        if is_from_subagent(&about) {
            let fields = subagent_fields(&mut about);
            return self.context.lifecycle_event(
                EventKind::Unknown,
                &["subagent_prompt"],
                text,
                fields,
            );
        }
        let mut fields = PayloadFields::default();
        fields.set("message_id", about.take_value("messageId"));
        self.context.prompt_event(&text, None, fields)
    }

    fn read_reply(
        &mut self,
        record_id: &str,
        mut about: PayloadFields,
        steps: &mut RecordOutcomes,
    ) {
        let in_subagent = is_from_subagent(&about);
        let mut fields = subagent_fields(&mut about);
        let message_id = about.take_text("messageId");
        fields.set("message_id", message_id.clone());
        fields.set("model", about.take_value("model"));
        if let Value::Array(calls) = about.take_value("toolRequests") {
            for call in calls {
                let Value::Object(call) = call else { continue };
                let mut call = PayloadFields::new(call);
                let (id, name) = (call.take_text("toolCallId"), call.take_text("name"));
                let input = call.take_value("arguments");
                self.calls.insert(&id, self.context.at, name, input);
            }
        }
        let name = if message_id.is_empty() { record_id } else { &message_id };
        let step = reply_event(&self.context, name, about.take_text("content"), fields);
        if in_subagent {
            return steps.push(step);
        }
        // A reply without text also ends the previous one: a turn may end without an answer.
        self.flush_reply(steps);
        match step {
            RecordOutcome::Event(draft) => self.newest_reply = Some(draft),
            skipped => steps.push(skipped),
        }
    }

    /// Emits the newest reply as an ordinary message: the turn went on after it, or the log ends.
    fn flush_reply(&mut self, steps: &mut RecordOutcomes) {
        steps.extend(self.newest_reply.take().map(RecordOutcome::Event));
    }

    /// Handles the start of a hook. Before a stop hook, the newest reply is the turn's answer. It
    /// gets the time of the stop, so that it sorts after everything recorded before that stop.
    fn read_hook_start(&mut self, mut about: PayloadFields, steps: &mut RecordOutcomes) {
        if let Some(stopped) = stop_time(&mut about, self.context.at)
            && let Some(mut answer) = self.newest_reply.take()
        {
            answer.kind = EventKind::AssistantStop;
            answer.at = stopped;
            steps.push(RecordOutcome::Event(answer));
        }
        steps.push(RecordOutcome::Skipped(RecordSkipReason::Bookkeeping));
    }

    /// Registers the call if the reply that requested it was damaged.
    fn read_tool_start(&mut self, mut about: PayloadFields) -> RecordOutcome {
        let id = about.take_text("toolCallId");
        if !self.calls.contains(&id) {
            let name = about.take_text("toolName");
            let input = about.take_value("arguments");
            self.calls.insert(&id, self.context.at, name, input);
        }
        RecordOutcome::Skipped(RecordSkipReason::Bookkeeping)
    }

    fn tool_result_event(&mut self, mut about: PayloadFields) -> RecordOutcome {
        let id = about.take_text("toolCallId");
        let (name, input) = self.calls.take_call(&id);
        let input = parse_arguments(input);
        let mut fields = subagent_fields(&mut about);
        let mut result = about.take_object("result");
        let output = match about.get("success") {
            Some(Value::Bool(false)) => {
                fields.mark_failed();
                let mut error = about.take_object("error");
                let message = error.take_value("message");
                if message.is_null() { result.take_value("content") } else { message }
            }
            _ => result.take_value("content"),
        };
        let output = match output {
            Value::String(text) => Value::String(strip_hook_guidance(&text)),
            output => output,
        };
        self.context.tool_result_event(&id, Tool { name, input, output }, fields)
    }

    fn read_hook_end(&mut self, mut about: PayloadFields) -> RecordOutcome {
        let reason = about.take_object("output").take_text("reason");
        if !reason.is_empty() {
            self.reasons.insert(reason.trim().to_owned());
        }
        RecordOutcome::Skipped(RecordSkipReason::Bookkeeping)
    }

    fn subagent_event(&mut self, kind: EventKind, mut about: PayloadFields) -> RecordOutcome {
        let id = about.take_text("toolCallId");
        let mut fields = PayloadFields::default();
        fields.set("agent_id", id.clone());
        fields.set("agent_name", about.take_value("agentName"));
        self.context.lifecycle_event(kind, &[&id], String::new(), fields)
    }

    fn compaction_event(&mut self, mut about: PayloadFields) -> RecordOutcome {
        let text = text_from_value(about.take_value("summaryContent"));
        let mut fields = PayloadFields::default();
        fields.set("phase", "after");
        fields.set("tokens_before", about.take_value("preCompactionTokens"));
        fields.set("tokens_after", about.take_value("postCompactionTokens"));
        self.context.lifecycle_event(EventKind::Compaction, &["after"], text, fields)
    }

    fn session_end_event(&mut self, mut about: PayloadFields) -> RecordOutcome {
        let mut fields = PayloadFields::default();
        fields.set("reason", about.take_value("shutdownType"));
        self.context.lifecycle_event(EventKind::SessionEnd, &["transcript"], String::new(), fields)
    }
}

/// Returns the time of the stop that a `hook.start` record belongs to; `None` for hooks of other
/// events. Falls back to `written`, the time of the record itself.
pub(super) fn stop_time(about: &mut PayloadFields, written: Millis) -> Option<Millis> {
    let is_stop = about.get_str("hookType") == Some("agentStop");
    is_stop.then(|| {
        parse_timestamp(&about.take_object("input").take_value("timestamp")).unwrap_or(written)
    })
}

/// Some versions write the arguments of a call as JSON in a string.
fn parse_arguments(input: Value) -> Value {
    match input {
        Value::String(text) => serde_json::from_str::<Map<String, Value>>(&text)
            .map_or(Value::String(text), Value::Object),
        input => input,
    }
}

/// Builds a reply identified by its message id in the log.
fn reply_event(
    here: &RecordContext,
    name: &str,
    text: String,
    fields: PayloadFields,
) -> RecordOutcome {
    if name.is_empty() || text.trim().is_empty() {
        return here.reply_event(text, fields);
    }
    here.hook_context().map_or(RecordOutcome::Skipped(RecordSkipReason::Bookkeeping), |context| {
        let identity = context.identities().identify_by_name(Role::Assistant, name);
        RecordOutcome::from_draft(context.build_draft(
            EventKind::AssistantMessage,
            identity,
            text,
            fields,
        ))
    })
}

fn is_from_subagent(about: &PayloadFields) -> bool {
    about.get_str("parentToolCallId").is_some()
}

fn subagent_fields(about: &mut PayloadFields) -> PayloadFields {
    let mut fields = PayloadFields::default();
    let parent = about.take_value("parentToolCallId");
    if !parent.is_null() {
        fields.set("agent_id", parent);
    }
    fields
}

/// Removes the text that post-tool hooks appended to a tool's output.
fn strip_hook_guidance(text: &str) -> String {
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

impl TranscriptReader for CopilotLogReader {
    fn read_record(&mut self, record: Map<String, Value>, steps: &mut RecordOutcomes) {
        let mut record = PayloadFields::new(record);
        self.context.update_time(record.get("timestamp"));
        let about = record.take_object("data");
        let kind = record.get_str("type").unwrap_or_default();
        match kind {
            "assistant.message" => {
                return self.read_reply(record.get_str("id").unwrap_or_default(), about, steps);
            }
            "hook.start" => return self.read_hook_start(about, steps),
            "user.message" | "session.shutdown" => self.flush_reply(steps),
            _ => {}
        }
        steps.push(match kind {
            "session.start" | "session.resume" => self.session_start_event(about),
            "user.message" => self.prompt_event(about),
            "tool.execution_start" => self.read_tool_start(about),
            "tool.execution_complete" => self.tool_result_event(about),
            "hook.end" => self.read_hook_end(about),
            "subagent.started" => self.subagent_event(EventKind::SubagentStart, about),
            "subagent.completed" | "subagent.failed" => {
                self.subagent_event(EventKind::SubagentStop, about)
            }
            "session.compaction_complete" => self.compaction_event(about),
            "session.shutdown" => self.session_end_event(about),
            "system.message" => RecordOutcome::Skipped(RecordSkipReason::Injected),
            _ => RecordOutcome::Skipped(RecordSkipReason::Bookkeeping),
        });
    }

    fn finish(&mut self, steps: &mut RecordOutcomes) {
        self.flush_reply(steps);
        for mut call in self.calls.take_unanswered() {
            call.input = parse_arguments(call.input);
            steps.push(self.context.unanswered_call_event(call, PayloadFields::default()));
        }
    }
}
