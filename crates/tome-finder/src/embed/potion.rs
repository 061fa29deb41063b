//! The embedder that ships with Tome: potion-base-8M, a static model. Every token has a vector of its
//! own; that of a text is the mean of them, scaled to length 1. A number more than three times as large as is
//! usual is cut to that: the few that are say what all texts have in common, and without their excess texts
//! are told apart a little better. Nothing is loaded, nothing is sent.
//!
//! Tokens are those of the model's own tokenizer, but for texts that hold its marks literally:
//! `[MASK]` is a bracket, a word and a bracket here. What is in no vocabulary counts for nothing.

use super::model::MODEL;
use super::pieces::tokens;
use super::{EmbedError, Embedder};

/// Numbers are cut at so many times the root of their mean square.
const CUT: f32 = 3.0;

/// The embedder that ships with Tome.
#[derive(Debug, Clone, Copy, Default)]
pub struct Potion;

impl Embedder for Potion {
    fn name(&self) -> &str {
        "potion-base-8m-int8-256/1"
    }

    fn dimensions(&self) -> usize {
        MODEL.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| mean(text, |_| 1.0)).collect())
    }

    fn tokens(&self, text: &str) -> Vec<u32> {
        let mut tokens = tokens(&MODEL, text);
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }

    fn embed_question(
        &self,
        text: &str,
        weight: &dyn Fn(u32) -> f32,
    ) -> Result<Vec<f32>, EmbedError> {
        Ok(mean(text, weight))
    }
}

/// The direction of the weighed rows' sum. The order of the additions is always the same, so the
/// numbers are the same on every machine.
fn mean(text: &str, weight: impl Fn(u32) -> f32) -> Vec<f32> {
    let mut sum = vec![0.0_f32; MODEL.dimensions()];
    for token in tokens(&MODEL, text) {
        let Some((scale, row)) = MODEL.row(token) else { continue };
        let scale = scale * weight(token);
        for (number, step) in sum.iter_mut().zip(row) {
            *number += scale * f32::from(step.cast_signed());
        }
    }
    scale_to_one(&mut sum);
    let most = CUT / (sum.len() as f32).sqrt();
    sum.iter_mut().for_each(|number| *number = number.clamp(-most, most));
    scale_to_one(&mut sum);
    sum
}

/// A vector of zeros stays one.
fn scale_to_one(vector: &mut [f32]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number /= length);
    }
}
