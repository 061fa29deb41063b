//! Queries to pairs of indexes and their results.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tome_finder::{
    Bm25Index, Bm25Query, EntryFilter, FinderError, IndexHit, QueryVector, VectorIndex,
};

use super::effort::IndexDepths;
use super::parallel;
use super::searched_index_set::SharedQuery;

/// A query to a pair of indexes.
pub(super) struct IndexQuery {
    pub bm25: Option<Arc<Bm25Index>>,
    pub vectors: Option<Arc<VectorIndex>>,
    pub deep: Option<Arc<VectorIndex>>,
    pub filter: EntryFilter,
    pub depths: IndexDepths,
}

/// Result of an index, and how long it took.
pub(super) type IndexReply<T> = (Result<T, FinderError>, Duration);

/// Results of a pair of indexes; the vectors' with the embedded query.
pub(super) struct PairReplies {
    pub bm25: Option<IndexReply<Vec<IndexHit>>>,
    pub vectors: Option<IndexReply<(Vec<IndexHit>, QueryVector)>>,
    pub deep: Option<IndexReply<(Vec<IndexHit>, QueryVector)>>,
}

/// The indexes of a pair.
#[derive(Clone, Copy, PartialEq)]
enum PairIndex {
    Deep,
    Vectors,
    Bm25,
}

/// Searches several pairs of indexes: vectors with `text`, BM25 with the selected `words`. In
/// parallel, unless many index sets are searched in parallel already.
pub(super) fn search_pairs<const N: usize>(
    text: &str,
    words: &str,
    shared: &SharedQuery,
    is_parallel: bool,
    pairs: [Option<&IndexQuery>; N],
) -> [PairReplies; N] {
    let queries_of = |index: PairIndex| {
        let pairs = pairs.iter().enumerate();
        pairs.filter_map(move |(n, index_query)| Some((n, (*index_query)?, index)))
    };
    // Start with the slowest.
    let all = queries_of(PairIndex::Deep)
        .chain(queries_of(PairIndex::Vectors))
        .chain(queries_of(PairIndex::Bm25));
    let all = all.filter(|(_, index_query, index)| index_query.has_index(*index)).collect();
    let mut replies = [const { PairReplies { bm25: None, vectors: None, deep: None } }; N];
    let per_thread = if is_parallel { 1 } else { usize::MAX };
    for (n, reply) in parallel::map(all, per_thread, |(n, of, index)| {
        let text = if index == PairIndex::Bm25 { words } else { text };
        (n, of.search_index(text, shared, index))
    }) {
        if let Some(replies) = replies.get_mut(n) {
            replies.bm25 = replies.bm25.take().or(reply.bm25);
            replies.vectors = replies.vectors.take().or(reply.vectors);
            replies.deep = replies.deep.take().or(reply.deep);
        }
    }
    replies
}

impl IndexQuery {
    fn has_index(&self, index: PairIndex) -> bool {
        match index {
            PairIndex::Deep => self.deep.is_some(),
            PairIndex::Vectors => self.vectors.is_some(),
            PairIndex::Bm25 => self.bm25.is_some(),
        }
    }

    fn search_index(&self, text: &str, shared: &SharedQuery, index: PairIndex) -> PairReplies {
        let since = Instant::now();
        let search = |vectors: &Arc<VectorIndex>| {
            let query_vector = match index {
                PairIndex::Deep => shared.embed_deep(vectors, text)?,
                _ => vectors.embed_query(text)?,
            };
            let hits = vectors.search_vector(&query_vector, &self.filter, self.depths.vectors)?;
            Ok((hits, query_vector))
        };
        match index {
            PairIndex::Deep => {
                let found = self.deep.as_ref().map(search);
                let deep = found.map(|found| (found, since.elapsed()));
                PairReplies { deep, vectors: None, bm25: None }
            }
            PairIndex::Vectors => {
                let found = self.vectors.as_ref().map(search);
                let vectors = found.map(|found| (found, since.elapsed()));
                PairReplies { vectors, deep: None, bm25: None }
            }
            PairIndex::Bm25 => {
                let query = Bm25Query { text: text.to_owned() };
                let found = self.bm25.as_ref().map(|index| {
                    // Indexes of different stores have different statistics.
                    let full = index.full_score(&query)?;
                    let mut hits = index.search(&query, &self.filter, self.depths.bm25)?;
                    hits.iter_mut().for_each(|hit| hit.score /= full);
                    Ok(hits)
                });
                let bm25 = found.map(|found| (found, since.elapsed()));
                PairReplies { bm25, vectors: None, deep: None }
            }
        }
    }
}
