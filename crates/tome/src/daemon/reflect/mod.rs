//! The reflector: when a session of any wired agent is over, the conversation model writes down what is
//! worth knowing the next time, as facts and episodes of its project.
//!
//! A session is over when its agent says so, when it is compacted, or when it has been silent for
//! `reflect.idle`. Only what happened within the last day counts, and what was imported is no reason
//! to reflect, so that history asks no model. `tome chat` reflects by itself and is left out. One session at a time, in the background,
//! within the day's budget. What was reflected on is not reflected on again; what a crash, the budget or
//! the model cut short is tried once more and then left alone, with the reason in `tome status`. A model
//! that cannot be reached at all, or wants another key, is waited for, up to a day.

mod queue;
mod service;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tome_agent::{
    EngineTools, Reflection, ReflectionCause, ReflectionError, ReflectionSettings, SessionInfo,
    reflect,
};
use tome_engine::Caller;
use tome_home::{HomeError, Projection, Store, follow_outbox};
use tome_ledger::{EventRange, ScanDirection, WorkerCommit};
use tome_llm::{ChatModel, ModelFailure};
use tome_model::{Clock, Event, ModelError, SessionId};
use tome_proto::v1;

use super::maintenance::run_periodically;
use super::models::Chat;
use super::state::Daemon;
use crate::config::Settings;
use crate::import::IMPORTED_META_KEY;
use queue::{Came, FRESH_MS, Hold, Now, Queue, Waiting};

pub use service::ReflectionsService;

/// Events of one batch.
const BATCH_EVENTS: usize = 1_000;
/// Interval at which the daemon checks for a session that is over.
const EVERY: Duration = Duration::from_secs(1);
/// Events of one session that are shown, the latest: more than any window holds.
const EVENTS_MAX: usize = 2_000;
/// What the history of a note says wrote it.
const COMMAND: &str = "tome reflect";

/// The sessions to reflect on.
pub struct Reflector {
    queue: Queue,
    clock: Arc<dyn Clock>,
    /// Whether a conversation model is configured and reflection is on.
    is_active: bool,
    /// Held while a reflection runs: one at a time.
    reflecting: Mutex<()>,
}

impl Reflector {
    pub fn new(settings: &Settings, chat: &Chat, clock: &Arc<dyn Clock>) -> Self {
        Self {
            queue: Queue::open(queue_file(settings)),
            clock: Arc::clone(clock),
            is_active: settings.reflect.enabled && matches!(chat.model, Ok(Some(_))),
            reflecting: Mutex::default(),
        }
    }
}

/// Queues the sessions of new events. The queue is on disk before the cursor moves.
impl Projection for Reflector {
    fn name(&self) -> &'static str {
        "reflect"
    }

    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        Ok(self.is_active && self.cursor(store)? < store.last_seq())
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        let name = self.name();
        follow_outbox(store, name, BATCH_EVENTS, stop, |from_seq, entries| {
            let fresh_from = self.clock.now().0.saturating_sub(FRESH_MS);
            let mut events: Vec<(u64, Event)> = Vec::new();
            for entry in entries.iter().filter(|entry| entry.position.at.0 >= fresh_from) {
                let event = store.event_at(&entry.position)?;
                events.extend(event.filter(is_news).map(|event| (entry.seq, event)));
            }
            self.queue.heard(store.path(), &events)?;
            Ok((entries.last().map_or(from_seq, |entry| entry.seq), WorkerCommit::default()))
        })?;
        Ok(())
    }

    /// Old events are no reason to reflect again.
    fn rebuild(&self, _: &Store) -> Result<(), HomeError> {
        Ok(())
    }
}

fn queue_file(settings: &Settings) -> PathBuf {
    settings.home.run().join("reflections.json")
}

/// The model that reflects on sessions, unless reflection is off.
fn own_model(daemon: &Daemon) -> Option<&Arc<dyn ChatModel>> {
    let model = daemon.models.chat.model.as_ref().ok()?.as_ref();
    model.filter(|_| daemon.reflector.is_active)
}

/// How reflections stand; `None` where there are none.
pub fn status(daemon: &Daemon) -> Option<v1::ReflectionStatus> {
    daemon.reflector.queue.status(own_model(daemon).is_some())
}

/// Whether the daemon is to stay, because a session waits.
pub fn keeps_awake(daemon: &Daemon) -> bool {
    own_model(daemon).is_some() && with_now(daemon, |now| daemon.reflector.queue.keeps_awake(now))
}

fn with_now<T>(daemon: &Daemon, work: impl FnOnce(&Now<'_>) -> T) -> T {
    work(&Now {
        ms: daemon.engine.clock().now().0,
        day: &daemon.engine.clock().today(),
        daily_tokens: daemon.settings.summarizer.daily_tokens,
        idle: daemon.settings.reflect.idle,
    })
}

/// Whether an event is a reason to reflect.
fn is_news(event: &Event) -> bool {
    event.agent.as_str() != SessionInfo::DEFAULT_AGENT
        && !event.meta.contains_key(IMPORTED_META_KEY)
}

/// Reflects on sessions that are over until the daemon leaves.
pub async fn run(daemon: Arc<Daemon>) {
    if own_model(&daemon).is_some() {
        run_periodically(Arc::clone(&daemon), EVERY, next).await;
    }
    daemon.leaving().await;
    // What is under way is ended; it is tried again by the next daemon.
    daemon.models.chat.stop.cancel();
}

/// Reflects on the next session that is over, if there is one.
fn next(daemon: &Daemon) {
    let Some(model) = own_model(daemon) else { return };
    let _turn = daemon.reflector.reflecting.lock().unwrap_or_else(PoisonError::into_inner);
    let begun = with_now(daemon, |now| daemon.reflector.queue.begin(now));
    let waiting = match begun {
        Ok(Some(waiting)) => waiting,
        Ok(None) => return,
        Err(error) => return daemon.log.say(&format!("cannot reflect: {error}")),
    };
    let _busy = daemon.activity.begin();
    let came = match try_on(daemon, model.as_ref(), &waiting) {
        Ok(Ok(done)) if done.skipped.is_some() => Came::Skipped,
        Ok(Ok(done)) => Came::Done { written: done.written },
        Ok(Err(error)) => cut_short(daemon, &waiting, &error),
        Err(error) => failed(daemon, error.explained()),
    };
    if let Came::Failed { why, .. } = &came {
        let session = &waiting.session;
        daemon.log.say(&format!("the reflection on session {session} was cut short: {why}"));
    }
    let now_ms = daemon.engine.clock().now().0;
    if let Err(error) = daemon.reflector.queue.end(&waiting, came, now_ms) {
        daemon.log.say(&format!("cannot keep what was reflected on: {error}"));
    }
}

/// A reflection, as the session's agent. The outer error is the store's.
fn try_on(
    daemon: &Daemon,
    model: &dyn ChatModel,
    waiting: &Waiting,
) -> Result<Result<Reflection, ReflectionError>, HomeError> {
    let events = events_of(daemon, waiting)?;
    let tools = daemon
        .engine
        .tools()
        .map_err(|error| ModelError::invalid("capture.redact", error.to_string()))?;
    let caller = Caller {
        cwd: Some(waiting.project.clone()),
        agent: Some(waiting.agent.clone()),
        session: Some(waiting.session.clone()),
        command: Some(COMMAND.to_owned()),
    };
    let settings = ReflectionSettings {
        window_tokens: daemon.settings.chat.window_tokens,
        ..ReflectionSettings::default()
    };
    let tools = EngineTools { tools, caller };
    Ok(reflect(
        model,
        &tools,
        &settings,
        &events,
        daemon.engine.clock().now(),
        &daemon.models.chat.stop,
    ))
}

/// The events of a session that are meant, oldest first.
fn events_of(daemon: &Daemon, waiting: &Waiting) -> Result<Vec<Event>, HomeError> {
    let store = daemon.engine.stores().open(&waiting.store)?;
    let session = SessionId::parse(&waiting.session)?;
    let range = EventRange {
        session: Some(session),
        direction: ScanDirection::Backward,
        ..EventRange::default()
    };
    let mut events = Vec::new();
    for found in store.events(&range) {
        let (position, event) = found?;
        let is_meant = (waiting.first_seq..=waiting.last_seq).contains(&position.seq);
        if is_meant && event.project == waiting.project {
            events.push(event);
        }
        if events.len() == EVENTS_MAX {
            break;
        }
    }
    events.reverse();
    Ok(events)
}

/// What is to become of a session whose reflection was cut short.
fn cut_short(daemon: &Daemon, waiting: &Waiting, error: &ReflectionError) -> Came {
    let why = error.to_string();
    let ReflectionCause::Model(failure) = &error.cause else { return failed(daemon, why) };
    match failure {
        ModelFailure::OverBudget { .. } => {
            let daily_tokens = daemon.settings.summarizer.daily_tokens;
            let hold = Hold::Budget { day: daemon.engine.clock().today(), daily_tokens };
            Came::Failed { why, hold: Some(hold), counts: true }
        }
        // The daemon was asked to leave.
        ModelFailure::Cancelled => Came::Failed { why, hold: None, counts: false },
        // Nothing of it ever reached a model.
        ModelFailure::Unreachable { .. }
        | ModelFailure::Overloaded { .. }
        | ModelFailure::Unauthorized { .. }
        | ModelFailure::NotFound { .. }
        | ModelFailure::Misconfigured(_)
            if error.partial.rounds <= 1 =>
        {
            let age_ms = daemon.engine.clock().now().0.abs_diff(waiting.last_ms);
            Came::Failed { why, hold: Some(rest(daemon)), counts: age_ms > FRESH_MS }
        }
        _ => failed(daemon, why),
    }
}

fn failed(daemon: &Daemon, why: String) -> Came {
    Came::Failed { why, hold: Some(rest(daemon)), counts: true }
}

fn rest(daemon: &Daemon) -> Hold {
    Hold::resting(daemon.engine.clock().now().0)
}
