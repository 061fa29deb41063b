//! Collects the facts of a segment from its turns. Every fact has a verbatim excerpt that shows it.

use tome_model::{Event, EventKind, FactKind, FileAction};
use tome_text::{count_words, truncate_words};

use crate::Evidence;
use crate::extract::answers::answer::{find_closing_question, find_conclusion, find_statement};
use crate::extract::answers::direct_answer::answers_shortly;
use crate::extract::answers::informative::{
    begins_with_pronoun, is_check_report, is_empty_phrase, is_generic_sentence, names_subject,
};
use crate::extract::answers::preamble::is_preamble;
use crate::extract::answers::statement::{AnswerSentence, ListItem, join_items};
use crate::extract::answers::verdict::is_review_result;
use crate::extract::commands::failures::{render_failure_message, score_failure};
use crate::extract::facts::checks::add_checks;
use crate::extract::facts::choices::{
    find_choices, find_chosen_answer, find_consent, find_option_choice,
};
use crate::extract::facts::corrected::drop_corrected;
use crate::extract::facts::draft_fact::{DraftFact, FACT_CHARS_MAX, QUESTION_END, build_evidence};
use crate::extract::facts::issue_facts::add_issue_facts;
use crate::extract::facts::overturned::{
    drop_refuted, drop_repeated_answers, drop_replaced_choices, is_claim_denied, is_overtaken,
};
use crate::extract::facts::problems::{add_problems, find_open_end};
use crate::extract::facts::prompt_facts::{add_prompt_facts, read_rejection};
use crate::extract::facts::pull_facts::add_pull_facts;
use crate::extract::facts::result_score::TurnResult;
use crate::extract::git::commits::FinishedRebase;
use crate::extract::language::clause::{capitalize, cut_clause, is_main_clause};
use crate::extract::language::cues::{Cue, find_cue};
use crate::extract::language::prose::{prompt_text, split_message};
use crate::extract::language::similarity::TermSet;
use crate::extract::language::terms::has_name;
use crate::extract::language::text::{begins_with_any, has_cjk, to_lower};
use crate::extract::turns::changed_files::{changed_files, render_changes};
use crate::extract::turns::finished_steps::{FinishedStep, find_finished_steps, is_routine};
use crate::extract::turns::reaction::Reaction;
use crate::extract::turns::reference::refers_by_number;
use crate::extract::turns::replaced::find_replaced;
use crate::extract::turns::request::{UserRequest, reports_trouble};
use crate::extract::turns::turn::{Turn, read_turns};

/// Characters of a request before its conclusion.
const QUESTION_CHARS_MAX: usize = 110;
/// Characters of a conclusion that is judged.
const RESULT_CHARS_MAX: usize = 200;
/// The beginning of a longer request would not be informative enough.
const QUESTION_CUT_MAX: usize = 160;
/// A result weighs more than the report of a check.
pub(crate) const OUTCOME_WEIGHT_MIN: u32 = 4;
/// A sentence with a lower score does not state a result.
pub(crate) const UNSURE_SCORE_MIN: i32 = 200;
/// Weight of the report of a check.
const CHECK_WEIGHT: u32 = 2;
/// Weight of finished steps: the answer to their request may come in a later segment.
pub(crate) const STEPS_WEIGHT: u32 = 3;
/// Weight of a result that is only worth showing beside its request.
pub(crate) const DOUBTFUL_WEIGHT: u32 = 1;
/// Weight of a commit that only changes one from before the segment: its subject is about the earlier work.
pub(crate) const AMENDED_WEIGHT: u32 = 1;
/// Facts of one segment or session.
const FACTS_MAX: usize = 400;

/// Label of work that an agent only proposes.
pub(crate) const PROPOSED: &str = "Proposed: ";

/// Label of the finished steps of a list of tasks.
pub(crate) const FINISHED: &str = "Finished:";

/// Label of the line of a pasted log or trace that an answer is about.
const PASTED: &str = "Pasted: ";

/// The turns of a segment and the facts found in them.
#[derive(Debug)]
pub(crate) struct SegmentFacts<'a> {
    pub(crate) turns: Vec<Turn<'a>>,
    pub(crate) branch: Option<&'a str>,
    /// In order of time; titles, once they are added, come first.
    pub(crate) facts: Vec<DraftFact>,
}

/// Reads the turns of a segment and collects their facts, without titles. The prompt after the segment may
/// deny a result; with `breaks_turn`, the agent goes on with the last turn after it.
pub(crate) fn collect_facts<'a>(
    events: &'a [Event],
    next_prompt: Option<&Event>,
    breaks_turn: bool,
) -> SegmentFacts<'a> {
    let mut turns = read_turns(events);
    if let Some(last) = turns.last_mut().filter(|_| breaks_turn) {
        last.drop_narration(events);
    }
    for (index, is_overturned) in
        find_overturned(&turns, events, next_prompt).into_iter().enumerate()
    {
        if let Some(turn) = turns.get_mut(index) {
            turn.is_overturned = is_overturned;
        }
    }
    let branch = turns.iter().rev().find_map(|turn| turn.branch).filter(|name| !is_main(name));
    let steps = find_finished_steps(events);
    let mut facts = Vec::new();
    for (index, turn) in turns.iter().enumerate() {
        let from = facts.len();
        let before = index.checked_sub(1).and_then(|before| turns.get(before));
        add_turn_facts(turn, before, events, &mut facts);
        let next = turns.get(index + 1);
        // A session that was only resumed begins a turn without a prompt.
        let mut later = turns.get(index + 1..).unwrap_or_default().iter();
        let prompt = later.find_map(|turn| events.get(turn.prompt?)).or(next_prompt);
        let continued = before.and_then(|before| find_continued_request(before, turn, events));
        let is_queued = before.is_some_and(is_left_unanswered);
        let outcome = find_outcome(turn, (continued, is_queued), (next, prompt), events);
        let outcome = outcome.or_else(|| find_finished_work(turn, &steps));
        facts.extend(outcome.or_else(|| find_request(turn)));
        if let Some(before) = before {
            let chosen = find_option_choice(before, turn, events);
            let chosen = chosen.or_else(|| find_chosen_answer(before, turn, events));
            facts.extend(chosen.or_else(|| find_consent(before, turn)));
        }
        if turn.is_overturned {
            let own = facts.split_off(from);
            let holds = |fact: &DraftFact| {
                fact.kind != FactKind::Outcome
                    || turn.rebase.as_ref().is_some_and(|rebase| rebase.event == fact.event)
            };
            facts.extend(own.into_iter().filter(holds));
            facts.extend(find_request(turn).filter(|request| request.text.contains(QUESTION_END)));
        }
    }
    add_pull_facts(&turns, &mut facts);
    add_issue_facts(&turns, events, &mut facts);
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
    facts.truncate(FACTS_MAX);
    drop_corrected(&turns, events, &mut facts);
    drop_refuted(&mut facts);
    drop_replaced_choices(&mut facts);
    drop_repeated_answers(&mut facts);
    SegmentFacts { turns, branch, facts }
}

/// Returns for each turn whether a later one, or the prompt after the segment, overturns its result.
fn find_overturned(turns: &[Turn<'_>], events: &[Event], next_prompt: Option<&Event>) -> Vec<bool> {
    let mut overturned = find_replaced(turns, events);
    for (index, (turn, is_overturned)) in turns.iter().zip(&mut overturned).enumerate() {
        *is_overturned |= match turns.get(index + 1) {
            Some(next) => is_overtaken(turn, next, events),
            None => {
                next_prompt.is_some_and(|prompt| is_claim_denied(turn, &prompt_text(&prompt.text)))
            }
        };
    }
    overturned
}

/// Whether a statement begins with a reference to an earlier one, and names nothing itself: "It's live",
/// "Yes.", "Both gaps are closed".
fn begins_with_reference(text: &str) -> bool {
    const ANSWERS: &[&str] = &["yes.", "yes,", "yes -", "yes —", "no.", "no,", "no -", "no —"];
    let is_answer = begins_with_any(text, ANSWERS);
    is_answer || begins_with_pronoun(text) && !has_name(text)
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
        let evidence = vec![build_evidence(commit.event, commit.raw)];
        let weight = if commit.is_amended { AMENDED_WEIGHT } else { 10 };
        facts.extend(DraftFact::new(FactKind::Commit, &commit.describe(), weight, evidence));
    }
    for undone in &turn.undone {
        let text = undone.describe();
        let evidence = vec![build_evidence(undone.event, undone.raw)];
        facts.extend(
            text.and_then(|text| DraftFact::new(FactKind::UndoneCommit, &text, 1, evidence)),
        );
    }
    // A branch that others work on is rebased to fetch their work.
    if let Some(rebase) = turn.rebase.as_ref().filter(|rebase| !rebase.branch.is_some_and(is_main))
    {
        let text = describe_rebase(rebase);
        let evidence = vec![build_evidence(rebase.event, rebase.raw)];
        facts.extend(DraftFact::new(FactKind::Outcome, &text, DOUBTFUL_WEIGHT, evidence));
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

pub(crate) fn describe_rebase(rebase: &FinishedRebase<'_>) -> String {
    match rebase.branch {
        Some(branch) => format!("Rebased the branch {branch}"),
        None => "Finished a rebase without a branch".to_owned(),
    }
}

/// A request and the conclusion of its answer. A conclusion that readers would hardly find true and useful by
/// itself is kept only beside its request, with a weight that only the page of its segment accepts.
fn find_outcome(
    turn: &Turn<'_>,
    (continued, is_queued): (Option<&UserRequest<'_>>, bool),
    (next, next_prompt): (Option<&Turn<'_>>, Option<&Event>),
    events: &[Event],
) -> Option<DraftFact> {
    // The words at a rejected call asked for something else.
    let request = turn.request.as_ref().filter(|_| turn.rejections.is_empty());
    let has_request = continued.is_some() || request.is_some_and(|one| is_readable(one, turn));
    let unsure = match &turn.conclusion {
        None if has_request => find_unsure_result(turn, events),
        _ => None,
    };
    let early = find_early_answer(turn, events);
    let (at, conclusion) = early.as_ref().or(turn.conclusion.as_ref()).or(unsure.as_ref())?;
    let sure = request.filter(|request| is_worth_repeating(request, turn));
    let sure = sure.filter(|request| belongs_together(request, &conclusion.text, turn));
    let request = sure.or_else(|| request.filter(|request| is_readable(request, turn)));
    // Of two requests in a row, the answer may be the one to the first.
    let request = request.filter(|request| !is_queued || shares_terms(request, &conclusion.text));
    let request = request.or_else(|| continued.filter(|_| turn.rejections.is_empty()));
    let subject = request.map(|request| {
        let text = cut_clause(&request.text, QUESTION_CHARS_MAX);
        (request.event, request.raw, text)
    });
    let subject = subject.or_else(|| find_pasted_failure(turn, &conclusion.text));
    // A proposal that is no answer to a question reads as if it had been carried out.
    if turn.is_proposal() {
        return None;
    }
    let mut evidence = Vec::new();
    let text = match subject {
        Some((event, raw, text)) => {
            evidence.push(build_evidence(event, raw));
            let question = text.trim_end_matches(['.', '。', ':', '：', ' ']);
            let question = capitalize(&question.replace(QUESTION_END, ", "));
            let room = FACT_CHARS_MAX.saturating_sub(question.chars().count() + QUESTION_END.len());
            format!("{question}{QUESTION_END}{}", conclusion.render(room))
        }
        None if begins_with_reference(&conclusion.lead) => return None,
        // Its own arrow must not look like the one after a request.
        None => conclusion.render(FACT_CHARS_MAX).replace(QUESTION_END, " -> "),
    };
    evidence.extend(conclusion.raws.iter().map(|raw| build_evidence(*at, raw)));
    // A conclusion about "3 and 7" needs a name of its own.
    let says_nothing = !is_review_result(&conclusion.text)
        && (is_generic_sentence(&conclusion.text)
            || is_empty_phrase(&conclusion.text)
            || conclusion.text.ends_with([':', '：']));
    if says_nothing && conclusion.items.is_empty() || repeats_commit(turn, &conclusion.lead) {
        return None;
    }
    let by_number = turn.request.as_ref().is_some_and(|request| refers_by_number(&request.text));
    if by_number && !has_name(&conclusion.text) {
        return None;
    }
    let next_prompt = next_prompt.map(|prompt| prompt_text(&prompt.text));
    let has_edits = |turn: &Turn<'_>| turn.files.iter().any(|file| file.action != FileAction::Read);
    let result = TurnResult {
        text: &conclusion.render(RESULT_CHARS_MAX),
        sentence_score: conclusion.score,
        has_items: !conclusion.items.is_empty(),
        next_prompt: next_prompt.as_deref(),
        next_has_edits: next.is_some_and(has_edits),
        answer: events.get(*at).map_or("", |event| event.text.as_str()),
        prompt: &turn.prompt_text(events),
        has_request: sure.is_some(),
        answers_question: turn.request.as_ref().is_some_and(|one| one.text.ends_with(['?', '？'])),
        has_edits: has_edits(turn),
    };
    // Of a long turn, a later segment has only the end.
    let is_doubtful = unsure.is_some() || turn.prompt.is_some() && result.is_doubtful();
    if is_doubtful && request.is_none() {
        return None;
    }
    let checks = is_check_report(&conclusion.lead) && !names_subject(&conclusion.lead);
    let weight = match (is_doubtful, checks) {
        (true, _) => DOUBTFUL_WEIGHT,
        (false, true) => CHECK_WEIGHT,
        (false, false) => weigh_outcome(turn, next, &text, result.doubt()),
    };
    DraftFact::new(FactKind::Outcome, &text, weight, evidence)
}

/// The answer to a yes-or-no question that the agent gives before it goes on working: its last message is
/// about that work.
fn find_early_answer<'a>(
    turn: &Turn<'a>,
    events: &'a [Event],
) -> Option<(usize, AnswerSentence<'a>)> {
    let request = turn.request.as_ref()?;
    let asks = request.text.ends_with(['?', '？']) && turn.prompt_parts.sentences.len() == 1;
    let (last, _) = turn.final_answer(events).filter(|_| asks && !turn.has_work())?;
    let is_said =
        |at: &usize| events.get(*at).is_some_and(|event| event.kind == EventKind::AssistantMessage);
    let first = turn.events.clone().find(is_said).filter(|first| *first < last)?;
    let parts = split_message(&events.get(first)?.text);
    let begins = parts.sentences.first().is_some_and(|one| answers_shortly(&one.plain));
    let found = find_conclusion(&parts, &turn.prompt_text(events), false).filter(|_| begins)?;
    Some((first, found))
}

/// The sentence most likely to state the result, used when no sentence clearly does.
fn find_unsure_result<'a>(
    turn: &Turn<'a>,
    events: &'a [Event],
) -> Option<(usize, AnswerSentence<'a>)> {
    let (at, _) = turn.final_answer(events)?;
    let prompt = turn.prompt_text(events);
    let found = find_conclusion(&turn.answer_parts, &prompt, turn.has_work())?;
    (found.score >= UNSURE_SCORE_MIN).then_some((at, found))
}

/// Whether a result only reports a commit, which has a fact of its own.
fn repeats_commit(turn: &Turn<'_>, result: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "committed", "successfully committed", "done — committed", "done. committed", "commit created", "pushed",
        "committed and pushed", "successfully pushed", "pushed to", "the commit",
    ];
    !turn.commits.is_empty() && begins_with_any(result, STARTS)
}

/// The request that a short reply continues: the one before it, if the agent only asked or proposed something then.
fn find_continued_request<'t, 'a>(
    before: &'t Turn<'a>,
    turn: &Turn<'_>,
    events: &[Event],
) -> Option<&'t UserRequest<'a>> {
    let leaves_question =
        before.is_proposal() || find_closing_question(&before.answer_parts).is_some();
    let continues =
        !before.has_work() && leaves_question && is_short_reply(&turn.prompt_text(events));
    // "Yes, remove both" agrees to an offer; the question before it has been answered.
    let is_open = |request: &&UserRequest<'_>| {
        turn.reaction != Reaction::Confirmation
            || request.is_order
            || !request.text.ends_with(['?', '？'])
    };
    before.request.as_ref().filter(is_open).filter(|one| continues && is_readable(one, before))
}

/// Whether a prompt means nothing without the question that it answers: "yes", "2", "go ahead".
fn is_short_reply(prompt: &str) -> bool {
    const WORDS_MAX: usize = 3;
    let words = count_words(prompt);
    !prompt.trim().is_empty() && words <= WORDS_MAX && !prompt.trim_start().starts_with('/')
}

/// Whether a request explains to a reader what its turn was about.
fn is_readable(request: &UserRequest<'_>, turn: &Turn<'_>) -> bool {
    !request.pasted
        && request.weight >= 2
        && turn.reaction != Reaction::Confirmation
        && (count_words(&request.text) >= 3 || request.text.starts_with('/'))
        && !refers_by_number(&request.text)
}

/// Weighs the result of a turn as the result of its session: by the work that it took, and by the length of
/// the text. Of 105 public sessions, readers found the weightiest result fit to represent the session in
/// three of four, if later ones weigh a little more; the last result alone, in half of them. A result to which
/// the user objected next, or that may be useless, weighs less.
fn weigh_outcome(turn: &Turn<'_>, next: Option<&Turn<'_>>, text: &str, doubt: u32) -> u32 {
    const TEXT_CHARS: usize = 160;
    let files = turn.files.iter().filter(|file| file.action != FileAction::Read).count();
    let length = text.chars().count().min(TEXT_CHARS) * 10 / TEXT_CHARS;
    let work = turn.events.len().min(20) + files.min(5) * 3 + turn.commits.len().min(2) * 4;
    let is_rejected = next.is_some_and(|next| next.reaction == Reaction::Correction);
    let objected = usize::from(is_rejected) * 8;
    let weight = u32::try_from((work + length).saturating_sub(objected)).unwrap_or(0);
    weight.saturating_sub(doubt) + OUTCOME_WEIGHT_MIN
}

/// The failure in a pasted log, if the conclusion refers to "the issue" and names nothing.
fn find_pasted_failure<'a>(turn: &Turn<'a>, conclusion: &str) -> Option<(usize, &'a str, String)> {
    let request = turn.request.as_ref()?;
    let line = request.failure?;
    let is_named = has_name(conclusion);
    let text = truncate_words(&render_failure_message(line), QUESTION_CHARS_MAX);
    let text = format!("{PASTED}{text}");
    (!is_named).then_some((request.event, line, text))
}

/// Whether a conclusion can be the answer to a request. After long work on a question, or for a prompt with
/// several points, the answer often concludes something else: where they shared no word, readers found
/// three of ten pairs wrong.
fn belongs_together(request: &UserRequest<'_>, conclusion: &str, turn: &Turn<'_>) -> bool {
    let asks = request.text.ends_with(['?', '？']);
    let shares = || shares_terms(request, conclusion);
    let is_compared = [request.text.as_str(), conclusion].iter().all(|text| !has_cjk(text));
    let says_more = turn.prompt_parts.sentences.len() > 1 && is_compared;
    !says_more && (!asks || !turn.has_work()) || shares()
}

fn shares_terms(request: &UserRequest<'_>, conclusion: &str) -> bool {
    let of_request = TermSet::from_text(&request.text);
    has_cjk(conclusion) || TermSet::from_text(conclusion).count_shared(&of_request) > 0
}

/// Whether a turn has a prompt that the agent did not answer before the next one.
fn is_left_unanswered(turn: &Turn<'_>) -> bool {
    turn.request.is_some()
        && !turn.is_answered
        && !turn.is_interrupted
        && turn.rejections.is_empty()
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
        && is_main_clause(request.text.trim_end_matches([':', '：']))
}

/// The steps of the agent's list of tasks that a turn finished, for a turn without a result.
fn find_finished_work(turn: &Turn<'_>, steps: &[FinishedStep<'_>]) -> Option<DraftFact> {
    const STEPS_SHOWN_MAX: usize = 8;
    let own = steps.iter().filter(|step| turn.events.contains(&step.event));
    let own: Vec<&FinishedStep<'_>> =
        own.filter(|step| count_words(step.raw) >= 3 && !is_routine(step.raw)).collect();
    let last = own.last()?;
    let request = turn.request.as_ref().filter(|request| is_readable(request, turn));
    let lead = request.map_or(String::new(), |request| {
        format!("{}{QUESTION_END}", shorten_question(&request.text))
    });
    let items = own.iter().take(STEPS_SHOWN_MAX).map(|step| step.raw.to_owned());
    let items: Vec<ListItem> = items.map(ListItem::from_text).collect();
    let room = FACT_CHARS_MAX.saturating_sub(lead.chars().count());
    let text = format!("{lead}{}", join_items(FINISHED, &items, room));
    let mut evidence: Vec<Evidence> =
        request.iter().map(|request| build_evidence(request.event, request.raw)).collect();
    let named = own.iter().take(2).map(|step| build_evidence(step.named_at, step.raw));
    evidence.extend(named);
    evidence.push(build_evidence(last.event, last.shown));
    DraftFact::new(FactKind::Outcome, &text, STEPS_WEIGHT, evidence)
}

/// A request as it stands before its result.
fn shorten_question(request: &str) -> String {
    let question = cut_clause(&request.replace(QUESTION_END, ", "), QUESTION_CHARS_MAX);
    capitalize(&question).trim_end_matches(['.', '。', ':', '：', ' ']).to_owned()
}

/// Builds a fact from a request whose result is not shown: the request and the sentence that says what was done for
/// it, or the request alone if it is a clear one. The names of the changed files would not say what was changed.
fn find_request(turn: &Turn<'_>) -> Option<DraftFact> {
    let request = turn.request.as_ref()?;
    let mut evidence = vec![build_evidence(request.event, request.raw)];
    let changes = turn.files.iter().any(|file| file.action != FileAction::Read);
    let is_told = changes && is_readable(request, turn) && !turn.is_interrupted;
    if let Some(work) = find_work_statement(request, turn).filter(|_| is_told) {
        let answer = turn.answer.unwrap_or(request.event);
        evidence.extend(work.raws.iter().map(|raw| build_evidence(answer, raw)));
        let question = shorten_question(&request.text);
        let text = format!("{question}{QUESTION_END}{}", work.render(RESULT_CHARS_MAX));
        return DraftFact::new(FactKind::Request, &text, request.weight, evidence);
    }
    let says = request.weight >= 4
        && request.is_sure
        && (request.is_asked || turn.begins_session)
        && !request.pasted
        && !refers_by_number(&request.text)
        && !request.text.ends_with(['?', '？', '吗', '嗎', '呢', 'か'])
        && is_main_clause(&request.text);
    let text = says.then(|| capitalize(&request.text.replace(QUESTION_END, " -> ")))?;
    DraftFact::new(FactKind::Request, &text, request.weight, evidence)
}

/// The sentence of the answer that says what was done, where none is sure to be the result: more than the names of
/// the changed files.
fn find_work_statement<'a>(
    request: &UserRequest<'_>,
    turn: &Turn<'a>,
) -> Option<AnswerSentence<'a>> {
    let parts = Some(&turn.answer_parts).filter(|_| turn.is_answered)?;
    let found = find_statement(parts, true)?;
    let is_report = matches!(find_cue(&found.lead), Some((Cue::Outcome, 2..)));
    let says = (is_report || !found.items.is_empty())
        && has_name(&found.text)
        && !begins_with_pronoun(&found.lead)
        && !is_preamble(&found.lead)
        && !is_check_report(&found.lead)
        && !is_generic_sentence(&found.text)
        && !found.lead.contains(['?', '？'])
        && belongs_together(request, &found.text, turn);
    says.then_some(found)
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
            && !begins_with_any(text, &["agreed"])
            // The report of a mistake or a finding is not a decision.
            && score_failure(text) == 0
            && !["turns out", "turned out"].iter().any(|mark| lower.contains(mark))
            && !lower.contains("mistake");
        let evidence = || vec![build_evidence(at, sentence.raw)];
        fits.then(|| DraftFact::new(FactKind::Decision, &capitalize(text), 5, evidence()))?
    })
}
