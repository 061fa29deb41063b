//! The decision that an agent gets when it edits a file: the last one about the file, if it still
//! holds. One line, once per file and session.

use std::collections::BTreeSet;

use tome_ledger::{EventRange, ScanDirection};
use tome_model::{Event, EventKind, Millis, SessionId};
use tome_topics::{Choice, FileDecision, Speaker, resolve_repository_path};

use super::Injector;
use super::choice_text::quote_choice;
use super::compose::InjectionText;
use super::token_budget::TokenBudget;
use super::trigger_text::render_short_injection;
use crate::quote::quote_line;
use tome_home::{HomeError, Store};

/// Token budget of a decision, including the marks.
pub const DECISION_TOKENS_MAX: u64 = 59;
/// Files of one call that are checked: a patch of more is not about one of them.
const FILES_MAX: usize = 8;
/// Later events of a session that are read to find out whether it took a decision back.
const EVENTS_MAX: usize = 200;
/// Characters of a decision, longest first: the first that fits the budget is used.
const TEXT_CHARS: [usize; 5] = [180, 150, 120, 90, 60];
const NAME_CHARS_MAX: usize = 40;

/// An edit that an agent is about to make, or has just made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The project's root.
    pub project: String,
    /// The session of the agent that edits.
    pub session: SessionId,
    /// The subagent that edits; empty for the agent itself.
    pub subagent: String,
    /// The agent's working directory.
    pub cwd: String,
    /// The files, as the agent names them.
    pub files: Vec<String>,
}

/// The result of looking up the decisions about edited files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditLookup {
    /// The text for the agent, if a decision holds.
    pub text: Option<InjectionText>,
    /// Keys of the files that need not be checked again.
    pub keys: Vec<String>,
}

impl Injector {
    /// Finds the decision for an edit. Skips files whose decision the session has already received.
    pub fn find_edit_decision(
        &self,
        edit: &FileEdit,
        budget: TokenBudget,
    ) -> Result<EditLookup, HomeError> {
        let given = self.load_hints(&edit.project, edit.session.as_str()).given;
        let key = |path: &str| format!("edit:{}:{path}", edit.subagent);
        let paths: BTreeSet<String> = edit
            .files
            .iter()
            .take(FILES_MAX)
            .filter_map(|path| resolve_repository_path(path, &edit.cwd, &edit.project))
            .filter(|path| !given.contains(&key(path)))
            .collect();
        if paths.is_empty() {
            return Ok(EditLookup::default());
        }
        let topics = self.topics.load(&edit.project)?;
        let mut lookup = EditLookup::default();
        for path in paths {
            lookup.keys.push(key(&path));
            let Some(decision) = topics.last_decision(&path) else { continue };
            // The same decision may concern several files.
            let own_key = format!("decision:{}:#{}", edit.subagent, decision.fact.number);
            if given.contains(&own_key) || !self.holds(&edit.project, &edit.session, &decision)? {
                continue;
            }
            lookup.text = self.render_decision(&decision, budget);
            if lookup.text.is_some() {
                lookup.keys.push(own_key);
                break;
            }
        }
        Ok(lookup)
    }

    /// Prepares the topics of a project, so that the first edit need not wait for them.
    pub fn warm_topics(&self, project: &str) -> Result<(), HomeError> {
        self.topics.load(project).map(drop)
    }

    /// Whether a decision of another session was not taken back: there, in any later session, or in
    /// this one.
    fn holds(
        &self,
        project: &str,
        session: &SessionId,
        decision: &FileDecision,
    ) -> Result<bool, HomeError> {
        if decision.session == *session {
            return Ok(false);
        }
        let Some(path) = self.stores.find_store_path(project) else { return Ok(false) };
        let store = self.stores.open(&path)?;
        let after = Millis(decision.fact.at.0.saturating_add(1));
        let own = (decision.session.clone(), after, Millis(u64::MAX));
        let now = (session.clone(), Millis(0), Millis(u64::MAX));
        let later = decision.later_work.iter().filter(|(later, ..)| later != session);
        let later = later.map(|(later, first, last)| (later.clone(), after.max(*first), *last));
        for (session, from, to) in [now, own].into_iter().chain(later) {
            if is_taken_back_in(&store, &session, (from, to), &decision.choice)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn render_decision(
        &self,
        decision: &FileDecision,
        budget: TokenBudget,
    ) -> Option<InjectionText> {
        let who = if decision.is_by_user { "The user decided" } else { "Decided" };
        let day: String = decision.fact.at.to_string().chars().take(10).collect();
        // The agent knows the folder.
        let name = decision.path.rsplit('/').next().unwrap_or_default();
        let name = quote_line(name, NAME_CHARS_MAX);
        let text = self.redact_text(&decision.fact.text);
        TEXT_CHARS.iter().find_map(|chars_max| {
            let text = quote_choice(&text, *chars_max);
            let line = format!("{who} {day} on {name}: {text} [#{}]", decision.fact.number);
            render_short_injection("decision", &line, budget)
        })
    }
}

/// Whether a message of a session in a span of time takes a decision back.
fn is_taken_back_in(
    store: &Store,
    session: &SessionId,
    (from, to): (Millis, Millis),
    choice: &Choice,
) -> Result<bool, HomeError> {
    let range = EventRange {
        session: Some(session.clone()),
        from: Some(from),
        to: (to.0 < u64::MAX).then(|| Millis(to.0.saturating_add(1))),
        direction: ScanDirection::Backward,
        ..EventRange::default()
    };
    for pair in store.events(&range).take(EVENTS_MAX) {
        let (_, event) = pair?;
        let is_by_user = event.kind == EventKind::UserMessage;
        let speaker = if is_by_user { Speaker::User } else { Speaker::Agent };
        if is_message(&event) && choice.is_taken_back_by(&event.text, speaker, false) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_message(event: &Event) -> bool {
    let kinds = [EventKind::UserMessage, EventKind::AssistantMessage, EventKind::AssistantStop];
    kinds.contains(&event.kind) && !event.meta.contains_key("subagent")
}
