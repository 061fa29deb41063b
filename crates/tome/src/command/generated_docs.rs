//! `tome completions` and `tome man`, and the completions that a shell requests.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::{Context, Result};
use clap::Command;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{EnvCompleter, Shells};
use tome_home::Projects;

use super::{CommandError, Outcome};
use crate::cli::Cli;
use crate::config::{Config, ConfigFlags};

/// The variable with which the script of a shell requests completions; its value is the shell.
const COMPLETE_VARIABLE: &str = "COMPLETE";
/// The title that the manual gives to the text below the options, and the one for examples.
const EXTRA_SECTION: &str = ".SH EXTRA\nExamples:\n";
const EXAMPLES_SECTION: &str = ".SH EXAMPLES\n";

/// Prints the script of a shell, which requests the completions from this program.
pub fn print_completions(shell: clap_complete::Shell) -> Result<Outcome> {
    let name = shell.to_string();
    let mut script = Vec::new();
    find_shell(&Shells::builtins(), &name)?.write_registration(
        COMPLETE_VARIABLE,
        "tome",
        "tome",
        "tome",
        &mut script,
    )?;
    tome_terminal::write_raw(&script)?;
    Ok(Outcome::Done)
}

/// The shell that requests completions, if one does.
pub fn requested_shell() -> Option<String> {
    let shell = std::env::var(COMPLETE_VARIABLE).ok()?;
    Shells::builtins().completer(&shell).map(|_| shell)
}

/// Answers the request of a shell. Reads the list of projects, and starts no daemon.
pub fn answer_shell(shell: &str) -> Result<Outcome> {
    let words: Vec<OsString> =
        std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let mut command = completed_command(Cli::build_command());
    command.build();
    let folder = std::env::current_dir().ok();
    let mut candidates = Vec::new();
    find_shell(&Shells::builtins(), shell)?.write_complete(
        &mut command,
        words,
        folder.as_deref(),
        &mut candidates,
    )?;
    tome_terminal::write_raw(&candidates)?;
    Ok(Outcome::Done)
}

fn find_shell<'s>(shells: &Shells<'s>, name: &str) -> Result<&'s dyn EnvCompleter> {
    let found = shells.0.iter().find(|shell| shell.is(name)).copied();
    found.ok_or_else(|| CommandError::bad_input(format!("no completions for {name}")).into())
}

/// Adds the names of projects to every `--project`.
fn completed_command(command: Command) -> Command {
    let command = command.mut_args(|arg| {
        if matches!(arg.get_id().as_str(), "project" | "overview_project") {
            arg.add(ArgValueCompleter::new(complete_project))
        } else {
            arg
        }
    });
    command.mut_subcommands(completed_command)
}

/// The names of projects that begin like this, then the folders.
fn complete_project(typed: &OsStr) -> Vec<CompletionCandidate> {
    let text = typed.to_string_lossy();
    let names = known_names().into_iter().filter(|name| name.starts_with(&*text));
    let names = names.map(CompletionCandidate::new);
    names.chain(PathCompleter::dir().complete(typed)).collect()
}

/// The names of the projects; none if the configuration cannot be read.
fn known_names() -> Vec<String> {
    let flags = ConfigFlags { home: None, config: None, set: Vec::new() };
    let Ok(config) = Config::load(&flags, &|name| std::env::var(name).ok()) else {
        return Vec::new();
    };
    let projects = Projects::load(&config.to_settings().home).list();
    let is_plain = |name: &String| !name.contains(char::is_control);
    projects.into_iter().map(|project| project.name).filter(is_plain).collect()
}

pub fn write_manual(folder: Option<&Path>) -> Result<Outcome> {
    let mut command = Cli::build_manual_command().disable_help_subcommand(true);
    command.build();
    match folder {
        None => tome_terminal::write_raw(render_page(&command)?.as_bytes())?,
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
            write_pages(&command, folder)
                .with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
        }
    }
    Ok(Outcome::Done)
}

/// Writes the page of a command, and those of the commands below it.
fn write_pages(command: &Command, folder: &Path) -> Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below, folder)?;
    }
    let name = clap_mangen::Man::new(command.clone()).get_filename();
    Ok(tome_home::write_atomic(&folder.join(name), render_page(command)?.as_bytes())?)
}

/// Renders the page of a command; its examples get a section of their own.
fn render_page(command: &Command) -> Result<String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    Ok(keep_example_lines(&String::from_utf8_lossy(&page)))
}

/// Gives the examples of a page a section of their own, in which lines are neither filled nor adjusted.
fn keep_example_lines(page: &str) -> String {
    let Some((before, rest)) = page.split_once(EXTRA_SECTION) else { return page.to_owned() };
    let is_end = |line: &&str| line.trim().is_empty() || line.starts_with('.');
    let examples: String = rest.split_inclusive('\n').take_while(|line| !is_end(line)).collect();
    let after = rest.get(examples.len()..).unwrap_or_default();
    format!("{before}{EXAMPLES_SECTION}.nf\n{examples}.fi\n{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_manual_pages_keep_their_lines() {
        let mut command = Cli::build_manual_command().disable_help_subcommand(true);
        command.build();
        for name in ["recall", "backup", "projects"] {
            let below = command.find_subcommand(name).unwrap();
            let page = render_page(below).unwrap();
            let (_, rest) = page.split_once(".SH EXAMPLES\n.nf\n").unwrap();
            let (examples, rest) = rest.split_once(".fi\n").unwrap();
            let is_command = |line: &str| line.starts_with("  tome ");
            assert!(examples.lines().count() > 2, "{page}");
            assert!(
                examples.lines().all(|line| is_command(line) || line.starts_with("   ")),
                "{page}"
            );
            assert!(!rest.lines().any(is_command), "{page}");
        }
        assert_eq!(keep_example_lines(".SH NAME\nx\n"), ".SH NAME\nx\n");
    }
}
