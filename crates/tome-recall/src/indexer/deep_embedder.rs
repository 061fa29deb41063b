//! The deep embedder as the indexes use it: indexing waits while a query is answered, and the vector
//! of a query is computed once for all indexes.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tome_finder::{EmbedError, Embedder};
use tome_model::truncate_to;

/// Only the beginning of a longer query is embedded, so that it takes at most about 15 ms.
const QUERY_BYTES_MAX: usize = 600;
/// Longest wait for queries, so that indexing goes on where they never end.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// Counts the queries being answered.
#[derive(Debug, Default)]
pub(crate) struct ActiveQueries {
    count: Mutex<usize>,
    ended: Condvar,
}

impl ActiveQueries {
    fn lock_count(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a query until the returned value is dropped.
    pub(crate) fn begin(&self) -> ActiveQuery<'_> {
        *self.lock_count() += 1;
        ActiveQuery(self)
    }

    /// Waits until no query is being answered, but not for long.
    fn wait_until_none(&self) {
        let _ = self.ended.wait_timeout_while(self.lock_count(), WAIT_MAX, |count| *count > 0);
    }
}

/// A query being answered.
pub(crate) struct ActiveQuery<'a>(&'a ActiveQueries);

impl Drop for ActiveQuery<'_> {
    fn drop(&mut self) {
        let mut count = self.0.lock_count();
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.0.ended.notify_all();
        }
    }
}

/// An embedder whose indexing gives way to queries.
pub(crate) struct DeepIndexEmbedder {
    inner: Arc<dyn Embedder>,
    queries: Arc<ActiveQueries>,
    /// The last query with its vector.
    last_query: Mutex<Option<(String, Vec<f32>)>>,
    /// Texts of the next batch with their vectors.
    prepared: Mutex<HashMap<String, Vec<f32>>>,
}

impl DeepIndexEmbedder {
    pub(crate) fn new(inner: Arc<dyn Embedder>, queries: Arc<ActiveQueries>) -> Self {
        Self { inner, queries, last_query: Mutex::default(), prepared: Mutex::default() }
    }

    /// Computes the vectors of texts that are indexed next, in place of those computed before.
    pub(crate) fn prepare(&self, texts: Vec<String>) -> Result<(), EmbedError> {
        self.lock_prepared().clear();
        for text in texts {
            let vector = self.compute(&text)?;
            self.lock_prepared().insert(text, vector);
        }
        Ok(())
    }

    fn compute(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        self.queries.wait_until_none();
        let vectors = self.inner.embed(&[text])?;
        vectors.into_iter().next().ok_or_else(|| EmbedError {
            embedder: self.inner.name().to_owned(),
            problem: "returned no vector".to_owned(),
        })
    }

    fn lock_prepared(&self) -> MutexGuard<'_, HashMap<String, Vec<f32>>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Embedder for DeepIndexEmbedder {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dimensions(&self) -> usize {
        self.inner.dimensions()
    }

    fn unrelated_similarity(&self) -> f32 {
        self.inner.unrelated_similarity()
    }

    fn earlier_embedder(&self, name: &str) -> Option<Arc<dyn Embedder>> {
        let earlier = Self::new(self.inner.earlier_embedder(name)?, Arc::clone(&self.queries));
        Some(Arc::new(earlier))
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector_of = |text: &&str| {
            let prepared = self.lock_prepared().get(*text).cloned();
            prepared.map_or_else(|| self.compute(text), Ok)
        };
        texts.iter().map(vector_of).collect()
    }

    fn embed_query(&self, text: &str, weight: &dyn Fn(u32) -> f32) -> Result<Vec<f32>, EmbedError> {
        let text = truncate_to(text, QUERY_BYTES_MAX);
        // Held while the vector is computed: another index of the same query waits for it.
        let mut last = self.last_query.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, vector)) = last.as_ref().filter(|(query, _)| query == text) {
            return Ok(vector.clone());
        }
        let vector = self.inner.embed_query(text, weight)?;
        *last = Some((text.to_owned(), vector.clone()));
        Ok(vector)
    }
}
