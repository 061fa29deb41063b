//! `tome report`: what was done in a time, as Markdown to paste.
//!
//! It is written from the facts of the contents, each of which has an event that shows it.

mod markdown;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_contents::{TimeSpan, parse_time_phrase};
use tome_model::{Clock, Millis, SystemClock};
use tome_proto::v1;

use super::last_activity::find_last_activity;
use super::output_file::write_output_file;
use super::project_scope::project_or_all;
use super::screen::Screen;
use super::session_lookup::list_sessions;
use super::session_page::{fact_json, session_json};
use super::toc::warn_skipped;
use super::{CommandContext, CommandError, Outcome, time};
use crate::cli::sessions::ReportArgs;

use markdown::{render_last_activity, render_report, render_standup};

/// The time of a report that names none.
const DEFAULT_TIME: &str = "the last 7 days";
/// Sessions in a report.
const SESSIONS_MAX: u32 = 1_000;
/// Latest sessions whose open ends a standup lists.
const SESSIONS_READ: u32 = 20;
/// Names of main branches, of which the list of sessions does not tell which one it was.
pub const MAIN_BRANCHES: [&str; 5] = ["main", "master", "trunk", "develop", "dev"];
/// Days before today that are searched for the last one with work.
const STANDUP_DAYS_MAX: u64 = 31;
const DAY_MS: u64 = 86_400_000;

/// The sessions of a time.
pub struct WorkPeriod {
    pub name: String,
    pub from: Millis,
    pub to: Millis,
    pub sessions: Vec<v1::Session>,
    /// Number of sessions, with those that did not fit.
    pub total: u64,
}

/// The sessions of one branch of a project, in order of time.
pub struct BranchWork<'a> {
    pub branch: &'a str,
    pub sessions: Vec<&'a v1::Session>,
}

pub fn run(context: &CommandContext, args: &ReportArgs) -> Result<Outcome> {
    let project = project_or_all(context, args.project.as_deref(), args.all_projects)?;
    let screen = Screen::new(context);
    if args.standup {
        let day = standup_moment(context, &args.time.join(" "))?;
        let (before, today) = load_standup(context, &project, day)?;
        let recent = list_recent(context, &project, today.to)?;
        let open = find_open_ends(&recent);
        let json = json!({
            "yesterday": before.as_ref().map(period_json), "today": period_json(&today),
            "open": open.iter().map(|fact| fact_json(fact)).collect::<Vec<_>>(),
        });
        let last = match before {
            Some(_) => None,
            None => find_last_activity(context, &project)?,
        };
        let before = (before.as_ref(), last);
        let text = render_standup(&screen, before, &today, &open, args.sources);
        return deliver_report(context, args, &json, &text);
    }
    let named = args.time.join(" ");
    let named = if named.trim().is_empty() { DEFAULT_TIME } else { named.trim() };
    let now = SystemClock.now();
    let span = time::parse_period("time", named, now, &context.settings.contents.zone)?;
    let period = load_period(context, &project, &span)?;
    let mut text = render_report(&screen, &period, args.sources);
    if period.sessions.is_empty()
        && let Some(last) = find_last_activity(context, &project)?
    {
        let flag = screen.projects.flag(&project);
        text.push_str(&render_last_activity(&screen, last, &flag));
    }
    deliver_report(context, args, &period_json(&period), &text)
}

/// Prints a report, or writes it to the file.
fn deliver_report(
    context: &CommandContext,
    args: &ReportArgs,
    json: &Value,
    text: &str,
) -> Result<Outcome> {
    let Some(path) = &args.out else {
        if context.json {
            context.print_json(json)?;
        } else {
            tome_terminal::stdout().lock().write_all(text.as_bytes())?;
        }
        return Ok(Outcome::Done);
    };
    let bytes = if context.json {
        format!("{json}\n")
    } else {
        tome_terminal::neutralize_controls(text).into_owned()
    };
    write_output_file(path, args.force, |out| Ok(out.write_all(bytes.as_bytes())?))?;
    writeln!(tome_terminal::stderr(), "written to {}", path.display())?;
    Ok(Outcome::Done)
}

fn load_period(context: &CommandContext, project: &str, span: &TimeSpan) -> Result<WorkPeriod> {
    let request = v1::ListSessionsRequest {
        project: project.to_owned(),
        limit: SESSIONS_MAX,
        from_ms: Some(span.from.0),
        to_ms: Some(span.to.0),
        with_facts: true,
        ..v1::ListSessionsRequest::default()
    };
    let listed = list_sessions(context, &request)?;
    warn_skipped(&listed.skipped)?;
    let mut sessions = listed.sessions;
    name_main_branch(context, &request, &mut sessions)?;
    sessions.reverse();
    Ok(WorkPeriod {
        name: span.phrase.clone(),
        from: span.from,
        to: span.to,
        sessions,
        total: listed.total,
    })
}

/// Adds the branch of sessions on a main branch, which the list leaves out.
fn name_main_branch(
    context: &CommandContext,
    request: &v1::ListSessionsRequest,
    sessions: &mut [v1::Session],
) -> Result<()> {
    for branch in MAIN_BRANCHES {
        if sessions.iter().all(|session| !session.branch.is_empty()) {
            return Ok(());
        }
        let request = v1::ListSessionsRequest {
            branch: branch.to_owned(),
            with_facts: false,
            ..request.clone()
        };
        let on_branch = list_sessions(context, &request)?.sessions;
        let on_branch: BTreeSet<(&str, &str)> = on_branch.iter().map(session_key).collect();
        for session in sessions.iter_mut().filter(|session| session.branch.is_empty()) {
            if on_branch.contains(&session_key(session)) {
                branch.clone_into(&mut session.branch);
            }
        }
    }
    Ok(())
}

/// What tells a session from all others.
fn session_key(session: &v1::Session) -> (&str, &str) {
    (&session.agent, &session.id)
}

/// The moment of a standup: now, or the last one of the time that is named, if that is over.
fn standup_moment(context: &CommandContext, named: &str) -> Result<Millis> {
    let now = SystemClock.now();
    if named.trim().is_empty() {
        return Ok(now);
    }
    let span = time::parse_period("time", named.trim(), now, &context.settings.contents.zone)?;
    Ok(Millis(span.to.0.saturating_sub(1)).min(now))
}

/// Loads the day of a moment, and the last day before it with work.
fn load_standup(
    context: &CommandContext,
    project: &str,
    now: Millis,
) -> Result<(Option<WorkPeriod>, WorkPeriod)> {
    let zone = &context.settings.contents.zone;
    let day = |phrase: &str, now: Millis| {
        let missing = || CommandError::failed(format!("{phrase} is not in the calendar"));
        parse_time_phrase(phrase, now, zone).ok_or_else(missing)
    };
    let today = load_period(context, project, &day("today", now)?)?;
    for days in 1..=STANDUP_DAYS_MAX {
        let then = Millis(now.0.saturating_sub((days - 1) * DAY_MS));
        let before = load_period(context, project, &day("yesterday", then)?)?;
        if !before.sessions.is_empty() {
            return Ok((Some(before), today));
        }
    }
    Ok((None, today))
}

/// The latest sessions before a moment, newest first: those whose open ends the front page shows.
fn list_recent(context: &CommandContext, project: &str, to: Millis) -> Result<Vec<v1::Session>> {
    let request = v1::ListSessionsRequest {
        project: project.to_owned(),
        limit: SESSIONS_READ,
        to_ms: Some(to.0),
        with_facts: true,
        ..v1::ListSessionsRequest::default()
    };
    Ok(list_sessions(context, &request)?.sessions)
}

/// The open ends of some sessions, in their order and without repetitions.
fn find_open_ends(sessions: &[v1::Session]) -> Vec<&v1::SessionFact> {
    let mut open: Vec<&v1::SessionFact> = Vec::new();
    for fact in sessions.iter().flat_map(|session| session.facts.iter().rev()) {
        if fact.kind == "open" && !open.iter().any(|known| known.text == fact.text) {
            open.push(fact);
        }
    }
    open
}

/// Groups sessions by project and branch, in order of their first session.
pub fn group_sessions(sessions: &[v1::Session]) -> Vec<(&str, Vec<BranchWork<'_>>)> {
    let mut projects: Vec<(&str, Vec<BranchWork<'_>>)> = Vec::new();
    let mut indexes: BTreeMap<&str, usize> = BTreeMap::new();
    for session in sessions {
        let index = *indexes.entry(&session.project).or_insert_with(|| {
            projects.push((&session.project, Vec::new()));
            projects.len() - 1
        });
        let Some((_, branches)) = projects.get_mut(index) else { continue };
        match branches.iter_mut().find(|work| work.branch == session.branch) {
            Some(work) => work.sessions.push(session),
            None => branches.push(BranchWork { branch: &session.branch, sessions: vec![session] }),
        }
    }
    projects
}

fn period_json(period: &WorkPeriod) -> Value {
    let projects: Vec<Value> = group_sessions(&period.sessions)
        .into_iter()
        .map(|(project, branches)| {
            let branches: Vec<Value> = branches.iter().map(branch_json).collect();
            json!({"project": project, "branches": branches})
        })
        .collect();
    json!({
        "time": period.name, "from": period.from, "to": period.to,
        "sessions": period.total, "projects": projects,
    })
}

fn branch_json(work: &BranchWork<'_>) -> Value {
    let sessions = work.sessions.iter().map(|session| {
        let mut json = session_json(session);
        if let Some(fields) = json.as_object_mut() {
            let facts: Vec<Value> = session.facts.iter().map(fact_json).collect();
            fields.insert("facts".to_owned(), facts.into());
        }
        json
    });
    json!({"branch": work.branch, "sessions": sessions.collect::<Vec<_>>()})
}

#[cfg(test)]
mod tests;
