//! The tier that always works: looking at the texts themselves, with no index.
//!
//! A [`Needle`] is what is looked for: text, never a regular expression unless one is asked for. It
//! says how well a text matches and where ([`Look`]); [`tome_text::excerpt_around`] shows the place.
//! [`page`] cuts a note into sections. Scans go through notes, lines of messages, events and contents,
//! keep the best of what they have [`Seen`], and stop when they are told to. Nothing here keeps
//! anything between two questions, so that a hand edit or a new line counts at once.

mod contents;
mod events;
mod heard;
mod limits;
mod look;
mod markdown;
mod messages;
mod needle;
mod page;
mod phrase;
mod searched;
mod seen;
mod terms;
#[cfg(test)]
mod tests;

pub(crate) use contents::{scan_contents, text_of_node};
pub(crate) use events::scan_events;
pub(crate) use look::{Exact, Look, line_of};
pub(crate) use messages::{Owner, scan_messages};
pub(crate) use needle::Needle;
pub(crate) use page::{Page, Section, page};
pub(crate) use seen::{Hunt, Scan, Seen};
