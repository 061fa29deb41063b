//! Queries to pairs of indexes and their results.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tome_finder::{Bearing, Filter, FinderError, Found, Meanings, Words, WordsQuery};

use super::{Tier, abreast};

/// A query to a pair of indexes.
pub(super) struct Inquiry {
    pub words: Option<Arc<Words>>,
    pub meanings: Option<Arc<Meanings>>,
    pub filter: Filter,
    /// Maximum number of chunks from BM25 and from vectors.
    pub depths: (usize, usize),
}

/// Result of an index, and how long it took.
pub(super) type Reply<T> = (Result<T, FinderError>, Duration);

/// Results of a pair of indexes; the vectors' with the embedded query.
pub(super) struct Replies {
    pub words: Option<Reply<Vec<Found>>>,
    pub meanings: Option<Reply<(Vec<Found>, Bearing)>>,
}

/// Searches several pairs of indexes in parallel: vectors with `text`, BM25 with the selected
/// `words`.
pub(super) fn ask<const N: usize>(
    text: &str,
    words: &str,
    pairs: [Option<&Inquiry>; N],
) -> [Replies; N] {
    let of = |tier: Tier| {
        let pairs = pairs.iter().enumerate();
        pairs.filter_map(move |(n, inquiry)| Some((n, (*inquiry)?, tier)))
    };
    // Start with the slower tier.
    let all = of(Tier::Meanings).chain(of(Tier::Words));
    let all = all.filter(|(_, inquiry, tier)| inquiry.has(*tier)).collect();
    let mut replies = [const { Replies { words: None, meanings: None } }; N];
    for (n, said) in abreast::each(all, 1, |(n, of, tier)| {
        let text = if tier == Tier::Meanings { text } else { words };
        (n, of.ask(text, tier))
    }) {
        if let Some(replies) = replies.get_mut(n) {
            replies.words = replies.words.take().or(said.words);
            replies.meanings = replies.meanings.take().or(said.meanings);
        }
    }
    replies
}

impl Inquiry {
    fn has(&self, tier: Tier) -> bool {
        match tier {
            Tier::Meanings => self.meanings.is_some(),
            _ => self.words.is_some(),
        }
    }

    fn ask(&self, text: &str, tier: Tier) -> Replies {
        let since = Instant::now();
        match tier {
            Tier::Meanings => {
                let found = self.meanings.as_ref().map(|meanings| {
                    let question = meanings.question(text)?;
                    Ok((meanings.search_for(&question, &self.filter, self.depths.1)?, question))
                });
                Replies { meanings: found.map(|found| (found, since.elapsed())), words: None }
            }
            _ => {
                let query = WordsQuery { text: text.to_owned() };
                let found =
                    self.words.as_ref().map(|it| it.search(&query, &self.filter, self.depths.0));
                Replies { words: found.map(|found| (found, since.elapsed())), meanings: None }
            }
        }
    }
}
