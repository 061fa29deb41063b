//! Combines the scores of the tiers.
//!
//! Scores are compared as they are, not by rank: each is an estimate of how much of the query a
//! text answers, from 0 to about 1. A rank would hide that the best hit of a tier is a bad one.

use super::weights::LITERAL_WEIGHT;

/// The scores of one candidate, by tier.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct TierScores {
    /// Share of the highest possible BM25 score.
    pub bm25: Option<f32>,
    /// Cosine similarity.
    pub similarity: Option<f32>,
    /// Score of the text scan, relative to the best one.
    pub literal: Option<f32>,
}

impl TierScores {
    /// The fused score. A tier that does not know the candidate adds nothing.
    pub(super) fn fuse(self, similarity_weight: f32) -> f32 {
        let or_zero = |score: Option<f32>| score.unwrap_or(0.0).max(0.0);
        or_zero(self.bm25)
            + similarity_weight * or_zero(self.similarity)
            + LITERAL_WEIGHT * or_zero(self.literal)
    }
}

/// Rounds a score; sums are kept in `f64`.
#[expect(clippy::cast_possible_truncation, reason = "a score needs no more precision")]
pub(super) fn round_score(score: f64) -> f32 {
    score as f32
}

/// Ranks all positive scores, starting from 1; ties keep the order of the candidates.
pub(super) fn rank_scores(scores: &[Option<f32>]) -> Vec<Option<usize>> {
    let mut order: Vec<(usize, f32)> = scores
        .iter()
        .enumerate()
        .filter_map(|(index, score)| score.filter(|score| *score > 0.0).map(|score| (index, score)))
        .collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut ranks = vec![None; scores.len()];
    for (rank, (index, _)) in (1..).zip(order) {
        if let Some(slot) = ranks.get_mut(index) {
            *slot = Some(rank);
        }
    }
    ranks
}

/// Scales scores so that the highest is 1.
pub(super) fn relative_to_best(scores: Vec<Option<f32>>) -> Vec<Option<f32>> {
    let best = scores.iter().copied().flatten().fold(f32::EPSILON, f32::max);
    scores.into_iter().map(|score| score.map(|score| score / best)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::weights::SIMILARITY_WEIGHT;
    use super::*;

    fn fuse(bm25: f32, similarity: f32) -> f32 {
        TierScores { bm25: Some(bm25), similarity: Some(similarity), literal: None }
            .fuse(SIMILARITY_WEIGHT)
    }

    #[test]
    fn a_merely_similar_text_does_not_beat_one_with_all_the_words() {
        assert!(fuse(1.0, 0.3) > fuse(0.2, 0.9));
        // Among texts with the same words, the more similar one comes first.
        assert!(fuse(0.5, 0.6) > fuse(0.5, 0.4));
        // A paraphrase beats a text that shares one common word.
        assert!(fuse(0.0, 0.8) > fuse(0.1, 0.2));
    }

    #[test]
    fn an_unknown_score_adds_nothing() {
        let only_bm25 = TierScores { bm25: Some(0.4), ..TierScores::default() };
        assert_eq!(only_bm25.fuse(SIMILARITY_WEIGHT), fuse(0.4, -0.1));
        assert_eq!(TierScores::default().fuse(SIMILARITY_WEIGHT), 0.0);
    }

    #[test]
    fn equal_scores_keep_their_order() {
        assert_eq!(rank_scores(&[Some(1.0), Some(1.0), Some(2.0)]), [Some(2), Some(3), Some(1)]);
        assert_eq!(rank_scores(&[Some(0.0), None]), [None, None]);
    }
}
