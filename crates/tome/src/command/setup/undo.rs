//! `tome setup --undo`.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_terminal::{DIM, GREEN, RED, RESET, YELLOW, format_counted};

use super::{Confirmation, confirm, confirmation_unavailable, print};
use crate::cli::setup::SetupArgs;
use crate::command::{CommandContext, Outcome};
use crate::setup::integration::AgentIntegration;
use crate::setup::{
    Environment, FileUndo, SetupError, SetupLock, UndoAction, UndoJournal, apply_undo, plan_undo,
};

pub fn run(
    context: &CommandContext,
    args: &SetupArgs,
    environment: &Environment<'_>,
    clients: &[&'static AgentIntegration],
) -> Result<Outcome> {
    let home = context.settings.home.root();
    let all = plan_undo(clients, environment, &UndoJournal::open(home)?);
    let is_work = all.iter().any(|file| !matches!(file.action, UndoAction::Refused(_)));
    if !context.json {
        print_undo_plan(environment, &all)?;
    }
    let answer = confirm(args, context.json, is_work.then_some(super::APPLY))?;
    if answer == Confirmation::No {
        return Ok(Outcome::Done);
    }
    let go = answer == Confirmation::Yes;
    let mut failed = Vec::new();
    if go {
        let _lock = SetupLock::acquire(home)?;
        let mut book = UndoJournal::open(home)?;
        // Planned again under the lock: another setup may have run while this one was asking.
        failed = apply_undo(&plan_undo(clients, environment, &book), &mut book)?;
    }
    if context.json {
        context.print_json(&undo_json(&all, go, &failed))?;
    } else {
        print_undo_outcome(&all, go, &failed)?;
    }
    if is_work && !go && !args.dry_run {
        return Err(confirmation_unavailable().into());
    }
    let is_refused = all.iter().any(|file| matches!(file.action, UndoAction::Refused(_)));
    Ok(if failed.is_empty() && !is_refused { Outcome::Done } else { Outcome::Failed })
}

fn print_undo_plan(environment: &Environment<'_>, all: &[FileUndo]) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    for file in all {
        let path = environment.display_path(&file.path);
        match &file.action {
            UndoAction::Restored(bytes) => {
                writeln!(out, "{GREEN}restore{RESET}  {path}  {DIM}original content{RESET}")?;
                let now = String::from_utf8_lossy(file.current.as_deref().unwrap_or_default());
                print::print_diff(&mut out, &now, &String::from_utf8_lossy(bytes))?;
            }
            UndoAction::Stripped(text) => {
                let why = "changed since setup: only Tome's parts are removed";
                writeln!(out, "{YELLOW}change{RESET}   {path}  {DIM}{why}{RESET}")?;
                let now = String::from_utf8_lossy(file.current.as_deref().unwrap_or_default());
                print::print_diff(&mut out, &now, text)?;
            }
            UndoAction::Deleted => writeln!(out, "{GREEN}delete{RESET}   {path}")?,
            UndoAction::Left(None) => {}
            UndoAction::Left(Some(why)) => writeln!(out, "{YELLOW}leave{RESET}    {path}: {why}")?,
            UndoAction::Refused(error) => writeln!(out, "{RED}fail{RESET}     {error}")?,
        }
    }
    Ok(())
}

fn print_undo_outcome(all: &[FileUndo], done: bool, failed: &[SetupError]) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    for error in failed {
        writeln!(out, "{RED}failed{RESET}   {error}")?;
    }
    if all.is_empty() {
        writeln!(out, "Nothing to undo: Tome is not connected to any of these agents.")?;
        return Ok(());
    }
    let touches = |file: &&FileUndo| {
        matches!(
            file.action,
            UndoAction::Restored(_) | UndoAction::Stripped(_) | UndoAction::Deleted
        )
    };
    let files = all.iter().filter(touches).count() as u64;
    if done {
        let files = format_counted(files - (failed.len() as u64).min(files), "file", "files");
        writeln!(out, "Done: {files} reverted. Recorded data is kept; `tome status` shows where.")?;
    } else {
        let files = format_counted(files, "file would be", "files would be");
        writeln!(out, "{files} reverted; nothing was changed.")?;
    }
    Ok(())
}

fn undo_json(all: &[FileUndo], done: bool, failed: &[SetupError]) -> Value {
    let files: Vec<Value> = all
        .iter()
        .map(|file| {
            let (action, why) = match &file.action {
                UndoAction::Restored(_) => ("restore", None),
                UndoAction::Stripped(_) => ("strip", None),
                UndoAction::Deleted => ("delete", None),
                UndoAction::Left(why) => ("leave", why.clone()),
                UndoAction::Refused(error) => ("refuse", Some(error.to_string())),
            };
            json!({ "path": file.path, "action": action, "why": why })
        })
        .collect();
    let failed: Vec<String> = failed.iter().map(ToString::to_string).collect();
    json!({ "applied": done, "files": files, "failed": failed })
}
