//! An event as the triggers see it.

use serde_json::{Map, Value};
use tome_model::{Draft, Event, EventKind, Identity, Millis, Tool};

use super::dedup::TriggerFingerprint;

/// An event of a session.
#[derive(Debug, Clone, Copy)]
pub struct TriggerEvent<'a> {
    pub(super) kind: EventKind,
    pub(super) text: &'a str,
    pub(super) tool: Option<&'a Tool>,
    pub(super) fingerprint: TriggerFingerprint,
    meta: &'a Map<String, Value>,
}

impl<'a> TriggerEvent<'a> {
    /// Borrows from a draft.
    pub fn from_draft(draft: &'a Draft) -> Self {
        let Draft { identity, at, kind, text, tool, meta, .. } = draft;
        let fingerprint = match identity {
            Identity::Fixed(id) => TriggerFingerprint::new(*kind, id.as_str(), None),
            Identity::ByText(key) => TriggerFingerprint::new(*kind, key, Some(*at)),
        };
        Self { kind: *kind, text, tool: tool.as_ref(), fingerprint, meta }
    }

    /// Borrows from a stored event. A session's state must be fed either drafts or events: events
    /// without an id of their own are not deduplicated across the two.
    pub fn from_event(event: &'a Event) -> Self {
        let Event { id, kind, text, tool, meta, .. } = event;
        let fingerprint = TriggerFingerprint::new(*kind, id.as_str(), None::<Millis>);
        Self { kind: *kind, text, tool: tool.as_ref(), fingerprint, meta }
    }

    /// Whether it happened inside a subagent of the session. The agent type does not prove it: a
    /// whole session may have one.
    pub(super) fn is_in_subagent(&self) -> bool {
        matches!(self.kind, EventKind::SubagentStart | EventKind::SubagentStop)
            || self.meta.get("subagent").is_some_and(|id| !id.is_null())
    }

    /// Whether the session itself is a subagent's: with some agents subagents have sessions of
    /// their own.
    pub(super) fn is_subagent_session(&self) -> bool {
        self.kind == EventKind::SubagentStart && self.meta.contains_key("parent")
    }

    /// Whether a stop hook has already sent the agent back to work.
    pub(super) fn is_stop_hook_active(&self) -> bool {
        self.meta_flag("stop_hook_active")
    }

    /// Whether this is the text of an earlier stop, read later from the agent's transcript, where
    /// it has an id.
    pub(super) fn is_text_of_earlier_stop(&self) -> bool {
        self.meta_text("message_id").is_some()
    }

    /// Whether the call or the turn failed.
    pub(super) fn is_failed(&self) -> bool {
        tome_model::is_marked_failed(self.meta, self.tool)
    }

    /// Whether the user cleared the conversation.
    pub(super) fn is_clear(&self) -> bool {
        self.kind == EventKind::SessionStart && self.meta_text("source") == Some("clear")
    }

    /// The harness's name for an event that `EventKind` does not cover.
    pub(super) fn harness_event(&self) -> Option<&'a str> {
        self.meta_text("event")
    }

    /// A text field of such an event's payload.
    pub(super) fn payload_text(&self, name: &str) -> Option<&'a str> {
        self.meta.get("payload")?.get(name)?.as_str()
    }

    fn meta_text(&self, name: &str) -> Option<&'a str> {
        self.meta.get(name)?.as_str()
    }

    fn meta_flag(&self, name: &str) -> bool {
        self.meta.get(name) == Some(&Value::Bool(true))
    }
}
