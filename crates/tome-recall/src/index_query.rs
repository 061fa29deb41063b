//! Queries to pairs of indexes and their results.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tome_finder::{
    Bm25Index, Bm25Query, EntryFilter, FinderError, IndexHit, QueryVector, VectorIndex,
};

use super::effort::IndexDepths;
use super::{Tier, parallel};

/// A query to a pair of indexes.
pub(super) struct IndexQuery {
    pub bm25: Option<Arc<Bm25Index>>,
    pub vectors: Option<Arc<VectorIndex>>,
    pub filter: EntryFilter,
    pub depths: IndexDepths,
}

/// Result of an index, and how long it took.
pub(super) type IndexReply<T> = (Result<T, FinderError>, Duration);

/// Results of a pair of indexes; the vectors' with the embedded query.
pub(super) struct PairReplies {
    pub bm25: Option<IndexReply<Vec<IndexHit>>>,
    pub vectors: Option<IndexReply<(Vec<IndexHit>, QueryVector)>>,
}

/// Searches several pairs of indexes in parallel: vectors with `text`, BM25 with the selected
/// `words`.
pub(super) fn search_pairs<const N: usize>(
    text: &str,
    words: &str,
    pairs: [Option<&IndexQuery>; N],
) -> [PairReplies; N] {
    let of = |tier: Tier| {
        let pairs = pairs.iter().enumerate();
        pairs.filter_map(move |(n, inquiry)| Some((n, (*inquiry)?, tier)))
    };
    // Start with the slower tier.
    let all = of(Tier::Vectors).chain(of(Tier::Bm25));
    let all = all.filter(|(_, inquiry, tier)| inquiry.has_tier(*tier)).collect();
    let mut replies = [const { PairReplies { bm25: None, vectors: None } }; N];
    for (n, said) in parallel::map(all, 1, |(n, of, tier)| {
        let text = if tier == Tier::Vectors { text } else { words };
        (n, of.search_tier(text, tier))
    }) {
        if let Some(replies) = replies.get_mut(n) {
            replies.bm25 = replies.bm25.take().or(said.bm25);
            replies.vectors = replies.vectors.take().or(said.vectors);
        }
    }
    replies
}

impl IndexQuery {
    fn has_tier(&self, tier: Tier) -> bool {
        match tier {
            Tier::Vectors => self.vectors.is_some(),
            _ => self.bm25.is_some(),
        }
    }

    fn search_tier(&self, text: &str, tier: Tier) -> PairReplies {
        let since = Instant::now();
        match tier {
            Tier::Vectors => {
                let found = self.vectors.as_ref().map(|meanings| {
                    let question = meanings.embed_query(text)?;
                    Ok((
                        meanings.search_vector(&question, &self.filter, self.depths.vectors)?,
                        question,
                    ))
                });
                PairReplies { vectors: found.map(|found| (found, since.elapsed())), bm25: None }
            }
            _ => {
                let query = Bm25Query { text: text.to_owned() };
                let found = self.bm25.as_ref().map(|index| {
                    // Indexes of different stores have different statistics.
                    let full = index.full_score(&query)?;
                    let mut found = index.search(&query, &self.filter, self.depths.bm25)?;
                    found.iter_mut().for_each(|hit| hit.score /= full);
                    Ok(found)
                });
                PairReplies { bm25: found.map(|found| (found, since.elapsed())), vectors: None }
            }
        }
    }
}
