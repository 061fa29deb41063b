//! BM25 scores of the texts that were read, per term of the query.

use tome_finder::{BM25_B, BM25_K1, ByteRange, QueryTerms};

use super::indexer::{slice_text, split_chunks};
use super::turn_traits::TurnTraits;
use super::weights::{CHUNK_DECAY, CHUNKS_COUNTED, MANY_CHUNKS_PENALTY};

/// Scores texts against the weighted terms of a query.
pub(super) struct TermScorer {
    pub query_terms: QueryTerms,
    pub weights: Vec<f32>,
    /// Whether each term counts toward coverage; exact words and pairs do not.
    counted: Vec<bool>,
    /// Average length of a chunk in words.
    average_words: f32,
}

/// Score of a text, in total and per term.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TermMatch {
    pub score: f32,
    pub terms: Vec<f32>,
    /// Number of words.
    pub words: usize,
    /// Share of the query that the best chunk covers.
    pub coverage: f32,
    /// The best-matching chunk.
    pub best_chunk: ByteRange,
    /// Number of chunks.
    pub chunk_count: usize,
    /// Who speaks, and whether the text asks; set for events.
    pub traits: TurnTraits,
}

impl TermScorer {
    /// `average_words` is the average length of a chunk. Terms in `uncounted` do not count toward
    /// coverage.
    pub(super) fn new(
        query_terms: QueryTerms,
        weights: Vec<f32>,
        average_words: f32,
        uncounted: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> Self {
        // A character pair that occurs in no text spans two words of the query.
        let is_counted = |number: usize| {
            query_terms.is_primary(number)
                && query_terms.character_pair(number).is_none_or(&is_known)
        };
        let mut counted: Vec<bool> = (0..query_terms.len()).map(is_counted).collect();
        for number in query_terms.find_terms_in(uncounted) {
            if let Some(counted) = counted.get_mut(number) {
                *counted = false;
            }
        }
        Self { query_terms, weights, counted, average_words: average_words.max(1.0) }
    }

    /// The score of a text that has every term once, at average length.
    pub(super) fn full_score(&self) -> f32 {
        self.weights.iter().sum::<f32>().max(f32::EPSILON)
    }

    /// Scores a text. `title` (with keywords) belongs to its first chunk; `weight` scales the score.
    /// If the text is long, scores only the chunks that an index `found`.
    pub(super) fn score_text(
        &self,
        text: &str,
        title: &str,
        weight: f32,
        found: &[ByteRange],
    ) -> TermMatch {
        let (chunks, chunk_count) = select_chunks(text, found);
        let mut matched = TermMatch {
            score: 0.0,
            terms: vec![0.0; self.weights.len()],
            words: 0,
            coverage: 0.0,
            best_chunk: chunks.first().copied().unwrap_or_default(),
            chunk_count,
            traits: TurnTraits::default(),
        };
        let whole_text = [ByteRange::default()];
        let chunks = if chunks.is_empty() { whole_text.as_slice() } else { chunks.as_slice() };
        let (mut scores, mut best) = (Vec::with_capacity(chunks.len()), 0.0);
        for (number, chunk) in chunks.iter().enumerate() {
            let mut counts = vec![0.0f32; self.weights.len()];
            let mut words = self.query_terms.count_terms(slice_text(text, *chunk), &mut counts);
            matched.words += words;
            if number == 0 && !title.is_empty() {
                words += self.query_terms.count_terms(title, &mut counts);
            }
            self.apply_weights(&mut counts, words);
            let score: f32 = counts.iter().sum();
            if score > best {
                (best, matched.best_chunk) = (score, *chunk);
                matched.coverage = self.compute_coverage(&counts);
            }
            scores.push(score);
            for (most, now) in matched.terms.iter_mut().zip(counts) {
                *most = most.max(now);
            }
        }
        scores.sort_by(|a, b| b.total_cmp(a));
        let shares = (0..).map(|n| CHUNK_DECAY.powi(n));
        let counted = scores.iter().take(CHUNKS_COUNTED).zip(shares);
        let sum: f32 = counted.map(|(score, share)| score * share).sum();
        let factor =
            weight / (1.0 + MANY_CHUNKS_PENALTY * (1.0 - 1.0 / matched.chunk_count as f32));
        matched.score = sum * factor;
        matched.terms.iter_mut().for_each(|term| *term *= factor);
        matched
    }

    /// Turns term frequencies into BM25 contributions.
    fn apply_weights(&self, counts: &mut [f32], words: usize) {
        let norm = BM25_K1 * (1.0 - BM25_B + BM25_B * words as f32 / self.average_words);
        for (count, weight) in counts.iter_mut().zip(&self.weights) {
            *count = *count * (BM25_K1 + 1.0) / (*count + norm) * weight;
        }
    }

    /// IDF-weighted share of the counted terms that occur.
    fn compute_coverage(&self, contributed: &[f32]) -> f32 {
        let (mut all, mut has) = (0.0, 0.0);
        for ((weight, found), counts) in self.weights.iter().zip(contributed).zip(&self.counted) {
            if *counts {
                all += weight;
                has += if *found > 0.0 { *weight } else { 0.0 };
            }
        }
        if all > 0.0 { has / all } else { 0.0 }
    }
}

/// Longer texts are not scored completely.
const COMPLETE_BYTES_MAX: usize = 8 << 10;
/// Approximate size of a chunk in a long text.
const CHUNK_BYTES: usize = 700;

/// Selects the chunks to score, and estimates how many the text has.
fn select_chunks(text: &str, found: &[ByteRange]) -> (Vec<ByteRange>, usize) {
    if text.len() <= COMPLETE_BYTES_MAX || found.is_empty() {
        let chunks = split_chunks(
            text.get(..text.floor_char_boundary(4 * COMPLETE_BYTES_MAX)).unwrap_or(text),
        );
        let count = chunks.len().max(text.len() / (2 * CHUNK_BYTES)).max(1);
        return (chunks, count);
    }
    let mut chunks = found.to_vec();
    chunks.sort_unstable();
    chunks.dedup();
    (chunks, (text.len() / CHUNK_BYTES).max(1))
}
