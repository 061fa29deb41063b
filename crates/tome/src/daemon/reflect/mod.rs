//! The reflector: when a session of a wired agent is over, the conversation model writes what is
//! worth remembering as facts and episodes of its project.
//!
//! A session is over when its agent ends or compacts it, or when it has been idle for
//! `reflect.idle`. Only events of the last day count, and imported ones do not, so that history
//! causes no model calls. `tome chat` reflects by itself and is left out. The reflector works in
//! the background on one session at a time, within the daily budget. No event is reflected on
//! twice. A session interrupted by a crash, the budget or the model gets a second attempt and is
//! then abandoned, with the reason in `tome status`. If the model is unreachable or rejects the
//! key, the session waits for up to a day.

mod service;

use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tome_agent::{
    EngineTools, Reflection, ReflectionCause, ReflectionError, ReflectionSettings, reflect,
};
use tome_engine::Caller;
use tome_home::{HomeError, Projection};
use tome_ledger::{EventRange, ScanDirection};
use tome_llm::{ChatModel, ModelFailure};
use tome_model::{Event, InvalidInput, SessionId};
use tome_proto::v1;

use super::drain::drain;
use super::periodic_task::run_periodically;
use super::reflection_queue::{AttemptOutcome, Conditions, FRESH_MS, Hold, WaitingSession};
use super::state::Daemon;

pub use service::ReflectionsService;

/// Interval of the check for a session that is over.
const REFLECTION_INTERVAL: Duration = Duration::from_secs(1);
/// The newest events of a session shown to the model: more than any context window holds.
const EVENTS_MAX: usize = 2_000;
/// The command named in the history of notes.
const COMMAND: &str = "tome reflect";

/// The conversation model, unless reflection is off.
fn active_model(daemon: &Daemon) -> Option<&Arc<dyn ChatModel>> {
    let model = daemon.models.chat.model.as_ref().ok()?.as_ref();
    model.filter(|_| daemon.reflector.is_active)
}

/// The state of reflections; `None` if there have been none.
pub fn status(daemon: &Daemon) -> Option<v1::ReflectionStatus> {
    daemon.reflector.queue.status(active_model(daemon).is_some())
}

/// Whether the daemon must keep running because a session waits.
pub fn has_waiting_sessions(daemon: &Daemon) -> bool {
    active_model(daemon).is_some()
        && with_now(daemon, |now| daemon.reflector.queue.has_waiting_sessions(now))
}

fn with_now<T>(daemon: &Daemon, work: impl FnOnce(&Conditions<'_>) -> T) -> T {
    work(&Conditions {
        ms: daemon.engine.clock().now().0,
        day: &daemon.engine.clock().today(),
        daily_tokens: daemon.settings.summarizer.daily_tokens,
        idle: daemon.settings.reflect.idle,
    })
}

/// Reflects on sessions that are over until the daemon stops.
pub async fn run(daemon: Arc<Daemon>) {
    if active_model(&daemon).is_some() {
        run_periodically(Arc::clone(&daemon), REFLECTION_INTERVAL, reflect_on_next).await;
    }
    daemon.stop_requested().await;
    // Cancels the current reflection; the next daemon retries it.
    daemon.models.chat.stop.cancel();
}

fn reflect_on_next(daemon: &Daemon) {
    let Some(model) = active_model(daemon) else { return };
    let _guard = daemon.reflector.reflect_lock.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = with_now(daemon, |now| daemon.reflector.queue.next_store(now)) {
        // An unreadable store fails the attempt below, which is then delayed.
        let _ = queue_spooled_events(daemon, &path);
    }
    let begun = with_now(daemon, |now| daemon.reflector.queue.begin_next(now));
    let waiting = match begun {
        Ok(Some(waiting)) => waiting,
        Ok(None) => return,
        Err(error) => return daemon.log.write(&format!("cannot reflect: {error}")),
    };
    let _activity = daemon.activity.begin();
    let outcome = match run_reflection(daemon, model.as_ref(), &waiting) {
        Ok(Ok(done)) if done.skipped.is_some() => AttemptOutcome::Skipped,
        Ok(Ok(done)) => AttemptOutcome::Done { written: done.written },
        Ok(Err(error)) => classify_failure(daemon, &waiting, &error),
        Err(error) => failed_attempt(daemon, error.explained()),
    };
    if let AttemptOutcome::Failed { why, .. } = &outcome {
        let session = &waiting.session;
        daemon.log.write(&format!("the reflection on session {session} failed: {why}"));
    }
    let now_ms = daemon.engine.clock().now().0;
    if let Err(error) = daemon.reflector.queue.finish(&waiting, outcome, now_ms) {
        daemon.log.write(&format!("cannot save the reflection queue: {error}"));
    }
}

/// Queues the events of a store that are still in the spool: the last ones of a session may have
/// missed the daemon.
fn queue_spooled_events(daemon: &Daemon, path: &Path) -> Result<(), HomeError> {
    drain(daemon);
    let store = daemon.engine.stores().open(path)?;
    if daemon.reflector.is_behind(&store)? {
        daemon.reflector.catch_up(&store, &|| daemon.is_stopping())
    } else {
        Ok(())
    }
}

/// Runs a reflection as the session's agent. The outer error is one of the store.
fn run_reflection(
    daemon: &Daemon,
    model: &dyn ChatModel,
    waiting: &WaitingSession,
) -> Result<Result<Reflection, ReflectionError>, HomeError> {
    let events = load_events(daemon, waiting)?;
    let tools = daemon
        .engine
        .tools()
        .map_err(|error| InvalidInput::invalid("capture.redact", error.to_string()))?;
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

/// Loads the newest events of the session's unreflected range, oldest first.
fn load_events(daemon: &Daemon, waiting: &WaitingSession) -> Result<Vec<Event>, HomeError> {
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
        let is_in_range = (waiting.first_seq..=waiting.last_seq).contains(&position.seq);
        if is_in_range && event.project == waiting.project {
            events.push(event);
        }
        if events.len() == EVENTS_MAX {
            break;
        }
    }
    events.reverse();
    Ok(events)
}

/// Decides what happens to a session whose reflection failed.
fn classify_failure(
    daemon: &Daemon,
    waiting: &WaitingSession,
    error: &ReflectionError,
) -> AttemptOutcome {
    let why = error.to_string();
    let ReflectionCause::Model(failure) = &error.cause else { return failed_attempt(daemon, why) };
    match failure {
        ModelFailure::OverBudget { .. } => {
            let daily_tokens = daemon.settings.summarizer.daily_tokens;
            let hold = Hold::Budget { day: daemon.engine.clock().today(), daily_tokens };
            AttemptOutcome::Failed { why, hold: Some(hold), counts: true }
        }
        // The daemon is stopping.
        ModelFailure::Cancelled => AttemptOutcome::Failed { why, hold: None, counts: false },
        // No model has received anything of the session.
        ModelFailure::Unreachable { .. }
        | ModelFailure::Overloaded { .. }
        | ModelFailure::Unauthorized { .. }
        | ModelFailure::NotFound { .. }
        | ModelFailure::Misconfigured(_)
            if error.partial.rounds <= 1 =>
        {
            let age_ms = daemon.engine.clock().now().0.abs_diff(waiting.last_ms);
            AttemptOutcome::Failed {
                why,
                hold: Some(retry_later(daemon)),
                counts: age_ms > FRESH_MS,
            }
        }
        _ => failed_attempt(daemon, why),
    }
}

fn failed_attempt(daemon: &Daemon, why: String) -> AttemptOutcome {
    AttemptOutcome::Failed { why, hold: Some(retry_later(daemon)), counts: true }
}

fn retry_later(daemon: &Daemon) -> Hold {
    Hold::after_failure(daemon.engine.clock().now().0)
}
