//! Every cap of the notebook, with its reason.

/// What all files in `facts/` may take together: they are meant to fit into a prompt.
pub const FACTS_BYTES_MAX: u64 = 15_360;
/// What a reader is given of one note; more would flood a context.
pub const READ_CHARS_MAX: usize = 50_000;
/// The largest note that a tool writes.
pub const NOTE_BYTES_MAX: usize = 1024 * 1024;
/// The largest file whose versions are kept. A larger one is listed, but never written over.
pub const KEPT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// What reaches a prompt of an index.
pub const PROMPT_LINES_MAX: usize = 200;
/// And in bytes.
pub const PROMPT_BYTES_MAX: usize = 16 * 1024;
/// File systems take 255 bytes for a name; a temporary name is a little longer than the note's.
pub const NAME_BYTES_MAX: usize = 200;
/// A whole path within the notebook.
pub const PATH_BYTES_MAX: usize = 512;
/// Folders above a note, at most.
pub const FOLDERS_MAX: usize = 4;
/// Folders above an insight: its type, and one topic.
pub const CODER_FOLDERS_MAX: usize = 2;
/// Notes that are served. Each is read, indexed and kept in memory (some 500 bytes); a notebook that
/// people and agents write has hundreds. Of a folder with more, those that the history knows come
/// first, and callers are told how many were left out.
pub const NOTES_MAX: usize = 20_000;
/// Names that are listed in a notebook's folder to choose the notes from: listing a million takes
/// seconds and more memory than all else.
pub const ENTRIES_MAX: usize = 300_000;
/// Patches in one call.
pub const PATCHES_MAX: usize = 100;
/// A summary has fewer words than ten.
pub const SUMMARY_WORDS_MAX: usize = 9;
/// Insights in one call of store.
pub const INSIGHTS_MAX: usize = 3;
/// Insights that a recall returns.
pub const RECALLED_MAX: usize = 3;
