//! Imports the history that agents left on disk, storing each event once.
//!
//! `sources` finds the transcripts, `reader` reads them record by record, `stored_events`
//! recognizes what the ledger already has, and the rest is streamed to the daemon in bulk. Nothing
//! else is written, so an import can be interrupted at any time and run again: acknowledged events
//! are recognized.

mod chats;
mod find;
mod known;
mod lines;
mod opencode;
mod origins;
mod read;
mod report;
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
use tome_model::{Agent, Draft, EventId, Millis, SessionId, truncate_to};
use tome_proto::limits;

use crate::agents::transcript::{Origin, Skip, Step};

pub use find::{Form, Source, at_home, at_paths};
use known::Known;
use origins::Origins;
use read::Reader;
pub use report::{AgentReport, DAMAGED_MAX, Damaged, Report, Unreadable};
pub use target::{Each, Outgoing, Remote, Stopped, Target};

/// Sessions whose stored events are kept in memory. Files of one session are adjacent.
const SESSIONS_HELD: usize = 16;

/// Larger drafts are capped before they are sent.
const LARGE_BYTES: usize = 1024 * 1024;

/// Meta key of imported events, which marks them as history rather than news.
pub const IMPORTED: &str = "imported";

/// Receives the outcomes of reading a transcript.
trait Sink {
    /// Accepts the outcome of the record in this line (0 if the transcript has no lines).
    fn step(&mut self, step: Step, line: u64) -> Result<()>;
    fn damaged(&mut self, line: u64, reason: String);
    fn read(&mut self, bytes: u64);
}

#[derive(Debug, Clone, Copy)]
pub struct From {
    /// Index of the agent in the report.
    pub agent: usize,
    /// Index of the transcript among the sources.
    pub source: usize,
    pub line: u64,
}

pub struct Import<'t> {
    pub sources: Vec<Source>,
    /// Further transcripts from which the sources may have copied.
    pub beside: Vec<Source>,
    pub since: Option<Millis>,
    /// Compare without storing.
    pub is_dry: bool,
    /// Restricts the import to one session.
    pub only: Option<(Agent, SessionId)>,
    pub target: &'t mut dyn Target,
    pub sealer: Arc<Sealer>,
    pub progress: ProgressBar,
}

#[derive(Debug, Default, Clone)]
pub struct Coverage {
    pub stored: u64,
    pub missing: u64,
    /// Time of the first missing event.
    pub since: Option<Millis>,
    pub cwd: String,
    /// Events stored twice under different ids.
    pub duplicates: Vec<EventId>,
}

pub struct Done {
    pub report: Report,
    pub sessions: HashMap<(Agent, SessionId), Coverage>,
}

struct Running<'t> {
    import: Import<'t>,
    report: Report,
    sessions: HashMap<(Agent, SessionId), Coverage>,
    known: HashMap<(Agent, SessionId, String), Known>,
    origins: Origins,
    projects: HashMap<(Agent, SessionId), String>,
    outgoing: Vec<Outgoing>,
    outgoing_bytes: usize,
    agent: usize,
    source: usize,
}

impl Import<'_> {
    /// Runs the import. Blocks; call it on a thread of its own.
    pub fn run(self) -> Result<Done> {
        let sources = self.sources.clone();
        let only = self.only.as_ref().map(|(_, session)| session.as_str().to_owned());
        let reader = || Reader::new(sources.iter().chain(&self.beside), only.clone());
        let since = self.since;
        let is_wanted = |source: &&Source| !source.is_older_than(since);
        // A session requested by name is already stored, and so is its project.
        let origins = match only {
            Some(_) => Origins::default(),
            None => Origins::read(reader(), sources.iter().filter(is_wanted)),
        };
        let mut reader = reader();
        let mut running = Running {
            report: Report { dry_run: self.is_dry, ..Report::default() },
            import: self,
            sessions: HashMap::new(),
            known: HashMap::new(),
            origins,
            projects: HashMap::new(),
            outgoing: Vec::new(),
            outgoing_bytes: 0,
            agent: 0,
            source: 0,
        };
        for (place, source) in sources.iter().enumerate() {
            running.begin(place, source)?;
            if !is_wanted(&source) {
                running.skip(Skip::Older);
                running.read(source.bytes);
                continue;
            }
            if let Err(error) = reader.read(source, &mut running) {
                running.unreadable(source, error)?;
            }
        }
        running.send()?;
        running.forget_known();
        Ok(Done { report: running.report, sessions: running.sessions })
    }
}

impl Running<'_> {
    fn begin(&mut self, place: usize, source: &Source) -> Result<()> {
        let agents = &mut self.report.agents;
        if agents.last().is_none_or(|last| last.agent != source.agent.as_str()) {
            let agent = source.agent.as_str().to_owned();
            agents.push(AgentReport { agent, ..AgentReport::default() });
        }
        let agent = agents.len() - 1;
        if agent != self.agent {
            self.send()?;
        }
        self.agent = agent;
        self.source = place;
        if let Some(report) = self.now() {
            report.files += 1;
            report.bytes += source.bytes;
        }
        Ok(())
    }

    /// Returns the report of the current agent.
    fn now(&mut self) -> Option<&mut AgentReport> {
        self.report.agents.get_mut(self.agent)
    }

    fn skip(&mut self, why: Skip) {
        if let Some(report) = self.now() {
            *report.skipped.entry(why).or_default() += 1;
        }
    }

    /// Records an unreadable transcript and continues; fails if the daemon is gone.
    fn unreadable(&mut self, source: &Source, error: anyhow::Error) -> Result<()> {
        let is_ours = error.chain().any(|cause| {
            cause.downcast_ref::<tome_proto::ClientError>().is_some()
                || cause.downcast_ref::<tome_home::HomeError>().is_some()
                || cause.downcast_ref::<Stopped>().is_some()
        });
        if is_ours {
            return Err(error);
        }
        let reason = format!("{error:#}");
        let file = source.path.display().to_string();
        self.report.unreadable.push(Unreadable { file, reason });
        Ok(())
    }

    fn event(&mut self, draft: Draft, line: u64) -> Result<()> {
        if self.import.since.is_some_and(|since| draft.at < since) {
            self.skip(Skip::Older);
            return Ok(());
        }
        let session = (draft.agent.clone(), draft.session.clone());
        if self.import.only.as_ref().is_some_and(|only| *only != session) {
            return Ok(());
        }
        let mut draft = draft;
        draft.flatten_deep();
        let project = self.project_of(&draft);
        if let Some(report) = self.now() {
            report.seen.insert(session.1.as_str().to_owned());
        }
        let is_known = self.is_known(&draft, &project)?;
        let coverage = self.sessions.entry(session).or_default();
        if coverage.cwd.is_empty() {
            coverage.cwd.clone_from(&draft.cwd);
        }
        if is_known {
            coverage.stored += 1;
        } else {
            coverage.missing += 1;
            coverage.since = Some(coverage.since.map_or(draft.at, |since| since.min(draft.at)));
        }
        let is_dry = self.import.is_dry;
        if let Some(report) = self.now() {
            report.already_there += u64::from(is_known);
            // Otherwise the daemon's response is counted.
            report.imported += u64::from(is_dry && !is_known);
        }
        if is_known || is_dry {
            return Ok(());
        }
        draft.project = Some(project);
        draft.meta.insert(IMPORTED.to_owned(), Value::Bool(true));
        let bytes = weight(&draft);
        // The daemon caps what it stores, but a much larger draft would exceed the message limit.
        let draft = if bytes > LARGE_BYTES { self.import.sealer.seal(draft) } else { draft };
        let from = From { agent: self.agent, source: self.source, line };
        let bytes = bytes.min(LARGE_BYTES);
        self.outgoing_bytes += bytes;
        self.outgoing.push(Outgoing { draft, from, bytes });
        let is_full = self.outgoing.len() >= limits::BATCH_EVENTS_MAX
            || self.outgoing_bytes >= limits::BATCH_BYTES_MAX;
        if is_full { self.send() } else { Ok(()) }
    }

    /// Returns the project of the draft's session, or of its folder if it has no session.
    fn project_of(&mut self, draft: &Draft) -> String {
        let target = &self.import.target;
        if draft.session.as_str() == SessionId::UNKNOWN {
            return target.project_of(&draft.agent, &draft.session, &draft.cwd);
        }
        let session = (draft.agent.clone(), draft.session.clone());
        if let Some(project) = self.projects.get(&session) {
            return project.clone();
        }
        let began_in = self.origins.of(&draft.agent, &draft.session).unwrap_or(&draft.cwd);
        let project = target.project_of(&draft.agent, &draft.session, began_in);
        self.projects.insert(session, project.clone());
        project
    }

    fn is_known(&mut self, draft: &Draft, project: &str) -> Result<bool> {
        let key = (draft.agent.clone(), draft.session.clone(), project.to_owned());
        if !self.known.contains_key(&key) {
            if self.known.len() >= SESSIONS_HELD {
                self.forget_known();
            }
            let mut known = Known::new(draft.agent.clone());
            let each = &mut |event: &tome_model::Event| known.add(event);
            self.import.target.stored(&draft.agent, &draft.session, project, each)?;
            self.known.insert(key.clone(), known);
        }
        let sealer = &self.import.sealer;
        Ok(self.known.get_mut(&key).is_some_and(|known| known.has(draft, sealer)))
    }

    /// Releases the stored events after collecting their duplicates.
    fn forget_known(&mut self) {
        for ((agent, session, _), known) in self.known.drain() {
            let coverage = self.sessions.entry((agent, session)).or_default();
            coverage.duplicates.extend(known.duplicates());
        }
    }

    fn send(&mut self) -> Result<()> {
        self.outgoing_bytes = 0;
        match std::mem::take(&mut self.outgoing) {
            drafts if drafts.is_empty() => Ok(()),
            drafts => self.import.target.store(drafts),
        }
    }
}

impl Sink for Running<'_> {
    fn step(&mut self, step: Step, line: u64) -> Result<()> {
        match step {
            Step::Event(draft) => self.event(*draft, line)?,
            Step::Skipped(why) => self.skip(why),
        }
        Ok(())
    }

    fn damaged(&mut self, line: u64, reason: String) {
        if let Some(report) = self.now() {
            report.damaged_lines += 1;
        }
        if self.report.damaged.len() < DAMAGED_MAX
            && let Some(source) = self.import.sources.get(self.source)
        {
            let file = source.path.display().to_string();
            let reason = truncate_to(&reason, 300).to_owned();
            self.report.damaged.push(Damaged { file, line, reason });
        }
    }

    fn read(&mut self, bytes: u64) {
        self.import.progress.inc(bytes);
    }
}

/// Estimates the size of a draft in bytes.
fn weight(draft: &Draft) -> usize {
    let tool = draft.tool.iter().flat_map(|tool| [&tool.input, &tool.output]);
    draft.text.len() + tool.chain(draft.meta.values()).map(value_weight).sum::<usize>()
}

fn value_weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(value_weight).sum::<usize>() + items.len(),
        Value::Object(map) => {
            map.iter().map(|(name, value)| name.len() + 4 + value_weight(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

fn origin_of(source: &Source) -> Origin {
    let stem = source.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let folder = source.path.parent().map(|folder| folder.to_string_lossy().into_owned());
    let folder_name = source.path.parent().and_then(|folder| folder.file_name());
    let session = match source.agent.as_str() {
        "copilot" => folder_name.map(|name| name.to_string_lossy().into_owned()),
        _ => stem,
    };
    Origin {
        agent: source.agent.clone(),
        path: source.path.display().to_string(),
        session: session.unwrap_or_default(),
        cwd: folder.filter(|folder| PathBuf::from(folder).has_root()).unwrap_or_default(),
        at: source.modified.unwrap_or(Millis(0)),
    }
}

fn too_long() -> String {
    format!("is longer than {} MiB and cannot be a record", lines::LINE_BYTES_MAX / 1024 / 1024)
}
