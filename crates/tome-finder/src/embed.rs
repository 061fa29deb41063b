//! Embedders: what makes a vector of a text.

/// Makes vectors of texts. The same text always gives the same vector.
pub trait Embedder: Send + Sync {
    /// Which one, and in which version: vectors of two names do not go together.
    fn name(&self) -> &str;
    /// How many numbers a vector has.
    fn dimensions(&self) -> usize;
    /// One vector a text, of length 1, or of zeros where it has nothing to say of a text.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
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

/// The embedder that ships with Tome.
pub struct Potion {}
