//! Self-healing capture: reads the agents' own transcripts and stores the events that hooks missed,
//! with the same ids as `tome import`.
//!
//! A transcript is read when its session has ended or has been idle for `capture.transcripts_idle`,
//! and again if its files change within an hour. The daemon reads one session at a time, in the
//! background, and only files that changed and are no longer being written. Sessions without any
//! event from a hook are left to `tome import`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use anyhow::Result;
use indicatif::ProgressBar;
use tome_home::EventQuery;
use tome_ledger::AppendOutcome;
use tome_model::{Agent, SessionId};
use tome_proto::limits;

use super::drain::drain;
use super::periodic_task::run_periodically;
use super::state::Daemon;
use super::transcript_queue::{FileState, QueuedSession, RETRY_MS, read_file_state};
use crate::agents::AgentProfile;
use crate::capture_rules::CaptureRules;
use crate::import::{
    self, EventCallback, ImportJob, ImportTarget, OutgoingEvent, TranscriptFormat, TranscriptSource,
};

/// Stored events that are read at once.
const BATCH_EVENTS: usize = 1_000;
/// Interval of the check for a transcript to read.
const TRANSCRIPTS_INTERVAL: Duration = Duration::from_secs(1);
/// A file modified more recently than this may still be written to.
const SETTLED_AFTER_MS: u64 = 2_000;
/// Sessions to read before an idle daemon stops. The next daemon reads the others.
const EXIT_SESSIONS_MAX: usize = 20;
/// Larger transcripts are left to `tome import`: reading them uses a core for minutes.
const SESSION_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Reads transcripts until the daemon stops.
pub async fn run(daemon: Arc<Daemon>) {
    if daemon.agent_transcripts.is_enabled {
        run_periodically(daemon, TRANSCRIPTS_INTERVAL, |daemon| {
            read_next(daemon, false);
        })
        .await;
    }
}

/// Reads the transcripts of sessions with unread events before an idle daemon stops.
pub fn read_before_exit(daemon: &Daemon) {
    if daemon.agent_transcripts.is_enabled {
        for _ in 0..EXIT_SESSIONS_MAX {
            if daemon.is_stopping() || !read_next(daemon, true) {
                return;
            }
        }
    }
}

/// Reads the transcript of the next session that is due. Returns whether there was one.
fn read_next(daemon: &Daemon, is_exiting: bool) -> bool {
    let transcripts = &daemon.agent_transcripts;
    let _guard = transcripts.read_lock.lock().unwrap_or_else(PoisonError::into_inner);
    let now_ms = daemon.engine.clock().now().0;
    let Some(session) = transcripts.queue.next(now_ms, transcripts.idle, is_exiting) else {
        return false;
    };
    if session.is_unchanged() {
        transcripts.queue.postpone(&session, now_ms, 0);
        return true;
    }
    let (all, relevant) = find_sources(&session);
    let files: Vec<FileState> = relevant.iter().flat_map(file_states).collect();
    let is_same = files == session.files;
    if !is_same && relevant.iter().any(|source| is_being_written(source, &files, now_ms)) {
        transcripts.queue.postpone(&session, now_ms, SETTLED_AFTER_MS);
        return !is_exiting;
    }
    let bytes: u64 = relevant.iter().map(|source| source.bytes).sum();
    let read = match is_same || relevant.is_empty() {
        true => Ok(0),
        false if bytes > SESSION_BYTES_MAX => {
            Err(anyhow::anyhow!("the transcript is too large; run `tome import`"))
        }
        false => read_transcript(daemon, &session, all, relevant),
    };
    match read {
        Ok(stored) => {
            if stored > 0 {
                let (agent, id) = (&session.agent, &session.session);
                daemon
                    .log
                    .write(&format!("{agent} session {id}: {stored} events from its transcript"));
            }
            if let Err(error) = transcripts.queue.mark_read(&session, files, now_ms) {
                daemon
                    .log
                    .write(&format!("cannot save the transcript queue: {}", error.explained()));
            }
        }
        Err(error) => {
            let (agent, id) = (&session.agent, &session.session);
            daemon.log.write(&format!("{agent} session {id}: transcript not read: {error:#}"));
            transcripts.queue.postpone(&session, now_ms, RETRY_MS);
        }
    }
    true
}

/// Stores the events that the ledger lacks. Returns their number.
fn read_transcript(
    daemon: &Daemon,
    session: &QueuedSession,
    all: Vec<TranscriptSource>,
    relevant: Vec<TranscriptSource>,
) -> Result<u64> {
    let _activity = daemon.activity.begin();
    // Spooled events first: they contain more than the transcript.
    drain(daemon);
    let mut target = LedgerTarget { daemon, stored: 0 };
    ImportJob {
        sources: relevant,
        beside: all,
        since: None,
        is_dry: false,
        only: Some((session.agent.clone(), session.session.clone())),
        target: &mut target,
        sealer: daemon.engine.intake().sealer(),
        rules: CaptureRules::read(&daemon.settings.home, &daemon.settings.current_ignore()),
        progress: ProgressBar::hidden(),
    }
    .run()?;
    Ok(target.stored)
}

/// Returns all transcripts of the session's agent, and those that may contain the session.
fn find_sources(session: &QueuedSession) -> (Vec<TranscriptSource>, Vec<TranscriptSource>) {
    let agents = [session.agent.clone()];
    let env = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let mut all = import::find_default_sources(&agents, &env);
    if let Some(path) = session.transcript.as_ref().filter(|path| path.is_file()) {
        // Subagents have their own files in a folder next to the session's file.
        let subagents = path.with_extension("").join("subagents");
        for path in [path.clone(), subagents].into_iter().filter(|path| path.exists()) {
            all.extend(import::find_sources_at(&[path], &agents).unwrap_or_default());
        }
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all.dedup_by(|a, b| a.path == b.path);
    let relevant = all.iter().filter(|source| may_contain(source, session)).cloned().collect();
    (all, relevant)
}

/// Whether a transcript may contain a session, judging by its path.
fn may_contain(source: &TranscriptSource, session: &QueuedSession) -> bool {
    if session.transcript.as_deref() == Some(&source.path)
        || source.format == TranscriptFormat::Database
    {
        return true;
    }
    let (path, id) = (source.path.to_string_lossy(), session.session.as_str());
    let prefix_chars = AgentProfile::of_agent(&session.agent).id_prefix_in_path;
    let short = prefix_chars.and_then(|chars| id.get(..chars));
    source.format != TranscriptFormat::Storage
        && (path.contains(id) || short.is_some_and(|short| path.contains(short)))
}

/// The states of a transcript's files, to detect changes. A database is first written to its
/// write-ahead log.
fn file_states(source: &TranscriptSource) -> Vec<FileState> {
    let mut log = source.path.as_os_str().to_owned();
    log.push("-wal");
    let log = (source.format == TranscriptFormat::Database).then(|| PathBuf::from(log));
    let paths = [Some(source.path.clone()), log].into_iter().flatten();
    paths.filter_map(|path| read_file_state(Path::new(&path))).collect()
}

/// Whether a transcript was modified a moment ago. Databases are transactional and never
/// half-written.
fn is_being_written(source: &TranscriptSource, files: &[FileState], now_ms: u64) -> bool {
    let is_now = |file: &FileState| now_ms.abs_diff(file.modified_ms) < SETTLED_AFTER_MS;
    source.format != TranscriptFormat::Database
        && files.iter().any(|file| file.path == source.path && is_now(file))
}

/// An import target that stores into the daemon's own ledgers.
struct LedgerTarget<'s> {
    daemon: &'s Daemon,
    stored: u64,
}

impl ImportTarget for LedgerTarget<'_> {
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
        let mut query = EventQuery {
            session: Some(session.clone()),
            project: Some(project.to_owned()),
            agents: vec![agent.clone()],
            events_max: BATCH_EVENTS,
            bytes_max: limits::BATCH_BYTES_MAX,
            ..EventQuery::default()
        };
        loop {
            let page = self.daemon.engine.stores().query_events(&query)?;
            page.events.iter().for_each(&mut *each);
            match page.more_after {
                Some(after) => query.after = Some(after),
                None => return Ok(()),
            }
        }
    }

    fn store_events(&mut self, drafts: Vec<OutgoingEvent>) -> Result<()> {
        if self.daemon.is_stopping() {
            anyhow::bail!(import::StreamClosed);
        }
        let drafts = drafts.into_iter().map(|outgoing| outgoing.draft.into()).collect();
        for result in self.daemon.ingest(drafts) {
            match result {
                Ok(appended) => self.stored += u64::from(appended.outcome == AppendOutcome::Stored),
                // `tome import` reports invalid events.
                Err(error) if error.is_callers_fault() => {}
                Err(error) => anyhow::bail!("{}", error.explained()),
            }
        }
        Ok(())
    }
}
