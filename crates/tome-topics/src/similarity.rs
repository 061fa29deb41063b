//! Nearest neighbors of every segment by vector.

use std::sync::Arc;

use crate::graph_weights::GraphWeights;
use crate::limits::ONE;
use crate::record::SegmentRecord;
use crate::vector::PackedVector;

/// Minimum number of rows to compare with several threads.
const PARALLEL_ROWS_MIN: usize = 2_000;
/// Threads that compare rows: the daemon leaves cores to the agent.
const THREADS_MAX: usize = 4;
/// Rows whose first signs are compared at once.
const BLOCK_ROWS: usize = 256;
/// Pairs that are compared to find out how similar unrelated segments are.
const SAMPLE_PAIRS: usize = 4_000;
/// The threshold lies in this range, whatever the sample shows.
const THRESHOLDS: (f32, f32) = (0.45, 0.85);

/// Returns edges between segments whose texts are more alike than chance: each segment's nearest
/// neighbors, with weights up to [`ONE`]. `segments` are sorted by id.
pub(crate) fn find_similar(
    segments: &[Arc<SegmentRecord>],
    threshold: Option<f32>,
    weights: &GraphWeights,
) -> Vec<(usize, usize, i64)> {
    let packed = pack_vectors(segments);
    let Some(least) = threshold.filter(|_| packed.len() > 1) else { return Vec::new() };
    let nearest = find_nearest(&packed, least, weights.neighbors);
    let mut edges: Vec<(usize, usize, f32)> = Vec::new();
    for (row, found) in nearest.iter().enumerate() {
        edges.extend(
            found.iter().map(|(similarity, other)| (row.min(*other), row.max(*other), *similarity)),
        );
    }
    edges.sort_by_key(|edge| (edge.0, edge.1));
    edges.dedup_by_key(|edge| (edge.0, edge.1));
    let index_of = |row: usize| packed.get(row).map_or(0, |(index, _)| *index);
    edges
        .into_iter()
        .map(|(a, b, similarity)| {
            (index_of(a), index_of(b), weigh_similarity(similarity, least, weights))
        })
        .collect()
}

/// Returns the nearest neighbors of one segment, with weights up to [`ONE`].
pub(crate) fn find_similar_to(
    index: usize,
    segments: &[Arc<SegmentRecord>],
    threshold: Option<f32>,
    weights: &GraphWeights,
) -> Vec<(usize, i64)> {
    let Some(own) = segments.get(index).and_then(|one| PackedVector::new(&one.vector)) else {
        return Vec::new();
    };
    let Some(least) = threshold else { return Vec::new() };
    let mut nearest = vec![Vec::new()];
    for (other, segment) in segments.iter().enumerate().filter(|(other, _)| *other != index) {
        let similarity = own.similarity_to(&segment.vector);
        if similarity >= least {
            keep_nearest(&mut nearest, (0, other), similarity, weights.neighbors);
        }
    }
    let nearest = nearest.into_iter().flatten();
    nearest
        .map(|(similarity, other)| (other, weigh_similarity(similarity, least, weights)))
        .collect()
}

/// The similarity that unrelated ones of these segments rarely reach; `None` for fewer than two
/// vectors.
pub(crate) fn calibrate_segments(segments: &[Arc<SegmentRecord>]) -> Option<f32> {
    let packed = pack_vectors(segments);
    (packed.len() > 1).then(|| calibrate(&packed))
}

fn pack_vectors(segments: &[Arc<SegmentRecord>]) -> Vec<(usize, PackedVector<'_>)> {
    let packed = segments.iter().enumerate();
    packed
        .filter_map(|(index, segment)| Some((index, PackedVector::new(&segment.vector)?)))
        .collect()
}

/// The nearest neighbors of every row, found by several threads: each compares a part of the rows with
/// all later ones. The result does not depend on their number.
fn find_nearest(
    packed: &[(usize, PackedVector<'_>)],
    least: f32,
    neighbors: usize,
) -> Vec<Vec<(f32, usize)>> {
    let signs = SignTable::build(packed);
    let threads = match packed.len() {
        0..PARALLEL_ROWS_MIN => 1,
        _ => std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX),
    };
    let mut parts = std::thread::scope(|scope| {
        let scans: Vec<_> = (0..threads)
            .map(|part| {
                let signs = &signs;
                scope.spawn(move || scan_rows(packed, signs, (least, neighbors), (part, threads)))
            })
            .collect();
        scans.into_iter().filter_map(|scan| scan.join().ok()).collect::<Vec<_>>()
    });
    let mut nearest = parts.pop().unwrap_or_default();
    for part in parts {
        for (row, found) in part.into_iter().enumerate() {
            for (similarity, other) in found {
                keep_nearest(&mut nearest, (row, other), similarity, neighbors);
            }
        }
    }
    nearest
}

/// The signs of all vectors side by side in memory: the first word of each, and all words of each.
struct SignTable {
    heads: Vec<u64>,
    words: usize,
    all: Vec<u64>,
}

impl SignTable {
    fn build(packed: &[(usize, PackedVector<'_>)]) -> Self {
        let words = packed.iter().map(|(_, vector)| vector.signs().len()).max().unwrap_or(0);
        let mut table = Self { heads: Vec::new(), words, all: Vec::new() };
        for (_, vector) in packed {
            let signs = vector.signs();
            table.heads.push(signs.first().copied().unwrap_or(0));
            table.all.extend(signs.iter().copied().chain(std::iter::repeat(0)).take(words));
        }
        table
    }

    fn row(&self, row: usize) -> &[u64] {
        self.all.get(row * self.words..(row + 1) * self.words).unwrap_or_default()
    }
}

/// Compares every `step`-th row from `first` on with all later rows.
fn scan_rows(
    packed: &[(usize, PackedVector<'_>)],
    signs: &SignTable,
    (least, neighbors): (f32, usize),
    (first, step): (usize, usize),
) -> Vec<Vec<(f32, usize)>> {
    let mut nearest: Vec<Vec<(f32, usize)>> = vec![Vec::new(); packed.len()];
    let mut distances = [0_u32; BLOCK_ROWS];
    for (row, ((_, own), head)) in
        packed.iter().zip(&signs.heads).enumerate().skip(first).step_by(step)
    {
        let head_max = sign_limit(own.dimensions().min(64), least, 0.5);
        let signs_max = sign_limit(own.dimensions(), least, 0.75);
        let own_signs = signs.row(row);
        let later = signs.heads.get(row + 1..).unwrap_or_default();
        for (block, others) in later.chunks(BLOCK_ROWS).enumerate() {
            // A loop of its own, without branches, is several rows per instruction.
            for (distance, other) in distances.iter_mut().zip(others) {
                *distance = (head ^ other).count_ones();
            }
            for (offset, distance) in distances.iter().enumerate().take(others.len()) {
                if *distance > head_max {
                    continue;
                }
                let other_row = row + 1 + block * BLOCK_ROWS + offset;
                let pairs = own_signs.iter().zip(signs.row(other_row));
                if pairs.map(|(a, b)| (a ^ b).count_ones()).sum::<u32>() > signs_max {
                    continue;
                }
                let Some((_, other)) = packed.get(other_row) else { continue };
                let similarity = own.similarity(other);
                if similarity >= least {
                    keep_nearest(&mut nearest, (row, other_row), similarity, neighbors);
                    keep_nearest(&mut nearest, (other_row, row), similarity, neighbors);
                }
            }
        }
    }
    nearest
}

/// Keeps the best neighbors of a row; of equals the earlier ones, in whatever order they come.
fn keep_nearest(
    nearest: &mut [Vec<(f32, usize)>],
    (row, other): (usize, usize),
    similarity: f32,
    neighbors: usize,
) {
    let Some(found) = nearest.get_mut(row) else { return };
    let is_before = |known: &(f32, usize)| {
        known.0 > similarity || known.0.total_cmp(&similarity).is_eq() && known.1 < other
    };
    let index = found.partition_point(is_before);
    if index < neighbors {
        found.insert(index, (similarity, other));
        found.truncate(neighbors);
    }
}

/// The similarity that unrelated segments rarely reach: two standard deviations above the mean of
/// pairs that are spread over all segments. Segments of one project always have words in common.
fn calibrate(packed: &[(usize, PackedVector<'_>)]) -> f32 {
    let rows = packed.len();
    let (mut count, mut sum, mut squares) = (0.0_f64, 0.0_f64, 0.0_f64);
    'sample: for stride in (1..rows).rev() {
        // Far apart first: neighbors in time are often about the same work.
        for (own, other) in packed.iter().zip(packed.iter().skip(stride)) {
            let similarity = f64::from(own.1.similarity(&other.1));
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
fn weigh_similarity(similarity: f32, least: f32, weights: &GraphWeights) -> i64 {
    let share = f64::from((similarity - least) / (1.0 - least)).clamp(0.0, 1.0);
    // At the threshold a similarity still counts for something.
    let weight = ((0.1 + 0.9 * share) * ONE as f64).round() as i64;
    weight * weights.similarity / ONE
}

#[expect(clippy::cast_possible_truncation, reason = "a similarity needs no more precision")]
fn to_f32(value: f64) -> f32 {
    value as f32
}
