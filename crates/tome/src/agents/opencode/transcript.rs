//! Reads OpenCode's own store: sessions, messages and parts, as database rows or, in old versions,
//! as one JSON file each. The plugin sees the same ids, so nearly every event is recognized by its
//! id. A session with a parent belongs to a subagent.

use serde_json::{Map, Value};
use tome_model::{EventKind, Role, Tool, cap_json, strip_injections};

use super::hook::{METADATA_BYTES_MAX, of_subagent, spoken, tool};
use crate::agents::fields::Fields;
use crate::agents::transcript::{Here, Origin, Skip, Step, Steps};

pub struct Session {
    here: Here,
    is_subagent: bool,
}

impl Session {
    /// Marks a subagent's events with its session.
    fn fields(&self) -> Fields {
        let mut fields = Fields::default();
        if self.is_subagent {
            fields.put("agent_id", self.here.session.clone());
        }
        fields
    }

    /// Takes the session row (`id`, `directory`, `parentID`, `title`, `version`, `time.created`)
    /// and pushes the session start.
    pub fn new(origin: &Origin, info: Map<String, Value>, steps: &mut Steps) -> Self {
        let mut info = Fields::new(info);
        let mut here = Here::new(origin);
        here.session = info.take("id");
        here.enter(info.get("directory"));
        here.pass(info.get("time").and_then(|time| time.get("created")));
        let parent = info.take("parentID");
        let is_subagent = !parent.is_null();
        let kind = if is_subagent { EventKind::SubagentStart } else { EventKind::SessionStart };
        let mut fields = Fields::default();
        fields.put("parent", parent);
        for name in ["title", "version", "agent", "model"] {
            fields.put(name, info.take(name));
        }
        // Same parts as in `hook.rs`, so that it is the same event.
        steps.push(here.moment(kind, &["created"], String::new(), fields));
        Self { here, is_subagent }
    }

    /// Reads one message with its parts, each of which contains its id.
    pub fn message(
        &mut self,
        id: &str,
        info: Map<String, Value>,
        parts: Vec<Value>,
        steps: &mut Steps,
    ) {
        let mut info = Fields::new(info);
        self.here.pass(info.get("time").and_then(|time| time.get("created")));
        let path = info.get("path").and_then(|path| path.get("cwd")).cloned();
        self.here.enter(path.as_ref());
        match info.str("role") {
            Some("user") => steps.push(self.prompt(id, &mut info, parts)),
            Some("assistant") => {
                for part in parts {
                    let Value::Object(part) = part else { continue };
                    let step = self.part(id, &info, Fields::new(part));
                    steps.push(step);
                }
            }
            _ => steps.push(Step::Skipped(Skip::Bookkeeping)),
        }
    }

    fn prompt(&mut self, id: &str, info: &mut Fields, parts: Vec<Value>) -> Step {
        let (mut texts, files) = spoken(parts);
        if texts.is_empty() && !files.is_empty() {
            texts.push(format!("[{}]", files.join("] [")));
        }
        let mut fields = self.fields();
        for name in ["agent", "model"] {
            fields.put(name, info.take(name));
        }
        fields.put("message_id", id);
        fields.put("files", files);
        match self.here.prompt(&texts.join("\n"), Some(id), fields) {
            Step::Event(draft) if self.is_subagent => Step::event(of_subagent(*draft)),
            step => step,
        }
    }

    fn part(&mut self, message: &str, info: &Fields, mut part: Fields) -> Step {
        match part.str("type") {
            _ if part.is_true("synthetic") || part.is_true("ignored") => {
                Step::Skipped(Skip::Injected)
            }
            Some("text") if info.is_true("summary") => self.compacted(part),
            Some("text") => self.spoke(message, info, part),
            Some("tool") => {
                let state = part.object("state");
                self.called(part, state)
            }
            _ => Step::Skipped(Skip::Bookkeeping),
        }
    }

    fn spoke(&mut self, message: &str, info: &Fields, mut part: Fields) -> Step {
        let text = part.words("text");
        let end = part.get("time").and_then(|time| time.get("end")).cloned();
        if text.trim().is_empty() {
            return Step::Skipped(Skip::Bookkeeping);
        }
        if end.is_none() && info.get("time").and_then(|time| time.get("completed")).is_none() {
            return Step::Skipped(Skip::Unfinished);
        }
        self.here.pass(end.as_ref());
        let Some(scene) = self.here.scene() else {
            return Step::Skipped(Skip::Bookkeeping);
        };
        let identity = match part.str("id") {
            Some(id) => scene.whose().named(Role::Assistant, id),
            None => scene.whose().reply(&text, ""),
        };
        let mut fields = self.fields();
        fields.put("message_id", message);
        fields.put("model", info.get("modelID").cloned().unwrap_or_default());
        Step::event(scene.draft(EventKind::AssistantMessage, identity, text, fields))
    }

    fn compacted(&mut self, mut part: Fields) -> Step {
        let end = part.get("time").and_then(|time| time.get("end")).cloned();
        self.here.pass(end.as_ref());
        let mut fields = self.fields();
        fields.put("phase", "after");
        let text = part.words("text");
        self.here.moment(EventKind::Compaction, &["after"], text, fields)
    }

    fn called(&mut self, mut part: Fields, mut state: Fields) -> Step {
        let failed = match state.str("status") {
            Some("completed") => false,
            Some("error") => true,
            _ => return Step::Skipped(Skip::Unfinished),
        };
        self.here.pass(state.get("time").and_then(|time| time.get("end")).cloned().as_ref());
        let Some(scene) = self.here.scene() else {
            return Step::Skipped(Skip::Bookkeeping);
        };
        let output = match state.take(if failed { "error" } else { "output" }) {
            Value::String(text) => Value::String(strip_injections(&text)),
            other => other,
        };
        let mut fields = self.fields();
        fields.put("title", state.take("title"));
        let mut metadata = state.object("metadata");
        if metadata.get("output") == Some(&output) {
            metadata.take("output");
        }
        fields.put("metadata", cap_json(metadata.into_value(), METADATA_BYTES_MAX).0);
        if failed {
            fields.put_failed();
        }
        let called = Tool { name: part.words("tool"), input: state.take("input"), output };
        Step::event(tool(&scene, part.take("callID"), called, fields))
    }
}
