//! The model of both built-in embedders: one vocabulary and one token table. The static embedder
//! adds up the rows of a text's tokens, in microseconds; the deep one runs a small transformer over
//! them, in milliseconds. Their vectors cannot be compared with each other.

use std::sync::LazyLock;

use fearless_simd::Level;

use super::int8_matrix::{Int8Matrix, RoundedRows};
use super::tensor_file::TensorFile;
use super::token_table::TokenTable;
use super::transformer::{Scratch, Transformer, TransformerShape, project};
use super::vocabulary::Vocabulary;
use super::wordpiece::wordpiece_tokens;

/// Tokens that no text contains: padding, unknown, beginning, end, mask.
const SPECIAL_TOKENS: usize = 5;
const BEGIN: u32 = 2;
const END: u32 = 3;
/// Sanity limit for the sizes that a file states.
const SIZE_MAX: usize = 1 << 16;

/// The model in the program.
pub(super) static MODEL: LazyLock<Result<TwoSpeedModel<'static>, String>> =
    LazyLock::new(|| TwoSpeedModel::parse(include_bytes!("../../model/tome-embed.safetensors")));

/// Both speeds of a model.
#[derive(Debug)]
pub(super) struct TwoSpeedModel<'a> {
    level: Level,
    vocabulary: Vocabulary<'a>,
    table: TokenTable<'a>,
    token_weights: Vec<f32>,
    static_projection: Int8Matrix<'a>,
    transformer: Transformer<'a>,
    tokens_max: usize,
    /// Length of the vectors.
    pub(super) dimensions: usize,
    /// Typical similarity of unrelated texts.
    pub(super) static_unrelated: f32,
    pub(super) deep_unrelated: f32,
}

impl<'a> TwoSpeedModel<'a> {
    /// Reads a model and checks every shape. The error describes the problem.
    pub(super) fn parse(file: &'a [u8]) -> Result<Self, String> {
        let file = TensorFile::parse(file)?;
        if file.text("format")? != "tome-embed" || file.text("version")? != "1" {
            return Err("is of another format".to_owned());
        }
        let size = |key: &str| match file.number(key)? {
            size if (1..=SIZE_MAX).contains(&size) => Ok(size),
            size => Err(format!("{key} is {size}")),
        };
        let shape = TransformerShape {
            layers: size("layers")?,
            width: size("width")?,
            intermediate: size("intermediate")?,
            table_width: size("table_width")?,
            dimensions: size("dims")?,
            tokens_max: size("max_tokens")?,
        };
        let vocabulary = Vocabulary::parse(file.byte_string("vocabulary")?, SPECIAL_TOKENS)?;
        let tokens = vocabulary.len();
        if tokens <= SPECIAL_TOKENS || shape.tokens_max < 3 {
            return Err("is too small".to_owned());
        }
        Ok(Self {
            level: Level::new(),
            table: TokenTable::read(&file, tokens, shape.table_width)?,
            token_weights: file.floats("token_weight", tokens)?,
            static_projection: Int8Matrix::read(
                &file,
                "static.projection",
                shape.dimensions,
                shape.table_width,
                None,
            )?,
            transformer: Transformer::read(&file, shape)?,
            tokens_max: shape.tokens_max,
            dimensions: shape.dimensions,
            static_unrelated: file.number("unrelated_similarity_static")?,
            deep_unrelated: file.number("unrelated_similarity_deep")?,
            vocabulary,
        })
    }

    #[cfg(test)]
    pub(super) fn set_level(&mut self, level: Level) {
        self.level = level;
    }

    /// Token ids of a text in order, with duplicates.
    pub(super) fn tokens(&self, text: &str) -> Vec<u32> {
        wordpiece_tokens(&self.vocabulary, text)
    }

    /// The static vector of a text, with a weight per token; zero if it has no known token.
    pub(super) fn static_vector(&self, text: &str, weight: impl Fn(u32) -> f32) -> Vec<f32> {
        let mut sum = vec![0.0; self.table.width()];
        for token in self.tokens(text) {
            let token_weight = self.token_weights.get(token as usize).copied().unwrap_or_default();
            let Some((scale, row)) = self.table.row(token) else { continue };
            let factor = scale * token_weight * weight(token);
            for (sum, value) in sum.iter_mut().zip(row) {
                *sum += factor * f32::from(value.cast_signed());
            }
        }
        if sum.iter().all(|value| *value == 0.0) {
            return vec![0.0; self.dimensions];
        }
        let (mut rounded, mut panel) = (RoundedRows::default(), Vec::new());
        project(self.level, &self.static_projection, &sum, &mut rounded, &mut panel)
    }

    /// The deep vector of a text; zero if it has no known token. Only the beginning of a text with
    /// too many tokens counts.
    pub(super) fn deep_vector(&self, text: &str, scratch: &mut Scratch) -> Vec<f32> {
        let mut tokens = self.tokens(text);
        if tokens.is_empty() {
            return vec![0.0; self.dimensions];
        }
        tokens.truncate(self.tokens_max - 2);
        tokens.insert(0, BEGIN);
        tokens.push(END);
        self.transformer.encode(self.level, &self.table, &tokens, scratch)
    }
}
