//! The literal tier: scans texts without an index, so it always works.
//!
//! A [`Matcher`] matches texts against a query, which is plain text unless a regular expression is
//! requested, and returns a [`TextMatch`]. [`parse_note`] splits a note into sections. Scans visit
//! notes, transcript lines, events and contents, keep the best [`ScanMatch`]es, and can be stopped.
//! Nothing is cached between queries, so edits and new lines are visible at once.

mod contents;
mod events;
mod limits;
mod line_text;
mod markdown;
mod matcher;
mod messages;
mod note;
mod phrase;
mod query_parser;
mod scan;
#[cfg(test)]
mod tests;
mod text_match;
mod word_query;

pub(crate) use contents::{node_text, scan_contents};
pub(crate) use events::{event_meta, scan_events};
pub(crate) use matcher::Matcher;
pub(crate) use messages::{TranscriptOwner, scan_messages};
pub(crate) use note::{NoteSection, ParsedNote, blank_out, parse_note};
pub(crate) use scan::{Scan, ScanMatch, ScanQuery};
pub(crate) use text_match::{ExactMatch, TextMatch, line_number};
