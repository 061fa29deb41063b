//! The scan: finds the rows whose sign bits are closest to the query's. It visits all rows, so that
//! even a very selective filter finds its matches.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use super::bit_slices::{BLOCK_ROWS, BitSlice, HammingDistances};
use super::table::{RowBlock, RowTable};
use crate::EntryFilter;

/// Candidates to rescore per requested hit; enough not to lose any in practice.
const CANDIDATES_PER_HIT: usize = 3;
/// Lower bound on the number of candidates.
const CANDIDATES_MIN: usize = 100;

/// One more thread per this many blocks, up to a maximum. Low in tests.
const BLOCKS_PER_THREAD: usize = if cfg!(test) { 1 } else { 256 };
const THREADS_MAX: usize = 4;

/// A filter, resolved against the table.
struct RowFilter {
    facets: Vec<bool>,
    from: u64,
    to: u64,
    has_times: bool,
    /// Whether every row passes.
    admits_all: bool,
}

impl RowFilter {
    fn new(table: &RowTable, filter: &EntryFilter) -> Self {
        let matches_any = |wanted: &[String], text: &str| {
            wanted.is_empty() || wanted.iter().any(|wanted| wanted == text)
        };
        let matches = |wanted: &Option<String>, text: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == text)
        };
        let admitted = table.facets.iter().map(|row| {
            (filter.sources.is_empty() || filter.sources.contains(&row.source))
                && matches(&filter.project, &row.project)
                && matches(&filter.session, &row.session)
                && matches_any(&filter.agents, &row.agent)
                && matches_any(&filter.kinds, &row.kind)
        });
        let facets: Vec<bool> = admitted.collect();
        let has_times = filter.from.is_some() || filter.to.is_some();
        let is_open = !has_times && !facets.contains(&false);
        let from = filter.from.map_or(0, |from| from.0);
        let to = filter.to.map_or(u64::MAX, |to| to.0);
        Self { facets, from, to, has_times, admits_all: is_open }
    }

    /// Selects the rows of a block that pass the filter.
    fn select_rows(&self, block: &RowBlock) -> BitSlice {
        let mut rows = block.searchable;
        if self.admits_all {
            return rows;
        }
        match block.facets.uniform_value() {
            Some(number) if self.allows_facets(number) => {}
            Some(_) => return BitSlice::default(),
            None => retain_rows(&mut rows, |i| {
                block.facets.get(i).is_some_and(|it| self.allows_facets(it))
            }),
        }
        if self.has_times {
            retain_rows(&mut rows, |i| block.times.get(i).is_some_and(|at| self.allows_time(at)));
        }
        rows
    }

    fn allows_facets(&self, number: u64) -> bool {
        let admitted = usize::try_from(number).ok().and_then(|number| self.facets.get(number));
        admitted.copied().unwrap_or(false)
    }

    fn allows_time(&self, at: u64) -> bool {
        at >= self.from && (at < self.to || self.to == u64::MAX)
    }
}

fn retain_rows(rows: &mut BitSlice, stays: impl Fn(usize) -> bool) {
    for (lane, first) in rows.iter_mut().zip((0..).step_by(64)) {
        let mut rest = *lane;
        while rest != 0 {
            let i = rest.trailing_zeros();
            *lane &= !(u64::from(!stays(first + i as usize)) << i);
            rest &= rest - 1;
        }
    }
}

/// Finds the rows with the smallest Hamming distance: at least `limit` if that many pass the
/// filter.
pub(super) fn find_candidates(
    table: &RowTable,
    query_bits: &[u64],
    filter: &EntryFilter,
    limit: usize,
) -> Vec<u32> {
    let gate = RowFilter::new(table, filter);
    if !gate.facets.contains(&true) {
        return Vec::new();
    }
    let most = limit.saturating_mul(CANDIDATES_PER_HIT).max(CANDIDATES_MIN);
    let limit = AtomicU32::new(u32::MAX);
    let scan_blocks = |first: usize, blocks: &[RowBlock]| {
        let mut best = NearestRows { table, limit: most, rows: Vec::new(), farthest: &limit };
        for (block, number) in blocks.iter().zip(first..) {
            let selected = gate.select_rows(block);
            if selected.iter().any(|lane| *lane != 0) {
                best.add_block(
                    &table.signs.hamming_distances(number, query_bits),
                    &selected,
                    number * BLOCK_ROWS,
                );
            }
        }
        best.rows
    };
    let share = table.blocks.len().div_ceil(thread_count(table.blocks.len())).max(1);
    let firsts = (0..).step_by(share);
    let shares: Vec<_> = firsts.zip(table.blocks.chunks(share)).collect();
    let rows = match shares.as_slice() {
        [(first, blocks)] => scan_blocks(*first, blocks),
        shares => scan_in_parallel(shares, scan_blocks),
    };
    let mut best = NearestRows { table, limit: most, rows, farthest: &limit };
    best.trim(0);
    best.rows.into_iter().map(|(_, row)| row).collect()
}

fn thread_count(blocks: usize) -> usize {
    (blocks / BLOCKS_PER_THREAD).clamp(1, crate::available_cores().min(THREADS_MAX))
}

/// Scans shares of the blocks on one thread each.
fn scan_in_parallel<'a>(
    shares: &[(usize, &'a [RowBlock])],
    scan_blocks: impl Fn(usize, &'a [RowBlock]) -> Vec<(u32, u32)> + Sync,
) -> Vec<(u32, u32)> {
    let scan_blocks = &scan_blocks;
    thread::scope(|scope| {
        let mut shares = shares.iter().copied();
        let first_share = shares.next();
        let others: Vec<_> =
            shares.map(|(first, blocks)| scope.spawn(move || scan_blocks(first, blocks))).collect();
        let mut rows =
            first_share.map(|(first, blocks)| scan_blocks(first, blocks)).unwrap_or_default();
        for other in others {
            // Propagate panics.
            rows.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        rows
    })
}

struct NearestRows<'a> {
    table: &'a RowTable,
    limit: usize,
    rows: Vec<(u32, u32)>,
    /// Rows farther away cannot be among the best; shared by all threads.
    farthest: &'a AtomicU32,
}

impl NearestRows<'_> {
    /// Adds the selected rows of a block that are close enough.
    fn add_block(&mut self, distances: &HammingDistances, selected: &BitSlice, first: usize) {
        let within = distances.rows_within(self.farthest.load(Relaxed));
        for (lane, (within, selected)) in within.iter().zip(selected).enumerate() {
            let mut rest = within & selected;
            while rest != 0 {
                let row = lane * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                self.push(distances.row_distance(row), first + row);
            }
        }
    }

    fn push(&mut self, distance: u32, row: usize) {
        // A table never has more rows than that.
        let Ok(row) = u32::try_from(row) else { return };
        self.rows.push((distance, row));
        if self.rows.len() >= self.limit.saturating_mul(2) {
            self.trim(self.limit / 2);
        }
    }

    /// Keeps the closest rows, plus up to `ties_max` rows tied with the last of them: breaking ties
    /// takes longer, because it needs the rows' metadata.
    fn trim(&mut self, ties_max: usize) {
        if self.rows.len() <= self.limit {
            return;
        }
        let (_, last, _) = self.rows.select_nth_unstable_by_key(self.limit - 1, |row| row.0);
        let farthest = last.0;
        self.farthest.fetch_min(farthest, Relaxed);
        self.rows.retain(|(distance, _)| *distance <= farthest);
        if self.rows.len() <= self.limit.saturating_add(ties_max) {
            return;
        }
        let ties = self.rows.extract_if(.., |(distance, _)| *distance == farthest);
        let mut ties: Vec<_> = ties.map(|tie| (self.table.tie_break(tie.1), tie)).collect();
        let kept = self.limit - self.rows.len();
        if kept < ties.len() {
            ties.select_nth_unstable(kept);
        }
        self.rows.extend(ties.into_iter().take(kept).map(|(_, tie)| tie));
    }
}
