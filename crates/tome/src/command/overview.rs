//! `tome` without a command: projects and agents with their sessions, events and last activity.

use std::io::Write;

use anyhow::Result;
use serde_json::json;
use tome_model::Millis;
use tome_proto::v1;

use super::status::{Daemon, Report, daemon_json, gather, print_daemon, print_spool};
use super::{Context, Outcome};
use crate::reach::Start;
use crate::render::{BOLD, DIM, PLAIN, RED, ago, bytes, count, counted, table};

/// Projects listed by name; the rest are counted.
const PROJECTS_SHOWN: usize = 12;

pub fn run(context: &Context) -> Result<Outcome> {
    let report = gather(context, Start::IfAway)?;
    let nothing = v1::StatusResponse::default();
    let status = match &report.daemon {
        Daemon::Running(status) => status,
        _ => &nothing,
    };
    if context.json {
        print_json(context, &report, status)?;
    } else {
        print(context, &report, status)?;
    }
    Ok(if matches!(report.daemon, Daemon::Running(_)) { Outcome::Done } else { Outcome::Failed })
}

fn print(context: &Context, report: &Report, status: &v1::StatusResponse) -> Result<()> {
    let mut out = crate::terminal::stdout().lock();
    let events: u64 = status.projects.iter().map(|project| project.events).sum();
    let sessions: u64 = status.projects.iter().map(|project| project.sessions).sum();
    let last = status.projects.iter().map(|project| project.last_at_ms).max();
    let unread = status.stores.iter().filter(|store| !store.problem.is_empty()).count() as u64;
    match last {
        None if !matches!(report.daemon, Daemon::Running(_)) => {
            writeln!(
                out,
                "{BOLD}The stored events cannot be read: the daemon is not available.{PLAIN}\n"
            )?;
        }
        None if unread > 0 => {
            writeln!(out, "{BOLD}The stored events cannot be read.{PLAIN}\n")?;
        }
        None => {
            writeln!(out, "{BOLD}No events recorded yet.{PLAIN}")?;
            writeln!(
                out,
                "  Run `tome setup` to connect your coding agents and `tome import` for their history,"
            )?;
            writeln!(out, "  store events with `tome ingest`, or try `tome demo`.\n")?;
        }
        Some(last) => {
            writeln!(
                out,
                "{BOLD}{} recorded{PLAIN} in {} of {}, the last one {}.\n",
                counted(events, "event", "events"),
                counted(sessions, "session", "sessions"),
                counted(status.projects.len() as u64, "project", "projects"),
                ago(report.now, Millis(last))
            )?;
            let rows = status.projects.iter().take(PROJECTS_SHOWN).map(|project| {
                vec![
                    project.root.clone(),
                    count(project.sessions),
                    count(project.events),
                    ago(report.now, Millis(project.last_at_ms)),
                ]
            });
            table(
                &mut out,
                &["project", ">sessions", ">events", "last"],
                &rows.collect::<Vec<_>>(),
            )?;
            let more = status.projects.len().saturating_sub(PROJECTS_SHOWN)
                + status.projects_uncounted as usize;
            if more > 0 {
                writeln!(out, "  {DIM}and {more} more{PLAIN}")?;
            }
            writeln!(out)?;
            let rows = status.agents.iter().map(|agent| {
                vec![
                    agent.agent.clone(),
                    count(agent.sessions),
                    count(agent.events),
                    ago(report.now, Millis(agent.last_at_ms)),
                ]
            });
            table(&mut out, &["agent", ">sessions", ">events", "last"], &rows.collect::<Vec<_>>())?;
            writeln!(out)?;
        }
    }
    print_daemon(&mut out, report)?;
    if unread > 0 {
        let stores = counted(unread, "store", "stores");
        writeln!(out, "stores   {RED}{stores} cannot be read{PLAIN}; run `tome doctor`")?;
    }
    writeln!(
        out,
        "disk     {} {DIM}in {}{PLAIN}",
        bytes(status.disk_bytes),
        context.settings.home.root().display()
    )?;
    print_spool(&mut out, report)?;
    Ok(())
}

fn print_json(context: &Context, report: &Report, status: &v1::StatusResponse) -> Result<()> {
    let projects: Vec<_> = status
        .projects
        .iter()
        .map(|project| {
            json!({"root": project.root, "ledger": project.path, "sessions": project.sessions, "events": project.events,
                   "last_at": Millis(project.last_at_ms), "disk_bytes": project.disk_bytes})
        })
        .collect();
    let agents: Vec<_> = status
        .agents
        .iter()
        .map(|agent| {
            json!({"agent": agent.agent, "sessions": agent.sessions, "events": agent.events, "last_at": Millis(agent.last_at_ms)})
        })
        .collect();
    context.print_json(&json!({
        "home": context.settings.home.root(),
        "events": status.projects.iter().map(|project| project.events).sum::<u64>(),
        "projects": projects, "agents": agents, "projects_uncounted": status.projects_uncounted,
        "disk_bytes": status.disk_bytes,
        "daemon": daemon_json(&report.daemon),
        "spool": {"waiting_events": report.waiting.events, "damaged_lines": report.waiting.damaged},
        "lost": {"events": report.lost.events},
    }))
}
