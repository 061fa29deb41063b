//! The reflector: when a session of any wired agent is over, the conversation model writes down what is
//! worth knowing the next time, as facts and episodes of its project.
//!
//! A session is over when its agent says so, when it is compacted, or when it has been silent for
//! `reflect.idle`. Only what happened within the last day counts, and what was imported is no reason
//! to reflect, so that history asks no model. `tome chat` reflects by itself and is left out. One session at a time, in the background,
//! within the day's budget. What was reflected on is not reflected on again; what a crash, the budget or
//! the model cut short is tried once more and then left alone, with the reason in `tome status`. A model
//! that cannot be reached at all, or wants another key, is waited for, up to a day.

mod book;
mod service;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tome_agent::{
    EngineTools, ReflectCause, ReflectError, ReflectSettings, Reflection, Who, reflect,
};
use tome_engine::Caller;
use tome_home::{HomeError, Store};
use tome_ledger::{Direction, EventRange, LedgerError, Work};
use tome_llm::{ChatModel, ModelFailure};
use tome_model::{Event, ModelError, SessionId};
use tome_proto::v1;

use super::shared::Shared;
use crate::config::Settings;
use crate::import::IMPORTED;
use book::{Book, Came, FRESH_MS, Hold, Now, Waiting};

pub use service::ReflectionsService;

/// The worker's name, under which its cursor is kept.
const WORKER: &str = "reflect";
/// Events of one batch.
const BATCH_EVENTS: usize = 1_000;
/// How often the daemon looks for a session that is over.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Events of one session that are shown, the latest: more than any window holds.
const EVENTS_MAX: usize = 2_000;
/// What the history of a note says wrote it.
const COMMAND: &str = "tome reflect";

/// Sessions that wait, and whoever is at one.
pub struct Reflector {
    book: Book,
    is_enabled: bool,
    /// Held by whoever reflects: one at a time.
    turn: Mutex<()>,
}

impl Reflector {
    pub fn new(settings: &Settings) -> Self {
        Self {
            book: Book::open(book_file(settings)),
            is_enabled: settings.reflect.enabled,
            turn: Mutex::default(),
        }
    }
}

fn book_file(settings: &Settings) -> PathBuf {
    settings.home.run().join("reflections.json")
}

/// The model that reflects by itself, if it is to.
fn own_model(shared: &Shared) -> Option<&Arc<dyn ChatModel>> {
    let model = shared.chat.model.as_ref().ok()?.as_ref();
    model.filter(|_| shared.reflector.is_enabled)
}

/// How reflections stand; `None` where there are none.
pub fn status(shared: &Shared) -> Option<v1::ReflectionStatus> {
    shared.reflector.book.status(own_model(shared).is_some())
}

/// Whether the daemon is to stay, because a session waits.
pub fn keeps_awake(shared: &Shared) -> bool {
    own_model(shared).is_some() && with_now(shared, |now| shared.reflector.book.keeps_awake(now))
}

fn with_now<T>(shared: &Shared, work: impl FnOnce(&Now<'_>) -> T) -> T {
    work(&Now {
        ms: shared.clock.now().0,
        day: &shared.clock.today(),
        daily_tokens: shared.settings.summarizer.daily_tokens,
        idle: shared.settings.reflect.idle,
    })
}

/// Takes note of what has arrived in a store. It is on disk before the cursor moves.
pub fn watch(shared: &Shared, store: &Store) -> Result<(), HomeError> {
    if own_model(shared).is_none() {
        return Ok(());
    }
    loop {
        let from_seq = store.cursor(WORKER)?;
        let entries = store.outbox(from_seq, BATCH_EVENTS)?;
        let Some(last) = entries.last() else { return Ok(()) };
        let fresh_from = shared.clock.now().0.saturating_sub(FRESH_MS);
        let mut heard: Vec<(u64, Event)> = Vec::new();
        for entry in entries.iter().filter(|entry| entry.position.at.0 >= fresh_from) {
            let event = store.event_at(&entry.position)?;
            heard.extend(event.filter(is_news).map(|event| (entry.seq, event)));
        }
        shared.reflector.book.heard(store.path(), &heard)?;
        let work =
            Work { worker: WORKER.to_owned(), from_seq, upto_seq: last.seq, ..Work::default() };
        match store.commit(work) {
            Ok(()) => {}
            Err(LedgerError::Cursor { .. }) if store.cursor(WORKER)? > from_seq => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether an event is a reason to reflect.
fn is_news(event: &Event) -> bool {
    event.agent.as_str() != Who::AGENT && !event.meta.contains_key(IMPORTED)
}

/// Reflects on sessions that are over until the daemon leaves.
pub async fn run(shared: Arc<Shared>) {
    if own_model(&shared).is_some() {
        look_for_sessions(&shared).await;
    }
    shared.leaving().await;
    // What is under way is ended; it is tried again by the next daemon.
    shared.chat.stop.stop();
}

async fn look_for_sessions(shared: &Arc<Shared>) {
    let mut look = tokio::time::interval(LOOK_EVERY);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shared.leaving() => return,
            _ = look.tick() => {}
        }
        let theirs = Arc::clone(shared);
        let work = tokio::task::spawn_blocking(move || next(&theirs));
        tokio::select! {
            () = shared.leaving() => return,
            // One that panics is logged by its thread.
            _ = work => {}
        }
    }
}

/// Reflects on the next session that is over, if there is one.
fn next(shared: &Shared) {
    let Some(model) = own_model(shared) else { return };
    let _turn = shared.reflector.turn.lock().unwrap_or_else(PoisonError::into_inner);
    let begun = with_now(shared, |now| shared.reflector.book.begin(now));
    let waiting = match begun {
        Ok(Some(waiting)) => waiting,
        Ok(None) => return,
        Err(error) => return shared.log.say(&format!("cannot reflect: {error}")),
    };
    let _busy = shared.activity.begin();
    let came = match try_on(shared, model.as_ref(), &waiting) {
        Ok(Ok(done)) if done.skipped.is_some() => Came::Skipped,
        Ok(Ok(done)) => Came::Done { written: done.written },
        Ok(Err(error)) => cut_short(shared, &waiting, &error),
        Err(error) => failed(shared, error.explained()),
    };
    if let Came::Failed { why, .. } = &came {
        let session = &waiting.session;
        shared.log.say(&format!("the reflection on session {session} was cut short: {why}"));
    }
    let now_ms = shared.clock.now().0;
    if let Err(error) = shared.reflector.book.end(&waiting, came, now_ms) {
        shared.log.say(&format!("cannot keep what was reflected on: {error}"));
    }
}

/// A reflection, as the session's agent. The outer error is the store's.
fn try_on(
    shared: &Shared,
    model: &dyn ChatModel,
    waiting: &Waiting,
) -> Result<Result<Reflection, ReflectError>, HomeError> {
    let events = events_of(shared, waiting)?;
    let tools =
        shared.tools().map_err(|error| ModelError::invalid("capture.redact", error.to_string()))?;
    let caller = Caller {
        cwd: Some(waiting.project.clone()),
        agent: Some(waiting.agent.clone()),
        session: Some(waiting.session.clone()),
        command: Some(COMMAND.to_owned()),
    };
    let settings = ReflectSettings {
        window_tokens: shared.settings.chat.window_tokens,
        ..ReflectSettings::default()
    };
    let tools = EngineTools { tools, caller };
    Ok(reflect(model, &tools, &settings, &events, shared.clock.now(), &shared.chat.stop))
}

/// The events of a session that are meant, oldest first.
fn events_of(shared: &Shared, waiting: &Waiting) -> Result<Vec<Event>, HomeError> {
    let store = shared.stores.open(&waiting.store)?;
    let session = SessionId::parse(&waiting.session)?;
    let range = EventRange {
        session: Some(session),
        direction: Direction::Backward,
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
fn cut_short(shared: &Shared, waiting: &Waiting, error: &ReflectError) -> Came {
    let why = error.to_string();
    let ReflectCause::Model(failure) = &error.cause else { return failed(shared, why) };
    match failure {
        ModelFailure::OverBudget { .. } => {
            let daily_tokens = shared.settings.summarizer.daily_tokens;
            let hold = Hold::Budget { day: shared.clock.today(), daily_tokens };
            Came::Failed { why, hold: Some(hold), counts: true }
        }
        // The daemon was asked to leave.
        ModelFailure::Stopped => Came::Failed { why, hold: None, counts: false },
        // Nothing of it ever reached a model.
        ModelFailure::Down { .. }
        | ModelFailure::Busy { .. }
        | ModelFailure::Unauthorized { .. }
        | ModelFailure::NotFound { .. }
        | ModelFailure::Misconfigured(_)
            if error.so_far.rounds <= 1 =>
        {
            let age_ms = shared.clock.now().0.abs_diff(waiting.last_ms);
            Came::Failed { why, hold: Some(rest(shared)), counts: age_ms > FRESH_MS }
        }
        _ => failed(shared, why),
    }
}

fn failed(shared: &Shared, why: String) -> Came {
    Came::Failed { why, hold: Some(rest(shared)), counts: true }
}

fn rest(shared: &Shared) -> Hold {
    Hold::resting(shared.clock.now().0)
}
