//! Opens a citation and prints the cited event or lines.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_home::Projects;
use tome_model::Event;
use tome_proto::v1::open_response::Content;
use tome_proto::{Client, ClientError, event_from_wire, v1};
use tome_recall::Citation;
use tome_terminal::{BOLD, DIM, RESET, WrappedWriter, format_counted, one_line};

use super::event_page::print_event;
use super::project_name::ProjectNames;
use super::project_scope::{refuse_several, refuse_without_project, resolve_project};
use super::screen::Screen;
use super::session_lookup::{complete_session, shorten_session};
use super::turn::{TurnVerbosity, TurnView};
use super::{CommandContext, CommandError, Outcome, toc, turn};
use crate::cli::contents::ShowArgs;
use crate::connect::ConnectError;

/// The next step for a citation of something that does not exist.
const NOT_FOUND_HINT: &str =
    "`tome toc` and `tome events` list ids; add `--all-projects` to see every project";

/// Splits `projects/<folder>/<id>` into the id and the root of that project. Returns other ids
/// unchanged.
pub fn split_project_id<'a>(
    context: &CommandContext,
    id: &'a str,
) -> Result<(&'a str, Option<String>)> {
    let split = id.strip_prefix("projects/").and_then(|rest| rest.split_once('/'));
    let Some((folder, inner)) = split else { return Ok((id, None)) };
    if !inner.starts_with(toc::NODE_PREFIX) && !inner.starts_with(toc::GRIP_PREFIX) {
        return Ok((id, None));
    }
    let all = Projects::load(&context.settings.home).all();
    let named =
        all.into_iter().find(|(_, path)| path.file_name().is_some_and(|name| name == folder));
    match named {
        Some((root, _)) => Ok((inner, Some(root))),
        None => {
            let refusal = CommandError::not_found(format!("no project in projects/{folder}"));
            Err(refusal.with_hint("`tome toc --all-projects` shows all projects").into())
        }
    }
}

/// Whether the daemon may have left out events after these, because they are too large together.
fn is_cut(events: &[(u64, Event)]) -> bool {
    const LARGE_BYTES: usize = 1 << 20;
    let texts = events.iter().flat_map(|(_, event)| tome_contents::event_texts(event));
    texts.map(|text| text.len()).sum::<usize>() > LARGE_BYTES
}

/// Most events that are shown on either side of another one.
const AROUND_MAX: u32 = 50;

/// Opens a citation and prints it.
pub fn open_citation(context: &CommandContext, args: &ShowArgs, cited: &str) -> Result<Outcome> {
    let citation: Citation = cited.parse()?;
    let request = v1::OpenRequest {
        citation: citation.to_string(),
        project: resolve_project(context, args.project.as_deref())?.unwrap_or_default(),
        session_id: complete_session(context, args.session.as_deref())?.unwrap_or_default(),
        with_turn: true,
        around: args.around.unwrap_or(0),
    };
    let opened = open_where_it_is(context, &request)?;
    if context.json {
        context.print_json(&opened_json(&citation, opened)?)?;
        return Ok(Outcome::Done);
    }
    print_opened(&Screen::new(context), &citation, opened, args)
}

/// Opens a citation in its project. Outside of a project, a citation that is relative to one is
/// opened in the only project that has it.
pub fn open_where_it_is(
    context: &CommandContext,
    request: &v1::OpenRequest,
) -> Result<v1::OpenResponse> {
    let open = |project: &str| {
        let request = v1::OpenRequest { project: project.to_owned(), ..request.clone() };
        let open = async |client: &Client| client.open_citation(request.clone()).await;
        context.connector.call_blocking(open)
    };
    match open(&request.project) {
        Err(ConnectError::Client(ClientError::Invalid(_))) if request.project.is_empty() => {}
        Err(ConnectError::Client(ClientError::NotFound(message)))
            if !request.project.is_empty() =>
        {
            // People know a project by its name; its root may be a folder that was moved.
            let name = ProjectNames::load(context).name(&request.project);
            let refusal = CommandError::not_found(message.replace(&request.project, &name));
            return Err(refusal.with_hint(NOT_FOUND_HINT).into());
        }
        opened => return Ok(opened?),
    }
    let names = ProjectNames::load(context);
    let (mut matches, mut failed) = (Vec::<(&str, v1::OpenResponse)>::new(), None);
    for root in names.roots() {
        match open(root) {
            Ok(opened) => matches.push((root, opened)),
            Err(ConnectError::Client(ClientError::NotFound(_))) => {}
            Err(error) => failed = Some(error),
        }
    }
    let cited = one_line(&request.citation, 200);
    match (matches.len(), failed) {
        (0, Some(error)) => Err(error.into()),
        (0, None) if names.roots().next().is_none() => Err(refuse_without_project(&names).into()),
        (0, None) => {
            let refusal = CommandError::not_found(format!("no project has {cited}"));
            Err(refusal.with_hint("`tome projects` lists the projects").into())
        }
        (1, _) => Ok(matches.remove(0).1),
        _ => {
            let roots: Vec<&str> = matches.iter().map(|(root, _)| *root).collect();
            Err(refuse_several(&names, &cited, &roots).into())
        }
    }
}

fn print_opened(
    screen: &Screen,
    citation: &Citation,
    mut opened: v1::OpenResponse,
    args: &ShowArgs,
) -> Result<Outcome> {
    let mut out = WrappedWriter::new(tome_terminal::stdout().lock(), 0);
    // An event has a head of its own.
    let is_event = matches!(opened.content, Some(Content::Event(_)));
    if !opened.file.is_empty() && (args.verbose || !is_event) {
        let cited = safe_line(&citation.to_string());
        let file = if args.verbose { screen.path(&opened.file) } else { String::new() };
        writeln!(out, "{}", format!("{BOLD}{cited}{RESET}  {DIM}{file}{RESET}").trim_end())?;
    }
    if opened.session_assumed {
        let session = shorten_session(&opened.session_id);
        writeln!(
            out,
            "{DIM}session {session}, the newest of this project; use --session for another{RESET}"
        )?;
    }
    match opened.content {
        Some(Content::Event(_)) if opened.number > 0 => {
            let events = std::mem::take(&mut opened.turn).into_iter().map(event_from_wire);
            let events = events.collect::<Result<Vec<Event>, _>>()?;
            let numbered: Vec<(u64, Event)> =
                opened.turn_numbers.iter().copied().zip(events).collect();
            let verbosity = match (args.full, args.around) {
                (true, _) => TurnVerbosity::Whole,
                (false, Some(_)) => TurnVerbosity::EveryEvent,
                (false, None) => TurnVerbosity::Brief,
            };
            let words = args.words.join(" ");
            let view = TurnView {
                cited: opened.number,
                verbosity,
                words: &words,
                is_verbose: args.verbose,
            };
            turn::print_turn(&mut out, screen, &numbered, view)?;
            let after = numbered.iter().rev().take_while(|(number, _)| *number != opened.number);
            let is_end = args.around.is_some_and(|around| {
                after.count() < around.min(AROUND_MAX) as usize && !is_cut(&numbered)
            });
            if is_end {
                writeln!(out, "\n{DIM}The record of the session ends here.{RESET}")?;
            }
        }
        Some(Content::Event(event)) => {
            writeln!(out)?;
            print_event(&mut out, screen, &event_from_wire(event)?, args.verbose)?;
        }
        Some(Content::Foreign(text)) => {
            writeln!(out, "{DIM}this line was not written by Tome{RESET}\n")?;
            print_numbered_line(&mut out, opened.line, &text, true)?;
        }
        Some(Content::Lines(lines)) => print_note_lines(&mut out, &lines, opened.line)?,
        // `tome show` handles nodes and sources by id before it gets here.
        Some(Content::Nodes(_) | Content::Grip(_)) | None => {}
    }
    Ok(Outcome::Done)
}

fn print_note_lines(out: &mut dyn Write, lines: &v1::NoteLines, cited: u32) -> Result<()> {
    writeln!(out)?;
    for (number, text) in (lines.first..).zip(&lines.lines) {
        print_numbered_line(out, number, text, number == cited)?;
    }
    let shown = u32::try_from(lines.lines.len()).unwrap_or(u32::MAX);
    let behind = lines.total.saturating_sub(lines.first.saturating_add(shown).saturating_sub(1));
    if behind > 0 {
        let more = format_counted(behind.into(), "more line", "more lines");
        writeln!(out, "{DIM}        … {more}{RESET}")?;
    }
    Ok(())
}

fn print_numbered_line(out: &mut dyn Write, number: u32, text: &str, is_cited: bool) -> Result<()> {
    let text = tome_terminal::replace_control_chars(text);
    if is_cited {
        writeln!(out, "{BOLD}> {number:>5}  {text}{RESET}")?;
    } else {
        writeln!(out, "{DIM}  {number:>5}{RESET}  {text}")?;
    }
    Ok(())
}

fn opened_json(citation: &Citation, mut opened: v1::OpenResponse) -> Result<Value> {
    let events = std::mem::take(&mut opened.turn).into_iter().map(event_from_wire);
    let turn = events.collect::<Result<Vec<Event>, _>>()?;
    let (mut event, mut text, mut lines) = (None, None, None);
    match opened.content {
        Some(Content::Event(found)) => event = Some(event_from_wire(found)?),
        Some(Content::Foreign(found)) => text = Some(found),
        Some(Content::Lines(found)) => lines = Some(found),
        Some(Content::Nodes(_) | Content::Grip(_)) | None => {}
    }
    let fields = json!({
        "citation": citation.to_string(),
        "project": non_empty(opened.project), "session_id": non_empty(opened.session_id),
        "session_assumed": opened.session_assumed, "file": non_empty(opened.file),
        "line": Some(opened.line).filter(|line| *line > 0),
        "event": event, "text": text, "number": Some(opened.number).filter(|number| *number > 0),
        "turn": turn,
        "first": lines.as_ref().map(|lines| lines.first),
        "total": lines.as_ref().map(|lines| lines.total),
        "lines": lines.map(|lines| lines.lines),
    });
    Ok(fields)
}

fn non_empty(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

fn safe_line(text: &str) -> String {
    one_line(text, 1_000)
}
