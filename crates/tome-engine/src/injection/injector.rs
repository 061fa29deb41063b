//! `Injector`: access to the stores that injections are built from, and to the state kept about
//! them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tome_ledger::EventRange;
use tome_model::{Event, EventId, EventKind, SessionId};

use super::hints::Hint;
use super::record::{InjectionRecord, Records};
use super::remembered::{Hinted, Remembered};
use crate::triggers::{Due, Seen, Settings, State};
use tome_home::{HomeError, Notebooks, Stores};
use tome_recall::Recall;
use tome_redact::Redactor;

/// Builds and records the injections of one home.
pub struct Injector {
    pub(super) stores: Arc<Stores>,
    pub(super) notebooks: Arc<Notebooks>,
    pub(super) recall: Arc<Recall>,
    redactor: Arc<Redactor>,
    records: Records,
    /// Held from reading a session's state until it is written back.
    remembering: Mutex<()>,
}

impl Injector {
    /// Creates an injector.
    pub fn new(
        stores: Arc<Stores>,
        notebooks: Arc<Notebooks>,
        recall: Arc<Recall>,
        redactor: Arc<Redactor>,
    ) -> Self {
        let records = Records::new(stores.projects_shared());
        let remembering = Mutex::default();
        Self { stores, notebooks, recall, redactor, records, remembering }
    }

    /// Redacts a text: notes edited by hand have not passed through any tool.
    pub(super) fn cut(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }

    /// An event that was stored just now, sealed as it is on disk.
    pub fn event(&self, project: &str, id: &EventId) -> Result<Option<Event>, HomeError> {
        let Some(path) = self.stores.existing(project) else { return Ok(None) };
        Ok(self.stores.open(&path)?.event(id)?)
    }

    /// Shows an event to the triggers of its session, and says what is due in answer to it. What they
    /// make of it is kept before this returns.
    pub fn hear(&self, event: &Event, settings: &Settings) -> Result<Option<Due>, HomeError> {
        self.remember(&event.project, event.session.as_str(), |remembered| {
            let mut state = State::from_bytes(&remembered.triggers);
            let due = state.step(&Seen::of_event(event), settings);
            remembered.triggers = state.to_bytes();
            due
        })
    }

    /// Records that a due injection did not reach the agent in time, so that it is due again.
    pub fn missed(
        &self,
        project: &str,
        session: &str,
        due: &Due,
        settings: &Settings,
    ) -> Result<(), HomeError> {
        self.remember(project, session, |remembered| {
            let mut state = State::from_bytes(&remembered.triggers);
            state.missed(due, settings);
            remembered.triggers = state.to_bytes();
        })
    }

    /// Whether the session is a subagent's: with some agents those are sessions of their own.
    pub fn is_subagent(&self, project: &str, session: &SessionId) -> Result<bool, HomeError> {
        let Some(path) = self.stores.existing(project) else { return Ok(false) };
        let store = self.stores.open(&path)?;
        let range = EventRange { session: Some(session.clone()), ..EventRange::default() };
        let first = store.events(&range).next().transpose()?;
        Ok(first.is_some_and(|(_, first)| {
            first.kind == EventKind::SubagentStart && first.meta.contains_key("parent")
        }))
    }

    /// Returns the hints given to a session, and those that wait for its next prompt.
    pub fn hinted(&self, project: &str, session: &str) -> Hinted {
        let folder = self.stores.projects().known_folder(project);
        folder.map(|folder| Remembered::read(&folder, session).hinted()).unwrap_or_default()
    }

    /// Keeps hints that came too late for the session's next prompt.
    pub fn put_off(&self, project: &str, session: &str, hints: Vec<Hint>) -> Result<(), HomeError> {
        self.remember(project, session, |remembered| remembered.put_off(hints))
    }

    /// Notes that a session is given these hints.
    pub fn give(&self, project: &str, session: &str, keys: Vec<String>) -> Result<(), HomeError> {
        self.remember(project, session, |remembered| remembered.give(keys))
    }

    /// Notes that a session was given the text of its start.
    pub fn note_start(&self, project: &str, session: &str) -> Result<(), HomeError> {
        self.remember(project, session, |remembered| remembered.started = true)
    }

    /// Records an injection.
    pub fn record(&self, record: &InjectionRecord) -> Result<(), HomeError> {
        self.records.add(record)
    }

    /// Lists the latest `limit` injections, oldest first, filtered by project and session.
    pub fn recorded(
        &self,
        project: Option<&str>,
        session: Option<&str>,
        limit: usize,
    ) -> Vec<InjectionRecord> {
        self.records.list(project, session, limit)
    }

    fn remember<T>(
        &self,
        project: &str,
        session: &str,
        change: impl FnOnce(&mut Remembered) -> T,
    ) -> Result<T, HomeError> {
        let folder = self.folder(project)?;
        let _one_at_a_time = self.remembering.lock().unwrap_or_else(PoisonError::into_inner);
        let before = Remembered::read(&folder, session);
        let mut after = before.clone();
        let changed = change(&mut after);
        if after != before {
            after.write(&folder, session)?;
        }
        Ok(changed)
    }

    /// The folder of a project that has events; one that has none has nothing to remember either.
    fn folder(&self, project: &str) -> Result<PathBuf, HomeError> {
        let folder = self.stores.projects().known_folder(project);
        folder.ok_or_else(|| HomeError::NotFound(format!("there is no project {project}")))
    }
}
