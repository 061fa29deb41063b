//! Scores a turn with the help of its neighbors: the question before it, the answer after it.
//!
//! A neighbor contributes only terms that the turn itself lacks, so that a turn with all terms
//! stays ahead of its neighbors.

use super::term_scores::{TermMatch, TermScorer};
use super::weights::{
    ANSWER_SHARE, NEIGHBOR_SIMILARITY_SHARES, NEIGHBOR_TERM_SHARES, NEIGHBOR_WORDS,
    SUB_QUESTION_WEIGHT,
};

/// Share of the highest possible BM25 score that each text gets, with the help of its neighbors.
pub(super) fn score_words(
    matches: &[Option<TermMatch>],
    neighbor_at: impl Fn(usize, isize) -> Option<usize> + Copy,
    terms: &TermScorer,
) -> Vec<Option<f32>> {
    let scores = add_neighbor_terms(matches, neighbor_at, terms.query_terms.sub_questions());
    let answers = score_answers(matches, neighbor_at);
    let full = terms.full_score();
    scores.into_iter().zip(answers).map(|(score, answer)| Some((score? + answer) / full)).collect()
}

/// Factor for who speaks in a turn and whether it only asks.
pub(super) fn turn_factor(
    matches: &[Option<TermMatch>],
    index: usize,
    neighbor_at: impl Fn(usize, isize) -> Option<usize>,
) -> f32 {
    let Some(turn) = matches.get(index).and_then(Option::as_ref) else { return 1.0 };
    turn.traits
        .score_factor(is_between_people(matches, index, neighbor_at), neighbor_share(turn.words))
}

/// Adds the contributions of neighbors to the scores. `neighbor_at` returns the neighbor at a distance in
/// the same session. `sub_questions` lists the terms of each question if the query contains several: a text
/// may answer just one.
fn add_neighbor_terms(
    matches: &[Option<TermMatch>],
    neighbor_at: impl Fn(usize, isize) -> Option<usize>,
    sub_questions: &[Vec<usize>],
) -> Vec<Option<f32>> {
    let spread_to = |(index, turn): (usize, &Option<TermMatch>)| {
        let turn = turn.as_ref()?;
        let mut best = vec![0.0f32; turn.terms.len()];
        for (distance, share) in NEIGHBOR_TERM_SHARES {
            let Some(Some(other)) = neighbor_at(index, distance).and_then(|at| matches.get(at))
            else {
                continue;
            };
            for (best, term) in best.iter_mut().zip(&other.terms) {
                *best = best.max(share * term);
            }
        }
        let received = neighbor_share(turn.words);
        for (best, term) in best.iter_mut().zip(&turn.terms) {
            *best = received * (*best - term).max(0.0);
        }
        let sub_question_score = |terms: &Vec<usize>| -> f32 {
            let term = |number: &usize| Some(turn.terms.get(*number)? + best.get(*number)?);
            terms.iter().filter_map(term).sum()
        };
        Some((
            turn.score + best.iter().sum::<f32>(),
            sub_questions.iter().map(sub_question_score).collect(),
        ))
    };
    let scores: Vec<Option<(f32, Vec<f32>)>> = matches.iter().enumerate().map(spread_to).collect();
    add_best_sub_question(&scores, sub_questions.len())
}

/// Adds how well each text answers its best question. The best answer to each question gets the
/// same bonus, however many words the question has.
fn add_best_sub_question(scores: &[Option<(f32, Vec<f32>)>], count: usize) -> Vec<Option<f32>> {
    let tops: Vec<f32> = (0..count)
        .map(|number| {
            let answers =
                scores.iter().flatten().filter_map(|(_, answered)| answered.get(number).copied());
            answers.fold(0.0, f32::max)
        })
        .collect();
    let most = tops.iter().copied().fold(0.0, f32::max);
    let with_bonus = |(score, answered): &(f32, Vec<f32>)| {
        let shares = answered.iter().zip(&tops).filter(|(_, top)| **top > 0.0);
        let best = most * shares.map(|(answered, top)| answered / top).fold(0.0, f32::max);
        (score + SUB_QUESTION_WEIGHT * best) / (1.0 + SUB_QUESTION_WEIGHT)
    };
    if count == 0 {
        return scores.iter().map(|one| one.as_ref().map(|(score, _)| *score)).collect();
    }
    scores.iter().map(|one| one.as_ref().map(with_bonus)).collect()
}

/// The score that each turn gets for answering the question before it. Its own words count against
/// it, because a turn that repeats the question is scored already.
fn score_answers(
    matches: &[Option<TermMatch>],
    neighbor_at: impl Fn(usize, isize) -> Option<usize>,
) -> Vec<f32> {
    let turn_at = |index: usize| matches.get(index).and_then(Option::as_ref);
    let answer_score = |index: usize| {
        let turn = turn_at(index)?;
        let before =
            turn_at(neighbor_at(index, -1)?).filter(|before| before.traits.ends_in_question)?;
        Some(ANSWER_SHARE * (before.score - 0.5 * turn.score).max(0.0))
    };
    (0..matches.len()).map(|index| answer_score(index).unwrap_or(0.0)).collect()
}

/// Returns whether a turn is part of a dialogue: somebody else speaks before or after it.
pub(super) fn is_in_dialogue(
    matches: &[Option<TermMatch>],
    index: usize,
    neighbor_at: impl Fn(usize, isize) -> Option<usize>,
) -> bool {
    let speaker = |at: usize| {
        matches.get(at).and_then(Option::as_ref).map(|turn| turn.traits.speaker.as_str())
    };
    let mut around = [-1, 1].into_iter().filter_map(|distance| neighbor_at(index, distance));
    around.any(|other| speaker(other).is_some_and(|other| Some(other) != speaker(index)))
}

/// Returns whether a turn is part of a chat between people: only people speak around it.
pub(super) fn is_between_people(
    matches: &[Option<TermMatch>],
    index: usize,
    neighbor_at: impl Fn(usize, isize) -> Option<usize>,
) -> bool {
    let is_by_person = |at: usize| {
        matches.get(at).and_then(Option::as_ref).is_some_and(|turn| turn.traits.is_by_person)
    };
    let mut around =
        [-1, 1].into_iter().filter_map(|distance| neighbor_at(index, distance)).peekable();
    around.peek().is_some() && is_by_person(index) && around.all(is_by_person)
}

/// Adds the similarity of neighbors. They never subtract: an unrelated neighbor does not make a
/// turn less relevant.
pub(super) fn add_neighbor_similarity(
    similarities: &[Option<f32>],
    matches: &[Option<TermMatch>],
    neighbor_at: impl Fn(usize, isize) -> Option<usize>,
) -> Vec<Option<f32>> {
    let similarity_at = |index: usize| similarities.get(index).copied().flatten();
    let spread_to = |index: usize| {
        let received = neighbor_share(matches.get(index)?.as_ref()?.words);
        let others = NEIGHBOR_SIMILARITY_SHARES.iter().filter_map(|(distance, share)| {
            Some(share * neighbor_at(index, *distance).and_then(similarity_at)?)
        });
        Some(similarity_at(index)? + received * others.sum::<f32>())
    };
    (0..similarities.len()).map(spread_to).collect()
}

/// Share of its neighbors' scores that a turn of this many words gets.
fn neighbor_share(words: usize) -> f32 {
    (NEIGHBOR_WORDS / words.max(1) as f32).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn_with_terms(terms: &[f32]) -> Option<TermMatch> {
        Some(TermMatch {
            score: terms.iter().sum(),
            terms: terms.to_vec(),
            words: 10,
            coverage: 0.0,
            best_chunk: tome_finder::ByteRange::default(),
            chunk_count: 1,
            traits: crate::turn_traits::TurnTraits::default(),
        })
    }

    #[test]
    fn a_neighbor_adds_only_missing_terms() {
        let matches = [
            turn_with_terms(&[2.0, 0.0]),
            turn_with_terms(&[0.0, 1.0]),
            turn_with_terms(&[2.0, 1.0]),
        ];
        let neighbor_at = |index: usize, distance: isize| index.checked_add_signed(distance);
        let scores: Vec<f32> =
            add_neighbor_terms(&matches, neighbor_at, &[]).into_iter().flatten().collect();
        // The first lacks the second term: it gets 0.4 of the turn after it.
        assert!((scores[0] - 2.4).abs() < 1e-6, "{scores:?}");
        // The second lacks the first term: it gets 0.6 of the turn before it; the one after has
        // less.
        assert!((scores[1] - 2.2).abs() < 1e-6, "{scores:?}");
        assert!((scores[2] - 3.0).abs() < 1e-6, "{scores:?}");
    }

    #[test]
    fn the_turn_after_a_question_answers_it() {
        let mut matches = [
            turn_with_terms(&[2.0, 1.0]),
            turn_with_terms(&[0.0, 0.0]),
            turn_with_terms(&[3.0, 3.0]),
        ];
        let neighbor_at = |index: usize, distance: isize| index.checked_add_signed(distance);
        assert_eq!(score_answers(&matches, neighbor_at), [0.0, 0.0, 0.0]);
        for asks in matches.iter_mut().flatten() {
            asks.traits.ends_in_question = true;
        }
        let scores = score_answers(&matches, neighbor_at);
        assert!((scores[1] - 0.6 * 3.0).abs() < 1e-6, "{scores:?}");
        // It has the words itself.
        assert_eq!((scores[0], scores[2]), (0.0, 0.0));
        assert!(!is_between_people(&matches, 1, neighbor_at));
        for turn in matches.iter_mut().flatten() {
            turn.traits.is_by_person = true;
        }
        assert!(is_between_people(&matches, 1, neighbor_at));
        assert!(!is_between_people(&matches, 1, |_, _| None));
        assert!(!is_in_dialogue(&matches, 1, neighbor_at));
        if let Some(turn) = &mut matches[0] {
            turn.traits.speaker = "Ann".to_owned();
        }
        assert!(
            is_in_dialogue(&matches, 1, neighbor_at) && !is_in_dialogue(&matches, 2, neighbor_at)
        );
    }

    #[test]
    fn answering_one_of_two_questions_counts_as_an_answer() {
        // The first question has three words, the second one.
        let matches = [
            turn_with_terms(&[2.0, 2.0, 2.0, 0.0]),
            turn_with_terms(&[2.0, 2.0, 0.0, 0.0]),
            turn_with_terms(&[0.0, 0.0, 0.0, 1.0]),
        ];
        let alone = |_: usize, _: isize| None;
        let order = |sub_questions: &[Vec<usize>]| {
            let scores: Vec<f32> =
                add_neighbor_terms(&matches, alone, sub_questions).into_iter().flatten().collect();
            let mut order = [0, 1, 2];
            order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
            order
        };
        assert_eq!(order(&[]), [0, 1, 2]);
        assert_eq!(order(&[vec![0, 1, 2], vec![3]]), [0, 2, 1]);
    }

    #[test]
    fn an_unrelated_neighbor_does_not_lower_a_score() {
        let matches = [turn_with_terms(&[1.0]), turn_with_terms(&[1.0]), turn_with_terms(&[1.0])];
        let neighbor_at = |index: usize, distance: isize| index.checked_add_signed(distance);
        let scores = add_neighbor_similarity(&[Some(0.5), None, Some(0.5)], &matches, neighbor_at);
        assert!(scores[0].unwrap() >= 0.5 && scores[1].is_none());
        let alone = add_neighbor_similarity(&[Some(0.5), None, None], &matches, neighbor_at);
        assert!(alone[0].unwrap() >= 0.5 && alone[0] < scores[0], "{alone:?} {scores:?}");
    }
}
