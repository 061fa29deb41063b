//! The checks of `tome doctor` for coding agents: whether Tome is fully connected to each installed
//! agent, whether anything prevents its hooks from running, and when its last event arrived.

use serde_json::Value;
use tome_model::Millis;
use tome_proto::EventListQuery;
use tome_terminal::format_ago;

use super::CommandContext;
use super::doctor_check::{DoctorCheck, bad, good, warning};
use super::setup::{build_environment, check_program_name};
use super::status::{DaemonState, StatusReport};
use crate::connect::StartPolicy;
use crate::setup::integration::{
    AgentIntegration, INTEGRATIONS, OPENCODE_PACKAGE, plugin_package_folder,
};
use crate::setup::{
    Environment, FilePlan, HookTrust, PlannedEdit, UndoJournal, build_plan, is_strict_json,
    read_codex_trust, read_settings, redundant_copies,
};

/// Name of these checks in the output.
const CHECK_NAME: &str = "agent";

pub(super) fn check_agents(context: &CommandContext, report: &StatusReport) -> Vec<DoctorCheck> {
    let var = |name: &str| std::env::var(name).ok();
    let environment = match build_environment(context, false, &var) {
        Ok(environment) => environment,
        Err(error) => return vec![warning(CHECK_NAME, error.to_string(), "set HOME")],
    };
    if let Err(refusal) = check_program_name(&environment) {
        let advice = refusal.hint.clone().unwrap_or_default();
        return vec![warning(CHECK_NAME, refusal.to_string(), &advice)];
    }
    let book = match UndoJournal::open(context.settings.home.root()) {
        Ok(book) => book,
        Err(error) => {
            let advice = "fix or delete that file; without it `tome setup --undo` cannot restore the originals";
            return vec![bad(CHECK_NAME, error.to_string(), advice)];
        }
    };
    let is_known =
        |client: &AgentIntegration| book.entries().iter().any(|e| e.agents.contains(client.name));
    let here = INTEGRATIONS
        .iter()
        .filter(|client| client.find_installation(&environment).is_some() || is_known(client));
    let mut checks: Vec<DoctorCheck> = Vec::new();
    for client in here {
        checks.extend(check_agent(context, client, &environment, &book, report));
    }
    if checks.is_empty() {
        checks.push(good(CHECK_NAME, "no coding agent found"));
    }
    checks
}

fn check_agent(
    context: &CommandContext,
    client: &'static AgentIntegration,
    environment: &Environment<'_>,
    book: &UndoJournal,
    report: &StatusReport,
) -> Vec<DoctorCheck> {
    let files = build_plan(&[client], environment, book).files;
    let title = client.title;
    let mend = format!("run `tome setup --agent {}`", client.name);
    let refused = files.iter().find_map(|file| match &file.action {
        PlannedEdit::Refuse(error) => Some((file, error.cause())),
        _ => None,
    });
    if let Some((file, cause)) = refused {
        let advice = format!("fix that file, then {mend}");
        let path = environment.display_path(&file.path);
        return vec![bad(CHECK_NAME, format!("{title}: {path}: {cause}"), &advice)];
    }
    if !files.iter().any(FilePlan::is_installed) {
        return vec![check_project_integration(context, client, report)];
    }
    let mut checks = Vec::new();
    let pending: Vec<String> = files
        .iter()
        .filter(|file| file.new_text().is_some())
        .map(|file| environment.display_path(&file.path))
        .collect();
    if !pending.is_empty() {
        let found =
            format!("{title}: hooks are incomplete or run another tome: {}", pending.join(", "));
        checks.push(warning(CHECK_NAME, found, &mend));
    }
    checks.extend(check_strict_json(client, environment, &files));
    checks.extend(check_hooks_switch(client, environment));
    checks.extend(check_hook_trust(client, &files));
    if checks.is_empty() {
        checks.push(good(
            CHECK_NAME,
            format!("{title}: connected; {}", describe_last_event(context, client, report)),
        ));
    }
    checks.extend(check_skill_copies(context, client, environment));
    checks.extend(check_opencode_package(client, environment));
    checks
}

/// Warns about redundant copies of the skill: an agent that finds two may list it twice.
fn check_skill_copies(
    context: &CommandContext,
    client: &AgentIntegration,
    environment: &Environment<'_>,
) -> Option<DoctorCheck> {
    let var = |name: &str| std::env::var(name).ok();
    let project = build_environment(context, true, &var).ok();
    let project = project.filter(|project| project.project.as_ref() != Some(&environment.home));
    let redundant = redundant_copies(client, environment, project.as_ref());
    let shown: Vec<String> = redundant.iter().map(|path| environment.display_path(path)).collect();
    let found = || format!("{} finds several copies of Tome's skill", client.title);
    (!shown.is_empty()).then(|| {
        warning(CHECK_NAME, found(), &format!("delete {}; one copy is enough", shown.join(", ")))
    })
}

/// OpenCode needs a package for plugins and tries to install it at every start until it succeeds.
fn check_opencode_package(
    client: &AgentIntegration,
    environment: &Environment<'_>,
) -> Option<DoctorCheck> {
    let is_missing = client.name == "opencode" && !plugin_package_folder(environment).exists();
    is_missing.then(|| {
        let problem = format!(
            "{}: the package {OPENCODE_PACKAGE}, which it needs for plugins, is missing; \
             without a network every start takes 80 seconds or more",
            client.title
        );
        let advice = "start opencode once while online, and again after each update; it installs the \
                      package itself";
        warning(CHECK_NAME, problem, advice)
    })
}

/// Reports an agent without hooks in the user's settings. The current project's settings may still have
/// them.
fn check_project_integration(
    context: &CommandContext,
    client: &'static AgentIntegration,
    report: &StatusReport,
) -> DoctorCheck {
    let title = client.title;
    let var = |name: &str| std::env::var(name).ok();
    let project = build_environment(context, true, &var).ok();
    let book = UndoJournal::open(context.settings.home.root()).ok();
    let files = project
        .zip(book)
        .map(|(environment, book)| build_plan(&[client], &environment, &book).files);
    let files = files.unwrap_or_default();
    if files.iter().any(FilePlan::is_installed)
        && files.iter().all(|file| file.new_text().is_none())
    {
        let last_event = describe_last_event(context, client, report);
        return good(CHECK_NAME, format!("{title}: connected in this project only; {last_event}"));
    }
    let advice = format!("run `tome setup --agent {}`", client.name);
    warning(CHECK_NAME, format!("{title} is installed but not connected"), &advice)
}

/// Some agents parse strict JSON and ignore a file with comments, including its hooks.
fn check_strict_json(
    client: &AgentIntegration,
    environment: &Environment<'_>,
    files: &[FilePlan],
) -> Option<DoctorCheck> {
    let is_refused = |file: &&FilePlan| {
        let is_json = file.path.extension().is_some_and(|end| end == "json");
        is_json && file.current.as_deref().is_some_and(|now| !is_strict_json(now))
    };
    let file = files.iter().filter(|_| !client.allows_comments).find(is_refused)?;
    let path = environment.display_path(&file.path);
    let found = format!("{} ignores {path}: it has comments or trailing commas", client.title);
    Some(bad(CHECK_NAME, found, "remove them; this agent accepts only strict JSON"))
}

/// Checks the agent's own switch that turns all hooks off.
fn check_hooks_switch(
    client: &AgentIntegration,
    environment: &Environment<'_>,
) -> Option<DoctorCheck> {
    let switch = (client.off_switch?)(environment);
    let settings = read_settings(&switch.path)?;
    let is_off = settings.pointer(switch.pointer) == Some(&Value::Bool(switch.off));
    is_off.then(|| {
        let setting = switch.pointer.trim_start_matches('/').replace('/', ".");
        let path = environment.display_path(&switch.path);
        bad(
            CHECK_NAME,
            format!("{}: `{setting}` in {path} turns all hooks off", client.title),
            &format!("set it to {}, or remove it", !switch.off),
        )
    })
}

/// Codex runs only hooks that the user has trusted.
fn check_hook_trust(client: &AgentIntegration, files: &[FilePlan]) -> Option<DoctorCheck> {
    let hooks = files.iter().find(|file| file.path.ends_with("hooks.json"))?;
    let folder = hooks.path.parent().filter(|_| client.name == "codex")?;
    match read_codex_trust(folder) {
        HookTrust::Untrusted(events) => {
            let found =
                format!("{}: these hooks are not trusted yet: {}", client.title, events.join(", "));
            Some(warning(CHECK_NAME, found, "start codex, type /hooks and trust Tome's hooks"))
        }
        HookTrust::Trusted | HookTrust::Unknown => None,
    }
}

/// Describes when the agent's last event happened.
fn describe_last_event(
    context: &CommandContext,
    client: &AgentIntegration,
    report: &StatusReport,
) -> String {
    if !matches!(report.daemon, DaemonState::Running(_)) {
        let unknown = "last event unknown while the daemon is not running";
        return format!("{unknown} (run `tome start`)");
    }
    match find_last_event(context, client) {
        Some(at) => format!("last event {}", format_ago(report.now, at)),
        None => "no events yet; start a session".to_owned(),
    }
}

fn find_last_event(context: &CommandContext, client: &AgentIntegration) -> Option<Millis> {
    let query = EventListQuery {
        agents: vec![client.name.to_owned()],
        newest_first: true,
        limit: 1,
        ..EventListQuery::default()
    };
    let page = context.block_on(async {
        let page = context.connector.call_idempotent(StartPolicy::Never, async |daemon| {
            daemon.list_events(query.clone()).await
        });
        Ok(page.await?)
    });
    page.ok()?.events.first().map(|event| event.at)
}
