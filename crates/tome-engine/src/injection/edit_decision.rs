//! The decision that an agent gets when it edits a file: the last one about the file, if it still
//! holds. One line, once per file and session.

use std::collections::BTreeSet;

use tome_ledger::{EventRange, ScanDirection};
use tome_model::{Event, EventKind, Millis, SessionId};
use tome_recall::Claim;
use tome_text::{content_stems, stem};
use tome_topics::{FileDecision, resolve_repository_path};

use super::Injector;
use super::compose::InjectionText;
use super::nudge::render_nudge;
use super::token_budget::TokenBudget;
use crate::quote::quote_line;
use tome_home::{HomeError, Store};

/// Token budget of a decision, including the marks.
pub const DECISION_TOKENS_MAX: u64 = 59;
/// Files of one call that are checked: a patch of more is not about one of them.
const FILES_MAX: usize = 8;
/// Later events of a session that are read to find out whether it took a decision back.
const EVENTS_MAX: usize = 200;
/// Bytes of a message that are compared.
const MESSAGE_BYTES_MAX: usize = 4_000;
/// Words with which a user asks for something else than before.
const CHANGE_WORDS: [&str; 12] = [
    "instead", "switch", "replace", "rather", "change", "revert", "drop", "remove", "undo",
    "migrate", "rewrite", "rethink",
];
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

    /// Whether a decision of another session was not taken back there, later or in this session.
    fn holds(
        &self,
        project: &str,
        session: &SessionId,
        decision: &FileDecision,
    ) -> Result<bool, HomeError> {
        if decision.session == *session {
            return Ok(false);
        }
        let Some(claim) = Claim::read(&decision.fact.text) else { return Ok(true) };
        if decision.later.iter().any(|text| claim.is_retracted_by(text)) {
            return Ok(false);
        }
        let Some(path) = self.stores.find_store_path(project) else { return Ok(false) };
        let store = self.stores.open(&path)?;
        let later = find_message(&store, &decision.session, decision.fact.at, &|_, sentence| {
            claim.is_retracted_by(sentence)
        })?;
        let words = content_stems(&decision.fact.text);
        let now = find_message(&store, session, Millis(0), &|event, sentence| {
            claim.is_retracted_by(sentence)
                || event.kind == EventKind::UserMessage && asks_for_change(sentence, &words)
        })?;
        Ok(!later && !now)
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
            let text = quote_line(&text, *chars_max);
            let line = format!("{who} {day} on {name}: {text} [#{}]", decision.fact.number);
            render_nudge("decision", &line, budget)
        })
    }
}

/// Whether a session has a message after a time with a sentence of which a test is true.
fn find_message(
    store: &Store,
    session: &SessionId,
    since: Millis,
    test: &dyn Fn(&Event, &str) -> bool,
) -> Result<bool, HomeError> {
    let range = EventRange {
        session: Some(session.clone()),
        from: Some(Millis(since.0.saturating_add(1))),
        direction: ScanDirection::Backward,
        ..EventRange::default()
    };
    for pair in store.events(&range).take(EVENTS_MAX) {
        let (_, event) = pair?;
        if is_message(&event) {
            let text = tome_model::truncate_to(&event.text, MESSAGE_BYTES_MAX);
            if tome_text::split_sentences(text).iter().any(|sentence| test(&event, sentence)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a sentence of the user asks to change the subject of a decision.
fn asks_for_change(sentence: &str, decision: &BTreeSet<String>) -> bool {
    let words = content_stems(sentence);
    let is_change = CHANGE_WORDS.iter().any(|word| words.contains(stem(word).as_ref()));
    is_change && words.intersection(decision).count() >= 2
}

fn is_message(event: &Event) -> bool {
    let kinds = [EventKind::UserMessage, EventKind::AssistantMessage, EventKind::AssistantStop];
    kinds.contains(&event.kind) && !event.meta.contains_key("subagent")
}
