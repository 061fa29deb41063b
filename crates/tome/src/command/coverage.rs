//! `tome doctor --deep`: compares the agents' transcripts with the stores and lists missing events.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use tome_model::{Agent, EventId, Millis};
use tome_terminal::{DIM, GREEN, RESET, YELLOW, format_count, format_counted};

use super::import::{find_default_sources, parse_agents, run_import};
use super::{CommandContext, time};
use crate::import::{ImportResult, UnreadableTranscript};

/// Sessions with missing events listed per agent; `--json` lists all.
const GAPS_SHOWN: usize = 5;

#[derive(Debug, Serialize)]
pub struct CaptureCoverage {
    agents: Vec<AgentCoverage>,
    unreadable: Vec<UnreadableTranscript>,
}

#[derive(Debug, Serialize)]
struct AgentCoverage {
    agent: String,
    files: u64,
    sessions: u64,
    events: u64,
    missing: u64,
    percent: f64,
    damaged_lines: u64,
    /// Events stored twice, under different ids.
    duplicates: Vec<EventId>,
    gaps: Vec<CoverageGap>,
}

/// A session with missing events.
#[derive(Debug, Serialize)]
struct CoverageGap {
    session: String,
    cwd: String,
    events: u64,
    missing: u64,
    first_missing: Option<Millis>,
}

/// Compares every transcript with the stores.
pub fn compare_transcripts(context: &CommandContext) -> Result<CaptureCoverage> {
    let sources = find_default_sources(&parse_agents(&[])?);
    Ok(build_coverage(run_import(context, sources, None, true)?))
}

fn build_coverage(done: ImportResult) -> CaptureCoverage {
    let mut gaps: BTreeMap<Agent, Vec<CoverageGap>> = BTreeMap::new();
    let mut twice: BTreeMap<Agent, Vec<EventId>> = BTreeMap::new();
    for ((agent, session), covered) in done.sessions {
        twice.entry(agent.clone()).or_default().extend(covered.duplicates);
        if covered.missing > 0 {
            gaps.entry(agent).or_default().push(CoverageGap {
                session: session.as_str().to_owned(),
                cwd: covered.cwd,
                events: covered.stored + covered.missing,
                missing: covered.missing,
                first_missing: covered.since,
            });
        }
    }
    let agents = done.report.agents.into_iter().map(|report| {
        let agent = Agent::parse(&report.agent).ok();
        let mut gaps = agent.as_ref().and_then(|agent| gaps.remove(agent)).unwrap_or_default();
        let mut duplicates =
            agent.as_ref().and_then(|agent| twice.remove(agent)).unwrap_or_default();
        duplicates.sort();
        // Latest first: current problems matter most.
        gaps.sort_by(|a, b| (b.first_missing, &a.session).cmp(&(a.first_missing, &b.session)));
        let events = report.already_there + report.imported;
        AgentCoverage {
            agent: report.agent,
            files: report.files,
            sessions: report.seen.len() as u64,
            events,
            missing: report.imported,
            percent: percent_rounded_down(report.already_there, events),
            damaged_lines: report.damaged_lines,
            duplicates,
            gaps,
        }
    });
    CaptureCoverage { agents: agents.collect(), unreadable: done.report.unreadable }
}

/// Rounds down to a tenth, so that only complete coverage shows as 100.
#[expect(clippy::cast_precision_loss, reason = "at most a thousand")]
fn percent_rounded_down(part: u64, whole: u64) -> f64 {
    match part.saturating_mul(1_000).checked_div(whole) {
        Some(tenths) => tenths as f64 / 10.0,
        None => 100.0,
    }
}

impl CaptureCoverage {
    /// Prints the coverage below the other checks.
    pub fn print(&self) -> Result<()> {
        let mut out = tome_terminal::stdout().lock();
        if self.agents.is_empty() {
            writeln!(out, "{GREEN}ok{RESET}    capture   no transcripts to compare with")?;
        }
        for agent in &self.agents {
            let (color, mark) = if agent.missing == 0 { (GREEN, "ok") } else { (YELLOW, "warn") };
            writeln!(
                out,
                "{color}{mark:<4}{RESET}  capture   {}: {} of {} stored ({} %), {}",
                agent.agent,
                format_count(agent.events - agent.missing),
                format_counted(agent.events, "event", "events"),
                agent.percent,
                format_counted(agent.sessions, "session", "sessions"),
            )?;
            for gap in agent.gaps.iter().take(GAPS_SHOWN) {
                let since = gap.first_missing.map(time::format_local_time).unwrap_or_default();
                writeln!(
                    out,
                    "                {} lacks {} of {} events since {since}  {DIM}{}{RESET}",
                    gap.session,
                    format_count(gap.missing),
                    format_count(gap.events),
                    tome_terminal::replace_control_chars(&gap.cwd),
                )?;
            }
            let more = agent.gaps.len().saturating_sub(GAPS_SHOWN) as u64;
            if more > 0 {
                let more = format_counted(more, "session", "sessions");
                writeln!(out, "                and {more} more; --json lists them")?;
            }
            if let Some(first) = agent.duplicates.first() {
                let twice = format_counted(agent.duplicates.len() as u64, "event is", "events are");
                writeln!(
                    out,
                    "{YELLOW}warn{RESET}  capture   {}: {twice} stored twice, such as {first}",
                    agent.agent
                )?;
            }
            if agent.missing > 0 {
                let name = &agent.agent;
                writeln!(out, "                {DIM}→{RESET} run `tome import --agent {name}`")?;
            }
        }
        for file in &self.unreadable {
            let (file, reason) = (
                tome_terminal::replace_control_chars(&file.file),
                tome_terminal::replace_control_chars(&file.reason),
            );
            writeln!(out, "{YELLOW}warn{RESET}  capture   {file}: {reason}")?;
        }
        Ok(())
    }
}
