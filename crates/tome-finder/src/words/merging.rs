//! Which segments are put together: those of about the same size, as soon as there are enough.
//!
//! Every write makes a segment, and every question asks every segment. Sizes are told apart in steps
//! of [`STEP`]; as many segments of one size become one of the next. With a million entries in writes
//! of one that is some 25 segments at most, and each entry is written some thirty times; in writes of
//! hundreds, six times.

use tantivy::index::{SegmentId, SegmentMeta};

/// Segments of one size that are put together.
const STEP: u32 = 4;

/// A smaller segment counts as one of this size.
const SMALL: u32 = 32;

/// A larger segment is left alone.
const LARGE: u32 = 4_000_000;

/// A segment that lost so much of what it had is written anew, as one part in this many.
const DEAD_PART: u32 = 4;

/// The groups of segments to put together. None is in two groups.
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

/// In which step of sizes so many entries are.
fn size(entries: u32) -> u32 {
    (entries.max(SMALL) / SMALL).ilog(STEP)
}

fn is_worn(segment: &SegmentMeta) -> bool {
    segment.num_deleted_docs() > SMALL.min(segment.max_doc() / 2)
        && segment.num_deleted_docs() >= segment.max_doc() / DEAD_PART
}
