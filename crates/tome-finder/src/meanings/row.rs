//! A row: one entry's vector in few bits, and what filters and answers need of the entry. It lies in two
//! files, because one part is held in memory and the other is read for the best candidates only.
//!
//! ```text
//! signs    sign bits: u64le * ceil(dimensions / 64)      1: not negative
//!          key: u64le         an event's number, or 2^63 + the number of a name
//!          at: u64le ++ place: u32le ++ from: u32le ++ to: u32le ++ line: u32le
//!          checksum: u32le    of all before it           68 bytes with 256 dimensions
//! levels   two a byte, the first in the lower half: how far from zero, 0 to 15
//!          checksum: u32le                               132 bytes with 256 dimensions
//! ```
//!
//! With sign and level a number is known in 31 steps up to three times what is usual in a vector of length 1;
//! what is larger is cut, which is rare in a vector that was turned (`turn.rs`): a cosine is off by less than 0.04.
//! Measured, that finds as well as floats do. 2^31 in `place`: the vector was
//! zero, and the row is never found.

use std::sync::LazyLock;

use super::bytes::{checksum, take};
use crate::Part;

/// Set in the key of a row whose entry has a name.
pub(super) const NAMED: u64 = 1 << 63;

/// Set in the place of a row that has nothing to be found by.
pub(super) const MUTE: u32 = 1 << 31;

/// The largest level.
const LEVEL_MAX: f32 = 15.0;

/// Three times the root of the mean square of a vector's numbers is where the levels end.
const SPREAD: f32 = 3.0;

/// What a row says of its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Facts {
    pub(super) key: u64,
    pub(super) at: u64,
    pub(super) place: u32,
    pub(super) part: Part,
    pub(super) line: u32,
}

/// The bytes that a row has in the two files, for vectors of one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) dimensions: usize,
}

impl Layout {
    /// How many words the sign bits fill.
    pub(super) fn words(self) -> usize {
        self.dimensions.div_ceil(64)
    }

    pub(super) fn signs_bytes(self) -> usize {
        self.words() * 8 + 36
    }

    pub(super) fn levels_bytes(self) -> usize {
        self.dimensions.div_ceil(2) + 4
    }

    /// Appends a row to `signs`.
    pub(super) fn put_signs(self, signs: &mut Vec<u8>, words: &[u64], facts: &Facts) {
        let from = signs.len();
        words.iter().for_each(|word| signs.extend(word.to_le_bytes()));
        signs.extend(facts.key.to_le_bytes());
        signs.extend(facts.at.to_le_bytes());
        for number in [facts.place, facts.part.from, facts.part.to, facts.line] {
            signs.extend(number.to_le_bytes());
        }
        put_checksum(signs, from);
    }

    /// Reads a row of `signs`. `None`: it is not whole.
    pub(super) fn take_signs(self, row: &[u8]) -> Option<(Vec<u64>, Facts)> {
        let row = checked(row)?;
        let (signs, mut rest) = row.split_at_checked(self.words() * 8)?;
        let key = u64::from_le_bytes(take(&mut rest)?);
        let at = u64::from_le_bytes(take(&mut rest)?);
        let mut number = || take(&mut rest).map(u32::from_le_bytes);
        let place = number()?;
        let part = Part { from: number()?, to: number()? };
        let line = number()?;
        let words = signs.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        Some((words, Facts { key, at, place, part, line }))
    }

    /// Appends the levels of a vector to `levels`.
    pub(super) fn put_levels(self, levels: &mut Vec<u8>, vector: &[f32]) {
        let from = levels.len();
        let step = SPREAD / ((LEVEL_MAX + 1.0) * (self.dimensions as f32).sqrt());
        #[expect(clippy::cast_possible_truncation, reason = "it is at most 15, and cut")]
        let level = |number: &f32| (number.abs() / step).min(LEVEL_MAX) as u8;
        for pair in vector.chunks(2) {
            let low = pair.first().map_or(0, level);
            levels.push(low | pair.get(1).map_or(0, level) << 4);
        }
        put_checksum(levels, from);
    }
}

/// Reads numbers out of their bits: what each byte of signs and of levels stands for, looked up.
pub(super) struct Reader {
    signs: Vec<[f32; 8]>,
    /// A level stands for the middle of its step.
    sizes: Vec<[f32; 2]>,
}

impl Reader {
    /// The one that everybody uses.
    pub(super) fn shared() -> &'static Self {
        static READER: LazyLock<Reader> = LazyLock::new(Reader::new);
        &READER
    }

    fn new() -> Self {
        let sign = |byte: u8, i: usize| if byte >> i & 1 == 1 { 1.0 } else { -1.0 };
        let size = |level: u8| f32::from(level) + 0.5;
        Self {
            signs: (0..=u8::MAX).map(|byte| std::array::from_fn(|i| sign(byte, i))).collect(),
            sizes: (0..=u8::MAX).map(|byte| [size(byte & 15), size(byte >> 4)]).collect(),
        }
    }

    /// The cosine of a question of length 1 and a row, of which the sign bits and its part of the file of
    /// levels are given. `None`: the row is not whole.
    pub(super) fn cosine(&self, question: &[f32], signs: &[u8], levels: &[u8]) -> Option<f32> {
        let levels = checked(levels)?;
        // Eight sums at a time do not wait for each other, and are always added in the same order.
        let (mut products, mut squares) = ([0.0_f32; 8], [0.0_f32; 8]);
        for ((numbers, levels), signs) in question.chunks(8).zip(levels.chunks(4)).zip(signs) {
            let mut sizes = [0.0; 8];
            for (sizes, level) in sizes.as_chunks_mut::<2>().0.iter_mut().zip(levels) {
                *sizes = *self.sizes.get(usize::from(*level))?;
            }
            let signs = self.signs.get(usize::from(*signs))?;
            let mut asked = [0.0; 8];
            asked.iter_mut().zip(numbers).for_each(|(asked, number)| *asked = *number);
            for (product, ((asked, size), sign)) in
                products.iter_mut().zip(asked.iter().zip(&sizes).zip(signs))
            {
                *product += asked * size * sign;
            }
            for (square, size) in squares.iter_mut().zip(sizes) {
                *square += size * size;
            }
        }
        Some(products.iter().sum::<f32>() / squares.iter().sum::<f32>().sqrt())
    }
}

/// The sign bits of a vector.
pub(super) fn signs(vector: &[f32]) -> impl Iterator<Item = u64> {
    vector.chunks(64).map(|numbers| {
        numbers
            .iter()
            .enumerate()
            .fold(0, |word, (i, number)| word | u64::from(*number >= 0.0) << i)
    })
}

fn put_checksum(bytes: &mut Vec<u8>, from: usize) {
    let sum = checksum(bytes.get(from..).unwrap_or_default());
    bytes.extend(sum.to_le_bytes());
}

/// What is before the checksum, if it is what was summed up.
fn checked(row: &[u8]) -> Option<&[u8]> {
    let (row, sum) = row.split_last_chunk::<4>()?;
    (checksum(row) == u32::from_le_bytes(*sum)).then_some(row)
}
