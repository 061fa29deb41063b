//! Limits of the notebook, with their reasons.

/// Total size of the files in `facts/`: they are meant to fit into a prompt.
pub const FACTS_BYTES_MAX: u64 = 15_360;
/// Characters of a note returned by one read; more would flood the context.
pub const READ_CHARS_MAX: usize = 50_000;
/// Size of a note written by a tool.
pub const NOTE_BYTES_MAX: usize = 1024 * 1024;
/// Size of a file whose versions are kept. A larger one is listed but never overwritten.
pub const KEPT_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Lines of an index that go into a prompt.
pub const PROMPT_LINES_MAX: usize = 200;
/// Bytes of an index that go into a prompt.
pub const PROMPT_BYTES_MAX: usize = 16 * 1024;
/// File systems allow 255 bytes; a temporary name is a little longer than the note's.
pub const NAME_BYTES_MAX: usize = 200;
/// Bytes of a path relative to the notebook.
pub const PATH_BYTES_MAX: usize = 512;
/// Folders above a note.
pub const FOLDERS_MAX: usize = 4;
/// Folders above a lesson: its type and one topic.
pub const CODER_FOLDERS_MAX: usize = 2;
/// Notes that are served. Each one is read, indexed and kept in memory (about 500 bytes); a real
/// notebook has hundreds. In a larger folder, notes with a history come first, and callers learn
/// how many were omitted.
pub const NOTES_MAX: usize = 20_000;
/// Directory entries listed to select the notes from: listing a million takes seconds and more
/// memory than everything else.
pub const ENTRIES_MAX: usize = 300_000;
/// Patches per call.
pub const PATCHES_MAX: usize = 100;
/// Words of a summary.
pub const SUMMARY_WORDS_MAX: usize = 9;
/// Lessons per store call.
pub const LESSONS_MAX: usize = 3;
