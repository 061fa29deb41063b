//! Self-healing capture: the daemon reads the transcripts of the sessions it has heard of and stores
//! what their hooks missed, as `tome import` would, under the same ids.
//!
//! A transcript is read when its session has ended and when it has been silent for
//! `capture.transcripts_idle`; after that again if its files change within an hour. One session at a
//! time, in the background, only files that changed since they were last read, and only once nobody
//! has written to them for a moment. Sessions that no hook told of are left to `tome import`.

mod queue;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use indicatif::ProgressBar;
use tome_home::{EventQuery, HomeError, Projection, Store, follow_outbox};
use tome_ledger::{AppendOutcome, WorkerCommit};
use tome_model::{Agent, Clock, Event, SessionId};
use tome_proto::limits;

use super::drain::drain;
use super::maintenance::run_periodically;
use super::state::Daemon;
use crate::config::Settings;
use crate::import::{
    self, EventCallback, IMPORTED_META_KEY, ImportJob, ImportTarget, OutgoingEvent,
    TranscriptFormat, TranscriptSource,
};
use queue::{FileState, Queue, RETRY_MS, Session, state_of};

/// Sessions whose events happened longer ago are history: `tome import` reads that.
const FRESH_MS: u64 = 24 * 60 * 60 * 1000;
/// Events of one batch.
const BATCH_EVENTS: usize = 1_000;
/// Interval at which the daemon checks for a transcript to read.
const EVERY: Duration = Duration::from_secs(1);
/// A file that was written to within this time may not be complete.
const QUIET_MS: u64 = 2_000;
/// Sessions whose transcripts are read before an idle daemon leaves. The others are read by the next.
const LEAVING_SESSIONS_MAX: usize = 20;
/// Larger transcripts are left to `tome import`: reading them takes a processor for minutes.
const SESSION_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The sessions whose agent transcripts are to be read.
pub struct AgentTranscripts {
    queue: Queue,
    clock: Arc<dyn Clock>,
    is_enabled: bool,
    idle: Duration,
    /// Held while a transcript is read: one at a time.
    reading: Mutex<()>,
}

impl AgentTranscripts {
    pub fn new(settings: &Settings, clock: &Arc<dyn Clock>) -> Self {
        Self {
            queue: Queue::open(settings.home.run().join("transcripts.json")),
            clock: Arc::clone(clock),
            is_enabled: settings.transcripts.enabled,
            idle: settings.transcripts.idle,
            reading: Mutex::default(),
        }
    }
}

/// Queues the sessions of new events. The queue is on disk before the cursor moves.
impl Projection for AgentTranscripts {
    fn name(&self) -> &'static str {
        "transcripts"
    }

    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        Ok(self.is_enabled && self.cursor(store)? < store.last_seq())
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        let name = self.name();
        follow_outbox(store, name, BATCH_EVENTS, stop, |from_seq, entries| {
            let fresh_from = self.clock.now().0.saturating_sub(FRESH_MS);
            let mut events = Vec::new();
            for entry in entries.iter().filter(|entry| entry.position.at.0 >= fresh_from) {
                events.extend(store.event_at(&entry.position)?.filter(is_from_hook));
            }
            self.queue.note(&events)?;
            Ok((entries.last().map_or(from_seq, |entry| entry.seq), WorkerCommit::default()))
        })?;
        Ok(())
    }

    /// Old events are no reason to read transcripts again.
    fn rebuild(&self, _: &Store) -> Result<(), HomeError> {
        Ok(())
    }
}

/// Whether an event was told by a hook of an agent that keeps transcripts.
fn is_from_hook(event: &Event) -> bool {
    Agent::KNOWN.contains(&event.agent.as_str())
        && event.session.as_str() != SessionId::UNKNOWN
        && !event.meta.contains_key(IMPORTED_META_KEY)
}

/// Reads transcripts until the daemon stops.
pub async fn run(daemon: Arc<Daemon>) {
    if daemon.agent_transcripts.is_enabled {
        run_periodically(daemon, EVERY, |daemon| {
            read_next(daemon, false);
        })
        .await;
    }
}

/// Reads the transcripts of sessions that have not been read since their last event, before a daemon
/// that nobody needs leaves.
pub fn read_before_leaving(daemon: &Daemon) {
    if daemon.agent_transcripts.is_enabled {
        for _ in 0..LEAVING_SESSIONS_MAX {
            if daemon.is_leaving() || !read_next(daemon, true) {
                return;
            }
        }
    }
}

/// Reads the transcript of the next session that is due. Returns whether there was one.
fn read_next(daemon: &Daemon, is_leaving: bool) -> bool {
    let transcripts = &daemon.agent_transcripts;
    let _turn = transcripts.reading.lock().unwrap_or_else(PoisonError::into_inner);
    let now_ms = daemon.engine.clock().now().0;
    let Some(session) = transcripts.queue.next(now_ms, transcripts.idle, is_leaving) else {
        return false;
    };
    if session.is_unchanged() {
        transcripts.queue.postpone(&session, now_ms, 0);
        return true;
    }
    let (all, wanted) = sources_of(&session);
    let files: Vec<FileState> = wanted.iter().flat_map(states_of).collect();
    let is_same = files == session.files;
    if !is_same && wanted.iter().any(|source| is_being_written(source, &files, now_ms)) {
        transcripts.queue.postpone(&session, now_ms, QUIET_MS);
        return !is_leaving;
    }
    let bytes: u64 = wanted.iter().map(|source| source.bytes).sum();
    let read = match is_same || wanted.is_empty() {
        true => Ok(0),
        false if bytes > SESSION_BYTES_MAX => {
            Err(anyhow::anyhow!("its transcript is too large; `tome import` reads it"))
        }
        false => read_transcript(daemon, &session, all, wanted),
    };
    match read {
        Ok(stored) => {
            if stored > 0 {
                let (agent, id) = (&session.agent, &session.session);
                daemon.log.say(&format!("{agent} session {id}: {stored} from its transcript"));
            }
            if let Err(error) = transcripts.queue.read(&session, files, now_ms) {
                daemon.log.say(&format!("cannot keep what was read: {}", error.explained()));
            }
        }
        Err(error) => {
            let (agent, id) = (&session.agent, &session.session);
            daemon.log.say(&format!("{agent} session {id}: transcript not read: {error:#}"));
            transcripts.queue.postpone(&session, now_ms, RETRY_MS);
        }
    }
    true
}

/// Stores what a transcript has and the ledger has not. Returns how many events that were.
fn read_transcript(
    daemon: &Daemon,
    session: &Session,
    all: Vec<TranscriptSource>,
    wanted: Vec<TranscriptSource>,
) -> Result<u64> {
    let _busy = daemon.begin();
    // What hooks have spooled comes first: it says more than the transcript.
    drain(daemon);
    let mut target = Local { daemon, stored: 0 };
    ImportJob {
        sources: wanted,
        beside: all,
        since: None,
        is_dry: false,
        only: Some((session.agent.clone(), session.session.clone())),
        target: &mut target,
        sealer: daemon.engine.intake().sealer(),
        progress: ProgressBar::hidden(),
    }
    .run()?;
    Ok(target.stored)
}

/// All transcripts of the session's agent, and those that may hold something of the session.
fn sources_of(session: &Session) -> (Vec<TranscriptSource>, Vec<TranscriptSource>) {
    let agents = [session.agent.clone()];
    let env = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let mut all = import::find_default_sources(&agents, &env);
    if let Some(path) = session.transcript.as_ref().filter(|path| path.is_file()) {
        // Subagents have files of their own in a folder beside the session's file.
        let subagents = path.with_extension("").join("subagents");
        for path in [path.clone(), subagents].into_iter().filter(|path| path.exists()) {
            all.extend(import::find_sources_at(&[path], &agents).unwrap_or_default());
        }
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all.dedup_by(|a, b| a.path == b.path);
    let wanted = all.iter().filter(|source| may_hold(source, session)).cloned().collect();
    (all, wanted)
}

/// Whether a transcript may hold something of a session, by its name.
fn may_hold(source: &TranscriptSource, session: &Session) -> bool {
    if session.transcript.as_deref() == Some(&source.path)
        || source.format == TranscriptFormat::Database
    {
        return true;
    }
    let (path, id) = (source.path.to_string_lossy(), session.session.as_str());
    // Gemini CLI names a chat after the beginning of its session's id.
    let short = id.get(..8).filter(|_| session.agent.as_str() == "gemini");
    source.format != TranscriptFormat::Storage
        && (path.contains(id) || short.is_some_and(|short| path.contains(short)))
}

/// What tells that a transcript was written to. A database is written to its log first.
fn states_of(source: &TranscriptSource) -> Vec<FileState> {
    let mut log = source.path.as_os_str().to_owned();
    log.push("-wal");
    let log = (source.format == TranscriptFormat::Database).then(|| PathBuf::from(log));
    let paths = [Some(source.path.clone()), log].into_iter().flatten();
    paths.filter_map(|path| state_of(Path::new(&path))).collect()
}

/// Whether somebody wrote to a transcript a moment ago. A database is always read as a whole.
fn is_being_written(source: &TranscriptSource, files: &[FileState], now_ms: u64) -> bool {
    let is_now = |file: &FileState| now_ms.abs_diff(file.modified_ms) < QUIET_MS;
    source.format != TranscriptFormat::Database
        && files.iter().any(|file| file.path == source.path && is_now(file))
}

/// The daemon's own stores.
struct Local<'s> {
    daemon: &'s Daemon,
    stored: u64,
}

impl ImportTarget for Local<'_> {
    fn resolve_project(&self, agent: &Agent, session: &SessionId, began_in: &str) -> String {
        let stores = self.daemon.engine.stores();
        let known =
            stores.session_index().ok().and_then(|known| known.find_project(agent, session));
        known.unwrap_or_else(|| stores.projects().resolve_project_or_guess(began_in, None))
    }

    fn load_stored_events(
        &self,
        agent: &Agent,
        session: &SessionId,
        project: &str,
        each: EventCallback<'_>,
    ) -> Result<()> {
        let mut question = EventQuery {
            session: Some(session.clone()),
            project: Some(project.to_owned()),
            agents: vec![agent.clone()],
            events_max: BATCH_EVENTS,
            bytes_max: limits::BATCH_BYTES_MAX,
            ..EventQuery::default()
        };
        loop {
            let answer = self.daemon.engine.stores().query_events(&question)?;
            answer.events.iter().for_each(&mut *each);
            match answer.more_after {
                Some(after) => question.after = Some(after),
                None => return Ok(()),
            }
        }
    }

    fn store_events(&mut self, drafts: Vec<OutgoingEvent>) -> Result<()> {
        if self.daemon.is_leaving() {
            anyhow::bail!(import::StreamClosed);
        }
        let drafts = drafts.into_iter().map(|outgoing| outgoing.draft.into()).collect();
        for answer in self.daemon.ingest(drafts) {
            match answer {
                Ok(appended) => self.stored += u64::from(appended.outcome == AppendOutcome::Stored),
                // `tome import` names what cannot be stored at all.
                Err(error) if error.is_callers_fault() => {}
                Err(error) => anyhow::bail!("{}", error.explained()),
            }
        }
        Ok(())
    }
}
