//! `Injector`: access to the stores that injections are built from, and to the state kept about
//! them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tome_contents::Instructions;
use tome_ledger::EventRange;
use tome_model::{Clock, Event, EventId, EventKind, SessionId};

use super::hints::PromptHint;
use super::injection_log::{InjectionLog, InjectionRecord};
use super::injection_state::{InjectionState, SessionHints, SubagentTask};
use crate::topics::Topics;
use crate::triggers::{DueInjection, TriggerEvent, TriggerSettings, TriggerState};
use tome_home::{HomeError, Notebooks, Stores};
use tome_recall::Recall;
use tome_redact::Redactor;

/// Builds and records the injections of one home.
pub struct Injector {
    pub(super) stores: Arc<Stores>,
    pub(super) notebooks: Arc<Notebooks>,
    pub(super) recall: Arc<Recall>,
    pub(super) instructions: Arc<Instructions>,
    pub(super) topics: Arc<Topics>,
    pub(super) clock: Arc<dyn Clock>,
    redactor: Arc<Redactor>,
    log: InjectionLog,
    /// Held from reading a session's state until it is written back.
    state_lock: Mutex<()>,
}

impl Injector {
    /// Creates an injector.
    pub fn new(
        stores: Arc<Stores>,
        notebooks: Arc<Notebooks>,
        recall: Arc<Recall>,
        instructions: Arc<Instructions>,
        topics: Arc<Topics>,
        clock: Arc<dyn Clock>,
        redactor: Arc<Redactor>,
    ) -> Self {
        let log = InjectionLog::new(stores.shared_projects());
        let state_lock = Mutex::default();
        Self { stores, notebooks, recall, instructions, topics, clock, redactor, log, state_lock }
    }

    /// Redacts a text: notes edited by hand have not passed through any tool.
    pub(super) fn redact_text(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }

    /// Loads an event that was just stored, sealed as it is on disk.
    pub fn load_event(&self, project: &str, id: &EventId) -> Result<Option<Event>, HomeError> {
        let Some(path) = self.stores.find_store_path(project) else { return Ok(None) };
        Ok(self.stores.open(&path)?.event(id)?)
    }

    /// Feeds an event to its session's triggers and returns what is due in response. The new
    /// trigger state is saved before this returns.
    pub fn process_event(
        &self,
        event: &Event,
        settings: &TriggerSettings,
    ) -> Result<Option<DueInjection>, HomeError> {
        self.update_state(&event.project, event.session.as_str(), |remembered| {
            let mut state = TriggerState::from_bytes(&remembered.triggers);
            let due = state.process_event(&TriggerEvent::from_event(event), settings);
            remembered.triggers = state.to_bytes();
            due
        })
    }

    /// Records that a due injection did not reach the agent in time, so that it is due again.
    pub fn record_missed(
        &self,
        project: &str,
        session: &str,
        due: &DueInjection,
        settings: &TriggerSettings,
    ) -> Result<(), HomeError> {
        self.update_state(project, session, |remembered| {
            let mut state = TriggerState::from_bytes(&remembered.triggers);
            state.mark_missed(due, settings);
            remembered.triggers = state.to_bytes();
        })
    }

    /// Whether this is a subagent's session: with some agents subagents have sessions of their own.
    pub fn is_subagent(&self, project: &str, session: &SessionId) -> Result<bool, HomeError> {
        let Some(path) = self.stores.find_store_path(project) else { return Ok(false) };
        let store = self.stores.open(&path)?;
        let range = EventRange { session: Some(session.clone()), ..EventRange::default() };
        let first = store.events(&range).next().transpose()?;
        Ok(first.is_some_and(|(_, first)| {
            first.kind == EventKind::SubagentStart && first.meta.contains_key("parent")
        }))
    }

    /// Returns the hints given to a session, and those that wait for its next prompt.
    pub fn load_hints(&self, project: &str, session: &str) -> SessionHints {
        let folder = self.stores.projects().find_folder(project);
        folder.map(|folder| InjectionState::load(&folder, session).hints()).unwrap_or_default()
    }

    /// Keeps hints that came too late for the session's next prompt.
    pub fn defer_hints(
        &self,
        project: &str,
        session: &str,
        hints: Vec<PromptHint>,
    ) -> Result<(), HomeError> {
        self.update_state(project, session, |remembered| remembered.defer_hints(hints))
    }

    /// Records that a session was given these hints.
    pub fn record_hints_given(
        &self,
        project: &str,
        session: &str,
        keys: Vec<String>,
    ) -> Result<(), HomeError> {
        self.update_state(project, session, |remembered| remembered.mark_given(keys))
    }

    /// Records that the decisions about some files were given to a session, or that there are none.
    pub fn record_files_checked(
        &self,
        project: &str,
        session: &str,
        keys: Vec<String>,
    ) -> Result<(), HomeError> {
        self.update_state(project, session, |remembered| remembered.add_given(keys))
    }

    /// Keeps the task of a subagent that is about to start.
    pub fn record_subagent_task(
        &self,
        project: &str,
        session: &str,
        task: &SubagentTask,
    ) -> Result<(), HomeError> {
        let task = SubagentTask { kind: task.kind.clone(), text: self.redact_text(&task.text) };
        self.update_state(project, session, |remembered| remembered.add_task(task))
    }

    /// Returns the task of a subagent that starts: the oldest one for its kind that was kept.
    pub fn take_subagent_task(
        &self,
        project: &str,
        session: &str,
        kind: &str,
    ) -> Result<Option<String>, HomeError> {
        self.update_state(project, session, |remembered| remembered.take_task(kind))
    }

    /// Records that a session was given its start text.
    pub fn record_start(&self, project: &str, session: &str) -> Result<(), HomeError> {
        self.update_state(project, session, |remembered| remembered.started = true)
    }

    /// Logs an injection.
    pub fn log_injection(&self, record: &InjectionRecord) -> Result<(), HomeError> {
        self.log.append(record)
    }

    /// Lists the latest `limit` injections, oldest first, filtered by project and session.
    pub fn list_injections(
        &self,
        project: Option<&str>,
        session: Option<&str>,
        limit: usize,
    ) -> Vec<InjectionRecord> {
        self.log.list(project, session, limit)
    }

    fn update_state<T>(
        &self,
        project: &str,
        session: &str,
        change: impl FnOnce(&mut InjectionState) -> T,
    ) -> Result<T, HomeError> {
        let folder = self.find_folder(project)?;
        let _one_at_a_time = self.state_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let before = InjectionState::load(&folder, session);
        let mut after = before.clone();
        let changed = change(&mut after);
        if after != before {
            after.save(&folder, session)?;
        }
        Ok(changed)
    }

    /// Returns a known project's folder. A project without events has no state either.
    fn find_folder(&self, project: &str) -> Result<PathBuf, HomeError> {
        let folder = self.stores.projects().find_folder(project);
        folder.ok_or_else(|| HomeError::NotFound(format!("no project {project}")))
    }
}
