//! The scores of all candidates, by tier.

use super::Tier;
use super::candidate::SourceKind;
use super::fuse::{TierScores, rank_scores};

/// The scores of all candidates in each tier.
pub(super) struct ScoreTable {
    /// Shares of the highest possible BM25 score.
    pub bm25: RankedTier,
    /// Cosine similarities.
    pub vectors: RankedTier,
    /// Scores of the text scan.
    pub literal: RankedTier,
}

impl ScoreTable {
    /// The scores of one candidate.
    pub(super) fn tier_scores(&self, index: usize) -> TierScores {
        TierScores {
            bm25: self.bm25.score(index),
            similarity: self.vectors.score(index),
            literal: self.literal.score(index),
        }
    }

    /// The rank and the score of one candidate in each tier that found it.
    pub(super) fn ranks(&self, index: usize) -> Vec<(Tier, usize, f32)> {
        let tiers = [&self.bm25, &self.vectors, &self.literal];
        tiers.into_iter().filter_map(|tier| tier.rank(index)).collect()
    }
}

/// The scores and ranks of all candidates in one tier.
pub(super) struct RankedTier {
    tier: Tier,
    scores: Vec<Option<f32>>,
    ranks: Vec<Option<usize>>,
}

impl RankedTier {
    /// Ranks each kind of source separately, so that none crowds out the others.
    pub(super) fn new(tier: Tier, scores: Vec<Option<f32>>, kinds: &[SourceKind]) -> Self {
        let mut ranks = vec![None; scores.len()];
        for kind in SourceKind::ALL {
            let scores_of_kind: Vec<Option<f32>> = scores
                .iter()
                .zip(kinds)
                .map(|(score, of_kind)| score.filter(|_| *of_kind == kind))
                .collect();
            for (slot, rank) in ranks.iter_mut().zip(rank_scores(&scores_of_kind)) {
                *slot = slot.or(rank);
            }
        }
        Self { tier, scores, ranks }
    }

    pub(super) fn score(&self, index: usize) -> Option<f32> {
        self.scores.get(index).copied().flatten()
    }

    fn rank(&self, index: usize) -> Option<(Tier, usize, f32)> {
        let rank = self.ranks.get(index).copied().flatten()?;
        Some((self.tier, rank, self.score(index).unwrap_or(0.0)))
    }
}
