//! `tome instructions`: the standing instructions and preferences of the user.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::json;
use tome_model::{Clock, Millis, SystemClock};
use tome_proto::{Client, v1};
use tome_terminal::{DIM, GREEN, RESET, format_counted, replace_control_chars, wrap_lines};

use super::events::resolve_project;
use super::toc::TimeLabels;
use super::{CommandContext, CommandError, Outcome};
use crate::cli::recall::InstructionsArgs;

pub fn run(context: &CommandContext, asked: &InstructionsArgs) -> Result<Outcome> {
    list(context, &asked.words.join(" "), asked.project.as_deref(), asked.all)
}

/// Lists the instructions of a project, or those that share words with a text.
pub fn list(
    context: &CommandContext,
    words: &str,
    project: Option<&Path>,
    with_replaced: bool,
) -> Result<Outcome> {
    let Some(project) = resolve_project(context, project)? else {
        let refusal = CommandError::bad_input("the current folder is not a known project");
        return Err(refusal.with_hint("use --project DIR").into());
    };
    let request = v1::ListInstructionsRequest { project: project.clone(), query: words.to_owned() };
    let list = async |client: &Client| client.list_instructions(request.clone()).await;
    let mut all = context.connector.call_blocking(list)?.instructions;
    if !with_replaced {
        all.retain(|one| one.replaced_by == 0);
    }
    if context.json {
        for one in &all {
            context.print_json(&instruction_json(one))?;
        }
        return Ok(Outcome::Done);
    }
    if all.is_empty() {
        writeln!(tome_terminal::stderr(), "no standing instructions in {project}")?;
        return Ok(Outcome::Done);
    }
    let labels = TimeLabels::from_settings(&context.settings);
    let mut out = tome_terminal::stdout().lock();
    let room = tome_terminal::terminal_width().saturating_sub(4).clamp(30, 100);
    for one in &all {
        let replaced = match one.replaced_by {
            0 => String::new(),
            number => format!(", replaced by #{number}"),
        };
        let when = labels.format_date_hour(SystemClock.now(), one.at_ms);
        writeln!(out, "{GREEN}#{}{RESET}  {DIM}{when}{replaced}{RESET}", one.number)?;
        for line in wrap_lines(&replace_control_chars(&one.text), room) {
            writeln!(out, "    {line}")?;
        }
    }
    let count = format_counted(all.len() as u64, "instruction", "instructions");
    writeln!(out, "{DIM}{count}{RESET}")?;
    Ok(Outcome::Done)
}

/// An instruction as JSON.
pub fn instruction_json(one: &v1::Instruction) -> serde_json::Value {
    json!({
        "number": one.number, "id": one.event_id, "at": Millis(one.at_ms), "text": one.text,
        "session": one.session_id, "project": one.project,
        "replaced_by": Some(one.replaced_by).filter(|number| *number > 0),
    })
}
