//! Embedders: what makes a vector of a text.

mod characters;
mod model;
mod pieces;
mod potion;
mod ranges;

pub use potion::Potion;

/// Makes vectors of texts. The same text always gives the same vector.
pub trait Embedder: Send + Sync {
    /// Which one, and in which version: vectors of two names do not go together.
    fn name(&self) -> &str;

    /// How many numbers a vector has.
    fn dimensions(&self) -> usize;

    /// Whether it is asked over a network: it may be slow, or away. Its index is kept apart from the
    /// others then, a few texts at a time, and questions do without it when it does not answer.
    fn is_far(&self) -> bool {
        false
    }

    /// The cosine of texts that have nothing to do with each other, as far as it is known. That of some
    /// models is far above 0; how near something is counts from there.
    fn unrelated(&self) -> f32 {
        0.0
    }

    /// One vector a text, of length 1, or of zeros where it has nothing to say of a text.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// The tokens that a text is made of, by their numbers, each once and in order. An index counts
    /// them to know which are common in it. None, if the embedder does not weigh a question.
    fn tokens(&self, _text: &str) -> Vec<u32> {
        Vec::new()
    }

    /// The vector of a question, in which a token counts for as much as `weight` says. An embedder
    /// that knows a sentence as a whole has no use for weights.
    fn embed_question(
        &self,
        text: &str,
        _weight: &dyn Fn(u32) -> f32,
    ) -> Result<Vec<f32>, EmbedError> {
        let [vector] = <[_; 1]>::try_from(self.embed(&[text])?).map_err(|vectors| EmbedError {
            embedder: self.name().to_owned(),
            problem: format!("gave {} vectors for one text", vectors.len()),
        })?;
        Ok(vector)
    }
}

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
#[error("{embedder}: {problem}")]
pub struct EmbedError {
    /// Which embedder.
    pub embedder: String,
    /// What is wrong.
    pub problem: String,
}

#[cfg(test)]
mod tests;
