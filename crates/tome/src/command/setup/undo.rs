//! `tome setup --undo`.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};

use super::{agreed, print, unasked};
use crate::agents::wiring::Client;
use crate::cli::setup::Setup;
use crate::command::{Context, Outcome};
use crate::render::{DIM, GREEN, PLAIN, RED, YELLOW, counted};
use crate::setup::{Book, Ground, Lock, SetupError, Undoing, Undone, undo, undoing};

pub fn run(
    context: &Context,
    asked: &Setup,
    ground: &Ground<'_>,
    clients: &[&'static Client],
) -> Result<Outcome> {
    let home = context.settings.home.root();
    let all = undoing(clients, ground, &Book::open(home)?);
    let is_work = all.iter().any(|file| !matches!(file.undone, Undone::Refused(_)));
    if !context.json {
        list(ground, &all)?;
    }
    let go = is_work && agreed(asked, context.json)?;
    let mut failed = Vec::new();
    if go {
        let _lock = Lock::take(home)?;
        let mut book = Book::open(home)?;
        // Planned again under the lock: another setup may have run while this one was asking.
        failed = undo(&undoing(clients, ground, &book), &mut book)?;
    }
    if context.json {
        context.print_json(&as_json(&all, go, &failed))?;
    } else {
        outcome(&all, go, &failed)?;
    }
    if is_work && !go && !asked.dry_run {
        return Err(unasked().into());
    }
    let is_refused = all.iter().any(|file| matches!(file.undone, Undone::Refused(_)));
    Ok(if failed.is_empty() && !is_refused { Outcome::Done } else { Outcome::Failed })
}

fn list(ground: &Ground<'_>, all: &[Undoing]) -> Result<()> {
    let mut out = crate::terminal::stdout().lock();
    for file in all {
        let path = ground.short(&file.path);
        match &file.undone {
            Undone::Restored(bytes) => {
                writeln!(out, "{GREEN}restore{PLAIN}  {path}  {DIM}original content{PLAIN}")?;
                let now = String::from_utf8_lossy(file.now.as_deref().unwrap_or_default());
                print::changes(&mut out, &now, &String::from_utf8_lossy(bytes))?;
            }
            Undone::Stripped(text) => {
                let why = "changed since setup: only Tome's parts are removed";
                writeln!(out, "{YELLOW}change{PLAIN}   {path}  {DIM}{why}{PLAIN}")?;
                let now = String::from_utf8_lossy(file.now.as_deref().unwrap_or_default());
                print::changes(&mut out, &now, text)?;
            }
            Undone::Deleted => writeln!(out, "{GREEN}delete{PLAIN}   {path}")?,
            Undone::Left(None) => {}
            Undone::Left(Some(why)) => writeln!(out, "{YELLOW}leave{PLAIN}    {path}: {why}")?,
            Undone::Refused(error) => writeln!(out, "{RED}fail{PLAIN}     {error}")?,
        }
    }
    Ok(())
}

fn outcome(all: &[Undoing], done: bool, failed: &[SetupError]) -> Result<()> {
    let mut out = crate::terminal::stdout().lock();
    for error in failed {
        writeln!(out, "{RED}failed{PLAIN}   {error}")?;
    }
    if all.is_empty() {
        writeln!(out, "Nothing to undo: Tome is not connected to any of these agents.")?;
        return Ok(());
    }
    let touches = |file: &&Undoing| {
        matches!(file.undone, Undone::Restored(_) | Undone::Stripped(_) | Undone::Deleted)
    };
    let files = all.iter().filter(touches).count() as u64;
    if done {
        let files = counted(files - (failed.len() as u64).min(files), "file", "files");
        writeln!(out, "Done: {files} reverted. Recorded data is kept; `tome status` shows where.")?;
    } else {
        let files = counted(files, "file would be", "files would be");
        writeln!(out, "{files} reverted; nothing was changed.")?;
    }
    Ok(())
}

fn as_json(all: &[Undoing], done: bool, failed: &[SetupError]) -> Value {
    let files: Vec<Value> = all
        .iter()
        .map(|file| {
            let (action, why) = match &file.undone {
                Undone::Restored(_) => ("restore", None),
                Undone::Stripped(_) => ("strip", None),
                Undone::Deleted => ("delete", None),
                Undone::Left(why) => ("leave", why.clone()),
                Undone::Refused(error) => ("refuse", Some(error.to_string())),
            };
            json!({ "path": file.path, "action": action, "why": why })
        })
        .collect();
    let failed: Vec<String> = failed.iter().map(ToString::to_string).collect();
    json!({ "applied": done, "files": files, "failed": failed })
}
