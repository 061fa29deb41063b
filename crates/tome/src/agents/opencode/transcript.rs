//! Reads OpenCode's own store: sessions, messages and parts, as database rows or, in old versions,
//! as one JSON file each. The plugin sees the same ids, so nearly every event is recognized by its
//! id. A session with a parent belongs to a subagent.

use serde_json::{Map, Value};
use tome_model::{EventKind, Role, Tool, cap_json, strip_injections};

use super::hook::{
    METADATA_BYTES_MAX, is_default_title, mark_subagent, split_user_parts, tool_draft,
};
use crate::agents::fields::PayloadFields;
use crate::agents::transcript_record::{
    RecordContext, RecordOutcome, RecordOutcomes, RecordSkipReason, TranscriptOrigin,
};

pub struct OpenCodeSessionReader {
    context: RecordContext,
    is_subagent: bool,
}

impl OpenCodeSessionReader {
    /// Marks a subagent's events with its session.
    fn base_fields(&self) -> PayloadFields {
        let mut fields = PayloadFields::default();
        if self.is_subagent {
            fields.set("agent_id", self.context.session.clone());
        }
        fields
    }

    /// Takes the session row (`id`, `directory`, `parentID`, `title`, `version`, `time.created`)
    /// and pushes the session start.
    pub fn new(
        origin: &TranscriptOrigin,
        info: Map<String, Value>,
        steps: &mut RecordOutcomes,
    ) -> Self {
        let mut info = PayloadFields::new(info);
        let mut here = RecordContext::new(origin);
        here.session = info.take_value("id");
        here.update_cwd(info.get("directory"));
        here.update_time(info.get("time").and_then(|time| time.get("created")));
        let parent = info.take_value("parentID");
        let is_subagent = !parent.is_null();
        let kind = if is_subagent { EventKind::SubagentStart } else { EventKind::SessionStart };
        let mut fields = PayloadFields::default();
        fields.set("parent", parent);
        let title = info.get_str("title").filter(|title| !is_default_title(title));
        if let Some(title) = title.filter(|_| !is_subagent).map(str::to_owned) {
            fields.set("session_title", title);
        }
        for name in ["title", "version", "agent", "model"] {
            fields.set(name, info.take_value(name));
        }
        // Same parts as in `hook.rs`, so that it is the same event.
        steps.push(here.lifecycle_event(kind, &["created"], String::new(), fields));
        Self { context: here, is_subagent }
    }

    /// Reads one message with its parts, each of which contains its id.
    pub fn read_message(
        &mut self,
        id: &str,
        info: Map<String, Value>,
        parts: Vec<Value>,
        steps: &mut RecordOutcomes,
    ) {
        let mut info = PayloadFields::new(info);
        self.context.update_time(info.get("time").and_then(|time| time.get("created")));
        let path = info.get("path").and_then(|path| path.get("cwd")).cloned();
        self.context.update_cwd(path.as_ref());
        match info.get_str("role") {
            Some("user") => steps.push(self.prompt_event(id, &mut info, parts)),
            Some("assistant") => {
                for part in parts {
                    let Value::Object(part) = part else { continue };
                    let step = self.read_part(id, &info, PayloadFields::new(part));
                    steps.push(step);
                }
            }
            _ => steps.push(RecordOutcome::Skipped(RecordSkipReason::Bookkeeping)),
        }
    }

    fn prompt_event(
        &mut self,
        id: &str,
        info: &mut PayloadFields,
        parts: Vec<Value>,
    ) -> RecordOutcome {
        let (mut texts, files) = split_user_parts(parts);
        if texts.is_empty() && !files.is_empty() {
            texts.push(format!("[{}]", files.join("] [")));
        }
        let mut fields = self.base_fields();
        for name in ["agent", "model"] {
            fields.set(name, info.take_value(name));
        }
        fields.set("message_id", id);
        fields.set("files", files);
        match self.context.prompt_event(&texts.join("\n"), Some(id), fields) {
            RecordOutcome::Event(draft) if self.is_subagent => {
                RecordOutcome::from_draft(mark_subagent(*draft))
            }
            step => step,
        }
    }

    fn read_part(
        &mut self,
        message: &str,
        info: &PayloadFields,
        mut part: PayloadFields,
    ) -> RecordOutcome {
        match part.get_str("type") {
            _ if part.is_true("synthetic") || part.is_true("ignored") => {
                RecordOutcome::Skipped(RecordSkipReason::Injected)
            }
            Some("text") if info.is_true("summary") => self.compaction_event(part),
            Some("text") => self.reply_event(message, info, part),
            Some("tool") => {
                let state = part.take_object("state");
                self.tool_result_event(part, state)
            }
            _ => RecordOutcome::Skipped(RecordSkipReason::Bookkeeping),
        }
    }

    fn reply_event(
        &mut self,
        message: &str,
        info: &PayloadFields,
        mut part: PayloadFields,
    ) -> RecordOutcome {
        let text = part.take_text("text");
        let end = part.get("time").and_then(|time| time.get("end")).cloned();
        if text.trim().is_empty() {
            return RecordOutcome::Skipped(RecordSkipReason::Bookkeeping);
        }
        if end.is_none() && info.get("time").and_then(|time| time.get("completed")).is_none() {
            return RecordOutcome::Skipped(RecordSkipReason::Unfinished);
        }
        self.context.update_time(end.as_ref());
        let Some(context) = self.context.hook_context() else {
            return RecordOutcome::Skipped(RecordSkipReason::Bookkeeping);
        };
        let identity = match part.get_str("id") {
            Some(id) => context.identities().identify_by_name(Role::Assistant, id),
            None => context.identities().for_reply(&text, ""),
        };
        let mut fields = self.base_fields();
        fields.set("message_id", message);
        fields.set("model", info.get("modelID").cloned().unwrap_or_default());
        RecordOutcome::from_draft(context.build_draft(
            EventKind::AssistantMessage,
            identity,
            text,
            fields,
        ))
    }

    fn compaction_event(&mut self, mut part: PayloadFields) -> RecordOutcome {
        let end = part.get("time").and_then(|time| time.get("end")).cloned();
        self.context.update_time(end.as_ref());
        let mut fields = self.base_fields();
        fields.set("phase", "after");
        let text = part.take_text("text");
        self.context.lifecycle_event(EventKind::Compaction, &["after"], text, fields)
    }

    fn tool_result_event(
        &mut self,
        mut part: PayloadFields,
        mut state: PayloadFields,
    ) -> RecordOutcome {
        let failed = match state.get_str("status") {
            Some("completed") => false,
            Some("error") => true,
            _ => return RecordOutcome::Skipped(RecordSkipReason::Unfinished),
        };
        self.context
            .update_time(state.get("time").and_then(|time| time.get("end")).cloned().as_ref());
        let Some(context) = self.context.hook_context() else {
            return RecordOutcome::Skipped(RecordSkipReason::Bookkeeping);
        };
        let output = match state.take_value(if failed { "error" } else { "output" }) {
            Value::String(text) => Value::String(strip_injections(&text)),
            other => other,
        };
        let mut fields = self.base_fields();
        fields.set("title", state.take_value("title"));
        let mut metadata = state.take_object("metadata");
        if metadata.get("output") == Some(&output) {
            metadata.take_value("output");
        }
        fields.set("metadata", cap_json(metadata.into_value(), METADATA_BYTES_MAX).0);
        if failed {
            fields.mark_failed();
        }
        let called =
            Tool { name: part.take_text("tool"), input: state.take_value("input"), output };
        RecordOutcome::from_draft(tool_draft(&context, part.take_value("callID"), called, fields))
    }
}
