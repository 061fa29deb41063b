//! How well the words of a text match those of a question: BM25 over the texts that were read, so
//! that it can tell what each term contributes.

use std::collections::HashMap;

use super::keeper::chunks;
use super::weights::{B, K1, MANY_PIECES, PIECE_SHARE, PIECES_COUNTED};

/// The terms of a question.
pub(super) struct Terms {
    /// What each term is worth: how rare it is, times how much it says.
    pub weights: Vec<f32>,
    numbers: HashMap<String, usize>,
    /// The usual length of a piece, in terms.
    usual: f32,
}

/// What a text has of each term.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Match {
    /// How well it matches as a whole.
    pub score: f32,
    /// What each term contributes.
    pub terms: Vec<f32>,
    /// Its words, about.
    pub words: usize,
    /// The piece that matches best.
    pub best: tome_finder::Part,
}

impl Terms {
    /// The terms of a question, each with what it is worth. `usual` is how many terms a piece has on average.
    pub(super) fn new(terms: impl IntoIterator<Item = (String, f32)>, usual: f32) -> Self {
        let (mut weights, mut numbers) = (Vec::new(), HashMap::new());
        for (term, weight) in terms {
            numbers.entry(term).or_insert_with(|| {
                weights.push(weight);
                weights.len() - 1
            });
        }
        Self { weights, numbers, usual: usual.max(1.0) }
    }

    /// The best that a text could do, about: every term once.
    pub(super) fn ideal(&self) -> f32 {
        self.weights.iter().sum()
    }

    /// How well a text matches.
    pub(super) fn look(&self, text: &str) -> Match {
        let parts = chunks(text);
        let mut found =
            Match { score: 0.0, terms: vec![0.0; self.weights.len()], words: 0, best: parts.first().copied().unwrap_or_default() };
        let (mut scores, mut best) = (Vec::with_capacity(parts.len()), 0.0);
        for part in &parts {
            let contributed = self.piece(super::keeper::cut(text, *part), &mut found.words);
            let score: f32 = contributed.iter().sum();
            if score > best {
                (best, found.best) = (score, *part);
            }
            scores.push(score);
            for (most, now) in found.terms.iter_mut().zip(contributed) {
                *most = most.max(now);
            }
        }
        scores.sort_by(|a, b| b.total_cmp(a));
        let shares = (0..).map(|n| PIECE_SHARE.powi(n));
        let sum: f32 = scores.iter().take(PIECES_COUNTED).zip(shares).map(|(s, share)| s * share).sum();
        let held_back = 1.0 / (1.0 + MANY_PIECES * (1.0 - 1.0 / parts.len().max(1) as f32));
        found.score = sum * held_back;
        found.terms.iter_mut().for_each(|term| *term *= held_back);
        found
    }

    /// What each term contributes to a piece.
    fn piece(&self, text: &str, words: &mut usize) -> Vec<f32> {
        let mut counts = vec![0.0f32; self.weights.len()];
        let mut length = 0usize;
        tome_finder::each_term(text, |term| {
            length += 1;
            if let Some(count) = self.numbers.get(term).and_then(|number| counts.get_mut(*number)) {
                *count += 1.0;
            }
        });
        *words += length;
        let norm = K1 * (1.0 - B + B * length as f32 / self.usual);
        counts
            .iter()
            .zip(&self.weights)
            .map(|(count, weight)| count * (K1 + 1.0) / (count + norm) * weight)
            .collect()
    }
}
