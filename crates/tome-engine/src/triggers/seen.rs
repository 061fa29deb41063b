//! One event, as the triggers look at it.

use serde_json::{Map, Value};
use tome_model::{Draft, Event, EventKind, Identity, Millis, Tool};

use super::recent::Sighting;

/// One event of a session.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    pub(super) kind: EventKind,
    pub(super) text: &'a str,
    pub(super) tool: Option<&'a Tool>,
    pub(super) sighting: Sighting,
    meta: &'a Map<String, Value>,
}

impl<'a> Seen<'a> {
    /// An event on its way in.
    pub fn of(draft: &'a Draft) -> Self {
        let Draft { identity, at, kind, text, tool, meta, .. } = draft;
        let sighting = match identity {
            Identity::Fixed(id) => Sighting::of(*kind, id.as_str(), None),
            Identity::Repeats(key) => Sighting::of(*kind, key, Some(*at)),
        };
        Self { kind: *kind, text, tool: tool.as_ref(), sighting, meta }
    }

    /// An event that is stored. (Words without an id are recognised again only among drafts, or
    /// only among events: hand a session's state one or the other.)
    pub fn of_event(event: &'a Event) -> Self {
        let Event { id, kind, text, tool, meta, .. } = event;
        let sighting = Sighting::of(*kind, id.as_str(), None::<Millis>);
        Self { kind: *kind, text, tool: tool.as_ref(), sighting, meta }
    }

    /// Whether it happened inside a subagent of the session. (The type of an agent alone says
    /// nothing: a whole session may have one.)
    pub(super) fn in_subagent(&self) -> bool {
        matches!(self.kind, EventKind::SubagentStart | EventKind::SubagentStop)
            || self.meta.get("subagent").is_some_and(|id| !id.is_null())
    }

    /// Whether the session itself is a subagent's: such are sessions of their own with some agents.
    pub(super) fn opens_subagent(&self) -> bool {
        self.kind == EventKind::SubagentStart && self.meta.contains_key("parent")
    }

    /// Whether a stop comes after a stop hook has already sent the agent back to work.
    pub(super) fn stop_hook_active(&self) -> bool {
        self.is_true("stop_hook_active")
    }

    /// Whether this is the text of a stop that was seen before without it: read from the agent's log,
    /// where it has an id.
    pub(super) fn answers_earlier_stop(&self) -> bool {
        self.meta_text("message_id").is_some()
    }

    /// Whether the call or the turn failed.
    pub(super) fn failed(&self) -> bool {
        let refused = |tool: &Tool| tool.output.get("isError") == Some(&Value::Bool(true));
        self.is_true("failed") || self.tool.is_some_and(refused)
    }

    /// Whether the person threw the conversation away.
    pub(super) fn clears(&self) -> bool {
        self.kind == EventKind::SessionStart && self.meta_text("source") == Some("clear")
    }

    /// What the agent's harness calls an event that the model has no kind for.
    pub(super) fn harness_event(&self) -> Option<&'a str> {
        self.meta_text("event")
    }

    /// A text of what such an event said.
    pub(super) fn payload_text(&self, name: &str) -> Option<&'a str> {
        self.meta.get("payload")?.get(name)?.as_str()
    }

    fn meta_text(&self, name: &str) -> Option<&'a str> {
        self.meta.get(name)?.as_str()
    }

    fn is_true(&self, name: &str) -> bool {
        self.meta.get(name) == Some(&Value::Bool(true))
    }
}
