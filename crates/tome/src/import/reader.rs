//! Reads transcripts of any format, never a whole file at once.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};
use tome_home::{FinalLink, open_regular};

use super::lines::LineReader;
use super::sources::{TranscriptFormat, TranscriptSource};
use super::{RecordSink, gemini, line_too_long_message, opencode, transcript_origin};
use crate::agents::AgentProfile;
use crate::agents::transcript::{
    CopiedHistory, build_transcript_reader, parent_session_id, parse_record, record_fingerprint,
};
use crate::agents::transcript_record::{
    RecordOutcome, RecordOutcomes, RecordSkipReason, TranscriptReader,
};

pub struct SourceReader {
    /// Codex's rollouts by session, to recognize copied histories.
    rollouts: HashMap<String, PathBuf>,
    /// Sessions in OpenCode's database.
    sessions: HashSet<String>,
    /// Restricts a database to one session.
    only: Option<String>,
}

/// A rollout's name ends in its session id.
const UUID_CHARS: usize = 36;

impl SourceReader {
    /// `sources` may be consulted for copied histories.
    pub fn new<'a>(
        sources: impl Iterator<Item = &'a TranscriptSource>,
        only: Option<String>,
    ) -> Self {
        let rollouts =
            sources.filter(|source| AgentProfile::of_agent(&source.agent).copies_histories);
        let rollouts = rollouts
            .filter_map(|source| Some((rollout_session_id(source)?, source.path.clone())))
            .collect();
        Self { rollouts, sessions: HashSet::new(), only }
    }

    pub fn read_source(
        &mut self,
        source: &TranscriptSource,
        sink: &mut dyn RecordSink,
    ) -> Result<()> {
        match source.format {
            TranscriptFormat::Lines | TranscriptFormat::Compressed => self.read_jsonl(source, sink),
            TranscriptFormat::Updates => gemini::read_update_log(source, sink),
            TranscriptFormat::Conversation => gemini::read_conversation(source, sink),
            TranscriptFormat::Database => {
                opencode::read_database(source, self.only.as_deref(), &mut self.sessions, sink)
            }
            TranscriptFormat::Storage => opencode::read_storage(source, &self.sessions, sink),
        }
    }

    fn read_jsonl(&self, source: &TranscriptSource, sink: &mut dyn RecordSink) -> Result<()> {
        let mut transcript: Option<Box<dyn TranscriptReader>> = None;
        let mut steps = RecordOutcomes::new();
        let mut lines = LineReader::new(open_source(source)?);
        loop {
            let line = match lines.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                // A truncated compressed file: keep what came before.
                Err(error) if source.format == TranscriptFormat::Compressed => {
                    sink.report_damage(0, format!("truncated: {error}"));
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            if source.format == TranscriptFormat::Lines {
                sink.add_bytes_read(line.length);
            }
            let number = line.number;
            if line.is_too_long {
                sink.report_damage(number, line_too_long_message());
                continue;
            }
            match parse_record(line.bytes) {
                Ok(Some(record)) => {
                    let reader =
                        transcript.get_or_insert_with(|| self.open_transcript(source, &record));
                    reader.read_record(record, &mut steps);
                }
                Ok(None) => {}
                // In a running session the last line may be incomplete.
                Err(_) if !line.is_ended => {
                    steps.push(RecordOutcome::Skipped(RecordSkipReason::Unfinished));
                }
                Err(reason) => sink.report_damage(number, reason),
            }
            for step in steps.drain(..) {
                sink.accept(step, number)?;
            }
        }
        if let Some(mut transcript) = transcript {
            transcript.finish(&mut steps);
        }
        if source.format == TranscriptFormat::Compressed {
            sink.add_bytes_read(source.bytes);
        }
        steps.drain(..).try_for_each(|step| sink.accept(step, 0))
    }

    fn open_transcript(
        &self,
        source: &TranscriptSource,
        first: &Map<String, Value>,
    ) -> Box<dyn TranscriptReader> {
        let parent = parent_session_id(first).and_then(|parent| self.rollouts.get(&parent));
        let parent = parent.filter(|path| **path != source.path);
        let copies = parent.and_then(|path| read_fingerprints(path).ok()).map(CopiedHistory::new);
        build_transcript_reader(transcript_origin(source), copies)
    }
}

fn open_source(source: &TranscriptSource) -> Result<Box<dyn Read>> {
    open_file(&source.path, source.format == TranscriptFormat::Compressed)
}

fn open_file(path: &std::path::Path, is_compressed: bool) -> Result<Box<dyn Read>> {
    let file = open_regular(path, FinalLink::Follow).context("cannot be read")?;
    Ok(if is_compressed {
        Box::new(zstd::stream::read::Decoder::new(file)?)
    } else {
        Box::new(file)
    })
}

fn rollout_session_id(source: &TranscriptSource) -> Option<String> {
    let name = source.path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".zst").unwrap_or(name).strip_suffix(".jsonl")?;
    // `rollout-<time>-<thread>[_<rollout>]`
    let stem = stem.split_once('_').map_or(stem, |(thread, _)| thread);
    let start = stem.len().checked_sub(UUID_CHARS)?;
    stem.get(start..).map(str::to_owned)
}

/// Reads the fingerprints of a parent's records.
fn read_fingerprints(path: &std::path::Path) -> Result<Vec<u64>> {
    let is_compressed = path.extension().is_some_and(|end| end == "zst");
    let mut lines = LineReader::new(open_file(path, is_compressed)?);
    let mut found = Vec::new();
    while let Some(line) = lines.next_line()? {
        let record = parse_record(line.bytes).ok().flatten();
        found.extend(record.as_ref().and_then(record_fingerprint));
    }
    Ok(found)
}
