//! The checks of `tome doctor` for coding agents: whether Tome is fully connected to each installed
//! agent, whether anything prevents its hooks from running, and when its last event arrived.

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

/// Name of these checks in the output.
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
            let advice = "fix or delete that file; without it `tome setup --undo` cannot restore the originals";
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
        checks.push(good(WHAT, "no coding agent found"));
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
    let mend = format!("run `tome setup --agent {}`", client.name);
    let refused = files.iter().find_map(|file| match &file.action {
        Action::Refuse(error) => Some(error.to_string()),
        _ => None,
    });
    if let Some(error) = refused {
        let advice = format!("fix that file, then {mend}");
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
        let found =
            format!("{title}: hooks are incomplete or run another tome: {}", pending.join(", "));
        checks.push(warning(WHAT, found, &mend));
    }
    checks.extend(check_letters(client, ground, &files));
    checks.extend(check_switch(client, ground));
    checks.extend(check_trust(client, &files));
    if checks.is_empty() {
        checks.push(good(
            WHAT,
            format!("{title}: connected; {}", last_heard(context, client, report)),
        ));
    }
    checks.extend(check_skill(context, client, ground));
    checks.extend(check_package(client, ground));
    checks
}

/// Warns about redundant copies of the skill: an agent that finds two may list it twice.
fn check_skill(context: &Context, client: &Client, ground: &Ground<'_>) -> Option<Check> {
    let var = |name: &str| std::env::var(name).ok();
    let project = super::setup::ground(context, true, &var).ok();
    let project = project.filter(|project| project.project.as_ref() != Some(&ground.home));
    let redundant = redundant_copies(client, ground, project.as_ref());
    let shown: Vec<String> = redundant.iter().map(|path| ground.short(path)).collect();
    let found = || format!("{} finds several copies of Tome's skill", client.title);
    (!shown.is_empty()).then(|| {
        warning(WHAT, found(), &format!("delete {}; one copy is enough", shown.join(", ")))
    })
}

/// OpenCode needs a package for plugins and tries to install it at every start until it succeeds.
fn check_package(client: &Client, ground: &Ground<'_>) -> Option<Check> {
    let is_missing = client.name == "opencode" && !package_folder(ground).exists();
    is_missing.then(|| {
        let found = format!(
            "{}: the package {OPENCODE_PACKAGE}, which it needs for plugins, is missing; \
             without a network every start takes 80 seconds or more",
            client.title
        );
        let advice = "start opencode once while online, and again after each update; it installs the \
                      package itself";
        warning(WHAT, found, advice)
    })
}

/// Reports an agent without hooks in the user's settings. The current project's settings may still have
/// them.
fn not_wired(context: &Context, client: &'static Client, report: &Report) -> Check {
    let title = client.title;
    let var = |name: &str| std::env::var(name).ok();
    let project = ground(context, true, &var).ok();
    let book = Book::open(context.settings.home.root()).ok();
    let files = project.zip(book).map(|(ground, book)| plan(&[client], &ground, &book).files);
    let files = files.unwrap_or_default();
    if files.iter().any(FilePlan::is_wired) && files.iter().all(|file| file.text().is_none()) {
        let heard = last_heard(context, client, report);
        return good(WHAT, format!("{title}: connected in this project only; {heard}"));
    }
    let advice = format!("run `tome setup --agent {}`", client.name);
    warning(WHAT, format!("{title} is installed but not connected"), &advice)
}

/// Some agents parse strict JSON and ignore a file with comments, including its hooks.
fn check_letters(client: &Client, ground: &Ground<'_>, files: &[FilePlan]) -> Option<Check> {
    let is_refused = |file: &&FilePlan| {
        let is_json = file.path.extension().is_some_and(|end| end == "json");
        is_json && file.now.as_deref().is_some_and(|now| !is_strict_json(now))
    };
    let file = files.iter().filter(|_| !client.takes_comments).find(is_refused)?;
    let path = ground.short(&file.path);
    let found = format!("{} ignores {path}: it has comments or trailing commas", client.title);
    Some(bad(WHAT, found, "remove them; this agent accepts only strict JSON"))
}

/// Checks the agent's own switch that turns all hooks off.
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
            &format!("set it to {}, or remove it", !switch.off),
        )
    })
}

/// Codex runs only hooks that the user has trusted.
fn check_trust(client: &Client, files: &[FilePlan]) -> Option<Check> {
    let hooks = files.iter().find(|file| file.path.ends_with("hooks.json"))?;
    let folder = hooks.path.parent().filter(|_| client.name == "codex")?;
    match codex_trust(folder) {
        Trust::Untrusted(events) => {
            let found =
                format!("{}: these hooks are not trusted yet: {}", client.title, events.join(", "));
            Some(warning(WHAT, found, "start codex, type /hooks, and trust Tome's hooks"))
        }
        Trust::Trusted | Trust::Unknown => None,
    }
}

/// Describes when the agent's last event happened.
fn last_heard(context: &Context, client: &Client, report: &Report) -> String {
    if !matches!(report.daemon, Daemon::Running(_)) {
        let unknown = "last event unknown while the daemon is not running";
        return format!("{unknown} (run `tome start`)");
    }
    match last_event(context, client) {
        Some(at) => format!("last event {}", ago(report.now, at)),
        None => "no events yet; start a session".to_owned(),
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
