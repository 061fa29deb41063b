//! Finds secrets and private parts of a text and replaces them with marks. Pure: no I/O.
//!
//! One pass of a literal scanner (`scanner`) finds the few positions where a secret could begin;
//! a matcher for that kind examines the bytes around each. The matchers are:
//!
//! - `token_rules`, `token_rule`, `token`: tokens with the prefix of their issuer, from a table of rules, and
//!   tokens of a known shape around another literal;
//! - `assignment` with `name`, `binding`, `value_span`, `value`: a name that announces a secret
//!   and the value bound to it; `env`: variables with random values;
//! - `command`, `command_rules`: options and arguments of commands that take a password;
//! - `header`, `cookie`, `url`: HTTP credentials; `credential_file`: `.netrc`, `.pgpass` and
//!   others; `manifest`: Kubernetes secrets;
//! - `pem`, `wallet`, `mnemonic`: private keys in their encodings;
//! - `printed`: what commands print that print a secret;
//! - `private`: parts marked as private by the user.
//!
//! Every matcher examines a bounded number of bytes per literal or continues where its last run
//! stopped, so the work is linear in the length of the text.
//!
//! Matchers also run on a `view` without terminal escapes and invisible characters. Cuts are
//! applied to the original text, and nothing outside a cut changes.

mod assignment;
mod base64;
mod binding;
mod command;
mod command_rules;
mod cookie;
mod credential_file;
mod cut;
mod env;
mod error;
mod haystack;
mod header;
mod json;
mod manifest;
mod mnemonic;
mod name;
mod pem;
mod printed;
mod private;
mod randomness;
mod redactor;
mod scanner;
mod token;
mod token_rule;
mod token_rules;
mod url;
mod value;
mod value_span;
mod view;
mod wallet;
mod word_lists;

pub use cut::{RedactionCut, RedactionMark, apply_cuts, find_mark_around};
pub use error::PatternError;
pub use json::rewrite_json;
pub use printed::{prints_secret, redact_printed, redact_printed_text};
pub use redactor::{CustomPattern, Redactor};

#[cfg(test)]
mod tests;
