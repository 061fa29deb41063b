//! Import: the history that agents left on disk becomes events, each stored once.
//!
//! `find` knows where transcripts lie, `read` reads them record by record, `known` recognises what
//! the ledger has already, and the rest goes to the daemon in a bulk stream. Nothing is written
//! anywhere else, so an import can be stopped at any moment and run again: what was acknowledged is
//! there, and is recognised.

mod chats;
mod find;
mod known;
mod lines;
mod opencode;
mod read;
mod report;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use indicatif::ProgressBar;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tome_engine::{Projects, Sealer};
use tome_model::{Agent, Draft, Millis, SessionId, truncate_to};
use tome_proto::{Client, Query, draft_to_wire, limits};

use crate::agents::transcript::{Origin, Skip, Step};
use crate::bulk::Batch;

use find::Form;
pub use find::{Source, at_home, at_paths};
use known::Known;
use read::Reader;
pub use report::{AgentReport, DAMAGED_MAX, Damaged, Report, Unreadable};

/// Sessions whose stored events are held at a time. Files of one session lie side by side.
const SESSIONS_HELD: usize = 16;

/// A draft larger than this is capped before it is sent.
const LARGE_BYTES: usize = 1024 * 1024;

/// What is set in the meta of every event that was imported: it is history, not news.
pub const IMPORTED: &str = "imported";

/// What takes the steps of a transcript.
trait Sink {
    /// One step, of the record in this line (0 where there are no lines).
    fn step(&mut self, step: Step, line: u64) -> Result<()>;
    /// A line that cannot be read.
    fn damaged(&mut self, line: u64, reason: String);
    /// So many bytes more were read.
    fn read(&mut self, bytes: u64);
}

/// Where an event came from.
#[derive(Debug, Clone, Copy)]
pub struct From {
    /// The place of its agent in the report.
    pub agent: usize,
    /// The place of its transcript among the sources.
    pub source: usize,
    /// The line.
    pub line: u64,
}

/// What is read, how much of it, and what becomes of it.
pub struct Import {
    pub sources: Vec<Source>,
    pub since: Option<Millis>,
    /// Where events go; nowhere in a dry run.
    pub to: Option<mpsc::Sender<Batch<From>>>,
    /// Where the ledger can be asked.
    pub client: Client,
    pub handle: Handle,
    /// Where projects are known, unless the daemon is elsewhere.
    pub projects: Option<Projects>,
    pub sealer: Sealer,
    pub progress: ProgressBar,
}

/// How much of one session is stored.
#[derive(Debug, Default, Clone)]
pub struct Coverage {
    pub stored: u64,
    pub missing: u64,
    /// When the first that is missing happened.
    pub since: Option<Millis>,
    pub cwd: String,
}

/// What became of it all, and of each session.
pub struct Done {
    pub report: Report,
    pub sessions: HashMap<(Agent, SessionId), Coverage>,
}

struct Running {
    import: Import,
    report: Report,
    sessions: HashMap<(Agent, SessionId), Coverage>,
    known: HashMap<(Agent, SessionId, Option<String>), Known>,
    /// Working directories and the project of each: as a hook there would say, and as it is stored.
    places: HashMap<String, (Option<String>, Option<String>)>,
    batch: Batch<From>,
    agent: usize,
    source: usize,
}

impl Import {
    /// Reads everything. Blocks; to be run on a thread of its own.
    pub fn run(self) -> Result<Done> {
        let sources = self.sources.clone();
        let mut reader = Reader::new(&sources);
        let mut running = Running {
            report: Report { dry_run: self.to.is_none(), ..Report::default() },
            import: self,
            sessions: HashMap::new(),
            known: HashMap::new(),
            places: HashMap::new(),
            batch: Batch::default(),
            agent: 0,
            source: 0,
        };
        for (place, source) in sources.iter().enumerate() {
            running.begin(place, source)?;
            // A file that was last written before the time asked for holds nothing from after it. (What
            // is written to a database stands in its log first.)
            let is_file = !matches!(source.form, Form::Database | Form::Storage);
            let times = running.import.since.zip(source.modified);
            if is_file && times.is_some_and(|(since, at)| at < since) {
                running.skip(Skip::Older);
                running.read(source.bytes);
                continue;
            }
            if let Err(error) = reader.read(source, &mut running) {
                running.unreadable(source, error)?;
            }
        }
        running.send()?;
        Ok(Done { report: running.report, sessions: running.sessions })
    }
}

impl Running {
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

    /// The report of the agent whose transcripts are being read.
    fn now(&mut self) -> Option<&mut AgentReport> {
        self.report.agents.get_mut(self.agent)
    }

    fn skip(&mut self, why: Skip) {
        if let Some(report) = self.now() {
            *report.skipped.entry(why).or_default() += 1;
        }
    }

    /// One transcript that cannot be read does not keep the others out; a daemon that is gone does.
    fn unreadable(&mut self, source: &Source, error: anyhow::Error) -> Result<()> {
        let is_ours = error.chain().any(|cause| {
            cause.downcast_ref::<tome_proto::ClientError>().is_some()
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
        let mut draft = draft;
        let root = self.place(&mut draft);
        let session = (draft.agent.clone(), draft.session.clone());
        if let Some(report) = self.now() {
            report.seen.insert(session.1.as_str().to_owned());
        }
        let is_known = self.is_known(&draft, root)?;
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
        let is_dry = self.import.to.is_none();
        if let Some(report) = self.now() {
            report.already_there += u64::from(is_known);
            // Otherwise the daemon's answer is counted.
            report.imported += u64::from(is_dry && !is_known);
        }
        if is_known || is_dry {
            return Ok(());
        }
        draft.meta.insert(IMPORTED.to_owned(), Value::Bool(true));
        let bytes = weight(&draft);
        // The daemon caps what it stores; what is far larger would not even fit into a message.
        let draft = if bytes > LARGE_BYTES { self.import.sealer.seal(draft) } else { draft };
        let from = From { agent: self.agent, source: self.source, line };
        self.batch.push(draft_to_wire(draft), from, bytes.min(LARGE_BYTES));
        if self.batch.is_full() { self.send() } else { Ok(()) }
    }

    /// Notes the project as a hook does, and returns it as it is stored, where that is known here.
    fn place(&mut self, draft: &mut Draft) -> Option<String> {
        draft.flatten_deep();
        if let Some((hint, root)) = self.places.get(&draft.cwd) {
            draft.project.clone_from(hint);
            return root.clone();
        }
        let found = tome_engine::locate(std::path::Path::new(&draft.cwd));
        let hint = found.map(|found| found.root.to_string_lossy().into_owned());
        let projects = self.import.projects.as_ref();
        let root = projects.map(|projects| projects.root_of(&draft.cwd, hint.as_deref()));
        self.places.insert(draft.cwd.clone(), (hint.clone(), root.clone()));
        draft.project = hint;
        root
    }

    fn is_known(&mut self, draft: &Draft, root: Option<String>) -> Result<bool> {
        let key = (draft.agent.clone(), draft.session.clone(), root);
        if !self.known.contains_key(&key) {
            if self.known.len() >= SESSIONS_HELD {
                self.known.clear();
            }
            let known = self.ask(&key)?;
            self.known.insert(key.clone(), known);
        }
        let sealer = &self.import.sealer;
        Ok(self.known.get_mut(&key).is_some_and(|known| known.has(draft, sealer)))
    }

    /// What the ledger has of a session, page by page.
    fn ask(&self, (agent, session, root): &(Agent, SessionId, Option<String>)) -> Result<Known> {
        let mut known = Known::new(agent.clone());
        let mut query = Query {
            session: Some(session.as_str().to_owned()),
            project: root.clone(),
            agents: vec![agent.as_str().to_owned()],
            limit: limits::PAGE_EVENTS_MAX,
            ..Query::default()
        };
        loop {
            let page = self.import.handle.block_on(self.import.client.events(query.clone()))?;
            page.events.iter().for_each(|event| known.add(event));
            match page.continuation {
                Some(next) => query.continuation = next,
                None => return Ok(known),
            }
        }
    }

    fn send(&mut self) -> Result<()> {
        if self.batch.events.is_empty() {
            return Ok(());
        }
        let batch = self.batch.take();
        match &self.import.to {
            Some(to) if to.blocking_send(batch).is_err() => bail!(Stopped),
            _ => Ok(()),
        }
    }
}

impl Sink for Running {
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

/// The stream to the daemon ended; its own end says why.
#[derive(Debug, thiserror::Error)]
#[error("the stream to the daemon ended")]
struct Stopped;

/// How large a draft is, about.
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

/// What is known of a transcript before its first record.
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
    format!("is longer than {} MiB, so it is no record", lines::LINE_BYTES_MAX / 1024 / 1024)
}
