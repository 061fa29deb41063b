//! `tome init`: shows where a project's notes are kept, or moves them into the repository.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::json;
use tome_proto::v1;
use tome_terminal::{DIM, RESET, WrappedWriter, YELLOW, format_counted};

use super::notebook_client::{NotebookCommands, absolute_folder};
use super::project_name::resolve_given;
use super::shell_word::quote_shell;
use super::{CommandContext, Outcome};
use crate::cli::init::InitArgs;
use crate::cli::memory::{NotebookArgs, ScopeName};

pub fn run(context: &CommandContext, args: &InitArgs) -> Result<Outcome> {
    let notebook = NotebookArgs {
        scope: Some(ScopeName::Project),
        session: None,
        project: args.project.clone(),
    };
    let notes = NotebookCommands::new(context, &notebook, "tome init")?;
    if args.in_repo {
        return move_into_repository(
            &notes,
            &absolute_folder(resolve_given(context, args.project.as_deref())?.as_deref())?,
        );
    }
    let found =
        notes.call_idempotent(async |client| client.locate_notebook(notes.notebook_ref()).await)?;
    if context.json {
        context.print_json(&json!({
            "folder": found.folder, "in_repository": found.in_repository, "exists": found.exists,
            "notes": found.notes,
        }))?;
    } else {
        print_location(context, &found)?;
    }
    Ok(Outcome::Done)
}

fn print_location(context: &CommandContext, notebook: &v1::LocateResponse) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    let where_ = if notebook.in_repository { "in the repository" } else { "in Tome's home" };
    let folder = context.shorten_path(Path::new(&notebook.folder));
    writeln!(out, "The notes of this project are {where_}:\n  {folder}")?;
    match (notebook.exists, notebook.notes) {
        (false, _) => {
            writeln!(out, "  {DIM}does not exist yet; created with the first note{RESET}")?;
        }
        (true, notes) => {
            writeln!(out, "  {DIM}{}{RESET}", format_counted(u64::from(notes), "note", "notes"))?;
        }
    }
    if !notebook.in_repository {
        writeln!(
            WrappedWriter::new(&mut out, 0),
            "`tome init --in-repo` moves them to .memory/ in the repository, so that the team can commit them."
        )?;
    }
    Ok(())
}

fn move_into_repository(notes: &NotebookCommands<'_>, cwd: &str) -> Result<Outcome> {
    let done = notes.call_once(async |client| client.move_into_repository(cwd).await)?;
    if notes.context.json {
        notes.context.print_json(&json!({
            "folder": done.folder, "created": done.created, "moved": done.moved,
            "kept_back": done.kept_back,
        }))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    let made = if done.created { "created" } else { "already existed" };
    writeln!(out, "The notes of this project are in {} ({made}).", done.folder)?;
    for path in &done.moved {
        writeln!(out, "  moved {path}")?;
    }
    for path in &done.kept_back {
        writeln!(
            out,
            "  {YELLOW}not moved{RESET} {path}: a note with this name exists there, or it cannot be read; merge them by hand"
        )?;
    }
    if done.created || !done.moved.is_empty() {
        let folder = Path::new(&done.folder);
        let repository = folder.parent().unwrap_or(folder).to_string_lossy();
        let repository = quote_shell(&repository);
        writeln!(
            out,
            "Commit them to share them: git -C {repository} add .memory && git -C {repository} commit"
        )?;
    }
    Ok(Outcome::Done)
}
