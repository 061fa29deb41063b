//! The tier that always works: looking at the texts themselves, with no index.
//!
//! A [`Needle`] is what is looked for: text, never a regular expression unless one is asked for. It
//! says how well a text matches and where ([`Look`]); [`snippet`] shows the place. [`page`] cuts a
//! note into sections. Nothing here keeps anything between two questions, so that a hand edit or a
//! new line counts at once.

mod fold;
mod limits;
mod look;
mod needle;
mod page;
mod phrase;
mod snippet;
mod stop;
mod terms;
#[cfg(test)]
mod tests;

pub(crate) use look::{Exact, Look};
pub(crate) use needle::Needle;
pub(crate) use page::{Page, Section, page, sections};
pub(crate) use snippet::{line_of, snippet};
