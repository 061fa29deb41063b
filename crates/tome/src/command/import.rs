//! `tome import`: imports the agents' transcripts and prints a report.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use tokio::runtime::Handle;
use tome_engine::Sealer;
use tome_home::{Projects, SessionIndex};
use tome_model::{Agent, Clock, Millis, SystemClock};
use tome_proto::v1;
use tome_redact::Redactor;
use tome_terminal::{
    DIM, RESET, WrappedWriter, YELLOW, format_bytes, format_count, format_counted, progress_bar,
    replace_control_chars,
};

use super::screen::Screen;
use super::unconnected::{find_unconnected, print_next_steps};
use super::{CommandContext, CommandError, Outcome, time};
use crate::capture_rules::CaptureRules;
use crate::cli::import::ImportArgs;
use crate::connect::StartPolicy;
use crate::event_stream;
use crate::import::{
    self, AgentReport, DAMAGED_MAX, DaemonTarget, DamagedLine, EventOrigin, ImportJob,
    ImportReport, ImportResult, TranscriptSource,
};

/// Damaged lines listed; `--json` lists more.
const DAMAGED_SHOWN: usize = 20;
const PROGRESS_TEMPLATE: &str =
    "{bar:30} {percent:>3}%  {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

pub fn run(context: &CommandContext, args: &ImportArgs) -> Result<Outcome> {
    let agents = parse_agents(&args.agent)?;
    let since = parse_since(context, args.since.as_deref())?;
    let sources = match args.path.as_slice() {
        [] => find_default_sources(&agents),
        paths => {
            if let Some(missing) = paths.iter().find(|path| !path.exists()) {
                let message = format!("{} does not exist", missing.display());
                return Err(CommandError::not_found(message).into());
            }
            import::find_sources_at(paths, &agents)
                .map_err(|error| CommandError::bad_input(error.to_string()))?
        }
    };
    if sources.is_empty() && !context.json {
        let names: Vec<&str> = agents.iter().map(Agent::as_str).collect();
        let mut out = WrappedWriter::new(tome_terminal::stdout(), 0);
        writeln!(out, "no transcripts found for {}", names.join(", "))?;
        return Ok(Outcome::Done);
    }
    let mut done = run_import(context, sources, since, args.dry_run)?;
    done.report.sum_agents();
    if context.json {
        context.print_json(&done.report)?;
    } else {
        print_report(&done.report)?;
        if !args.dry_run && done.report.imported + done.report.already_there > 0 {
            let width = Screen::new(context).prose_width();
            print_next_steps(&mut tome_terminal::stdout(), &find_unconnected(context), width)?;
        }
    }
    Ok(if done.report.unreadable.is_empty() { Outcome::Done } else { Outcome::Failed })
}

/// Parses agent names; returns all known agents if none are given.
pub fn parse_agents(named: &[String]) -> Result<Vec<Agent>> {
    let known = || Agent::KNOWN.iter().map(|name| Agent::parse(name));
    if named.is_empty() {
        return Ok(known().collect::<Result<_, _>>()?);
    }
    let mut agents: Vec<Agent> = Vec::new();
    for name in named {
        let agent = Agent::parse(name)?;
        if !Agent::KNOWN.contains(&agent.as_str()) {
            let known = Agent::KNOWN.join(", ");
            let message = format!("Tome cannot read transcripts of {name:?}");
            return Err(CommandError::bad_input(message)
                .with_hint(format!("use one of {known}"))
                .into());
        }
        if !agents.contains(&agent) {
            agents.push(agent);
        }
    }
    Ok(agents)
}

fn parse_since(context: &CommandContext, text: Option<&str>) -> Result<Option<Millis>> {
    let Some(text) = text else { return Ok(None) };
    let zone = &context.settings.contents.zone;
    Ok(Some(time::parse("--since", text, SystemClock.now(), zone)?))
}

/// Finds transcripts in their default locations.
pub fn find_default_sources(agents: &[Agent]) -> Vec<TranscriptSource> {
    import::find_default_sources(agents, &|name| std::env::var_os(name).map(PathBuf::from))
}

/// Reads transcripts, compares them with the stores and, unless `is_dry`, stores missing events.
pub fn run_import(
    context: &CommandContext,
    sources: Vec<TranscriptSource>,
    since: Option<Millis>,
    is_dry: bool,
) -> Result<ImportResult> {
    let bytes = sources.iter().map(|source| source.bytes).sum();
    let progress = progress_bar(Some(bytes), PROGRESS_TEMPLATE);
    let files: Vec<String> =
        sources.iter().map(|source| source.path.display().to_string()).collect();
    let done = context.block_on(async {
        let client = context.connector.connect(StartPolicy::IfNotRunning).await?;
        let (to, incoming) = event_stream::batch_channel::<EventOrigin>();
        let redactor = Redactor::new(&context.settings.redact)?;
        let is_here = context.settings.daemon_endpoint.is_none();
        let home = &context.settings.home;
        let index = || SessionIndex::open(&home.session_index());
        let mut target = DaemonTarget {
            client: client.clone(),
            handle: Handle::current(),
            to,
            known: is_here.then(|| (Projects::load(home), index())),
        };
        let sealer = Arc::new(Sealer::new(redactor, context.settings.text_bytes_max));
        let rules = CaptureRules::read(home, &context.settings.ignore);
        let progress = progress.clone();
        let reader = tokio::task::spawn_blocking(move || {
            let target = &mut target;
            let (beside, only) = (Vec::new(), None);
            ImportJob { sources, beside, since, is_dry, only, target, sealer, rules, progress }
                .run()
        });
        let mut answers = IngestTotals::default();
        let streamed = if is_dry {
            Ok(())
        } else {
            event_stream::stream_batches(&client, incoming, |answer, tags| {
                answers.add_response(answer, &tags);
            })
            .await
        };
        // The reader makes calls through this runtime, so wait for it even if the stream failed.
        let read = reader.await.context("the transcript reader panicked")?;
        streamed?;
        let mut done = read?;
        answers.apply_to_report(&mut done.report, &files);
        Ok(done)
    });
    progress.finish_and_clear();
    done
}

/// The daemon's responses, summed up.
#[derive(Default)]
struct IngestTotals {
    /// Created and duplicate events, per agent of the report.
    stored: Vec<(u64, u64)>,
    refused: Vec<(EventOrigin, String)>,
}

impl IngestTotals {
    /// Adds the response to one batch. A batch holds events of a single agent.
    fn add_response(&mut self, answer: &v1::IngestEventsResponse, tags: &[EventOrigin]) {
        let Some(agent) = tags.first().map(|from| from.agent) else { return };
        self.stored.resize(self.stored.len().max(agent + 1), (0, 0));
        if let Some((created, duplicates)) = self.stored.get_mut(agent) {
            *created += u64::from(answer.created);
            *duplicates += u64::from(answer.duplicates);
        }
        for rejected in &answer.rejected {
            if let Some(from) = tags.get(rejected.index as usize) {
                self.refused.push((*from, rejected.reason.clone()));
            }
        }
    }

    /// Adds the sums to the report.
    fn apply_to_report(self, report: &mut ImportReport, files: &[String]) {
        for (agent, (created, duplicates)) in report.agents.iter_mut().zip(self.stored) {
            agent.imported += created;
            agent.already_there += duplicates;
        }
        for (from, reason) in self.refused {
            if let Some(agent) = report.agents.get_mut(from.agent) {
                agent.damaged_lines += 1;
            }
            if report.damaged.len() < DAMAGED_MAX {
                let file = files.get(from.source).cloned().unwrap_or_default();
                report.damaged.push(DamagedLine { file, line: from.line, reason });
            }
        }
    }
}

fn print_report(report: &ImportReport) -> Result<()> {
    let mut out = WrappedWriter::new(tome_terminal::stdout().lock(), 13);
    let verb = if report.dry_run { "to import" } else { "imported" };
    for agent in &report.agents {
        print_agent_report(&mut out, verb, agent)?;
    }
    print_problems(&mut out, report)?;
    let hint = if report.dry_run && report.imported > 0 {
        "; run without --dry-run to store them"
    } else {
        ""
    };
    writeln!(
        out,
        "{verb} {}, duplicates {}, skipped {}, damaged {}{hint}",
        format_count(report.imported),
        format_count(report.already_there),
        format_count(report.skipped.values().sum()),
        format_count(report.damaged_lines),
    )?;
    Ok(())
}

fn print_agent_report(out: &mut impl Write, verb: &str, agent: &AgentReport) -> Result<()> {
    writeln!(
        out,
        "{:<11}  {verb} {}, duplicates {}  {DIM}{}, {}, {}{RESET}",
        agent.agent,
        format_count(agent.imported),
        format_count(agent.already_there),
        format_counted(agent.sessions, "session", "sessions"),
        format_counted(agent.files, "file", "files"),
        format_bytes(agent.bytes),
    )?;
    if !agent.skipped.is_empty() {
        let skipped = agent.skipped.iter();
        let words: Vec<String> =
            skipped.map(|(why, n)| format!("{} {}", format_count(*n), why.description())).collect();
        writeln!(out, "             {DIM}skipped: {}{RESET}", words.join(", "))?;
    }
    Ok(())
}

fn print_problems(out: &mut impl Write, report: &ImportReport) -> Result<()> {
    for damaged in report.damaged.iter().take(DAMAGED_SHOWN) {
        let line = if damaged.line > 0 { format!(":{}", damaged.line) } else { String::new() };
        let (file, reason) =
            (replace_control_chars(&damaged.file), replace_control_chars(&damaged.reason));
        writeln!(out, "{YELLOW}damaged{RESET}      {file}{line}: {reason}")?;
    }
    let more = report.damaged_lines.saturating_sub(DAMAGED_SHOWN as u64);
    if more > 0 {
        writeln!(out, "             and {} more; --json lists them", format_count(more))?;
    }
    for file in &report.unreadable {
        let (file, reason) =
            (replace_control_chars(&file.file), replace_control_chars(&file.reason));
        writeln!(out, "{YELLOW}unreadable{RESET}   {file}: {reason}")?;
    }
    Ok(())
}
