//! Chooses the title of a segment. In order of preference: a commit's subject, the heading of a
//! plan, the agent's own summary, the pull request, the branch in words, the request, the conclusion
//! of the turn with the most work. The result of a command is never a title. A request says what
//! work was about, where a conclusion mostly tells one detail of it.
//!
//! A session is known by its own title, its plan, its first commit or its first request.

use std::collections::BTreeSet;

use tome_model::{Event, FactKind, FileAction};
use tome_text::{count_words, truncate_words};

use super::answer::{
    begins_with_pronoun, is_check_report, names_subject, says_what, strip_verdict,
};
use super::answer_score::VERY_SURE;
use super::changed_files::changed_files;
use super::clause::{
    TITLE_WORDS_MAX, capitalize, closes_unopened_parenthesis, is_balanced, is_dangling,
    render_title,
};
use super::cues::is_filler;
use super::draft_fact::{DraftFact, build_evidence, first_line};
use super::facts::refers_by_number;
use super::fallback_title::title_from_files;
use super::request::{UserRequest, is_order, parse_request, refers_without_naming};
use super::similarity::TermSet;
use super::terms::{base_name, has_name};
use super::text::{begins_with_any, plain_text, strip_any_prefix, strip_label};
use super::turn::{Turn, is_prompt};
use crate::Evidence;

const TITLE_CHARS_MAX: usize = 96;

/// Preference of a source; stored with the title, so that a session or a period can choose among those
/// of its segments. Of titles from one source, the one of the larger work weighs up to nine more.
const FROM_COMMIT: u32 = 600;
const FROM_CHORE_COMMIT: u32 = 510;
const FROM_PLAN: u32 = 500;
const FROM_SUMMARY: u32 = 450;
const FROM_PULL: u32 = 440;
pub(super) const FROM_REBASE: u32 = 420;
pub(super) const FROM_BRANCH: u32 = 410;
pub(super) const FROM_REQUEST: u32 = 400;
const FROM_CONCLUSION: u32 = 250;
const FROM_REMARK: u32 = 200;
const FROM_EARLIER_REQUEST: u32 = 150;
const FROM_VAGUE_REQUEST: u32 = 100;
/// A request that says less than this is no title if there is another one.
const SPECIFIC_MIN: u32 = 4;
pub(super) const FROM_FILES: u32 = 50;

/// Weight of a segment's title as that of its session. Of equals, the first counts: the later requests
/// and commits mostly are about details of it.
pub(crate) fn weigh_session_title(weight: u32) -> u32 {
    match weight {
        FROM_SUMMARY..FROM_PLAN => FROM_COMMIT + weight,
        FROM_CHORE_COMMIT => FROM_REQUEST - 10,
        FROM_REQUEST..FROM_BRANCH => FROM_REQUEST,
        _ => weight,
    }
}

/// Finds the titles that a segment may have, the best one first. The others are for its session.
pub(super) fn find_titles(
    turns: &[Turn<'_>],
    events: &[Event],
    earlier_request: Option<&Event>,
    branch: Option<&str>,
) -> Vec<DraftFact> {
    let mut titles: Vec<DraftFact> =
        choose_title(turns, events, earlier_request, branch).into_iter().collect();
    for other in [title_from_summary(turns, events), title_from_request(turns, FROM_REQUEST)] {
        let is_new = |other: &DraftFact| titles.iter().all(|title| title.weight > other.weight);
        titles.extend(other.filter(is_new));
    }
    titles
}

/// Chooses the title of a segment, with its evidence.
pub(super) fn choose_title(
    turns: &[Turn<'_>],
    events: &[Event],
    earlier_request: Option<&Event>,
    branch: Option<&str>,
) -> Option<DraftFact> {
    title_from_commit(turns)
        .or_else(|| title_from_plan(turns))
        .or_else(|| title_from_summary(turns, events))
        .or_else(|| title_from_pull(turns))
        .or_else(|| title_from_rebase(turns))
        .or_else(|| title_from_branch(turns, events, branch))
        .or_else(|| title_from_request(turns, FROM_REQUEST))
        .or_else(|| title_from_conclusion(turns))
        .or_else(|| title_from_request(turns, FROM_REMARK))
        .or_else(|| title_from_earlier_request(earlier_request?, events, turns))
        .or_else(|| title_from_request(turns, FROM_VAGUE_REQUEST))
        .or_else(|| title_from_files(turns, events))
}

pub(super) fn build_title(text: &str, source: u32, evidence: Vec<Evidence>) -> Option<DraftFact> {
    let text = truncate_words(text.replace("; ", ", ").trim(), TITLE_CHARS_MAX);
    DraftFact::new(FactKind::Title, &text, source, evidence)
}

/// Subjects of commits that say nothing about the work.
fn is_chore(subject: &str) -> bool {
    #[rustfmt::skip]
    const CHORES: &[&str] = &[
        "merge", "wip", "fixup!", "squash!", "fmt", "format", "lint", "fix lint", "fix tests",
        "fix test", "typo", "fix typo", "bump", "update", "address review", "address comments",
        "address pr", "cleanup", "clean up", "chore: bump", "chore: format", "push", "commit",
        "checkpoint", "initial commit", "continue", "test",
    ];
    let words = count_words(subject);
    words < 2
        || words <= 4 && begins_with_any(subject, CHORES)
        || begins_with_any(subject, &["merge branch", "merge pull request"])
}

/// The type of a conventional commit: `fix` of `fix(lexer)!: accept emoji`.
fn commit_type(subject: &str) -> Option<&str> {
    #[rustfmt::skip]
    const TYPES: &[&str] = &[
        "feat", "fix", "docs", "chore", "refactor", "perf", "test", "ci", "build", "style", "revert",
        "release",
    ];
    let (head, _) = subject.split_once(": ")?;
    let name = head.trim_end_matches('!').split('(').next()?;
    (TYPES.contains(&name) && !head.contains(' ')).then_some(name)
}

/// Commits of lower rank say more about the work.
fn rank_commit_type(subject: &str) -> u8 {
    match commit_type(&subject.to_lowercase()) {
        Some("chore" | "ci" | "build" | "style" | "docs" | "release" | "test") => 1,
        _ => 0,
    }
}

fn title_from_commit(turns: &[Turn<'_>]) -> Option<DraftFact> {
    let commits = turns.iter().flat_map(|turn| &turn.commits);
    let commits = commits.rev().filter(|commit| !is_chore(commit.subject));
    let commit = commits.min_by_key(|commit| rank_commit_type(commit.subject))?;
    let subject = plain_text(commit.subject);
    // A conventional subject is written as it is: `feat: …`.
    let is_typed = commit_type(&subject).is_some();
    let text = if is_typed { subject } else { capitalize(&subject) };
    let is_chore = rank_commit_type(commit.subject) > 0;
    let source = if is_chore { FROM_CHORE_COMMIT } else { FROM_COMMIT };
    build_title(&text, source, vec![build_evidence(commit.event, commit.raw)])
}

fn title_from_plan(turns: &[Turn<'_>]) -> Option<DraftFact> {
    let plan = turns.iter().rev().find_map(|turn| turn.plan)?;
    let text = capitalize(&plain_text(plan.text));
    build_title(&text, FROM_PLAN, vec![build_evidence(plan.event, plan.raw)])
}

/// The title that the agent gave the session itself. Agents make it of the first words, and it may be
/// about nothing that was done.
fn title_from_summary(turns: &[Turn<'_>], events: &[Event]) -> Option<DraftFact> {
    let (at, raw) = events.iter().enumerate().rev().find_map(|(at, event)| {
        let raw = event.meta.get("session_title")?.as_str()?;
        (count_words(raw) >= 2).then_some((at, raw))
    })?;
    let text = plain_text(raw);
    // At the end of a session, a few turns may be about its last chores only.
    const TURNS_MIN: usize = 3;
    let asked = turns.iter().filter(|turn| turn.request.as_ref().is_some_and(|one| one.weight > 2));
    let is_strange = asked.count() >= TURNS_MIN && !is_named(&text, turns, 1, 3);
    (!is_strange).then_some(())?;
    build_title(&capitalize(&text), FROM_SUMMARY, vec![build_evidence(at, raw)])
}

/// The pull request that the work was about, if there is only one.
fn title_from_pull(turns: &[Turn<'_>]) -> Option<DraftFact> {
    let pulls = || turns.iter().flat_map(|turn| &turn.pulls);
    // A pull request may get another title.
    let pull = pulls().rev().find(|pull| pull.title.is_some())?;
    let named = pull.title.filter(|_| pulls().all(|other| other.number == pull.number))?;
    let text = format!("PR #{}: {}", pull.number, plain_text(named));
    let evidence = vec![build_evidence(pull.event, pull.raw), build_evidence(pull.event, named)];
    build_title(&text, FROM_PULL, evidence)
}

/// The commit that a rebase made again, if there was only one.
fn title_from_rebase(turns: &[Turn<'_>]) -> Option<DraftFact> {
    let commit = turns.iter().rev().find_map(|turn| turn.rebase.as_ref()?.commit.as_ref())?;
    let text = format!("Rebase: {}", plain_text(commit.subject));
    build_title(&text, FROM_REBASE, vec![build_evidence(commit.event, commit.raw)])
}

/// The conclusion of the turn with the most work, if it can stand alone.
fn title_from_conclusion(turns: &[Turn<'_>]) -> Option<DraftFact> {
    let mut best: Option<(usize, DraftFact)> = None;
    for turn in turns {
        let Some((at, conclusion)) = &turn.conclusion else { continue };
        let is_list = count_words(&conclusion.lead) <= 2 && conclusion.raws.len() > 1;
        let statement = if is_list { &conclusion.text } else { &conclusion.lead };
        let text = render_title(strip_subject(strip_summary_label(strip_verdict(statement))));
        let text = text.trim_end_matches('…').trim();
        // The answer to a question is no title, and one item of a list is not the whole. A pasted
        // log is no title either.
        let is_pasted = turn.request.as_ref().is_some_and(|request| request.pasted);
        if !turn.has_work() && !is_pasted
            || conclusion.is_item
            || conclusion.score < VERY_SURE
            || !is_list && !stands_alone(text)
        {
            continue;
        }
        let work = turn.events.len();
        if best.as_ref().is_none_or(|(most, _)| work > *most)
            && let Some(fact) = build_title(
                text,
                FROM_CONCLUSION + weigh_work(work),
                conclusion.raws.iter().map(|raw| build_evidence(*at, raw)).collect(),
            )
        {
            best = Some((work, fact));
        }
    }
    best.map(|(_, fact)| fact)
}

/// Weight of a turn's work, from 0 to 9, by its number of events.
fn weigh_work(events: usize) -> u32 {
    u32::try_from(events / 6).map_or(9, |work| work.min(9))
}

/// Removes the label before a summary: `Changes: …`.
fn strip_summary_label(text: &str) -> &str {
    #[rustfmt::skip]
    const LABELS: &[&str] = &[
        "changes made", "changes", "what changed", "what i did", "summary", "done", "updates",
        "update", "status", "implemented", "completed", "fixed",
    ];
    strip_label(text, LABELS).filter(|rest| count_words(rest) >= 3).unwrap_or(text)
}

/// Removes "I have", "I've" and "We": titles have no subject.
fn strip_subject(text: &str) -> &str {
    strip_any_prefix(text, &["i have", "i've", "i", "we have", "we've", "we"])
        .map_or(text, str::trim_start)
}

/// Whether a clause says something without the conversation around it.
fn stands_alone(text: &str) -> bool {
    let is_cut = text.split_whitespace().last().is_some_and(is_dangling);
    !text.ends_with('…')
        && !is_cut
        && (4..=14).contains(&count_words(text))
        && !begins_with_pronoun(text)
        && (!is_check_report(text) || names_subject(text))
        && !is_filler(text)
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && has_name(text)
        && says_what(text)
        && is_main_clause(text)
}

/// Whether a text is a clause of its own, and no fragment, quotation, label or outburst.
pub(super) fn is_main_clause(text: &str) -> bool {
    #[rustfmt::skip]
    const FRAGMENTS: &[&str] = &[
        "when", "if", "because", "since", "while", "although", "as", "which", "that", "whether",
        "after", "before", "unless", "until", "once", "and", "or", "but", "so", "with", "without",
        "for", "from", "by", "also", "plus", "e.g.", "i.e.", "like", "such",
    ];
    #[rustfmt::skip]
    const OUTBURSTS: &[&str] = &[
        "wtf", "omg", "damn", "ugh", "argh", "wow", "lol", "hmm", "fuck", "shit", "what the hell",
        "oh no", "come on", "seriously", "i've been staring", "i've been fighting", "i've been struggling",
        "i'm stuck", "i am stuck", "i'm lost", "i'm confused", "i give up", "this is driving me",
    ];
    let bare = text.trim();
    let quoted = bare.starts_with(['"', '“', '>', '«', '「', '|', '<', '{', '[', '$', '❯']);
    let has_main = bare.split_once(", ").is_some_and(|(_, main)| count_words(main) >= 3);
    !quoted
        && !begins_with_any(bare, OUTBURSTS)
        && (!begins_with_any(bare, FRAGMENTS) || has_main)
        && !bare.ends_with([':', '：'])
        && !["include", "includes", "including"].iter().any(|end| bare.ends_with(end))
        && !closes_unopened_parenthesis(bare)
}

/// The branch in words: `user/ent-109-text-output-flag` is "Text output flag".
fn title_from_branch(
    turns: &[Turn<'_>],
    events: &[Event],
    branch: Option<&str>,
) -> Option<DraftFact> {
    let branch = branch?;
    let mut evidence = turns.iter().flat_map(|turn| turn.events.clone()).filter_map(|at| {
        let shows = crate::evidence::contains_excerpt(events.get(at)?, branch);
        shows.then(|| build_evidence(at, branch))
    });
    let text = words_of_branch(branch).filter(|text| is_named(text, turns, 2, 2))?;
    build_title(&text, FROM_BRANCH, vec![evidence.next()?])
}

/// Whether prompts, conclusions or changed files name at least this many words of a title, and one in
/// `one_in`. A branch is often older than the work on it, and an agent's title may be about a greeting.
fn is_named(title: &str, turns: &[Turn<'_>], words_min: usize, one_in: usize) -> bool {
    let mut terms: BTreeSet<String> = BTreeSet::new();
    let mut add = |text: &str| terms.extend(TermSet::from_text(text).into_terms());
    for turn in turns {
        turn.prompt_parts.sentences.iter().for_each(|sentence| add(&sentence.plain));
        turn.conclusion.iter().for_each(|(_, found)| add(&found.text));
        for file in turn.files.iter().filter(|file| file.action != FileAction::Read) {
            add(&base_name(file.path).replace('_', " "));
        }
    }
    // People speak of branches whatever they are about.
    let is_telling = |word: &String| !word.starts_with("branch");
    let words: Vec<String> = TermSet::from_text(title).into_terms().filter(is_telling).collect();
    let named = words.iter().filter(|word| terms.contains(*word)).count();
    named >= words_min && named * one_in >= words.len()
}

fn words_of_branch(branch: &str) -> Option<String> {
    let name = base_name(branch);
    let words: Vec<&str> = name
        .split(['-', '_', '.'])
        .filter(|word| !word.is_empty())
        .skip_while(|word| {
            word.chars().all(|c| c.is_ascii_digit())
                || matches!(*word, "ent" | "issue" | "gh" | "pr")
        })
        .collect();
    // Agents name worktrees by chance: `bold-euler-8315c1`.
    let is_hash = |word: &&str| {
        word.len() >= 6
            && word.chars().all(|c| c.is_ascii_hexdigit())
            && word.contains(|c: char| c.is_ascii_digit())
    };
    if words.last().is_some_and(is_hash) {
        return None;
    }
    let worded =
        words.iter().filter(|word| word.len() >= 3 && word.chars().all(char::is_alphabetic));
    (words.len() >= 3 && worded.count() >= 2).then(|| capitalize(&words.join(" ")))
}

/// The request that most of the segment was about.
fn title_from_request(turns: &[Turn<'_>], source: u32) -> Option<DraftFact> {
    const FIRST_REQUEST_BONUS: u32 = 12;
    const DETAILED_ORDER_MIN: u32 = 6;
    let mut best: Option<(u32, &UserRequest<'_>)> = None;
    for turn in turns {
        let Some(request) = &turn.request else { continue };
        // The first prompt names the subject of the session, even if it is only a remark.
        let is_first = turn.begins_session;
        // "Change this to use the current git user in the same way" says enough in spite of its "this".
        let says_much = is_order(&request.text) && request.weight >= DETAILED_ORDER_MIN;
        let specific = request.is_sure
            && (request.is_asked || is_first || source < FROM_REQUEST)
            && request.weight >= SPECIFIC_MIN
            && !refers_by_number(&request.text)
            && (says_much || !refers_without_naming(&request.text));
        let is_log = turn.prompt_parts.is_pasted() && !request.is_order;
        let fits = !request.pasted
            && is_main_clause(&request.text)
            && (source == FROM_VAGUE_REQUEST && request.weight > 1 || specific);
        let followed = u32::try_from(turn.events.len().min(16)).unwrap_or(0);
        let score = request.weight.min(9) * 2
            + followed
            + u32::from(request.is_order) * 6
            // The later ones mostly are about details of the first.
            + if best.is_none() { FIRST_REQUEST_BONUS } else { 0 };
        let score = if is_log { score / 2 } else { score };
        if fits && best.is_none_or(|(most, _)| score > most) {
            best = Some((score, request));
        }
    }
    let (_, request) = best?;
    // The user speaks to the agent; a title speaks to a reader.
    let clause = skip_long_lead(&request.text);
    let text = render_title(clause).replace(" your ", " the ");
    // A remark of the user is a claim; only the answer tells whether it is true.
    let is_report = !request.is_order && is_report(clause);
    let text = if is_report { format!("Reported: {text}") } else { text };
    // Among the requests of a day, the one that led to the most changes names it.
    let changed: u32 = changed_files(turns)
        .iter()
        .map(|file| if file.action == FileAction::Created { 2 } else { 1 })
        .sum();
    let weight = source + if source == FROM_REQUEST { changed.min(4) } else { 0 };
    build_title(&text, weight, vec![build_evidence(request.event, request.raw)])
}

/// The main clause of a sentence that is too long for a title and begins with another clause: "When …,
/// the dialog stays open".
fn skip_long_lead(text: &str) -> &str {
    let is_led = begins_with_any(text, &["when", "if", "while", "since", "after", "before", "as"]);
    let main = text.split_once(", ").and_then(|(lead, main)| {
        let is_whole = is_balanced(&lead.split_whitespace().collect::<Vec<_>>());
        is_whole.then(|| strip_any_prefix(main, &["then"]).map_or(main, str::trim_start))
    });
    let is_long = text.split_whitespace().count() > TITLE_WORDS_MAX;
    main.filter(|main| is_led && is_long && count_words(main) >= 4 && is_main_clause(main))
        .unwrap_or(text)
}

/// Whether an utterance is a statement about the code: "The parser drops comments".
fn is_report(text: &str) -> bool {
    let is_latin = text.chars().all(|c| !tome_text::is_han_or_kana(c));
    let begins = begins_with_any(text, &["the", "this", "there", "it", "when"]);
    let is_wish =
        [" should ", " must ", " needs to ", " need to "].iter().any(|word| text.contains(word));
    is_latin && begins && !is_wish && !text.ends_with('?')
}

/// The request before the segment, if the segment only continues it. Its evidence is what was done.
fn title_from_earlier_request(
    request: &Event,
    events: &[Event],
    turns: &[Turn<'_>],
) -> Option<DraftFact> {
    let request = parse_request(0, &request.text)?;
    // A segment with a prompt of its own continues an earlier one only if that says nothing: "yes", "b".
    let says = |turn: &Turn<'_>| {
        turn.request.as_ref().is_some_and(|request| request.weight > 1)
            || turn.prompt_text(events).trim_start().starts_with('/')
    };
    if turns.iter().any(says) {
        return None;
    }
    let evidence = first_evidence(events, turns)?;
    build_title(&render_title(&request.text), FROM_EARLIER_REQUEST, vec![evidence])
}

/// Whether an event is a prompt that says what is wanted, without the conversation around it.
pub(crate) fn names_request(event: &Event) -> bool {
    let says = |request: &UserRequest<'_>| {
        request.is_sure
            && request.is_asked
            && !request.pasted
            && request.weight >= SPECIFIC_MIN
            && !refers_without_naming(&request.text)
            && is_main_clause(&request.text)
    };
    is_prompt(event) && parse_request(0, &event.text).as_ref().is_some_and(says)
}

fn first_evidence(events: &[Event], turns: &[Turn<'_>]) -> Option<Evidence> {
    let files = turns.iter().flat_map(|turn| &turn.files);
    let file = files.map(|file| build_evidence(file.event, file.raw)).next();
    let run = turns.iter().flat_map(|turn| &turn.runs);
    let run = run.map(|run| build_evidence(run.event, first_line(run.command_line))).next();
    file.or(run).or_else(|| {
        events.iter().enumerate().find_map(|(at, event)| {
            let line = event.text.lines().find(|line| !line.trim().is_empty())?;
            Some(build_evidence(at, line))
        })
    })
}
