//! Merge policy: merges segments of similar size as soon as there are enough of them.
//!
//! Every write creates a segment, and every query visits all segments. Sizes are grouped in powers
//! of [`MERGE_FACTOR`]; that many segments of one size class become one of the next. A million
//! entries written one by one end up in at most about 25 segments, and each entry is written about
//! thirty times; written in hundreds, six times.

use tantivy::index::{SegmentId, SegmentMeta};

/// Number of segments of one size class that trigger a merge, and base of the size classes.
const MERGE_FACTOR: u32 = 4;

/// Smaller segments count as this size.
const DOCS_MIN: u32 = 32;

/// Larger segments are not merged.
const DOCS_MAX: u32 = 4_000_000;

/// A segment is rewritten once one in this many of its documents is deleted.
const DELETED_ONE_IN: u32 = 4;

/// Selects disjoint groups of segments to merge.
pub(crate) fn merge_groups(segments: &[SegmentMeta]) -> Vec<Vec<SegmentId>> {
    let mut sized: Vec<(u32, &SegmentMeta)> = segments
        .iter()
        .filter(|segment| segment.num_docs() <= DOCS_MAX)
        .map(|segment| (size_class(segment.num_docs()), segment))
        .collect();
    sized.sort_by_key(|(size, segment)| (*size, segment.num_docs()));
    let mut groups = Vec::new();
    for same in sized.chunk_by(|(one, _), (other, _)| one == other) {
        if same.len() >= MERGE_FACTOR as usize {
            groups.push(same.iter().map(|(_, segment)| segment.id()).collect());
        } else {
            let worn = same.iter().filter(|(_, segment)| has_many_deletes(segment));
            groups.extend(worn.map(|(_, segment)| vec![segment.id()]));
        }
    }
    groups
}

fn size_class(entries: u32) -> u32 {
    (entries.max(DOCS_MIN) / DOCS_MIN).ilog(MERGE_FACTOR)
}

fn has_many_deletes(segment: &SegmentMeta) -> bool {
    segment.num_deleted_docs() > DOCS_MIN.min(segment.max_doc() / 2)
        && segment.num_deleted_docs() >= segment.max_doc() / DELETED_ONE_IN
}
