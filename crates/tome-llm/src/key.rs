//! A key that cannot be shown by accident.

use std::fmt;

use crate::ModelFailure;

/// The key of an endpoint. Prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// What stands where a key was said.
const MASK: &str = "***";

impl ApiKey {
    /// Takes a key as it stands in a variable: blanks around it are cut. An empty one, or one that
    /// cannot stand in a header, is refused without repeating it.
    pub fn new(text: &str) -> Result<Self, ModelFailure> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ModelFailure::Misconfigured(
                "the key is empty or holds characters that no key has: check the variable it comes from"
                    .to_owned(),
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// For the header that needs it, and nothing else.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// A text in which the key does not occur: servers repeat keys in their errors.
    pub(crate) fn cut_from(&self, text: &str) -> String {
        text.replace(&self.0, MASK)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}
