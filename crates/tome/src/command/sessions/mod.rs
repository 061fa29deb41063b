//! `tome sessions`: lists sessions, filtered by time, agent, branch, file or words.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use tome_contents::{TimeSpan, find_time_phrase, parse_time_phrase};
use tome_model::{Agent, Clock, Millis, SystemClock};
use tome_proto::v1;
use tome_terminal::{
    Column, DIM, RESET, drop_columns, format_count, format_counted, one_line, print_columns,
    print_hanging, print_styled, table_width, truncate_end, truncate_start,
};

use super::last_activity::describe_last_activity;
use super::project_name::base_name;
use super::project_scope::{project_or_all, projects_in_scope};
use super::screen::Screen;
use super::session_lookup::{list_sessions, load_session_page};
use super::session_page::{session_json, show_page};
use super::toc::warn_skipped;
use super::topics::load_page;
use super::{CommandContext, CommandError, Outcome, time};
use crate::cli::sessions::SessionsArgs;

/// Sessions that `-n 0` lists.
const LISTED_MAX: u32 = 1_000;
/// Characters of a title and an agent in the list.
const TITLE_CHARS_MAX: usize = 160;
const AGENT_CHARS_MAX: usize = 20;
/// Names of projects and branches take this part of the width each where a list does not fit whole.
const NAME_SHARE: usize = 7;
const PROJECT_COLUMNS_MIN: usize = 22;
/// Columns that a title gets before a branch, a worktree or an agent is listed: it says most.
const TITLE_COLUMNS_MIN: usize = 40;

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
        limit: if args.limit == 0 { LISTED_MAX } else { args.limit },
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
    let limit = u32::MAX;
    let request = v1::GetTopicPageRequest { path, limit, ..v1::GetTopicPageRequest::default() };
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
    let unknown = args.agent.iter().find(|agent| !Agent::KNOWN.contains(&agent.as_str()));
    let unknown = unknown.map(|agent| {
        format!(
            "; Tome has no importer for {}; it imports {}",
            one_line(agent, 40),
            Agent::KNOWN.join(", ")
        )
    });
    let text = format!("{summary}{last}{wider}{}", unknown.unwrap_or_default());
    print_hanging(&mut tome_terminal::stderr(), "", 0, &text, screen.prose_width())?;
    Ok(Outcome::Done)
}

fn print_list(
    out: &mut dyn Write,
    screen: &Screen,
    listed: &v1::ListSessionsResponse,
    is_wide: bool,
) -> std::io::Result<()> {
    let sessions = &listed.sessions;
    print_columns(out, &choose_columns(screen, sessions, is_wide), screen.width)?;
    let hidden = listed.total.saturating_sub(sessions.len() as u64);
    if hidden > 0 {
        let more = format_counted(hidden, "earlier session", "earlier sessions");
        let next = suggest_more(sessions.len() as u64, listed.total);
        writeln!(out, "  {DIM}… {more}; {next}{RESET}")?;
    }
    let id = sessions.first().map_or("", |first| first.short_id.as_str());
    let id = one_line(id, 80);
    let hint = format!("tome show {id} opens its page, tome read {id} the conversation");
    writeln!(out)?;
    print_styled(out, DIM, 0, &hint, screen.prose_width())
}

/// The flag that lists more sessions than those shown.
fn suggest_more(shown: u64, total: u64) -> String {
    let most = u64::from(LISTED_MAX);
    match shown * 2 {
        twice if twice < total.min(most) => format!("-n {twice} lists more"),
        _ if total <= most => "-n 0 lists all".to_owned(),
        _ if shown < most => format!("-n 0 lists {}", format_count(most)),
        _ => "--until lists those before a time".to_owned(),
    }
}

/// Chooses the columns that leave enough for titles. The branch goes first, then the worktree, then
/// the agent.
fn choose_columns(screen: &Screen, sessions: &[v1::Session], is_wide: bool) -> Vec<Column> {
    let width = screen.line_width();
    let whole = build_columns(screen, sessions, is_wide, TITLE_CHARS_MAX);
    let columns = match table_width(&whole) <= width {
        true => whole,
        false => build_columns(screen, sessions, is_wide, width / NAME_SHARE),
    };
    let droppable = ["branch", "worktree", "agent"];
    drop_columns(columns, ("title", TITLE_COLUMNS_MIN), &droppable, width)
}

/// Builds all columns that say something, with names of at most `name_columns`.
fn build_columns(
    screen: &Screen,
    sessions: &[v1::Session],
    is_wide: bool,
    name_columns: usize,
) -> Vec<Column> {
    let name = |text: &str| truncate_end(&one_line(text, TITLE_CHARS_MAX), name_columns);
    // People type the name of a project. The end of a long one distinguishes similar ones.
    let project_columns = name_columns.max(PROJECT_COLUMNS_MIN.min(screen.line_width() / 3));
    let project = |root: &str| truncate_start(&screen.projects.name(root), project_columns);
    let mut columns = vec![
        Column::new("when", sessions, |it| screen.when(it.last_at_ms)),
        Column::new("session", sessions, |it| one_line(&it.short_id, 80)),
    ];
    columns.extend(is_wide.then(|| Column::new("project", sessions, |it| project(&it.project))));
    let optional = [
        Column::new("agent", sessions, |it| one_line(&it.agent, AGENT_CHARS_MAX)),
        Column::new("branch", sessions, |it| name(&it.branch)),
        Column::new("worktree", sessions, |it| name(&base_name(&it.worktree))),
    ];
    columns.extend(optional.into_iter().filter(Column::is_used));
    columns.push(Column::new("title", sessions, |it| one_line(&it.title, TITLE_CHARS_MAX)));
    columns.push(Column::new(">turns", sessions, |it| format_count(it.prompts)));
    columns
}

#[cfg(test)]
mod tests;
