//! `tome` without a command: projects and agents with their sessions, events and last activity.

use std::io::Write;

use anyhow::Result;
use serde_json::json;
use tome_model::Millis;
use tome_proto::v1;
use tome_terminal::{
    BOLD, DIM, RED, RESET, format_ago, format_bytes, format_count, format_counted, print_table,
};

use super::status::{
    DaemonState, StatusReport, collect_status, daemon_json, print_daemon, print_spool,
};
use super::{CommandContext, Outcome, capture_state};
use crate::connect::StartPolicy;

/// Projects listed by name; the rest are counted.
const PROJECTS_SHOWN: usize = 12;

pub fn run(context: &CommandContext) -> Result<Outcome> {
    let report = collect_status(context, StartPolicy::IfNotRunning)?;
    let nothing = v1::StatusResponse::default();
    let status = match &report.daemon {
        DaemonState::Running(status) => status,
        _ => &nothing,
    };
    if context.json {
        print_overview_json(context, &report, status)?;
    } else {
        print_overview(context, &report, status)?;
    }
    Ok(if matches!(report.daemon, DaemonState::Running(_)) {
        Outcome::Done
    } else {
        Outcome::Failed
    })
}

fn print_overview(
    context: &CommandContext,
    report: &StatusReport,
    status: &v1::StatusResponse,
) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    let events: u64 = status.projects.iter().map(|project| project.events).sum();
    let sessions: u64 = status.projects.iter().map(|project| project.sessions).sum();
    let last = status.projects.iter().map(|project| project.last_at_ms).max();
    let unread = status.stores.iter().filter(|store| !store.problem.is_empty()).count() as u64;
    match last {
        None if !matches!(report.daemon, DaemonState::Running(_)) => {
            writeln!(
                out,
                "{BOLD}The stored events cannot be read: the daemon is not available.{RESET}\n"
            )?;
        }
        None if unread > 0 => {
            writeln!(out, "{BOLD}The stored events cannot be read.{RESET}\n")?;
        }
        None => {
            writeln!(out, "{BOLD}No events recorded yet.{RESET}")?;
            writeln!(
                out,
                "  Run `tome setup` to connect your coding agents and `tome import` for their history,"
            )?;
            writeln!(out, "  store events with `tome ingest`, or try `tome demo`.\n")?;
        }
        Some(last) => {
            writeln!(
                out,
                "{BOLD}{} recorded{RESET} in {} of {}, the last one {}.\n",
                format_counted(events, "event", "events"),
                format_counted(sessions, "session", "sessions"),
                format_counted(status.projects.len() as u64, "project", "projects"),
                format_ago(report.now, Millis(last))
            )?;
            let rows = status.projects.iter().take(PROJECTS_SHOWN).map(|project| {
                vec![
                    project.root.clone(),
                    format_count(project.sessions),
                    format_count(project.events),
                    format_ago(report.now, Millis(project.last_at_ms)),
                ]
            });
            print_table(
                &mut out,
                &["project", ">sessions", ">events", "last"],
                &rows.collect::<Vec<_>>(),
            )?;
            let more = status.projects.len().saturating_sub(PROJECTS_SHOWN)
                + status.projects_uncounted as usize;
            if more > 0 {
                writeln!(out, "  {DIM}and {more} more{RESET}")?;
            }
            writeln!(out)?;
            let rows = status.agents.iter().map(|agent| {
                vec![
                    agent.agent.clone(),
                    format_count(agent.sessions),
                    format_count(agent.events),
                    format_ago(report.now, Millis(agent.last_at_ms)),
                ]
            });
            print_table(
                &mut out,
                &["agent", ">sessions", ">events", "last"],
                &rows.collect::<Vec<_>>(),
            )?;
            writeln!(out)?;
        }
    }
    print_daemon(&mut out, report)?;
    if unread > 0 {
        let stores = format_counted(unread, "store", "stores");
        writeln!(out, "stores   {RED}{stores} cannot be read{RESET}; run `tome doctor`")?;
    }
    writeln!(
        out,
        "disk     {} {DIM}in {}{RESET}",
        format_bytes(status.disk_bytes),
        context.settings.home.root().display()
    )?;
    print_spool(&mut out, report)?;
    capture_state::print_line(&mut out, context, report.now)?;
    Ok(())
}

fn print_overview_json(
    context: &CommandContext,
    report: &StatusReport,
    status: &v1::StatusResponse,
) -> Result<()> {
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
        "recording": capture_state::as_json(context, report.now),
    }))
}
