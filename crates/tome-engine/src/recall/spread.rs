//! A turn is found by its neighbours too: what was asked before it, what was answered after it.
//!
//! A neighbour pays only for the terms that the turn itself lacks, so that a turn that says it all
//! stays ahead of those around it.

use super::terms::Match;
use super::weights::{NEAR_NEIGHBOURS, NEIGHBOURS, NEIGHBOURS_WORDS};

/// Scores with what the neighbours add. `near` gives the one at a distance in the same session.
pub(super) fn spread(
    matches: &[Option<Match>],
    near: impl Fn(usize, isize) -> Option<usize>,
) -> Vec<Option<f32>> {
    let spread_to = |(index, own): (usize, &Option<Match>)| {
        let own = own.as_ref()?;
        let mut best = vec![0.0f32; own.terms.len()];
        for (distance, share) in NEIGHBOURS {
            let Some(Some(other)) = near(index, distance).and_then(|at| matches.get(at)) else {
                continue;
            };
            for (best, term) in best.iter_mut().zip(&other.terms) {
                *best = best.max(share * term);
            }
        }
        let lacking = best.iter().zip(&own.terms).map(|(best, own)| (best - own).max(0.0));
        let room = (NEIGHBOURS_WORDS / own.words.max(1) as f32).min(1.0);
        Some(own.score + room * lacking.sum::<f32>())
    };
    matches.iter().enumerate().map(spread_to).collect()
}

/// How near things are, with how near their neighbours are: a mean in which they count less.
pub(super) fn spread_near(
    nearness: &[Option<f32>],
    matches: &[Option<Match>],
    near: impl Fn(usize, isize) -> Option<usize>,
) -> Vec<Option<f32>> {
    let of = |index: usize| nearness.get(index).copied().flatten();
    let spread_to = |index: usize| {
        let words = matches.get(index)?.as_ref()?.words;
        let room = (NEIGHBOURS_WORDS / words.max(1) as f32).min(1.0);
        let (mut sum, mut weight) = (of(index)?, 1.0);
        for (distance, share) in NEAR_NEIGHBOURS {
            if let Some(other) = near(index, distance) {
                sum += room * share * of(other).unwrap_or(0.0);
                weight += room * share;
            }
        }
        Some(sum / weight)
    };
    (0..nearness.len()).map(spread_to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(terms: &[f32]) -> Option<Match> {
        Some(Match {
            score: terms.iter().sum(),
            terms: terms.to_vec(),
            words: 10,
            coverage: 0.0,
            best: tome_finder::Part::default(),
            pieces: 1,
        })
    }

    #[test]
    fn a_neighbour_pays_only_for_what_is_lacking() {
        let matches = [says(&[2.0, 0.0]), says(&[0.0, 1.0]), says(&[2.0, 1.0])];
        let near = |index: usize, distance: isize| index.checked_add_signed(distance);
        let scores: Vec<f32> = spread(&matches, near).into_iter().flatten().collect();
        // The first lacks the second term: 0.4 of what comes after it says it.
        assert!((scores[0] - 2.4).abs() < 1e-6, "{scores:?}");
        // The second lacks the first term: the turn before it gives 0.6 of it, the one after less.
        assert!((scores[1] - 2.2).abs() < 1e-6, "{scores:?}");
        // The third lacks nothing.
        assert!((scores[2] - 3.0).abs() < 1e-6, "{scores:?}");
    }
}
