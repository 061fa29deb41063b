//! Embedders turn text into vectors.

mod builtin;
mod char_ranges;
mod int8_matrix;
mod numeric;
mod pretokenize;
mod tensor_file;
mod token_table;
mod transformer;
mod two_speed;
mod vocabulary;
mod wordpiece;

use std::sync::Arc;

pub use builtin::{DeepEmbedder, StaticEmbedder};

/// Turns text into vectors, deterministically.
pub trait Embedder: Send + Sync {
    /// Model and version. Vectors from differently named embedders cannot be compared.
    fn name(&self) -> &str;

    /// The number of components of its vectors.
    fn dimensions(&self) -> usize;

    /// Whether it runs behind a network endpoint, which may be slow or unreachable. Its index is
    /// then filled separately, in small batches, and queries fall back to the other tiers when it
    /// does not respond.
    fn is_remote(&self) -> bool {
        false
    }

    /// Typical cosine similarity of unrelated texts. Some models put it far above 0; similarity
    /// scores are rescaled so that it becomes 0.
    fn unrelated_similarity(&self) -> f32 {
        0.0
    }

    /// A slower and better embedder, whose vectors are computed in the background and used where they
    /// exist.
    fn deep_embedder(&self) -> Option<Arc<dyn Embedder>> {
        None
    }

    /// Another embedder, to compare queries with vectors that it computed before this one replaced it;
    /// `None` if there is none of this name any more.
    fn earlier_embedder(&self, _name: &str) -> Option<Arc<dyn Embedder>> {
        None
    }

    /// Weight of its similarity to a text: 1, or less for a script whose words it does not
    /// know.
    fn script_weight(&self, _text: &str) -> f32 {
        1.0
    }

    /// Returns one unit vector per text, or a zero vector if the text has no known token.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Token ids of a text, sorted and unique. The index counts them to find out which are common.
    /// Empty if the embedder does not weight query tokens.
    fn token_ids(&self, _text: &str) -> Vec<u32> {
        Vec::new()
    }

    /// Embeds a query with a weight per token. Embedders that encode the sentence as a whole ignore
    /// the weights.
    fn embed_query(
        &self,
        text: &str,
        _weight: &dyn Fn(u32) -> f32,
    ) -> Result<Vec<f32>, EmbedError> {
        let [vector] = <[_; 1]>::try_from(self.embed(&[text])?).map_err(|vectors| EmbedError {
            embedder: self.name().to_owned(),
            problem: format!("returned {} vectors for one text", vectors.len()),
        })?;
        Ok(vector)
    }
}

/// An embedder failed, or returned unusable vectors.
#[derive(Debug, thiserror::Error)]
#[error("{embedder}: {problem}")]
pub struct EmbedError {
    /// Name of the embedder.
    pub embedder: String,
    /// Description.
    pub problem: String,
}

#[cfg(test)]
mod tests;
