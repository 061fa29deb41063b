//! The answer of commands that read what was recorded, in a home where nothing was: what to run first.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use tome_engine::{Spool, SpoolCounts};
use tome_home::Projects;
use tome_terminal::{BOLD, RESET, WrappedWriter};

use super::overview::describe_first_step;
use super::{CommandContext, CommandError, Outcome};
use crate::cli::Command;

const NOTHING: &str = "nothing recorded yet";

/// What a command is about.
enum Wanted {
    /// A list, which is empty.
    List,
    /// One thing, which does not exist.
    Item,
}

/// The answer to a command that has nothing to read; `None` if it has, or says so itself.
pub fn answer(context: &CommandContext, command: &Command) -> Option<Result<Outcome>> {
    let (wanted, project) = classify_command(command)?;
    // Programs get the empty list or the usual error; a wrong name of a project is an error.
    if context.json || project.is_some() || !is_nothing_recorded(context) {
        return None;
    }
    Some(describe_first_step().and_then(|step| match wanted {
        Wanted::Item => Err(CommandError::not_found(NOTHING).with_hint(step).into()),
        Wanted::List => {
            let mut err = WrappedWriter::new(tome_terminal::stderr().lock(), 6);
            writeln!(err, "{NOTHING}")?;
            writeln!(err, "{BOLD}hint:{RESET} {step}")?;
            Ok(Outcome::Done)
        }
    }))
}

fn classify_command(command: &Command) -> Option<(Wanted, &Option<PathBuf>)> {
    let item_if = |is_item: bool| if is_item { Wanted::Item } else { Wanted::List };
    let is_node = |what: &String| what.starts_with("toc:");
    Some(match command {
        Command::Recall(args) => (item_if(args.session.is_some()), &args.project),
        Command::Sessions(args) => (Wanted::List, &args.project),
        Command::Events(args) => (item_if(args.session.is_some()), &args.project),
        Command::Toc(args) => (item_if(args.what.iter().any(is_node)), &args.project),
        Command::Report(args) if args.out.is_none() => (Wanted::List, &args.project),
        Command::Instructions(args) => (Wanted::List, &args.project),
        Command::Resume(args) => (Wanted::Item, &args.project),
        Command::Read(args) => (Wanted::Item, &args.project),
        Command::Export(args) => (Wanted::Item, &args.project),
        _ => return None,
    })
}

/// Whether there is no event and no note. A daemon elsewhere has a home of its own, and a file in place of the home
/// is an error.
fn is_nothing_recorded(context: &CommandContext) -> bool {
    let home = &context.settings.home;
    context.settings.daemon_endpoint.is_none()
        && (home.root().is_dir() || !home.root().exists())
        && Projects::load(home).all().is_empty()
        && !home.coder().exists()
        && !home.unified_ledger().exists()
        && Spool::new(home).count_waiting() == SpoolCounts::default()
}
