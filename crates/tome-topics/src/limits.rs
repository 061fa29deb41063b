//! Limits and weights of topics, each with its reason.

/// Weights are whole thousandths, so that sums do not depend on their order.
pub(crate) const ONE: i64 = 1_000;
/// Weight of an edge between two segments, all reasons together.
pub(crate) const EDGE_MAX: i64 = 2 * ONE;
/// Share of an edge that is left between segments of different branches, in thousandths: work that was
/// kept apart on purpose needs more in common.
pub(crate) const OTHER_BRANCH: i64 = 500;
/// A segment that goes on where the one before it was full.
pub(crate) const CONTINUES: i64 = 600;
/// A feature of more segments than this share does not distinguish any work.
pub(crate) const RARE_SHARE: usize = 8;
/// A feature of fewer segments is rare, however few there are in all.
pub(crate) const RARE_MIN: usize = 6;
/// A feature of more segments is never rare.
pub(crate) const RARE_MAX: usize = 400;
/// Up to this many segments of a feature are all linked; more are linked in order of time.
pub(crate) const LINKED_WHOLE: usize = 12;
/// Files that one turn changes: more is a move or a formatter, which is not informative.
pub(crate) const TURN_FILES_MAX: usize = 25;
pub(crate) const LABEL_TERMS_MAX: usize = 3;
/// Weeks of activity on a page.
pub(crate) const WEEKS_MAX: usize = 26;
/// Related topics of a topic.
pub(crate) const RELATED_MAX: usize = 6;
/// Statements on a page.
pub(crate) const STATEMENTS_MAX: usize = 5;
/// Commits on a page.
pub(crate) const COMMITS_MAX: usize = 8;
/// Names that a file had, at most: a cycle of renames ends there.
pub(crate) const RENAMES_MAX: usize = 32;
