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

pub(crate) use contents::{node_text, scan_contents};
pub(crate) use events::scan_events;
pub(crate) use look::{ExactMatch, TextMatch, line_number};
pub(crate) use messages::{TranscriptOwner, scan_messages};
pub(crate) use needle::Matcher;
pub(crate) use page::{NoteSection, ParsedNote, parse_note};
pub(crate) use seen::{Scan, ScanMatch, ScanQuery};
