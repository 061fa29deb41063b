//! Where the key of a model comes from: a variable of the environment, or a file that only its owner
//! can read. It is read when a model is made, and never shown or logged.

use std::path::Path;

use tome_llm::{ApiKey, ModelFailure};

/// What the settings say of a key.
pub struct KeySource<'s> {
    /// The settings' section: `summarizer`.
    pub section: &'s str,
    /// The variable; empty for the vendor's own.
    pub key_env: &'s str,
    /// The vendor's own: `ANTHROPIC_API_KEY`.
    pub usual_env: &'s str,
    /// The file; empty for none. A relative path begins in Tome's home.
    pub key_file: &'s str,
    /// Tome's home.
    pub home: &'s Path,
}

impl KeySource<'_> {
    /// The key, if there is one. A file that is named is used and has to be good; a variable may be
    /// missing, because an endpoint of one's own needs no key.
    pub fn read(&self) -> Result<Option<ApiKey>, ModelFailure> {
        if self.key_file.is_empty() {
            let variable = if self.key_env.is_empty() { self.usual_env } else { self.key_env };
            let key = std::env::var(variable).ok().filter(|key| !key.is_empty());
            return key.map(|key| ApiKey::new(&key)).transpose();
        }
        if !self.key_env.is_empty() {
            let section = self.section;
            let both = format!("{section}.key_env and {section}.key_file are both set: keep one");
            return Err(ModelFailure::Misconfigured(both));
        }
        ApiKey::from_file(&self.home.join(self.key_file)).map(Some)
    }
}
