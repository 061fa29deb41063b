//! `tome` without a command: the front page, or the first steps if nothing is recorded.

mod first_steps;
mod front_page;
mod week;

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::json;
use tome_model::Millis;
use tome_proto::v1;
use tome_terminal::{
    BOLD, DIM, RED, RESET, YELLOW, display_width, format_bytes, format_count, format_counted,
    print_styled,
};

use super::project_name::ProjectNames;
use super::project_scope::resolve_project;
use super::screen::Screen;
use super::status::{
    DaemonState, StatusReport, collect_status, daemon_json, print_daemon, print_spool,
};
use super::unconnected::{find_unconnected, print_unconnected};
use super::{CommandContext, CommandError, Outcome, capture_state};
use crate::connect::StartPolicy;

pub use first_steps::describe_first_step;

pub fn run(
    context: &CommandContext,
    project: Option<&Path>,
    all_projects: bool,
) -> Result<Outcome> {
    let project = if all_projects { None } else { find_project(context, project)? };
    if first_steps::is_home_empty(context) {
        return first_steps::run(context);
    }
    let report = collect_status(context, StartPolicy::IfNotRunning)?;
    let nothing = v1::StatusResponse::default();
    let status = match &report.daemon {
        DaemonState::Running(status) => status,
        _ => &nothing,
    };
    if context.json {
        print_overview_json(context, &report, status)?;
    } else {
        print_overview(context, &report, status, project.as_deref())?;
    }
    Ok(if matches!(report.daemon, DaemonState::Running(_)) {
        Outcome::Done
    } else {
        Outcome::Failed
    })
}

/// The root of the project to show: the given one, or the current one if it is known.
fn find_project(context: &CommandContext, typed: Option<&Path>) -> Result<Option<String>> {
    let project = resolve_project(context, typed)?;
    let Some(typed) = typed else { return Ok(project) };
    let names = ProjectNames::load(context);
    match project.filter(|root| names.roots().any(|known| known == root)) {
        Some(root) => Ok(Some(root)),
        None => {
            let text = tome_terminal::one_line(&typed.to_string_lossy(), 200);
            let refusal = CommandError::not_found(format!("no project {text}"));
            Err(refusal.with_hint("`tome projects` lists them").into())
        }
    }
}

fn print_overview(
    context: &CommandContext,
    report: &StatusReport,
    status: &v1::StatusResponse,
    project: Option<&str>,
) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    let is_running = matches!(report.daemon, DaemonState::Running(_));
    let unread = status.stores.iter().filter(|store| !store.problem.is_empty()).count() as u64;
    if status.projects.is_empty() {
        match (is_running, unread) {
            (false, _) => writeln!(
                out,
                "{BOLD}The stored events cannot be read: the daemon is not available.{RESET}\n"
            )?,
            (true, 0) => {
                let screen = Screen::new(context);
                first_steps::print_nothing_recorded(context, &mut out, &screen)?;
            }
            (true, _) => writeln!(out, "{BOLD}The stored events cannot be read.{RESET}\n")?,
        }
    } else {
        match front_page::load_front_page(context, status, project) {
            Ok(page) => {
                front_page::print_front_page(&mut out, &Screen::new(context), &page)?;
            }
            // The health below says more.
            Err(error) => writeln!(out, "{YELLOW}The sessions cannot be listed:{RESET} {error}\n")?,
        }
    }
    print_health(context, &mut out, report, status, project.is_some())
}

/// The number of projects, and how many of them the counts before it are of: the daemon does not open the
/// stores of very many projects for this.
fn describe_counted_projects(status: &v1::StatusResponse) -> String {
    let counted = status.projects.len() as u64;
    match u64::from(status.projects_uncounted) {
        0 => format!(", {}", format_counted(counted, "project", "projects")),
        uncounted => {
            format!(
                " in {} of {} projects",
                format_count(counted),
                format_count(counted + uncounted)
            )
        }
    }
}

/// The health of a running daemon, from the longest text to the shortest.
fn describe_health(status: &v1::StatusResponse, is_narrow: bool) -> [String; 4] {
    let events: u64 = status.projects.iter().map(|project| project.events).sum();
    let sessions: u64 = status.projects.iter().map(|project| project.sessions).sum();
    let events = format_counted(events, "event", "events");
    let sessions = format_counted(sessions, "session", "sessions");
    let counts = format!("{events}, {sessions}{}", describe_counted_projects(status));
    let all = if is_narrow { "All projects: " } else { "" };
    let disk = format_bytes(status.disk_bytes);
    [
        format!("{all}{counts} · {disk} on disk · daemon running"),
        format!("{all}{counts} · daemon running"),
        format!("{counts} · daemon running"),
        format!("{events} · daemon running"),
    ]
}

/// Prints the health in one line, and what is wrong below it.
fn print_health(
    context: &CommandContext,
    out: &mut dyn Write,
    report: &StatusReport,
    status: &v1::StatusResponse,
    is_narrow: bool,
) -> Result<()> {
    let screen = Screen::new(context);
    let unread = status.stores.iter().filter(|store| !store.problem.is_empty()).count() as u64;
    let is_running = matches!(report.daemon, DaemonState::Running(_));
    if is_running {
        let width = screen.prose_width();
        let lines = describe_health(status, is_narrow);
        let line = lines.iter().find(|line| display_width(line) <= width).or(lines.last());
        print_styled(out, DIM, 0, line.map_or("", String::as_str), width)?;
    } else {
        print_daemon(out, report)?;
    }
    if unread > 0 {
        let stores = format_counted(unread, "store", "stores");
        writeln!(out, "stores   {RED}{stores} cannot be read{RESET}; run `tome doctor`")?;
    }
    let waiting = &report.waiting;
    if waiting.events > 0 || waiting.damaged > 0 || report.lost.events > 0 {
        print_spool(out, report)?;
    }
    capture_state::print_line(out, context, report.now)?;
    // The first steps name `tome setup` already.
    if !status.projects.is_empty() {
        print_unconnected(out, &find_unconnected(context), screen.prose_width())?;
    }
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
        "unconnected_agents": find_unconnected(context).iter().map(|agent| agent.name).collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_health_is_one_line_of_60_columns() {
        let project = v1::Project { events: 1_234_567, sessions: 12_345, ..Default::default() };
        let status = v1::StatusResponse {
            projects: vec![project; 64],
            projects_uncounted: 23,
            disk_bytes: 12_700_000_000,
            ..v1::StatusResponse::default()
        };
        let fits = |line: &&String| display_width(line) <= 60;
        let long = describe_health(&status, true);
        assert_eq!(long.iter().find(fits).unwrap(), "79,012,288 events · daemon running");
        let short = describe_health(&v1::StatusResponse::default(), true);
        let all = "0 events, 0 sessions, 0 projects · daemon running";
        assert_eq!(short.iter().find(fits).unwrap(), all);
    }

    #[test]
    fn counts_name_the_projects_that_they_are_of() {
        let status = |projects: usize, projects_uncounted| v1::StatusResponse {
            projects: vec![v1::Project::default(); projects],
            projects_uncounted,
            ..v1::StatusResponse::default()
        };
        assert_eq!(describe_counted_projects(&status(1, 0)), ", 1 project");
        assert_eq!(describe_counted_projects(&status(64, 23)), " in 64 of 87 projects");
    }
}
