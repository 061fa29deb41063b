//! Limits of the literal tier, with their reasons.

/// Longer queries are pasted text; the important part is near the start.
pub(super) const QUERY_BYTES_MAX: usize = 16 * 1024;

/// Terms of a query. A question has about ten; a pasted stack trace is found by its first lines.
pub(super) const TERMS_MAX: usize = 64;

/// Parts of one term: of a long path, or of a run in a script without spaces.
pub(super) const PARTS_MAX: usize = 24;

/// Longer words are hashes or encoded bytes, which are found by their beginning.
pub(super) const TERM_BYTES_MAX: usize = 256;

/// Longer queries are not searched as a phrase, because nothing repeats them verbatim.
pub(super) const PHRASE_BYTES_MAX: usize = 4 * 1024;

/// Quoted phrases; further quotes are ignored.
pub(super) const QUOTED_MAX: usize = 8;

/// Occurrences recorded per text. In longer texts, only the first ones compete for the best window;
/// coverage still includes the others.
pub(super) const OCCURRENCES_MAX: usize = 16 * 1024;

/// Maximum size of a window of terms that belong together; a snippet shows all of it.
pub(super) const WINDOW_BYTES_MAX: usize = 280;

/// Memory limit of a compiled regular expression.
pub(super) const REGEX_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Approximate size of a note's section: one to three paragraphs.
pub(super) const SECTION_WORDS_MAX: usize = 200;

pub(super) const SNIPPET_CHARS_MAX: usize = 300;

/// Maximum number of matches that a scan keeps, whatever the limit.
pub(super) const MATCHES_MAX: usize = 1_000;

/// Text scanned between two checks for cancellation; several times a second.
pub(super) const STOP_CHECK_BYTES: usize = 256 * 1024;

/// Maximum number of problems to report.
pub(super) const UNREAD_MAX: usize = 20;

/// Longer lines are truncated; an event has at most about 1 MB.
pub(super) const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Events per read in order of arrival.
pub(super) const OUTBOX_EVENTS_MAX: usize = 256;

/// Maximum number of nodes to scan, newest first; years of work have fewer.
pub(super) const NODES_MAX: usize = 100_000;

/// Events per parallel task. Small, so that all threads start with the newest events.
pub(super) const EVENTS_PER_TASK: u64 = 1_024;

/// Maximum number of tasks per scan, because each boundary costs a read.
pub(super) const TASKS_MAX: u64 = 64;

pub(super) const NODES_PER_TASK: usize = 128;
