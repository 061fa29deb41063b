//! The queue of sessions whose agent transcripts are due. It survives restarts and crashes in
//! `run/transcripts.json`, which is replaced as a whole:
//!
//! `{"v":1,"sessions":[{"agent":"codex","session":"0198…","transcript":"/home/dev/.codex/…","last_ms":
//! 1794735000000,"is_ended":true,"is_due":true,"looked_ms":0,"files":[{"path":"…","bytes":4096,
//! "modified_ms":1794735000000}]}]}`
//!
//! A session is due from the first event that arrives after its transcript was last read.
//! Afterwards its files are checked for changes for an hour, because an agent may write its last
//! entries late.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tome_home::{HomeError, Projection, Store, follow_outbox};
use tome_ledger::ProjectionCommit;
use tome_model::{Agent, Clock, Event, EventKind, SessionId};

use super::saved_state::SavedState;
use crate::config::Settings;
use crate::import::IMPORTED_META_KEY;

const VERSION: u32 = 1;
/// Sessions in the queue; the one with the oldest last event is evicted.
const SESSIONS_MAX: usize = 500;
/// How long the files of an idle session are checked for late changes.
const WATCH_MS: u64 = 60 * 60 * 1000;
/// Delay after the end of a session: events may still be in the spool, which is drained every two
/// seconds.
const SETTLE_MS: u64 = 3_000;
/// Interval of these checks.
const RECHECK_MS: u64 = 30_000;
/// Delay before a failed transcript is retried.
pub const RETRY_MS: u64 = 600_000;
/// Older events do not queue their session; `tome import` reads history.
const MAX_AGE_MS: u64 = 24 * 60 * 60 * 1000;
const BATCH_EVENTS: usize = 1_000;

/// The queue of sessions whose agent transcripts are due.
pub struct AgentTranscripts {
    pub queue: TranscriptQueue,
    clock: Arc<dyn Clock>,
    pub is_enabled: bool,
    pub idle: Duration,
    /// Held while a transcript is read: one at a time.
    pub read_lock: Mutex<()>,
}

impl AgentTranscripts {
    pub fn new(settings: &Settings, clock: &Arc<dyn Clock>) -> Self {
        Self {
            queue: TranscriptQueue::open(settings.home.run().join("transcripts.json")),
            clock: Arc::clone(clock),
            is_enabled: settings.transcripts.enabled,
            idle: settings.transcripts.idle,
            read_lock: Mutex::default(),
        }
    }
}

/// Queues the sessions of new events. The queue is saved before the cursor moves.
impl Projection for AgentTranscripts {
    fn name(&self) -> &'static str {
        "transcripts"
    }

    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        Ok(self.is_enabled && store.cursor(self.name())? < store.last_seq())
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        let name = self.name();
        follow_outbox(store, name, BATCH_EVENTS, stop, |from_seq, entries| {
            let fresh_from = self.clock.now().0.saturating_sub(MAX_AGE_MS);
            let mut events = Vec::new();
            for entry in entries.iter().filter(|entry| entry.position.at.0 >= fresh_from) {
                events.extend(store.event_at(&entry.position)?.filter(is_from_hook));
            }
            self.queue.record_events(&events)?;
            Ok((entries.last().map_or(from_seq, |entry| entry.seq), ProjectionCommit::default()))
        })?;
        Ok(())
    }

    /// Does nothing: old events do not cause transcripts to be read again.
    fn rebuild(&self, _: &Store) -> Result<(), HomeError> {
        Ok(())
    }
}

/// Whether an event came from a hook of an agent that keeps transcripts.
fn is_from_hook(event: &Event) -> bool {
    Agent::KNOWN.contains(&event.agent.as_str())
        && event.session.as_str() != SessionId::UNKNOWN
        && !event.meta.contains_key(IMPORTED_META_KEY)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedSession {
    pub agent: Agent,
    pub session: SessionId,
    /// The transcript's path, if a hook reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<PathBuf>,
    /// When its last event arrived.
    pub last_ms: u64,
    #[serde(default)]
    pub is_ended: bool,
    /// Whether events arrived since its transcript was last read.
    #[serde(default)]
    pub is_due: bool,
    /// When its files were last checked.
    #[serde(default)]
    pub looked_ms: u64,
    /// No attempt before this time.
    #[serde(default)]
    pub held_until_ms: u64,
    /// The files as of the last read.
    #[serde(default)]
    pub files: Vec<FileState>,
}

/// The state of a file, to detect changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    pub path: PathBuf,
    pub bytes: u64,
    pub modified_ms: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct TranscriptQueueState {
    v: u32,
    sessions: Vec<QueuedSession>,
}

pub struct TranscriptQueue(SavedState<TranscriptQueueState>);

impl TranscriptQueue {
    /// Reads the file; a missing or unreadable one starts an empty queue. A lost session is queued
    /// again with its next event, or read by `tome import`.
    pub fn open(path: PathBuf) -> Self {
        let start = |read: Option<TranscriptQueueState>| {
            let read = read.filter(|state| state.v == VERSION);
            read.unwrap_or(TranscriptQueueState { v: VERSION, sessions: Vec::new() })
        };
        Self(SavedState::open(path, start))
    }

    /// Queues the sessions of these events, and saves the queue.
    pub fn record_events(&self, events: &[Event]) -> Result<(), HomeError> {
        let mut state = self.0.lock();
        let mut is_changed = false;
        for event in events {
            is_changed |= state.record_event(event);
        }
        state.evict_oldest();
        if is_changed { self.0.save(&state) } else { Ok(()) }
    }

    /// Returns the next session to read. `is_exiting` includes sessions that are not idle yet.
    pub fn next(&self, now_ms: u64, idle: Duration, is_exiting: bool) -> Option<QueuedSession> {
        let state = self.0.lock();
        let is_ready = |queued: &&QueuedSession| queued.is_ready(now_ms, idle, is_exiting);
        state
            .sessions
            .iter()
            .filter(is_ready)
            .min_by_key(|queued| (!queued.is_due, queued.last_ms))
            .cloned()
    }

    /// Marks the transcript of a session as read, with the files as of that read.
    pub fn mark_read(
        &self,
        read: &QueuedSession,
        files: Vec<FileState>,
        now_ms: u64,
    ) -> Result<(), HomeError> {
        let mut state = self.0.lock();
        let Some(queued) = state.find(&read.agent, &read.session) else { return Ok(()) };
        let is_changed = queued.is_due || queued.files != files;
        // Events that arrived meanwhile may not be in the transcript yet.
        queued.is_due &= queued.last_ms != read.last_ms;
        queued.files = files;
        queued.looked_ms = now_ms;
        queued.held_until_ms = 0;
        if is_changed { self.0.save(&state) } else { Ok(()) }
    }

    /// Delays the session: its transcript is being written, or cannot be read.
    pub fn postpone(&self, session: &QueuedSession, now_ms: u64, wait_ms: u64) {
        let mut state = self.0.lock();
        if let Some(queued) = state.find(&session.agent, &session.session) {
            queued.looked_ms = now_ms;
            queued.held_until_ms = now_ms.saturating_add(wait_ms.min(RETRY_MS));
        }
    }
}

impl TranscriptQueueState {
    fn find(&mut self, agent: &Agent, session: &SessionId) -> Option<&mut QueuedSession> {
        self.sessions.iter_mut().find(|queued| queued.agent == *agent && queued.session == *session)
    }

    /// Returns whether anything changed that must be saved.
    fn record_event(&mut self, event: &Event) -> bool {
        let transcript = event.meta.get("transcript").and_then(|path| path.as_str());
        let transcript = transcript.map(PathBuf::from).filter(|path| path.is_absolute());
        let is_end = event.kind == EventKind::SessionEnd;
        let Some(queued) = self.find(&event.agent, &event.session) else {
            self.sessions.push(QueuedSession {
                agent: event.agent.clone(),
                session: event.session.clone(),
                transcript,
                last_ms: event.arrived.0,
                is_ended: is_end,
                is_due: true,
                looked_ms: 0,
                held_until_ms: 0,
                files: Vec::new(),
            });
            return true;
        };
        let before = (queued.is_due, queued.is_ended, queued.transcript.clone());
        queued.last_ms = event.arrived.0;
        queued.is_due = true;
        queued.is_ended = is_end;
        if transcript.is_some() {
            queued.transcript = transcript;
        }
        before != (queued.is_due, queued.is_ended, queued.transcript.clone())
    }

    fn evict_oldest(&mut self) {
        while self.sessions.len() > SESSIONS_MAX {
            let oldest = self.sessions.iter().enumerate().min_by_key(|(_, queued)| queued.last_ms);
            let Some((at, _)) = oldest else { return };
            self.sessions.swap_remove(at);
        }
    }
}

impl QueuedSession {
    /// Whether the files are unchanged since the last read.
    pub fn is_unchanged(&self) -> bool {
        let is_same = |file: &FileState| read_file_state(&file.path).as_ref() == Some(file);
        !self.is_due && !self.files.is_empty() && self.files.iter().all(is_same)
    }

    fn is_ready(&self, now_ms: u64, idle: Duration, is_exiting: bool) -> bool {
        // Absolute differences: a clock that was set back must not cause a delay.
        let silent_ms = now_ms.abs_diff(self.last_ms);
        let is_held =
            now_ms < self.held_until_ms && self.held_until_ms.abs_diff(now_ms) <= RETRY_MS;
        if is_held {
            return false;
        }
        if self.is_due {
            let is_silent = u128::from(silent_ms) >= idle.as_millis();
            return is_exiting || is_silent || (self.is_ended && silent_ms >= SETTLE_MS);
        }
        let is_watched = silent_ms <= WATCH_MS && !is_exiting;
        is_watched && now_ms.abs_diff(self.looked_ms) >= RECHECK_MS
    }
}

/// Reads the state of a file; `None` if it cannot be read.
pub fn read_file_state(path: &Path) -> Option<FileState> {
    let metadata = std::fs::metadata(path).ok()?;
    let modified = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let modified_ms = u64::try_from(modified.as_millis()).ok()?;
    Some(FileState { path: path.to_path_buf(), bytes: metadata.len(), modified_ms })
}
