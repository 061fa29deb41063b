//! `tome status`: the state of the daemon, the stores and the spool. Never starts the daemon.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_engine::{Spool, SpoolCounts};
use tome_model::{Clock, Millis, SystemClock};
use tome_proto::v1;
use tome_terminal::{
    DIM, GREEN, RED, RESET, WrappedWriter, YELLOW, format_ago, format_bytes, format_count,
    format_counted, format_span,
};

use super::display_path::shorten_endpoints;
use super::time_labels::TimeLabels;
use super::{
    CommandContext, Outcome, capture_state, damage, index_status, merge_sessions, reflect,
};
use crate::connect::{ConnectError, StartPolicy};
use crate::hook::lost::{self, LossCount};
use tome_proto::ClientError;

/// Columns before the text of a line.
const LABEL_COLUMNS: usize = 9;

/// The daemon's status, combined with what is on disk.
pub struct StatusReport {
    pub daemon: DaemonState,
    pub waiting: SpoolCounts,
    pub lost: LossCount,
    pub now: Millis,
}

pub enum DaemonState {
    Running(Box<v1::StatusResponse>),
    NotRunning,
    /// It holds its lock but does not answer.
    NotAnswering {
        pid: u32,
        problem: String,
    },
    /// It answers with an error.
    Failing(String),
    /// Nothing answers at the configured endpoint.
    Unreachable(String),
}

impl StatusReport {
    /// Why events stay in the spool although the daemon is running.
    pub fn spool_problems(&self) -> &[String] {
        match &self.daemon {
            DaemonState::Running(status) => &status.spool_problems,
            _ => &[],
        }
    }
}

pub fn run(context: &CommandContext, reset_lost: bool) -> Result<Outcome> {
    if reset_lost {
        lost::reset_losses(&context.settings.home)?;
    }
    let report = collect_status(context, StartPolicy::Never)?;
    if context.json {
        context.print_json(&status_json(context, &report))?;
    } else {
        print_status(context, &report)?;
    }
    Ok(match report.daemon {
        DaemonState::Running(_) | DaemonState::NotRunning => Outcome::Done,
        DaemonState::NotAnswering { .. }
        | DaemonState::Failing(_)
        | DaemonState::Unreachable(_) => Outcome::Failed,
    })
}

/// Collects the daemon's status, starting it if `start` allows, and reads spool and losses from disk.
pub fn collect_status(context: &CommandContext, start: StartPolicy) -> Result<StatusReport> {
    let daemon = context.block_on(async {
        let response = context
            .connector
            .call_idempotent(start, async |client| client.get_status(true).await)
            .await;
        Ok(match response {
            Ok(status) => DaemonState::Running(Box::new(status)),
            Err(error) => match (context.connector.daemon_pid(), error) {
                // An error response still means that the daemon is not hung.
                (
                    _,
                    ConnectError::Client(
                        error @ (ClientError::Failed(_)
                        | ClientError::Invalid(_)
                        | ClientError::NotFound(_)
                        | ClientError::Malformed(_)),
                    ),
                )
                | (Some(_), ConnectError::Client(error @ ClientError::Unauthorized(_))) => {
                    DaemonState::Failing(error.to_string())
                }
                (Some(pid), error) => DaemonState::NotAnswering { pid, problem: error.to_string() },
                (None, ConnectError::NotRunning) => DaemonState::NotRunning,
                (None, error @ ConnectError::NotStarted(_)) => return Err(error.into()),
                (None, error) => DaemonState::Unreachable(error.to_string()),
            },
        })
    })?;
    let home = &context.settings.home;
    Ok(StatusReport {
        daemon,
        waiting: Spool::new(home).count_waiting(),
        lost: lost::read_losses(home),
        now: SystemClock.now(),
    })
}

fn print_status(context: &CommandContext, report: &StatusReport) -> Result<()> {
    let mut out = WrappedWriter::new(tome_terminal::stdout().lock(), LABEL_COLUMNS);
    print_daemon(&mut out, report)?;
    if let DaemonState::Running(status) = &report.daemon {
        let created = format_counted(status.created, "event", "events");
        writeln!(
            out,
            "captured {created} since start ({} duplicates, {} rejected, {} from the spool)",
            format_count(status.duplicates),
            format_count(status.rejected),
            format_count(status.drained)
        )?;
        let last = status.projects.iter().map(|project| project.last_at_ms).max();
        match last {
            Some(at) => {
                let labels = TimeLabels::from_settings(&context.settings);
                writeln!(out, "last     event {}", labels.format_when(report.now, at))?;
            }
            None if status.stores.iter().any(|store| !store.problem.is_empty()) => {}
            None => writeln!(out, "last     no events captured yet")?,
        }
        if let Some(model) = &status.model {
            print_model(&mut out, model)?;
        }
        if let Some(reflections) = &status.reflections {
            reflect::print_status(&mut out, reflections, report.now)?;
        }
        if let Some(indexes) = &status.finder {
            index_status::print_indexes(&mut out, indexes)?;
        }
        print_store_total(&mut out, status)?;
        for store in status.stores.iter().filter(|store| !is_healthy(store)) {
            if !store.problem.is_empty() {
                let what = if store.no_answer { "is busy:" } else { "cannot be read:" };
                writeln!(out, "store    {}", store.path)?;
                writeln!(out, "         {RED}{what}{RESET} {}", store.problem)?;
                continue;
            }
            let behind = if store.behind > 0 {
                format!(", {} not counted yet", store.behind)
            } else {
                String::new()
            };
            let events = format_counted(store.events, "event", "events");
            writeln!(out, "store    {} ({events}{behind})", store.path)?;
            if !store.refusing.is_empty() {
                writeln!(out, "         {RED}refuses writes:{RESET} {}", store.refusing)?;
            }
        }
        damage::print_damage(&mut out, &status.damage)?;
        writeln!(out, "disk     {}", format_bytes(status.disk_bytes))?;
    }
    writeln!(out, "home     {}", context.shorten_path(context.settings.home.root()))?;
    print_spool(&mut out, report)?;
    capture_state::print_line(&mut out, context, report.now)?;
    if let Some((found, remedy)) = merge_sessions::find_split_sessions(context) {
        writeln!(out, "sessions {YELLOW}{found}{RESET}; {remedy}")?;
    }
    Ok(())
}

/// Whether there is nothing to say about a store.
fn is_healthy(store: &v1::Store) -> bool {
    store.problem.is_empty() && store.refusing.is_empty() && store.behind == 0
}

/// Prints the stores that can be read as one line; `tome admin status` lists them.
fn print_store_total(out: &mut impl Write, status: &v1::StatusResponse) -> Result<()> {
    let readable = || status.stores.iter().filter(|store| store.problem.is_empty());
    let events: u64 = readable().map(|store| store.events).sum();
    match readable().count() as u64 {
        0 => {}
        count => {
            let (count, events) = (format_count(count), format_counted(events, "event", "events"));
            let more = match status.projects_uncounted {
                0 => String::new(),
                more => format!(" (and {} not counted)", format_count(more.into())),
            };
            writeln!(out, "stores   {count} with {events}{more}")?;
        }
    }
    Ok(())
}

/// Prints today's model calls and token usage.
fn print_model(out: &mut impl Write, model: &v1::ModelMeter) -> Result<()> {
    let talks = match model.chat_name.as_str() {
        name if name == model.name => "",
        name => name,
    };
    let names: Vec<&str> =
        [model.name.as_str(), talks].into_iter().filter(|it| !it.is_empty()).collect();
    let rewritten = format_counted(model.polished, "summary", "summaries");
    writeln!(
        out,
        "model    {} ({} today, {} of {} tokens{})",
        if names.is_empty() { "none".to_owned() } else { names.join(", ") },
        format_counted(model.calls, "call", "calls"),
        format_count(model.tokens),
        format_count(model.daily_tokens),
        if model.name.is_empty() {
            String::new()
        } else {
            format!(", {rewritten} rewritten since start")
        }
    )?;
    if !model.problem.is_empty() {
        writeln!(out, "         {YELLOW}paused:{RESET} {}", model.problem)?;
    }
    if !model.chat_problem.is_empty() {
        writeln!(out, "         {YELLOW}chat model unavailable:{RESET} {}", model.chat_problem)?;
    }
    Ok(())
}

/// Prints the daemon's line, for `tome status` and the overview.
pub fn print_daemon(out: &mut dyn Write, report: &StatusReport) -> std::io::Result<()> {
    match &report.daemon {
        DaemonState::Running(status) => writeln!(
            out,
            "daemon   {GREEN}running{RESET} (version {}, pid {}, up {}, {}) {DIM}{}{RESET}",
            status.version,
            status.pid,
            format_span(status.now_ms.saturating_sub(status.started_ms)),
            format_bytes(status.resident_bytes),
            shorten_endpoints(&status.endpoints)
        ),
        DaemonState::NotRunning => {
            writeln!(out, "daemon   not running {DIM}(starts automatically when needed){RESET}")
        }
        DaemonState::NotAnswering { pid, problem } => {
            writeln!(
                out,
                "daemon   {RED}does not answer{RESET} (pid {pid}): {problem}; `tome stop --force` kills it"
            )
        }
        DaemonState::Failing(problem) => {
            writeln!(out, "daemon   {RED}answers with an error{RESET}: {problem}")
        }
        DaemonState::Unreachable(problem) => {
            writeln!(out, "daemon   {RED}cannot be reached{RESET}: {problem}")
        }
    }
}

/// Prints waiting, damaged and lost events.
pub fn print_spool(out: &mut dyn Write, report: &StatusReport) -> std::io::Result<()> {
    let waiting = &report.waiting;
    if waiting.events == 0 {
        writeln!(out, "spool    empty")?;
    } else {
        let events = format_counted(waiting.events, "event waiting", "events waiting");
        writeln!(
            out,
            "spool    {YELLOW}{events}{RESET} for the daemon ({})",
            format_bytes(waiting.bytes)
        )?;
        for problem in report.spool_problems() {
            writeln!(out, "         {YELLOW}not stored yet:{RESET} {problem}")?;
        }
    }
    if waiting.damaged > 0 {
        let lines = format_counted(waiting.damaged, "damaged line", "damaged lines");
        writeln!(out, "         {YELLOW}{lines}{RESET} set aside in spool/damaged.jsonl")?;
    }
    if report.lost.events > 0 {
        let last = report
            .lost
            .last
            .map(|at| format!(", the last {}", format_ago(report.now, at)))
            .unwrap_or_default();
        let events = format_counted(report.lost.events, "event", "events");
        writeln!(
            out,
            "lost     {RED}{events}{RESET}: neither the daemon nor the spool could store them{last}; run `tome doctor`"
        )?;
    }
    Ok(())
}

fn status_json(context: &CommandContext, report: &StatusReport) -> Value {
    json!({
        "home": context.settings.home.root(),
        "daemon": daemon_json(&report.daemon),
        "spool": {
            "waiting_events": report.waiting.events,
            "waiting_bytes": report.waiting.bytes,
            "damaged_lines": report.waiting.damaged,
            "problems": report.spool_problems(),
        },
        "lost": {"events": report.lost.events, "last_at": report.lost.last},
        "recording": capture_state::as_json(context, report.now),
        "split_sessions": merge_sessions::count_split_sessions(context),
    })
}

/// Renders the daemon as JSON, for `tome status` and the overview.
pub fn daemon_json(daemon: &DaemonState) -> Value {
    let status = match daemon {
        DaemonState::Running(status) => status,
        DaemonState::NotRunning => return json!({"running": false}),
        DaemonState::NotAnswering { pid, problem } => {
            return json!({"running": true, "answers": false, "pid": pid, "problem": problem});
        }
        DaemonState::Failing(problem) => {
            return json!({"running": true, "answers": true, "problem": problem});
        }
        DaemonState::Unreachable(problem) => return json!({"running": false, "problem": problem}),
    };
    let stores: Vec<Value> = status
        .stores
        .iter()
        .map(|store| {
            json!({"path": store.path, "engine": store.engine, "events": store.events, "behind": store.behind,
                   "open": !store.is_closed,
                   "refusing": Some(&store.refusing).filter(|why| !why.is_empty()),
                   "problem": Some(&store.problem).filter(|why| !why.is_empty())})
        })
        .collect();
    let model = status.model.as_ref().map(|model| {
        json!({"name": model.name, "calls": model.calls, "failures": model.failures, "tokens": model.tokens,
               "daily_tokens": model.daily_tokens, "polished": model.polished, "problem": model.problem,
               "chat_name": model.chat_name, "chat_problem": model.chat_problem})
    });
    json!({
        "running": true, "answers": true, "version": status.version, "pid": status.pid,
        "started_at": Millis(status.started_ms), "endpoints": status.endpoints, "store_mode": status.store_mode,
        "resident_bytes": status.resident_bytes, "disk_bytes": status.disk_bytes,
        "created": status.created, "duplicates": status.duplicates, "rejected": status.rejected,
        "drained": status.drained, "last_arrived_at": Some(status.last_arrived_ms).filter(|ms| *ms > 0).map(Millis),
        "stores": stores, "damage": damage::damage_json(&status.damage), "model": model,
        "reflections": status.reflections.as_ref().map(reflect::status_json), "finder": status.finder.as_ref().map(index_status::indexes_json),
    })
}
