//! `tome status`: how the daemon, the stores and the spool are. Starts nothing.

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

/// What is known without asking anybody to start.
pub struct Report {
    pub daemon: Daemon,
    pub waiting: Waiting,
    pub lost: Lost,
    pub now: Millis,
}

/// How the daemon is.
pub enum Daemon {
    Running(Box<v1::StatusResponse>),
    Away,
    /// It holds its lock and does not answer.
    Silent {
        pid: u32,
        problem: String,
    },
    /// It answers, but not with what was asked for.
    Failing(String),
    /// Nobody answers where the configuration says that it is.
    Unreachable(String),
}

impl Report {
    /// Why events wait in the spool although the daemon runs.
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

/// Asks the daemon, if it is there or may be started, and looks at the disk.
pub fn gather(context: &Context, start: Start) -> Result<Report> {
    let daemon = context.block_on(async {
        let asked = context.reach.ask(start, async |client| client.status(true).await).await;
        Ok(match asked {
            Ok(status) => Daemon::Running(Box::new(status)),
            Err(error) => match (context.reach.holder(), error) {
                // An answer, if a bad one: whoever gives it is not hung.
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
            "captured {created} since it started ({} again, {} refused, {} from the spool)",
            count(status.duplicates),
            count(status.rejected),
            count(status.drained)
        )?;
        let last = status.projects.iter().map(|project| project.last_at_ms).max();
        match last {
            Some(at) => writeln!(out, "last     {}", ago(report.now, Millis(at)))?,
            None if status.stores.iter().any(|store| !store.problem.is_empty()) => {}
            None => writeln!(out, "last     nothing has been captured yet")?,
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
                format!(", {} to count", store.behind)
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

/// What language models did and cost today.
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
            format!(", {worded} worded since it started")
        }
    )?;
    if !model.problem.is_empty() {
        writeln!(out, "         {YELLOW}waits:{PLAIN} {}", model.problem)?;
    }
    if !model.chat_problem.is_empty() {
        writeln!(out, "         {YELLOW}cannot be talked to:{PLAIN} {}", model.chat_problem)?;
    }
    Ok(())
}

/// The daemon's line, here and in the overview.
pub fn print_daemon(out: &mut dyn Write, report: &Report) -> std::io::Result<()> {
    match &report.daemon {
        Daemon::Running(status) => writeln!(
            out,
            "daemon   {GREEN}runs{PLAIN} (version {}, process {}, for {}, {}) {DIM}{}{PLAIN}",
            status.version,
            status.pid,
            span(status.now_ms.saturating_sub(status.started_ms)),
            bytes(status.resident_bytes),
            status.endpoints.join(" and ")
        ),
        Daemon::Away => writeln!(
            out,
            "daemon   is not running {DIM}(it starts by itself when it is needed){PLAIN}"
        ),
        Daemon::Silent { pid, problem } => {
            writeln!(
                out,
                "daemon   {RED}does not answer{PLAIN} (process {pid}): {problem}; `tome stop --force` ends it"
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

/// What waits, what is damaged, what is lost.
pub fn print_spool(out: &mut dyn Write, report: &Report) -> std::io::Result<()> {
    let waiting = &report.waiting;
    if waiting.events == 0 {
        writeln!(out, "spool    nothing waits")?;
    } else {
        let events = counted(waiting.events, "event waits", "events wait");
        writeln!(
            out,
            "spool    {YELLOW}{events}{PLAIN} for the daemon ({})",
            bytes(waiting.bytes)
        )?;
        for problem in report.spool_problems() {
            writeln!(out, "         {YELLOW}kept back:{PLAIN} {problem}")?;
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
            .map(|at| format!(", the last one {}", ago(report.now, at)))
            .unwrap_or_default();
        let events = counted(report.lost.events, "event", "events");
        writeln!(
            out,
            "lost     {RED}{events}{PLAIN} that neither daemon nor spool could take{last}; `tome doctor` looks for the reason"
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

/// The daemon as JSON, here and in the overview.
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
