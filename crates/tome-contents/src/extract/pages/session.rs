//! The facts of a whole session, for its page.

use std::ops::Range;

use tome_model::{Event, FactKind, FileAction};
use tome_text::{collapse_whitespace, truncate_words};

use crate::extract::answers::answer::{find_closing_question, find_conclusion, find_statement};
use crate::extract::answers::statement::end_lead;
use crate::extract::facts::overturned::is_corrected;
use crate::extract::facts::pull_facts::PullState;
use crate::extract::facts::segment_facts::{
    PROPOSED, UNSURE_SCORE_MIN, collect_facts, describe_rebase,
};
use crate::extract::files::reverted::find_reverted;
use crate::extract::language::clause::cut_clause;
use crate::extract::language::text::to_lower;
use crate::extract::pages::fallback_title::title_from_kinds;
use crate::extract::pages::segment_title::add_titles;
use crate::extract::turns::changed_files::{changed_files, render_changes_without_counts};
use crate::extract::turns::turn::Turn;

/// The action of a file whose edits were all reverted.
const REVERTED: &str = "changed and reverted";

/// Characters of the result of a turn.
const RESULT_CHARS_MAX: usize = 240;
/// Characters of an error message of the agent's service.
const ERROR_CHARS_MAX: usize = 100;

/// Turns, facts and files of a session, as indexes into its events.
#[derive(Debug)]
pub(crate) struct SessionFacts {
    pub(crate) title: String,
    pub(crate) branch: Option<String>,
    pub(crate) turns: Vec<TurnFacts>,
    pub(crate) facts: Vec<FactLine>,
    pub(crate) files: Vec<FileChange>,
}

#[derive(Debug)]
pub(crate) struct TurnFacts {
    pub(crate) events: Range<usize>,
    pub(crate) prompt: Option<usize>,
    pub(crate) answer: Option<usize>,
    pub(crate) conclusion: Option<String>,
    pub(crate) changed_files: u64,
    pub(crate) commits: u64,
    pub(crate) is_interrupted: bool,
    /// Whether the next turn found its conclusion wrong.
    pub(crate) is_corrected: bool,
}

/// A fact and the event that shows it.
#[derive(Debug)]
pub(crate) struct FactLine {
    pub(crate) kind: FactKind,
    pub(crate) text: String,
    pub(crate) event: usize,
}

/// A file that a session changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path, as the agent named it.
    pub path: String,
    /// `created`, `changed`, `deleted`, or `changed and reverted`.
    pub action: &'static str,
    /// Number of edits.
    pub edits: u64,
}

/// Reads a session from its ordered events.
pub(crate) fn read_session(events: &[Event]) -> SessionFacts {
    let mut session = collect_facts(events, None, false);
    add_titles(&mut session, events, None);
    let titles = session.facts.iter().filter(|fact| fact.kind == FactKind::Title);
    // Of equals, the first.
    let title = titles.rev().max_by_key(|title| title.weight);
    let title = title.map_or(title_from_kinds(events), |title| title.text.as_str()).to_owned();
    let turns = session.turns.iter().enumerate().map(|(index, turn)| {
        let answer = turn.final_answer(events);
        let changed = turn.files.iter().filter(|file| file.action != FileAction::Read);
        TurnFacts {
            events: turn.events.clone(),
            prompt: turn.prompt,
            answer: answer.map(|(at, _)| at),
            conclusion: describe_result(turn, events),
            changed_files: changed.count() as u64,
            commits: turn.commits.len() as u64,
            is_interrupted: turn.is_interrupted,
            is_corrected: session.turns.get(index + 1).is_some_and(|next| is_corrected(turn, next)),
        }
    });
    let reverted = find_reverted(events);
    let mut files: Vec<FileChange> = changed_files(&session.turns)
        .into_iter()
        .map(|file| FileChange {
            path: file.path.to_owned(),
            action: match file.action {
                _ if reverted.contains(file.path) => REVERTED,
                FileAction::Created => "created",
                FileAction::Deleted => "deleted",
                FileAction::Changed | FileAction::Read => "changed",
            },
            edits: u64::from(file.times),
        })
        .collect();
    files.sort_by_key(|file| file.action == REVERTED);
    let facts = session.facts.iter().map(|fact| FactLine {
        kind: fact.kind,
        text: fact.text.clone(),
        event: fact.event,
    });
    SessionFacts {
        title,
        branch: session.turns.iter().rev().find_map(|turn| turn.branch).map(str::to_owned),
        turns: turns.collect(),
        facts: facts.collect(),
        files,
    }
}

/// The result of a turn whose record ends before the agent's final answer.
const UNANSWERED: &str = "No answer recorded";

/// Describes the result of a turn: the conclusion of its answer, else the first sentence with content,
/// else the outcome of its tool calls, else its first words.
fn describe_result(turn: &Turn<'_>, events: &[Event]) -> Option<String> {
    let result = turn.conclusion.as_ref().map(|(_, found)| found.render(RESULT_CHARS_MAX));
    let unsure = || {
        let prompt = turn.prompt_text(events);
        let found = find_conclusion(&turn.answer_parts, &prompt, turn.has_work());
        found.filter(|found| found.score >= UNSURE_SCORE_MIN)
    };
    let result = result.or_else(|| Some(unsure()?.render(RESULT_CHARS_MAX)));
    let result = result.or_else(|| {
        Some(find_statement(&turn.answer_parts, turn.has_work())?.render(RESULT_CHARS_MAX))
    });
    let result =
        result.map(|text| if turn.is_proposal() { format!("{PROPOSED}{text}") } else { text });
    if result.is_some() {
        return result;
    }
    let changed = changed_files(std::slice::from_ref(turn));
    let changes = turn
        .rebase
        .as_ref()
        .map(describe_rebase)
        .or_else(|| describe_pull(turn))
        .or_else(|| turn.commits.last().map(|commit| format!("Committed: {}", commit.subject)))
        .or_else(|| render_changes_without_counts(&changed, 3).filter(|_| !turn.is_interrupted));
    let ending = describe_ending(turn, events);
    if turn.prompt.is_some() && !turn.is_answered && !turn.is_interrupted && ending.is_none() {
        return Some(changes.map_or(UNANSWERED.to_owned(), |changes| {
            format!("{changes}; {}", to_lower(UNANSWERED))
        }));
    }
    match (changes, ending) {
        (Some(changes), Some((label, text))) => {
            Some(format!("{changes}; {}: {text}", to_lower(label)))
        }
        (Some(changes), None) => Some(changes),
        (None, Some((label, text))) => Some(format!("{label}: {text}")),
        (None, None) => {
            let first = turn.answer_parts.sentences.first()?;
            Some(end_lead(&cut_clause(&first.plain, RESULT_CHARS_MAX)))
        }
    }
}

/// The last pull request that a turn opened or merged.
fn describe_pull(turn: &Turn<'_>) -> Option<String> {
    let pull = turn.pulls.iter().rev().find(|pull| pull.is_opened || pull.is_merged)?;
    Some(PullState::from_call(pull).render())
}

/// How a turn without a result ended: with a message of the agent's service, or with a question.
fn describe_ending(turn: &Turn<'_>, events: &[Event]) -> Option<(&'static str, String)> {
    if let Some(error) = turn.service_error.and_then(|at| events.get(at)) {
        let text = collapse_whitespace(&error.text);
        return Some(("No answer", truncate_words(&text, ERROR_CHARS_MAX)));
    }
    let question = find_closing_question(&turn.answer_parts)?;
    Some(("Asked", question.render(RESULT_CHARS_MAX)))
}
