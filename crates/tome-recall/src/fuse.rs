//! Reciprocal rank fusion.

use super::weights::RRF_K;

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
        if let Some(place) = ranks.get_mut(index) {
            *place = Some(rank);
        }
    }
    ranks
}

/// Returns the fused score of each candidate: the sum over all lists of weight / (k + rank).
pub(super) fn fuse_ranks(lists: &[(f64, &[Option<usize>])], count: usize) -> Vec<f64> {
    let mut scores = vec![0.0; count];
    for (weight, ranks) in lists {
        for (score, rank) in scores.iter_mut().zip(ranks.iter()) {
            if let Some(rank) = rank {
                *score += weight / (RRF_K + *rank as f64);
            }
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_by_hand() {
        let words = rank_scores(&[Some(3.0), Some(7.5), None, Some(0.0)]);
        let meanings = rank_scores(&[Some(0.9), None, Some(0.5), None]);
        assert_eq!(words, [Some(2), Some(1), None, None]);
        assert_eq!(meanings, [Some(1), None, Some(2), None]);
        let fused = fuse_ranks(&[(1.0, &words), (0.5, &meanings)], 4);
        let expected = [1.0 / 62.0 + 0.5 / 61.0, 1.0 / 61.0, 0.5 / 62.0, 0.0];
        for (fused, expected) in fused.iter().zip(expected) {
            assert!((fused - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn equal_scores_keep_their_order() {
        assert_eq!(rank_scores(&[Some(1.0), Some(1.0), Some(2.0)]), [Some(2), Some(3), Some(1)]);
    }
}
