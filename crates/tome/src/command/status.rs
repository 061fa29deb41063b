//! `tome status`: the state of the daemon, the stores and the spool. Never starts the daemon.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_engine::{Spool, Waiting};
use tome_model::{Clock, Millis, SystemClock};
use tome_proto::v1;

use super::{Context, Outcome, finder, merge_sessions, reflect, repair};
use crate::hook::lost::{self, Lost};
use crate::reach::{ReachError, Start};
use crate::render::{DIM, GREEN, PLAIN, RED, YELLOW, ago, bytes, count, counted, span};
use tome_proto::ClientError;

/// The daemon's status, combined with what is on disk.
pub struct Report {
    pub daemon: Daemon,
    pub waiting: Waiting,
    pub lost: Lost,
    pub now: Millis,
}

pub enum Daemon {
    Running(Box<v1::StatusResponse>),
    Away,
    /// It holds its lock but does not answer.
    Silent {
        pid: u32,
        problem: String,
    },
    /// It answers with an error.
    Failing(String),
    /// Nothing answers at the configured endpoint.
    Unreachable(String),
}

impl Report {
    /// Why events stay in the spool although the daemon is running.
    pub fn spool_problems(&self) -> &[String] {
        match &self.daemon {
            Daemon::Running(status) => &status.spool_problems,
            _ => &[],
        }
    }
}

pub fn run(context: &Context, reset_lost: bool) -> Result<Outcome> {
    if reset_lost {
        lost::reset(&context.settings.home)?;
    }
    let report = gather(context, Start::Never)?;
    if context.json {
        context.print_json(&as_json(context, &report))?;
    } else {
        print(context, &report)?;
    }
    Ok(match report.daemon {
        Daemon::Running(_) | Daemon::Away => Outcome::Done,
        Daemon::Silent { .. } | Daemon::Failing(_) | Daemon::Unreachable(_) => Outcome::Failed,
    })
}

/// Collects the daemon's status, starting it if `start` allows, and reads spool and losses from disk.
pub fn gather(context: &Context, start: Start) -> Result<Report> {
    let daemon = context.block_on(async {
        let asked = context.reach.ask(start, async |client| client.status(true).await).await;
        Ok(match asked {
            Ok(status) => Daemon::Running(Box::new(status)),
            Err(error) => match (context.reach.holder(), error) {
                // An error response still means that the daemon is not hung.
                (
                    _,
                    ReachError::Client(
                        error @ (ClientError::Failed(_)
                        | ClientError::Invalid(_)
                        | ClientError::NotFound(_)
                        | ClientError::Garbled(_)),
                    ),
                )
                | (Some(_), ReachError::Client(error @ ClientError::Unauthorized(_))) => {
                    Daemon::Failing(error.to_string())
                }
                (Some(pid), error) => Daemon::Silent { pid, problem: error.to_string() },
                (None, ReachError::Away) => Daemon::Away,
                (None, error @ ReachError::NotStarted(_)) => return Err(error.into()),
                (None, error) => Daemon::Unreachable(error.to_string()),
            },
        })
    })?;
    let home = &context.settings.home;
    Ok(Report {
        daemon,
        waiting: Spool::of(home).waiting(),
        lost: lost::read(home),
        now: SystemClock.now(),
    })
}

fn print(context: &Context, report: &Report) -> Result<()> {
    let mut out = crate::terminal::stdout().lock();
    print_daemon(&mut out, report)?;
    if let Daemon::Running(status) = &report.daemon {
        let created = counted(status.created, "event", "events");
        writeln!(
            out,
            "captured {created} since start ({} duplicates, {} rejected, {} from the spool)",
            count(status.duplicates),
            count(status.rejected),
            count(status.drained)
        )?;
        let last = status.projects.iter().map(|project| project.last_at_ms).max();
        match last {
            Some(at) => writeln!(out, "last     {}", ago(report.now, Millis(at)))?,
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
            finder::print(&mut out, indexes)?;
        }
        for store in &status.stores {
            if !store.problem.is_empty() {
                let what = if store.no_answer { "is busy:" } else { "cannot be read:" };
                writeln!(out, "store    {}", store.path)?;
                writeln!(out, "         {RED}{what}{PLAIN} {}", store.problem)?;
                continue;
            }
            let behind = if store.behind > 0 {
                format!(", {} not counted yet", store.behind)
            } else {
                String::new()
            };
            writeln!(
                out,
                "store    {} ({}, {}{behind})",
                store.path,
                store.engine,
                counted(store.events, "event", "events")
            )?;
            if !store.refusing.is_empty() {
                writeln!(out, "         {RED}refuses writes:{PLAIN} {}", store.refusing)?;
            }
        }
        repair::print_damage(&mut out, &status.damage)?;
        writeln!(out, "disk     {}", bytes(status.disk_bytes))?;
    }
    writeln!(out, "home     {}", context.settings.home.root().display())?;
    print_spool(&mut out, report)?;
    if let Some((found, remedy)) = merge_sessions::problem(context) {
        writeln!(out, "sessions {YELLOW}{found}{PLAIN}; {remedy}")?;
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
    let worded = counted(model.polished, "node", "nodes");
    writeln!(
        out,
        "model    {} ({} today, {} of {} tokens{})",
        if names.is_empty() { "none".to_owned() } else { names.join(", ") },
        counted(model.calls, "call", "calls"),
        count(model.tokens),
        count(model.daily_tokens),
        if model.name.is_empty() {
            String::new()
        } else {
            format!(", {worded} summarized since start")
        }
    )?;
    if !model.problem.is_empty() {
        writeln!(out, "         {YELLOW}paused:{PLAIN} {}", model.problem)?;
    }
    if !model.chat_problem.is_empty() {
        writeln!(out, "         {YELLOW}chat model unavailable:{PLAIN} {}", model.chat_problem)?;
    }
    Ok(())
}

/// Prints the daemon's line, for `tome status` and the overview.
pub fn print_daemon(out: &mut dyn Write, report: &Report) -> std::io::Result<()> {
    match &report.daemon {
        Daemon::Running(status) => writeln!(
            out,
            "daemon   {GREEN}running{PLAIN} (version {}, pid {}, up {}, {}) {DIM}{}{PLAIN}",
            status.version,
            status.pid,
            span(status.now_ms.saturating_sub(status.started_ms)),
            bytes(status.resident_bytes),
            status.endpoints.join(" and ")
        ),
        Daemon::Away => {
            writeln!(out, "daemon   not running {DIM}(starts automatically when needed){PLAIN}")
        }
        Daemon::Silent { pid, problem } => {
            writeln!(
                out,
                "daemon   {RED}does not answer{PLAIN} (pid {pid}): {problem}; `tome stop --force` kills it"
            )
        }
        Daemon::Failing(problem) => {
            writeln!(out, "daemon   {RED}answers with an error{PLAIN}: {problem}")
        }
        Daemon::Unreachable(problem) => {
            writeln!(out, "daemon   {RED}cannot be reached{PLAIN}: {problem}")
        }
    }
}

/// Prints waiting, damaged and lost events.
pub fn print_spool(out: &mut dyn Write, report: &Report) -> std::io::Result<()> {
    let waiting = &report.waiting;
    if waiting.events == 0 {
        writeln!(out, "spool    empty")?;
    } else {
        let events = counted(waiting.events, "event waiting", "events waiting");
        writeln!(
            out,
            "spool    {YELLOW}{events}{PLAIN} for the daemon ({})",
            bytes(waiting.bytes)
        )?;
        for problem in report.spool_problems() {
            writeln!(out, "         {YELLOW}not stored yet:{PLAIN} {problem}")?;
        }
    }
    if waiting.damaged > 0 {
        let lines = counted(waiting.damaged, "damaged line", "damaged lines");
        writeln!(out, "         {YELLOW}{lines}{PLAIN} set aside in spool/damaged.jsonl")?;
    }
    if report.lost.events > 0 {
        let last = report
            .lost
            .last
            .map(|at| format!(", the last {}", ago(report.now, at)))
            .unwrap_or_default();
        let events = counted(report.lost.events, "event", "events");
        writeln!(
            out,
            "lost     {RED}{events}{PLAIN}: neither the daemon nor the spool could store them{last}; run `tome doctor`"
        )?;
    }
    Ok(())
}

fn as_json(context: &Context, report: &Report) -> Value {
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
        "split_sessions": merge_sessions::split_sessions(context),
    })
}

/// Renders the daemon as JSON, for `tome status` and the overview.
pub fn daemon_json(daemon: &Daemon) -> Value {
    let status = match daemon {
        Daemon::Running(status) => status,
        Daemon::Away => return json!({"running": false}),
        Daemon::Silent { pid, problem } => {
            return json!({"running": true, "answers": false, "pid": pid, "problem": problem});
        }
        Daemon::Failing(problem) => {
            return json!({"running": true, "answers": true, "problem": problem});
        }
        Daemon::Unreachable(problem) => return json!({"running": false, "problem": problem}),
    };
    let stores: Vec<Value> = status
        .stores
        .iter()
        .map(|store| {
            json!({"path": store.path, "engine": store.engine, "events": store.events, "behind": store.behind,
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
        "stores": stores, "damage": repair::damage_json(&status.damage), "model": model,
        "reflections": status.reflections.as_ref().map(reflect::status_json), "finder": status.finder.as_ref().map(finder::as_json),
    })
}
