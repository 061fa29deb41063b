//! Reads the API key of a model from an environment variable, or from a file that only its owner can read.
//! The key is read when the model is built, and never shown or logged.

use std::path::Path;

use tome_llm::{ApiKey, ModelFailure};

/// The settings that determine a key.
pub struct KeySource<'s> {
    /// The settings section, such as `summarizer`.
    pub section: &'s str,
    /// Environment variable; empty for the vendor's default.
    pub key_env: &'s str,
    /// The vendor's default, such as `ANTHROPIC_API_KEY`.
    pub usual_env: &'s str,
    /// File; empty for none. Relative paths start in Tome's home.
    pub key_file: &'s str,
    pub home: &'s Path,
}

impl KeySource<'_> {
    /// Reads the key. A configured file must be valid; a variable may be missing, because local endpoints
    /// need no key.
    pub fn read_key(&self) -> Result<Option<ApiKey>, ModelFailure> {
        if self.key_file.is_empty() {
            let variable = if self.key_env.is_empty() { self.usual_env } else { self.key_env };
            let key = std::env::var(variable).ok().filter(|key| !key.is_empty());
            return key.map(|key| ApiKey::new(&key)).transpose();
        }
        if !self.key_env.is_empty() {
            let section = self.section;
            let both =
                format!("{section}.key_env and {section}.key_file are both set: keep only one");
            return Err(ModelFailure::Misconfigured(both));
        }
        ApiKey::from_file(&self.home.join(self.key_file)).map(Some)
    }
}
