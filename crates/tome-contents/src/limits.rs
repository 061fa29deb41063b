//! Every cap of the contents, with its reason.

/// Strings of one event that are looked at. A tool's answer of a million short strings says in the
/// first ten thousand what it is about.
pub(super) const SAID_TEXTS_MAX: usize = 10_000;

/// A tool call counts for at most so many tokens when segments are cut: what a tool printed says
/// less about how much happened than what people and agents said, and one long listing must not
/// push the conversation around it into another segment. About a thousand bytes.
pub(super) const TOOL_WEIGHT_MAX: u64 = 250;

/// What an event counts for beside its words: who said it, when, as what. So a segment of events
/// without words ends too.
pub(super) const EVENT_WEIGHT: u64 = 4;

/// Events that one commit of the worker takes up.
pub(super) const BATCH_EVENTS: usize = 2_000;

/// The same in bytes of text: what has been read is held until the batch is done.
pub(super) const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// Tries of one batch while somebody else changes the same nodes.
pub(super) const TRIES_MAX: usize = 20;

/// Characters of an excerpt.
pub(super) const EXCERPT_CHARS_MAX: usize = 200;

/// Bullets of a node, whatever a summarizer gives.
pub(super) const BULLETS_MAX: usize = 8;

/// Keywords of a node, whatever a summarizer gives.
pub(super) const KEYWORDS_MAX: usize = 12;

/// Grips of one bullet: a bullet of a year must not carry all of a month.
pub(super) const GRIPS_PER_BULLET_MAX: usize = 4;

/// Characters of a title or a bullet, whatever a summarizer gives.
pub(super) const TEXT_CHARS_MAX: usize = 400;

/// Sessions that a node names; it counts the others.
pub(super) const SESSIONS_NAMED_MAX: usize = 20;

/// Events before or after a grip in one answer.
pub(super) const AROUND_MAX: usize = 50;

/// How far from a grip the events around it may lie.
pub(super) const AROUND_MS: u64 = 30 * 60 * 1000;

/// Bytes of text of the events around a grip in one answer; the grip's own events come whatever
/// they weigh.
pub(super) const AROUND_BYTES: usize = 256 * 1024;

/// Positions looked at on each side of a grip: in a unified store a session may have events of
/// other projects in between.
pub(super) const AROUND_LOOKED_AT_MAX: usize = 1_000;

/// Nodes looked at for one list of nodes to polish.
pub(super) const POLISH_LOOKED_AT_MAX: usize = 1_000;

/// Problems that a report lists; it counts the others.
pub(super) const PROBLEMS_MAX: usize = 1_000;
