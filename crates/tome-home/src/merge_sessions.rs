//! Repairs sessions whose events are stored in several projects, which earlier versions could cause
//! when folders were gone: moves each session's events into its own project.
//!
//! Deletes nothing. First copies the events to the right store and syncs, recognizing those that
//! are there already by id. Then rewrites the wrong store without them and swaps it in; the old one
//! is kept as `ledger.before-repair-<time>`. The next repair completes an interrupted one: until a
//! store is replaced its events still count, and copied events are recognized.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use tome_ledger::{EventRange, Ledger, NewEvent};
use tome_model::{Agent, Draft, Event, EventId, Identity, SessionId, limits::DUPLICATE_WINDOW_MS};

use crate::session_index::{SplitSession, find_split_sessions};
use crate::{HomeError, StoreMode, Stores, layout};

const BATCH_EVENTS: usize = 500;

/// A session that was merged, or would be in a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedSession {
    /// The session, its project and the other projects that hold events of it.
    pub session: SplitSession,
    /// Events found in other projects.
    pub events: u64,
    /// Events among them that its own project also has, under the same id.
    pub duplicates: u64,
}

/// The outcome of merging sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergedSessions {
    /// The sessions that were split.
    pub sessions: Vec<MergedSession>,
    /// Where the replaced stores are kept.
    pub kept: Vec<PathBuf>,
}

type SessionKey = (Agent, SessionId);

impl Stores {
    /// Merges the sessions that are split over projects; a dry run only lists them.
    pub fn merge_sessions(&self, dry_run: bool) -> Result<MergedSessions, HomeError> {
        let index = self.session_index()?;
        let split = find_split_sessions(self.load_stored_sessions(), index);
        let mut repaired = MergedSessions::default();
        // The sessions to move out of each project, and the project each one moves to.
        let mut leaving: BTreeMap<String, HashMap<SessionKey, String>> = BTreeMap::new();
        for session in split {
            let mut merged = MergedSession { session, events: 0, duplicates: 0 };
            for from in merged.session.elsewhere.clone() {
                self.copy_session(&from, dry_run, &mut merged)?;
                let key = (merged.session.agent.clone(), merged.session.session.clone());
                leaving.entry(from).or_default().insert(key, merged.session.project.clone());
            }
            repaired.sessions.push(merged);
        }
        if dry_run {
            return Ok(repaired);
        }
        if self.mode() == StoreMode::Unified {
            // One store holds all projects: correct the project of its events.
            let goals = |event: &Event| {
                let goal = leaving.get(&event.project)?.get(&session_key(event))?;
                Some(Some(goal.clone()))
            };
            if !leaving.is_empty() {
                let path = self.home().unified_ledger();
                repaired
                    .kept
                    .push(self.rewrite_store(&path, |old, new| copy_ledger(old, new, &goals))?);
            }
        } else {
            for (from, sessions) in &leaving {
                let goals =
                    |event: &Event| sessions.contains_key(&session_key(event)).then_some(None);
                let Some(path) = self.find_store_path(from) else { continue };
                repaired
                    .kept
                    .push(self.rewrite_store(&path, |old, new| copy_ledger(old, new, &goals))?);
                self.move_folders(&path, sessions);
            }
        }
        for merged in &repaired.sessions {
            index.record_merge(
                &merged.session.agent,
                &merged.session.session,
                &merged.session.project,
            )?;
        }
        Ok(repaired)
    }

    /// Copies a project's events of a session to the project that the session belongs to.
    fn copy_session(
        &self,
        from: &str,
        dry_run: bool,
        merged: &mut MergedSession,
    ) -> Result<(), HomeError> {
        let Some(path) = self.find_store_path(from) else { return Ok(()) };
        let (source, goal) = (self.open(&path)?, self.open_project(&merged.session.project)?);
        let is_one_store = source.path() == goal.path();
        let range =
            EventRange { session: Some(merged.session.session.clone()), ..EventRange::default() };
        let mut batch = Vec::new();
        for found in source.events(&range) {
            let (_, event) = found?;
            if event.project != from || event.agent != merged.session.agent {
                continue;
            }
            merged.events += 1;
            if is_one_store {
                continue;
            }
            match choose_event_id(&goal, &event)? {
                None => merged.duplicates += 1,
                Some(id) if !dry_run => {
                    batch.push(encode_event(event, id, &merged.session.project));
                }
                Some(_) => {}
            }
            if batch.len() >= BATCH_EVENTS {
                goal.append(std::mem::take(&mut batch))?;
            }
        }
        if !dry_run && !is_one_store {
            source.copy_dedup_entries(&goal)?;
            goal.append(batch)?;
        }
        Ok(())
    }

    /// Moves the sessions' own notes with them and deletes the indexes over the replaced store,
    /// which are then rebuilt.
    fn move_folders(&self, ledger: &Path, sessions: &HashMap<SessionKey, String>) {
        let Some(folder) = ledger.parent() else { return };
        // Best effort: indexes can be rebuilt, and notes that cannot be moved stay where they are.
        let _ = std::fs::remove_dir_all(folder.join("finder"));
        for ((_, session), goal) in sessions {
            let Some(goal) = self.projects().find_folder(goal) else { continue };
            let (from, to) = (
                layout::session_dir(folder, session.as_str()),
                layout::session_dir(&goal, session.as_str()),
            );
            if from.is_dir() && !to.exists() {
                let _ = std::fs::create_dir_all(layout::sessions_dir(&goal));
                let _ = std::fs::rename(from, to);
            }
        }
    }
}

fn session_key(event: &Event) -> SessionKey {
    (event.agent.clone(), event.session.clone())
}

/// Returns the id for an event in the target store, or `None` if the event is already there.
/// Derived ids count occurrences per store, so an id may be taken by the same words at another
/// time; the event then gets a new id.
pub(crate) fn choose_event_id(goal: &Ledger, event: &Event) -> Result<Option<EventId>, HomeError> {
    let is_same = |at: tome_model::Millis| at.distance_ms(event.at) <= DUPLICATE_WINDOW_MS;
    match goal.position(&event.id)? {
        None => return Ok(Some(event.id.clone())),
        Some(found) if is_same(found.at) => return Ok(None),
        Some(_) => {}
    }
    let id = EventId::derive(&["moved", event.id.as_str(), &event.at.0.to_string()]);
    Ok(goal.position(&id)?.is_none().then_some(id))
}

pub(crate) fn encode_event(event: Event, id: EventId, project: &str) -> NewEvent {
    let arrived = event.arrived;
    let draft = Draft { identity: Identity::Fixed(id), ..Draft::from_event(event) };
    NewEvent::encode(draft, project.to_owned(), arrived)
}

/// Copies a ledger in order of arrival. `goal` returns `Some(None)` for events to leave out and
/// `Some(Some(project))` for events that change their project.
fn copy_ledger(
    old: &Ledger,
    new: &Ledger,
    goal: &dyn Fn(&Event) -> Option<Option<String>>,
) -> Result<(), HomeError> {
    let mut from_seq = 0;
    loop {
        let entries = old.read_outbox(from_seq, BATCH_EVENTS)?;
        let Some(last) = entries.last() else { break };
        from_seq = last.seq;
        let mut batch = Vec::with_capacity(entries.len());
        for entry in &entries {
            let Some(event) = old.event_at(&entry.position)? else { continue };
            let project = match goal(&event) {
                None => event.project.clone(),
                Some(Some(project)) => project,
                Some(None) => continue,
            };
            let id = event.id.clone();
            batch.push(encode_event(event, id, &project));
        }
        new.append(batch)?;
    }
    old.copy_dedup_entries(new)?;
    Ok(())
}
