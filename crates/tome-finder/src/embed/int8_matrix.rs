//! Products of int8 matrices with rows of numbers.
//!
//! The weights are used where they are, one byte each. The other side is rounded to 16 bits with a
//! scale per row, and products are summed as integers: exact, so the result does not depend on the
//! width of the processor's vectors, and twice as fast as floats. Sums are computed in tiles of
//! four rows of the matrix and as many rows of the other side as registers hold.

use fearless_simd::{Level, Simd, SimdBase, SimdIntWiden, dispatch};

use super::numeric::ROUNDING;
use super::tensor_file::TensorFile;

/// Rows of the matrix per tile.
const TILE_ROWS: usize = 4;
/// Largest number of sums per tile, one per lane of a vector.
const TILE_SUMS_MAX: usize = 16;
/// Columns are a multiple of the widest vector of 16-bit integers.
const COLUMNS_MULTIPLE: usize = 32;

/// A matrix of int8 values with a scale and an addend (bias) per row.
#[derive(Debug)]
pub(super) struct Int8Matrix<'a> {
    rows: usize,
    columns: usize,
    values: &'a [u8],
    scales: Vec<f32>,
    bias: Vec<f32>,
}

impl<'a> Int8Matrix<'a> {
    /// Reads a matrix and the scales of its rows; also their bias, if that has a name.
    pub(super) fn read(
        file: &TensorFile<'a>,
        name: &str,
        rows: usize,
        columns: usize,
        bias: Option<&str>,
    ) -> Result<Self, String> {
        if !rows.is_multiple_of(TILE_ROWS) || !columns.is_multiple_of(COLUMNS_MULTIPLE) {
            return Err(format!("{name} has an unsupported shape [{rows}, {columns}]"));
        }
        Ok(Self {
            rows,
            columns,
            values: file.bytes(name, "I8", &[rows, columns])?,
            scales: file.floats(&format!("{name}.scale"), rows)?,
            bias: bias.map_or_else(|| Ok(vec![0.0; rows]), |bias| file.floats(bias, rows))?,
        })
    }

    pub(super) fn row_count(&self) -> usize {
        self.rows
    }

    /// A row as numbers.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = f32> {
        let scale = self.scales.get(row).copied().unwrap_or_default();
        let from = row * self.columns;
        let values = self.values.get(from..from + self.columns).unwrap_or_default();
        values.iter().map(move |value| scale * f32::from(value.cast_signed()))
    }

    /// Multiplies each of the rows with this matrix and adds the bias. `out` gets as many numbers
    /// per row as the matrix has rows.
    pub(super) fn multiply(
        &self,
        level: Level,
        rows: &RoundedRows,
        panel: &mut Vec<i16>,
        out: &mut Vec<f32>,
    ) {
        out.resize(rows.scales.len() * self.rows, 0.0);
        panel.resize(TILE_ROWS * self.columns, 0);
        dispatch!(level, simd => multiply_with(simd, self, rows, panel, out));
    }
}

/// Rows of numbers, rounded to 16 bits and laid out for the processor's vectors: in blocks of as
/// many rows as a tile has, and within a block by groups of columns.
#[derive(Debug, Default)]
pub(super) struct RoundedRows {
    columns: usize,
    values: Vec<i16>,
    scales: Vec<f32>,
}

impl RoundedRows {
    /// Rounds `rows`, a matrix with this many columns.
    pub(super) fn round(&mut self, level: Level, rows: &[f32], columns: usize) {
        self.columns = columns;
        self.scales.clear();
        dispatch!(level, simd => round_with(simd, self, rows));
    }

    /// Sets the rows to int8 values with their scales, which need no rounding.
    pub(super) fn set_int8<'a>(
        &mut self,
        level: Level,
        rows: impl Iterator<Item = (f32, &'a [u8])>,
        columns: usize,
    ) {
        self.columns = columns;
        self.scales.clear();
        self.values.clear();
        let (lanes, block_rows) = dispatch!(level, simd => tile_size(simd));
        for (number, (scale, row)) in rows.enumerate() {
            self.scales.push(scale);
            self.values.resize((number / block_rows + 1) * block_rows * columns, 0);
            let layout = TileLayout::new(number, lanes, block_rows, columns);
            for (to, from) in layout.groups(&mut self.values).zip(row.chunks_exact(lanes)) {
                widen(to, from);
            }
        }
    }
}

/// Positions of a row's groups among the rounded values.
struct TileLayout {
    /// First value of its block.
    from: usize,
    block_values: usize,
    /// First value of its groups within those of the block.
    within: usize,
    lanes: usize,
    group_values: usize,
}

impl TileLayout {
    #[inline(always)]
    fn new(number: usize, lanes: usize, block_rows: usize, columns: usize) -> Self {
        Self {
            from: number / block_rows * block_rows * columns,
            block_values: block_rows * columns,
            within: number % block_rows * lanes,
            lanes,
            group_values: block_rows * lanes,
        }
    }

    #[inline(always)]
    fn groups<'v>(&self, values: &'v mut [i16]) -> impl Iterator<Item = &'v mut [i16]> {
        let (within, lanes) = (self.within, self.lanes);
        let block = values.get_mut(self.from..self.from + self.block_values).unwrap_or_default();
        block
            .chunks_exact_mut(self.group_values)
            .map(move |group| group.get_mut(within..within + lanes).unwrap_or_default())
    }
}

/// Lanes of a vector of 16-bit integers, and rows per block.
#[inline(always)]
fn tile_size<S: Simd>(_simd: S) -> (usize, usize) {
    (S::i16s::LEN, S::i32s::LEN / TILE_ROWS)
}

#[inline(always)]
fn round_with<S: Simd>(simd: S, rounded: &mut RoundedRows, rows: &[f32]) {
    let (lanes, block_rows) = tile_size(simd);
    let columns = rounded.columns;
    let count = rows.len() / columns.max(1);
    rounded.values.clear();
    rounded.values.resize(count.div_ceil(block_rows) * block_rows * columns, 0);
    // No sum of products with int8 values may exceed 31 bits.
    let limit = (i32::MAX as f32 / 128.0 / columns as f32).min(i16::MAX.into()).floor();
    for (number, row) in rows.chunks_exact(columns).enumerate() {
        let mut largest = [0.0_f32; 16];
        for part in row.as_chunks::<16>().0 {
            for (largest, value) in largest.iter_mut().zip(part) {
                *largest = largest.max(value.abs());
            }
        }
        let largest = largest.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let factor = limit / largest;
        rounded.scales.push(largest / limit);
        let layout = TileLayout::new(number, lanes, block_rows, columns);
        for (to, from) in layout.groups(&mut rounded.values).zip(row.chunks_exact(lanes)) {
            for (to, from) in to.as_chunks_mut::<8>().0.iter_mut().zip(from.as_chunks::<8>().0) {
                *to = from.map(|value| round_to_i16(value * factor));
            }
        }
    }
}

/// Rounds a number that fits.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the low 16 bits are the integer")]
fn round_to_i16(value: f32) -> i16 {
    (value + ROUNDING).to_bits() as i16
}

#[inline(always)]
fn multiply_with<S: Simd>(
    simd: S,
    matrix: &Int8Matrix<'_>,
    rows: &RoundedRows,
    panel: &mut [i16],
    out: &mut [f32],
) {
    match S::i32s::LEN / TILE_ROWS {
        1 => multiply_tiles::<S, 1>(simd, matrix, rows, panel, out),
        2 => multiply_tiles::<S, 2>(simd, matrix, rows, panel, out),
        _ => multiply_tiles::<S, 4>(simd, matrix, rows, panel, out),
    }
}

#[inline(always)]
fn multiply_tiles<S: Simd, const BLOCK: usize>(
    simd: S,
    matrix: &Int8Matrix<'_>,
    rows: &RoundedRows,
    panel: &mut [i16],
    out: &mut [f32],
) {
    let columns = matrix.columns;
    let four_rows = matrix.values.chunks_exact(TILE_ROWS * columns);
    let facts = matrix.scales.as_chunks::<TILE_ROWS>().0.iter();
    let facts = facts.zip(matrix.bias.as_chunks::<TILE_ROWS>().0);
    for (group, (values, (scales, bias))) in four_rows.zip(facts).enumerate() {
        widen_panel::<S>(panel, values, columns);
        let mut tokens = rows.scales.chunks(BLOCK);
        let mut outs = out.chunks_mut(BLOCK * matrix.rows);
        for block in rows.values.chunks_exact(BLOCK * columns) {
            let mut sums = [0; TILE_SUMS_MAX];
            multiply_tile::<S, BLOCK>(simd, panel, block)
                .store_slice(sums.get_mut(..S::i32s::LEN).unwrap_or_default());
            let (Some(tokens), Some(outs)) = (tokens.next(), outs.next()) else { return };
            let sums = sums.as_chunks::<TILE_ROWS>().0;
            for ((sums, scale), out) in sums.iter().zip(tokens).zip(outs.chunks_mut(matrix.rows)) {
                let from = group * TILE_ROWS;
                let out = out.get_mut(from..from + TILE_ROWS).unwrap_or_default();
                for (((out, sum), row_scale), bias) in
                    out.iter_mut().zip(sums).zip(scales).zip(bias)
                {
                    *out = *sum as f32 * (row_scale * scale) + bias;
                }
            }
        }
    }
}

/// Widens as many values as a multiple of 8.
#[inline(always)]
fn widen(to: &mut [i16], from: &[u8]) {
    for (to, from) in to.as_chunks_mut::<8>().0.iter_mut().zip(from.as_chunks::<8>().0) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = from.cast_signed().into();
        }
    }
}

/// Widens four rows of the matrix to 16 bits, by groups of columns.
#[inline(always)]
fn widen_panel<S: Simd>(panel: &mut [i16], values: &[u8], columns: usize) {
    let lanes = S::i16s::LEN;
    for (number, row) in values.chunks_exact(columns).enumerate() {
        let groups = panel.chunks_exact_mut(TILE_ROWS * lanes).zip(row.chunks_exact(lanes));
        for (group, from) in groups {
            widen(group.get_mut(number * lanes..(number + 1) * lanes).unwrap_or_default(), from);
        }
    }
}

/// The products of four rows of the matrix with each row of a block: a lane per product, by row of
/// the block and then of the matrix.
#[inline(always)]
fn multiply_tile<S: Simd, const BLOCK: usize>(simd: S, panel: &[i16], block: &[i16]) -> S::i32s {
    let lanes = S::i16s::LEN;
    let mut sums = [[S::i32s::splat(simd, 0); TILE_ROWS]; BLOCK];
    let groups = panel.chunks_exact(TILE_ROWS * lanes).zip(block.chunks_exact(BLOCK * lanes));
    for (weights, tokens) in groups {
        let mut four = [S::i16s::splat(simd, 0); TILE_ROWS];
        for (to, from) in four.iter_mut().zip(weights.chunks_exact(lanes)) {
            *to = S::i16s::from_slice(simd, from);
        }
        for (sums, token) in sums.iter_mut().zip(tokens.chunks_exact(lanes)) {
            let token = S::i16s::from_slice(simd, token);
            for (sum, weights) in sums.iter_mut().zip(four) {
                *sum += weights.pairwise_dot_product(token);
            }
        }
    }
    add_lanes::<S>(sums.as_flattened_mut())
}

/// Adds the lanes of each vector; as many vectors as lanes. Lane n of the result is the sum of
/// vector n.
#[inline(always)]
fn add_lanes<S: Simd>(mut vectors: &mut [S::i32s]) -> S::i32s {
    while vectors.len() > 1 {
        let (low, high) = vectors.split_at_mut(vectors.len() / 2);
        for (low, high) in low.iter_mut().zip(high) {
            *low = low.zip_low(*high) + low.zip_high(*high);
        }
        vectors = low;
    }
    #[expect(clippy::indexing_slicing, reason = "never empty")]
    vectors[0]
}
