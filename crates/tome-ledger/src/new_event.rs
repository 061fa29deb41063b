//! An event to be appended, and the result of the append.

use tome_model::{DeliveryPart, Draft, EventId, Identity, Millis, SessionId};

use crate::{LedgerError, event_value};

/// An encoded event, ready to be appended.
#[derive(Debug, Clone)]
pub struct NewEvent {
    pub(crate) identity: Identity,
    pub(crate) at: Millis,
    pub(crate) session: SessionId,
    pub(crate) arrived: Millis,
    pub(crate) delivery: Option<DeliveryPart>,
    /// The stored value, or why the event cannot be stored.
    body: Result<Vec<u8>, String>,
}

/// The result of appending an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendedEvent {
    /// The id of the stored event.
    pub id: EventId,
    /// Whether it was new.
    pub outcome: AppendOutcome,
}

/// Whether an event was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendOutcome {
    /// It is new and now stored.
    Stored,
    /// It was already stored, or occurs earlier in the same append; nothing changed.
    Duplicate,
}

impl NewEvent {
    /// Encodes and compresses a draft on the caller's thread. A draft that cannot be stored is rejected
    /// when it is appended.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "takes ownership of the draft and its project"
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

    /// Sets the delivery of this event, by which repeated arrivals are recognized.
    #[must_use]
    pub fn with_delivery(mut self, delivery: Option<DeliveryPart>) -> Self {
        self.delivery = delivery;
        self
    }

    /// Why the event cannot be stored, if so.
    pub fn problem(&self) -> Option<&str> {
        self.body.as_ref().err().map(String::as_str)
    }

    /// Approximate memory use.
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
                    Identity::ByText(words) => tome_model::truncate_to(words, 80).to_owned(),
                },
                problem: problem.clone(),
            }),
        }
    }
}

/// Checks the key of repeating words, which becomes part of a key that 0x00 terminates.
fn check_identity(identity: &Identity) -> Result<(), String> {
    match identity {
        Identity::Fixed(_) => Ok(()),
        Identity::ByText(words) => EventId::parse(words)
            .map(|_| ())
            .map_err(|error| format!("the key of its words is not a valid id: {error}")),
    }
}
