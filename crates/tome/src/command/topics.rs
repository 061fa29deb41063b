//! `tome topics` and `tome file`: what a project has been about, and the pages of topics and files.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use tome_model::{Clock, Millis, SystemClock};
use tome_proto::{ClientError, v1};
use tome_terminal::{
    BOLD, CommandError, DIM, GREEN, RESET, YELLOW, format_counted, one_line, terminal_width,
    wrap_lines,
};

use super::events::resolve_project;
use super::toc::TimeLabels;
use super::{CommandContext, Outcome};
use crate::cli::topics::{FileArgs, TopicsArgs, TopicsCommand};
use crate::connect::{ConnectError, StartPolicy};

/// A line of prose is not wider than this.
const WIDTH_MAX: usize = 100;
/// Named topics of one kind in the list of all topics.
const NAMED_SHOWN: u32 = 5;
/// Sessions, files and commits on a page.
const LINES_SHOWN: usize = 8;

pub fn run(context: &CommandContext, args: &TopicsArgs) -> Result<Outcome> {
    if let Some(TopicsCommand::Show(show)) = &args.command {
        let project = require_project(context, show.project.as_deref())?;
        let request =
            v1::GetTopicPageRequest { project, id: show.id.clone(), ..Default::default() };
        return show_page(context, &request, LINES_SHOWN);
    }
    list_or_search(context, &args.words.join(" "), args.project.as_deref(), args.limit)
}

/// Lists the topics that match some words; all of them without any.
pub fn list_or_search(
    context: &CommandContext,
    words: &str,
    folder: Option<&Path>,
    limit: u32,
) -> Result<Outcome> {
    let project = require_project(context, folder)?;
    match words.trim().is_empty() {
        true => list_topics(context, &project, limit),
        false => search_topics(context, &project, words, limit),
    }
}

pub fn run_file(context: &CommandContext, args: &FileArgs) -> Result<Outcome> {
    let project = require_project(context, args.project.as_deref())?;
    let cwd = std::env::current_dir()?.to_string_lossy().into_owned();
    // From outside the project, a path is relative to its root.
    let is_inside = Path::new(&cwd).starts_with(&project);
    let request = v1::GetTopicPageRequest {
        cwd: if is_inside { cwd } else { project.clone() },
        project,
        path: args.path.clone(),
        ..Default::default()
    };
    show_page(context, &request, args.limit as usize)
}

fn require_project(context: &CommandContext, folder: Option<&Path>) -> Result<String> {
    resolve_project(context, folder)?.ok_or_else(|| {
        let problem =
            "this folder belongs to no project that Tome knows: name one with --project DIR";
        CommandError::bad_input(problem).into()
    })
}

fn search_topics(
    context: &CommandContext,
    project: &str,
    words: &str,
    limit: u32,
) -> Result<Outcome> {
    let request =
        v1::GetTopicsByQueryRequest { project: project.to_owned(), query: words.to_owned(), limit };
    let found = context.block_on(async {
        let call = context.connector.call_idempotent(StartPolicy::IfNotRunning, async |client| {
            client.get_topics_by_query(request.clone()).await
        });
        Ok(call.await?)
    })?;
    if context.json {
        found.iter().try_for_each(|topic| context.print_json(&topic_json(topic)))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    if found.is_empty() {
        let words = one_line(words, 60);
        writeln!(out, "no topic matches {words:?}; search all texts: tome recall {words:?}")?;
        return Ok(Outcome::Done);
    }
    let labels = TimeLabels::from_settings(&context.settings);
    print_topics(&mut out, &labels, &found)?;
    print_hint(&mut out, &found)?;
    Ok(Outcome::Done)
}

fn list_topics(context: &CommandContext, project: &str, limit: u32) -> Result<Outcome> {
    let top = |kind: &str, limit: u32| v1::GetTopTopicsRequest {
        project: project.to_owned(),
        kind: kind.to_owned(),
        limit,
    };
    let (status, groups, mut named) = context.block_on(async {
        let call = context.connector.call_idempotent(StartPolicy::IfNotRunning, async |client| {
            let request = v1::GetTopicGraphStatusRequest { project: project.to_owned() };
            let status = client.get_topic_graph_status(request).await?;
            let groups = client.get_top_topics(top("group", limit)).await?;
            let mut named = Vec::new();
            for kind in ["file", "branch", "issue", "error", "command", "package"] {
                named.push((kind, client.get_top_topics(top(kind, NAMED_SHOWN)).await?));
            }
            Ok((status, groups, named))
        });
        Ok(call.await?)
    })?;
    if context.json {
        let all = groups.iter().chain(named.iter().flat_map(|(_, topics)| topics));
        all.into_iter().try_for_each(|topic| context.print_json(&topic_json(topic)))?;
        return Ok(Outcome::Done);
    }
    let labels = TimeLabels::from_settings(&context.settings);
    let mut out = tome_terminal::stdout().lock();
    if status.segments == 0 {
        writeln!(out, "no topics yet: nothing has been recorded for this project")?;
        return Ok(Outcome::Done);
    }
    let span = format_days(&labels, status.first_at_ms, status.last_at_ms);
    let sessions = format_counted(status.sessions, "session", "sessions");
    writeln!(out, "{BOLD}{}{RESET}", one_line(project, 100))?;
    writeln!(out, "{DIM}{sessions} · {span}{RESET}\n")?;
    print_topics(&mut out, &labels, &groups)?;
    let hidden = status.groups.saturating_sub(groups.len() as u64);
    let alone = status.ungrouped * 100 / status.segments.max(1);
    let more = if hidden > 0 { format!("{hidden} more: -n N · ") } else { String::new() };
    writeln!(out, "{DIM}{more}{alone} % of the work is in no group{RESET}")?;
    for (kind, topics) in &mut named {
        // Met once, an error or a command is no subject of its own.
        topics.retain(|topic| topic.segments > 1 || !matches!(*kind, "error" | "command"));
        print_named(&mut out, kind, topics)?;
    }
    print_hint(&mut out, &groups)?;
    Ok(Outcome::Done)
}

fn format_day(labels: &TimeLabels, at_ms: u64) -> String {
    labels.format_day(SystemClock.now(), at_ms)
}

/// The first and the last day.
fn format_days(labels: &TimeLabels, first_ms: u64, last_ms: u64) -> String {
    let (first, last) = (format_day(labels, first_ms), format_day(labels, last_ms));
    if first == last { first } else { format!("{first} – {last}") }
}

fn print_hint(out: &mut dyn Write, found: &[v1::Topic]) -> std::io::Result<()> {
    let Some(first) = found.first() else { return Ok(()) };
    let id = one_line(&first.id, 80);
    let id = if id.contains(' ') { format!("'{id}'") } else { id };
    writeln!(out, "\n{DIM}Open one: tome topics show {id} · a file: tome file <path>{RESET}")
}

/// Prints topics, each on a line or two: id and label, then days and title.
fn print_topics(
    out: &mut dyn Write,
    labels: &TimeLabels,
    topics: &[v1::Topic],
) -> std::io::Result<()> {
    let width = terminal_width().min(WIDTH_MAX);
    for topic in topics {
        let days = format_counted(topic.days, "day", "days");
        let last = format_day(labels, topic.last_at_ms);
        let (head, rest) = match topic.kind.as_str() {
            "group" => (topic.label.as_str(), topic.title.as_str()),
            "error" => (topic.label.as_str(), ""),
            _ => ("", ""),
        };
        let id = one_line(&topic.id, width.saturating_sub(26).max(20));
        let when = format!("{days}, last {last}");
        let room = width.saturating_sub(when.chars().count() + 2);
        let line = one_line(format!("{id}  {head}").trim_end(), room);
        let gap = room.saturating_sub(line.chars().count()) + 2;
        let name = line.strip_prefix(&id).unwrap_or_default();
        writeln!(
            out,
            "{GREEN}{id}{RESET}{BOLD}{name}{RESET}{}{DIM}{when}{RESET}",
            " ".repeat(gap)
        )?;
        let is_repeated = rest == head && line.ends_with(head);
        if !rest.is_empty() && !is_repeated {
            writeln!(out, "         {}", one_line(rest, width.saturating_sub(9)))?;
        }
    }
    Ok(())
}

fn print_named(out: &mut dyn Write, kind: &str, topics: &[v1::Topic]) -> std::io::Result<()> {
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
    let width = terminal_width().min(WIDTH_MAX);
    writeln!(out, "\n{BOLD}{heading}{RESET}")?;
    for topic in topics {
        let days = format_counted(topic.days, "day", "days");
        let id =
            if kind == "error" { format!("  {DIM}{}{RESET}", topic.id) } else { String::new() };
        let taken = if kind == "error" { 30 } else { 14 };
        let label = one_line(&topic.label, width.saturating_sub(taken).max(20));
        writeln!(out, "  {label}  {DIM}{days}{RESET}{id}")?;
    }
    Ok(())
}

fn show_page(
    context: &CommandContext,
    request: &v1::GetTopicPageRequest,
    limit: usize,
) -> Result<Outcome> {
    let page = context.block_on(async {
        let call = context.connector.call_idempotent(StartPolicy::IfNotRunning, async |client| {
            client.get_topic_page(request.clone()).await
        });
        match call.await {
            Err(ConnectError::Client(ClientError::NotFound(said))) => Err(not_found(said)),
            page => Ok(page?),
        }
    })?;
    if context.json {
        context.print_json(&page_json(&page))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    if page.only_read > 0 {
        let reads = format_counted(page.only_read, "segment", "segments");
        let path = one_line(&request.path, 100);
        writeln!(out, "{path} was read in {reads} of work, but no session changed it")?;
        return Ok(Outcome::Done);
    }
    let labels = TimeLabels::from_settings(&context.settings);
    PagePrinter { out: &mut out, labels: &labels, limit, width: terminal_width().min(WIDTH_MAX) }
        .print(&page)?;
    Ok(Outcome::Done)
}

/// The error for a topic or file that does not exist.
fn not_found(said: String) -> anyhow::Error {
    CommandError::not_found(said)
        .with_hint("`tome topics <words>` finds topics and files by words")
        .into()
}

struct PagePrinter<'a> {
    out: &'a mut dyn Write,
    labels: &'a TimeLabels,
    limit: usize,
    width: usize,
}

impl PagePrinter<'_> {
    fn print(&mut self, page: &v1::GetTopicPageResponse) -> std::io::Result<()> {
        self.print_head(page)?;
        self.print_facts("Decided", &page.decisions)?;
        self.print_problems(&page.problems)?;
        self.print_entries(page)?;
        self.print_facts("Found out", &page.statements)?;
        let commits = page.commits.iter().take(LINES_SHOWN).cloned().collect::<Vec<_>>();
        let heading = if page.entries.is_empty() { "Commits" } else { "Commits in the same turns" };
        self.print_facts(heading, &commits)?;
        if !page.files.is_empty() {
            writeln!(self.out, "\n{BOLD}Files{RESET}")?;
        }
        for file in page.files.iter().take(LINES_SHOWN) {
            let path = one_line(&file.path, self.width.saturating_sub(4));
            writeln!(self.out, "  {path}")?;
        }
        self.print_hidden(page.files.len().saturating_sub(LINES_SHOWN))?;
        if !page.related.is_empty() {
            writeln!(self.out, "\n{BOLD}Related{RESET}")?;
        }
        for related in &page.related {
            let topic = related.topic.clone().unwrap_or_default();
            let name = match topic.kind.as_str() {
                "group" => format!("{}  {}", topic.id, topic.label),
                _ => topic.label,
            };
            let room = self.width.saturating_sub(related.reason.chars().count() + 5);
            let name = one_line(&name, room.max(20));
            writeln!(self.out, "  {name}  {DIM}{}{RESET}", related.reason)?;
        }
        let example = page.entries.first().map(|entry| entry.number);
        let example = example.or(page.sessions.first().map(|session| session.number));
        match example {
            Some(number) => writeln!(self.out, "\n{DIM}Open a number: tome show {number}{RESET}"),
            None => Ok(()),
        }
    }

    fn print_head(&mut self, page: &v1::GetTopicPageResponse) -> std::io::Result<()> {
        let topic = page.topic.clone().unwrap_or_default();
        writeln!(self.out, "{BOLD}{}{RESET}", one_line(&topic.label, 200))?;
        if !topic.title.is_empty() && topic.title != topic.label {
            writeln!(self.out, "{}", one_line(&topic.title, 200))?;
        }
        if !page.forwarded_from.is_empty() {
            let (from, to) = (one_line(&page.forwarded_from, 80), one_line(&topic.id, 80));
            let to = to.strip_prefix("file:").unwrap_or(&to);
            writeln!(self.out, "{YELLOW}{from} is {to} now{RESET}")?;
        }
        if !page.former_names.is_empty() {
            let names = page.former_names.join(", ");
            writeln!(self.out, "{DIM}formerly {}{RESET}", one_line(&names, 200))?;
        }
        let days = format_counted(topic.days, "day", "days");
        let sessions = format_counted(topic.sessions, "session", "sessions");
        let span = format_days(self.labels, topic.first_at_ms, topic.last_at_ms);
        let agents = topic.agents.join(", ");
        writeln!(self.out, "{DIM}{days}, {sessions} · {span} · {agents}{RESET}")?;
        if page.weeks.len() > 1 {
            let bars = sparkline(&page.weeks);
            writeln!(self.out, "{DIM}by week {bars}{RESET}")?;
        }
        Ok(())
    }

    fn print_entries(&mut self, page: &v1::GetTopicPageResponse) -> std::io::Result<()> {
        if page.entries.is_empty() {
            writeln!(self.out, "\n{BOLD}Sessions{RESET}")?;
            for session in page.sessions.iter().take(LINES_SHOWN) {
                let id: String = session.id.chars().take(8).collect();
                let day = format_day(self.labels, session.last_at_ms);
                let head = format!("{day} · {} {id}", session.agent);
                self.print_cited(&head, &session.title, session.number)?;
            }
            return self.print_hidden(page.sessions.len().saturating_sub(LINES_SHOWN));
        }
        let is_file = page.topic.as_ref().is_some_and(|topic| topic.kind == "file");
        writeln!(self.out, "\n{BOLD}{}{RESET}", if is_file { "Changes" } else { "Turns" })?;
        for entry in page.entries.iter().take(self.limit) {
            let id: String = entry.session.chars().take(8).collect();
            let day = format_day(self.labels, entry.at_ms);
            let mut head = format!("{day} · {} {id}", entry.agent);
            if !entry.detail.is_empty() {
                head = format!("{head} · {}", entry.detail);
            }
            self.print_cited(&head, &entry.why, entry.number)?;
        }
        let shown = page.entries.len().min(self.limit) as u64;
        self.print_hidden(usize::try_from(page.entries_total.saturating_sub(shown)).unwrap_or(0))
    }

    fn print_hidden(&mut self, hidden: usize) -> std::io::Result<()> {
        match hidden {
            0 => Ok(()),
            hidden => writeln!(self.out, "  {DIM}… {hidden} more; --json lists them{RESET}"),
        }
    }

    /// A line of who and when, and below it a text with its citation.
    fn print_cited(&mut self, head: &str, text: &str, number: u64) -> std::io::Result<()> {
        writeln!(self.out, "  {DIM}{}{RESET}", one_line(head, self.width.saturating_sub(2)))?;
        self.print_text("    ", text, number)
    }

    fn print_text(&mut self, indent: &str, text: &str, number: u64) -> std::io::Result<()> {
        let room = self.width.saturating_sub(indent.chars().count()).max(20);
        let lines = wrap_lines(&format!("{} #{number}", one_line(text, 400)), room);
        for (place, line) in lines.iter().enumerate() {
            let first = if place == 0 { indent } else { "    " };
            writeln!(self.out, "{first}{line}")?;
        }
        Ok(())
    }

    fn print_facts(&mut self, heading: &str, facts: &[v1::TopicFact]) -> std::io::Result<()> {
        if facts.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n{BOLD}{heading}{RESET}")?;
        facts.iter().try_for_each(|fact| self.print_text("  • ", &fact.text, fact.number))
    }

    fn print_problems(&mut self, problems: &[v1::TopicFact]) -> std::io::Result<()> {
        if problems.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n{BOLD}Problems{RESET}")?;
        for problem in problems {
            let text = match problem.state.as_str() {
                "fixed" => problem.text.clone(),
                "open" => format!("{} — not seen to pass since", problem.text),
                _ => format!(
                    "{} — the command passed later, #{}",
                    problem.text, problem.passed_number
                ),
            };
            self.print_text("  • ", &text, problem.number)?;
        }
        Ok(())
    }
}

/// Bars for the activity of each week, from a space to a full block.
fn sparkline(weeks: &[v1::TopicWeek]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = weeks.iter().map(|week| week.segments).max().unwrap_or(1).max(1);
    let bar = |segments: u64| {
        let height = (segments * 8).div_ceil(most).saturating_sub(1);
        usize::try_from(height).ok().and_then(|height| BARS.get(height)).copied().unwrap_or('█')
    };
    weeks.iter().map(|week| if week.segments == 0 { '·' } else { bar(week.segments) }).collect()
}

fn topic_json(topic: &v1::Topic) -> Value {
    json!({
        "id": topic.id, "kind": topic.kind, "label": topic.label, "title": topic.title,
        "days": topic.days, "first_day": topic.first_day, "last_day": topic.last_day,
        "first_at": Millis(topic.first_at_ms), "last_at": Millis(topic.last_at_ms),
        "segments": topic.segments, "sessions": topic.sessions, "agents": topic.agents,
    })
}

fn page_json(page: &v1::GetTopicPageResponse) -> Value {
    let facts = |facts: &[v1::TopicFact]| -> Vec<Value> {
        let facts = facts.iter().map(|fact| {
            let mut shown = json!({
                "kind": fact.kind, "text": fact.text, "at": Millis(fact.at_ms),
                "event_number": fact.number,
            });
            if let (false, Some(map)) = (fact.state.is_empty(), shown.as_object_mut()) {
                map.insert("state".to_owned(), fact.state.clone().into());
            }
            shown
        });
        facts.collect()
    };
    let entries: Vec<Value> = page
        .entries
        .iter()
        .map(|entry| {
            json!({
                "at": Millis(entry.at_ms), "agent": entry.agent, "session_id": entry.session,
                "why": entry.why, "detail": entry.detail, "event_number": entry.number,
            })
        })
        .collect();
    let sessions: Vec<Value> = page
        .sessions
        .iter()
        .map(|session| {
            json!({
                "session_id": session.id, "agent": session.agent,
                "last_at": Millis(session.last_at_ms), "title": session.title,
                "segments": session.segments, "event_number": session.number,
            })
        })
        .collect();
    let related: Vec<Value> = page
        .related
        .iter()
        .map(|related| {
            let topic = related.topic.clone().unwrap_or_default();
            json!({"id": topic.id, "label": topic.label, "reason": related.reason})
        })
        .collect();
    let weeks: Vec<Value> = page
        .weeks
        .iter()
        .map(|week| json!({"monday": week.monday, "segments": week.segments}))
        .collect();
    let files: Vec<Value> = page
        .files
        .iter()
        .map(|file| json!({"path": file.path, "segments": file.segments}))
        .collect();
    json!({
        "topic": page.topic.as_ref().map(topic_json), "forwarded_from": page.forwarded_from,
        "former_names": page.former_names, "weeks": weeks, "entries": entries,
        "entries_total": page.entries_total, "sessions": sessions, "commits": facts(&page.commits),
        "files": files, "decisions": facts(&page.decisions), "problems": facts(&page.problems),
        "statements": facts(&page.statements), "related": related, "only_read": page.only_read,
    })
}
