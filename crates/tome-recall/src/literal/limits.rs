//! Every cap of the literal tier, with its reason.

/// A longer query is a paste; what matters stands near its start.
pub(super) const QUERY_BYTES_MAX: usize = 16 * 1024;

/// Terms of a query. A question has ten; a pasted stack trace is found by its first lines.
pub(super) const TERMS_MAX: usize = 64;

/// Parts of one term: of a long path, or of a run in a script without spaces.
pub(super) const PARTS_MAX: usize = 24;

/// A longer word is a hash or encoded bytes: its beginning is enough to find it.
pub(super) const TERM_BYTES_MAX: usize = 256;

/// A longer query is not looked for as a phrase: nobody said all of it twice.
pub(super) const PHRASE_BYTES_MAX: usize = 4 * 1024;

/// Phrases in quotes; further quotes are as good as none.
pub(super) const QUOTED_MAX: usize = 8;

/// Places of terms that are remembered of one text. Of a text with more only the first so many
/// compete for the best place; what is in it is known all the same.
pub(super) const PLACES_MAX: usize = 16 * 1024;

/// How far apart terms may be and still be one place: a snippet shows all of it.
pub(super) const PLACE_BYTES_MAX: usize = 280;

/// Memory that a compiled regular expression may take.
pub(super) const REGEX_BYTES_MAX: usize = 2 * 1024 * 1024;

/// About so many words are one section of a note: a paragraph or three.
pub(super) const SECTION_WORDS_MAX: usize = 200;

/// What is shown of a match.
pub(super) const SNIPPET_CHARS_MAX: usize = 300;

/// Hits that one scan keeps, whatever was asked for.
pub(super) const SEEN_MAX: usize = 1_000;

/// A scan asks whether to stop after about so much text: many times a second.
pub(super) const ASK_EVERY_BYTES: usize = 256 * 1024;

/// Things that could not be read and are named; more say nothing new.
pub(super) const UNREAD_MAX: usize = 20;

/// Of a longer line of a file only the beginning is looked at: an event is at most about 1 MB.
pub(super) const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Events that are read at a time in the order of their arrival.
pub(super) const OUTBOX_EVENTS_MAX: usize = 256;

/// Nodes of a project's contents that are looked at, the newest: a lifetime of work has fewer.
pub(super) const NODES_MAX: usize = 100_000;

/// Events that are worth a thread's turn. So few that the newest are looked at first by all threads.
pub(super) const TURN_EVENTS: u64 = 1_024;

/// Turns of one scan at most: finding out where they begin costs a read each.
pub(super) const TURNS_MAX: u64 = 64;

/// The same for the nodes of the contents.
pub(super) const TURN_NODES: usize = 128;
