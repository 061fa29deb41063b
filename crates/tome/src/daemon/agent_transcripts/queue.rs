//! The sessions whose transcripts are read, kept over restarts and crashes in `run/transcripts.json`,
//! which is always written whole:
//!
//! `{"v":1,"sessions":[{"agent":"codex","session":"0198…","transcript":"/home/dev/.codex/…","last_ms":
//! 1794735000000,"is_ended":true,"is_due":true,"looked_ms":0,"files":[{"path":"…","bytes":4096,
//! "modified_ms":1794735000000}]}]}`
//!
//! A session is due from its first event that arrived since its transcript was last read. After that
//! its files are looked at now and then for an hour: an agent may write its last words late.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tome_home::{HomeError, write_atomic};
use tome_model::{Agent, Event, EventKind, SessionId};

/// Version of the file.
const VERSION: u32 = 1;
/// Sessions that are kept; the one that was silent for longest makes room.
const SESSIONS_MAX: usize = 500;
/// How long the files of a silent session are looked at for late changes.
const WATCHED_MS: u64 = 60 * 60 * 1000;
/// Events of a session that has ended may be on their way, and the spool is drained every two seconds.
const SETTLE_MS: u64 = 3_000;
/// How often the files of a session that is not due are looked at.
const RECHECK_MS: u64 = 30_000;
/// A transcript that could not be read is tried again after so long.
pub const RETRY_MS: u64 = 600_000;

/// A session whose transcript is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub agent: Agent,
    pub session: SessionId,
    /// The transcript, where a hook names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<PathBuf>,
    /// When its last event arrived.
    pub last_ms: u64,
    #[serde(default)]
    pub is_ended: bool,
    /// Whether events arrived since its transcript was last read.
    #[serde(default)]
    pub is_due: bool,
    /// When its files were last looked at.
    #[serde(default)]
    pub looked_ms: u64,
    /// Not tried again before this.
    #[serde(default)]
    pub held_until_ms: u64,
    /// The files as they were when they were last read.
    #[serde(default)]
    pub files: Vec<FileState>,
}

/// What tells that somebody wrote to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    pub path: PathBuf,
    pub bytes: u64,
    pub modified_ms: u64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct State {
    v: u32,
    sessions: Vec<Session>,
}

/// The sessions whose transcripts are read.
pub struct Queue {
    path: PathBuf,
    state: Mutex<State>,
}

impl Queue {
    /// Reads the file; one that is missing or cannot be read is begun again. What is forgotten is
    /// read when its session goes on, or by `tome import`.
    pub fn open(path: PathBuf) -> Self {
        let kept = std::fs::read(&path).ok();
        let state: Option<State> = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let state = state.filter(|state| state.v == VERSION);
        let state = state.unwrap_or(State { v: VERSION, sessions: Vec::new() });
        Self { path, state: Mutex::new(state) }
    }

    /// Takes note of events. When it returns, each of their sessions is on disk as due.
    pub fn note(&self, events: &[Event]) -> Result<(), HomeError> {
        let mut state = self.lock();
        let mut is_changed = false;
        for event in events {
            is_changed |= state.note(event);
        }
        state.make_room();
        if is_changed { self.save(&state) } else { Ok(()) }
    }

    /// The next session to look at. `is_leaving` takes those too that nobody would wait for yet.
    pub fn next(&self, now_ms: u64, idle: Duration, is_leaving: bool) -> Option<Session> {
        let state = self.lock();
        let is_next = |one: &&Session| one.is_next(now_ms, idle, is_leaving);
        state.sessions.iter().filter(is_next).min_by_key(|one| (!one.is_due, one.last_ms)).cloned()
    }

    /// The transcript of a session was compared with what is stored, as its files were then.
    pub fn read(
        &self,
        read: &Session,
        files: Vec<FileState>,
        now_ms: u64,
    ) -> Result<(), HomeError> {
        let mut state = self.lock();
        let Some(one) = state.find(&read.agent, &read.session) else { return Ok(()) };
        let is_changed = one.is_due || one.files != files;
        // What arrived meanwhile may not be in the transcript yet.
        one.is_due &= one.last_ms != read.last_ms;
        one.files = files;
        one.looked_ms = now_ms;
        one.held_until_ms = 0;
        if is_changed { self.save(&state) } else { Ok(()) }
    }

    /// The session is looked at again later: its transcript is being written, or cannot be read.
    pub fn postpone(&self, session: &Session, now_ms: u64, wait_ms: u64) {
        let mut state = self.lock();
        if let Some(one) = state.find(&session.agent, &session.session) {
            one.looked_ms = now_ms;
            one.held_until_ms = now_ms.saturating_add(wait_ms.min(RETRY_MS));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save(&self, state: &State) -> Result<(), HomeError> {
        write_atomic(&self.path, &serde_json::to_vec(state).unwrap_or_default())
    }
}

impl State {
    fn find(&mut self, agent: &Agent, session: &SessionId) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|one| one.agent == *agent && one.session == *session)
    }

    /// Whether that changed anything that has to outlive the daemon.
    fn note(&mut self, event: &Event) -> bool {
        let transcript = event.meta.get("transcript").and_then(|path| path.as_str());
        let transcript = transcript.map(PathBuf::from).filter(|path| path.is_absolute());
        let is_end = event.kind == EventKind::SessionEnd;
        let Some(one) = self.find(&event.agent, &event.session) else {
            self.sessions.push(Session {
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
        let before = (one.is_due, one.is_ended, one.transcript.clone());
        one.last_ms = event.arrived.0;
        one.is_due = true;
        one.is_ended = is_end;
        if transcript.is_some() {
            one.transcript = transcript;
        }
        before != (one.is_due, one.is_ended, one.transcript.clone())
    }

    fn make_room(&mut self) {
        while self.sessions.len() > SESSIONS_MAX {
            let oldest = self.sessions.iter().enumerate().min_by_key(|(_, one)| one.last_ms);
            let Some((at, _)) = oldest else { return };
            self.sessions.swap_remove(at);
        }
    }
}

impl Session {
    /// Whether nobody wrote to its files since they were read.
    pub fn is_unchanged(&self) -> bool {
        let is_same = |file: &FileState| state_of(&file.path).as_ref() == Some(file);
        !self.is_due && !self.files.is_empty() && self.files.iter().all(is_same)
    }

    fn is_next(&self, now_ms: u64, idle: Duration, is_leaving: bool) -> bool {
        // Distances, not differences: a clock that was put back must not make it wait.
        let silent_ms = now_ms.abs_diff(self.last_ms);
        let is_held =
            now_ms < self.held_until_ms && self.held_until_ms.abs_diff(now_ms) <= RETRY_MS;
        if is_held {
            return false;
        }
        if self.is_due {
            let is_silent = u128::from(silent_ms) >= idle.as_millis();
            return is_leaving || is_silent || (self.is_ended && silent_ms >= SETTLE_MS);
        }
        let is_watched = silent_ms <= WATCHED_MS && !is_leaving;
        is_watched && now_ms.abs_diff(self.looked_ms) >= RECHECK_MS
    }
}

/// How a file is now, if it is one.
pub fn state_of(path: &Path) -> Option<FileState> {
    let about = std::fs::metadata(path).ok()?;
    let modified = about.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let modified_ms = u64::try_from(modified.as_millis()).ok()?;
    Some(FileState { path: path.to_path_buf(), bytes: about.len(), modified_ms })
}
