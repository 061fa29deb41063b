//! Which two sightings are one event. A hook may be wired twice, and an import may later read the
//! same words from a transcript: each identity is made of what all of these sightings share.
//!
//! Words are compared without the space around them: Claude Code trims the final words that it
//! gives its hooks and not those in its transcript; Gemini CLI does it the other way round.

use std::borrow::Cow;

use serde_json::Value;
use tome_model::{Agent, EventId, Identity, Millis, Role, SessionId};

/// Ids of tool calls that are made to be unique are longer than this.
const UNIQUE_ID_BYTES_MIN: usize = 12;

/// The session that identities are relative to, and the time that the payload itself gave.
pub(super) struct Whose<'a> {
    pub(super) agent: &'a Agent,
    pub(super) session: &'a SessionId,
    pub(super) stamp: Option<Millis>,
    /// The folder, for payloads that name no session: without it the same words in two projects would
    /// be one event.
    pub(super) folder: Option<&'a str>,
}

impl Whose<'_> {
    /// A tool call is its id: the hook, the transcript and the wire all carry it. An id that is too
    /// short to be unique comes from a model server that counts its calls and starts anew with every
    /// answer (`call_1`): there the input belongs to it. Where the hook
    /// has none (Gemini, Copilot), the same call cannot happen twice in one millisecond with the
    /// same input. With neither, all that it said is what tells it apart.
    pub(super) fn tool(
        &self,
        id: Option<&str>,
        name: &str,
        input: &Value,
        output: &Value,
    ) -> Identity {
        match (id, self.stamp) {
            (Some(id), _) if id.len() >= UNIQUE_ID_BYTES_MIN => self.named(Role::Tool, id),
            (Some(id), _) => {
                let parts = ["tool", id, name, &input.to_string()];
                self.named(Role::Tool, EventId::derive(&parts).as_str())
            }
            (None, Some(at)) => {
                let parts = ["tool", name, &input.to_string(), &at.0.to_string()];
                self.named(Role::Tool, EventId::derive(&parts).as_str())
            }
            (None, None) => {
                let parts = ["tool", name, &input.to_string(), &output.to_string()];
                self.words(Role::Tool, EventId::derive(&parts).as_str())
            }
        }
    }

    /// A prompt is its words in its turn: one turn id may cover several prompts (the person adds
    /// something while the agent works), and the same words in another turn were said again.
    /// Without an id, only the words are left; a payload's time is no help, because the
    /// transcript's differs from it by some milliseconds.
    pub(super) fn prompt(&self, native: Option<&str>, text: &str) -> Identity {
        match native {
            Some(id) => {
                let hash = EventId::derive(&["prompt", text.trim()]);
                self.named(Role::User, &format!("{id} {hash}"))
            }
            None => self.words(Role::User, text.trim()),
        }
    }

    /// The final words of a turn are their words: neither hook nor transcript gives them an id that
    /// the other one has. A stop without words is told apart by its turn and time.
    pub(super) fn reply(&self, text: &str, turn: &str) -> Identity {
        match text.trim() {
            "" => self.moment(Role::Assistant, &["assistant_stop", turn]),
            text => self.words(Role::Assistant, text),
        }
    }

    /// Starts, ends, compactions, subagents: what happened, why, to whom, and when, if the payload
    /// says when. If it does not, the same thing again within moments is the same thing seen twice,
    /// and later it is another one (a session can be resumed twice).
    pub(super) fn moment(&self, role: Role, parts: &[&str]) -> Identity {
        let parts = EventId::derive(parts);
        match self.stamp {
            Some(at) => self.named(role, &format!("{parts} {}", at.0)),
            None => self.words(role, parts.as_str()),
        }
    }

    /// Something that the agent itself names.
    pub(super) fn named(&self, role: Role, name: &str) -> Identity {
        Identity::named(self.agent, self.session, role, &self.in_folder(name))
    }

    fn words(&self, role: Role, text: &str) -> Identity {
        Identity::words(self.agent, self.session, role, &self.in_folder(text))
    }

    fn in_folder<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.folder {
            Some(folder) => Cow::Owned(format!("{folder}\n{text}")),
            None => Cow::Borrowed(text),
        }
    }
}
