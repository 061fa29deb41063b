//! A row: an entry's quantized vector and the metadata needed for filters and results. It is split
//! over two files, because the signs are held in memory and the levels are read for the best
//! candidates only.
//!
//! ```text
//! signs    sign bits: u64le * ceil(dimensions / 64)      1: not negative
//!          key: u64le         an event's sequence number, or 2^63 + a name number
//!          at: u64le ++ facets: u32le ++ from: u32le ++ to: u32le ++ line: u32le
//!          checksum: u32le    of everything before it    68 bytes with 256 dimensions
//! levels   two per byte, low half first: magnitude, 0 to 15
//!          checksum: u32le                               132 bytes with 256 dimensions
//! ```
//!
//! Sign and level quantize a value to 31 steps, up to three times the root mean square of a unit
//! vector. Larger values are clipped, which is rare after rotation (`rotation.rs`); the error of a
//! cosine similarity is below 0.04. Measured recall equals that of floats. Bit 2^31 of `facets` marks a zero
//! vector, whose row is never found.

use std::sync::LazyLock;

use super::encoding::{checksum, take_array};
use crate::ByteRange;

/// Set in the key of a row whose entry is named.
pub(super) const NAMED_BIT: u64 = 1 << 63;

/// Set in the facets number of a row with a zero vector.
pub(super) const NO_VECTOR_BIT: u32 = 1 << 31;

const LEVEL_MAX: f32 = 15.0;

/// Levels cover this multiple of the root mean square.
const LEVELS_RANGE: f32 = 3.0;

/// Metadata of a row's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RowMeta {
    pub(super) key: u64,
    pub(super) at: u64,
    pub(super) facets: u32,
    pub(super) range: ByteRange,
    pub(super) line: u32,
}

/// Byte layout of rows for vectors of one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowLayout {
    pub(super) dimensions: usize,
}

impl RowLayout {
    /// Number of 64-bit words of the sign bits.
    pub(super) fn sign_words(self) -> usize {
        self.dimensions.div_ceil(64)
    }

    pub(super) fn signs_bytes(self) -> usize {
        self.sign_words() * 8 + 36
    }

    pub(super) fn levels_bytes(self) -> usize {
        self.dimensions.div_ceil(2) + 4
    }

    pub(super) fn encode_signs(self, signs: &mut Vec<u8>, words: &[u64], meta: &RowMeta) {
        let from = signs.len();
        words.iter().for_each(|word| signs.extend(word.to_le_bytes()));
        signs.extend(meta.key.to_le_bytes());
        signs.extend(meta.at.to_le_bytes());
        for number in [meta.facets, meta.range.from, meta.range.to, meta.line] {
            signs.extend(number.to_le_bytes());
        }
        append_checksum(signs, from);
    }

    /// Decodes a row of `signs`. `None` if it is corrupt.
    pub(super) fn decode_signs(self, row: &[u8]) -> Option<(Vec<u64>, RowMeta)> {
        let row = verify_checksum(row)?;
        let (signs, mut rest) = row.split_at_checked(self.sign_words() * 8)?;
        let key = u64::from_le_bytes(take_array(&mut rest)?);
        let at = u64::from_le_bytes(take_array(&mut rest)?);
        let mut number = || take_array(&mut rest).map(u32::from_le_bytes);
        let facets = number()?;
        let part = ByteRange { from: number()?, to: number()? };
        let line = number()?;
        let words = signs.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        Some((words, RowMeta { key, at, facets, range: part, line }))
    }

    pub(super) fn encode_levels(self, levels: &mut Vec<u8>, vector: &[f32]) {
        let from = levels.len();
        let step = LEVELS_RANGE / ((LEVEL_MAX + 1.0) * (self.dimensions as f32).sqrt());
        #[expect(clippy::cast_possible_truncation, reason = "at most 15; truncation intended")]
        let level = |number: &f32| (number.abs() / step).min(LEVEL_MAX) as u8;
        for pair in vector.chunks(2) {
            let low = pair.first().map_or(0, level);
            levels.push(low | pair.get(1).map_or(0, level) << 4);
        }
        append_checksum(levels, from);
    }
}

/// Decodes quantized values with a lookup table per byte of signs and of levels.
pub(super) struct RowDecoder {
    signs: Vec<[f32; 8]>,
    /// A level stands for the middle of its step.
    magnitudes: Vec<[f32; 2]>,
}

impl RowDecoder {
    pub(super) fn shared() -> &'static Self {
        static READER: LazyLock<RowDecoder> = LazyLock::new(RowDecoder::new);
        &READER
    }

    fn new() -> Self {
        let sign = |byte: u8, i: usize| if byte >> i & 1 == 1 { 1.0 } else { -1.0 };
        let size = |level: u8| f32::from(level) + 0.5;
        Self {
            signs: (0..=u8::MAX).map(|byte| std::array::from_fn(|i| sign(byte, i))).collect(),
            magnitudes: (0..=u8::MAX).map(|byte| [size(byte & 15), size(byte >> 4)]).collect(),
        }
    }

    /// Cosine similarity of a unit query vector and a row, given the row's sign bits and its
    /// levels. `None` if the row is corrupt.
    pub(super) fn similarity(
        &self,
        query_vector: &[f32],
        signs: &[u8],
        levels: &[u8],
    ) -> Option<f32> {
        let levels = verify_checksum(levels)?;
        // Eight independent sums allow vectorization and fix the order of additions.
        let (mut products, mut squares) = ([0.0_f32; 8], [0.0_f32; 8]);
        for ((numbers, levels), signs) in query_vector.chunks(8).zip(levels.chunks(4)).zip(signs) {
            let mut sizes = [0.0; 8];
            for (sizes, level) in sizes.as_chunks_mut::<2>().0.iter_mut().zip(levels) {
                *sizes = *self.magnitudes.get(usize::from(*level))?;
            }
            let signs = self.signs.get(usize::from(*signs))?;
            let mut query = [0.0; 8];
            query.iter_mut().zip(numbers).for_each(|(query, number)| *query = *number);
            for (product, ((query, size), sign)) in
                products.iter_mut().zip(query.iter().zip(&sizes).zip(signs))
            {
                *product += query * size * sign;
            }
            for (square, size) in squares.iter_mut().zip(sizes) {
                *square += size * size;
            }
        }
        Some(products.iter().sum::<f32>() / squares.iter().sum::<f32>().sqrt())
    }
}

pub(super) fn sign_bits(vector: &[f32]) -> impl Iterator<Item = u64> {
    vector.chunks(64).map(|numbers| {
        numbers
            .iter()
            .enumerate()
            .fold(0, |word, (i, number)| word | u64::from(*number >= 0.0) << i)
    })
}

fn append_checksum(bytes: &mut Vec<u8>, from: usize) {
    let sum = checksum(bytes.get(from..).unwrap_or_default());
    bytes.extend(sum.to_le_bytes());
}

/// Returns the bytes before the checksum if it matches.
fn verify_checksum(row: &[u8]) -> Option<&[u8]> {
    let (row, sum) = row.split_last_chunk::<4>()?;
    (checksum(row) == u32::from_le_bytes(*sum)).then_some(row)
}
