//! The in-memory part of the index: sign bits and metadata of every row, the facets and names that
//! rows refer to, and token counts. About 45 bytes per row with 256 dimensions.
//!
//! It is built by replaying the log and the rows, on open and after each commit alike.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::bit_slices::{BLOCK_ROWS, BitSlice, BitSlices};
use super::column::PackedColumn;
use super::log::{LogRecord, RowFacets};
use super::row::{NAMED_BIT, NO_VECTOR_BIT, RowLayout, RowMeta};
use super::token_counts::TokenCounts;
use crate::{ByteRange, EntryKey, IndexHit, RecordKind};
use tome_model::Millis;

/// Facets number of a dead row. Invalid like that of a row without a vector, so no filter selects
/// it.
const DEAD_ROW: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct RowTable {
    pub(super) layout: RowLayout,
    pub(super) signs: BitSlices,
    pub(super) blocks: Vec<RowBlock>,
    pub(super) facets: Vec<Arc<RowFacets>>,
    facets_numbers: HashMap<Arc<RowFacets>, u32>,
    named_records: Vec<Option<NamedRecord>>,
    name_numbers: HashMap<Arc<str>, u64>,
    pub(super) token_counts: TokenCounts,
    /// Rows of events, in runs of ascending events, by the first event of each.
    event_runs: BTreeMap<u64, Range<u32>>,
    /// First and last event of the run that the last row belongs to.
    last_run: Option<(u64, u64)>,
    dead: usize,
}

/// Metadata of a block's rows, by column.
#[derive(Debug, Default)]
pub(super) struct RowBlock {
    /// Rows that are alive and have a vector.
    pub(super) searchable: BitSlice,
    pub(super) facets: PackedColumn,
    pub(super) times: PackedColumn,
    keys: PackedColumn,
    from: PackedColumn,
    to: PackedColumn,
    lines: PackedColumn,
}

impl RowBlock {
    fn push(&mut self, meta: &RowMeta) {
        let i = self.facets.len();
        if let Some(lane) = self.searchable.get_mut(i / 64) {
            *lane |= u64::from(meta.facets & NO_VECTOR_BIT == 0) << (i % 64);
        }
        self.facets.push(meta.facets.into());
        self.times.push(meta.at);
        self.keys.push(meta.key);
        self.from.push(meta.range.from.into());
        self.to.push(meta.range.to.into());
        self.lines.push(meta.line.into());
    }

    fn row_meta(&self, i: usize) -> Option<RowMeta> {
        let narrow =
            |column: &PackedColumn| column.get(i).and_then(|number| u32::try_from(number).ok());
        Some(RowMeta {
            key: self.keys.get(i)?,
            at: self.times.get(i)?,
            facets: narrow(&self.facets)?,
            range: ByteRange { from: narrow(&self.from)?, to: narrow(&self.to)? },
            line: narrow(&self.lines)?,
        })
    }
}

/// Source, event, name, chunk, time and line of a row, compared in this order.
pub(super) type RowTieBreak<'a> = (Option<RecordKind>, u64, Option<&'a str>, ByteRange, u64, u32);

/// A named record that exists.
#[derive(Debug)]
struct NamedRecord {
    name: Arc<str>,
    rows: Vec<u32>,
    at: Option<Millis>,
    /// Range of the log that contains its token records, possibly among others; needed once, on
    /// removal.
    tokens: Range<u64>,
}

/// Reads a range of the log that was replayed before.
pub(super) type ReadLogRange<'a> = &'a dyn Fn(Range<u64>) -> Option<Vec<u8>>;

impl RowTable {
    pub(super) fn new(layout: RowLayout) -> Self {
        Self {
            layout,
            signs: BitSlices::new(layout.sign_words()),
            blocks: Vec::new(),
            facets: Vec::new(),
            facets_numbers: HashMap::new(),
            named_records: Vec::new(),
            name_numbers: HashMap::new(),
            token_counts: TokenCounts::default(),
            event_runs: BTreeMap::new(),
            last_run: None,
            dead: 0,
        }
    }

    /// Replays log records that start at offset `from`. `None` if they are corrupt.
    pub(super) fn replay_log(
        &mut self,
        log: &[u8],
        from: u64,
        played: ReadLogRange<'_>,
    ) -> Option<()> {
        let mut rest = log;
        while !rest.is_empty() {
            let begins = from + (log.len() - rest.len()) as u64;
            match LogRecord::decode(&mut rest)? {
                LogRecord::Facets(facets) => {
                    let facets = Arc::new(facets);
                    let number =
                        u32::try_from(self.facets.len()).ok().filter(|it| *it < NO_VECTOR_BIT)?;
                    self.facets_numbers.insert(Arc::clone(&facets), number);
                    self.facets.push(facets);
                }
                LogRecord::Name(name) => {
                    let name: Arc<str> = name.into();
                    self.name_numbers.insert(Arc::clone(&name), self.named_records.len() as u64);
                    let thing = NamedRecord { name, rows: Vec::new(), at: None, tokens: 0..0 };
                    self.named_records.push(Some(thing));
                }
                LogRecord::NameRemoved(number) => self.remove_named(number, played)?,
                LogRecord::Tokens(name, tokens) => {
                    self.token_counts.add_row(&tokens);
                    if let Some(number) = name {
                        let ends = from + (log.len() - rest.len()) as u64;
                        let range = &mut self.named_mut(number)?.as_mut()?.tokens;
                        let first = if range.is_empty() { begins } else { range.start };
                        *range = first..ends;
                    }
                }
            }
        }
        Some(())
    }

    /// Replays appended rows. `None` if they are corrupt or refer to unknown facets or names.
    pub(super) fn replay_rows(&mut self, signs: &[u8]) -> Option<()> {
        for row in signs.chunks(self.layout.signs_bytes()) {
            self.push_row(row)?;
        }
        Some(())
    }

    fn push_row(&mut self, row: &[u8]) -> Option<()> {
        if self.blocks.last().is_none_or(|block| block.facets.len() == BLOCK_ROWS) {
            self.blocks.push(RowBlock::default());
        }
        let number = u32::try_from(self.row_count()).ok()?;
        let block = self.blocks.last_mut()?;
        let (words, mut meta) = self.layout.decode_signs(row)?;
        if usize::try_from(meta.facets & !NO_VECTOR_BIT).ok()? >= self.facets.len() {
            return None;
        }
        if meta.key & NAMED_BIT != 0 {
            match self.named_records.get_mut(usize::try_from(meta.key & !NAMED_BIT).ok()?)? {
                Some(thing) => {
                    thing.rows.push(number);
                    thing.at.get_or_insert(Millis(meta.at));
                }
                None => {
                    meta.facets = DEAD_ROW;
                    self.dead += 1;
                }
            }
        }
        block.push(&meta);
        self.add_to_run(meta.key, number);
        self.signs.set_row(number as usize, &words);
        Some(())
    }

    /// Adds a row to the run of the row before it, or begins a run.
    fn add_to_run(&mut self, key: u64, row: u32) {
        if key & NAMED_BIT != 0 {
            self.last_run = None;
            return;
        }
        let first = match self.last_run {
            Some((first, last)) if last <= key => first,
            _ => key,
        };
        self.last_run = Some((first, key));
        self.event_runs.entry(first).or_insert(row..row).end = row + 1;
    }

    /// Removes a named record: marks its rows dead and subtracts its tokens.
    fn remove_named(&mut self, number: u64, played: ReadLogRange<'_>) -> Option<()> {
        let thing = self.named_mut(number)?.take()?;
        if self.name_numbers.get(&thing.name) == Some(&number) {
            self.name_numbers.remove(&thing.name);
        }
        for row in thing.rows {
            let (block, i) = locate_row(row);
            let block = self.blocks.get_mut(block)?;
            *block.searchable.get_mut(i / 64)? &= !(1 << (i % 64));
            block.facets.set(i, DEAD_ROW.into());
            self.dead += 1;
        }
        let records = if thing.tokens.is_empty() { Vec::new() } else { played(thing.tokens)? };
        let mut rest = records.as_slice();
        while !rest.is_empty() {
            match LogRecord::decode(&mut rest)? {
                LogRecord::Tokens(Some(of), tokens) if of == number => {
                    self.token_counts.remove_row(&tokens);
                }
                _ => {}
            }
        }
        Some(())
    }

    fn named_mut(&mut self, number: u64) -> Option<&mut Option<NamedRecord>> {
        self.named_records.get_mut(usize::try_from(number).ok()?)
    }

    fn find_named(&self, key: u64) -> Option<&NamedRecord> {
        if key & NAMED_BIT == 0 {
            return None;
        }
        self.named_records.get(usize::try_from(key & !NAMED_BIT).ok()?)?.as_ref()
    }

    /// Number of rows, including dead ones.
    pub(super) fn row_count(&self) -> usize {
        self.blocks
            .last()
            .map_or(0, |last| (self.blocks.len() - 1) * BLOCK_ROWS + last.facets.len())
    }

    pub(super) fn live_count(&self) -> usize {
        self.row_count() - self.dead
    }

    pub(super) fn find_facets(&self, facets: &RowFacets) -> Option<u32> {
        self.facets_numbers.get(facets).copied()
    }

    pub(super) fn find_name(&self, name: &str) -> Option<u64> {
        self.name_numbers.get(name).copied()
    }

    /// Number of names ever defined.
    pub(super) fn name_count(&self) -> u64 {
        self.named_records.len() as u64
    }

    /// The existing named records, sorted by name.
    pub(super) fn list_named(&self) -> Vec<(String, Millis)> {
        let things = self.named_records.iter().flatten();
        let mut named: Vec<_> =
            things.filter_map(|thing| Some((thing.name.to_string(), thing.at?))).collect();
        named.sort_unstable();
        named
    }

    pub(super) fn event_line(&self, seq: u64) -> Option<u32> {
        Some(self.row_meta(self.event_rows(seq).next()?)?.line)
    }

    /// Rows of an event. Events may be written in any order, as long as each is written once.
    pub(super) fn event_rows(&self, seq: u64) -> impl Iterator<Item = u32> {
        let run = self.event_runs.range(..=seq).next_back();
        let run = run.map_or(0..0, |(_, rows)| rows.clone());
        let key_of = move |row: u32| self.row_meta(row).map(|meta| meta.key);
        let (mut first, mut end) = (run.start, run.end);
        while first < end {
            let middle = first + (end - first) / 2;
            match key_of(middle) {
                Some(key) if key < seq => first = middle + 1,
                _ => end = middle,
            }
        }
        (first..run.end).take_while(move |row| key_of(*row) == Some(seq))
    }

    pub(super) fn has_named(&self, name: &str) -> bool {
        self.name_numbers.contains_key(name)
    }

    pub(super) fn to_hit(&self, row: u32, score: f32) -> Option<IndexHit> {
        let meta = self.row_meta(row)?;
        let key = if meta.key & NAMED_BIT == 0 {
            EntryKey::Event(meta.key)
        } else {
            EntryKey::Named(self.find_named(meta.key)?.name.to_string())
        };
        let source = self.row_source(meta)?;
        let (part, line) = (meta.range, meta.line);
        Some(IndexHit { key, range: part, source, at: Millis(meta.at), line, score })
    }

    /// Breaks ties between rows with equal scores. Independent of write order, so a rebuilt index
    /// ranks the same.
    pub(super) fn tie_break(&self, row: u32) -> RowTieBreak<'_> {
        let meta = self.row_meta(row).unwrap_or_default();
        let name = self.find_named(meta.key).map(|thing| &*thing.name);
        // Events sort before names, as in `EntryKey`, and by sequence number.
        let event = if name.is_some() { u64::MAX } else { meta.key };
        (self.row_source(meta), event, name, meta.range, meta.at, meta.line)
    }

    fn row_source(&self, meta: RowMeta) -> Option<RecordKind> {
        Some(self.facets.get(usize::try_from(meta.facets & !NO_VECTOR_BIT).ok()?)?.source)
    }

    pub(super) fn has_vector(&self, row: u32) -> bool {
        self.row_meta(row).is_some_and(|meta| meta.facets & NO_VECTOR_BIT == 0)
    }

    pub(super) fn row_meta(&self, row: u32) -> Option<RowMeta> {
        let (block, i) = locate_row(row);
        self.blocks.get(block)?.row_meta(i)
    }
}

/// Block of a row, and its index within the block.
fn locate_row(row: u32) -> (usize, usize) {
    let row = row as usize;
    (row / BLOCK_ROWS, row % BLOCK_ROWS)
}
