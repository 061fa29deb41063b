//! Every cap and threshold of the coder's insights, with its reason.

/// Sentences of an insight's content: fewer do not explain, more are a document.
pub(super) const SENTENCES_MIN: usize = 3;
/// And at most.
pub(super) const SENTENCES_MAX: usize = 5;
/// A title says something.
pub(super) const TITLE_CHARS_MIN: usize = 3;
/// And fits on a line.
pub(super) const TITLE_CHARS_MAX: usize = 100;
/// One sentence that is not a page.
pub(super) const DESCRIPTION_CHARS_MAX: usize = 300;
/// Five sentences that are not a page; entries are returned whole.
pub(super) const CONTENT_CHARS_MAX: usize = 3_000;
/// An outcome and a subject.
pub(super) const TAGS_MIN: usize = 2;
/// What a caller may give. A merged entry may have more: merging loses no tag.
pub(super) const TAGS_MAX: usize = 10;
/// A tag is a word or two.
pub(super) const TAG_CHARS_MAX: usize = 40;
/// A topic is the name of a folder and of a file in it.
pub(super) const TOPIC_CHARS_MAX: usize = 60;

/// Entries of a file: as many as one looks through without losing the thread.
pub(super) const FILE_ENTRIES_MAX: usize = 40;
/// Bytes of all entries of a file: about 6,000 tokens, so that reading one file costs little.
pub(super) const FILE_BYTES_MAX: usize = 24 * 1024;
/// Entries that share a tag before a topic folder is made of them; fewer are not a topic.
pub(super) const TOPIC_ENTRIES_MIN: usize = 3;
/// Numbered files tried beside a full one: far more than a notebook has.
pub(super) const PARTS_MAX: usize = 10_000;

/// More alike than this is the same insight.
pub(super) const SAME_ABOVE: f64 = 0.8;
/// From here on it is about the same thing.
pub(super) const RELATED_FROM: f64 = 0.6;
/// Episodes this much alike may share a principle.
pub(super) const ALIKE_FROM: f64 = 0.4;
/// A principle says in other words what its episodes said, so less is asked.
pub(super) const GENERALISES_FROM: f64 = 0.35;
/// Episodes that make a pattern.
pub(super) const PATTERN_EPISODES_MIN: usize = 2;
/// Two sentences this much alike say something about the same thing, or its opposite.
pub(super) const SAME_SENTENCE_FROM: f64 = 0.7;

/// Keywords of a question: fewer find everything, more find nothing in common.
pub(super) const KEYWORDS_MIN: usize = 3;
/// And at most.
pub(super) const KEYWORDS_MAX: usize = 8;
/// What is read of a question.
pub(super) const QUESTION_CHARS_MAX: usize = 4_000;
/// The share of what was asked that an insight has to speak of.
pub(super) const RELEVANT_FROM: f64 = 0.25;
/// Files that an answer may be spread over before tidying is advised.
pub(super) const FILES_READ_MAX: usize = 5;

/// Titles of one file that a README can list; files that Tome writes have fewer entries.
pub(super) const HEAD_TITLES_MAX: usize = 100;
/// Of a description in a README.
pub(super) const HEAD_DESCRIPTION_CHARS_MAX: usize = 160;
/// Titles a file in the root's README: it is read first, so it stays short.
pub(super) const ROOT_TITLES_MAX: usize = 5;
/// Titles named in one hint.
pub(super) const HINT_TITLES_MAX: usize = 5;
