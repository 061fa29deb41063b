//! What is known of sessions that have yet to be reflected on, kept over restarts and crashes in
//! `run/reflections.json`, which is always written whole:
//!
//! `{"sessions":[{"store":"…/ledger","project":"/app","session":"s1","agent":"claude-code","first_seq":1,
//! "last_seq":40,"said_seq":39,"over_seq":40,"over_ms":1794735000000,"looked_seq":0,
//! "last_ms":1794735000000,"tries":1,"hold":null}],
//! "done":3,"skipped":1,"left":[…],"last":{…},"failure":{…}}`
//!
//! A session is in here from its first event that nobody has reflected on until somebody has. A try is
//! counted before it is made: one that a crash ends has been one.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tome_home::{HomeError, write_atomic};
use tome_model::{Event, EventKind, Millis};
use tome_proto::v1;

/// A session is tried so often, then left alone.
const TRIES_MAX: u32 = 2;
/// Sessions that wait; the one that was silent for longest makes room.
const SESSIONS_MAX: usize = 500;
/// Sessions that were left alone are remembered, the latest so many.
const LEFT_MAX: usize = 20;
/// Nobody reflects on what has been silent for longer.
pub const FRESH_MS: u64 = 24 * 60 * 60 * 1000;
/// What is held back for a day's budget may be older than that.
const KEPT_MS: u64 = 7 * FRESH_MS;
/// What failed is left alone for so long.
const REST_MS: u64 = 600_000;
/// A session that has ended may have events on their way, and the spool is looked at every two seconds:
/// so long a silence is waited for.
const SETTLE_MS: u64 = 3_000;

/// A session of which something was not reflected on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    pub store: PathBuf,
    pub project: String,
    pub session: String,
    pub agent: String,
    /// The first and the last of its events that were not reflected on, by their place in the outbox.
    pub first_seq: u64,
    pub last_seq: u64,
    /// The last of them in which something was said or done.
    pub said_seq: u64,
    /// The last of them that said that it ends, or was compacted; 0 for none.
    pub over_seq: u64,
    /// When that happened: what happened before and arrives later does not make it go on.
    pub over_ms: u64,
    /// Up to here there was too little in it.
    pub looked_seq: u64,
    /// When its last event arrived.
    pub last_ms: u64,
    pub tries: u32,
    pub hold: Option<Hold>,
}

/// Until when a session is not tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// Until then.
    Until { ms: u64 },
    /// Until another day, or a larger budget.
    Budget { day: String, daily_tokens: u64 },
}

impl Hold {
    /// What failed now is left alone for a while.
    pub fn resting(now_ms: u64) -> Self {
        Self::Until { ms: now_ms.saturating_add(REST_MS) }
    }
}

/// What came of a try.
pub enum Came {
    /// It was reflected on; these notes were written.
    Done { written: Vec<String> },
    /// There was too little in it.
    Skipped,
    /// It failed; where the try counts and was the last one, the session is left alone.
    Failed { why: String, hold: Option<Hold>, counts: bool },
}

/// How things stand when somebody looks.
pub struct Now<'n> {
    pub ms: u64,
    pub day: &'n str,
    pub daily_tokens: u64,
    pub idle: Option<Duration>,
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default)]
struct State {
    sessions: Vec<Waiting>,
    done: u64,
    skipped: u64,
    left: Vec<Left>,
    last: Option<Last>,
    failure: Option<Left>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Left {
    session: String,
    project: String,
    ms: u64,
    why: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Last {
    session: String,
    ms: u64,
    written: Vec<String>,
}

/// The sessions that wait, and what became of others.
pub struct Queue {
    path: PathBuf,
    state: Mutex<State>,
}

impl Queue {
    /// Goes on from the file; one that cannot be read is begun anew.
    pub fn open(path: PathBuf) -> Self {
        let kept = std::fs::read(&path).ok();
        let state = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Self { path, state: Mutex::new(state) }
    }

    /// Takes note of events of a store, in the order of their arrival. When it returns, that is on disk.
    pub fn heard(&self, store: &Path, events: &[(u64, Event)]) -> Result<(), HomeError> {
        let mut state = self.lock();
        let mut is_changed = false;
        for (seq, event) in events {
            is_changed |= state.hear(store, *seq, event);
        }
        state.make_room();
        if is_changed { self.save(&state) } else { Ok(()) }
    }

    /// The next session to reflect on, its try already counted. Sessions that were tried often enough
    /// are left alone here, and those that are too old forgotten.
    pub fn begin(&self, now: &Now<'_>) -> Result<Option<Waiting>, HomeError> {
        let mut state = self.lock();
        state.sessions.retain(|one| now.ms.saturating_sub(one.last_ms) <= KEPT_MS);
        let is_spent = |one: &Waiting| one.tries >= TRIES_MAX && !one.is_held(now);
        while let Some(one) = state.sessions.iter().find(|one| is_spent(one)).cloned() {
            // Only a crash leaves one like this behind.
            self.change(&mut state, &one, now, |next| {
                next.leave(&one, now.ms, "the daemon ended twice while it was at it");
                next.forget(&one);
            })?;
        }
        let Some(mut due) = state.sessions.iter().find(|one| one.is_due(now)).cloned() else {
            return Ok(None);
        };
        due.tries += 1;
        due.hold = None;
        self.change(&mut state, &due, now, |next| {
            if let Some(one) = next.find(&due.project, &due.session) {
                one.clone_from(&due);
            }
        })?;
        Ok(Some(due))
    }

    /// Changes what is known of a session, on disk first: what cannot be written down has not happened,
    /// and the session rests, here only.
    fn change(
        &self,
        state: &mut State,
        of: &Waiting,
        now: &Now<'_>,
        change: impl FnOnce(&mut State),
    ) -> Result<(), HomeError> {
        let mut next = state.clone();
        change(&mut next);
        let saved = self.save(&next);
        if saved.is_ok() {
            *state = next;
        } else if let Some(one) = state.find(&of.project, &of.session) {
            one.hold = Some(Hold::resting(now.ms));
        }
        saved
    }

    /// Writes down what came of a try on a session, up to where it was read.
    pub fn end(&self, tried: &Waiting, came: Came, now_ms: u64) -> Result<(), HomeError> {
        let mut state = self.lock();
        state.end(tried, came, now_ms);
        self.save(&state)
    }

    /// Writes down a reflection that somebody asked for.
    pub fn done_by_hand(
        &self,
        on: &Waiting,
        written: Vec<String>,
        now_ms: u64,
    ) -> Result<(), HomeError> {
        self.end(on, Came::Done { written }, now_ms)
    }

    /// Whether the daemon is to stay, because a session waits that will be reflected on by itself.
    pub fn keeps_awake(&self, now: &Now<'_>) -> bool {
        let waits = |one: &Waiting| {
            one.is_news() && one.hold.is_none() && (one.is_over() || now.idle.is_some())
        };
        self.lock().sessions.iter().any(waits)
    }

    /// How things stand; `None` where nothing ever was.
    pub fn status(&self, is_on: bool) -> Option<v1::ReflectionStatus> {
        let state = self.lock();
        let waiting = state.sessions.iter().filter(|one| one.is_news()).count() as u64;
        let has_any = waiting + state.done + state.skipped > 0 || state.failure.is_some();
        (is_on || has_any).then(|| {
            let last = state.last.clone();
            let failure = state.failure.clone();
            v1::ReflectionStatus {
                is_on,
                done: state.done,
                skipped: state.skipped,
                waiting,
                last_at_ms: last.as_ref().map_or(0, |last| last.ms),
                last_session_id: last.as_ref().map(|last| last.session.clone()).unwrap_or_default(),
                last_written: last.map(|last| last.written).unwrap_or_default(),
                failed_at_ms: failure.as_ref().map_or(0, |one| one.ms),
                failed_session_id: failure
                    .as_ref()
                    .map(|one| one.session.clone())
                    .unwrap_or_default(),
                failure: failure.map(|one| one.why).unwrap_or_default(),
                left: state.left.iter().map(Left::to_wire).collect(),
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save(&self, state: &State) -> Result<(), HomeError> {
        write_atomic(&self.path, &serde_json::to_vec(state).unwrap_or_default())
    }
}

impl State {
    fn find(&mut self, project: &str, session: &str) -> Option<&mut Waiting> {
        self.sessions.iter_mut().find(|one| one.project == project && one.session == session)
    }

    /// Whether that changed anything. An event that was heard before a crash may be heard again.
    fn hear(&mut self, store: &Path, seq: u64, event: &Event) -> bool {
        let (project, session) = (&event.project, event.session.as_str());
        let is_said = matches!(
            event.kind,
            EventKind::UserMessage
                | EventKind::AssistantMessage
                | EventKind::AssistantStop
                | EventKind::ToolResult
        );
        let is_end = matches!(event.kind, EventKind::SessionEnd | EventKind::Compaction);
        match self.find(project, session) {
            Some(one) if seq <= one.last_seq => return false,
            Some(one) if is_said || is_end => {
                one.last_seq = seq;
                one.last_ms = event.arrived.0;
                one.said_seq = if is_said { seq } else { one.said_seq };
                if is_end || event.at.0 <= one.over_ms {
                    one.over_seq = seq;
                    one.over_ms = event.at.0.max(one.over_ms);
                }
            }
            None if is_said => self.sessions.push(Waiting {
                store: store.to_path_buf(),
                project: project.clone(),
                session: session.to_owned(),
                agent: event.agent.to_string(),
                first_seq: seq,
                last_seq: seq,
                said_seq: seq,
                over_seq: 0,
                over_ms: 0,
                looked_seq: 0,
                last_ms: event.arrived.0,
                tries: 0,
                hold: None,
            }),
            _ => return false,
        }
        true
    }

    fn make_room(&mut self) {
        while self.sessions.len() > SESSIONS_MAX {
            let oldest = self.sessions.iter().enumerate().min_by_key(|(_, one)| one.last_ms);
            let Some((at, _)) = oldest else { return };
            self.sessions.remove(at);
        }
    }

    fn end(&mut self, tried: &Waiting, came: Came, now_ms: u64) {
        match came {
            Came::Done { written } => {
                self.done += 1;
                self.last = Some(Last { session: tried.session.clone(), ms: now_ms, written });
                self.left.retain(|one| one.session != tried.session);
                self.close(tried);
            }
            Came::Skipped => {
                self.skipped += 1;
                // What was too little may be the beginning of more.
                if let Some(one) = self.find(&tried.project, &tried.session) {
                    one.looked_seq = tried.last_seq;
                    one.tries = 0;
                }
            }
            Came::Failed { why, hold, counts } => {
                self.failure = Some(Left::of(tried, now_ms, &why));
                if counts && tried.tries >= TRIES_MAX {
                    self.leave(tried, now_ms, &why);
                    self.close(tried);
                } else if let Some(one) = self.find(&tried.project, &tried.session) {
                    one.tries = tried.tries - u32::from(!counts && tried.tries > 0);
                    one.hold = hold;
                }
            }
        }
    }

    /// What came up to here is dealt with; what came since waits for its turn.
    fn close(&mut self, tried: &Waiting) {
        let Some(one) = self.find(&tried.project, &tried.session) else { return };
        if one.said_seq <= tried.last_seq {
            return self.forget(tried);
        }
        one.first_seq = tried.last_seq + 1;
        one.looked_seq = 0;
        one.tries = 0;
        one.hold = None;
    }

    fn forget(&mut self, gone: &Waiting) {
        self.sessions.retain(|one| one.project != gone.project || one.session != gone.session);
    }

    fn leave(&mut self, one: &Waiting, now_ms: u64, why: &str) {
        let left = Left::of(one, now_ms, why);
        self.failure = Some(left.clone());
        self.left.retain(|other| other.session != one.session);
        self.left.push(left);
        let over = self.left.len().saturating_sub(LEFT_MAX);
        self.left.drain(..over);
    }
}

impl Waiting {
    /// Whether there is something that nobody has looked at.
    fn is_news(&self) -> bool {
        self.said_seq > self.looked_seq
    }

    /// Whether it has ended, or was compacted, since somebody last looked.
    fn is_over(&self) -> bool {
        self.over_seq > self.looked_seq && self.over_seq >= self.first_seq
    }

    /// Whether it is not to be tried yet. A rest that is longer than any was set by a clock that has
    /// been put back since.
    fn is_held(&self, now: &Now<'_>) -> bool {
        match &self.hold {
            None => false,
            Some(Hold::Until { ms }) => now.ms < *ms && ms.abs_diff(now.ms) <= REST_MS,
            Some(Hold::Budget { day, daily_tokens }) => {
                day == now.day && now.daily_tokens <= *daily_tokens
            }
        }
    }

    fn is_due(&self, now: &Now<'_>) -> bool {
        // Either way: a clock that was put back must not make it wait until it has caught up.
        let silent_ms = now.ms.abs_diff(self.last_ms);
        let is_silent = now.idle.is_some_and(|idle| u128::from(silent_ms) >= idle.as_millis());
        let is_ready = self.is_news() && !self.is_held(now);
        is_ready && (is_silent || (self.is_over() && silent_ms >= SETTLE_MS))
    }
}

impl Left {
    fn of(one: &Waiting, ms: u64, why: &str) -> Self {
        Self { session: one.session.clone(), project: one.project.clone(), ms, why: why.to_owned() }
    }

    fn to_wire(&self) -> v1::ReflectionLeft {
        v1::ReflectionLeft {
            session_id: self.session.clone(),
            project: self.project.clone(),
            at_ms: Millis(self.ms).0,
            why: self.why.clone(),
        }
    }
}
