//! How well the words of a text match those of a question: BM25 over the texts that were read, so
//! that it is known what each term contributes.

use tome_finder::{Part, Question};

use super::keeper::{chunks, cut};
use super::weights::{B, K1, MANY_PIECES, PIECE_SHARE, PIECES_COUNTED};

/// The terms of a question, and what each is worth.
pub(super) struct Terms {
    pub question: Question,
    pub weights: Vec<f32>,
    /// Which of them an answer should have: not those that only add to another.
    counted: Vec<bool>,
    /// The usual length of a piece, in words.
    usual: f32,
}

/// What a text has of each term.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Match {
    /// How well it matches as a whole.
    pub score: f32,
    /// What each term contributes.
    pub terms: Vec<f32>,
    /// Its words.
    pub words: usize,
    /// The share of the question that its best piece has.
    pub coverage: f32,
    /// The piece that matches best.
    pub best: Part,
    /// How many pieces it has.
    pub pieces: usize,
}

impl Terms {
    /// `usual` is how many words a piece has on average; an answer need not have what is in `beside`.
    pub(super) fn new(
        question: Question,
        weights: Vec<f32>,
        usual: f32,
        beside: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> Self {
        // Letters that nobody has ever written next to each other lie across two words.
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

    /// How well a text matches, of whom `worth` says how much it counts. What is said `beside` it (a
    /// title, a date) belongs to its first piece.
    /// Of a long text only the pieces that an index has `found` are looked at.
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

    /// Makes counts into what each term contributes.
    fn weigh(&self, counts: &mut [f32], words: usize) {
        let norm = K1 * (1.0 - B + B * words as f32 / self.usual);
        for (count, weight) in counts.iter_mut().zip(&self.weights) {
            *count = *count * (K1 + 1.0) / (*count + norm) * weight;
        }
    }

    /// The share of the question's own terms that contribute, weighed by how rare they are.
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

/// A text longer than this is not looked at whole.
const WHOLE_BYTES: usize = 8 << 10;
/// Of so many bytes a piece of a long text is, about.
const PIECE_BYTES: usize = 700;

/// The pieces of a text that are looked at, and how many it has.
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
