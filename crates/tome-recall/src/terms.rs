//! BM25 scores of the texts that were read, per term of the query.

use tome_finder::{Part, Question};

use super::keeper::{chunks, cut};
use super::weights::{B, K1, MANY_PIECES, PIECE_SHARE, PIECES_COUNTED};

/// Scores texts against the weighted terms of a query.
pub(super) struct Terms {
    pub question: Question,
    pub weights: Vec<f32>,
    /// Whether each term counts toward coverage; exact words and pairs do not.
    counted: Vec<bool>,
    /// Average length of a chunk in words.
    usual: f32,
}

/// Score of a text, in total and per term.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Match {
    pub score: f32,
    pub terms: Vec<f32>,
    /// Number of words.
    pub words: usize,
    /// Share of the query that the best chunk covers.
    pub coverage: f32,
    /// The best-matching chunk.
    pub best: Part,
    /// Number of chunks.
    pub pieces: usize,
}

impl Terms {
    /// `usual` is the average number of words per chunk. Terms in `beside` do not count toward
    /// coverage.
    pub(super) fn new(
        question: Question,
        weights: Vec<f32>,
        usual: f32,
        beside: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> Self {
        // A character pair that occurs in no text spans two words of the query.
        let is_counted = |number: usize| {
            question.is_own(number) && question.letters(number).is_none_or(&is_known)
        };
        let mut counted: Vec<bool> = (0..question.len()).map(is_counted).collect();
        for number in question.numbers_in(beside) {
            if let Some(counted) = counted.get_mut(number) {
                *counted = false;
            }
        }
        Self { question, weights, counted, usual: usual.max(1.0) }
    }

    /// Scores a text. `beside` (title, date) belongs to its first chunk; `worth` scales the score.
    /// Of a long text, only the chunks that an index `found` are scored.
    pub(super) fn look(&self, text: &str, beside: &str, worth: f32, found: &[Part]) -> Match {
        let (parts, pieces) = pieces_of(text, found);
        let mut matched = Match {
            score: 0.0,
            terms: vec![0.0; self.weights.len()],
            words: 0,
            coverage: 0.0,
            best: parts.first().copied().unwrap_or_default(),
            pieces,
        };
        let whole = [Part::default()];
        let parts = if parts.is_empty() { whole.as_slice() } else { parts.as_slice() };
        let (mut scores, mut best) = (Vec::with_capacity(parts.len()), 0.0);
        for (number, part) in parts.iter().enumerate() {
            let mut counts = vec![0.0f32; self.weights.len()];
            let mut words = self.question.count(cut(text, *part), &mut counts);
            matched.words += words;
            if number == 0 && !beside.is_empty() {
                words += self.question.count(beside, &mut counts);
            }
            self.weigh(&mut counts, words);
            let score: f32 = counts.iter().sum();
            if score > best {
                (best, matched.best) = (score, *part);
                matched.coverage = self.covered(&counts);
            }
            scores.push(score);
            for (most, now) in matched.terms.iter_mut().zip(counts) {
                *most = most.max(now);
            }
        }
        scores.sort_by(|a, b| b.total_cmp(a));
        let shares = (0..).map(|n| PIECE_SHARE.powi(n));
        let counted = scores.iter().take(PIECES_COUNTED).zip(shares);
        let sum: f32 = counted.map(|(score, share)| score * share).sum();
        let held_back = worth / (1.0 + MANY_PIECES * (1.0 - 1.0 / matched.pieces as f32));
        matched.score = sum * held_back;
        matched.terms.iter_mut().for_each(|term| *term *= held_back);
        matched
    }

    /// Turns term frequencies into BM25 contributions.
    fn weigh(&self, counts: &mut [f32], words: usize) {
        let norm = K1 * (1.0 - B + B * words as f32 / self.usual);
        for (count, weight) in counts.iter_mut().zip(&self.weights) {
            *count = *count * (K1 + 1.0) / (*count + norm) * weight;
        }
    }

    /// IDF-weighted share of the counted terms that occur.
    fn covered(&self, contributed: &[f32]) -> f32 {
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
const WHOLE_BYTES: usize = 8 << 10;
/// Approximate size of a chunk in a long text.
const PIECE_BYTES: usize = 700;

/// Selects the chunks to score, and estimates how many the text has.
fn pieces_of(text: &str, found: &[Part]) -> (Vec<Part>, usize) {
    if text.len() <= WHOLE_BYTES || found.is_empty() {
        let parts = chunks(text.get(..text.floor_char_boundary(4 * WHOLE_BYTES)).unwrap_or(text));
        let count = parts.len().max(text.len() / (2 * PIECE_BYTES)).max(1);
        return (parts, count);
    }
    let mut parts = found.to_vec();
    parts.sort_unstable();
    parts.dedup();
    (parts, (text.len() / PIECE_BYTES).max(1))
}
