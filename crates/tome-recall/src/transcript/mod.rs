//! Session transcripts: the events of each session as a JSON Lines file that any program can read.
//!
//! ```text
//! <project's folder>/sessions/<session>/messages.jsonl    one event per line, as printed by `tome events --json`
//!                                      /working-memory/    overview.md and detail/, created once
//! ```
//!
//! A projection of the ledger in order of arrival. Citations refer to line numbers, so lines are
//! only ever appended. Foreign lines, and lines torn by a crash, keep their numbers; a torn line is
//! terminated before the next one is written.
//!
//! The projection follows the outbox with its own cursor. It writes and syncs each session's part of a
//! batch once, and then advances the cursor, so the cursor only covers bytes on disk. Lines written
//! before a crash but after the cursor are recognized by their ids and not duplicated; lines lost
//! in a power failure are after the cursor and written again.
//!
//! A file is scanned completely when its session is first used, and checked against the ledger: if
//! it is missing, truncated or lacks lines, it is rebuilt. From then on, its length and time reveal
//! other writers, so that an event costs the same in short and long sessions.

mod cache;
mod file;
mod rebuild;
mod scan;
mod session;
mod working_memory;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tome_ledger::{Ledger, OutboxEntry, ProjectionCommit};
use tome_model::{Clock, Event, EventId, SessionId};

use tome_home::layout::session_dir;
use tome_home::{HomeError, Projection, ProjectionReport, Projects, Store, follow_outbox};

use cache::TranscriptCache;
use session::ProjectSession;

pub(crate) use session::parse_session_folder;

pub use rebuild::TranscriptsRebuilt;
pub use session::SessionTranscriptLine;
use tome_home::layout::MESSAGES;

/// Name of the projection and of its cursor.
pub const TRANSCRIPT_PROJECTION: &str = "copy";

/// Batch limits. A batch is held in memory and syncs each of its sessions once, so a few large
/// batches are better than many small ones.
const BATCH_EVENTS: usize = 20_000;
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// Number of sessions written in parallel. File systems combine concurrent syncs: sixteen at once
/// were measured to be forty times as fast as one by one.
const PARALLEL_SYNCS: usize = 16;

/// The transcripts of all sessions of a home.
pub struct Transcripts {
    projects: Arc<Projects>,
    clock: Arc<dyn Clock>,
    cache: TranscriptCache,
    /// Problem of the last update, by ledger.
    problems: Mutex<BTreeMap<PathBuf, String>>,
}

/// Result of an update.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptUpdate {
    /// Number of events processed.
    pub events: u64,
    /// Descriptions of sessions whose file could not be written. Their events are written when the
    /// session is next used.
    pub failed: Vec<String>,
}

/// Project and session.
type TranscriptKey = (String, SessionId);
/// Event id and its terminated line.
type EncodedLine = (EventId, Vec<u8>);

impl Transcripts {
    /// Creates the transcripts in the folders of these projects.
    pub fn new(projects: Arc<Projects>, clock: Arc<dyn Clock>) -> Self {
        Self { projects, clock, cache: TranscriptCache::default(), problems: Mutex::default() }
    }

    /// Appends the events after the cursor. Safe to run concurrently: the second call finds the lines
    /// written and the cursor moved.
    pub fn write_new(&self, ledger: &Ledger) -> Result<TranscriptUpdate, HomeError> {
        let copied = self.write_pending(ledger);
        let problem = match &copied {
            Ok(copied) if copied.events == 0 => return Ok(copied.clone()),
            Ok(copied) => copied.failed.first().cloned(),
            Err(error) => Some(error.explained()),
        };
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        match problem {
            Some(problem) => drop(problems.insert(ledger.path().to_path_buf(), problem)),
            None => drop(problems.remove(ledger.path())),
        }
        copied
    }

    fn write_pending(&self, ledger: &Ledger) -> Result<TranscriptUpdate, HomeError> {
        let mut failed = Vec::new();
        let events = follow_outbox(
            ledger,
            TRANSCRIPT_PROJECTION,
            BATCH_EVENTS,
            &|| false,
            |from_seq, entries| {
                let batch = TranscriptBatch::read_outbox(ledger, entries)?;
                self.write_batch(ledger, from_seq, &batch, &mut failed)?;
                Ok((batch.upto_seq, ProjectionCommit::default()))
            },
        )?;
        Ok(TranscriptUpdate { events, failed })
    }

    /// The line of each event in its session's transcript; 0 if not written yet.
    pub fn find_lines(&self, ledger: &Ledger, events: &[&Event]) -> Result<Vec<u32>, HomeError> {
        let mut of_sessions: BTreeMap<(&str, &SessionId), Vec<usize>> = BTreeMap::new();
        for (n, event) in events.iter().enumerate() {
            of_sessions.entry((&event.project, &event.session)).or_default().push(n);
        }
        let vouched = ledger.cursor(TRANSCRIPT_PROJECTION)?;
        let mut lines = vec![0; events.len()];
        for ((project, session), wanted) in of_sessions {
            let project_session = self.project_session(ledger, project, session, vouched)?;
            let transcript = self.cache.get(&project_session.folder);
            let mut transcript = transcript.lock().unwrap_or_else(PoisonError::into_inner);
            let scan = transcript.refresh(&project_session)?;
            for n in wanted {
                if let (Some(line), Some(event)) = (lines.get_mut(n), events.get(n)) {
                    *line = scan.find_line(&event.id).unwrap_or(0);
                }
            }
        }
        Ok(lines)
    }

    /// Path of a session's transcript in a project, whether it exists or not.
    pub fn file_path(&self, project: &str, session: &SessionId) -> PathBuf {
        let folder = self.projects.planned_folder(project);
        session_dir(&folder, session.as_str()).join(MESSAGES)
    }

    /// Appends a batch to its sessions' files. A failing session does not affect the others; if all
    /// fail, the disk may be full, and the whole batch fails.
    fn write_batch(
        &self,
        ledger: &Ledger,
        vouched: u64,
        batch: &TranscriptBatch,
        failed: &mut Vec<String>,
    ) -> Result<(), HomeError> {
        let sessions: Vec<_> = batch.sessions.iter().collect();
        let (next, problems) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some((whose, lines)) = sessions.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.append_lines(ledger, vouched, whose, lines) {
                    problems.lock().unwrap_or_else(PoisonError::into_inner).push(error);
                }
            }
        };
        match sessions.len().min(PARALLEL_SYNCS) {
            0 | 1 => work(),
            threads => std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(work);
                }
            }),
        }
        let mut problems = problems.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !problems.is_empty() && problems.len() == sessions.len() {
            return Err(problems.swap_remove(0));
        }
        failed.extend(problems.iter().map(HomeError::explained));
        Ok(())
    }

    fn append_lines(
        &self,
        ledger: &Ledger,
        vouched: u64,
        (project, session): &TranscriptKey,
        lines: &[EncodedLine],
    ) -> Result<(), HomeError> {
        let project_session = self.project_session(ledger, project, session, vouched)?;
        let transcript = self.cache.get(&project_session.folder);
        let mut transcript = transcript.lock().unwrap_or_else(PoisonError::into_inner);
        transcript.append_lines(&project_session, lines)
    }

    /// Describes a session in a project. Its transcript must contain everything up to `vouched` in
    /// the outbox.
    fn project_session<'a>(
        &self,
        ledger: &'a Ledger,
        project: &'a str,
        session: &'a SessionId,
        vouched: u64,
    ) -> Result<ProjectSession<'a>, HomeError> {
        let folder = self.projects.ensure_folder(project, self.clock.now())?;
        let folder = session_dir(&folder, session.as_str());
        Ok(ProjectSession { ledger, project, session, committed_seq: vouched, folder })
    }
}

impl Projection for Transcripts {
    fn name(&self) -> &'static str {
        TRANSCRIPT_PROJECTION
    }

    fn catch_up(&self, store: &Store, _stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        match self.write_new(store)?.failed.into_iter().next() {
            None => Ok(()),
            Some(problem) => Err(HomeError::Incomplete { what: "transcript", problem }),
        }
    }

    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        Self::rebuild(self, store, None)?;
        Ok(())
    }

    /// How far the transcripts are, their size, and what could not be written the last time.
    fn report(&self, store: &Store) -> Result<Vec<ProjectionReport>, HomeError> {
        let all_stats = store.all_session_stats()?;
        let sizes = all_stats.iter().filter_map(|stats| {
            let file = self.file_path(&stats.project, &stats.session);
            Some(std::fs::metadata(file).ok()?.len())
        });
        let problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(vec![ProjectionReport {
            disk_bytes: sizes.sum(),
            problem: problems.get(store.path()).cloned(),
            ..ProjectionReport::from_cursor(TRANSCRIPT_PROJECTION, store)?
        }])
    }
}

/// Events of the outbox as lines, by session.
struct TranscriptBatch {
    upto_seq: u64,
    sessions: BTreeMap<TranscriptKey, Vec<EncodedLine>>,
}

impl TranscriptBatch {
    fn read_outbox(ledger: &Ledger, entries: &[OutboxEntry]) -> Result<Self, HomeError> {
        let mut batch = Self { upto_seq: 0, sessions: BTreeMap::new() };
        let mut bytes = 0;
        for entry in entries {
            batch.upto_seq = entry.seq;
            let Some(event) = ledger.event_at(&entry.position)? else { continue };
            let line = encode_line(&event);
            bytes += line.len();
            let whose = (event.project, event.session);
            batch.sessions.entry(whose).or_default().push((event.id, line));
            if bytes >= BATCH_BYTES {
                break;
            }
        }
        Ok(batch)
    }
}

/// Encodes an event as a terminated line. JSON escapes line ends in its text.
fn encode_line(event: &Event) -> Vec<u8> {
    // Serializing an event to JSON cannot fail.
    let mut line = serde_json::to_vec(event).unwrap_or_default();
    line.push(b'\n');
    line
}
