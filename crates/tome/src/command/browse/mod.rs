//! `tome browse`: search, preview and read at a full screen. The screen is in `tome-browse`; here are
//! its answers, which come from the daemon, and what it does with the whole terminal.

mod actions;
mod items;
mod previews;
mod source;

use std::sync::Arc;

use anyhow::Result;
use tome_browse::{BrowseExit, BrowseSource, BrowserSetup};
use tome_proto::v1;

use super::project_name::ProjectNames;
use super::project_scope::resolve_project;
use super::resume;
use super::{CommandContext, CommandError, Outcome};
use crate::cli::browse::BrowseArgs;
use crate::platform;

use actions::TerminalActions;
use source::DaemonSource;

pub fn run(context: &CommandContext, args: &BrowseArgs) -> Result<Outcome> {
    let words = args.words.join(" ");
    check_terminal(context, &words)?;
    let project = if args.all_projects {
        resolve_project(context, None)?
    } else {
        resolve_project(context, args.project.as_deref())?
    };
    let setup = BrowserSetup {
        words,
        project: project.as_ref().map(|root| ProjectNames::load(context).name(root)),
        all_projects: args.all_projects,
        has_colors: tome_terminal::has_styles(),
        size: (0, 0),
    };
    let source: Arc<dyn BrowseSource> =
        Arc::new(DaemonSource::new(context, project.unwrap_or_default()));
    let mut actions = TerminalActions { context };
    let exit = tome_browse::run(setup, &source, &mut actions, wait_for_stop)?;
    match exit {
        BrowseExit::Quit => Ok(Outcome::Done),
        BrowseExit::Stopped => Ok(Outcome::Failed),
        BrowseExit::Resume { command, run_now } => {
            let session = v1::Session {
                id: command.session,
                project: command.project,
                title: command.title,
                cwd: command.folder,
                resume: command.command,
                ..v1::Session::default()
            };
            resume::resume(context, &session, run_now)
        }
    }
}

/// Refuses where no screen can be drawn, with the command that works there.
fn check_terminal(context: &CommandContext, words: &str) -> Result<()> {
    use std::io::IsTerminal;
    let is_terminal = std::io::stdin().is_terminal() && tome_terminal::is_stdout_terminal();
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let problem = match (context.json, is_terminal, is_dumb) {
        (true, _, _) => "tome browse draws a screen and prints no JSON",
        (_, false, _) => "tome browse needs a terminal",
        (_, _, true) => "tome browse cannot draw on this terminal (TERM=dumb)",
        _ => return Ok(()),
    };
    let instead = match (words.trim(), context.json) {
        ("", false) => "`tome sessions` lists sessions, `tome recall <words>` searches".to_owned(),
        ("", true) => "use `tome sessions --json` or `tome recall <words> --json`".to_owned(),
        (words, is_json) => {
            let json = if is_json { " --json" } else { "" };
            let words = super::shell_word::quote_shell(words);
            format!("`tome recall {words}{json}` searches for the same")
        }
    };
    Err(CommandError::bad_input(problem).with_hint(instead).into())
}

/// Returns when the process is told to end.
fn wait_for_stop() {
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
        runtime.block_on(platform::wait_for_hangup());
    }
}
