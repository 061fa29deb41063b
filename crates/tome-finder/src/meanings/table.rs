//! The part of the index that is held in memory: sign bits and facts of every row, the places and
//! names that they refer to, and the counts of tokens. 64 bytes a row with 256 dimensions.
//!
//! It is made by playing the log and the rows, when an index is opened and after each commit alike.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use super::counts::Counts;
use super::log::{Place, Record, put_tokens, take_tokens};
use super::row::{Facts, Layout, MUTE, NAMED};
use super::slices::{SLICE_ROWS, Slices};
use crate::{Found, Key, Part, Source};
use tome_model::Millis;

/// The place of a dead row. Like that of a mute one it is no place, so no filter lets it through.
const DEAD: u32 = u32::MAX;

/// What is in memory.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) layout: Layout,
    pub(super) blocks: Vec<Block>,
    pub(super) places: Vec<Arc<Place>>,
    place_numbers: HashMap<Arc<Place>, u32>,
    things: Vec<Option<Thing>>,
    thing_numbers: HashMap<Arc<str>, u64>,
    pub(super) counts: Counts,
    dead: usize,
}

/// Some rows, by column: a scan reads the first one, and of the others what it needs.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) signs: Slices,
    pub(super) places: Vec<u32>,
    pub(super) ats: Vec<u64>,
    /// Rows that are dead or mute.
    pub(super) silent: usize,
    keys: Vec<u64>,
    parts: Vec<Part>,
    lines: Vec<u32>,
}

/// A named thing that is there.
#[derive(Debug)]
struct Thing {
    name: Arc<str>,
    rows: Vec<u32>,
    at: Option<Millis>,
    /// The tokens of its rows, encoded: needed once, when it goes.
    tokens: Vec<u8>,
}

impl Table {
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            layout,
            blocks: Vec::new(),
            places: Vec::new(),
            place_numbers: HashMap::new(),
            things: Vec::new(),
            thing_numbers: HashMap::new(),
            counts: Counts::default(),
            dead: 0,
        }
    }

    /// Plays what was added to the log. `None`: it is not whole.
    pub(super) fn play_log(&mut self, mut log: &[u8]) -> Option<()> {
        while !log.is_empty() {
            match Record::take(&mut log)? {
                Record::Place(place) => {
                    let place = Arc::new(place);
                    let number = u32::try_from(self.places.len()).ok().filter(|it| *it < MUTE)?;
                    self.place_numbers.insert(Arc::clone(&place), number);
                    self.places.push(place);
                }
                Record::Name(name) => {
                    let name: Arc<str> = name.into();
                    self.thing_numbers.insert(Arc::clone(&name), self.things.len() as u64);
                    let thing = Thing { name, rows: Vec::new(), at: None, tokens: Vec::new() };
                    self.things.push(Some(thing));
                }
                Record::Gone(number) => self.bury(number)?,
                Record::Tokens(name, tokens) => {
                    self.counts.add(&tokens);
                    if let Some(number) = name {
                        put_tokens(&mut self.thing_mut(number)?.as_mut()?.tokens, &tokens);
                    }
                }
            }
        }
        Some(())
    }

    /// Plays rows that were added. `None`: they are not whole, or refer to what is not there.
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
        let (words, facts) = self.layout.take_signs(row)?;
        if usize::try_from(facts.place & !MUTE).ok()? >= self.places.len() {
            return None;
        }
        let mut place = facts.place;
        if facts.key & NAMED != 0 {
            match self.things.get_mut(usize::try_from(facts.key & !NAMED).ok()?)? {
                Some(thing) => {
                    thing.rows.push(number);
                    thing.at.get_or_insert(Millis(facts.at));
                }
                None => {
                    place = DEAD;
                    self.dead += 1;
                }
            }
        }
        block.silent += usize::from(place & MUTE != 0);
        block.signs.set(block.places.len(), &words);
        block.places.push(place);
        block.ats.push(facts.at);
        block.keys.push(facts.key);
        block.parts.push(facts.part);
        block.lines.push(facts.line);
        Some(())
    }

    /// A named thing goes: its rows die, and its tokens count no more.
    fn bury(&mut self, number: u64) -> Option<()> {
        let thing = self.thing_mut(number)?.take()?;
        if self.thing_numbers.get(&thing.name) == Some(&number) {
            self.thing_numbers.remove(&thing.name);
        }
        for row in thing.rows {
            let (block, i) = at(row);
            let block = self.blocks.get_mut(block)?;
            let place = block.places.get_mut(i)?;
            block.silent += usize::from(*place & MUTE == 0);
            *place = DEAD;
            self.dead += 1;
        }
        let mut tokens = thing.tokens.as_slice();
        while !tokens.is_empty() {
            self.counts.remove(&take_tokens(&mut tokens)?);
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

    /// All rows, dead ones too.
    pub(super) fn rows(&self) -> usize {
        self.blocks
            .last()
            .map_or(0, |last| (self.blocks.len() - 1) * SLICE_ROWS + last.places.len())
    }

    /// Rows whose entry is there.
    pub(super) fn live(&self) -> usize {
        self.rows() - self.dead
    }

    pub(super) fn place_number(&self, place: &Place) -> Option<u32> {
        self.place_numbers.get(place).copied()
    }

    pub(super) fn name_number(&self, name: &str) -> Option<u64> {
        self.thing_numbers.get(name).copied()
    }

    /// Names that were ever given a number.
    pub(super) fn names(&self) -> u64 {
        self.things.len() as u64
    }

    /// The named things that are there, in order.
    pub(super) fn named(&self) -> Vec<(String, Millis)> {
        let things = self.things.iter().flatten();
        let mut named: Vec<_> =
            things.filter_map(|thing| Some((thing.name.to_string(), thing.at?))).collect();
        named.sort_unstable();
        named
    }

    /// The row as an answer.
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

    /// The order of rows that match equally well. It knows nothing of when they were written, so it
    /// is the same in an index that was made again.
    pub(super) fn order(&self, one: u32, other: u32) -> Ordering {
        let said = |row: u32| {
            let facts = self.facts(row).unwrap_or_default();
            let name = self.thing(facts.key).map(|thing| &thing.name);
            // Events come before names, as in `Key`, and by number.
            let event = if name.is_some() { u64::MAX } else { facts.key };
            (self.source(facts), event, name, facts.part, facts.at, facts.line)
        };
        said(one).cmp(&said(other))
    }

    fn source(&self, facts: Facts) -> Option<Source> {
        Some(self.places.get(usize::try_from(facts.place & !MUTE).ok()?)?.source)
    }

    fn facts(&self, row: u32) -> Option<Facts> {
        let (block, i) = at(row);
        let block = self.blocks.get(block)?;
        Some(Facts {
            key: *block.keys.get(i)?,
            at: *block.ats.get(i)?,
            place: *block.places.get(i)?,
            part: *block.parts.get(i)?,
            line: *block.lines.get(i)?,
        })
    }
}

/// The block of a row, and its place in it.
fn at(row: u32) -> (usize, usize) {
    let row = row as usize;
    (row / SLICE_ROWS, row % SLICE_ROWS)
}
