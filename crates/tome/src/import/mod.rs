//! Imports the history that agents left on disk, storing each event once.
//!
//! `sources` finds the transcripts, `reader` reads them record by record, `stored_events`
//! recognizes what the ledger already has, and the rest is streamed to the daemon in bulk. Nothing
//! else is written, so an import can be interrupted at any time and run again: acknowledged events
//! are recognized.

mod gemini;
mod lines;
mod opencode;
mod reader;
mod report;
mod session_origins;
mod sources;
mod stored_events;
mod target;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use indicatif::ProgressBar;
use serde_json::Value;
use tome_engine::Sealer;
use tome_model::{
    Agent, Clock as _, Draft, EventId, EventKind, Millis, NO_RESULT_META_KEY, SessionId,
    SystemClock, truncate_to,
};
use tome_proto::limits;

use crate::agents::AgentProfile;
use crate::agents::transcript_record::{RecordOutcome, RecordSkipReason, TranscriptOrigin};
use crate::capture_rules::{CaptureRules, NotRecorded};

use reader::SourceReader;
pub use report::{AgentReport, DAMAGED_MAX, DamagedLine, ImportReport, UnreadableTranscript};
use session_origins::SessionOrigins;
pub use sources::{TranscriptFormat, TranscriptSource, find_default_sources, find_sources_at};
use stored_events::StoredEvents;
pub use target::{DaemonTarget, EventCallback, ImportTarget, OutgoingEvent, StreamClosed};

/// Sessions whose stored events are kept in memory. Files of one session are adjacent.
const SESSIONS_CACHED_MAX: usize = 16;

/// Larger drafts are capped before they are sent.
const DRAFT_BYTES_MAX: usize = 1024 * 1024;

/// A transcript that was not written for so long gets no more results of its calls.
const ABANDONED_AFTER_MS: u64 = 24 * 60 * 60 * 1000;

/// Meta key of imported events, which marks them as history rather than news.
pub const IMPORTED_META_KEY: &str = "imported";

/// Receives the outcomes of reading a transcript.
trait RecordSink {
    /// Accepts the outcome of the record in this line (0 if the transcript has no lines).
    fn accept(&mut self, step: RecordOutcome, line: u64) -> Result<()>;
    fn report_damage(&mut self, line: u64, reason: String);
    fn add_bytes_read(&mut self, bytes: u64);
}

#[derive(Debug, Clone, Copy)]
pub struct EventOrigin {
    /// Index of the agent in the report.
    pub agent: usize,
    /// Index of the transcript among the sources.
    pub source: usize,
    pub line: u64,
}

pub struct ImportJob<'t> {
    pub sources: Vec<TranscriptSource>,
    /// Further transcripts from which the sources may have copied.
    pub beside: Vec<TranscriptSource>,
    pub since: Option<Millis>,
    /// Compare without storing.
    pub is_dry: bool,
    /// Restricts the import to one session.
    pub only: Option<(Agent, SessionId)>,
    pub target: &'t mut dyn ImportTarget,
    pub sealer: Arc<Sealer>,
    /// Which events are recorded.
    pub rules: CaptureRules,
    pub progress: ProgressBar,
}

#[derive(Debug, Default, Clone)]
pub struct SessionCoverage {
    pub stored: u64,
    pub missing: u64,
    /// Time of the first missing event.
    pub since: Option<Millis>,
    pub cwd: String,
    /// Events stored twice under different ids.
    pub duplicates: Vec<EventId>,
}

pub struct ImportResult {
    pub report: ImportReport,
    pub sessions: HashMap<(Agent, SessionId), SessionCoverage>,
}

struct ImportRun<'t> {
    import: ImportJob<'t>,
    report: ImportReport,
    sessions: HashMap<(Agent, SessionId), SessionCoverage>,
    known: HashMap<(Agent, SessionId, String), StoredEvents>,
    origins: SessionOrigins,
    projects: HashMap<(Agent, SessionId), String>,
    outgoing: Vec<OutgoingEvent>,
    outgoing_bytes: usize,
    agent: usize,
    source: usize,
    /// The last prompt or reply in the current source.
    last_message_at: Millis,
}

impl ImportJob<'_> {
    /// Runs the import. Blocks; call it on a thread of its own.
    pub fn run(self) -> Result<ImportResult> {
        let sources = self.sources.clone();
        let only = self.only.as_ref().map(|(_, session)| session.as_str().to_owned());
        let reader = || SourceReader::new(sources.iter().chain(&self.beside), only.clone());
        let since = self.since;
        let is_wanted = |source: &&TranscriptSource| !source.is_older_than(since);
        // A session requested by name is already stored, and so is its project.
        let origins = match only {
            Some(_) => SessionOrigins::default(),
            None => SessionOrigins::collect(reader(), sources.iter().filter(is_wanted)),
        };
        let mut reader = reader();
        let mut running = ImportRun {
            report: ImportReport { dry_run: self.is_dry, ..ImportReport::default() },
            import: self,
            sessions: HashMap::new(),
            known: HashMap::new(),
            origins,
            projects: HashMap::new(),
            outgoing: Vec::new(),
            outgoing_bytes: 0,
            agent: 0,
            source: 0,
            last_message_at: Millis(0),
        };
        for (index, source) in sources.iter().enumerate() {
            running.begin_source(index, source)?;
            if !is_wanted(&source) {
                running.count_skipped(RecordSkipReason::Older);
                running.add_bytes_read(source.bytes);
                continue;
            }
            if let Err(error) = reader.read_source(source, &mut running) {
                running.report_unreadable(source, error)?;
            }
        }
        running.send_batch()?;
        running.release_stored_events();
        Ok(ImportResult { report: running.report, sessions: running.sessions })
    }
}

impl ImportRun<'_> {
    fn begin_source(&mut self, index: usize, source: &TranscriptSource) -> Result<()> {
        let agents = &mut self.report.agents;
        if agents.last().is_none_or(|last| last.agent != source.agent.as_str()) {
            let agent = source.agent.as_str().to_owned();
            agents.push(AgentReport { agent, ..AgentReport::default() });
        }
        let agent = agents.len() - 1;
        if agent != self.agent {
            self.send_batch()?;
        }
        self.agent = agent;
        self.source = index;
        self.last_message_at = Millis(0);
        if let Some(report) = self.agent_report() {
            report.files += 1;
            report.bytes += source.bytes;
        }
        Ok(())
    }

    /// Returns the report of the current agent.
    fn agent_report(&mut self) -> Option<&mut AgentReport> {
        self.report.agents.get_mut(self.agent)
    }

    fn count_skipped(&mut self, why: RecordSkipReason) {
        if let Some(report) = self.agent_report() {
            *report.skipped.entry(why).or_default() += 1;
        }
    }

    /// Records an unreadable transcript and continues; fails if the daemon is gone.
    fn report_unreadable(&mut self, source: &TranscriptSource, error: anyhow::Error) -> Result<()> {
        let is_ours = error.chain().any(|cause| {
            cause.downcast_ref::<tome_proto::ClientError>().is_some()
                || cause.downcast_ref::<tome_home::HomeError>().is_some()
                || cause.downcast_ref::<StreamClosed>().is_some()
        });
        if is_ours {
            return Err(error);
        }
        let reason = format!("{error:#}");
        let file = source.path.display().to_string();
        self.report.unreadable.push(UnreadableTranscript { file, reason });
        Ok(())
    }

    fn import_event(&mut self, draft: Draft, line: u64) -> Result<()> {
        if self.import.since.is_some_and(|since| draft.at < since) {
            self.count_skipped(RecordSkipReason::Older);
            return Ok(());
        }
        let session = (draft.agent.clone(), draft.session.clone());
        if self.import.only.as_ref().is_some_and(|only| *only != session) {
            return Ok(());
        }
        let mut draft = match self.import.rules.apply(draft) {
            Ok(draft) => draft,
            Err(NotRecorded::Paused) => {
                self.count_skipped(RecordSkipReason::Paused);
                return Ok(());
            }
            Err(NotRecorded::Ignored) => {
                self.count_skipped(RecordSkipReason::Ignored);
                return Ok(());
            }
        };
        draft.flatten_deep_json();
        let project = self.resolve_project(&draft);
        if let Some(report) = self.agent_report() {
            report.seen.insert(session.1.as_str().to_owned());
        }
        let is_known = self.is_stored(&draft, &project)?;
        let coverage = self.sessions.entry(session).or_default();
        if coverage.cwd.is_empty() {
            coverage.cwd.clone_from(&draft.cwd);
        }
        if is_known {
            coverage.stored += 1;
        } else if !draft.meta.contains_key(NO_RESULT_META_KEY) {
            coverage.missing += 1;
            coverage.since = Some(coverage.since.map_or(draft.at, |since| since.min(draft.at)));
        }
        let is_dry = self.import.is_dry;
        if let Some(report) = self.agent_report() {
            report.already_there += u64::from(is_known);
            // Otherwise the daemon's response is counted.
            report.imported += u64::from(is_dry && !is_known);
        }
        if is_known || is_dry {
            return Ok(());
        }
        draft.project = Some(project);
        draft.meta.insert(IMPORTED_META_KEY.to_owned(), Value::Bool(true));
        let bytes = estimate_size(&draft);
        // The daemon caps what it stores, but a much larger draft would exceed the message limit.
        let draft = if bytes > DRAFT_BYTES_MAX { self.import.sealer.seal(draft) } else { draft };
        let from = EventOrigin { agent: self.agent, source: self.source, line };
        let bytes = bytes.min(DRAFT_BYTES_MAX);
        self.outgoing_bytes += bytes;
        self.outgoing.push(OutgoingEvent { draft, from, bytes });
        let is_full = self.outgoing.len() >= limits::BATCH_EVENTS_MAX
            || self.outgoing_bytes >= limits::BATCH_BYTES_MAX;
        if is_full { self.send_batch() } else { Ok(()) }
    }

    /// Whether a call without a result is the last thing in a transcript that has ended: later
    /// messages show that the agent went on, and hooks may have recorded the result.
    fn is_abandoned(&mut self, draft: &Draft) -> Result<bool> {
        let source = self.import.sources.get(self.source);
        let modified = source.and_then(|source| source.modified);
        let now = SystemClock.now().0;
        let is_idle = modified.is_some_and(|at| now.saturating_sub(at.0) >= ABANDONED_AFTER_MS);
        if !is_idle || draft.at < self.last_message_at {
            return Ok(false);
        }
        let project = self.resolve_project(draft);
        self.load_known(draft, &project)?;
        let id = draft.meta.get(NO_RESULT_META_KEY).and_then(Value::as_str);
        let known = self.known.get(&(draft.agent.clone(), draft.session.clone(), project));
        Ok(!id.zip(known).is_some_and(|(id, known)| known.has_call(id)))
    }

    /// Returns the project of the draft's session, or of its folder if it has no session.
    fn resolve_project(&mut self, draft: &Draft) -> String {
        let target = &self.import.target;
        if draft.session.as_str() == SessionId::UNKNOWN {
            return target.resolve_project(&draft.agent, &draft.session, &draft.cwd);
        }
        let session = (draft.agent.clone(), draft.session.clone());
        if let Some(project) = self.projects.get(&session) {
            return project.clone();
        }
        let began_in = self.origins.find_cwd(&draft.agent, &draft.session).unwrap_or(&draft.cwd);
        let project = target.resolve_project(&draft.agent, &draft.session, began_in);
        self.projects.insert(session, project.clone());
        project
    }

    fn is_stored(&mut self, draft: &Draft, project: &str) -> Result<bool> {
        let key = self.load_known(draft, project)?;
        let sealer = &self.import.sealer;
        Ok(self.known.get_mut(&key).is_some_and(|known| known.match_draft(draft, sealer)))
    }

    /// Loads what is stored of the draft's session, unless it is loaded.
    fn load_known(&mut self, draft: &Draft, project: &str) -> Result<(Agent, SessionId, String)> {
        let key = (draft.agent.clone(), draft.session.clone(), project.to_owned());
        if !self.known.contains_key(&key) {
            if self.known.len() >= SESSIONS_CACHED_MAX {
                self.release_stored_events();
            }
            let mut known = StoredEvents::new(draft.agent.clone());
            let each = &mut |event: &tome_model::Event| known.insert(event);
            self.import.target.load_stored_events(&draft.agent, &draft.session, project, each)?;
            self.known.insert(key.clone(), known);
        }
        Ok(key)
    }

    /// Releases the stored events after collecting their duplicates.
    fn release_stored_events(&mut self) {
        for ((agent, session, _), known) in self.known.drain() {
            let coverage = self.sessions.entry((agent, session)).or_default();
            coverage.duplicates.extend(known.find_duplicates());
        }
    }

    fn send_batch(&mut self) -> Result<()> {
        self.outgoing_bytes = 0;
        match std::mem::take(&mut self.outgoing) {
            drafts if drafts.is_empty() => Ok(()),
            drafts => self.import.target.store_events(drafts),
        }
    }
}

impl RecordSink for ImportRun<'_> {
    fn accept(&mut self, step: RecordOutcome, line: u64) -> Result<()> {
        match step {
            RecordOutcome::Event(draft) => {
                let kinds = [
                    EventKind::UserMessage,
                    EventKind::AssistantMessage,
                    EventKind::AssistantStop,
                    EventKind::SubagentStop,
                ];
                if kinds.contains(&draft.kind) {
                    self.last_message_at = self.last_message_at.max(draft.at);
                }
                self.import_event(*draft, line)?;
            }
            RecordOutcome::Unanswered(draft) if self.is_abandoned(&draft)? => {
                self.import_event(*draft, line)?;
            }
            RecordOutcome::Unanswered(_) => self.count_skipped(RecordSkipReason::Unfinished),
            RecordOutcome::Skipped(why) => self.count_skipped(why),
        }
        Ok(())
    }

    fn report_damage(&mut self, line: u64, reason: String) {
        if let Some(report) = self.agent_report() {
            report.damaged_lines += 1;
        }
        if self.report.damaged.len() < DAMAGED_MAX
            && let Some(source) = self.import.sources.get(self.source)
        {
            let file = source.path.display().to_string();
            let reason = truncate_to(&reason, 300).to_owned();
            self.report.damaged.push(DamagedLine { file, line, reason });
        }
    }

    fn add_bytes_read(&mut self, bytes: u64) {
        self.import.progress.inc(bytes);
    }
}

/// Estimates the size of a draft in bytes.
fn estimate_size(draft: &Draft) -> usize {
    let tool = draft.tool.iter().flat_map(|tool| [&tool.input, &tool.output]);
    draft.text.len() + tool.chain(draft.meta.values()).map(estimate_value_size).sum::<usize>()
}

fn estimate_value_size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(estimate_value_size).sum::<usize>() + items.len(),
        Value::Object(map) => {
            map.iter().map(|(name, value)| name.len() + 4 + estimate_value_size(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

fn transcript_origin(source: &TranscriptSource) -> TranscriptOrigin {
    let stem = source.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let folder = source.path.parent().map(|folder| folder.to_string_lossy().into_owned());
    let folder_name = source.path.parent().and_then(|folder| folder.file_name());
    let session = if AgentProfile::of_agent(&source.agent).names_folder_by_session {
        folder_name.map(|name| name.to_string_lossy().into_owned())
    } else {
        stem
    };
    TranscriptOrigin {
        agent: source.agent.clone(),
        path: source.path.display().to_string(),
        session: session.unwrap_or_default(),
        cwd: folder.filter(|folder| PathBuf::from(folder).has_root()).unwrap_or_default(),
        at: source.modified.unwrap_or(Millis(0)),
    }
}

fn line_too_long_message() -> String {
    format!("is longer than {} MiB and cannot be a record", lines::LINE_BYTES_MAX / 1024 / 1024)
}
