//! An event on its way into the ledger, and what became of it.

use tome_model::{DeliveryPart, Draft, EventId, Identity, Millis, SessionId};

use crate::{LedgerError, event_value};

/// An event that has been encoded and waits to be appended.
#[derive(Debug, Clone)]
pub struct NewEvent {
    pub(crate) identity: Identity,
    pub(crate) at: Millis,
    pub(crate) session: SessionId,
    pub(crate) arrived: Millis,
    pub(crate) delivery: Option<DeliveryPart>,
    /// The value as it is stored, or why the event cannot be.
    body: Result<Vec<u8>, String>,
}

/// What became of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The id under which it can be read.
    pub id: EventId,
    /// Whether it was new.
    pub outcome: Outcome,
}

/// Whether an event was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was new and is now stored.
    Stored,
    /// It had been stored before, or earlier in the same append; nothing was changed.
    Duplicate,
}

impl NewEvent {
    /// Encodes and compresses a draft, on the thread of the caller. A draft that cannot be stored
    /// is refused when it is appended.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the draft and its project are used up together"
    )]
    pub fn encode(draft: Draft, project: String, arrived: Millis) -> Self {
        let body = check_identity(&draft.identity)
            .and_then(|()| event_value::encode(&draft, &project, arrived));
        Self {
            identity: draft.identity,
            at: draft.at,
            session: draft.session,
            arrived,
            delivery: None,
            body,
        }
    }

    /// The same event, brought by this delivery: stored once however often the delivery arrives.
    #[must_use]
    pub fn brought_by(mut self, delivery: Option<DeliveryPart>) -> Self {
        self.delivery = delivery;
        self
    }

    /// Why it cannot be stored, if it cannot.
    pub fn problem(&self) -> Option<&str> {
        self.body.as_ref().err().map(String::as_str)
    }

    /// How much memory it holds, about.
    pub fn bytes_len(&self) -> usize {
        let body = self.body.as_ref().map_or(0, Vec::len);
        size_of::<Self>() + self.session.as_str().len() + 32 + body
    }

    pub(crate) fn body(&self) -> Result<&[u8], LedgerError> {
        match &self.body {
            Ok(body) => Ok(body),
            Err(problem) => Err(LedgerError::Rejected {
                name: match &self.identity {
                    Identity::Fixed(id) => id.to_string(),
                    Identity::Repeats(words) => tome_model::truncate_to(words, 80).to_owned(),
                },
                problem: problem.clone(),
            }),
        }
    }
}

/// The key of repeating words becomes part of a key, where 0x00 ends it.
fn check_identity(identity: &Identity) -> Result<(), String> {
    match identity {
        Identity::Fixed(_) => Ok(()),
        Identity::Repeats(words) => EventId::parse(words)
            .map(|_| ())
            .map_err(|error| format!("the key of its words is like an id: {error}")),
    }
}
