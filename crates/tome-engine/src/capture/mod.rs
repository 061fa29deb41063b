//! What makes a draft fit to be stored: secrets cut, private parts cut, text capped.
//!
//! Pure functions: no file, no clock, no chance. They run in the hook before the spool and in the
//! daemon before the ledger, so doing them twice changes nothing.
//!
//! One pass of a literal scanner over the text (`anchor`) finds the few places where something
//! could begin; a matcher written for that kind looks at the bytes around each. What they find are
//! `cut::Cut`s in the text; nothing outside a cut is ever changed.

mod anchor;
mod assign;
mod cut;
mod env;
mod error;
mod extent;
mod header;
mod json;
mod name;
mod pem;
mod private;
mod randomness;
mod redact;
mod scan;
mod seal;
mod separator;
mod token;
mod url;
mod value;
mod words;

pub use error::CaptureError;
pub use redact::{OwnPattern, Redactor};
pub use seal::Sealer;

#[cfg(test)]
mod tests;
