//! The scan: which rows have sign bits most like the question's. All of them are looked at, so a
//! filter that lets few rows through still finds those few.

use super::slices::{Distances, SLICE_ROWS, Slice};
use super::table::{Block, Table};
use crate::Filter;

/// Rows that are looked at again with their levels, for each that is asked for: enough to lose nothing.
const CANDIDATES: usize = 3;
/// And at least.
const CANDIDATES_MIN: usize = 100;

/// What the filter means for this table.
struct Gate {
    places: Vec<bool>,
    since: u64,
    until: u64,
    /// Nothing is filtered: every row is let through that is neither dead nor mute.
    is_open: bool,
}

impl Gate {
    fn new(table: &Table, filter: &Filter) -> Self {
        if *filter == Filter::default() {
            let places = vec![true; table.places.len()];
            return Self { places, since: 0, until: u64::MAX, is_open: true };
        }
        let any = |wanted: &[String], text: &str| {
            wanted.is_empty() || wanted.iter().any(|wanted| wanted == text)
        };
        let one = |wanted: &Option<String>, text: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == text)
        };
        let places = table.places.iter().map(|place| {
            (filter.sources.is_empty() || filter.sources.contains(&place.source))
                && one(&filter.project, &place.project)
                && one(&filter.session, &place.session)
                && any(&filter.agents, &place.agent)
                && any(&filter.kinds, &place.kind)
        });
        Self {
            places: places.collect(),
            since: filter.since.map_or(0, |since| since.0),
            until: filter.until.map_or(u64::MAX, |until| until.0),
            is_open: false,
        }
    }

    /// The rows of a block that are asked for.
    fn rows(&self, block: &Block) -> Slice {
        if self.is_open && block.silent == 0 && block.places.len() == SLICE_ROWS {
            return [u64::MAX; _];
        }
        let mut rows = Slice::default();
        let facts = block.places.chunks(64).zip(block.ats.chunks(64));
        for (lane, (places, ats)) in rows.iter_mut().zip(facts) {
            for (i, (place, at)) in places.iter().zip(ats).enumerate() {
                *lane |= u64::from(self.lets(*place, *at)) << i;
            }
        }
        rows
    }

    /// Whether a row is asked for. Dead and mute rows are at no place.
    fn lets(&self, place: u32, at: u64) -> bool {
        self.places.get(place as usize).copied().unwrap_or(false)
            && at >= self.since
            && (at < self.until || self.until == u64::MAX)
    }
}

/// The rows nearest by their sign bits, at least `limit` of them if there are so many.
pub(super) fn candidates(
    table: &Table,
    question: &[u64],
    filter: &Filter,
    limit: usize,
) -> Vec<u32> {
    let gate = Gate::new(table, filter);
    if !gate.places.contains(&true) {
        return Vec::new();
    }
    let most = limit.saturating_mul(CANDIDATES).max(CANDIDATES_MIN);
    let mut best = Best { table, most, rows: Vec::new(), farthest: u32::MAX };
    let mut first = 0;
    for block in &table.blocks {
        let asked = gate.rows(block);
        if asked.iter().any(|lane| *lane != 0) {
            best.add(&block.signs.distances(question), &asked, first);
        }
        first += SLICE_ROWS;
    }
    best.trim();
    best.rows.into_iter().map(|(_, row)| row).collect()
}

/// The best rows so far.
struct Best<'a> {
    table: &'a Table,
    most: usize,
    rows: Vec<(u32, u32)>,
    /// Rows farther than this are not among the best any more.
    farthest: u32,
}

impl Best<'_> {
    /// Takes what is near enough of the rows that are asked for.
    fn add(&mut self, distances: &Distances, asked: &Slice, first: usize) {
        let near = distances.within(self.farthest);
        for (lane, (near, asked)) in near.iter().zip(asked).enumerate() {
            let mut rest = near & asked;
            while rest != 0 {
                let row = lane * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                self.push(distances.of(row), first + row);
            }
        }
    }

    fn push(&mut self, distance: u32, row: usize) {
        // A table has no more rows than that.
        let Ok(row) = u32::try_from(row) else { return };
        if distance <= self.farthest {
            self.rows.push((distance, row));
        }
        if self.rows.len() >= self.most.saturating_mul(2) {
            self.trim();
        }
    }

    /// Leaves the best. Among rows that are equally far the order of answers decides; it is asked of
    /// those only that lie where the cut is.
    fn trim(&mut self) {
        if self.rows.len() <= self.most {
            return;
        }
        self.rows.sort_unstable_by_key(|(distance, _)| *distance);
        let Some((farthest, _)) = self.rows.get(self.most - 1).copied() else { return };
        let nearer = self.rows.partition_point(|(distance, _)| *distance < farthest);
        let equal = self.rows.partition_point(|(distance, _)| *distance <= farthest);
        let table = self.table;
        if let Some(ties) = self.rows.get_mut(nearer..equal).filter(|_| equal > self.most) {
            ties.select_nth_unstable_by(self.most - 1 - nearer, |one, other| {
                table.order(one.1, other.1)
            });
        }
        self.farthest = farthest;
        self.rows.truncate(self.most);
    }
}
