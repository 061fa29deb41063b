//! Collects the facts of a segment from its turns. Every fact has a verbatim excerpt that shows it.

use std::collections::BTreeMap;

use tome_model::{Event, FactKind, FileAction};
use tome_text::{count_words, truncate_words};

use super::answer::{
    begins_with_pronoun, is_check_report, is_empty_phrase, is_generic_sentence, names_subject,
};
use super::changed_files::{changed_files, render_changes};
use super::checks::add_checks;
use super::choices::{find_choices, find_chosen_answer, find_consent, find_option_choice};
use super::clause::{capitalize, cut_clause};
use super::commits::FinishedRebase;
use super::cues::{Cue, find_cue};
use super::draft_fact::{DraftFact, FACT_CHARS_MAX, QUESTION_END, build_evidence};
use super::failures::{render_failure_message, score_failure};
use super::problems::{add_problems, find_open_end};
use super::prompt_facts::{add_prompt_facts, read_rejection};
use super::prose::prompt_text;
use super::reaction::{Reaction, says_still_wrong};
use super::request::{UserRequest, refers_without_naming};
use super::similarity::TermSet;
use super::terms::has_name;
use super::text::{begins_with_any, plain_text, to_lower};
use super::turn::{Turn, read_turns};
use crate::Evidence;

/// Characters of a request before its conclusion.
const QUESTION_CHARS_MAX: usize = 80;
/// Of a longer request, the beginning would not say enough.
const QUESTION_CUT_MAX: usize = 160;
/// A result weighs more than the report of a check.
pub(super) const OUTCOME_WEIGHT_MIN: u32 = 4;
/// Facts of one segment or session.
const FACTS_MAX: usize = 400;

/// Before what an agent only proposes to do.
pub(super) const PROPOSED: &str = "Proposed: ";

/// Before the line of a pasted log or trace that an answer is about.
const PASTED: &str = "Pasted: ";

/// The turns of a segment and the facts found in them.
#[derive(Debug)]
pub(super) struct SegmentFacts<'a> {
    pub(super) turns: Vec<Turn<'a>>,
    pub(super) branch: Option<&'a str>,
    /// In order of time; the title comes first.
    pub(super) facts: Vec<DraftFact>,
}

/// The prompts before and after a segment that say what it is about, and whether it holds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PromptsAround<'e> {
    pub(super) earlier_request: Option<&'e Event>,
    pub(super) next_prompt: Option<&'e Event>,
}

/// Reads the turns of a segment and collects their facts.
pub(super) fn collect_facts<'a>(
    events: &'a [Event],
    around: PromptsAround<'_>,
) -> SegmentFacts<'a> {
    let PromptsAround { earlier_request, next_prompt } = around;
    let turns = read_turns(events);
    let branch = turns.iter().rev().find_map(|turn| turn.branch).filter(|name| !is_main(name));
    let mut facts = Vec::new();
    for (index, turn) in turns.iter().enumerate() {
        let from = facts.len();
        let before = index.checked_sub(1).and_then(|before| turns.get(before));
        add_turn_facts(turn, before, events, &mut facts);
        let next = turns.get(index + 1);
        facts.extend(find_outcome(turn, next).or_else(|| find_request(turn)));
        if let Some(before) = before {
            let chosen = find_option_choice(before, turn, events);
            let chosen = chosen.or_else(|| find_chosen_answer(before, turn, events));
            facts.extend(chosen.or_else(|| find_consent(before, turn)));
        }
        let is_overtaken = |next: &Turn<'_>| {
            is_superseded(turn, next)
                || is_advice_rejected(turn, next)
                || is_work_rejected(turn, next)
                || is_claim_denied(turn, &next.prompt_text(events))
        };
        let is_denied_after = next.is_none()
            && next_prompt.is_some_and(|prompt| is_claim_denied(turn, &prompt_text(&prompt.text)));
        if is_denied_after || next.is_some_and(is_overtaken) {
            let own = facts.split_off(from);
            facts.extend(own.into_iter().filter(|fact| fact.kind != FactKind::Outcome));
        }
    }
    add_problems(&turns, events, &mut facts);
    add_checks(&turns, &mut facts);
    let changed = changed_files(&turns);
    let named: Vec<Evidence> =
        changed.iter().take(3).map(|file| build_evidence(file.event, file.raw)).collect();
    facts.extend(
        render_changes(&changed, 4)
            .and_then(|text| DraftFact::new(FactKind::Change, &text, 1, named)),
    );
    if let Some(last) = turns.last() {
        facts.extend(find_open_end(last, events, &facts));
    }
    facts.sort_by_key(|fact| fact.event);
    keep_last_titles(&mut facts);
    facts.truncate(FACTS_MAX);
    drop_refuted(&mut facts);
    drop_repeated_answers(&mut facts);
    let titles = super::title::find_titles(&turns, events, earlier_request, branch);
    facts.splice(0..0, titles);
    SegmentFacts { turns, branch, facts }
}

/// Whether a turn only proposed or assessed, and the next one carried it out: then the result tells
/// more, and may differ.
fn is_superseded(turn: &Turn<'_>, next: &Turn<'_>) -> bool {
    let points = |request: &UserRequest<'_>| {
        refers_without_naming(&request.text) && !request.text.ends_with('?')
    };
    !turn.has_work()
        && next.has_work()
        && next.conclusion.is_some()
        && (turn.is_proposal()
            || next.reaction == Reaction::Confirmation
            || next.request.as_ref().is_some_and(points))
}

/// Whether a turn only gave advice that the user did not want.
fn is_advice_rejected(turn: &Turn<'_>, next: &Turn<'_>) -> bool {
    !turn.has_work() && next.reaction == Reaction::Correction
}

/// Whether the user did not accept the work of a turn, and the next one changed it.
fn is_work_rejected(turn: &Turn<'_>, next: &Turn<'_>) -> bool {
    turn.has_work() && next.reaction == Reaction::Correction && next.has_work()
}

/// Whether a turn reports a result or a cause, and the next prompt says that it does not hold.
fn is_claim_denied(turn: &Turn<'_>, next: &str) -> bool {
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

/// Whether a statement says that all is well.
fn reports_success(text: &str) -> bool {
    #[rustfmt::skip]
    const SUCCESS: [&str; 9] = [
        "clean", "all pass", "tests pass", "passing", "no unresolved", "all green", "works", "is working",
        "is correct",
    ];
    let lower = to_lower(text);
    SUCCESS.iter().any(|mark| lower.contains(mark))
}

/// Whether a prompt says that something does not work, or takes something back.
fn denies(prompt: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 30] = [
        "still ", "doesn't", "does not", "doesnt", "didn't", "did not", "didnt", "isn't", "not working",
        "not work", "wrong", "deeper than", "fails", "failing", "failed", "timed out", "timing out", "broken",
        "crashes", "same error", "same problem", "same issue", "you missed", "what about", "revert",
        "undo ", "roll back", "rollback", "go back to", "not what",
    ];
    let lower = to_lower(prompt).replace('’', "'");
    says_still_wrong(prompt)
        || WORDS.iter().any(|word| lower.contains(word))
        || prompt.lines().any(|line| score_failure(line) >= FAILURE_SCORE_MIN)
}

/// Of a line that reports a failure without doubt.
const FAILURE_SCORE_MIN: u32 = 6;

/// Whether a statement begins by pointing at what was said before it: "It's live", "Yes.", "Both gaps".
fn begins_with_reference(text: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "yes", "no", "your", "everything's", "exactly", "that's", "it's", "they're", "those", "the design",
        "the revised", "your ruling", "on it", "same", "also", "again",
    ];
    begins_with_pronoun(text) || begins_with_any(text, STARTS)
}

/// Parts of sentences that take back what was said before.
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
pub(super) fn is_corrected(turn: &Turn<'_>, next: &Turn<'_>) -> bool {
    const DISMISSALS: [&str; 6] =
        ["as incorrect", "as wrong", " misread", "false positive", "was incorrect", "were wrong"];
    let contains_any = |text: &str, marks: &[&str]| {
        let lower = to_lower(text);
        marks.iter().any(|mark| lower.contains(mark))
    };
    let mut sentences = next.answer_parts.sentences.iter();
    is_superseded(turn, next)
        && turn.conclusion.is_some()
        && (next
            .conclusion
            .as_ref()
            .is_some_and(|(_, found)| contains_any(&found.text, &REFUTATIONS))
            || sentences.any(|sentence| contains_any(&sentence.plain, &DISMISSALS)))
}

/// Drops conclusions that a later one takes back.
fn drop_refuted(facts: &mut Vec<DraftFact>) {
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

/// Of a pull request that got another title, keeps the last one. Each is told once.
fn keep_last_titles(facts: &mut Vec<DraftFact>) {
    let mut titles: BTreeMap<String, String> = BTreeMap::new();
    let split = |fact: &DraftFact| {
        let is_pull = fact.kind == FactKind::PullRequest;
        let (name, title) = fact.text.split_once(": ").filter(|_| is_pull)?;
        let (_, number) = name.split_once('#')?;
        Some((number.to_owned(), title.to_owned()))
    };
    titles.extend(facts.iter().filter_map(split));
    facts.retain(|fact| {
        let Some((number, title)) = split(fact) else { return true };
        match titles.get(&number) {
            Some(last) if *last == title => titles.remove(&number).is_some(),
            _ => false,
        }
    });
}

/// Keeps the last of several answers to one question, and of one answer to several questions.
fn drop_repeated_answers(facts: &mut Vec<DraftFact>) {
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

/// Branches that do not tell one piece of work from another.
fn is_main(branch: &str) -> bool {
    matches!(branch, "main" | "master" | "trunk" | "develop" | "dev" | "HEAD" | "")
}

fn add_turn_facts(
    turn: &Turn<'_>,
    before: Option<&Turn<'_>>,
    events: &[Event],
    facts: &mut Vec<DraftFact>,
) {
    for commit in &turn.commits {
        let text = match commit.hash {
            Some(hash) => format!("{} ({})", commit.subject, tome_text::first_chars(hash, 8)),
            None => commit.subject.to_owned(),
        };
        let evidence = vec![build_evidence(commit.event, commit.raw)];
        facts.extend(DraftFact::new(FactKind::Commit, &text, 10, evidence));
    }
    for pull in &turn.pulls {
        let title = pull.title.map_or(String::new(), |title| format!(": {}", plain_text(title)));
        let opened = if pull.is_opened { "Opened PR" } else { "PR" };
        let evidence = vec![build_evidence(pull.event, pull.raw)];
        facts.extend(DraftFact::new(
            FactKind::PullRequest,
            &format!("{opened} #{}{title}", pull.number),
            if pull.is_opened { 10 } else { 5 },
            evidence,
        ));
    }
    if let Some(rebase) = &turn.rebase {
        let text = describe_rebase(rebase);
        let evidence = vec![build_evidence(rebase.event, rebase.raw)];
        facts.extend(DraftFact::new(FactKind::Outcome, &text, 6, evidence));
    }
    if let Some((at, prompt)) = turn.prompt.and_then(|at| Some((at, events.get(at)?))) {
        add_prompt_facts(turn, before, (at, &prompt.text), facts);
    }
    facts.extend(turn.rejections.iter().filter_map(|(at, words)| read_rejection(*at, words)));
    for (at, event) in turn.events.clone().filter_map(|at| Some((at, events.get(at)?))) {
        facts.extend(find_choices(at, event));
    }
    facts.extend(find_agent_decision(turn, events));
}

pub(super) fn describe_rebase(rebase: &FinishedRebase<'_>) -> String {
    match rebase.branch {
        Some(branch) => format!("Rebased the branch {branch}"),
        None => "Finished a rebase without a branch".to_owned(),
    }
}

/// A request and the conclusion of its answer.
fn find_outcome(turn: &Turn<'_>, next: Option<&Turn<'_>>) -> Option<DraftFact> {
    let (at, conclusion) = turn.conclusion.as_ref()?;
    let request = turn.request.as_ref().filter(|request| is_worth_repeating(request, turn));
    let request = request.filter(|request| belongs_together(request, &conclusion.text, turn));
    // The words at a rejected call asked for something else.
    let request = request.filter(|_| turn.rejections.is_empty());
    let shorten = |text: &str| cut_clause(text, QUESTION_CHARS_MAX);
    let subject = request.map(|request| (request.event, request.raw, shorten(&request.text)));
    let subject = subject.or_else(|| find_pasted_failure(turn, &conclusion.text));
    let proposed = if turn.is_proposal() { PROPOSED } else { "" };
    let mut evidence = Vec::new();
    let text = match subject {
        Some((event, raw, text)) => {
            evidence.push(build_evidence(event, raw));
            let question = text.trim_end_matches(['.', '。', ':', '：', ' ']);
            let question = capitalize(&question.replace(QUESTION_END, ", "));
            let room = FACT_CHARS_MAX.saturating_sub(question.chars().count() + QUESTION_END.len());
            format!("{question}{QUESTION_END}{proposed}{}", conclusion.render(room.max(80)))
        }
        None if begins_with_reference(&conclusion.lead) => return None,
        // Its own dash must not look like the one after a request.
        None => {
            format!("{proposed}{}", conclusion.render(FACT_CHARS_MAX).replace(QUESTION_END, " – "))
        }
    };
    evidence.extend(conclusion.raws.iter().map(|raw| build_evidence(*at, raw)));
    // A conclusion about "3 and 7" needs a name of its own.
    let says_nothing = is_generic_sentence(&conclusion.text)
        || is_empty_phrase(&conclusion.text)
        || conclusion.text.ends_with([':', '：']);
    if says_nothing && conclusion.items.is_empty() {
        return None;
    }
    let by_number = turn.request.as_ref().is_some_and(|request| refers_by_number(&request.text));
    if by_number && !has_name(&conclusion.text) {
        return None;
    }
    let checks = is_check_report(&conclusion.lead) && !names_subject(&conclusion.lead);
    let weight = if checks { 2 } else { weigh_outcome(turn, next, &text) };
    DraftFact::new(FactKind::Outcome, &text, weight, evidence)
}

/// Weighs what a turn came to as the result of its session: by the work that it took, and by how much the
/// text says. Of 105 public sessions, readers found the weightiest result fit to stand for the session in
/// three of four, if later ones weigh a little more; the last result alone, in half of them. A proposal,
/// or what the user objected to next, counts for less.
fn weigh_outcome(turn: &Turn<'_>, next: Option<&Turn<'_>>, text: &str) -> u32 {
    const TEXT_CHARS: usize = 160;
    let files = turn.files.iter().filter(|file| file.action != FileAction::Read).count();
    let length = text.chars().count().min(TEXT_CHARS) * 10 / TEXT_CHARS;
    let work = turn.events.len().min(20) + files.min(5) * 3 + turn.commits.len().min(2) * 4;
    let is_rejected = next.is_some_and(|next| next.reaction == Reaction::Correction);
    let doubt = usize::from(is_rejected) * 8 + usize::from(turn.is_proposal()) * 12;
    u32::try_from((work + length).saturating_sub(doubt)).unwrap_or(0) + OUTCOME_WEIGHT_MIN
}

/// The failure in a pasted log, if the conclusion speaks of "the issue" and names nothing.
fn find_pasted_failure<'a>(turn: &Turn<'a>, conclusion: &str) -> Option<(usize, &'a str, String)> {
    let request = turn.request.as_ref()?;
    let line = request.failure?;
    let is_named = has_name(conclusion);
    let text = truncate_words(&render_failure_message(line), QUESTION_CHARS_MAX);
    let text = format!("{PASTED}{text}");
    (!is_named).then_some((request.event, line, text))
}

/// Whether a conclusion can be the answer to a request. After long work on a question, the answer
/// often concludes something else.
fn belongs_together(request: &UserRequest<'_>, conclusion: &str, turn: &Turn<'_>) -> bool {
    let asks = request.text.ends_with(['?', '？']);
    let shares = || {
        let of_request = TermSet::from_text(&request.text);
        TermSet::from_text(conclusion).count_shared(&of_request) > 0
    };
    !asks || !turn.has_work() || shares()
}

fn is_worth_repeating(request: &UserRequest<'_>, turn: &Turn<'_>) -> bool {
    // A remark in passing ("I'm still here") is not what the answer is about.
    let wants_answer = request.is_asked || turn.begins_session || reports_trouble(&request.text);
    !request.pasted
        && wants_answer
        && request.is_sure
        && turn.plan.is_none()
        && turn.reaction != Reaction::Confirmation
        && request.weight >= 2
        && request.text.chars().count() <= QUESTION_CUT_MAX
        && count_words(&request.text) >= 3
        && !refers_by_number(&request.text)
        && !begins_with_pronoun(&request.text)
        && super::title::is_main_clause(request.text.trim_end_matches([':', '：']))
}

/// Whether a remark says that something is wrong. In other scripts, that is not known.
fn reports_trouble(text: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 14] = [
        " not ", "n't", "n’t", " no ", "fail", "error", "broken", "wrong", "missing", "crash", "slow", " bug",
        "still ", "cannot",
    ];
    let lower = to_lower(text);
    !text.is_ascii() || WORDS.iter().any(|word| lower.contains(word))
}

/// Whether a request names its subject by numbers only: "Investigate 3 and 7".
pub(super) fn refers_by_number(text: &str) -> bool {
    let is_number = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())
    };
    const NOUNS: [&str; 6] = ["item", "items", "comment", "comments", "point", "points"];
    let mut rest = text.split_whitespace().skip(1).skip_while(|word| NOUNS.contains(word));
    rest.next().is_some_and(|word| is_number(&word)) && !has_name(text)
}

/// A request without a conclusion.
fn find_request(turn: &Turn<'_>) -> Option<DraftFact> {
    let request = turn.request.as_ref()?;
    let says = request.weight >= 4
        && request.is_sure
        && request.is_asked
        && !request.pasted
        && !refers_by_number(&request.text)
        && !request.text.ends_with(['?', '？', '吗', '嗎', '呢', 'か'])
        && super::title::is_main_clause(&request.text);
    let evidence = vec![build_evidence(request.event, request.raw)];
    let text = capitalize(&request.text);
    says.then(|| DraftFact::new(FactKind::Request, &text, request.weight, evidence)).flatten()
}

/// A choice of the agent that its final answer gives a reason for.
fn find_agent_decision(turn: &Turn<'_>, events: &[Event]) -> Option<DraftFact> {
    const REASONS: [&str; 7] =
        ["because", " since ", "so that", " to avoid ", "due to", "原因", "因为"];
    const CHOICES: [&str; 8] = [
        "decided",
        "chose",
        "opted",
        "went with",
        "going with",
        "instead of",
        "rather than",
        "改用",
    ];
    let (at, _) = turn.final_answer(events)?;
    turn.answer_parts.sentences.iter().find_map(|sentence| {
        let text = &sentence.plain;
        let lower = to_lower(text);
        let fits = CHOICES.iter().any(|word| lower.contains(word))
            && REASONS.iter().any(|word| lower.contains(word))
            && matches!(find_cue(text), Some((Cue::Decision | Cue::Cause, 4..)))
            && (7..=40).contains(&count_words(text))
            && !text.ends_with(['?', ':'])
            && !begins_with_pronoun(text)
            && !begins_with_any(text, &["agreed"]);
        let evidence = || vec![build_evidence(at, sentence.raw)];
        fits.then(|| DraftFact::new(FactKind::Decision, &capitalize(text), 5, evidence()))?
    })
}
