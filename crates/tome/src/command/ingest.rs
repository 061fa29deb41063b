//! `tome ingest`: stores events from JSON lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use anyhow::Result;
use indicatif::ProgressBar;
use serde::Serialize;
use tokio::sync::mpsc;
use tome_model::{Draft, EventLine};
use tome_proto::{Client, draft_to_wire};
use tome_terminal::{format_count, format_counted, print_hanging, progress_bar, terminal_width};

use super::{CommandContext, CommandError, Outcome};
use crate::capture_rules::{CaptureRules, NotRecorded};
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
    /// Events of a pause, and of ignored folders.
    pub paused: u64,
    pub ignored: u64,
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
        let rules = CaptureRules::read(&context.settings.home, &context.settings.ignore);
        stream_lines(&client, Some(rules), file.map(Path::to_path_buf), &progress).await
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
        print_left_out(&mut err, &report)?;
    }
    Ok(if report.rejected.is_empty() { Outcome::Done } else { Outcome::BadInput })
}

/// Says what was not stored, and why.
fn print_left_out(out: &mut dyn Write, report: &IngestReport) -> std::io::Result<()> {
    let mut reasons = Vec::new();
    if report.paused > 0 {
        let paused = format_counted(report.paused, "event is", "events are");
        reasons.push(format!("{paused} from a pause (`tome pause`)"));
    }
    if report.ignored > 0 {
        let ignored = format_counted(report.ignored, "event is", "events are");
        reasons.push(format!("{ignored} of ignored folders (capture.ignore, .tomeignore)"));
    }
    if reasons.is_empty() {
        return Ok(());
    }
    let text = format!("not stored: {}", reasons.join(", "));
    print_hanging(out, "", 0, &text, terminal_width())
}

/// Streams events to the daemon while its responses arrive. Without rules, every event is stored.
pub(super) async fn stream_lines(
    client: &Client,
    mut rules: Option<CaptureRules>,
    file: Option<std::path::PathBuf>,
    progress: &ProgressBar,
) -> Result<IngestReport> {
    let (batches, incoming) = event_stream::batch_channel();
    let reader = tokio::task::spawn_blocking(move || {
        let mut read = IngestReport::default();
        read_batches(file.as_deref(), &batches, &mut rules, &mut read).map(|()| read)
    });
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
    let read = reader.await??;
    (report.paused, report.ignored) = (read.paused, read.ignored);
    report.rejected.extend(read.rejected);
    report.rejected.sort_by_key(|rejected| rejected.line);
    Ok(report)
}

/// Reads lines into batches, and counts in `read` what is not sent.
fn read_batches(
    file: Option<&Path>,
    batches: &mpsc::Sender<IngestBatch<u64>>,
    rules: &mut Option<CaptureRules>,
    read: &mut IngestReport,
) -> Result<()> {
    let mut input: Box<dyn BufRead> = match file {
        Some(path) => {
            let file = File::open(path).map_err(|error| refuse_file(path, error))?;
            Box::new(BufReader::with_capacity(256 * 1024, file))
        }
        None => Box::new(BufReader::with_capacity(256 * 1024, std::io::stdin())),
    };
    let mut batch = IngestBatch::default();
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        let bytes = (&mut input).take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)?;
        if bytes == 0 {
            break;
        }
        if bytes == LINE_BYTES_MAX && !line.ends_with(b"\n") && input.skip_until(b'\n')? > 0 {
            let reason = format!("longer than {} MiB", LINE_BYTES_MAX >> 20);
            read.rejected.push(RejectedLine { line: number, reason });
            continue;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let judge = |draft| match rules {
            Some(rules) => rules.apply(draft),
            None => Ok(draft),
        };
        match parse_line(&line).map(judge) {
            Ok(Ok(draft)) => batch.push(draft_to_wire(draft), number, line.len()),
            Ok(Err(NotRecorded::Paused)) => read.paused += 1,
            Ok(Err(NotRecorded::Ignored)) => read.ignored += 1,
            Err(reason) => read.rejected.push(RejectedLine { line: number, reason }),
        }
        if batch.is_full() && batches.blocking_send(batch.take_batch()).is_err() {
            return Ok(());
        }
    }
    if !batch.events.is_empty() {
        let _ = batches.blocking_send(batch);
    }
    Ok(())
}

/// The refusal of a file that cannot be read; a missing one was not found.
fn refuse_file(path: &Path, error: std::io::Error) -> anyhow::Error {
    if error.kind() == std::io::ErrorKind::NotFound {
        CommandError::not_found(format!("there is no file {}", path.display())).into()
    } else {
        anyhow::Error::new(error).context(format!("cannot read {}", path.display()))
    }
}

/// Parses one line into a draft. Replaces invalid UTF-8 and skips a byte order mark.
fn parse_line(line: &[u8]) -> Result<Draft, String> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start_matches('\u{feff}').trim();
    let draft = EventLine::parse(text).and_then(EventLine::into_draft);
    draft.map_err(|error| error.to_string())
}
