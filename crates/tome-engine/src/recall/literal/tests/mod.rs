//! The literal tier, from the outside: texts in, places out.

// A place that splits a character has to fail a test.
#![allow(clippy::string_slice)]

mod needle;
mod page;
mod snippet;
