//! Embedders that the configured one replaced: they embed queries while their vectors still answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tome_finder::{Embedder, VectorIndex};

use super::Indexer;
use super::deep_embedder::DeepIndexEmbedder;
use super::index_set::IndexPair;
use super::vector_slot::AnsweringIndex;

/// The embedders asked for so far, by name; `None` if there is none of this name any more.
#[derive(Default)]
pub(crate) struct EarlierEmbedders(Mutex<HashMap<String, Option<Arc<dyn Embedder>>>>);

impl EarlierEmbedders {
    /// The embedder of this name, if it can embed the query, or the reason why not. A remote one keeps the
    /// vector, so that the query is sent once.
    fn find(
        &self,
        configured: &Arc<dyn Embedder>,
        name: &str,
        query: &str,
    ) -> Result<Arc<dyn Embedder>, String> {
        if configured.name() == name {
            return Ok(Arc::clone(configured));
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = known
            .entry(name.to_owned())
            .or_insert_with(|| configured.earlier_embedder(name))
            .clone()
            .ok_or_else(|| format!("{name}, which computed them, is not available any more"))?;
        drop(known);
        if earlier.is_remote() {
            earlier.embed_query(query, &|_| 1.0).map_err(|error| error.to_string())?;
        }
        Ok(earlier)
    }
}

impl Indexer {
    /// Opens the vector index of a pair that answers a query.
    pub(crate) fn open_answering_vectors(&self, pair: &IndexPair, query: &str) -> AnsweringIndex {
        pair.vectors
            .open_answering(&self.embedder, &|name| self.earlier.find(&self.embedder, name, query))
    }

    /// Opens the index of deep vectors of a pair that answers a query. If the configured embedder has no
    /// deep vectors, those beside the `answering` index of an earlier embedder answer with it.
    pub(crate) fn open_answering_deep(
        &self,
        pair: &IndexPair,
        answering: Option<&VectorIndex>,
        query: &str,
    ) -> Option<Arc<VectorIndex>> {
        let Some(deep) = &self.deep else {
            let deep = answering?.deep_embedder()?;
            let deep = DeepIndexEmbedder::new(deep, Arc::clone(&self.queries));
            return pair.open_existing_deep(&Arc::new(deep));
        };
        let deep: Arc<dyn Embedder> = deep.clone();
        pair.deep.open_answering(&deep, &|name| self.earlier.find(&deep, name, query)).index
    }
}
