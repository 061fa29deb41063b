//! The built-in embedders: two speeds of one model, trained for Tome (`model/README.md`). Nothing is
//! downloaded or sent anywhere; the weights are used where they are in the program.

use std::sync::Arc;

use tome_text::is_unspaced;

use super::transformer::Scratch;
use super::two_speed::{MODEL, TwoSpeedModel};
use super::{EmbedError, Embedder};

/// Names of the embedders. Another file of weights needs other names, so that indexes are rebuilt.
const STATIC_NAME: &str = "tome-static/1";
const DEEP_NAME: &str = "tome-deep/1";

/// The vocabulary has single characters of scripts without spaces, not words: texts about different
/// things look alike.
const UNSPACED_WEIGHT: f32 = 0.1;

/// The fast embedder: a weighted sum of token vectors, about 20 µs per text.
#[derive(Debug, Clone, Copy, Default)]
pub struct StaticEmbedder;

/// The deep embedder: a transformer of a few layers, milliseconds per text.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeepEmbedder;

fn model(name: &str) -> Result<&'static TwoSpeedModel<'static>, EmbedError> {
    MODEL.as_ref().map_err(|problem| EmbedError {
        embedder: name.to_owned(),
        problem: format!("the built-in model {problem}"),
    })
}

fn dimensions() -> usize {
    MODEL.as_ref().map_or(0, |model| model.dimensions)
}

fn script_weight(text: &str) -> f32 {
    let letters = || text.chars().filter(|letter| letter.is_alphanumeric());
    let unspaced = letters().filter(|letter| is_unspaced(*letter)).count();
    if 2 * unspaced > letters().count() { UNSPACED_WEIGHT } else { 1.0 }
}

impl Embedder for StaticEmbedder {
    fn name(&self) -> &str {
        STATIC_NAME
    }

    fn dimensions(&self) -> usize {
        dimensions()
    }

    fn unrelated_similarity(&self) -> f32 {
        MODEL.as_ref().map_or(0.0, |model| model.static_unrelated)
    }

    fn deep_embedder(&self) -> Option<Arc<dyn Embedder>> {
        Some(Arc::new(DeepEmbedder))
    }

    fn script_weight(&self, text: &str) -> f32 {
        script_weight(text)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let model = model(STATIC_NAME)?;
        Ok(texts.iter().map(|text| model.static_vector(text, |_| 1.0)).collect())
    }

    fn token_ids(&self, text: &str) -> Vec<u32> {
        let mut tokens = MODEL.as_ref().map(|model| model.tokens(text)).unwrap_or_default();
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }

    fn embed_query(&self, text: &str, weight: &dyn Fn(u32) -> f32) -> Result<Vec<f32>, EmbedError> {
        Ok(model(STATIC_NAME)?.static_vector(text, weight))
    }
}

impl Embedder for DeepEmbedder {
    fn name(&self) -> &str {
        DEEP_NAME
    }

    fn dimensions(&self) -> usize {
        dimensions()
    }

    fn unrelated_similarity(&self) -> f32 {
        MODEL.as_ref().map_or(0.0, |model| model.deep_unrelated)
    }

    fn script_weight(&self, text: &str) -> f32 {
        script_weight(text)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let model = model(DEEP_NAME)?;
        let mut scratch = Scratch::default();
        Ok(texts.iter().map(|text| model.deep_vector(text, &mut scratch)).collect())
    }
}
