//! `tome setup`: connects Tome to the coding agents on this machine, or disconnects it. Shows the
//! changes, asks for confirmation, and applies them.

mod print;
mod undo;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Context, Outcome, Refusal};
use crate::agents::wiring::{CLIENTS, Client};
use crate::cli::setup::Setup;
use crate::platform;
use crate::render::{BOLD, DIM, PLAIN, counted};
use crate::setup::{Action, Book, Ground, Launch, Lock, Plan, apply, plan, write_bundles};

pub fn run(context: &Context, asked: &Setup) -> Result<Outcome> {
    let var = |name: &str| std::env::var(name).ok();
    let ground = ground(context, asked.project, &var)?;
    if let Some(folder) = &asked.plugins {
        return plugins(context, asked, &ground, folder);
    }
    if asked.undo {
        let clients = named(&asked.agent)?.unwrap_or_else(|| CLIENTS.to_vec());
        return undo::run(context, asked, &ground, &clients);
    }
    let clients = named(&asked.agent)?.unwrap_or_else(|| found(&ground));
    if clients.is_empty() {
        return nobody(context);
    }
    wire(context, asked, &ground, &clients)
}

/// Builds the setup environment from this process: the user's home, the project and how agents launch
/// Tome.
pub(super) fn ground<'a>(
    context: &Context,
    in_project: bool,
    var: &'a dyn Fn(&str) -> Option<String>,
) -> Result<Ground<'a>> {
    let home = var("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home = home
        .or_else(std::env::home_dir)
        .ok_or_else(|| Refusal::bad_input("no home folder: HOME is not set to an absolute path"))?;
    let project = if in_project {
        let here = std::env::current_dir()?;
        // A linked worktree has settings of its own.
        let found = tome_home::locate(&here);
        Some(found.map_or(here, |found| found.worktree.unwrap_or(found.root)))
    } else {
        None
    };
    let mut ground =
        Ground { home, project, launch: Launch { program: String::new(), flags: Vec::new() }, var };
    ground.launch = launch(context, &ground)?;
    Ok(ground)
}

/// Returns the command line with which agents run this program. Prefers the path found via PATH, which
/// survives updates. A non-default home or config is passed as a flag, because agents do not pass on
/// every environment variable.
fn launch(context: &Context, ground: &Ground<'_>) -> Result<Launch> {
    let own = std::env::current_exe()?;
    let real = own.canonicalize().unwrap_or_else(|_| own.clone());
    let on_path = ground.program("tome");
    let same = on_path.filter(|path| path.canonicalize().is_ok_and(|path| path == real));
    let program = same.filter(|path| path.is_absolute()).unwrap_or(own);
    let only_home =
        |name: &str| (name == "HOME").then(|| ground.home.to_string_lossy().into_owned());
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
    Ok(Launch { program: program.to_string_lossy().into_owned(), flags })
}

/// Looks up agents by name; `None` if no names were given.
fn named(names: &[String]) -> Result<Option<Vec<&'static Client>>> {
    let mut clients: Vec<&'static Client> = Vec::new();
    for name in names {
        let is_meant = |client: &Client| client.name == name || client.program == name;
        let client = CLIENTS.iter().find(|client| is_meant(client)).ok_or_else(|| {
            let known: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
            Refusal::bad_input(format!("unknown agent `{name}`"))
                .hint(format!("known agents: {}", known.join(", ")))
        })?;
        if !clients.iter().any(|known| known.name == client.name) {
            clients.push(client);
        }
    }
    Ok(Some(clients).filter(|clients| !clients.is_empty()))
}

fn found(ground: &Ground<'_>) -> Vec<&'static Client> {
    CLIENTS.iter().copied().filter(|client| client.found(ground).is_some()).collect()
}

fn nobody(context: &Context) -> Result<Outcome> {
    if context.json {
        context.print_json(&json!({ "applied": false, "agents": [], "files": [] }))?;
        return Ok(Outcome::Done);
    }
    let known: Vec<&str> = CLIENTS.iter().map(|client| client.title).collect();
    let mut out = crate::terminal::stdout().lock();
    writeln!(out, "No coding agent found. Tome looks for {}.", known.join(", "))?;
    writeln!(out, "`tome setup --agent NAME` connects one anyway.")?;
    Ok(Outcome::Done)
}

fn wire(
    context: &Context,
    asked: &Setup,
    ground: &Ground<'_>,
    clients: &[&'static Client],
) -> Result<Outcome> {
    let home = context.settings.home.root();
    let plan = plan(clients, ground, &Book::open(home)?);
    let is_work = plan.files.iter().any(|file| file.text().is_some());
    if !context.json {
        print::plan(ground, clients, &plan)?;
    }
    let go = is_work && agreed(asked, context.json)?;
    let mut failed = Vec::new();
    if go {
        let _lock = Lock::take(home)?;
        failed = apply(&plan, ground, &mut Book::open(home)?)?;
    }
    if context.json {
        context.print_json(&print::as_json(ground, clients, &plan, go, &failed))?;
    } else {
        print::outcome(clients, &plan, go, &failed)?;
        if (go || !is_work) && !asked.dry_run {
            offer_import(context, asked, clients)?;
        }
    }
    if is_work && !go && !asked.dry_run {
        return Err(unasked().into());
    }
    Ok(if failed.is_empty() && !has_refusals(&plan) { Outcome::Done } else { Outcome::Failed })
}

fn has_refusals(plan: &Plan) -> bool {
    plan.files.iter().any(|file| matches!(file.action, Action::Refuse(_)))
}

/// Whether to apply the changes: from the flags, or by asking on the terminal.
fn agreed(asked: &Setup, json: bool) -> Result<bool> {
    if asked.yes || asked.dry_run {
        return Ok(asked.yes);
    }
    if json || !io::stdin().is_terminal() || !crate::terminal::is_stdout_terminal() {
        return Ok(false);
    }
    if ask("Apply these changes?")? {
        return Ok(true);
    }
    Err(Refusal::failed("nothing was changed").into())
}

fn unasked() -> Refusal {
    Refusal::bad_input("nothing was changed: cannot ask for confirmation without a terminal")
        .hint("--yes applies the changes without asking; --dry-run only shows them")
}

fn ask(question: &str) -> Result<bool> {
    let mut out = crate::terminal::stdout().lock();
    write!(out, "{BOLD}{question}{PLAIN} [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Offers to import the agents' earlier sessions, or prints the command that does.
fn offer_import(context: &Context, asked: &Setup, clients: &[&'static Client]) -> Result<()> {
    if !crate::cli::has_command("import") {
        return Ok(());
    }
    let mut args = vec!["import".to_owned()];
    for client in clients {
        args.extend(["--agent".to_owned(), client.name.to_owned()]);
    }
    let can_ask = !asked.yes && io::stdin().is_terminal() && crate::terminal::is_stdout_terminal();
    if can_ask && ask("Import earlier sessions from these agents' transcripts?")? {
        context.reach.program()?.args(&args).status()?;
        return Ok(());
    }
    let mut out = crate::terminal::stdout().lock();
    let line = args.join(" ");
    writeln!(out, "{DIM}`tome {line}` imports these agents' earlier sessions.{PLAIN}")?;
    Ok(())
}

fn plugins(
    context: &Context,
    asked: &Setup,
    ground: &Ground<'_>,
    folder: &std::path::Path,
) -> Result<Outcome> {
    let clients = named(&asked.agent)?.unwrap_or_else(|| CLIENTS.to_vec());
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
    let mut out = crate::terminal::stdout().lock();
    for bundle in bundles {
        let files = counted(bundle.files as u64, "file", "files");
        let folder = ground.short(&bundle.folder);
        writeln!(out, "{:<12} {folder} {DIM}{files}{PLAIN}", bundle.client.title)?;
    }
    writeln!(
        out,
        "The plugins run `tome` from the PATH, so it must be on the PATH wherever they are used."
    )?;
    Ok(Outcome::Done)
}
