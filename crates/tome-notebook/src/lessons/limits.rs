//! Limits and thresholds of the coder's lessons, with their reasons.

/// Sentences of a lesson's content: fewer do not explain enough.
pub(super) const SENTENCES_MIN: usize = 3;
/// More would be a document.
pub(super) const SENTENCES_MAX: usize = 5;
/// Shorter titles say nothing.
pub(super) const TITLE_CHARS_MIN: usize = 3;
/// A title fits on one line.
pub(super) const TITLE_CHARS_MAX: usize = 100;
/// One sentence of reasonable length.
pub(super) const DESCRIPTION_CHARS_MAX: usize = 300;
/// Five sentences of reasonable length; recall returns entries in full.
pub(super) const CONTENT_CHARS_MAX: usize = 3_000;
/// An outcome and a subject.
pub(super) const TAGS_MIN: usize = 2;
/// Tags of a draft. A merged entry may have more, since merging keeps all tags.
pub(super) const TAGS_MAX: usize = 10;
/// A tag is a word or two.
pub(super) const TAG_CHARS_MAX: usize = 40;
/// A topic names a folder and the file in it.
pub(super) const TOPIC_CHARS_MAX: usize = 60;

/// Entries per file: as many as a reader can survey.
pub(super) const FILE_ENTRIES_MAX: usize = 40;
/// Bytes of all entries in a file: about 6,000 tokens, so that reading a file stays cheap.
pub(super) const FILE_BYTES_MAX: usize = 24 * 1024;
/// Entries that share a tag before they become a topic folder.
pub(super) const TOPIC_ENTRIES_MIN: usize = 3;
/// Numbered files tried beside a full one: far more than a notebook ever has.
pub(super) const NUMBERED_FILES_MAX: usize = 10_000;

/// Similarity above which two lessons are the same.
pub(super) const SAME_SIMILARITY: f64 = 0.8;
/// Similarity from which two lessons are related.
pub(super) const RELATED_SIMILARITY: f64 = 0.6;
/// Similarity from which episodes may share a principle.
pub(super) const PATTERN_SIMILARITY: f64 = 0.4;
/// Lower than for episodes: a principle is worded differently from its episodes.
pub(super) const PRINCIPLE_SIMILARITY: f64 = 0.35;
/// Similar episodes that form a pattern.
pub(super) const PATTERN_EPISODES_MIN: usize = 2;
/// Similarity from which two sentences are about the same thing, perhaps stating the opposite.
pub(super) const SENTENCE_SIMILARITY: f64 = 0.7;

/// Titles per file listed in a README; files written by Tome have fewer entries.
pub(super) const HEAD_TITLES_MAX: usize = 100;
/// Characters of a description in a README.
pub(super) const HEAD_DESCRIPTION_CHARS_MAX: usize = 160;
/// Titles per file in the root README, which is read first and has to stay short.
pub(super) const ROOT_TITLES_MAX: usize = 5;
/// Titles listed in one hint.
pub(super) const HINT_TITLES_MAX: usize = 5;
