//! Collects the facts of a segment from its turns. Every fact has a verbatim excerpt that shows it.

use tome_model::{Event, FactKind};
use tome_text::{count_words, truncate_words};

use super::answer::{find_closing_question, is_check_report, names_subject};
use super::changes::{changed_files, render_changes};
use super::checks::add_checks;
use super::choices::{find_choices, find_option_choice};
use super::clause::{capitalize, cut_clause};
use super::commits::FinishedRebase;
use super::courtesy::{is_polite, strip_courtesy};
use super::cues::{Cue, find_cue};
use super::draft_fact::{DraftFact, FACT_CHARS_MAX, QUESTION_END, QUESTIONED, build_evidence};
use super::failures::render_failure_message;
use super::files::FileTouchKind;
use super::problems::{add_problems, find_open_end, is_chore_offer};
use super::reaction::{Reaction, is_convention, skip_confirmation};
use super::request::{UserRequest, refers_without_naming};
use super::similarity::TermSet;
use super::terms::{TermKind, extract_terms, has_name};
use super::text::{begins_with_any, plain_text, to_lower};
use super::turn::{Turn, read_turns};
use crate::Evidence;

/// A longer request is not repeated before its conclusion.
const QUESTION_CHARS_MAX: usize = 80;
/// Facts of one segment or session.
const FACTS_MAX: usize = 400;

/// Before what an agent only proposes to do.
pub(super) const PROPOSED: &str = "Proposed: ";

/// The turns of a segment and the facts found in them.
#[derive(Debug)]
pub(super) struct SegmentFacts<'a> {
    pub(super) turns: Vec<Turn<'a>>,
    pub(super) branch: Option<&'a str>,
    /// In order of time; the title comes first.
    pub(super) facts: Vec<DraftFact>,
}

/// Reads the turns of a segment and collects their facts.
pub(super) fn collect_facts<'a>(events: &'a [Event], overlap: &'a [Event]) -> SegmentFacts<'a> {
    let turns = read_turns(events);
    let branch = turns.iter().rev().find_map(|turn| turn.branch).filter(|name| !is_main(name));
    let mut facts = Vec::new();
    for (index, turn) in turns.iter().enumerate() {
        let from = facts.len();
        add_turn_facts(turn, events, &mut facts);
        let before = index.checked_sub(1).and_then(|before| turns.get(before));
        if let Some(before) = before {
            let chosen = find_option_choice(before, turn, events);
            let chosen = chosen.or_else(|| find_chosen_answer(before, turn, events));
            facts.extend(chosen.or_else(|| find_consent(before, turn)));
        }
        let next = turns.get(index + 1);
        if next.is_some_and(|next| is_superseded(turn, next)) {
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
    if let Some(open) = turns.last().and_then(|last| find_open_end(last, events, &facts)) {
        // A check that still fails is open, and told once.
        facts.retain(|fact| fact.kind != FactKind::Problem || fact.event != open.event);
        facts.push(open);
    }
    facts.truncate(FACTS_MAX);
    facts.sort_by_key(|fact| fact.event);
    drop_refuted(&mut facts);
    drop_repeated_answers(&mut facts);
    let titles = super::title::find_titles(&turns, events, overlap, branch);
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
        && (next.reaction == Reaction::Confirmation || next.request.as_ref().is_some_and(points))
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

/// Keeps the last of several answers to one question.
fn drop_repeated_answers(facts: &mut Vec<DraftFact>) {
    let question_of = |fact: &DraftFact| {
        let question = fact.text.split_once(QUESTION_END)?.0;
        (fact.kind == FactKind::Outcome && fact.evidence.len() > 1).then(|| question.to_owned())
    };
    let questions: Vec<Option<String>> = facts.iter().map(question_of).collect();
    let mut index = 0;
    facts.retain(|_| {
        let own = questions.get(index).cloned().flatten();
        index += 1;
        own.is_none() || !questions.iter().skip(index).any(|later| *later == own)
    });
}

/// Branches that do not tell one piece of work from another.
fn is_main(branch: &str) -> bool {
    matches!(branch, "main" | "master" | "trunk" | "develop" | "dev" | "HEAD" | "")
}

fn add_turn_facts(turn: &Turn<'_>, events: &[Event], facts: &mut Vec<DraftFact>) {
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
    if let Some(at) = turn.prompt {
        add_prompt_facts(turn, at, facts);
    }
    facts.extend(turn.rejections.iter().filter_map(|(at, words)| read_rejection(*at, words)));
    for (at, event) in turn.events.clone().filter_map(|at| Some((at, events.get(at)?))) {
        facts.extend(find_choices(at, event));
    }
    facts.extend(find_outcome(turn).or_else(|| find_request(turn)));
    facts.extend(find_agent_decision(turn, events));
}

pub(super) fn describe_rebase(rebase: &FinishedRebase<'_>) -> String {
    match rebase.branch {
        Some(branch) => format!("Rebased the branch {branch}"),
        None => "Finished a rebase without a branch".to_owned(),
    }
}

/// Adds the decisions, corrections and rules in a prompt.
fn add_prompt_facts(turn: &Turn<'_>, at: usize, facts: &mut Vec<DraftFact>) {
    let is_plan = turn.plan.is_some_and(|plan| plan.event == at);
    if is_plan || turn.prompt_parts.is_pasted() {
        return;
    }
    // Rules in a long text are those of a document that was pasted.
    const SENTENCES_MAX: usize = 30;
    let is_document = turn.prompt_parts.sentences.len() > SENTENCES_MAX;
    let read = if is_document { 3 } else { 20 };
    for (index, sentence) in turn.prompt_parts.sentences.iter().take(read).enumerate() {
        let text = &sentence.plain;
        let words = count_words(text);
        let kind =
            if index == 0 && turn.reaction == Reaction::Correction && (4..=40).contains(&words) {
                FactKind::Correction
            } else if is_convention(text) {
                FactKind::Convention
            } else if (5..=40).contains(&words)
                && !text.ends_with('?')
                && !is_unsure(text)
                && is_choice(text, turn.reaction)
                && names_something(text)
            {
                FactKind::Decision
            } else {
                continue;
            };
        let evidence = vec![build_evidence(at, sentence.raw)];
        let text = if kind == FactKind::Decision { skip_confirmation(text) } else { text };
        facts.extend(DraftFact::new(kind, &capitalize(text), 8, evidence));
    }
}

/// The user's answer to a question of the agent that offers a choice, with that question.
fn find_chosen_answer(before: &Turn<'_>, turn: &Turn<'_>, events: &[Event]) -> Option<DraftFact> {
    const ANSWER_WORDS_MAX: usize = 14;
    const CHOICE_CHARS_MAX: usize = 130;
    let (question_at, _) = before.final_answer(events)?;
    let question = find_closing_question(&before.answer_parts)?;
    let lower = format!(" {}", to_lower(&question.text));
    let offers =
        [" or ", " which ", " what's your preference"].iter().any(|word| lower.contains(word));
    let first = turn.prompt_parts.sentences.first()?;
    let words = count_words(&first.plain);
    if !offers
        || is_chore_offer(&question.text)
        || turn.prompt_parts.is_pasted()
        || turn.reaction == Reaction::Correction
        || !(2..=ANSWER_WORDS_MAX).contains(&words)
        || first.plain.ends_with(['?', '？'])
        || refers_by_number(strip_courtesy(&first.plain))
        || !concerns_question(&first.plain, &question.text)
        || is_unsure(&first.plain)
        || first.plain.starts_with(['/', '`', '$'])
    {
        return None;
    }
    let answer = skip_confirmation(&first.plain);
    let text = format!(
        "{} (to the question \"{}\")",
        capitalize(answer.trim_end_matches(['.', '!', ' '])),
        cut_clause(&question.text, CHOICE_CHARS_MAX)
    );
    let mut evidence: Vec<Evidence> =
        question.raws.iter().map(|raw| build_evidence(question_at, raw)).collect();
    evidence.push(build_evidence(turn.prompt?, first.raw));
    DraftFact::new(FactKind::Decision, &text, 8, evidence)
}

/// The user's consent to what the agent proposed.
fn find_consent(before: &Turn<'_>, turn: &Turn<'_>) -> Option<DraftFact> {
    const CONSENT_WORDS_MAX: usize = 4;
    const AGREED: &str = " (proposed by the agent, agreed)";
    let first = turn.prompt_parts.sentences.first()?;
    let agrees = turn.reaction == Reaction::Confirmation
        && turn.prompt_parts.sentences.len() == 1
        && count_words(&first.plain) <= CONSENT_WORDS_MAX;
    // Leave to commit or to look is no decision: the plan must name steps, and change files.
    let changes = turn.files.iter().any(|file| file.action != FileTouchKind::Read);
    let (at, proposal) = before.conclusion.as_ref().filter(|(_, plan)| {
        agrees && before.is_proposal() && changes && !turn.is_interrupted && plan.items.len() >= 2
    })?;
    let mut evidence: Vec<Evidence> =
        proposal.raws.iter().map(|raw| build_evidence(*at, raw)).collect();
    evidence.push(build_evidence(turn.prompt?, first.raw));
    let proposed = proposal.render(FACT_CHARS_MAX - AGREED.len());
    let text = format!("{}{AGREED}", proposed.trim_end_matches(['.', '。']));
    DraftFact::new(FactKind::Decision, &text, 8, evidence)
}

/// Whether an answer of the user concerns the question: it names something that the question names.
fn concerns_question(answer: &str, question: &str) -> bool {
    let of_question = TermSet::from_text(question);
    TermSet::from_text(answer).count_shared(&of_question) > 0
}

/// The correction in the words of a rejection.
fn read_rejection(at: usize, words: &str) -> Option<DraftFact> {
    let text = capitalize(&plain_text(words));
    // "do we know how it looks?" corrects less than "can we read it instead?"
    let proposes = is_polite(&text) || to_lower(&text).contains(" instead");
    let weight = if proposes || !text.ends_with(['?', '？']) { 8 } else { QUESTIONED };
    DraftFact::new(FactKind::Correction, &text, weight, vec![build_evidence(at, words)])
}

/// Whether the user only supposes or wonders, or speaks of how to talk.
fn is_unsure(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "maybe",
        "what about",
        "how about",
        "perhaps",
        "i thought",
        "hold on",
        "wait",
        "since",
        "i wonder",
        "i was going to",
    ];
    let lower = to_lower(text);
    begins_with_any(text, STARTS) || lower.contains(" i think") || lower.contains("one at a time")
}

/// Whether a sentence of the user chooses: "let's go with …", or "agreed, …".
fn is_choice(text: &str, reaction: Reaction) -> bool {
    let least = if reaction == Reaction::Confirmation { 3 } else { 4 };
    matches!(find_cue(text), Some((Cue::Decision, sure)) if sure >= least)
}

/// Whether a text names what it is about: an identifier, a file, or several content words.
fn names_something(text: &str) -> bool {
    let terms = extract_terms(text);
    terms.iter().any(|term| term.kind != TermKind::Word)
        || terms.len() >= 3 && !refers_without_naming(text)
}

/// A request and the conclusion of its answer.
fn find_outcome(turn: &Turn<'_>) -> Option<DraftFact> {
    let (at, conclusion) = turn.conclusion.as_ref()?;
    let request = turn.request.as_ref().filter(|request| is_worth_repeating(request, turn));
    let request = request.filter(|request| belongs_together(request, &conclusion.text, turn));
    let subject = request.map(|request| (request.event, request.raw, request.text.clone()));
    let subject = subject.or_else(|| find_pasted_failure(turn, &conclusion.text));
    let mut evidence = Vec::new();
    let text = match subject {
        Some((event, raw, text)) => {
            evidence.push(build_evidence(event, raw));
            let question = text.trim_end_matches(['.', '。', ':', '：', ' ']);
            let question = capitalize(&question.replace(QUESTION_END, ", "));
            let room = FACT_CHARS_MAX.saturating_sub(question.chars().count() + QUESTION_END.len());
            format!("{question}{QUESTION_END}{}", conclusion.render(room.max(80)))
        }
        // Its own dash must not look like the one after a request.
        None => conclusion.render(FACT_CHARS_MAX).replace(QUESTION_END, " – "),
    };
    evidence.extend(conclusion.raws.iter().map(|raw| build_evidence(*at, raw)));
    let size = u32::try_from(turn.events.len().min(20)).unwrap_or(20);
    let score = u32::try_from((conclusion.score / 30).clamp(0, 20)).unwrap_or(0);
    let creates = turn.files.iter().any(|file| file.action == FileTouchKind::Created);
    let work = if turn.has_work() {
        8 + u32::from(creates) * 4 + u32::from(!turn.commits.is_empty()) * 4
    } else {
        0
    };
    // A conclusion about "3 and 7" needs a name of its own.
    let by_number = turn.request.as_ref().is_some_and(|request| refers_by_number(&request.text));
    if by_number && !has_name(&conclusion.text) {
        return None;
    }
    let checks = is_check_report(&conclusion.lead) && !names_subject(&conclusion.lead);
    let weight = if checks { 2 } else { 4 + size + score + work };
    let text = if turn.is_proposal() { format!("{PROPOSED}{text}") } else { text };
    DraftFact::new(FactKind::Outcome, &text, weight, evidence)
}

/// The failure in a pasted log, if the conclusion speaks of "the issue" and names nothing.
fn find_pasted_failure<'a>(turn: &Turn<'a>, conclusion: &str) -> Option<(usize, &'a str, String)> {
    let request = turn.request.as_ref()?;
    let line = request.failure?;
    let is_named = has_name(conclusion);
    let text = truncate_words(&render_failure_message(line), QUESTION_CHARS_MAX);
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
    !request.pasted
        && turn.plan.is_none()
        && turn.reaction != Reaction::Confirmation
        && request.weight >= 2
        && request.text.chars().count() <= QUESTION_CHARS_MAX
        && count_words(&request.text) >= 3
        && !refers_by_number(&request.text)
        && super::title::is_main_clause(request.text.trim_end_matches([':', '：']))
}

/// Whether a request names its subject by numbers only: "Investigate 3 and 7".
fn refers_by_number(text: &str) -> bool {
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
        && !request.pasted
        && !request.text.ends_with(['?', '？'])
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
            && !super::answer::begins_with_pronoun(text);
        let evidence = || vec![build_evidence(at, sentence.raw)];
        fits.then(|| DraftFact::new(FactKind::Decision, &capitalize(text), 5, evidence()))?
    })
}
