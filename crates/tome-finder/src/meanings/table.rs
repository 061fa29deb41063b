//! The in-memory part of the index: sign bits and metadata of every row, the facets and names that
//! rows refer to, and token counts. About 45 bytes per row with 256 dimensions.
//!
//! It is built by replaying the log and the rows, on open and after each commit alike.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::column::Column;
use super::counts::Counts;
use super::log::{Place, Record};
use super::row::{Facts, Layout, MUTE, NAMED};
use super::slices::{SLICE_ROWS, Slice, Slices};
use crate::{Found, Key, Part, Source};
use tome_model::Millis;

/// Facets number of a dead row. Invalid like that of a row without a vector, so no filter selects
/// it.
const DEAD: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Table {
    pub(super) layout: Layout,
    pub(super) signs: Slices,
    pub(super) blocks: Vec<Block>,
    pub(super) places: Vec<Arc<Place>>,
    place_numbers: HashMap<Arc<Place>, u32>,
    things: Vec<Option<Thing>>,
    thing_numbers: HashMap<Arc<str>, u64>,
    pub(super) counts: Counts,
    dead: usize,
}

/// Metadata of a block's rows, by column.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Rows that are alive and have a vector.
    pub(super) speaking: Slice,
    pub(super) places: Column,
    pub(super) ats: Column,
    keys: Column,
    from: Column,
    to: Column,
    lines: Column,
}

impl Block {
    fn push(&mut self, facts: &Facts) {
        let i = self.places.len();
        if let Some(lane) = self.speaking.get_mut(i / 64) {
            *lane |= u64::from(facts.place & MUTE == 0) << (i % 64);
        }
        self.places.push(facts.place.into());
        self.ats.push(facts.at);
        self.keys.push(facts.key);
        self.from.push(facts.part.from.into());
        self.to.push(facts.part.to.into());
        self.lines.push(facts.line.into());
    }

    fn facts(&self, i: usize) -> Option<Facts> {
        let narrow = |column: &Column| column.get(i).and_then(|number| u32::try_from(number).ok());
        Some(Facts {
            key: self.keys.get(i)?,
            at: self.ats.get(i)?,
            place: narrow(&self.places)?,
            part: Part { from: narrow(&self.from)?, to: narrow(&self.to)? },
            line: narrow(&self.lines)?,
        })
    }
}

/// Source, event, name, chunk, time and line of a row, compared in this order.
pub(super) type Said<'a> = (Option<Source>, u64, Option<&'a str>, Part, u64, u32);

/// A named record that exists.
#[derive(Debug)]
struct Thing {
    name: Arc<str>,
    rows: Vec<u32>,
    at: Option<Millis>,
    /// Range of the log that contains its token records, possibly among others; needed once, on
    /// removal.
    tokens: Range<u64>,
}

/// Reads a range of the log that was replayed before.
pub(super) type Played<'a> = &'a dyn Fn(Range<u64>) -> Option<Vec<u8>>;

impl Table {
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            layout,
            signs: Slices::new(layout.words()),
            blocks: Vec::new(),
            places: Vec::new(),
            place_numbers: HashMap::new(),
            things: Vec::new(),
            thing_numbers: HashMap::new(),
            counts: Counts::default(),
            dead: 0,
        }
    }

    /// Replays log records that start at offset `from`. `None` if they are corrupt.
    pub(super) fn play_log(&mut self, log: &[u8], from: u64, played: Played<'_>) -> Option<()> {
        let mut rest = log;
        while !rest.is_empty() {
            let begins = from + (log.len() - rest.len()) as u64;
            match Record::take(&mut rest)? {
                Record::Place(place) => {
                    let place = Arc::new(place);
                    let number = u32::try_from(self.places.len()).ok().filter(|it| *it < MUTE)?;
                    self.place_numbers.insert(Arc::clone(&place), number);
                    self.places.push(place);
                }
                Record::Name(name) => {
                    let name: Arc<str> = name.into();
                    self.thing_numbers.insert(Arc::clone(&name), self.things.len() as u64);
                    let thing = Thing { name, rows: Vec::new(), at: None, tokens: 0..0 };
                    self.things.push(Some(thing));
                }
                Record::Gone(number) => self.bury(number, played)?,
                Record::Tokens(name, tokens) => {
                    self.counts.add(&tokens);
                    if let Some(number) = name {
                        let ends = from + (log.len() - rest.len()) as u64;
                        let known = &mut self.thing_mut(number)?.as_mut()?.tokens;
                        let first = if known.is_empty() { begins } else { known.start };
                        *known = first..ends;
                    }
                }
            }
        }
        Some(())
    }

    /// Replays appended rows. `None` if they are corrupt or refer to unknown facets or names.
    pub(super) fn play_rows(&mut self, signs: &[u8]) -> Option<()> {
        for row in signs.chunks(self.layout.signs_bytes()) {
            self.push(row)?;
        }
        Some(())
    }

    fn push(&mut self, row: &[u8]) -> Option<()> {
        if self.blocks.last().is_none_or(|block| block.places.len() == SLICE_ROWS) {
            self.blocks.push(Block::default());
        }
        let number = u32::try_from(self.rows()).ok()?;
        let block = self.blocks.last_mut()?;
        let (words, mut facts) = self.layout.take_signs(row)?;
        if usize::try_from(facts.place & !MUTE).ok()? >= self.places.len() {
            return None;
        }
        if facts.key & NAMED != 0 {
            match self.things.get_mut(usize::try_from(facts.key & !NAMED).ok()?)? {
                Some(thing) => {
                    thing.rows.push(number);
                    thing.at.get_or_insert(Millis(facts.at));
                }
                None => {
                    facts.place = DEAD;
                    self.dead += 1;
                }
            }
        }
        block.push(&facts);
        self.signs.set(number as usize, &words);
        Some(())
    }

    /// Removes a named record: marks its rows dead and subtracts its tokens.
    fn bury(&mut self, number: u64, played: Played<'_>) -> Option<()> {
        let thing = self.thing_mut(number)?.take()?;
        if self.thing_numbers.get(&thing.name) == Some(&number) {
            self.thing_numbers.remove(&thing.name);
        }
        for row in thing.rows {
            let (block, i) = at(row);
            let block = self.blocks.get_mut(block)?;
            *block.speaking.get_mut(i / 64)? &= !(1 << (i % 64));
            block.places.set(i, DEAD.into());
            self.dead += 1;
        }
        let records = if thing.tokens.is_empty() { Vec::new() } else { played(thing.tokens)? };
        let mut rest = records.as_slice();
        while !rest.is_empty() {
            match Record::take(&mut rest)? {
                Record::Tokens(Some(of), tokens) if of == number => self.counts.remove(&tokens),
                _ => {}
            }
        }
        Some(())
    }

    fn thing_mut(&mut self, number: u64) -> Option<&mut Option<Thing>> {
        self.things.get_mut(usize::try_from(number).ok()?)
    }

    fn thing(&self, key: u64) -> Option<&Thing> {
        if key & NAMED == 0 {
            return None;
        }
        self.things.get(usize::try_from(key & !NAMED).ok()?)?.as_ref()
    }

    /// Number of rows, including dead ones.
    pub(super) fn rows(&self) -> usize {
        self.blocks
            .last()
            .map_or(0, |last| (self.blocks.len() - 1) * SLICE_ROWS + last.places.len())
    }

    pub(super) fn live(&self) -> usize {
        self.rows() - self.dead
    }

    pub(super) fn place_number(&self, place: &Place) -> Option<u32> {
        self.place_numbers.get(place).copied()
    }

    pub(super) fn name_number(&self, name: &str) -> Option<u64> {
        self.thing_numbers.get(name).copied()
    }

    /// Number of names ever defined.
    pub(super) fn names(&self) -> u64 {
        self.things.len() as u64
    }

    /// The existing named records, sorted by name.
    pub(super) fn named(&self) -> Vec<(String, Millis)> {
        let things = self.things.iter().flatten();
        let mut named: Vec<_> =
            things.filter_map(|thing| Some((thing.name.to_string(), thing.at?))).collect();
        named.sort_unstable();
        named
    }

    pub(super) fn line(&self, seq: u64) -> Option<u32> {
        Some(self.facts(self.rows_of(seq).next()?)?.line)
    }

    /// Rows of an event. Uses binary search, so it may miss rows if events were not written in
    /// order.
    pub(super) fn rows_of(&self, seq: u64) -> impl Iterator<Item = u32> {
        let is_before = |block: &Block| block.keys.get(0).is_some_and(|first| first < seq);
        let block = self.blocks.partition_point(is_before).saturating_sub(1);
        let keys = self.blocks.get(block).map(|block| block.keys.all()).unwrap_or_default();
        let first = block * SLICE_ROWS + keys.partition_point(|key| *key < seq);
        let is_its = move |row: &u32| self.facts(*row).is_some_and(|facts| facts.key == seq);
        (u32::try_from(first).unwrap_or(u32::MAX)..).take_while(is_its)
    }

    pub(super) fn found(&self, row: u32, score: f32) -> Option<Found> {
        let facts = self.facts(row)?;
        let key = if facts.key & NAMED == 0 {
            Key::Event(facts.key)
        } else {
            Key::Named(self.thing(facts.key)?.name.to_string())
        };
        let source = self.source(facts)?;
        let (part, line) = (facts.part, facts.line);
        Some(Found { key, part, source, at: Millis(facts.at), line, score })
    }

    /// Breaks ties between rows with equal scores. Independent of write order, so a rebuilt index
    /// ranks the same.
    pub(super) fn said(&self, row: u32) -> Said<'_> {
        let facts = self.facts(row).unwrap_or_default();
        let name = self.thing(facts.key).map(|thing| &*thing.name);
        // Events sort before names, as in `EntryKey`, and by sequence number.
        let event = if name.is_some() { u64::MAX } else { facts.key };
        (self.source(facts), event, name, facts.part, facts.at, facts.line)
    }

    fn source(&self, facts: Facts) -> Option<Source> {
        Some(self.places.get(usize::try_from(facts.place & !MUTE).ok()?)?.source)
    }

    pub(super) fn has_vector(&self, row: u32) -> bool {
        self.facts(row).is_some_and(|facts| facts.place & MUTE == 0)
    }

    pub(super) fn facts(&self, row: u32) -> Option<Facts> {
        let (block, i) = at(row);
        self.blocks.get(block)?.facts(i)
    }
}

/// Block of a row, and its index within the block.
fn at(row: u32) -> (usize, usize) {
    let row = row as usize;
    (row / SLICE_ROWS, row % SLICE_ROWS)
}
