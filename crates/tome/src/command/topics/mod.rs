//! `tome topics` and `tome file`: what a project has been about, and the pages of topics and files.
//! Outside of a project they read all projects.

mod json;
mod page;

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use tome_proto::{Client, ClientError, v1};
use tome_terminal::{
    BOLD, CommandError, DIM, GREEN, RESET, display_width, format_counted, one_line, print_styled,
    truncate_end, truncate_start,
};
use tome_topics::TopicKind;

use super::project_name::ProjectNames;
use super::project_scope::{projects_in_scope, refuse_several};
use super::screen::Screen;
use super::{CommandContext, Outcome};
use crate::cli::topics::{FileArgs, TopicsArgs, TopicsCommand};
use crate::connect::ConnectError;

use json::{page_json, status_json, topic_json};
use page::PagePrinter;

/// Named topics of one kind in the list of all topics, and all kinds of them.
const NAMED_SHOWN: u32 = 5;
const NAMED_KINDS: [&str; 6] = ["file", "branch", "issue", "error", "command", "package"];
/// With fewer sessions, groups of work say less than the files do.
const GROUPED_SESSIONS_MIN: u64 = 10;
/// Topics of each project in a list of several.
const PROJECT_TOPICS_SHOWN: u32 = 3;
/// Begins the ids of groups of work, and how many are searched for one that begins like a text.
const GROUP_PREFIX: &str = "t-";
const GROUPS_SEARCHED_MAX: u32 = 500;
/// Sessions, files and commits on a page.
const LINES_SHOWN: usize = 8;

pub fn run(context: &CommandContext, args: &TopicsArgs) -> Result<Outcome> {
    if let Some(TopicsCommand::Show(show)) = &args.command {
        let projects = projects_in_scope(context, show.project.as_deref(), false)?;
        let id = find_topic_id(context, &projects, &show.id)?;
        let request = v1::GetTopicPageRequest { id, ..Default::default() };
        return show_page(context, &projects, &request, LINES_SHOWN);
    }
    let (words, folder) = (args.words.join(" "), args.project.as_deref());
    list_or_search(context, &words, folder, args.all_projects, args.limit)
}

/// Lists the topics that match some words; all of them without any.
pub fn list_or_search(
    context: &CommandContext,
    words: &str,
    folder: Option<&Path>,
    is_all: bool,
    limit: u32,
) -> Result<Outcome> {
    let projects = projects_in_scope(context, folder, is_all)?;
    match (words.trim().is_empty(), projects.as_slice()) {
        (true, [only]) => list_topics(context, only, limit),
        (true, several) => list_projects(context, several),
        (false, projects) => search_topics(context, projects, words, limit),
    }
}

pub fn run_file(context: &CommandContext, args: &FileArgs) -> Result<Outcome> {
    if args.path.trim().is_empty() {
        return Err(CommandError::bad_input("the path of the file is empty").into());
    }
    let projects = projects_in_scope(context, args.project.as_deref(), false)?;
    let request = v1::GetTopicPageRequest { path: args.path.clone(), ..Default::default() };
    show_page(context, &projects, &request, args.limit as usize)
}

/// Whether a text has the form of an id, be it of a topic that does not exist: `error:1a2b3c4d`, not
/// `error: mismatched types`.
fn is_topic_id(text: &str) -> bool {
    text.trim().split_once(':').is_some_and(|(kind, name)| {
        kind.parse::<TopicKind>().is_ok() && !name.starts_with(char::is_whitespace)
    })
}

/// The id of a topic. Words that are no id name the topic that matches them best, as a search does.
fn find_topic_id(context: &CommandContext, projects: &[String], typed: &str) -> Result<String> {
    if is_topic_id(typed) {
        return Ok(typed.to_owned());
    }
    let request = v1::GetTopicPageRequest { id: typed.to_owned(), ..Default::default() };
    for project in projects {
        if load_page(context, project, &request)?.is_ok() {
            return Ok(typed.to_owned());
        }
    }
    let mut found = Vec::new();
    for project in projects {
        let (project, query) = (project.clone(), typed.to_owned());
        let request = v1::GetTopicsByQueryRequest { project, query, limit: 1 };
        let search = async |client: &Client| client.get_topics_by_query(request.clone()).await;
        found.extend(context.connector.call_blocking(search)?);
    }
    match found.as_slice() {
        [only] => Ok(only.id.clone()),
        _ => complete_group_id(context, projects, typed),
    }
}

/// Completes the beginning of the id of a group of work, as lists print it.
fn complete_group_id(context: &CommandContext, projects: &[String], typed: &str) -> Result<String> {
    if !typed.starts_with(GROUP_PREFIX) || typed.len() <= GROUP_PREFIX.len() {
        return Ok(typed.to_owned());
    }
    let mut ids = Vec::new();
    for project in projects {
        let request = v1::GetTopTopicsRequest {
            project: project.clone(),
            kind: "group".to_owned(),
            limit: GROUPS_SEARCHED_MAX,
        };
        let top = async |client: &Client| client.get_top_topics(request.clone()).await;
        let groups = context.connector.call_blocking(top)?;
        let like = groups.into_iter().map(|topic| topic.id).filter(|id| id.starts_with(typed));
        ids.extend(like);
    }
    ids.sort();
    ids.dedup();
    match ids.as_slice() {
        [] => Ok(typed.to_owned()),
        [only] => Ok(only.clone()),
        several => {
            let shown: Vec<String> = several.iter().take(LINES_SHOWN).cloned().collect();
            let message = format!("{} matches {} topics", one_line(typed, 60), several.len());
            let hint = format!("type more of the id: {}", shown.join(", "));
            Err(CommandError::bad_input(message).with_hint(hint).into())
        }
    }
}

/// Loads a page from one project. A path from outside the project is relative to its root. `None` if
/// the project has no such topic or file, with the reason.
pub fn load_page(
    context: &CommandContext,
    project: &str,
    request: &v1::GetTopicPageRequest,
) -> Result<Result<v1::GetTopicPageResponse, String>> {
    let cwd = std::env::current_dir()?.to_string_lossy().into_owned();
    let is_inside = Path::new(&cwd).starts_with(project);
    let request = v1::GetTopicPageRequest {
        cwd: if is_inside { cwd } else { project.to_owned() },
        project: project.to_owned(),
        ..request.clone()
    };
    let get = async |client: &Client| client.get_topic_page(request.clone()).await;
    match context.connector.call_blocking(get) {
        Err(ConnectError::Client(ClientError::NotFound(message))) => Ok(Err(message)),
        page => Ok(Ok(page?)),
    }
}

fn search_topics(
    context: &CommandContext,
    projects: &[String],
    words: &str,
    limit: u32,
) -> Result<Outcome> {
    let mut by_project: Vec<(&String, Vec<v1::Topic>)> = Vec::new();
    for project in projects {
        let (project_root, query) = (project.clone(), words.to_owned());
        let request = v1::GetTopicsByQueryRequest { project: project_root, query, limit };
        let search = async |client: &Client| client.get_topics_by_query(request.clone()).await;
        let topics = context.connector.call_blocking(search)?;
        if !topics.is_empty() {
            by_project.push((project, topics));
        }
    }
    if context.json {
        let all = by_project.iter().flat_map(|(_, topics)| topics);
        all.into_iter().try_for_each(|topic| context.print_json(&topic_json(topic)))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    if by_project.is_empty() {
        let words = one_line(words, 60);
        writeln!(out, "no topic matches {words:?}; search all texts: tome recall {words:?}")?;
        return Ok(Outcome::Done);
    }
    let screen = Screen::new(context);
    for (i, (project, topics)) in by_project.iter().enumerate() {
        if projects.len() > 1 {
            let gap = if i > 0 { "\n" } else { "" };
            writeln!(out, "{gap}{BOLD}{}{RESET}", screen.projects.name(project))?;
        }
        print_topics(&mut out, &screen, topics)?;
    }
    if let Some((project, topics)) = by_project.first() {
        print_hint(&mut out, &screen, project, topics)?;
    }
    Ok(Outcome::Done)
}

struct ProjectTopics {
    status: v1::GetTopicGraphStatusResponse,
    groups: Vec<v1::Topic>,
    named: Vec<(&'static str, Vec<v1::Topic>)>,
}

fn load_topics(
    context: &CommandContext,
    project: &str,
    limits: (u32, u32),
) -> Result<ProjectTopics> {
    let top = |kind: &str, limit: u32| v1::GetTopTopicsRequest {
        project: project.to_owned(),
        kind: kind.to_owned(),
        limit,
    };
    let load = async |client: &Client| {
        let request = v1::GetTopicGraphStatusRequest { project: project.to_owned() };
        let status = client.get_topic_graph_status(request).await?;
        let groups = client.get_top_topics(top("group", limits.0)).await?;
        let mut named = Vec::new();
        for kind in NAMED_KINDS {
            named.push((kind, client.get_top_topics(top(kind, limits.1)).await?));
        }
        Ok(ProjectTopics { status, groups, named })
    };
    Ok(context.connector.call_blocking(load)?)
}

fn list_topics(context: &CommandContext, project: &str, limit: u32) -> Result<Outcome> {
    let mut topics = load_topics(context, project, (limit, NAMED_SHOWN))?;
    if context.json {
        return print_all_json(context, project, &topics);
    }
    let screen = Screen::new(context);
    let mut out = tome_terminal::stdout().lock();
    if topics.status.segments == 0 {
        let text = "no topics yet: nothing has been recorded for this project";
        writeln!(tome_terminal::stderr(), "{text}")?;
        return Ok(Outcome::Done);
    }
    print_project(&mut out, &screen, project, &topics.status)?;
    // With few sessions the files say more, so that they come first.
    let has_many = topics.status.sessions >= GROUPED_SESSIONS_MIN;
    if has_many {
        print_groups(&mut out, &screen, &topics)?;
    }
    for (kind, topics) in &mut topics.named {
        // Met once, an error or a command is no subject of its own.
        topics.retain(|topic| topic.segments > 1 || !matches!(*kind, "error" | "command"));
        print_named(&mut out, &screen, kind, topics)?;
    }
    if !has_many {
        print_groups(&mut out, &screen, &topics)?;
    }
    let has_files = topics.named.iter().any(|(kind, files)| *kind == "file" && !files.is_empty());
    if topics.groups.is_empty() && has_files {
        let hint = format!("Open a file: tome file <path>{}", screen.projects.flag(project));
        writeln!(out)?;
        print_styled(&mut out, DIM, 0, &hint, screen.prose_width())?;
    }
    print_hint(&mut out, &screen, project, &topics.groups)?;
    Ok(Outcome::Done)
}

/// Prints the groups of work of a project.
fn print_groups(
    out: &mut dyn Write,
    screen: &Screen,
    topics: &ProjectTopics,
) -> std::io::Result<()> {
    if topics.groups.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}Topics{RESET}")?;
    print_topics(out, screen, &topics.groups)?;
    print_ungrouped(out, screen, &topics.status)?;
    match topics.status.groups.saturating_sub(topics.groups.len() as u64) {
        0 => {}
        hidden => writeln!(out, "{DIM}{hidden} more: -n N{RESET}")?,
    }
    Ok(())
}

/// Says how much of the work is in no topic of several segments.
fn print_ungrouped(
    out: &mut dyn Write,
    screen: &Screen,
    status: &v1::GetTopicGraphStatusResponse,
) -> std::io::Result<()> {
    if status.ungrouped == 0 || status.groups == 0 {
        return Ok(());
    }
    let segments = status.segments.max(1);
    let percent = (status.ungrouped * 100 + segments / 2) / segments;
    let all = format_counted(status.segments, "segment", "segments");
    let text = format!("{} of {all} of work ({percent} %) are in no topic", status.ungrouped);
    print_styled(out, DIM, 0, &text, screen.prose_width())
}

fn print_all_json(
    context: &CommandContext,
    project: &str,
    topics: &ProjectTopics,
) -> Result<Outcome> {
    let named = topics.named.iter().flat_map(|(_, topics)| topics);
    let mut all = topics.groups.iter().chain(named);
    all.try_for_each(|topic| context.print_json(&topic_json(topic)))?;
    context.print_json(&status_json(project, &topics.status))?;
    Ok(Outcome::Done)
}

/// Lists the main topics of several projects.
fn list_projects(context: &CommandContext, projects: &[String]) -> Result<Outcome> {
    let screen = Screen::new(context);
    let mut out = tome_terminal::stdout().lock();
    let mut all = Vec::new();
    for project in projects {
        let topics = load_topics(context, project, (PROJECT_TOPICS_SHOWN, PROJECT_TOPICS_SHOWN))?;
        if topics.status.segments > 0 {
            all.push((project, topics));
        }
    }
    all.sort_by_key(|(_, topics)| std::cmp::Reverse(topics.status.last_at_ms));
    if context.json {
        all.iter().try_for_each(|(project, topics)| {
            print_all_json(context, project, topics).map(|_| ())
        })?;
        return Ok(Outcome::Done);
    }
    for (i, (project, topics)) in all.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        print_project(&mut out, &screen, project, &topics.status)?;
        if topics.status.sessions >= GROUPED_SESSIONS_MIN {
            print_topics(&mut out, &screen, &topics.groups)?;
            continue;
        }
        for (_, files) in topics.named.iter().filter(|(kind, _)| *kind == "file") {
            files.iter().try_for_each(|file| print_label(&mut out, &screen, file))?;
        }
    }
    match all.first() {
        None => writeln!(tome_terminal::stderr(), "no topics yet: nothing has been recorded")?,
        Some((project, _)) => {
            let name = screen.projects.argument(project);
            writeln!(out, "\n{DIM}More of one: tome topics --project {name}{RESET}")?;
        }
    }
    Ok(Outcome::Done)
}

fn print_project(
    out: &mut dyn Write,
    screen: &Screen,
    project: &str,
    status: &v1::GetTopicGraphStatusResponse,
) -> std::io::Result<()> {
    let span = format_days(screen, status.first_at_ms, status.last_at_ms);
    let sessions = format_counted(status.sessions, "session", "sessions");
    let about = format!("{sessions} · {span}");
    let room = screen.prose_width().saturating_sub(display_width(&about) + 2).max(20);
    let name = truncate_start(&screen.projects.name(project), room);
    writeln!(out, "{BOLD}{name}{RESET}  {DIM}{about}{RESET}")
}

fn format_days(screen: &Screen, first_ms: u64, last_ms: u64) -> String {
    let day = |at_ms| screen.labels.format_day(screen.now, at_ms);
    let (first, last) = (day(first_ms), day(last_ms));
    if first == last { first } else { format!("{first} – {last}") }
}

fn print_hint(
    out: &mut dyn Write,
    screen: &Screen,
    project: &str,
    found: &[v1::Topic],
) -> std::io::Result<()> {
    let Some(first) = found.first() else { return Ok(()) };
    let id = one_line(&first.id, 80);
    let id = if id.contains(' ') { format!("'{id}'") } else { id };
    let flag = screen.projects.flag(project);
    let hint = format!("Open one: tome topics show {id}{flag} · a file: tome file <path>");
    writeln!(out)?;
    print_styled(out, DIM, 0, &hint, screen.prose_width())
}

/// When a topic was worked on: the number of days if there are several, and the last one.
fn format_when(screen: &Screen, topic: &v1::Topic) -> String {
    let last = screen.labels.format_day(screen.now, topic.last_at_ms);
    match topic.days {
        0 | 1 => last,
        days => format!("on {}, last {last}", format_counted(days, "day", "days")),
    }
}

/// Prints topics, each on a line or two: id and label, then days and title.
fn print_topics(out: &mut dyn Write, screen: &Screen, topics: &[v1::Topic]) -> std::io::Result<()> {
    let width = screen.prose_width();
    for topic in topics {
        let when = format_when(screen, topic);
        let (head, rest) = match topic.kind.as_str() {
            "group" => (topic.label.as_str(), topic.title.as_str()),
            "error" => (topic.label.as_str(), ""),
            _ => ("", ""),
        };
        let room = width.saturating_sub(display_width(&when) + 2).max(20);
        let id = truncate_end(&one_line(&topic.id, 200), room);
        let line = truncate_end(one_line(format!("{id}  {head}").trim_end(), 400).as_str(), room);
        let gap = room.saturating_sub(display_width(&line)) + 2;
        let name = line.strip_prefix(&id).unwrap_or_default();
        writeln!(
            out,
            "{GREEN}{id}{RESET}{BOLD}{name}{RESET}{}{DIM}{when}{RESET}",
            " ".repeat(gap)
        )?;
        let is_repeated = rest == head && line.ends_with(head);
        if !rest.is_empty() && !is_repeated {
            let rest = truncate_end(&one_line(rest, 400), width.saturating_sub(9));
            writeln!(out, "         {rest}")?;
        }
    }
    Ok(())
}

fn print_named(
    out: &mut dyn Write,
    screen: &Screen,
    kind: &str,
    topics: &[v1::Topic],
) -> std::io::Result<()> {
    if topics.is_empty() {
        return Ok(());
    }
    let heading = match kind {
        "file" => "Files",
        "branch" => "Branches",
        "issue" => "Issues",
        "error" => "Errors",
        "command" => "Commands",
        _ => "Packages",
    };
    writeln!(out, "\n{BOLD}{heading}{RESET}")?;
    topics.iter().try_for_each(|topic| print_label(out, screen, topic))
}

fn print_label(out: &mut dyn Write, screen: &Screen, topic: &v1::Topic) -> std::io::Result<()> {
    let days = format_when(screen, topic);
    let id = if topic.kind == "error" {
        format!("  {}", one_line(&topic.id, 40))
    } else {
        String::new()
    };
    let taken = 4 + display_width(&days) + display_width(&id);
    let room = screen.prose_width().saturating_sub(taken).max(20);
    let label = truncate_end(&one_line(&topic.label, 200), room);
    writeln!(out, "  {label}  {DIM}{days}{id}{RESET}")
}

/// Shows the page of a topic of the one project that has it, or those of a file of all that do.
fn show_page(
    context: &CommandContext,
    projects: &[String],
    request: &v1::GetTopicPageRequest,
    limit: usize,
) -> Result<Outcome> {
    let (mut pages, mut reason) = (Vec::new(), None);
    let shown = u32::try_from(limit).unwrap_or(u32::MAX).max(1);
    let limit_sent = if context.json { u32::MAX } else { shown };
    let request = &v1::GetTopicPageRequest { limit: limit_sent, ..request.clone() };
    for project in projects {
        match load_page(context, project, request)? {
            Ok(page) => pages.push((project, page)),
            // With several projects, the message of a single one is of little use.
            Err(message) => reason = Some(message),
        }
    }
    // A file that was changed in one project may have been read in others.
    if pages.iter().any(|(_, page)| page.only_read == 0) {
        pages.retain(|(_, page)| page.only_read == 0);
    }
    let what = if request.path.is_empty() { &request.id } else { &request.path };
    let what = one_line(what, 100);
    match pages.as_slice() {
        [] if projects.len() > 1 => return Err(not_found(format!("no project has {what}"))),
        [] => return Err(not_found(reason.unwrap_or_default())),
        // A path is in every project that has such a file; an id is meant to be of one.
        [_, _, ..] if request.path.is_empty() => {
            let roots: Vec<&str> = pages.iter().map(|(project, _)| project.as_str()).collect();
            return Err(refuse_several(&ProjectNames::load(context), &what, &roots).into());
        }
        _ => {}
    }
    let screen = Screen::new(context);
    let mut out = tome_terminal::stdout().lock();
    for (i, (project, page)) in pages.iter().enumerate() {
        if context.json {
            context.print_json(&page_json(page))?;
            continue;
        }
        if i > 0 {
            writeln!(out)?;
        }
        if page.only_read > 0 {
            let reads = format_counted(page.only_read, "segment", "segments");
            let text = format!("{what} was read in {reads} of work, but no edit of it is recorded");
            print_styled(&mut out, "", 0, &text, screen.prose_width())?;
            continue;
        }
        PagePrinter { out: &mut out, screen: &screen, project, limit }.print(page)?;
    }
    Ok(Outcome::Done)
}

/// The error for a topic or file that does not exist.
fn not_found(message: String) -> anyhow::Error {
    CommandError::not_found(message)
        .with_hint("`tome topics <words>` finds topics and files by words")
        .into()
}
