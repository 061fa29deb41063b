//! Drops statements that a later prompt, answer or tool call contradicts.

use tome_model::{Event, FactKind};
use tome_text::count_words;

use crate::extract::commands::failures::score_failure;
use crate::extract::facts::corrected::admits_mistake;
use crate::extract::facts::draft_fact::{DraftFact, QUESTION_END};
use crate::extract::language::cues::{Cue, find_cue};
use crate::extract::language::orders::is_order;
use crate::extract::language::similarity::TermSet;
use crate::extract::language::text::{begins_with_any, strip_prefix_ignoring_case, to_lower};
use crate::extract::turns::reaction::{Reaction, classify_reaction, says_still_wrong};
use crate::extract::turns::reference::refers_without_naming;
use crate::extract::turns::request::UserRequest;
use crate::extract::turns::turn::{Turn, read_turns};

/// Whether the next turn, or its prompt, overturns the result of a turn.
pub(crate) fn is_overtaken(turn: &Turn<'_>, next: &Turn<'_>, events: &[Event]) -> bool {
    let prompt = next.prompt_text(events);
    is_superseded(turn, next)
        || is_corrected(turn, next)
        || is_advice_rejected(turn, next)
        || is_work_rejected(turn, next, &prompt)
        || is_claim_denied(turn, &prompt)
}

/// Whether a turn only proposed or assessed, and the next one carried it out: then the result is more
/// informative, and may differ.
fn is_superseded(turn: &Turn<'_>, next: &Turn<'_>) -> bool {
    next.has_work() && next.conclusion.is_some() && is_acted_on(turn, next)
}

/// Whether a turn only proposed or assessed, and the user asked to carry it out.
fn is_acted_on(turn: &Turn<'_>, next: &Turn<'_>) -> bool {
    let points = |request: &UserRequest<'_>| {
        refers_without_naming(&request.text) && !request.text.ends_with('?')
    };
    !turn.has_work()
        && (turn.is_proposal()
            || next.reaction == Reaction::Confirmation
            || next.request.as_ref().is_some_and(points))
}

/// Whether a turn only gave advice that the user did not want.
fn is_advice_rejected(turn: &Turn<'_>, next: &Turn<'_>) -> bool {
    !turn.has_work() && next.reaction == Reaction::Correction
}

/// Whether the user did not accept the work of a turn, and the next one changed it.
fn is_work_rejected(turn: &Turn<'_>, next: &Turn<'_>, prompt: &str) -> bool {
    #[rustfmt::skip]
    const REJECTIONS: &[&str] = &[
        "no,", "no.", "no -", "no —", "nope", "wrong", "that's wrong", "this is wrong", "that's not", "that is not",
        "not what i", "i meant", "i said", "i didn't ask", "undo", "revert", "不对", "错了", "回滚", "нет,", "nein",
    ];
    turn.has_work() && next.has_work() && begins_with_any(prompt.trim_start(), REJECTIONS)
}

/// Whether a turn reports a result or a cause, and the next prompt denies it.
pub(crate) fn is_claim_denied(turn: &Turn<'_>, next: &str) -> bool {
    const SHORT_WORDS_MAX: usize = 12;
    let Some((_, found)) = &turn.conclusion else { return false };
    let is_claim = matches!(find_cue(&found.text), Some((Cue::Outcome | Cue::Cause, 2..)))
        || turn.has_work()
        || reports_success(&found.text);
    let prompt = tome_text::first_chars(next.trim_start(), DENIAL_CHARS_MAX);
    if !is_claim || !denies(prompt) {
        return false;
    }
    let subject = turn.request.as_ref().map_or("", |request| request.text.as_str());
    let subject = format!("{subject} {}", found.text);
    let shared = TermSet::from_text(prompt).count_shared(&TermSet::from_text(&subject));
    shared > 0 || count_words(prompt) <= SHORT_WORDS_MAX
}

/// Characters of a prompt that are read for a denial.
const DENIAL_CHARS_MAX: usize = 300;

/// Whether a statement reports success.
fn reports_success(text: &str) -> bool {
    const SUCCESS: [&str; 7] = ["clean", "pass", "passes", "passing", "green", "works", "correct"];
    let lower = to_lower(text);
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| SUCCESS.contains(&word))
}

/// Beginnings of prompts that ask to undo the work.
const TAKEN_BACK: &[&str] = &["revert", "undo", "roll back", "go back to", "wrong"];

/// Whether a prompt reports that something does not work, or asks to undo it. An order ("add a test for when
/// it fails") and a confirmation do not.
fn denies(prompt: &str) -> bool {
    #[rustfmt::skip]
    const PHRASES: [&str; 22] = [
        "still ", "doesn't", "does not", "doesnt", "didn't", "did not", "didnt", "isn't", "not working",
        "deeper than", "it fails", "fails with", "is failing", "timed out", "timing out", "is broken", "it crashes",
        "same error", "same problem", "same issue", "you missed", "not what i",
    ];
    let lower = to_lower(prompt);
    let is_failure = || prompt.lines().any(|line| score_failure(line) >= FAILURE_SCORE_MIN);
    if says_still_wrong(prompt) || begins_with_any(prompt, TAKEN_BACK) {
        return true;
    }
    // It names the error that is gone.
    const ACCEPTS: [&str; 10] = [
        "問題ありません",
        "問題ない",
        "解消",
        "解決しました",
        "没问题",
        "已解决",
        "已经解决",
        "no longer fails",
        "works now",
        "is fixed now",
    ];
    let is_other = is_order(prompt)
        || ACCEPTS.iter().any(|phrase| lower.contains(phrase))
        || classify_reaction(prompt) == Reaction::Confirmation
        || lower.contains("i didn't know");
    !is_other && (PHRASES.iter().any(|phrase| lower.contains(phrase)) || is_failure())
}

/// Failure score of a line that certainly reports a failure.
const FAILURE_SCORE_MIN: u32 = 6;

/// Parts of sentences that retract an earlier statement.
const REFUTATIONS: [&str; 10] = [
    " actually ",
    "turns out",
    "turned out",
    "after all",
    " was wrong",
    "not the cause",
    "wasn't the",
    "not true",
    " in fact ",
    "i was mistaken",
];

/// Whether the answer to the next turn, which carries out what a turn proposed, finds it wrong.
pub(crate) fn is_corrected(turn: &Turn<'_>, next: &Turn<'_>) -> bool {
    const DISMISSALS: [&str; 6] =
        [" as incorrect", " as wrong", " misread", "false positive", "was incorrect", "were wrong"];
    let contains_any = |text: &str, marks: &[&str]| {
        let lower = to_lower(text);
        marks.iter().any(|mark| lower.contains(mark))
    };
    let concluded = next.conclusion.as_ref().map(|(_, found)| found.text.as_str());
    let mut sentences = next.answer_parts.sentences.iter();
    let is_refuted = is_superseded(turn, next)
        && turn.conclusion.is_some()
        && (concluded.is_some_and(|text| contains_any(text, &REFUTATIONS))
            || sentences.any(|sentence| contains_any(&sentence.plain, &DISMISSALS)));
    is_refuted || find_refutation(turn, next).is_some()
}

/// Finds the sentence in which the next turn, asked to act on the conclusion of a turn, refutes it. It begins
/// the answer or concludes it, and names something that the turn had named.
fn find_refutation<'t>(turn: &Turn<'_>, next: &'t Turn<'_>) -> Option<&'t str> {
    #[rustfmt::skip]
    const NOT_SO: [&str; 20] = [
        " is actually ", " are actually ", " was actually ", " were actually ", "isn't actually", "aren't actually",
        " actually not ", "turns out", "turned out", "after all,", "after all.", "not the cause", "wasn't the cause",
        "not true", "i was wrong", "i was mistaken", "my earlier", "my previous", "i misread", "that was incorrect",
    ];
    let (_, claim) = turn.conclusion.as_ref().filter(|_| is_acted_on(turn, next))?;
    // In the answer to a new question, "actually" has no such meaning.
    let asks = next.request.as_ref().is_some_and(|request| is_asked(&request.text));
    if asks && !next.has_work() {
        return None;
    }
    let claimed = TermSet::from_text(&claim.text);
    let concluded = next.conclusion.as_ref().map(|(_, found)| found.text.as_str());
    let first = next.answer_parts.sentences.first().map(|first| first.plain.as_str());
    concluded.into_iter().chain(first).find(|text| {
        let lower = to_lower(text);
        NOT_SO.iter().any(|mark| lower.contains(mark))
            && TermSet::from_text(text).count_shared(&claimed) > 0
    })
}

fn is_asked(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "why ", "how ", "what ", "where ", "when ", "which ", "who ", "is ", "are ", "does ", "did ", "can ", "could ",
        "should ", "would ", "will ", "isn't ", "aren't ", "doesn't ", "didn't ", "warum ", "wie ", "почему ", "как ",
    ];
    text.ends_with(['?', '？', '吗', '嗎', '呢', 'か']) || begins_with_any(text, WORDS)
}

/// Finds the sentence in which a prompt denies the result of the turn before it. A question does not deny it,
/// and neither does a remark about something else.
fn find_denial<'t>(turn: &Turn<'_>, next: &'t Turn<'_>) -> Option<&'t str> {
    const SENTENCES_MAX: usize = 3;
    let (_, claim) = turn.conclusion.as_ref()?;
    let subject = turn.request.as_ref().map_or("", |request| request.text.as_str());
    let subject = format!("{subject} {}", claim.text);
    let claimed = TermSet::from_text(&subject);
    let sentences = next.prompt_parts.sentences.iter().take(SENTENCES_MAX);
    sentences.map(|sentence| sentence.plain.as_str()).find(|text| {
        let is_shared = || TermSet::from_text(text).count_shared(&claimed) > 0;
        !is_asked(text)
            && is_claim_denied(turn, text)
            && (says_still_wrong(text) || begins_with_any(text, TAKEN_BACK) || is_shared())
    })
}

/// A message that contradicts the conclusion of the turn before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// Index of the message in the events.
    pub event: usize,
    /// The sentence that contradicts it.
    pub text: String,
}

/// Determines whether a turn contradicts the conclusion of the turn before it: the user denies it, or the
/// agent, asked to act on it, finds it wrong. `prompt` is the index of the turn's prompt.
pub fn find_correction(events: &[Event], prompt: usize) -> Option<Correction> {
    let turns = read_turns(events);
    let at = turns.iter().position(|turn| turn.prompt == Some(prompt))?;
    let (turn, next) = (turns.get(at.checked_sub(1)?)?, turns.get(at)?);
    if let Some(text) = find_denial(turn, next) {
        return Some(Correction { event: prompt, text: text.to_owned() });
    }
    let text = find_refutation(turn, next)?.to_owned();
    let (event, _) = next.final_answer(events)?;
    Some(Correction { event, text })
}

/// How a prompt may contradict the answer before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptReply {
    /// It does not refer to the answer.
    Neutral,
    /// Its own words may deny the answer.
    MayDeny,
    /// It only consents; the answer to it may refute the earlier one.
    Consents,
}

impl PromptReply {
    /// Classifies a prompt by its words alone.
    pub fn classify(prompt: &str) -> Self {
        if classify_reaction(prompt) == Reaction::Confirmation || refers_without_naming(prompt) {
            Self::Consents
        } else if denies(tome_text::first_chars(prompt.trim_start(), DENIAL_CHARS_MAX)) {
            Self::MayDeny
        } else {
            Self::Neutral
        }
    }
}

/// Drops conclusions that a later one overturns.
pub(crate) fn drop_refuted(facts: &mut Vec<DraftFact>) {
    let takes_back = |fact: &DraftFact| {
        let lower = fact.text.to_lowercase();
        REFUTATIONS.iter().any(|mark| lower.contains(mark))
    };
    let later: Vec<(usize, String)> = facts
        .iter()
        .filter(|fact| fact.kind == FactKind::Outcome && takes_back(fact))
        .map(|fact| (fact.event, fact.text.clone()))
        .collect();
    if later.is_empty() {
        return;
    }
    let later: Vec<(usize, TermSet<'_>)> =
        later.iter().map(|(event, text)| (*event, TermSet::from_text(text))).collect();
    facts.retain(|fact| {
        let about = TermSet::from_text(&fact.text);
        fact.kind != FactKind::Outcome
            || !later
                .iter()
                .any(|(event, terms)| *event > fact.event && about.overlap_percent(terms) >= 20)
    });
}

/// Returns for each result of a period, in order of time, whether a later one admits that it was wrong. Words such as
/// "actually" are no proof beyond one segment.
pub(crate) fn find_refuted_results(results: &[&str]) -> Vec<bool> {
    const OVERLAP_PERCENT_MIN: usize = 20;
    let later: Vec<(usize, TermSet<'_>)> = results
        .iter()
        .enumerate()
        .filter(|(_, text)| admits_mistake(text))
        .map(|(at, text)| (at, TermSet::from_text(text)))
        .collect();
    let is_refuted = |(at, text): (usize, &&str)| {
        let mut later = later.iter().filter(|(place, _)| *place > at).peekable();
        later.peek().is_some() && {
            let about = TermSet::from_text(text);
            later.any(|(_, terms)| about.overlap_percent(terms) >= OVERLAP_PERCENT_MIN)
        }
    };
    results.iter().enumerate().map(is_refuted).collect()
}

/// Beginnings of a choice that replaces the one before it.
const SECOND_THOUGHTS: &[&str] = &[
    "actually",
    "on second thought",
    "on second thoughts",
    "scratch that",
    "never mind",
    "nevermind",
];

/// Removes the words with which a choice replaces the one before it: "actually, let's use tabs".
pub(crate) fn skip_second_thought(sentence: &str) -> &str {
    let rest = SECOND_THOUGHTS.iter().find_map(|mark| strip_prefix_ignoring_case(sentence, mark));
    let rest = rest.map(|rest| rest.trim_start_matches([',', '.', ':', '-', '–', '—', ' ']));
    rest.filter(|rest| count_words(rest) >= 3).unwrap_or(sentence)
}

/// Drops the choice before one that begins with a second thought.
pub(crate) fn drop_replaced_choices(facts: &mut Vec<DraftFact>) {
    let is_decision = |fact: &DraftFact| fact.kind == FactKind::Decision;
    let replaces = |fact: &DraftFact| {
        let said = fact.evidence.last().map_or("", |last| last.excerpt.trim_start());
        is_decision(fact) && begins_with_any(said, SECOND_THOUGHTS)
    };
    while let Some(at) = (1..facts.len()).find(|at| {
        let before = facts.get(..*at).unwrap_or_default();
        facts.get(*at).is_some_and(replaces)
            && before.iter().rev().find(|fact| is_decision(fact)).is_some_and(|one| !replaces(one))
    }) {
        let before = facts.get(..at).unwrap_or_default();
        let Some(replaced) = before.iter().rposition(is_decision) else { return };
        facts.remove(replaced);
    }
}

/// Keeps the last of several answers to one question, and of one answer to several questions.
pub(crate) fn drop_repeated_answers(facts: &mut Vec<DraftFact>) {
    let split = |fact: &DraftFact| {
        let (question, answer) = fact.text.split_once(QUESTION_END)?;
        let is_answer = fact.kind == FactKind::Outcome && fact.evidence.len() > 1;
        is_answer.then(|| (question.to_owned(), answer.to_owned()))
    };
    let answers: Vec<Option<(String, String)>> = facts.iter().map(split).collect();
    let mut index = 0;
    facts.retain(|_| {
        let own = answers.get(index).cloned().flatten();
        index += 1;
        let Some((question, answer)) = own else { return true };
        let mut later = answers.iter().skip(index).flatten();
        !later.any(|(other, its_answer)| *other == question || *its_answer == answer)
    });
}
