//! The built-in embedder: potion-base-8M, a static model. A text's vector is the mean of its
//! tokens' vectors, scaled to length 1. Outliers are clipped at three times the root mean square:
//! they encode what all texts have in common, and clipping them separates texts slightly better.
//! Nothing is loaded at startup or sent anywhere.
//!
//! Tokenization matches the model's own tokenizer, except that special tokens in the text are plain
//! text: `[MASK]` is a bracket, a word and a bracket. Unknown words are ignored.

use tome_text::is_unspaced;

use super::model::MODEL;
use super::wordpiece::wordpiece_tokens;
use super::{EmbedError, Embedder};

/// Values are clipped at this multiple of their root mean square.
const CLIP_RMS: f32 = 3.0;

/// The vocabulary has single characters of scripts without spaces, not words: texts about different
/// things look alike.
const UNSPACED_WEIGHT: f32 = 0.2;

/// The built-in embedder.
#[derive(Debug, Clone, Copy, Default)]
pub struct PotionEmbedder;

impl Embedder for PotionEmbedder {
    fn name(&self) -> &str {
        "potion-base-8m-int8-256/1"
    }

    fn dimensions(&self) -> usize {
        MODEL.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| weighted_mean_vector(text, |_| 1.0)).collect())
    }

    fn script_weight(&self, text: &str) -> f32 {
        let letters = || text.chars().filter(|letter| letter.is_alphanumeric());
        let unspaced = letters().filter(|letter| is_unspaced(*letter)).count();
        if 2 * unspaced > letters().count() { UNSPACED_WEIGHT } else { 1.0 }
    }

    fn token_ids(&self, text: &str) -> Vec<u32> {
        let mut tokens = wordpiece_tokens(&MODEL, text);
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }

    fn embed_query(&self, text: &str, weight: &dyn Fn(u32) -> f32) -> Result<Vec<f32>, EmbedError> {
        Ok(weighted_mean_vector(text, weight))
    }
}

/// Normalized weighted sum of the token vectors. Adds in a fixed order, so results are identical on
/// every machine.
fn weighted_mean_vector(text: &str, weight: impl Fn(u32) -> f32) -> Vec<f32> {
    let mut sum = vec![0.0_f32; MODEL.dimensions()];
    for token in wordpiece_tokens(&MODEL, text) {
        let Some((scale, row)) = MODEL.row(token) else { continue };
        let scale = scale * weight(token);
        for (number, step) in sum.iter_mut().zip(row) {
            *number += scale * f32::from(step.cast_signed());
        }
    }
    normalize_vector(&mut sum);
    let most = CLIP_RMS / (sum.len() as f32).sqrt();
    sum.iter_mut().for_each(|number| *number = number.clamp(-most, most));
    normalize_vector(&mut sum);
    sum
}

/// Leaves a zero vector unchanged.
fn normalize_vector(vector: &mut [f32]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number /= length);
    }
}
