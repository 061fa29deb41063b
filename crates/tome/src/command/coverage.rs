//! `tome doctor --deep`: compares the agents' transcripts with the stores and lists missing events.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use serde::Serialize;
use tome_model::{Agent, EventId, Millis};

use super::Context;
use super::import::{agents, at_home, look};
use crate::import::{Done, Unreadable};
use crate::render::{self, DIM, GREEN, PLAIN, YELLOW, count, counted};

/// Sessions with missing events listed per agent; `--json` lists all.
const GAPS_SHOWN: usize = 5;

#[derive(Debug, Serialize)]
pub struct Coverage {
    agents: Vec<AgentCoverage>,
    unreadable: Vec<Unreadable>,
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
    gaps: Vec<Gap>,
}

/// A session with missing events.
#[derive(Debug, Serialize)]
struct Gap {
    session: String,
    cwd: String,
    events: u64,
    missing: u64,
    first_missing: Option<Millis>,
}

/// Compares every transcript with the stores.
pub fn look_at_all(context: &Context) -> Result<Coverage> {
    let sources = at_home(&agents(&[])?);
    Ok(coverage(look(context, sources, None, true)?))
}

fn coverage(done: Done) -> Coverage {
    let mut gaps: BTreeMap<Agent, Vec<Gap>> = BTreeMap::new();
    let mut twice: BTreeMap<Agent, Vec<EventId>> = BTreeMap::new();
    for ((agent, session), covered) in done.sessions {
        twice.entry(agent.clone()).or_default().extend(covered.duplicates);
        if covered.missing > 0 {
            gaps.entry(agent).or_default().push(Gap {
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
            percent: percent(report.already_there, events),
            damaged_lines: report.damaged_lines,
            duplicates,
            gaps,
        }
    });
    Coverage { agents: agents.collect(), unreadable: done.report.unreadable }
}

/// Rounds down to a tenth, so that only complete coverage shows as 100.
#[expect(clippy::cast_precision_loss, reason = "at most a thousand")]
fn percent(part: u64, whole: u64) -> f64 {
    match part.saturating_mul(1_000).checked_div(whole) {
        Some(tenths) => tenths as f64 / 10.0,
        None => 100.0,
    }
}

impl Coverage {
    /// Prints the coverage below the other checks.
    pub fn print(&self) -> Result<()> {
        let mut out = crate::terminal::stdout().lock();
        if self.agents.is_empty() {
            writeln!(out, "{GREEN}ok{PLAIN}    capture   no transcripts to compare with")?;
        }
        for agent in &self.agents {
            let (colour, mark) = if agent.missing == 0 { (GREEN, "ok") } else { (YELLOW, "warn") };
            writeln!(
                out,
                "{colour}{mark:<4}{PLAIN}  capture   {}: {} of {} stored ({} %), {}",
                agent.agent,
                count(agent.events - agent.missing),
                counted(agent.events, "event", "events"),
                agent.percent,
                counted(agent.sessions, "session", "sessions"),
            )?;
            for gap in agent.gaps.iter().take(GAPS_SHOWN) {
                let since = gap.first_missing.map(render::local).unwrap_or_default();
                writeln!(
                    out,
                    "                {} lacks {} of {} events since {since}  {DIM}{}{PLAIN}",
                    gap.session,
                    count(gap.missing),
                    count(gap.events),
                    render::safe(&gap.cwd),
                )?;
            }
            let more = agent.gaps.len().saturating_sub(GAPS_SHOWN) as u64;
            if more > 0 {
                let more = counted(more, "session", "sessions");
                writeln!(out, "                and {more} more; --json lists them")?;
            }
            if let Some(first) = agent.duplicates.first() {
                let twice = counted(agent.duplicates.len() as u64, "event is", "events are");
                writeln!(
                    out,
                    "{YELLOW}warn{PLAIN}  capture   {}: {twice} stored twice, such as {first}",
                    agent.agent
                )?;
            }
            if agent.missing > 0 {
                let name = &agent.agent;
                writeln!(out, "                {DIM}→{PLAIN} run `tome import --agent {name}`")?;
            }
        }
        for file in &self.unreadable {
            let (file, reason) = (render::safe(&file.file), render::safe(&file.reason));
            writeln!(out, "{YELLOW}warn{PLAIN}  capture   {file}: {reason}")?;
        }
        Ok(())
    }
}
