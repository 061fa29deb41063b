//! The literal tier: scans texts without an index, so it always works.
//!
//! A [`Matcher`] matches texts against a query, which is plain text unless a regular expression is
//! requested, and returns a [`TextMatch`]. [`parse_note`] splits a note into sections. Scans visit
//! notes, transcript lines, events and contents, keep the best [`ScanMatch`]es, and can be stopped.
//! Nothing is cached between queries, so edits and new lines are visible at once.

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
