//! BM25 scores of the texts that were read, per term of the query.

use tome_finder::{BM25_B, BM25_K1, ByteRange, QueryTerms};

use super::indexer::{slice_text, split_chunks};
use super::turn_form::TurnForm;
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
    pub form: TurnForm,
}

impl TermScorer {
    /// `usual` is the average number of words per chunk. Terms in `beside` do not count toward
    /// coverage.
    pub(super) fn new(
        question: QueryTerms,
        weights: Vec<f32>,
        usual: f32,
        beside: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> Self {
        // A character pair that occurs in no text spans two words of the query.
        let is_counted = |number: usize| {
            question.is_primary(number) && question.character_pair(number).is_none_or(&is_known)
        };
        let mut counted: Vec<bool> = (0..question.len()).map(is_counted).collect();
        for number in question.find_terms_in(beside) {
            if let Some(counted) = counted.get_mut(number) {
                *counted = false;
            }
        }
        Self { query_terms: question, weights, counted, average_words: usual.max(1.0) }
    }

    /// The score of a text that has every term once, at average length.
    pub(super) fn full_score(&self) -> f32 {
        self.weights.iter().sum::<f32>().max(f32::EPSILON)
    }

    /// Scores a text. `beside` (title, date) belongs to its first chunk; `worth` scales the score.
    /// Of a long text, only the chunks that an index `found` are scored.
    pub(super) fn score_text(
        &self,
        text: &str,
        beside: &str,
        worth: f32,
        found: &[ByteRange],
    ) -> TermMatch {
        let (parts, pieces) = select_chunks(text, found);
        let mut matched = TermMatch {
            score: 0.0,
            terms: vec![0.0; self.weights.len()],
            words: 0,
            coverage: 0.0,
            best_chunk: parts.first().copied().unwrap_or_default(),
            chunk_count: pieces,
            form: TurnForm::default(),
        };
        let whole_text = [ByteRange::default()];
        let parts = if parts.is_empty() { whole_text.as_slice() } else { parts.as_slice() };
        let (mut scores, mut best) = (Vec::with_capacity(parts.len()), 0.0);
        for (number, part) in parts.iter().enumerate() {
            let mut counts = vec![0.0f32; self.weights.len()];
            let mut words = self.query_terms.count_terms(slice_text(text, *part), &mut counts);
            matched.words += words;
            if number == 0 && !beside.is_empty() {
                words += self.query_terms.count_terms(beside, &mut counts);
            }
            self.apply_weights(&mut counts, words);
            let score: f32 = counts.iter().sum();
            if score > best {
                (best, matched.best_chunk) = (score, *part);
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
        let held_back =
            worth / (1.0 + MANY_CHUNKS_PENALTY * (1.0 - 1.0 / matched.chunk_count as f32));
        matched.score = sum * held_back;
        matched.terms.iter_mut().for_each(|term| *term *= held_back);
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
        let parts = split_chunks(
            text.get(..text.floor_char_boundary(4 * COMPLETE_BYTES_MAX)).unwrap_or(text),
        );
        let count = parts.len().max(text.len() / (2 * CHUNK_BYTES)).max(1);
        return (parts, count);
    }
    let mut parts = found.to_vec();
    parts.sort_unstable();
    parts.dedup();
    (parts, (text.len() / CHUNK_BYTES).max(1))
}
