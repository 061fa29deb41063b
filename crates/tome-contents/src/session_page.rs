//! The page of a session: its turns from prompt to conclusion, what it changed and committed, what
//! went wrong, and what is open. Built from the session's events when it is requested.

use std::collections::HashMap;

use tome_ledger::{EventRange, Ledger, OrderKey, ScanDirection};
use tome_model::{Event, EventId, FactKind, Millis, SessionId};
use tome_text::truncate_words;

use super::event_text::event_texts;
use super::extract::{FileChange, SessionFacts, prompt_text, read_session};
use super::later_change::{find_changing_turn, outline_turns};
use super::session_list::{
    SessionFact, SessionListing, SessionQuery, find_first_folder, find_last_location, find_number,
    is_listed,
};
use tome_home::HomeError;

/// Events that are read for one page, the latest of the session.
const EVENTS_MAX: usize = 20_000;
/// Bytes of text that are read for one page.
const TEXT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Characters of a prompt or conclusion on the page.
const TURN_CHARS_MAX: usize = 300;

/// Before the number of the turn that corrected a conclusion.
const CORRECTED: &str = " (corrected in turn";

/// The page of a session in one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPage {
    /// Its id, agent, project, times and numbers of events.
    pub session: SessionListing,
    /// The turns, in order.
    pub turns: Vec<SessionTurn>,
    /// Files that were created, changed or deleted, most edited first.
    pub files: Vec<FileChange>,
    /// Commits, pull requests, decisions, corrections, problems and what is open, in order.
    pub facts: Vec<SessionFact>,
    /// Whether the beginning of a very long session was left out.
    pub is_truncated: bool,
}

/// A turn on the page of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTurn {
    /// Time of its prompt; of its first event if it has none.
    pub at: Millis,
    /// The user's words, shortened; empty if the session began without any.
    pub prompt: String,
    /// The event of the prompt.
    pub prompt_event: Option<EventId>,
    /// The number of that event in its project; 0 without a prompt.
    pub number: u64,
    /// The sentence of the final answer that says what came out.
    pub conclusion: Option<String>,
    /// The event of the final answer.
    pub answer_event: Option<EventId>,
    /// Number of events.
    pub events: u64,
    /// Number of files it changed.
    pub changed_files: u64,
    /// Number of commits it made.
    pub commits: u64,
    /// Whether the user stopped it.
    pub is_interrupted: bool,
}

/// Builds the page of a session; `None` if the project has no events of it.
pub(super) fn build_session_page(
    ledger: &Ledger,
    project: &str,
    session: &SessionId,
) -> Result<Option<SessionPage>, HomeError> {
    let (events, is_truncated) = load_events(ledger, project, session)?;
    let (Some(first), Some(last)) = (events.first(), events.last()) else { return Ok(None) };
    let read = read_session(&events);
    let stats = ledger.session_stats(session, project)?;
    let listed = match &stats {
        Some(stats) => SessionQuery::default().read_listing(ledger, stats)?,
        None => None,
    };
    // The same title and branch as in the list, as soon as the contents have the session.
    let listed = listed.map(|(listing, _)| listing);
    let branch = listed.as_ref().and_then(|listing| listing.branch.clone());
    let title = listed.map(|listing| listing.title).filter(|title| !title.is_empty());
    let listing = SessionListing {
        id: session.clone(),
        agent: first.agent.clone(),
        project: project.to_owned(),
        title: title.unwrap_or_else(|| read.title.clone()),
        branch: branch.or_else(|| read.branch.clone()),
        worktree: find_last_location(ledger, project, session)?.worktree,
        first_at: stats.as_ref().map_or(first.at, |stats| stats.first_at),
        last_at: last.at,
        events: stats.as_ref().map_or(events.len() as u64, |stats| stats.events),
        prompts: read.turns.iter().filter(|turn| turn.prompt.is_some()).count() as u64,
        commits: read.facts.iter().filter(|fact| fact.kind == FactKind::Commit).count() as u64,
        short_id: String::new(),
        cwd: find_first_folder(ledger, project, session)?,
        conclusion: read.turns.iter().rev().find_map(|turn| turn.conclusion.clone()),
        facts: Vec::new(),
    };
    let mut page = write_page(listing, read, &events, is_truncated);
    for fact in &mut page.facts {
        fact.number = find_number(ledger, &fact.event)?;
    }
    for turn in &mut page.turns {
        if let Some(prompt) = &turn.prompt_event {
            turn.number = find_number(ledger, prompt)?;
        }
    }
    Ok(Some(page))
}

fn write_page(
    session: SessionListing,
    read: SessionFacts,
    events: &[Event],
    is_truncated: bool,
) -> SessionPage {
    let id_at = |at: usize| events.get(at).map(|event| event.id.clone());
    let one_line = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().take(120).collect();
        truncate_words(&words.join(" "), TURN_CHARS_MAX)
    };
    let turns = read.turns.iter().map(|turn| SessionTurn {
        // The session may have started long before its first prompt.
        at: events.get(turn.prompt.unwrap_or(turn.events.start)).map_or(Millis(0), |it| it.at),
        prompt: turn
            .prompt
            .and_then(|at| events.get(at))
            .map(|event| one_line(&prompt_text(&event.text)))
            .unwrap_or_default(),
        prompt_event: turn.prompt.and_then(id_at),
        number: 0,
        conclusion: turn.conclusion.as_deref().map(one_line),
        answer_event: turn.answer.and_then(id_at),
        events: turn.events.len() as u64,
        changed_files: turn.changed_files,
        commits: turn.commits,
        is_interrupted: turn.is_interrupted,
    });
    let mut shown_turns: Vec<SessionTurn> = Vec::new();
    for (turn, facts) in turns.zip(&read.turns) {
        if turn.prompt_event.is_some() || turn.events > 1 {
            shown_turns.push(turn);
        }
        let next = shown_turns.len() + 1;
        if let Some(turn) = shown_turns.last_mut().filter(|_| facts.is_corrected) {
            turn.conclusion =
                turn.conclusion.take().map(|text| format!("{text}{CORRECTED} {next})"));
        }
    }
    mark_later_changes(&mut shown_turns, events);
    let shown = |kind: FactKind| is_listed(kind) && kind != FactKind::Outcome;
    // A check that still fails is shown once, as open.
    let open = read.facts.iter().rfind(|fact| fact.kind == FactKind::Open).map(|fact| fact.event);
    let facts: Vec<SessionFact> = read
        .facts
        .iter()
        .filter(|fact| shown(fact.kind))
        .filter(|fact| fact.kind != FactKind::Problem || Some(fact.event) != open)
        .filter_map(|fact| {
            let event = events.get(fact.event)?;
            Some(SessionFact {
                kind: fact.kind,
                text: fact.text.clone(),
                event: event.id.clone(),
                number: 0,
                at: event.at,
                branch: session.branch.clone(),
            })
        })
        .collect();
    SessionPage { session, turns: shown_turns, facts, files: read.files, is_truncated }
}

/// Names the later turn that changed what a turn came to, unless the next one corrected it.
fn mark_later_changes(turns: &mut [SessionTurn], events: &[Event]) {
    let key = |index: usize| OrderKey { at: Millis(0), seq: index as u64 };
    let order_keys: Vec<OrderKey> = (0..events.len()).map(key).collect();
    let outlines = outline_turns(events, &order_keys);
    let index_of: HashMap<&EventId, usize> =
        events.iter().enumerate().map(|(index, event)| (&event.id, index)).collect();
    let place_of: HashMap<u64, usize> = turns
        .iter()
        .enumerate()
        .filter_map(|(place, turn)| {
            let prompt = index_of.get(turn.prompt_event.as_ref()?)?;
            Some((*prompt as u64, place + 1))
        })
        .collect();
    for turn in turns {
        let Some(text) = turn.conclusion.as_mut().filter(|text| !text.contains(CORRECTED)) else {
            continue;
        };
        let answer = turn.answer_event.as_ref().and_then(|id| index_of.get(id));
        let change = answer.and_then(|answer| find_changing_turn(&outlines, key(*answer), text));
        if let Some(place) = change.and_then(|change| place_of.get(&change.number)) {
            text.push_str(&format!(" (files changed again in turn {place})"));
        }
    }
}

/// Loads the latest events of a session, in order, and whether earlier ones were left out.
fn load_events(
    ledger: &Ledger,
    project: &str,
    session: &SessionId,
) -> Result<(Vec<Event>, bool), HomeError> {
    let range = EventRange {
        session: Some(session.clone()),
        direction: ScanDirection::Backward,
        ..EventRange::default()
    };
    let (mut events, mut bytes) = (Vec::new(), 0);
    let mut is_truncated = false;
    for event in ledger.events(&range) {
        let (_, event) = event?;
        if event.project != project {
            continue;
        }
        bytes += event_texts(&event).map(|text| text.len()).sum::<usize>();
        if events.len() >= EVENTS_MAX || bytes > TEXT_BYTES_MAX && !events.is_empty() {
            is_truncated = true;
            break;
        }
        events.push(event);
    }
    events.reverse();
    Ok((events, is_truncated))
}
