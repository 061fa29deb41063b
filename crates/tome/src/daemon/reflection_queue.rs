//! The queue of sessions to reflect on. It survives restarts and crashes in `run/reflections.json`,
//! which is replaced as a whole:
//!
//! `{"sessions":[{"store":"…/ledger","project":"/app","session":"s1","agent":"claude-code","first_seq":1,
//! "last_seq":40,"said_seq":39,"over_seq":40,"over_ms":1794735000000,"looked_seq":0,
//! "last_ms":1794735000000,"tries":1,"hold":null}],
//! "done":3,"skipped":1,"left":[…],"last":{…},"failure":{…}}`
//!
//! A session is queued from its first event without a reflection until the reflection is done. An
//! attempt is counted before it starts, so that one interrupted by a crash counts.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tome_home::HomeError;
use tome_model::{Event, EventKind, Millis};
use tome_proto::v1;

use super::saved_state::SavedState;

/// Attempts per session before it is abandoned.
const ATTEMPTS_MAX: u32 = 2;
/// Sessions in the queue; the one with the oldest last event is evicted.
const SESSIONS_MAX: usize = 500;
/// Abandoned sessions to remember, the newest.
const ABANDONED_MAX: usize = 20;
/// Sessions that have been idle for longer are not reflected on.
pub const FRESH_MS: u64 = 24 * 60 * 60 * 1000;
/// Maximum age of a session that waits for budget.
const HELD_MAX_AGE_MS: u64 = 7 * FRESH_MS;
/// Delay after a failure.
const RETRY_AFTER_MS: u64 = 600_000;
/// Delay after the end of a session: hooks of its last events may still be running.
const SETTLE_MS: u64 = 1_000;

/// A session with events that were not reflected on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingSession {
    pub store: PathBuf,
    pub project: String,
    pub session: String,
    pub agent: String,
    /// Outbox numbers of the first and the last of these events.
    pub first_seq: u64,
    pub last_seq: u64,
    /// The last of them that is a message or a tool result.
    #[serde(rename = "said_seq")]
    pub activity_seq: u64,
    /// The last of them that ended or compacted the session; 0 if none.
    pub over_seq: u64,
    /// When that happened. Late events from before then do not reopen the session.
    pub over_ms: u64,
    /// Up to here there was too little to reflect on.
    pub looked_seq: u64,
    /// When its last event arrived.
    pub last_ms: u64,
    pub tries: u32,
    pub hold: Option<Hold>,
}

/// Why and until when a session is not attempted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    Until {
        ms: u64,
    },
    /// Until the next day, or a larger budget.
    Budget {
        day: String,
        daily_tokens: u64,
    },
}

impl Hold {
    /// The delay after a failure.
    pub fn after_failure(now_ms: u64) -> Self {
        Self::Until { ms: now_ms.saturating_add(RETRY_AFTER_MS) }
    }
}

pub enum AttemptOutcome {
    /// Done; the notes written.
    Done { written: Vec<String> },
    /// There was too little to reflect on.
    Skipped,
    /// Failed. If the attempt `counts` and was the last one, the session is abandoned.
    Failed { why: String, hold: Option<Hold>, counts: bool },
}

/// Time, budget and idle setting at the moment of a check.
pub struct Conditions<'n> {
    pub ms: u64,
    pub day: &'n str,
    pub daily_tokens: u64,
    pub idle: Option<Duration>,
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default)]
struct ReflectionQueueState {
    sessions: Vec<WaitingSession>,
    done: u64,
    skipped: u64,
    left: Vec<AbandonedSession>,
    last: Option<LastReflection>,
    failure: Option<AbandonedSession>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct AbandonedSession {
    session: String,
    project: String,
    ms: u64,
    why: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct LastReflection {
    session: String,
    ms: u64,
    written: Vec<String>,
}

/// The waiting sessions, and the outcomes of others.
pub struct ReflectionQueue(SavedState<ReflectionQueueState>);

impl ReflectionQueue {
    /// Reads the file; a missing or unreadable one starts an empty queue.
    pub fn open(path: PathBuf) -> Self {
        Self(SavedState::open(path, Option::unwrap_or_default))
    }

    /// Queues the sessions of a store's new events, given in order of arrival, and saves the queue.
    pub fn record_events(&self, store: &Path, events: &[(u64, Event)]) -> Result<(), HomeError> {
        let mut state = self.0.lock();
        let mut is_changed = false;
        for (seq, event) in events {
            is_changed |= state.record_event(store, *seq, event);
        }
        state.evict_oldest();
        if is_changed { self.0.save(&state) } else { Ok(()) }
    }

    /// The store of the next session to reflect on, if one is due.
    pub fn next_store(&self, now: &Conditions<'_>) -> Option<PathBuf> {
        let state = self.0.lock();
        state.sessions.iter().find(|one| one.is_due(now)).map(|one| one.store.clone())
    }

    /// Returns the next session to reflect on, with the attempt already counted. Abandons sessions
    /// without attempts left, and drops those that are too old.
    pub fn begin_next(&self, now: &Conditions<'_>) -> Result<Option<WaitingSession>, HomeError> {
        let mut state = self.0.lock();
        state.sessions.retain(|session| now.ms.saturating_sub(session.last_ms) <= HELD_MAX_AGE_MS);
        let is_exhausted =
            |session: &WaitingSession| session.tries >= ATTEMPTS_MAX && !session.is_held(now);
        while let Some(session) =
            state.sessions.iter().find(|session| is_exhausted(session)).cloned()
        {
            // Only a crash leaves an exhausted session in the queue.
            self.update(&mut state, &session, now, |next| {
                next.abandon(
                    &session,
                    now.ms,
                    "the daemon crashed or was killed twice during the reflection",
                );
                next.remove(&session);
            })?;
        }
        let Some(mut due) = state.sessions.iter().find(|session| session.is_due(now)).cloned()
        else {
            return Ok(None);
        };
        due.tries += 1;
        due.hold = None;
        self.update(&mut state, &due, now, |next| {
            if let Some(session) = next.find(&due.project, &due.session) {
                session.clone_from(&due);
            }
        })?;
        Ok(Some(due))
    }

    /// Changes a session, on disk first. If saving fails the change is dropped, and the session is
    /// delayed in memory.
    fn update(
        &self,
        state: &mut ReflectionQueueState,
        session: &WaitingSession,
        now: &Conditions<'_>,
        change: impl FnOnce(&mut ReflectionQueueState),
    ) -> Result<(), HomeError> {
        let mut next = state.clone();
        change(&mut next);
        let saved = self.0.save(&next);
        if saved.is_ok() {
            *state = next;
        } else if let Some(waiting) = state.find(&session.project, &session.session) {
            waiting.hold = Some(Hold::after_failure(now.ms));
        }
        saved
    }

    /// Records the outcome of an attempt on the events that it read.
    pub fn finish(
        &self,
        attempted: &WaitingSession,
        outcome: AttemptOutcome,
        now_ms: u64,
    ) -> Result<(), HomeError> {
        let mut state = self.0.lock();
        state.finish(attempted, outcome, now_ms);
        self.0.save(&state)
    }

    /// Records a reflection that a user requested.
    pub fn finish_manual(
        &self,
        session: &WaitingSession,
        written: Vec<String>,
        now_ms: u64,
    ) -> Result<(), HomeError> {
        self.finish(session, AttemptOutcome::Done { written }, now_ms)
    }

    /// Whether a session waits that will be reflected on automatically.
    pub fn has_waiting_sessions(&self, now: &Conditions<'_>) -> bool {
        let is_waiting = |one: &WaitingSession| {
            one.has_new_activity() && one.hold.is_none() && (one.is_over() || now.idle.is_some())
        };
        self.0.lock().sessions.iter().any(is_waiting)
    }

    /// The state of the queue; `None` if it was never used.
    pub fn status(&self, is_on: bool) -> Option<v1::ReflectionStatus> {
        let state = self.0.lock();
        let waiting = state.sessions.iter().filter(|one| one.has_new_activity()).count() as u64;
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
                left: state.left.iter().map(AbandonedSession::to_wire).collect(),
            }
        })
    }
}

impl ReflectionQueueState {
    fn find(&mut self, project: &str, session: &str) -> Option<&mut WaitingSession> {
        self.sessions.iter_mut().find(|one| one.project == project && one.session == session)
    }

    /// Returns whether anything changed. After a crash the same event may be recorded again.
    fn record_event(&mut self, store: &Path, seq: u64, event: &Event) -> bool {
        let (project, session) = (&event.project, event.session.as_str());
        let is_activity = matches!(
            event.kind,
            EventKind::UserMessage
                | EventKind::AssistantMessage
                | EventKind::AssistantStop
                | EventKind::ToolResult
        );
        let is_end = matches!(event.kind, EventKind::SessionEnd | EventKind::Compaction);
        match self.find(project, session) {
            Some(waiting) if seq <= waiting.last_seq => return false,
            Some(waiting) if is_activity || is_end => {
                if is_activity && waiting.activity_seq == 0 && event.at.0 > waiting.over_ms {
                    // It continues after an end before which nothing happened.
                    waiting.first_seq = seq;
                }
                waiting.last_seq = seq;
                waiting.last_ms = event.arrived.0;
                waiting.activity_seq = if is_activity { seq } else { waiting.activity_seq };
                if is_end || event.at.0 <= waiting.over_ms {
                    waiting.over_seq = seq;
                    waiting.over_ms = event.at.0.max(waiting.over_ms);
                }
            }
            // The end of a session may arrive first, if its other events are still in the spool.
            None if is_activity || is_end => self.sessions.push(WaitingSession {
                store: store.to_path_buf(),
                project: project.clone(),
                session: session.to_owned(),
                agent: event.agent.to_string(),
                first_seq: seq,
                last_seq: seq,
                activity_seq: if is_activity { seq } else { 0 },
                over_seq: if is_end { seq } else { 0 },
                over_ms: if is_end { event.at.0 } else { 0 },
                looked_seq: 0,
                last_ms: event.arrived.0,
                tries: 0,
                hold: None,
            }),
            _ => return false,
        }
        true
    }

    fn evict_oldest(&mut self) {
        while self.sessions.len() > SESSIONS_MAX {
            let oldest = self.sessions.iter().enumerate().min_by_key(|(_, one)| one.last_ms);
            let Some((at, _)) = oldest else { return };
            self.sessions.remove(at);
        }
    }

    fn finish(&mut self, attempted: &WaitingSession, outcome: AttemptOutcome, now_ms: u64) {
        match outcome {
            AttemptOutcome::Done { written } => {
                self.done += 1;
                self.last = Some(LastReflection {
                    session: attempted.session.clone(),
                    ms: now_ms,
                    written,
                });
                self.left.retain(|waiting| waiting.session != attempted.session);
                self.advance(attempted);
            }
            AttemptOutcome::Skipped => {
                self.skipped += 1;
                // A short session may continue.
                if let Some(waiting) = self.find(&attempted.project, &attempted.session) {
                    waiting.looked_seq = attempted.last_seq;
                    waiting.tries = 0;
                }
            }
            AttemptOutcome::Failed { why, hold, counts } => {
                self.failure = Some(AbandonedSession::new(attempted, now_ms, &why));
                if counts && attempted.tries >= ATTEMPTS_MAX {
                    self.abandon(attempted, now_ms, &why);
                    self.advance(attempted);
                } else if let Some(waiting) = self.find(&attempted.project, &attempted.session) {
                    waiting.tries = attempted.tries - u32::from(!counts && attempted.tries > 0);
                    waiting.hold = hold;
                }
            }
        }
    }

    /// Marks the attempted events as done; later ones stay queued.
    fn advance(&mut self, attempted: &WaitingSession) {
        let Some(waiting) = self.find(&attempted.project, &attempted.session) else { return };
        if waiting.activity_seq <= attempted.last_seq {
            return self.remove(attempted);
        }
        waiting.first_seq = attempted.last_seq + 1;
        waiting.looked_seq = 0;
        waiting.tries = 0;
        waiting.hold = None;
    }

    fn remove(&mut self, gone: &WaitingSession) {
        self.sessions.retain(|one| one.project != gone.project || one.session != gone.session);
    }

    fn abandon(&mut self, one: &WaitingSession, now_ms: u64, why: &str) {
        let left = AbandonedSession::new(one, now_ms, why);
        self.failure = Some(left.clone());
        self.left.retain(|other| other.session != one.session);
        self.left.push(left);
        let over = self.left.len().saturating_sub(ABANDONED_MAX);
        self.left.drain(..over);
    }
}

impl WaitingSession {
    /// Whether there is activity since the last check.
    fn has_new_activity(&self) -> bool {
        self.activity_seq > self.looked_seq
    }

    /// Whether the session ended or was compacted since the last check.
    fn is_over(&self) -> bool {
        self.over_seq > self.looked_seq && self.over_seq >= self.first_seq
    }

    /// Whether the session is on hold. A hold longer than any was set before the clock was set
    /// back.
    fn is_held(&self, now: &Conditions<'_>) -> bool {
        match &self.hold {
            None => false,
            Some(Hold::Until { ms }) => now.ms < *ms && ms.abs_diff(now.ms) <= RETRY_AFTER_MS,
            Some(Hold::Budget { day, daily_tokens }) => {
                day == now.day && now.daily_tokens <= *daily_tokens
            }
        }
    }

    fn is_due(&self, now: &Conditions<'_>) -> bool {
        // Absolute difference: a clock that was set back must not cause a delay.
        let silent_ms = now.ms.abs_diff(self.last_ms);
        let is_silent = now.idle.is_some_and(|idle| u128::from(silent_ms) >= idle.as_millis());
        let is_ready = self.has_new_activity() && !self.is_held(now);
        is_ready && (is_silent || (self.is_over() && silent_ms >= SETTLE_MS))
    }
}

impl AbandonedSession {
    fn new(one: &WaitingSession, ms: u64, why: &str) -> Self {
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
