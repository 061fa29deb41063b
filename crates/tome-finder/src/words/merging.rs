//! Merge policy: merges segments of similar size as soon as there are enough of them.
//!
//! Every write creates a segment, and every query visits all segments. Sizes are grouped in powers
//! of [`MERGE_FACTOR`]; that many segments of one size class become one of the next. A million
//! entries written one by one end up in at most about 25 segments, and each entry is written about
//! thirty times; written in hundreds, six times.

use tantivy::index::{SegmentId, SegmentMeta};

/// Number of segments of one size class that trigger a merge, and base of the size classes.
const STEP: u32 = 4;

/// Smaller segments count as this size.
const SMALL: u32 = 32;

/// Larger segments are not merged.
const LARGE: u32 = 4_000_000;

/// A segment is rewritten once one in this many of its documents is deleted.
const DEAD_PART: u32 = 4;

/// Selects disjoint groups of segments to merge.
pub(crate) fn groups(segments: &[SegmentMeta]) -> Vec<Vec<SegmentId>> {
    let mut sized: Vec<(u32, &SegmentMeta)> = segments
        .iter()
        .filter(|segment| segment.num_docs() <= LARGE)
        .map(|segment| (size(segment.num_docs()), segment))
        .collect();
    sized.sort_by_key(|(size, segment)| (*size, segment.num_docs()));
    let mut groups = Vec::new();
    for same in sized.chunk_by(|(one, _), (other, _)| one == other) {
        if same.len() >= STEP as usize {
            groups.push(same.iter().map(|(_, segment)| segment.id()).collect());
        } else {
            let worn = same.iter().filter(|(_, segment)| is_worn(segment));
            groups.extend(worn.map(|(_, segment)| vec![segment.id()]));
        }
    }
    groups
}

fn size(entries: u32) -> u32 {
    (entries.max(SMALL) / SMALL).ilog(STEP)
}

fn is_worn(segment: &SegmentMeta) -> bool {
    segment.num_deleted_docs() > SMALL.min(segment.max_doc() / 2)
        && segment.num_deleted_docs() >= segment.max_doc() / DEAD_PART
}
