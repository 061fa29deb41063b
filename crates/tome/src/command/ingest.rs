//! `tome ingest`: stores events from JSON lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use indicatif::ProgressBar;
use serde::Serialize;
use tokio::sync::mpsc;
use tome_model::EventLine;
use tome_proto::{Client, draft_to_wire, v1};
use tome_terminal::{format_count, progress_bar};

use super::{CommandContext, Outcome};
use crate::connect::StartPolicy;
use crate::event_stream::{self, IngestBatch};

/// Longer lines are rejected without being read into memory.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

const PROGRESS_TEMPLATE: &str = "{spinner} {human_pos} events, {per_sec}, {elapsed}";

/// The result of an ingest.
#[derive(Debug, Default, Serialize)]
pub(super) struct IngestReport {
    pub created: u64,
    pub duplicates: u64,
    pub rejected: Vec<RejectedLine>,
}

#[derive(Debug, Serialize)]
pub(super) struct RejectedLine {
    pub line: u64,
    pub reason: String,
}

pub fn run(context: &CommandContext, file: Option<&Path>) -> Result<Outcome> {
    let progress = progress_bar(None, PROGRESS_TEMPLATE);
    let report = context.block_on(async {
        let client = context.connector.connect(StartPolicy::IfNotRunning).await?;
        stream_lines(&client, file.map(Path::to_path_buf), &progress).await
    });
    progress.finish_and_clear();
    let report = report?;
    if context.json {
        context.print_json(&report)?;
    } else {
        let mut err = tome_terminal::stderr().lock();
        for rejected in &report.rejected {
            writeln!(err, "line {}: {}", rejected.line, rejected.reason)?;
        }
        writeln!(
            tome_terminal::stdout(),
            "{} stored, {} duplicates, {} rejected",
            format_count(report.created),
            format_count(report.duplicates),
            format_count(report.rejected.len() as u64)
        )?;
    }
    Ok(if report.rejected.is_empty() { Outcome::Done } else { Outcome::BadInput })
}

/// Streams events to the daemon while its responses arrive.
pub(super) async fn stream_lines(
    client: &Client,
    file: Option<std::path::PathBuf>,
    progress: &ProgressBar,
) -> Result<IngestReport> {
    let (batches, incoming) = event_stream::batch_channel();
    let reader = tokio::task::spawn_blocking(move || read_batches(file.as_deref(), &batches));
    let mut report = IngestReport::default();
    event_stream::stream_batches(client, incoming, |answer, lines: Vec<u64>| {
        progress.inc(lines.len() as u64);
        report.created += u64::from(answer.created);
        report.duplicates += u64::from(answer.duplicates);
        for rejected in &answer.rejected {
            let line = lines.get(rejected.index as usize).copied().unwrap_or_default();
            report.rejected.push(RejectedLine { line, reason: rejected.reason.clone() });
        }
    })
    .await?;
    report.rejected.extend(reader.await??);
    report.rejected.sort_by_key(|rejected| rejected.line);
    Ok(report)
}

/// Reads lines into batches. Returns the lines that are not valid events.
fn read_batches(
    file: Option<&Path>,
    batches: &mpsc::Sender<IngestBatch<u64>>,
) -> Result<Vec<RejectedLine>> {
    let mut input: Box<dyn BufRead> = match file {
        Some(path) => {
            let file =
                File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            Box::new(BufReader::with_capacity(256 * 1024, file))
        }
        None => Box::new(BufReader::with_capacity(256 * 1024, std::io::stdin())),
    };
    let mut rejected = Vec::new();
    let mut batch = IngestBatch::default();
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        let read = (&mut input).take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        if read == LINE_BYTES_MAX && !line.ends_with(b"\n") && input.skip_until(b'\n')? > 0 {
            let reason = format!("longer than {} MiB", LINE_BYTES_MAX >> 20);
            rejected.push(RejectedLine { line: number, reason });
            continue;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match parse_line(&line) {
            Ok(draft) => batch.push(draft, number, line.len()),
            Err(reason) => rejected.push(RejectedLine { line: number, reason }),
        }
        if batch.is_full() && batches.blocking_send(batch.take_batch()).is_err() {
            return Ok(rejected);
        }
    }
    if !batch.events.is_empty() {
        let _ = batches.blocking_send(batch);
    }
    Ok(rejected)
}

/// Parses one line into a draft. Replaces invalid UTF-8 and skips a byte order mark.
fn parse_line(line: &[u8]) -> Result<v1::Draft, String> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start_matches('\u{feff}').trim();
    let draft = EventLine::parse(text).and_then(EventLine::into_draft);
    draft.map(draft_to_wire).map_err(|error| error.to_string())
}
