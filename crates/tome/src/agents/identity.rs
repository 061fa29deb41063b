//! Decides which two sightings are one event. A hook may be installed twice, and an import may
//! later read the same text from a transcript: each identity is built from what all of these share.
//!
//! Text is compared without surrounding whitespace: Claude Code trims the final message in its
//! hooks but not in its transcript; Gemini CLI does the opposite.

use std::borrow::Cow;

use serde_json::Value;
use tome_model::{Agent, EventId, Identity, Millis, Role, SessionId};

/// Tool call ids that are generated to be unique are at least this long.
const UNIQUE_ID_BYTES_MIN: usize = 12;

/// Builds identities relative to a session, with the payload's own time if it has one.
pub(super) struct IdentityBuilder<'a> {
    pub(super) agent: &'a Agent,
    pub(super) session: &'a SessionId,
    pub(super) stamp: Option<Millis>,
    /// Set for payloads without a session: otherwise the same text in two projects would be one
    /// event.
    pub(super) folder: Option<&'a str>,
}

impl IdentityBuilder<'_> {
    /// A tool call is identified by its id, which hook, transcript and API share. A short id comes
    /// from a model server whose counter restarts with every reply (`call_1`), so the input is
    /// added. Without an id (Gemini, Copilot), the time and the input identify the call: the same
    /// call does not happen twice in one millisecond. Without either, input and output do.
    pub(super) fn for_tool_call(
        &self,
        id: Option<&str>,
        name: &str,
        input: &Value,
        output: &Value,
    ) -> Identity {
        match (id, self.stamp) {
            (Some(id), _) if id.len() >= UNIQUE_ID_BYTES_MIN => {
                self.identify_by_name(Role::Tool, id)
            }
            (Some(id), _) => {
                let parts = ["tool", id, name, &input.to_string()];
                self.identify_by_name(Role::Tool, EventId::derive(&parts).as_str())
            }
            (None, Some(at)) => {
                let parts = ["tool", name, &input.to_string(), &at.0.to_string()];
                self.identify_by_name(Role::Tool, EventId::derive(&parts).as_str())
            }
            (None, None) => {
                let parts = ["tool", name, &input.to_string(), &output.to_string()];
                self.identify_by_text(Role::Tool, EventId::derive(&parts).as_str())
            }
        }
    }

    /// A call whose result is missing.
    pub(super) fn for_unanswered_call(&self, id: &str, name: &str, input: &Value) -> Identity {
        let parts = ["unanswered", id, name, &input.to_string()];
        self.identify_by_name(Role::Tool, EventId::derive(&parts).as_str())
    }

    /// A prompt is identified by its text and its turn: one turn id may cover several prompts (the
    /// user adds something while the agent works), and the same text in another turn is another
    /// prompt. Without a turn id only the text is left; the payload's time differs from the
    /// transcript's by some milliseconds.
    pub(super) fn for_prompt(&self, native: Option<&str>, text: &str) -> Identity {
        match native {
            Some(id) => {
                let hash = EventId::derive(&["prompt", text.trim()]);
                self.identify_by_name(Role::User, &format!("{id} {hash}"))
            }
            None => self.identify_by_text(Role::User, text.trim()),
        }
    }

    /// The final reply of a turn is identified by its text: hook and transcript share no id for it.
    /// A stop without text is identified by its turn and time.
    pub(super) fn for_reply(&self, text: &str, turn: &str) -> Identity {
        match text.trim() {
            "" => self.for_lifecycle_event(Role::Assistant, &["assistant_stop", turn]),
            text => self.identify_by_text(Role::Assistant, text),
        }
    }

    /// Starts, ends, compactions and subagents are identified by what happened, the reason, the
    /// subject, and the payload's time. Without a time, a repetition within moments is the same
    /// event seen twice, and a later one is another event (a session can be resumed twice).
    pub(super) fn for_lifecycle_event(&self, role: Role, parts: &[&str]) -> Identity {
        let parts = EventId::derive(parts);
        match self.stamp {
            Some(at) => self.identify_by_name(role, &format!("{parts} {}", at.0)),
            None => self.identify_by_text(role, parts.as_str()),
        }
    }

    /// An event that the agent itself gives an id.
    pub(super) fn identify_by_name(&self, role: Role, name: &str) -> Identity {
        Identity::from_name(self.agent, self.session, role, &self.scope_to_folder(name))
    }

    fn identify_by_text(&self, role: Role, text: &str) -> Identity {
        Identity::from_words(self.agent, self.session, role, &self.scope_to_folder(text))
    }

    fn scope_to_folder<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.folder {
            Some(folder) => Cow::Owned(format!("{folder}\n{text}")),
            None => Cow::Borrowed(text),
        }
    }
}
