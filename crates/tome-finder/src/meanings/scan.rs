//! The scan: which rows have sign bits most like the question's. All of them are looked at, so a
//! filter that lets few rows through still finds those few.

use super::table::{Block, Table};
use crate::Filter;

/// Rows that are looked at again with their levels, at least: enough to lose nothing.
const CANDIDATES_MIN: usize = 400;

/// What the filter means for this table.
struct Gate {
    places: Vec<bool>,
    since: u64,
    until: u64,
}

impl Gate {
    fn new(table: &Table, filter: &Filter) -> Self {
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
        }
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
    let mut best = Best {
        table,
        most: limit.saturating_mul(2).max(CANDIDATES_MIN),
        rows: Vec::new(),
        limit: u32::MAX,
    };
    let mut distances = Vec::new();
    let mut first = 0;
    for block in &table.blocks {
        distances.clear();
        measure(question, &block.words, &mut distances);
        first = best.add(&gate, block, first, &distances);
    }
    best.trim();
    best.rows.into_iter().map(|(_, row)| row).collect()
}

/// The number of bits in which each row differs from the question.
fn measure(question: &[u64], rows: &[u64], distances: &mut Vec<u32>) {
    if let Some(question) = question.as_array::<4>() {
        distances.extend(rows.as_chunks::<4>().0.iter().map(|row| {
            row.iter().zip(question).map(|(row, asked)| (row ^ asked).count_ones()).sum::<u32>()
        }));
    } else {
        distances.extend(rows.chunks(question.len().max(1)).map(|row| {
            row.iter().zip(question).map(|(row, asked)| (row ^ asked).count_ones()).sum::<u32>()
        }));
    }
}

/// The best rows so far.
struct Best<'a> {
    table: &'a Table,
    most: usize,
    rows: Vec<(u32, u32)>,
    /// Rows farther than this are not among the best any more.
    limit: u32,
}

impl Best<'_> {
    /// Takes what is near enough of a block. Says which row comes after it.
    fn add(&mut self, gate: &Gate, block: &Block, first: u32, distances: &[u32]) -> u32 {
        let mut row = first;
        for ((distance, place), at) in distances.iter().zip(&block.places).zip(&block.ats) {
            if *distance <= self.limit && gate.lets(*place, *at) {
                self.rows.push((*distance, row));
                if self.rows.len() >= self.most.saturating_mul(2) {
                    self.trim();
                }
            }
            row += 1;
        }
        row
    }

    /// Leaves the best. Among rows that are equally far the order of answers decides.
    fn trim(&mut self) {
        if self.rows.len() <= self.most {
            return;
        }
        let table = self.table;
        let (_, last, _) = self.rows.select_nth_unstable_by(self.most - 1, |one, other| {
            one.0.cmp(&other.0).then_with(|| table.order(one.1, other.1))
        });
        self.limit = last.0;
        self.rows.truncate(self.most);
    }
}
