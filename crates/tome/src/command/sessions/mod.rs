//! `tome sessions`: lists sessions, filtered by time, agent, branch, file or words.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use tome_contents::{TimeSpan, find_time_phrase, parse_time_phrase};
use tome_model::{Agent, Clock, Millis, SystemClock};
use tome_proto::{Client, v1};
use tome_terminal::{
    DIM, RESET, format_count, format_counted, one_line, print_hanging, print_styled,
    print_table_within, truncate_end, truncate_start,
};

use super::events::resolve_project;
use super::last_activity::describe_last_activity;
use super::project_name::base_name;
use super::project_scope::projects_in_scope;
use super::screen::Screen;
use super::session_lookup::load_session_page;
use super::session_page::{session_json, show_page};
use super::toc::warn_skipped;
use super::topics::load_page;
use super::{CommandContext, CommandError, Outcome, time};
use crate::cli::sessions::SessionsArgs;

/// Characters of a title and an agent in the list.
const TITLE_CHARS_MAX: usize = 120;
const AGENT_CHARS_MAX: usize = 20;
/// Names of projects and branches take this part of the width each: titles say more.
const NAME_SHARE: usize = 7;
/// Narrower lists have no branches and no agents, or no agents if there is only one.
const BRANCH_WIDTH_MIN: usize = 80;
const AGENT_WIDTH_MIN: usize = 100;

pub fn run(context: &CommandContext, args: &SessionsArgs) -> Result<Outcome> {
    let request = match build_request(context, args)? {
        Some(request) => request,
        None => return print_no_sessions(context, args),
    };
    // One word may be the id of a session.
    if let ([id], true) = (args.what.as_slice(), request.from_ms.is_none())
        && let Some(page) = load_session_page(context, id, args.project.as_deref())?
    {
        return show_page(context, &page);
    }
    let listed = list_sessions(context, &request)?;
    warn_skipped(&listed.skipped)?;
    if context.json {
        listed
            .sessions
            .iter()
            .try_for_each(|session| context.print_json(&session_json(session)))?;
        return Ok(Outcome::Done);
    }
    if listed.sessions.is_empty() {
        return print_no_sessions(context, args);
    }
    let is_wide = request.project.is_empty();
    print_list(&mut tome_terminal::stdout().lock(), &Screen::new(context), &listed, is_wide)?;
    Ok(Outcome::Done)
}

pub fn list_sessions(
    context: &CommandContext,
    request: &v1::ListSessionsRequest,
) -> Result<v1::ListSessionsResponse> {
    let list = async |client: &Client| client.list_sessions(request.clone()).await;
    Ok(context.connector.call_blocking(list)?)
}

/// The project that a list is limited to; empty for all.
pub fn project_or_all(
    context: &CommandContext,
    project: Option<&Path>,
    is_all: bool,
) -> Result<String> {
    if is_all {
        Ok(String::new())
    } else {
        Ok(resolve_project(context, project)?.unwrap_or_default())
    }
}

/// Builds the request; `None` if no session can match it.
fn build_request(
    context: &CommandContext,
    args: &SessionsArgs,
) -> Result<Option<v1::ListSessionsRequest>> {
    for agent in &args.agent {
        Agent::parse(agent)?;
    }
    let (now, zone) = (SystemClock.now(), &context.settings.contents.zone);
    let at = |field, text: &Option<String>| -> Result<Option<u64>> {
        Ok(text
            .as_deref()
            .map(|text| time::parse(field, text, now, zone))
            .transpose()?
            .map(|at| at.0))
    };
    let project = project_or_all(context, args.project.as_deref(), args.all_projects)?;
    let mut request = v1::ListSessionsRequest {
        limit: args.limit,
        from_ms: at("--since", &args.since)?,
        to_ms: at("--until", &args.until)?,
        agents: args.agent.clone(),
        branch: args.branch.clone().unwrap_or_default(),
        project,
        ..v1::ListSessionsRequest::default()
    };
    if let Some(text) = &args.on {
        let span = time::parse_period("--on", text, now, zone)?;
        (request.from_ms, request.to_ms) = (Some(span.from.0), Some(span.to.0));
    }
    let (span, words) = split_time(&args.what, now, context);
    if let Some(span) = span {
        request.from_ms = Some(request.from_ms.unwrap_or(0).max(span.from.0));
        request.to_ms = Some(request.to_ms.unwrap_or(u64::MAX).min(span.to.0));
    }
    request.words = words;
    if let Some(file) = &args.file {
        let projects = projects_in_scope(context, args.project.as_deref(), args.all_projects)?;
        request.ids = find_sessions_of_file(context, file, &projects)?;
        if request.ids.is_empty() {
            return Ok(None);
        }
    }
    Ok(Some(request))
}

/// Splits what was typed into a time and other words.
fn split_time(
    typed: &[String],
    now: Millis,
    context: &CommandContext,
) -> (Option<TimeSpan>, Vec<String>) {
    let (text, zone) = (typed.join(" "), &context.settings.contents.zone);
    if let Some(span) = parse_time_phrase(&text, now, zone) {
        return (Some(span), Vec::new());
    }
    let phrase = find_time_phrase(&text, now, zone);
    let rest = match &phrase {
        Some((_, range)) => {
            let before = text.get(..range.start).unwrap_or_default();
            format!("{before} {}", text.get(range.end..).unwrap_or_default())
        }
        None => text,
    };
    let words = rest.split_whitespace().map(str::to_owned).collect();
    (phrase.map(|(span, _)| span), words)
}

/// The sessions that changed a file, in any of the projects.
fn find_sessions_of_file(
    context: &CommandContext,
    file: &Path,
    projects: &[String],
) -> Result<Vec<String>> {
    let path = file.to_string_lossy().into_owned();
    let request = v1::GetTopicPageRequest { path, ..v1::GetTopicPageRequest::default() };
    let mut ids: Vec<String> = Vec::new();
    for project in projects {
        match (load_page(context, project, &request)?, projects) {
            (Ok(page), _) => {
                ids.extend(page.entries.into_iter().map(|entry| entry.session));
                ids.extend(page.sessions.into_iter().map(|session| session.id));
            }
            (Err(message), [_]) => return Err(CommandError::not_found(message).into()),
            (Err(_), _) => {}
        }
    }
    ids.sort();
    ids.dedup();
    Ok(ids)
}

fn print_no_sessions(context: &CommandContext, args: &SessionsArgs) -> Result<Outcome> {
    if context.json {
        return Ok(Outcome::Done);
    }
    let is_filtered = !args.what.is_empty()
        || args.since.is_some()
        || args.until.is_some()
        || args.on.is_some()
        || !args.agent.is_empty()
        || args.branch.is_some()
        || args.file.is_some();
    let summary = if is_filtered { "no sessions match" } else { "no sessions yet" };
    let project = project_or_all(context, args.project.as_deref(), args.all_projects)?;
    let wider =
        if project.is_empty() { "" } else { "; --all-projects lists those of all projects" };
    let screen = Screen::new(context);
    let has_time = args.since.is_some()
        || args.on.is_some()
        || split_time(&args.what, screen.now, context).0.is_some();
    let last = if has_time {
        describe_last_activity(context, &screen, &project, "tome sessions")?
    } else {
        String::new()
    };
    let text = format!("{summary}{last}{wider}");
    print_hanging(&mut tome_terminal::stdout(), "", 0, &text, screen.prose_width())?;
    Ok(Outcome::Done)
}

fn print_list(
    out: &mut dyn Write,
    screen: &Screen,
    listed: &v1::ListSessionsResponse,
    is_wide: bool,
) -> std::io::Result<()> {
    let sessions = &listed.sessions;
    let width = screen.line_width();
    let has_branches = width >= BRANCH_WIDTH_MIN && sessions.iter().any(|it| !it.branch.is_empty());
    let has_worktrees =
        width >= BRANCH_WIDTH_MIN && sessions.iter().any(|it| !it.worktree.is_empty());
    let first_agent = sessions.first().map(|first| first.agent.as_str());
    let has_several_agents = sessions.iter().any(|it| Some(it.agent.as_str()) != first_agent);
    let has_agents = width >= AGENT_WIDTH_MIN || width >= BRANCH_WIDTH_MIN && has_several_agents;
    let name = |text: &str| truncate_end(&one_line(text, TITLE_CHARS_MAX), width / NAME_SHARE);
    // The end of a name tells similar ones apart.
    let project = |root: &str| truncate_start(&screen.projects.name(root), width / NAME_SHARE);
    let mut heads = vec!["when", "session"];
    heads.extend(is_wide.then_some("project"));
    heads.extend(has_agents.then_some("agent"));
    heads.extend(has_branches.then_some("branch"));
    heads.extend(has_worktrees.then_some("worktree"));
    heads.extend(["title", ">turns"]);
    let rows: Vec<Vec<String>> = sessions
        .iter()
        .map(|session| {
            let mut row = vec![screen.when(session.last_at_ms), one_line(&session.short_id, 80)];
            row.extend(is_wide.then(|| project(&session.project)));
            row.extend(has_agents.then(|| one_line(&session.agent, AGENT_CHARS_MAX)));
            row.extend(has_branches.then(|| name(&session.branch)));
            row.extend(has_worktrees.then(|| name(&base_name(&session.worktree))));
            row.push(one_line(&session.title, TITLE_CHARS_MAX));
            row.push(format_count(session.prompts));
            row
        })
        .collect();
    print_table_within(out, &heads, &rows, screen.width)?;
    let hidden = listed.total.saturating_sub(sessions.len() as u64);
    if hidden > 0 {
        let more = format_counted(hidden, "earlier session", "earlier sessions");
        writeln!(out, "  {DIM}… {more}; -n {} lists more{RESET}", sessions.len() * 2)?;
    }
    let id = sessions.first().map_or("", |first| first.short_id.as_str());
    let id = one_line(id, 80);
    let hint = format!("tome show {id} opens its page, tome read {id} the conversation");
    writeln!(out)?;
    print_styled(out, DIM, 0, &hint, screen.prose_width())
}

#[cfg(test)]
mod tests;
