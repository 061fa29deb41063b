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
    near: impl Fn(usize, isize) -> Option<usize> + Copy,
    terms: &TermScorer,
) -> Vec<Option<f32>> {
    let own = add_neighbor_terms(matches, near, terms.query_terms.sub_questions());
    let answers = score_answers(matches, near);
    let full = terms.full_score();
    own.into_iter().zip(answers).map(|(own, answer)| Some((own? + answer) / full)).collect()
}

/// Factor for who speaks in a turn and whether it only asks.
pub(super) fn turn_factor(
    matches: &[Option<TermMatch>],
    index: usize,
    near: impl Fn(usize, isize) -> Option<usize>,
) -> f32 {
    let Some(turn) = matches.get(index).and_then(Option::as_ref) else { return 1.0 };
    turn.form.score_factor(is_between_people(matches, index, near), neighbor_share(turn.words))
}

/// Adds the contributions of neighbors to the scores. `near` returns the neighbor at a distance in
/// the same session. `parts` lists the terms of each question if the query contains several: a text
/// may answer just one.
fn add_neighbor_terms(
    matches: &[Option<TermMatch>],
    near: impl Fn(usize, isize) -> Option<usize>,
    parts: &[Vec<usize>],
) -> Vec<Option<f32>> {
    let spread_to = |(index, own): (usize, &Option<TermMatch>)| {
        let own = own.as_ref()?;
        let mut best = vec![0.0f32; own.terms.len()];
        for (distance, share) in NEIGHBOR_TERM_SHARES {
            let Some(Some(other)) = near(index, distance).and_then(|at| matches.get(at)) else {
                continue;
            };
            for (best, term) in best.iter_mut().zip(&other.terms) {
                *best = best.max(share * term);
            }
        }
        let room = neighbor_share(own.words);
        for (best, own) in best.iter_mut().zip(&own.terms) {
            *best = room * (*best - own).max(0.0);
        }
        let of = |part: &Vec<usize>| -> f32 {
            let term = |number: &usize| Some(own.terms.get(*number)? + best.get(*number)?);
            part.iter().filter_map(term).sum()
        };
        Some((own.score + best.iter().sum::<f32>(), parts.iter().map(of).collect()))
    };
    let scores: Vec<Option<(f32, Vec<f32>)>> = matches.iter().enumerate().map(spread_to).collect();
    add_best_sub_question(&scores, parts.len())
}

/// Adds how well each text answers its best question. The best answer to each question gets the
/// same bonus, however many words the question has.
fn add_best_sub_question(scores: &[Option<(f32, Vec<f32>)>], parts: usize) -> Vec<Option<f32>> {
    let tops: Vec<f32> = (0..parts)
        .map(|part| {
            let of = scores.iter().flatten().filter_map(|(_, parts)| parts.get(part).copied());
            of.fold(0.0, f32::max)
        })
        .collect();
    let most = tops.iter().copied().fold(0.0, f32::max);
    let with_bonus = |(score, parts): &(f32, Vec<f32>)| {
        let shares = parts.iter().zip(&tops).filter(|(_, top)| **top > 0.0);
        let best = most * shares.map(|(part, top)| part / top).fold(0.0, f32::max);
        (score + SUB_QUESTION_WEIGHT * best) / (1.0 + SUB_QUESTION_WEIGHT)
    };
    if parts == 0 {
        return scores.iter().map(|one| one.as_ref().map(|(score, _)| *score)).collect();
    }
    scores.iter().map(|one| one.as_ref().map(with_bonus)).collect()
}

/// The score that each turn gets for answering the question before it. Its own words count against
/// it, because a turn that repeats the question is scored already.
fn score_answers(
    matches: &[Option<TermMatch>],
    near: impl Fn(usize, isize) -> Option<usize>,
) -> Vec<f32> {
    let own = |index: usize| matches.get(index).and_then(Option::as_ref);
    let answer_score = |index: usize| {
        let turn = own(index)?;
        let before = own(near(index, -1)?).filter(|before| before.form.ends_in_question)?;
        Some(ANSWER_SHARE * (before.score - 0.5 * turn.score).max(0.0))
    };
    (0..matches.len()).map(|index| answer_score(index).unwrap_or(0.0)).collect()
}

/// Returns whether a turn is part of a dialogue: somebody else speaks before or after it.
pub(super) fn is_in_dialogue(
    matches: &[Option<TermMatch>],
    index: usize,
    near: impl Fn(usize, isize) -> Option<usize>,
) -> bool {
    let speaker =
        |at: usize| matches.get(at).and_then(Option::as_ref).map(|turn| turn.form.speaker.as_str());
    let mut around = [-1, 1].into_iter().filter_map(|distance| near(index, distance));
    around.any(|other| speaker(other).is_some_and(|other| Some(other) != speaker(index)))
}

/// Returns whether a turn is part of a chat between people: nobody but people speaks around it.
pub(super) fn is_between_people(
    matches: &[Option<TermMatch>],
    index: usize,
    near: impl Fn(usize, isize) -> Option<usize>,
) -> bool {
    let is_by_person = |at: usize| {
        matches.get(at).and_then(Option::as_ref).is_some_and(|turn| turn.form.is_by_person)
    };
    let mut around = [-1, 1].into_iter().filter_map(|distance| near(index, distance)).peekable();
    around.peek().is_some() && is_by_person(index) && around.all(is_by_person)
}

/// Adds the similarity of neighbors. They never subtract: an unrelated neighbor does not make a
/// turn less relevant.
pub(super) fn add_neighbor_similarity(
    nearness: &[Option<f32>],
    matches: &[Option<TermMatch>],
    near: impl Fn(usize, isize) -> Option<usize>,
) -> Vec<Option<f32>> {
    let of = |index: usize| nearness.get(index).copied().flatten();
    let spread_to = |index: usize| {
        let room = neighbor_share(matches.get(index)?.as_ref()?.words);
        let others = NEIGHBOR_SIMILARITY_SHARES
            .iter()
            .filter_map(|(distance, share)| Some(share * near(index, *distance).and_then(of)?));
        Some(of(index)? + room * others.sum::<f32>())
    };
    (0..nearness.len()).map(spread_to).collect()
}

/// Share of its neighbors' scores that a turn of this many words gets.
fn neighbor_share(words: usize) -> f32 {
    (NEIGHBOR_WORDS / words.max(1) as f32).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(terms: &[f32]) -> Option<TermMatch> {
        Some(TermMatch {
            score: terms.iter().sum(),
            terms: terms.to_vec(),
            words: 10,
            coverage: 0.0,
            best_chunk: tome_finder::ByteRange::default(),
            chunk_count: 1,
            form: crate::turn_form::TurnForm::default(),
        })
    }

    #[test]
    fn a_neighbour_pays_only_for_what_is_lacking() {
        let matches = [says(&[2.0, 0.0]), says(&[0.0, 1.0]), says(&[2.0, 1.0])];
        let near = |index: usize, distance: isize| index.checked_add_signed(distance);
        let scores: Vec<f32> =
            add_neighbor_terms(&matches, near, &[]).into_iter().flatten().collect();
        // The first lacks the second term: it gets 0.4 of the turn after it.
        assert!((scores[0] - 2.4).abs() < 1e-6, "{scores:?}");
        // The second lacks the first term: it gets 0.6 of the turn before it; the one after has
        // less.
        assert!((scores[1] - 2.2).abs() < 1e-6, "{scores:?}");
        assert!((scores[2] - 3.0).abs() < 1e-6, "{scores:?}");
    }

    #[test]
    fn the_turn_after_a_question_answers_it() {
        let mut matches = [says(&[2.0, 1.0]), says(&[0.0, 0.0]), says(&[3.0, 3.0])];
        let near = |index: usize, distance: isize| index.checked_add_signed(distance);
        assert_eq!(score_answers(&matches, near), [0.0, 0.0, 0.0]);
        for asks in matches.iter_mut().flatten() {
            asks.form.ends_in_question = true;
        }
        let scores = score_answers(&matches, near);
        assert!((scores[1] - 0.6 * 3.0).abs() < 1e-6, "{scores:?}");
        // It has the words itself.
        assert_eq!((scores[0], scores[2]), (0.0, 0.0));
        assert!(!is_between_people(&matches, 1, near));
        for turn in matches.iter_mut().flatten() {
            turn.form.is_by_person = true;
        }
        assert!(is_between_people(&matches, 1, near));
        assert!(!is_between_people(&matches, 1, |_, _| None));
        assert!(!is_in_dialogue(&matches, 1, near));
        if let Some(turn) = &mut matches[0] {
            turn.form.speaker = "Ann".to_owned();
        }
        assert!(is_in_dialogue(&matches, 1, near) && !is_in_dialogue(&matches, 2, near));
    }

    #[test]
    fn a_text_that_answers_one_of_two_questions_answers() {
        // The first question has three words, the second one.
        let matches =
            [says(&[2.0, 2.0, 2.0, 0.0]), says(&[2.0, 2.0, 0.0, 0.0]), says(&[0.0, 0.0, 0.0, 1.0])];
        let alone = |_: usize, _: isize| None;
        let order = |parts: &[Vec<usize>]| {
            let scores: Vec<f32> =
                add_neighbor_terms(&matches, alone, parts).into_iter().flatten().collect();
            let mut order = [0, 1, 2];
            order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
            order
        };
        assert_eq!(order(&[]), [0, 1, 2]);
        assert_eq!(order(&[vec![0, 1, 2], vec![3]]), [0, 2, 1]);
    }

    #[test]
    fn what_stands_beside_it_says_nothing_against_a_turn() {
        let matches = [says(&[1.0]), says(&[1.0]), says(&[1.0])];
        let near = |index: usize, distance: isize| index.checked_add_signed(distance);
        let scores = add_neighbor_similarity(&[Some(0.5), None, Some(0.5)], &matches, near);
        assert!(scores[0].unwrap() >= 0.5 && scores[1].is_none());
        let alone = add_neighbor_similarity(&[Some(0.5), None, None], &matches, near);
        assert!(alone[0].unwrap() >= 0.5 && alone[0] < scores[0], "{alone:?} {scores:?}");
    }
}
