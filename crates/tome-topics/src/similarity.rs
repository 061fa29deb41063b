//! Nearest neighbors of every segment by vector.

use crate::limits::{NEIGHBORS_MAX, ONE};
use crate::record::SegmentRecord;
use crate::vector::PackedVector;

/// Pairs that are compared to find out how similar unrelated segments are.
const SAMPLE_PAIRS: usize = 4_000;
/// The threshold lies in this range, whatever the sample says.
const THRESHOLDS: (f32, f32) = (0.35, 0.85);

/// Returns edges between segments whose texts are more alike than chance: each segment's nearest
/// neighbors, with weights up to [`ONE`]. `segments` are sorted by id.
pub(crate) fn find_similar(segments: &[SegmentRecord]) -> Vec<(usize, usize, i64)> {
    let packed: Vec<(usize, PackedVector<'_>)> = segments
        .iter()
        .enumerate()
        .filter_map(|(place, segment)| Some((place, PackedVector::new(&segment.vector)?)))
        .collect();
    if packed.len() < 2 {
        return Vec::new();
    }
    let least = calibrate(&packed);
    let mut nearest: Vec<Vec<(f32, usize)>> = vec![Vec::new(); packed.len()];
    // The first 64 signs rule out most pairs; they lie side by side in memory.
    let heads: Vec<u64> = packed.iter().map(|(_, vector)| vector.first_signs()).collect();
    for (row, ((_, own), head)) in packed.iter().zip(&heads).enumerate() {
        let head_max = sign_limit(own.dimensions().min(64), least, 1.0);
        let signs_max = sign_limit(own.dimensions(), least, 0.75);
        for (other_row, other_head) in heads.iter().enumerate().skip(row + 1) {
            if (head ^ other_head).count_ones() > head_max {
                continue;
            }
            let Some((_, other)) = packed.get(other_row) else { continue };
            if own.sign_distance(other) > signs_max {
                continue;
            }
            let similarity = own.cosine(other);
            if similarity >= least {
                keep_nearest(&mut nearest, row, other_row, similarity);
                keep_nearest(&mut nearest, other_row, row, similarity);
            }
        }
    }
    let mut edges: Vec<(usize, usize, f32)> = Vec::new();
    for (row, found) in nearest.iter().enumerate() {
        edges.extend(
            found.iter().map(|(similarity, other)| (row.min(*other), row.max(*other), *similarity)),
        );
    }
    edges.sort_by_key(|edge| (edge.0, edge.1));
    edges.dedup_by_key(|edge| (edge.0, edge.1));
    let place = |row: usize| packed.get(row).map_or(0, |(place, _)| *place);
    edges
        .into_iter()
        .map(|(a, b, similarity)| (place(a), place(b), weigh_similarity(similarity, least)))
        .collect()
}

/// Keeps the best neighbors of a row; of equals the earlier one.
fn keep_nearest(nearest: &mut [Vec<(f32, usize)>], row: usize, other: usize, similarity: f32) {
    let Some(found) = nearest.get_mut(row) else { return };
    if found.len() >= NEIGHBORS_MAX && found.last().is_some_and(|last| last.0 >= similarity) {
        return;
    }
    let place = found.partition_point(|(known, _)| *known >= similarity);
    found.insert(place, (similarity, other));
    found.truncate(NEIGHBORS_MAX);
}

/// The similarity that unrelated segments rarely reach: two standard deviations above the mean of
/// pairs that are spread over all segments. Segments of one project always have words in common.
fn calibrate(packed: &[(usize, PackedVector<'_>)]) -> f32 {
    let rows = packed.len();
    let (mut count, mut sum, mut squares) = (0.0_f64, 0.0_f64, 0.0_f64);
    'sample: for stride in (1..rows).rev() {
        // Far apart first: neighbors in time are often about the same work.
        for (own, other) in packed.iter().zip(packed.iter().skip(stride)) {
            let similarity = f64::from(own.1.cosine(&other.1));
            count += 1.0;
            sum += similarity;
            squares += similarity * similarity;
            if count >= SAMPLE_PAIRS as f64 {
                break 'sample;
            }
        }
    }
    let mean = sum / count.max(1.0);
    let deviation = (squares / count.max(1.0) - mean * mean).max(0.0).sqrt();
    to_f32(mean + 2.0 * deviation).clamp(THRESHOLDS.0, THRESHOLDS.1)
}

/// Sign differences that vectors of this similarity almost never exceed.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a small positive number"
)]
fn sign_limit(dimensions: usize, similarity: f32, slack: f32) -> u32 {
    let bits = dimensions as f32;
    (bits * similarity.acos() / std::f32::consts::PI + bits.sqrt() * slack).ceil() as u32
}

#[expect(clippy::cast_possible_truncation, reason = "between 0 and 1000")]
fn weigh_similarity(similarity: f32, least: f32) -> i64 {
    let share = f64::from((similarity - least) / (1.0 - least)).clamp(0.0, 1.0);
    // At the threshold a similarity still counts for something.
    ((0.1 + 0.9 * share) * ONE as f64).round() as i64
}

#[expect(clippy::cast_possible_truncation, reason = "a similarity needs no more precision")]
fn to_f32(value: f64) -> f32 {
    value as f32
}
