//! `tome setup`: connects Tome to the coding agents on this machine, or disconnects it. Shows the
//! changes, asks for confirmation, and applies them.

mod print;
mod undo;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Value, json};
use tome_terminal::{BOLD, DIM, RESET, format_counted};

use super::{CommandContext, CommandError, Outcome};
use crate::cli::setup::SetupArgs;
use crate::platform;
use crate::setup::integration::{AgentIntegration, INTEGRATIONS};
use crate::setup::{
    Environment, LaunchCommand, PlannedEdit, SetupLock, SetupPlan, UndoJournal, apply_plan,
    build_plan, write_bundles,
};

const APPLY: &str = "Apply these changes?";

pub fn run(context: &CommandContext, args: &SetupArgs) -> Result<Outcome> {
    let var = |name: &str| std::env::var(name).ok();
    let environment = build_environment(context, args.project, &var)?;
    if let Some(folder) = &args.plugins {
        return write_plugins(context, args, &environment, folder);
    }
    if args.undo {
        let clients = parse_agents(&args.agent)?.unwrap_or_else(|| INTEGRATIONS.to_vec());
        return undo::run(context, args, &environment, &clients);
    }
    let clients = parse_agents(&args.agent)?.unwrap_or_else(|| find_installed(&environment));
    if clients.is_empty() {
        return report_none_found(context);
    }
    connect_agents(context, args, &environment, &clients)
}

/// Builds the setup environment from this process: the user's home, the project and how agents launch
/// Tome.
pub(super) fn build_environment<'a>(
    context: &CommandContext,
    in_project: bool,
    var: &'a dyn Fn(&str) -> Option<String>,
) -> Result<Environment<'a>> {
    let home = var("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home = home.or_else(std::env::home_dir).ok_or_else(|| {
        CommandError::bad_input("no home folder: HOME is not set to an absolute path")
    })?;
    let project = if in_project {
        let here = std::env::current_dir()?;
        // A linked worktree has settings of its own.
        let located = tome_home::locate_project(&here);
        Some(located.map_or(here, |located| located.worktree.unwrap_or(located.root)))
    } else {
        None
    };
    let mut environment = Environment {
        home,
        project,
        launch: LaunchCommand { program: String::new(), flags: Vec::new() },
        var,
    };
    environment.launch = resolve_launch(context, &environment)?;
    Ok(environment)
}

/// Returns the command line with which agents run this program. Prefers the path found via PATH, which
/// survives updates. A non-default home or config is passed as a flag, because agents do not pass on
/// every environment variable.
fn resolve_launch(
    context: &CommandContext,
    environment: &Environment<'_>,
) -> Result<LaunchCommand> {
    let own = std::env::current_exe()?;
    let real = own.canonicalize().unwrap_or_else(|_| own.clone());
    let on_path = environment.find_program("tome");
    let same = on_path.filter(|path| path.canonicalize().is_ok_and(|path| path == real));
    let program = same.filter(|path| path.is_absolute()).unwrap_or(own);
    let only_home =
        |name: &str| (name == "HOME").then(|| environment.home.to_string_lossy().into_owned());
    let mut flags = Vec::new();
    let home = std::path::absolute(context.settings.home.root())?;
    if platform::default_home(only_home) != Some(home.clone()) {
        flags.extend(["--home".to_owned(), home.to_string_lossy().into_owned()]);
    }
    let config = context.config.file.as_ref().map(std::path::absolute).transpose()?;
    if let Some(config) = config.filter(|config| config.exists())
        && platform::default_config(only_home) != Some(config.clone())
    {
        flags.extend(["--config".to_owned(), config.to_string_lossy().into_owned()]);
    }
    Ok(LaunchCommand { program: program.to_string_lossy().into_owned(), flags })
}

/// Refuses a program of another name: its entries in the agents' settings could not be told from those
/// of other programs, and `tome setup --undo` would leave them.
pub fn check_program_name(environment: &Environment<'_>) -> Result<(), CommandError> {
    let program = Path::new(&environment.launch.program);
    if program.file_stem().is_some_and(|name| name == "tome") {
        return Ok(());
    }
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy();
    let refusal = CommandError::bad_input(format!(
        "this program is called {name}; agents can only run `tome`"
    ));
    let hint = "rename it to tome, or put a link of that name into a folder on PATH and run `tome`";
    Err(refusal.with_hint(hint))
}

/// Looks up agents by name; `None` if no names were given.
fn parse_agents(names: &[String]) -> Result<Option<Vec<&'static AgentIntegration>>> {
    let mut clients: Vec<&'static AgentIntegration> = Vec::new();
    for name in names {
        let is_meant = |client: &AgentIntegration| client.name == name || client.program == name;
        let client = INTEGRATIONS.iter().find(|client| is_meant(client)).ok_or_else(|| {
            let known: Vec<&str> = INTEGRATIONS.iter().map(|client| client.name).collect();
            CommandError::bad_input(format!("unknown agent `{name}`"))
                .with_hint(format!("known agents: {}", known.join(", ")))
        })?;
        if !clients.iter().any(|known| known.name == client.name) {
            clients.push(client);
        }
    }
    Ok(Some(clients).filter(|clients| !clients.is_empty()))
}

fn find_installed(environment: &Environment<'_>) -> Vec<&'static AgentIntegration> {
    INTEGRATIONS
        .iter()
        .copied()
        .filter(|client| client.find_installation(environment).is_some())
        .collect()
}

fn report_none_found(context: &CommandContext) -> Result<Outcome> {
    if context.json {
        context.print_json(&json!({ "applied": false, "agents": [], "files": [] }))?;
        return Ok(Outcome::Done);
    }
    let known: Vec<&str> = INTEGRATIONS.iter().map(|client| client.title).collect();
    let mut out = tome_terminal::WrappedWriter::new(tome_terminal::stdout().lock(), 0);
    writeln!(out, "No coding agent found. Tome looks for {}.", known.join(", "))?;
    writeln!(out, "`tome setup --agent NAME` connects one anyway.")?;
    Ok(Outcome::Done)
}

fn connect_agents(
    context: &CommandContext,
    args: &SetupArgs,
    environment: &Environment<'_>,
    clients: &[&'static AgentIntegration],
) -> Result<Outcome> {
    check_program_name(environment)?;
    let home = context.settings.home.root();
    let plan = build_plan(clients, environment, &UndoJournal::open(home)?);
    let is_work = plan.files.iter().any(|file| file.new_text().is_some());
    if !context.json {
        print::print_plan(environment, clients, &plan, args.diff)?;
    }
    let answer = confirm(args, context.json, is_work.then(|| choose_question(&plan)))?;
    if answer == Confirmation::No {
        return Ok(Outcome::Done);
    }
    let go = answer == Confirmation::Yes;
    let mut failed = Vec::new();
    if go {
        let _lock = SetupLock::acquire(home)?;
        failed = apply_plan(&plan, environment, &mut UndoJournal::open(home)?)?;
    }
    if context.json {
        context.print_json(&print::plan_json(environment, clients, &plan, go, &failed))?;
    } else {
        print::print_outcome(environment, clients, &plan, go, &failed)?;
        if (go || !is_work) && !args.dry_run {
            offer_import(context, args, clients)?;
        }
    }
    if is_work && !go && !args.dry_run {
        return Err(confirmation_unavailable().into());
    }
    Ok(if failed.is_empty() && !has_rejected_files(&plan) {
        Outcome::Done
    } else {
        Outcome::Failed
    })
}

fn has_rejected_files(plan: &SetupPlan) -> bool {
    plan.files.iter().any(|file| matches!(file.action, PlannedEdit::Refuse(_)))
}

/// A partial installation has to be agreed to as such.
fn choose_question(plan: &SetupPlan) -> &'static str {
    if has_rejected_files(plan) {
        "Apply the other changes, and leave the rest as it is?"
    } else {
        APPLY
    }
}

/// Whether to apply changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Confirmation {
    Yes,
    No,
    /// Nobody can be asked, or nothing is to be applied.
    NotAsked,
}

/// Whether to apply the changes: from the flags, or by asking on the terminal. Without a question there
/// is nothing to apply.
fn confirm(args: &SetupArgs, json: bool, question: Option<&str>) -> Result<Confirmation> {
    let Some(question) = question else { return Ok(Confirmation::NotAsked) };
    if args.yes {
        return Ok(Confirmation::Yes);
    }
    if args.dry_run || json || !io::stdin().is_terminal() || !tome_terminal::is_stdout_terminal() {
        return Ok(Confirmation::NotAsked);
    }
    if ask_yes_no(question)? {
        return Ok(Confirmation::Yes);
    }
    writeln!(tome_terminal::stdout(), "Nothing was changed.")?;
    Ok(Confirmation::No)
}

fn confirmation_unavailable() -> CommandError {
    CommandError::bad_input("nothing was changed: cannot ask for confirmation without a terminal")
        .with_hint("--yes applies the changes without asking; --dry-run only shows them")
}

fn ask_yes_no(question: &str) -> Result<bool> {
    let mut out = tome_terminal::stdout().lock();
    write!(out, "{BOLD}{question}{RESET} [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Offers to import the agents' earlier sessions, or prints the command that does.
fn offer_import(
    context: &CommandContext,
    args: &SetupArgs,
    clients: &[&'static AgentIntegration],
) -> Result<()> {
    if !crate::cli::has_subcommand("import") {
        return Ok(());
    }
    let mut words = vec!["import".to_owned()];
    for client in clients {
        words.extend(["--agent".to_owned(), client.name.to_owned()]);
    }
    let can_ask = !args.yes && io::stdin().is_terminal() && tome_terminal::is_stdout_terminal();
    if can_ask && ask_yes_no("Import earlier sessions from these agents' transcripts?")? {
        context.connector.build_command()?.args(&words).status()?;
        return Ok(());
    }
    let mut out = tome_terminal::stdout().lock();
    let line = words.join(" ");
    let text = format!("`tome {line}` imports these agents' earlier sessions.");
    Ok(tome_terminal::print_styled(&mut out, DIM, 0, &text, tome_terminal::terminal_width())?)
}

fn write_plugins(
    context: &CommandContext,
    args: &SetupArgs,
    environment: &Environment<'_>,
    folder: &Path,
) -> Result<Outcome> {
    let clients = parse_agents(&args.agent)?.unwrap_or_else(|| INTEGRATIONS.to_vec());
    let folder = std::path::absolute(folder)?;
    let bundles = write_bundles(&clients, &folder)?;
    if context.json {
        let bundles: Vec<Value> = bundles
            .iter()
            .map(|bundle| json!({"agent": bundle.client.name, "folder": bundle.folder, "files": bundle.files}))
            .collect();
        context.print_json(&json!({ "plugins": bundles }))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    for bundle in bundles {
        let files = format_counted(bundle.files as u64, "file", "files");
        let folder = environment.display_path(&bundle.folder);
        writeln!(out, "{:<12} {folder} {DIM}{files}{RESET}", bundle.client.title)?;
    }
    writeln!(
        out,
        "The plugins run `tome` from the PATH, so it must be on the PATH wherever they are used."
    )?;
    Ok(Outcome::Done)
}
