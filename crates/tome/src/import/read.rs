//! Reads transcripts of any format, never a whole file at once.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};
use tome_home::{FinalLink, open_regular};

use super::find::{Form, Source};
use super::lines::Lines;
use super::{Sink, chats, opencode, origin_of, too_long};
use crate::agents::transcript::{
    Copies, Skip, Step, Steps, Transcript, fork_of, lines_of, record_of, trace,
};

pub struct Reader {
    /// Codex's rollouts by session, to recognize copied histories.
    rollouts: HashMap<String, PathBuf>,
    /// Sessions in OpenCode's database.
    sessions: HashSet<String>,
    /// Restricts a database to one session.
    only: Option<String>,
}

/// A rollout's name ends in its session id.
const UUID_CHARS: usize = 36;

impl Reader {
    /// `sources` may be consulted for copied histories.
    pub fn new<'a>(sources: impl Iterator<Item = &'a Source>, only: Option<String>) -> Self {
        let rollouts = sources.filter(|source| source.agent.as_str() == "codex");
        let rollouts = rollouts
            .filter_map(|source| Some((rollout_session(source)?, source.path.clone())))
            .collect();
        Self { rollouts, sessions: HashSet::new(), only }
    }

    pub fn read(&mut self, source: &Source, sink: &mut dyn Sink) -> Result<()> {
        match source.form {
            Form::Lines | Form::Compressed => self.lines(source, sink),
            Form::Updates => chats::updates(source, sink),
            Form::Conversation => chats::conversation(source, sink),
            Form::Database => {
                opencode::database(source, self.only.as_deref(), &mut self.sessions, sink)
            }
            Form::Storage => opencode::storage(source, &self.sessions, sink),
        }
    }

    fn lines(&self, source: &Source, sink: &mut dyn Sink) -> Result<()> {
        let mut transcript: Option<Box<dyn Transcript>> = None;
        let mut steps = Steps::new();
        let mut lines = Lines::new(input(source)?);
        loop {
            let line = match lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                // A truncated compressed file: keep what came before.
                Err(error) if source.form == Form::Compressed => {
                    sink.damaged(0, format!("truncated: {error}"));
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            if source.form == Form::Lines {
                sink.read(line.length);
            }
            let number = line.number;
            if line.is_too_long {
                sink.damaged(number, too_long());
                continue;
            }
            match record_of(line.bytes) {
                Ok(Some(record)) => {
                    let reader = transcript.get_or_insert_with(|| self.begin(source, &record));
                    reader.record(record, &mut steps);
                }
                Ok(None) => {}
                // In a running session the last line may be incomplete.
                Err(_) if !line.is_ended => steps.push(Step::Skipped(Skip::Unfinished)),
                Err(reason) => sink.damaged(number, reason),
            }
            for step in steps.drain(..) {
                sink.step(step, number)?;
            }
        }
        if let Some(mut transcript) = transcript {
            transcript.end(&mut steps);
        }
        if source.form == Form::Compressed {
            sink.read(source.bytes);
        }
        steps.drain(..).try_for_each(|step| sink.step(step, 0))
    }

    fn begin(&self, source: &Source, first: &Map<String, Value>) -> Box<dyn Transcript> {
        let parent = fork_of(first).and_then(|parent| self.rollouts.get(&parent));
        let parent = parent.filter(|path| **path != source.path);
        let copies = parent.and_then(|path| traces(path).ok()).map(Copies::new);
        lines_of(origin_of(source), copies)
    }
}

fn input(source: &Source) -> Result<Box<dyn Read>> {
    opened(&source.path, source.form == Form::Compressed)
}

fn opened(path: &std::path::Path, is_compressed: bool) -> Result<Box<dyn Read>> {
    let file = open_regular(path, FinalLink::Follow).context("cannot be read")?;
    Ok(if is_compressed {
        Box::new(zstd::stream::read::Decoder::new(file)?)
    } else {
        Box::new(file)
    })
}

fn rollout_session(source: &Source) -> Option<String> {
    let name = source.path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".jsonl")?;
    // `rollout-<time>-<thread>[_<rollout>]`
    let stem = stem.split_once('_').map_or(stem, |(thread, _)| thread);
    let start = stem.len().checked_sub(UUID_CHARS)?;
    stem.get(start..).map(str::to_owned)
}

/// Reads the fingerprints of a parent's records.
fn traces(path: &std::path::Path) -> Result<Vec<u64>> {
    let is_compressed = path.extension().is_some_and(|end| end == "zst");
    let mut lines = Lines::new(opened(path, is_compressed)?);
    let mut found = Vec::new();
    while let Some(line) = lines.next()? {
        let record = record_of(line.bytes).ok().flatten();
        found.extend(record.as_ref().and_then(trace));
    }
    Ok(found)
}
