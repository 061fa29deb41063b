//! The deep encoder: a small BERT. Every token sees the whole text, so the vector depends on what
//! words mean together; the mean over all tokens is projected and scaled to length 1.

use fearless_simd::{Level, Simd, SimdBase, dispatch};

use super::int8_matrix::{Int8Matrix, RoundedRows};
use super::numeric::{add_and_normalize, gelu, normalize, softmax};
use super::tensor_file::TensorFile;
use super::token_table::TokenTable;

/// Width of an attention head.
pub(super) const HEAD_WIDTH: usize = 32;
/// Keys are compared in groups, enough to keep every vector unit busy.
const KEYS: usize = 64;

/// The weights of the encoder.
#[derive(Debug)]
pub(super) struct Transformer<'a> {
    width: usize,
    positions: Int8Matrix<'a>,
    lift: Int8Matrix<'a>,
    norm: Norm,
    layers: Vec<Layer<'a>>,
    projection: Int8Matrix<'a>,
}

#[derive(Debug)]
struct Layer<'a> {
    query: Int8Matrix<'a>,
    key: Int8Matrix<'a>,
    value: Int8Matrix<'a>,
    output: Int8Matrix<'a>,
    attention_norm: Norm,
    up: Int8Matrix<'a>,
    down: Int8Matrix<'a>,
    output_norm: Norm,
}

#[derive(Debug)]
struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Norm {
    fn read(file: &TensorFile<'_>, name: &str, width: usize) -> Result<Self, String> {
        let read = |part: &str| file.floats(&format!("{name}.{part}"), width);
        Ok(Self { weight: read("weight")?, bias: read("bias")? })
    }

    /// Adds `others` to `rows` and normalizes each row.
    fn apply(&self, level: Level, rows: &mut [f32], others: &[f32]) {
        #[inline(always)]
        fn apply_with<S: Simd>(_simd: S, norm: &Norm, rows: &mut [f32], others: &[f32]) {
            let width = norm.weight.len();
            for (row, other) in rows.chunks_exact_mut(width).zip(others.chunks_exact(width)) {
                add_and_normalize(row, other, &norm.weight, &norm.bias);
            }
        }
        dispatch!(level, simd => apply_with(simd, self, rows, others));
    }
}

/// Sizes of the encoder.
#[derive(Debug, Clone, Copy)]
pub(super) struct TransformerShape {
    pub(super) layers: usize,
    pub(super) width: usize,
    pub(super) intermediate: usize,
    pub(super) table_width: usize,
    pub(super) dimensions: usize,
    pub(super) tokens_max: usize,
}

/// Buffers that are reused from text to text.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    rounded: RoundedRows,
    panel: Vec<i16>,
    hidden: Vec<f32>,
    query: Vec<f32>,
    key: Vec<f32>,
    value: Vec<f32>,
    mixed: Vec<f32>,
    inner: Vec<f32>,
    head: HeadScratch,
}

#[derive(Debug, Default)]
struct HeadScratch {
    /// Keys of one head, transposed within groups.
    keys: Vec<f32>,
    values: Vec<f32>,
    scores: Vec<f32>,
}

impl<'a> Transformer<'a> {
    pub(super) fn read(file: &TensorFile<'a>, shape: TransformerShape) -> Result<Self, String> {
        let TransformerShape { width, intermediate, table_width, dimensions, tokens_max, .. } =
            shape;
        if width == 0 || !width.is_multiple_of(HEAD_WIDTH) {
            return Err(format!("has an unsupported width {width}"));
        }
        let layer = |number: usize| {
            let linear = |name: &str, rows: usize, columns: usize| {
                let name = format!("layer.{number}.{name}");
                let bias = format!("{name}.bias");
                Int8Matrix::read(file, &format!("{name}.weight"), rows, columns, Some(&bias))
            };
            let norm = |name: &str| Norm::read(file, &format!("layer.{number}.{name}"), width);
            Ok::<_, String>(Layer {
                query: linear("query", width, width)?,
                key: linear("key", width, width)?,
                value: linear("value", width, width)?,
                output: linear("output", width, width)?,
                attention_norm: norm("attention_norm")?,
                up: linear("up", intermediate, width)?,
                down: linear("down", width, intermediate)?,
                output_norm: norm("output_norm")?,
            })
        };
        Ok(Self {
            width,
            positions: Int8Matrix::read(file, "position", tokens_max, width, None)?,
            lift: Int8Matrix::read(file, "embed.projection", width, table_width, None)?,
            norm: Norm::read(file, "embed.norm", width)?,
            layers: (0..shape.layers).map(layer).collect::<Result<_, _>>()?,
            projection: Int8Matrix::read(file, "projection", dimensions, width, None)?,
        })
    }

    /// Encodes tokens, including those that mark beginning and end. The vector has length 1.
    pub(super) fn encode(
        &self,
        level: Level,
        table: &TokenTable<'_>,
        tokens: &[u32],
        scratch: &mut Scratch,
    ) -> Vec<f32> {
        let Scratch { rounded, panel, hidden, query, key, value, mixed, inner, head } = scratch;
        let rows = tokens.iter().filter_map(|token| table.row(*token));
        rounded.set_int8(level, rows, table.width());
        self.lift.multiply(level, rounded, panel, hidden);
        mixed.clear();
        mixed.extend((0..tokens.len()).flat_map(|position| self.positions.row(position)));
        self.norm.apply(level, hidden, mixed);
        for layer in &self.layers {
            rounded.round(level, hidden, self.width);
            layer.query.multiply(level, rounded, panel, query);
            layer.key.multiply(level, rounded, panel, key);
            layer.value.multiply(level, rounded, panel, value);
            let attention = Attention { width: self.width, query, key, value };
            dispatch!(level, simd => attend(simd, &attention, head, mixed));
            rounded.round(level, mixed, self.width);
            layer.output.multiply(level, rounded, panel, mixed);
            layer.attention_norm.apply(level, hidden, mixed);
            rounded.round(level, hidden, self.width);
            layer.up.multiply(level, rounded, panel, inner);
            dispatch!(level, simd => gelu_with(simd, inner));
            rounded.round(level, inner, layer.down_columns());
            layer.down.multiply(level, rounded, panel, mixed);
            layer.output_norm.apply(level, hidden, mixed);
        }
        let mut mean = vec![0.0; self.width];
        for row in hidden.chunks_exact(self.width) {
            for (sum, value) in mean.iter_mut().zip(row) {
                *sum += value;
            }
        }
        project(level, &self.projection, &mean, rounded, panel)
    }
}

impl Layer<'_> {
    fn down_columns(&self) -> usize {
        self.up.row_count()
    }
}

/// Multiplies one vector with a matrix, and scales the result to length 1.
pub(super) fn project(
    level: Level,
    matrix: &Int8Matrix<'_>,
    vector: &[f32],
    rounded: &mut RoundedRows,
    panel: &mut Vec<i16>,
) -> Vec<f32> {
    let mut out = Vec::new();
    rounded.round(level, vector, vector.len());
    matrix.multiply(level, rounded, panel, &mut out);
    normalize(&mut out);
    out
}

#[inline(always)]
fn gelu_with<S: Simd>(_simd: S, values: &mut [f32]) {
    gelu(values);
}

/// The inputs of a layer's attention: a row per token, a head after the other within a row.
struct Attention<'a> {
    width: usize,
    query: &'a [f32],
    key: &'a [f32],
    value: &'a [f32],
}

/// Mixes the values of all tokens into each token, by the similarity of its query to their keys.
#[inline(always)]
fn attend<S: Simd>(
    simd: S,
    attention: &Attention<'_>,
    scratch: &mut HeadScratch,
    mixed: &mut Vec<f32>,
) {
    mixed.resize(attention.query.len(), 0.0);
    match S::f32s::LEN {
        16 => attend_heads::<S, 4>(simd, attention, scratch, mixed),
        8 => attend_heads::<S, 8>(simd, attention, scratch, mixed),
        _ => attend_heads::<S, 16>(simd, attention, scratch, mixed),
    }
}

/// `WIDE` vectors hold as many numbers as two heads are wide.
#[inline(always)]
fn attend_heads<S: Simd, const WIDE: usize>(
    simd: S,
    attention: &Attention<'_>,
    scratch: &mut HeadScratch,
    mixed: &mut [f32],
) {
    let Attention { width, query, key, value } = *attention;
    let tokens = query.len() / width;
    for head in 0..width / HEAD_WIDTH {
        let from = head * HEAD_WIDTH;
        scratch.load(from, tokens, width, key, value);
        for (mixed, query) in mixed.chunks_exact_mut(width).zip(query.chunks_exact(width)) {
            let query = query.get(from..from + HEAD_WIDTH).unwrap_or_default();
            score_keys::<S>(simd, query, &scratch.keys, &mut scratch.scores);
            softmax(&mut scratch.scores, tokens);
            let mixed = mixed.get_mut(from..from + HEAD_WIDTH).unwrap_or_default();
            mix_values::<S, WIDE>(simd, &scratch.scores, &scratch.values, mixed);
        }
    }
}

/// Compares a query with all keys, several vectors of keys at a time: sums that do not wait for
/// each other.
#[inline(always)]
fn score_keys<S: Simd>(simd: S, query: &[f32], keys: &[f32], scores: &mut [f32]) {
    const VECTORS: usize = 4;
    let lanes = S::f32s::LEN;
    let factor = 1.0 / (HEAD_WIDTH as f32).sqrt();
    let groups = keys.chunks_exact(HEAD_WIDTH * KEYS).zip(scores.chunks_exact_mut(KEYS));
    for (keys, scores) in groups {
        for (part, scores) in scores.chunks_exact_mut(VECTORS * lanes).enumerate() {
            let mut sums = [S::f32s::splat(simd, 0.0); VECTORS];
            for (keys, query) in keys.chunks_exact(KEYS).zip(query) {
                let from = part * VECTORS * lanes;
                let keys = keys.get(from..from + VECTORS * lanes).unwrap_or_default();
                let query = S::f32s::splat(simd, *query);
                for (sum, keys) in sums.iter_mut().zip(keys.chunks_exact(lanes)) {
                    *sum += query * S::f32s::from_slice(simd, keys);
                }
            }
            for (scores, sum) in scores.chunks_exact_mut(lanes).zip(sums) {
                (sum * factor).store_slice(scores);
            }
        }
    }
}

/// Adds up values by their shares, two tokens at a time: sums that do not wait for each other.
#[inline(always)]
fn mix_values<S: Simd, const WIDE: usize>(
    simd: S,
    shares: &[f32],
    values: &[f32],
    mixed: &mut [f32],
) {
    let lanes = S::f32s::LEN;
    let mut sums = [S::f32s::splat(simd, 0.0); WIDE];
    let pairs = shares.as_chunks::<2>().0.iter().zip(values.chunks_exact(2 * HEAD_WIDTH));
    for ([one, other], values) in pairs {
        let (one, other) = (S::f32s::splat(simd, *one), S::f32s::splat(simd, *other));
        for (n, (sum, values)) in sums.iter_mut().zip(values.chunks_exact(lanes)).enumerate() {
            let share = if 2 * n < WIDE { one } else { other };
            *sum += share * S::f32s::from_slice(simd, values);
        }
    }
    let (one, other) = sums.split_at(WIDE / 2);
    for ((mixed, one), other) in mixed.chunks_exact_mut(lanes).zip(one).zip(other) {
        (*one + *other).store_slice(mixed);
    }
}

impl HeadScratch {
    /// Copies keys and values of a head; tokens beyond the last are zero.
    #[inline(always)]
    fn load(&mut self, from: usize, tokens: usize, width: usize, key: &[f32], value: &[f32]) {
        let padded = tokens.next_multiple_of(KEYS);
        self.scores.resize(padded, 0.0);
        self.keys.clear();
        self.keys.resize(padded * HEAD_WIDTH, 0.0);
        let groups = self.keys.chunks_exact_mut(HEAD_WIDTH * KEYS);
        for (group, rows) in groups.zip(key.chunks(KEYS * width)) {
            for (token, row) in rows.chunks_exact(width).enumerate() {
                let row = row.get(from..from + HEAD_WIDTH).unwrap_or_default();
                for (keys, value) in group.as_chunks_mut::<KEYS>().0.iter_mut().zip(row) {
                    if let Some(key) = keys.get_mut(token) {
                        *key = *value;
                    }
                }
            }
        }
        self.values.clear();
        for row in value.chunks_exact(width) {
            self.values.extend_from_slice(row.get(from..from + HEAD_WIDTH).unwrap_or_default());
        }
        self.values.resize(padded * HEAD_WIDTH, 0.0);
    }
}
