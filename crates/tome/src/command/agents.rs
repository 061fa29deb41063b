//! The doctor's look at the coding agents: whether Tome is wired into each that is here, whole and
//! to this program, whether anything keeps the hooks from running, and when it was last heard of.

use serde_json::Value;
use tome_model::Millis;
use tome_proto::Query;

use super::Context;
use super::doctor::{Check, bad, good, warning};
use super::setup::ground;
use super::status::{Daemon, Report};
use crate::agents::wiring::{CLIENTS, Client, OPENCODE_PACKAGE, package_folder};
use crate::reach::Start;
use crate::render::ago;
use crate::setup::{
    Action, Book, FilePlan, Ground, Trust, codex_trust, is_strict_json, plan, redundant_copies,
    settings_at,
};

/// What every check of an agent is called.
const WHAT: &str = "agent";

pub(super) fn check(context: &Context, report: &Report) -> Vec<Check> {
    let var = |name: &str| std::env::var(name).ok();
    let ground = match ground(context, false, &var) {
        Ok(ground) => ground,
        Err(error) => return vec![warning(WHAT, error.to_string(), "set HOME")],
    };
    let book = match Book::open(context.settings.home.root()) {
        Ok(book) => book,
        Err(error) => {
            let advice =
                "mend or delete that file; without it `tome setup --undo` goes by what it sees";
            return vec![bad(WHAT, error.to_string(), advice)];
        }
    };
    let is_known = |client: &Client| book.entries().iter().any(|e| e.agents.contains(client.name));
    let here = CLIENTS.iter().filter(|client| client.found(&ground).is_some() || is_known(client));
    let mut checks: Vec<Check> = Vec::new();
    for client in here {
        checks.extend(check_one(context, client, &ground, &book, report));
    }
    if checks.is_empty() {
        checks.push(good(WHAT, "no coding agent was found here"));
    }
    checks
}

fn check_one(
    context: &Context,
    client: &'static Client,
    ground: &Ground<'_>,
    book: &Book,
    report: &Report,
) -> Vec<Check> {
    let files = plan(&[client], ground, book).files;
    let title = client.title;
    let mend = format!("`tome setup --agent {}` mends it", client.name);
    let refused = files.iter().find_map(|file| match &file.action {
        Action::Refuse(error) => Some(error.to_string()),
        _ => None,
    });
    if let Some(error) = refused {
        let advice = format!("mend that file; then {mend}");
        return vec![bad(WHAT, format!("{title}: {error}"), &advice)];
    }
    if !files.iter().any(FilePlan::is_wired) {
        return vec![not_wired(context, client, report)];
    }
    let mut checks = Vec::new();
    let pending: Vec<String> = files
        .iter()
        .filter(|file| file.text().is_some())
        .map(|file| ground.short(&file.path))
        .collect();
    if !pending.is_empty() {
        let found = format!(
            "{title}: the wiring is not whole, or is to another tome: {}",
            pending.join(", ")
        );
        checks.push(warning(WHAT, found, &mend));
    }
    checks.extend(check_letters(client, ground, &files));
    checks.extend(check_switch(client, ground));
    checks.extend(check_trust(client, &files));
    if checks.is_empty() {
        checks.push(good(WHAT, format!("{title}: wired; {}", last_heard(context, client, report))));
    }
    checks.extend(check_skill(context, client, ground));
    checks.extend(check_package(client, ground));
    checks
}

/// An agent that finds the skill in two folders may list it twice.
fn check_skill(context: &Context, client: &Client, ground: &Ground<'_>) -> Option<Check> {
    let var = |name: &str| std::env::var(name).ok();
    let project = super::setup::ground(context, true, &var).ok();
    let project = project.filter(|project| project.project.as_ref() != Some(&ground.home));
    let redundant = redundant_copies(client, ground, project.as_ref());
    let shown: Vec<String> = redundant.iter().map(|path| ground.short(path)).collect();
    let found = || format!("{} reads Tome's skill more than once", client.title);
    (!shown.is_empty()).then(|| {
        warning(WHAT, found(), &format!("delete {}; one copy is enough", shown.join(", ")))
    })
}

/// OpenCode tries to install a package for any plugin before it starts, for as long as it is missing.
fn check_package(client: &Client, ground: &Ground<'_>) -> Option<Check> {
    let is_missing = client.name == "opencode" && !package_folder(ground).exists();
    is_missing.then(|| {
        let found = format!(
            "{}: the package {OPENCODE_PACKAGE}, which it installs for any plugin, is missing; \
             without a network every start takes 80 seconds or more",
            client.title
        );
        let advice = "start opencode once while online, and again after each update of OpenCode; it \
                      installs the package by itself";
        warning(WHAT, found, advice)
    })
}

/// An agent that is here without Tome; in the project where we stand it may be wired all the same.
fn not_wired(context: &Context, client: &'static Client, report: &Report) -> Check {
    let title = client.title;
    let var = |name: &str| std::env::var(name).ok();
    let project = ground(context, true, &var).ok();
    let book = Book::open(context.settings.home.root()).ok();
    let files = project.zip(book).map(|(ground, book)| plan(&[client], &ground, &book).files);
    let files = files.unwrap_or_default();
    if files.iter().any(FilePlan::is_wired) && files.iter().all(|file| file.text().is_none()) {
        let heard = last_heard(context, client, report);
        return good(WHAT, format!("{title}: wired in this project only; {heard}"));
    }
    let advice = format!("`tome setup --agent {}` wires it", client.name);
    warning(WHAT, format!("{title} is here, and Tome is not wired into it"), &advice)
}

/// An agent that reads nothing but JSON passes over a file with comments, hooks and all.
fn check_letters(client: &Client, ground: &Ground<'_>, files: &[FilePlan]) -> Option<Check> {
    let is_refused = |file: &&FilePlan| {
        let is_json = file.path.extension().is_some_and(|end| end == "json");
        is_json && file.now.as_deref().is_some_and(|now| !is_strict_json(now))
    };
    let file = files.iter().filter(|_| !client.takes_comments).find(is_refused)?;
    let path = ground.short(&file.path);
    let found =
        format!("{} does not read {path}: it has comments or trailing commas", client.title);
    Some(bad(WHAT, found, "take them out; it takes nothing but plain JSON"))
}

/// A setting of the agent's own that turns all hooks off.
fn check_switch(client: &Client, ground: &Ground<'_>) -> Option<Check> {
    let switch = (client.off_switch?)(ground);
    let settings = settings_at(&switch.path)?;
    let is_off = settings.pointer(switch.pointer) == Some(&Value::Bool(switch.off));
    is_off.then(|| {
        let setting = switch.pointer.trim_start_matches('/').replace('/', ".");
        let path = ground.short(&switch.path);
        bad(
            WHAT,
            format!("{}: `{setting}` in {path} turns all hooks off", client.title),
            &format!("set it to {}, or take it out", !switch.off),
        )
    })
}

/// Codex runs nothing that the person has not trusted.
fn check_trust(client: &Client, files: &[FilePlan]) -> Option<Check> {
    let hooks = files.iter().find(|file| file.path.ends_with("hooks.json"))?;
    let folder = hooks.path.parent().filter(|_| client.name == "codex")?;
    match codex_trust(folder) {
        Trust::Untrusted(events) => {
            let found =
                format!("{}: no trust yet for its hooks: {}", client.title, events.join(", "));
            Some(warning(WHAT, found, "start codex, type /hooks, and trust Tome's"))
        }
        Trust::Trusted | Trust::Unknown => None,
    }
}

/// When the agent was last heard of.
fn last_heard(context: &Context, client: &Client, report: &Report) -> String {
    if !matches!(report.daemon, Daemon::Running(_)) {
        let unknown = "when it was last heard of is not known while the daemon is away";
        return format!("{unknown} (`tome start`, then look again)");
    }
    match last_event(context, client) {
        Some(at) => format!("last event {}", ago(report.now, at)),
        None => "nothing was heard of it yet; start a session of it".to_owned(),
    }
}

fn last_event(context: &Context, client: &Client) -> Option<Millis> {
    let query = Query {
        agents: vec![client.name.to_owned()],
        newest_first: true,
        limit: 1,
        ..Query::default()
    };
    let page = context.block_on(async {
        let asked =
            context.reach.ask(Start::Never, async |asked| asked.events(query.clone()).await);
        Ok(asked.await?)
    });
    page.ok()?.events.first().map(|event| event.at)
}
