//! The decision that an agent gets when it edits a file: the last one about the file, if it still
//! holds. One line, once per file and session.

use std::collections::BTreeSet;

use tome_ledger::{EventRange, ScanDirection};
use tome_model::{Event, EventKind, Millis, SessionId};
use tome_recall::Claim;
use tome_text::{content_stems, stem};
use tome_topics::{FileDecision, resolve_repository_path, subject_words};

use super::Injector;
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
/// Bytes of a message that are compared.
const MESSAGE_BYTES_MAX: usize = 4_000;
/// Words with which a user asks for something else than before.
const CHANGE_WORDS: [&str; 12] = [
    "instead", "switch", "replace", "rather", "change", "revert", "drop", "remove", "undo",
    "migrate", "rewrite", "rethink",
];
/// Those of them with which an agent says so; the others are in every report.
const SWITCH_WORDS: [&str; 5] = ["switch", "replace", "revert", "drop", "migrate"];
/// Phrases that call something a mistake or say that it is gone.
const REGRET_PHRASES: [&str; 12] = [
    "mistake",
    "was wrong",
    "were wrong",
    "is wrong",
    "bad idea",
    "bad choice",
    "regret",
    "no longer",
    "any more",
    "anymore",
    "abandon",
    "away from",
];
/// Words of a decision that a sentence about it shares.
const SHARED_WORDS_MIN: usize = 2;
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
        let claim = DecisionClaim::read(decision);
        if decision.later.iter().any(|text| claim.is_taken_back(text, false)) {
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
            if is_taken_back_in(&store, &session, (from, to), &claim)? {
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
            let text = quote_line(&text, *chars_max);
            let line = format!("{who} {day} on {name}: {text} [#{}]", decision.fact.number);
            render_short_injection("decision", &line, budget)
        })
    }
}

/// A decision in the forms in which later messages are compared with it.
struct DecisionClaim {
    statement: Option<Claim>,
    subject: BTreeSet<String>,
}

impl DecisionClaim {
    fn read(decision: &FileDecision) -> Self {
        let text = &decision.fact.text;
        let mut subject = subject_words(text, std::iter::once(decision.path.as_str()));
        subject.retain(|known| CHANGE_WORDS.iter().all(|word| stem(word).as_ref() != known));
        Self { statement: Claim::read(text), subject }
    }

    /// Whether a message takes the decision back: it says the opposite, calls it a mistake, or asks
    /// for something else. A sentence and the next one are read together.
    fn is_taken_back(&self, message: &str, is_by_user: bool) -> bool {
        let sentences = tome_text::split_sentences(message);
        let change: &[&str] = if is_by_user { &CHANGE_WORDS } else { &SWITCH_WORDS };
        (0..sentences.len()).any(|at| {
            let Some(sentence) = sentences.get(at) else { return false };
            let next = sentences.get(at + 1).copied().unwrap_or_default();
            if sentence.contains('?') {
                return is_by_user && self.asks_for_change(sentence, change);
            }
            self.statement.as_ref().is_some_and(|claim| claim.is_retracted_by(sentence))
                || self.regrets(sentence)
                || self.asks_for_change(sentence, change)
                || !next.contains('?')
                    && self.asks_for_change(&format!("{sentence} {next}"), change)
        })
    }

    fn regrets(&self, sentence: &str) -> bool {
        let lower = sentence.to_lowercase();
        REGRET_PHRASES.iter().any(|phrase| lower.contains(phrase))
            && self.count_shared(&content_stems(sentence)) > 0
    }

    fn asks_for_change(&self, text: &str, change: &[&str]) -> bool {
        let words = content_stems(text);
        let enough = self.subject.len().clamp(1, SHARED_WORDS_MIN);
        change.iter().any(|word| words.contains(stem(word).as_ref()))
            && self.count_shared(&words) >= enough
    }

    fn count_shared(&self, words: &BTreeSet<String>) -> usize {
        self.subject.intersection(words).count()
    }
}

/// Whether a message of a session in a span of time takes a decision back.
fn is_taken_back_in(
    store: &Store,
    session: &SessionId,
    (from, to): (Millis, Millis),
    claim: &DecisionClaim,
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
        let text = tome_model::truncate_to(&event.text, MESSAGE_BYTES_MAX);
        if is_message(&event) && claim.is_taken_back(text, event.kind == EventKind::UserMessage) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_message(event: &Event) -> bool {
    let kinds = [EventKind::UserMessage, EventKind::AssistantMessage, EventKind::AssistantStop];
    kinds.contains(&event.kind) && !event.meta.contains_key("subagent")
}
