//! `tome session`: lists sessions, or shows the page of one.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_model::Millis;
use tome_proto::v1;

use super::events::resolve_project;
use super::toc::{TimeLabels, warn_skipped};
use super::{CommandContext, Outcome};
use crate::cli::contents::SessionArgs;
use crate::connect::StartPolicy;
use tome_terminal::{
    BOLD, DIM, GREEN, RESET, YELLOW, format_counted, one_line, print_table, terminal_width,
    wrap_lines,
};

/// Characters of a session's id in a list; enough to tell sessions apart.
const ID_CHARS: usize = 8;
/// Files listed on a page.
const FILES_SHOWN: usize = 12;
/// A line of prose is not wider than this.
const WIDTH_MAX: usize = 100;

pub fn run(context: &CommandContext, args: &SessionArgs) -> Result<Outcome> {
    let project = match args.all_projects {
        true => String::new(),
        false => resolve_project(context, args.project.as_deref())?.unwrap_or_default(),
    };
    match &args.id {
        Some(id) => show_session(context, id, args.project.as_ref().map_or("", |_| &project)),
        None => list_sessions(context, args, project),
    }
}

fn list_sessions(context: &CommandContext, args: &SessionArgs, project: String) -> Result<Outcome> {
    let request = v1::ListSessionsRequest { project, limit: args.limit };
    let found = context.block_on(async {
        let call = context.connector.call_idempotent(StartPolicy::IfNotRunning, async |client| {
            client.list_sessions(request.clone()).await
        });
        Ok(call.await?)
    })?;
    warn_skipped(&found.skipped)?;
    if context.json {
        found.sessions.iter().try_for_each(|session| context.print_json(&session_json(session)))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    if found.sessions.is_empty() {
        writeln!(out, "no sessions yet")?;
        return Ok(Outcome::Done);
    }
    let labels = TimeLabels::from_settings(&context.settings);
    let rows: Vec<Vec<String>> = found
        .sessions
        .iter()
        .map(|session| {
            let id: String = session.id.chars().take(ID_CHARS).collect();
            let size = match session.commits {
                0 => format_counted(session.prompts, "prompt", "prompts"),
                1 => format!("{}, 1 commit", format_counted(session.prompts, "prompt", "prompts")),
                many => {
                    let prompts = format_counted(session.prompts, "prompt", "prompts");
                    format!("{prompts}, {many} commits")
                }
            };
            let when = labels.format_minute(session.last_at_ms);
            vec![id, when, session.agent.clone(), size, one_line(&session.title, 120)]
        })
        .collect();
    print_table(&mut out, &["session", "last", "agent", "size", "about"], &rows)?;
    let example: String =
        found.sessions.first().map_or("", |one| one.id.as_str()).chars().take(ID_CHARS).collect();
    writeln!(out, "\n{DIM}Open one: tome session {example}{RESET}")?;
    Ok(Outcome::Done)
}

fn show_session(context: &CommandContext, id: &str, project: &str) -> Result<Outcome> {
    let request = v1::GetSessionRequest { project: project.to_owned(), id: id.to_owned() };
    let page = context.block_on(async {
        let call = context.connector.call_idempotent(StartPolicy::IfNotRunning, async |client| {
            client.get_session(request.clone()).await
        });
        Ok(call.await?)
    })?;
    if context.json {
        context.print_json(&page_json(&page))?;
        return Ok(Outcome::Done);
    }
    let labels = TimeLabels::from_settings(&context.settings);
    print_page(&mut tome_terminal::stdout().lock(), &labels, &page)?;
    Ok(Outcome::Done)
}

fn print_page(
    out: &mut dyn Write,
    labels: &TimeLabels,
    page: &v1::GetSessionResponse,
) -> std::io::Result<()> {
    let session = page.session.clone().unwrap_or_default();
    writeln!(out, "{BOLD}{}{RESET}", one_line(&session.title, 200))?;
    let span = labels.format_span(session.first_at_ms, session.last_at_ms);
    let on = match session.branch.as_str() {
        "" => String::new(),
        branch => format!(" · on {}", one_line(branch, 80)),
    };
    writeln!(out, "{} · {span}{on}", session.agent)?;
    let prompts = format_counted(session.prompts, "prompt", "prompts");
    let events = format_counted(session.events, "event", "events");
    writeln!(out, "{DIM}{prompts}, {events} · {}{RESET}", session.project)?;
    if !session.resume.is_empty() {
        writeln!(out, "{DIM}continue it: {}{RESET}", session.resume)?;
    }
    if page.truncated {
        writeln!(out, "{YELLOW}a very long session: its beginning is left out{RESET}")?;
    }
    let width = terminal_width().min(WIDTH_MAX);
    writeln!(out)?;
    for (place, turn) in page.turns.iter().enumerate() {
        print_turn(out, labels, place + 1, turn, width)?;
    }
    for (kind, heading) in [
        ("commit", "Commits"),
        ("pull_request", "Pull requests"),
        ("decision", "Decisions"),
        ("correction", "Corrections by the user"),
        ("convention", "Rules of the user"),
        ("problem", "Problems"),
        ("check", "Passed"),
        ("open", "Open"),
    ] {
        let facts: Vec<&v1::SessionFact> =
            page.facts.iter().filter(|fact| fact.kind == kind).collect();
        if !facts.is_empty() {
            writeln!(out, "\n{BOLD}{heading}{RESET}")?;
        }
        for fact in facts {
            print_hanging(out, "  • ", "    ", &fact.text, width)?;
        }
    }
    if !page.files.is_empty() {
        writeln!(out, "\n{BOLD}Files{RESET}")?;
    }
    for file in page.files.iter().take(FILES_SHOWN) {
        let edits = match file.edits {
            1 => file.action.clone(),
            many => format!("{}, {many} edits", file.action),
        };
        let path = file.path.strip_prefix(&format!("{}/", session.project)).unwrap_or(&file.path);
        writeln!(out, "  {}  {DIM}{edits}{RESET}", one_line(path, 160))?;
    }
    match page.files.len().saturating_sub(FILES_SHOWN) {
        0 => Ok(()),
        hidden => writeln!(out, "  {DIM}… {hidden} more; --json lists all{RESET}"),
    }
}

fn print_turn(
    out: &mut dyn Write,
    labels: &TimeLabels,
    number: usize,
    turn: &v1::SessionTurn,
    width: usize,
) -> std::io::Result<()> {
    let hour = labels.format_hour(turn.at_ms);
    let prompt = if turn.prompt.is_empty() { "(no prompt)" } else { &turn.prompt };
    print_hanging(out, &format!("{number:>3}  {hour}  "), "            ", prompt, width)?;
    if turn.interrupted {
        writeln!(out, "            {YELLOW}stopped by the user{RESET}")?;
    }
    if !turn.conclusion.is_empty() {
        let first = format!("          {GREEN}→{RESET} ");
        print_hanging(out, &first, "            ", &turn.conclusion, width)?;
    }
    Ok(())
}

/// Prints a text with a mark before its first line and spaces before the others.
fn print_hanging(
    out: &mut dyn Write,
    first: &str,
    rest: &str,
    text: &str,
    width: usize,
) -> std::io::Result<()> {
    let room = width.saturating_sub(rest.chars().count()).max(20);
    for (place, line) in wrap_lines(&one_line(text, 1_000), room).iter().enumerate() {
        writeln!(out, "{}{line}", if place == 0 { first } else { rest })?;
    }
    Ok(())
}

fn session_json(session: &v1::Session) -> Value {
    json!({
        "session_id": session.id, "agent": session.agent, "project": session.project,
        "title": session.title, "branch": session.branch,
        "first_at": Millis(session.first_at_ms), "last_at": Millis(session.last_at_ms),
        "events": session.events, "prompts": session.prompts, "commits": session.commits,
        "resume": session.resume,
    })
}

fn page_json(page: &v1::GetSessionResponse) -> Value {
    let turns: Vec<Value> = page
        .turns
        .iter()
        .map(|turn| {
            json!({
                "at": Millis(turn.at_ms), "prompt": turn.prompt, "prompt_event": turn.prompt_event,
                "conclusion": turn.conclusion, "answer_event": turn.answer_event,
                "events": turn.events, "changed_files": turn.changed_files,
                "commits": turn.commits, "interrupted": turn.interrupted,
            })
        })
        .collect();
    let facts: Vec<Value> = page
        .facts
        .iter()
        .map(|fact| json!({"kind": fact.kind, "text": fact.text, "event": fact.event}))
        .collect();
    let files: Vec<Value> = page
        .files
        .iter()
        .map(|file| json!({"path": file.path, "action": file.action, "edits": file.edits}))
        .collect();
    let session = page.session.as_ref().map(session_json);
    json!({
        "session": session, "turns": turns, "facts": facts, "files": files,
        "truncated": page.truncated,
    })
}
