//! An API key that is not printed by accident.

use std::fmt;

use crate::ModelFailure;

/// The API key of an endpoint. `Debug` prints `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

const MASK: &str = "***";

impl ApiKey {
    /// Creates a key from the value of a variable, trimmed. An empty key, or one with characters that
    /// cannot be in a header, is rejected without repeating it.
    pub fn new(text: &str) -> Result<Self, ModelFailure> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ModelFailure::Misconfigured(
                "the key is empty or contains invalid characters: check the variable it comes from"
                    .to_owned(),
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the key, for the request header only.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Masks the key in a text: servers repeat keys in their errors.
    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(&self.0, MASK)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}
