//! Limits of the contents, with their reasons.

/// Strings of one event that are read. The first ten thousand strings of a tool's output show what
/// it is about.
pub(super) const EVENT_TEXTS_MAX: usize = 10_000;

/// Upper bound on the tokens a tool call counts for when segments are cut. Tool output says less
/// about how much happened than messages do, and one long listing must not push the conversation
/// around it into another segment. About a thousand bytes.
pub(super) const TOOL_WEIGHT_MAX: u64 = 250;

/// Fixed tokens per event for its metadata, so that a segment of events without text also ends.
pub(super) const EVENT_WEIGHT: u64 = 4;

/// How many times the size limit of a segment a single turn may reach before it is cut.
pub(super) const TURN_WEIGHT_FACTOR: u64 = 4;

/// Events per commit of the contents.
pub(super) const BATCH_EVENTS: usize = 2_000;

/// Bytes of text per commit of the contents; the events are held in memory until it is done.
pub(super) const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// Retries of a commit while other writers change the same nodes.
pub(super) const COMMIT_RETRIES_MAX: usize = 20;

pub(super) const EXCERPT_CHARS_MAX: usize = 200;

/// Applies to every summarizer.
pub(super) const BULLETS_MAX: usize = 12;

/// Applies to every summarizer.
pub(super) const KEYWORDS_MAX: usize = 12;

/// Grips per bullet: a bullet of a year must not carry all grips of a month.
pub(super) const GRIPS_PER_BULLET_MAX: usize = 4;

/// Characters of a title or a bullet, for every summarizer.
pub(super) const TEXT_CHARS_MAX: usize = 400;

/// Sessions listed in a node; the rest are only counted.
pub(super) const SESSIONS_NAMED_MAX: usize = 20;

/// Events before or after a grip in one answer.
pub(super) const AROUND_MAX: usize = 50;

/// How far in time the events around a grip may be from it.
pub(super) const AROUND_MS: u64 = 30 * 60 * 1000;

/// Bytes of text of the events around a grip in one answer. The grip's own events are always
/// included.
pub(super) const AROUND_BYTES: usize = 256 * 1024;

/// Positions scanned on each side of a grip: in a unified store, events of other projects may lie
/// between those of a session.
pub(super) const AROUND_SCANNED_MAX: usize = 1_000;

/// Nodes scanned for one page of nodes to rewrite.
pub(super) const REWRITE_SCANNED_MAX: usize = 1_000;

/// Problems listed in a report; the rest are only counted.
pub(super) const PROBLEMS_MAX: usize = 1_000;
