//! `tome instructions`: the standing instructions and preferences of the user.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::json;
use tome_model::Millis;
use tome_proto::{Client, v1};
use tome_terminal::{
    BOLD, DIM, GREEN, RESET, format_counted, print_styled, replace_control_chars, wrap_lines,
};

use super::project_scope::projects_in_scope;
use super::screen::Screen;
use super::{CommandContext, Outcome};
use crate::cli::recall::InstructionsArgs;

/// Columns before an instruction, and of its lines at least.
const INDENT: usize = 4;
const LINE_CHARS_MIN: usize = 30;

pub fn run(context: &CommandContext, args: &InstructionsArgs) -> Result<Outcome> {
    let folder = args.project.as_deref();
    list(context, &args.words.join(" "), folder, args.all_projects, args.all)
}

/// Lists the instructions of the projects in scope, or those that share words with a text.
pub fn list(
    context: &CommandContext,
    words: &str,
    project: Option<&Path>,
    all_projects: bool,
    with_replaced: bool,
) -> Result<Outcome> {
    let projects = projects_in_scope(context, project, all_projects)?;
    let mut by_project: Vec<(&String, Vec<v1::Instruction>)> = Vec::new();
    for project in &projects {
        let request =
            v1::ListInstructionsRequest { project: project.clone(), query: words.to_owned() };
        let list = async |client: &Client| client.list_instructions(request.clone()).await;
        let mut all = context.connector.call_blocking(list)?.instructions;
        all.retain(|instruction| with_replaced || instruction.replaced_by == 0);
        if !all.is_empty() {
            by_project.push((project, all));
        }
    }
    if context.json {
        let all = by_project.iter().flat_map(|(_, all)| all);
        all.into_iter()
            .try_for_each(|instruction| context.print_json(&instruction_json(instruction)))?;
        return Ok(Outcome::Done);
    }
    let screen = Screen::new(context);
    if by_project.is_empty() {
        let scope = match projects.as_slice() {
            [only] => screen.projects.name(only),
            several => format!("{} projects", several.len()),
        };
        writeln!(tome_terminal::stderr(), "no standing instructions in {scope}")?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    for (i, (project, all)) in by_project.iter().enumerate() {
        if projects.len() > 1 {
            let gap = if i > 0 { "\n" } else { "" };
            writeln!(out, "{gap}{BOLD}{}{RESET}", screen.projects.name(project))?;
        }
        print_instructions(&mut out, &screen, all)?;
    }
    let total: usize = by_project.iter().map(|(_, all)| all.len()).sum();
    let count = format_counted(total as u64, "instruction", "instructions");
    let first = by_project.first().and_then(|(project, all)| Some((project, all.first()?)));
    let hint = first.map(|(project, instruction)| {
        let flag = screen.projects.flag(project);
        format!(" · tome show {}{flag} shows where it was said", instruction.number)
    });
    let hint = hint.unwrap_or_default();
    print_styled(&mut out, DIM, 0, &format!("{count}{hint}"), screen.prose_width())?;
    Ok(Outcome::Done)
}

fn print_instructions(
    out: &mut dyn Write,
    screen: &Screen,
    all: &[v1::Instruction],
) -> std::io::Result<()> {
    let room = screen.prose_width().saturating_sub(INDENT).max(LINE_CHARS_MIN);
    for instruction in all {
        let replaced = match instruction.replaced_by {
            0 => String::new(),
            number => format!(", replaced by #{number}"),
        };
        let when = screen.labels.format_date_hour(screen.now, instruction.at_ms);
        writeln!(out, "{GREEN}#{}{RESET}  {DIM}{when}{replaced}{RESET}", instruction.number)?;
        for line in wrap_lines(&replace_control_chars(&instruction.text), room) {
            writeln!(out, "{:INDENT$}{line}", "")?;
        }
    }
    Ok(())
}

pub fn instruction_json(one: &v1::Instruction) -> serde_json::Value {
    json!({
        "number": one.number, "id": one.event_id, "at": Millis(one.at_ms), "text": one.text,
        "session": one.session_id, "project": one.project,
        "replaced_by": Some(one.replaced_by).filter(|number| *number > 0),
    })
}
