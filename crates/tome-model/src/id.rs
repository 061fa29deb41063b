//! Ids of events and sessions.
//!
//! An event id is text: either given from outside and kept as it is, or derived from the parts that
//! identify the event, so that duplicates get the same id.

use serde::{Deserialize, Serialize};

use crate::{InvalidInput, hash_parts, limits};

/// The id of an event: printable ASCII without spaces, at most 128 bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EventId(String);

impl EventId {
    /// Validates an id given from outside.
    pub fn parse(id: &str) -> Result<Self, InvalidInput> {
        if id.is_empty() {
            return Err(InvalidInput::Missing { field: "id" });
        }
        if id.len() > limits::ID_BYTES_MAX || !id.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(InvalidInput::invalid(
                "id",
                format!(
                    "has to be 1 to {} printable ASCII characters without spaces",
                    limits::ID_BYTES_MAX
                ),
            ));
        }
        Ok(Self(id.to_owned()))
    }

    /// Derives an id from the parts that identify an event: 32 hexadecimal digits of a hash.
    pub fn derive(parts: &[&str]) -> Self {
        Self(format!("{:032x}", hash_parts("tome event id v1", parts)))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for EventId {
    type Error = InvalidInput;
    fn try_from(id: String) -> Result<Self, Self::Error> {
        Self::parse(&id)
    }
}

impl From<EventId> for String {
    fn from(id: EventId) -> Self {
        id.0
    }
}

/// The id of a session, as the agent gives it: no control characters, at most 256 bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Stands for the session of payloads that name none; shared by all agents and projects.
    pub const UNKNOWN: &str = "unknown";

    /// Validates an id given from outside.
    pub fn parse(id: &str) -> Result<Self, InvalidInput> {
        if id.is_empty() {
            return Err(InvalidInput::Missing { field: "session_id" });
        }
        if id.len() > limits::SESSION_ID_BYTES_MAX || id.chars().any(char::is_control) {
            return Err(InvalidInput::invalid(
                "session_id",
                format!(
                    "has to be 1 to {} bytes without control characters",
                    limits::SESSION_ID_BYTES_MAX
                ),
            ));
        }
        Ok(Self(id.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for SessionId {
    type Error = InvalidInput;
    fn try_from(id: String) -> Result<Self, Self::Error> {
        Self::parse(&id)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}
