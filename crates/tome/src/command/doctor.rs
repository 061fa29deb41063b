//! `tome doctor`: checks the installation and suggests a fix for each problem.

use std::io::Write;
use std::path::{Path, PathBuf};

use std::sync::Arc;

use anyhow::Result;
use tome_engine::damage_of_injections;
use tome_home::{CheckDepth, Damage, NotebookOwner, Notebooks, Projects, StoreMode};
use tome_model::{Clock, Scope, SystemClock};
use tome_proto::v1;
use tome_terminal::{DIM, GREEN, RED, RESET, WrappedWriter, YELLOW, format_bytes, format_counted};

use super::doctor_check::{CheckVerdict, DoctorCheck, bad, good, warning};
use super::status::{DaemonState, collect_status};
use super::{CommandContext, Outcome, capture_state, coverage, index_status, merge_sessions};
use crate::connect::{StartPolicy, is_older_version};
use crate::platform;

/// Files that one check looks at; a home or a notebook can hold many.
const FILES_CHECKED_MAX: usize = 20_000;

pub fn run(context: &CommandContext, is_deep: bool) -> Result<Outcome> {
    let checks = run_checks(context)?;
    let is_bad = checks.iter().any(|check| check.verdict == CheckVerdict::Bad);
    // Comparing transcripts needs a working daemon, so it is skipped when a check failed.
    let coverage =
        (is_deep && !is_bad).then(|| coverage::compare_transcripts(context)).transpose()?;
    if context.json {
        let mut answer = serde_json::json!({"ok": !is_bad, "checks": checks});
        if let (Some(coverage), Some(answer)) = (&coverage, answer.as_object_mut()) {
            answer.insert("coverage".to_owned(), serde_json::to_value(coverage)?);
        }
        context.print_json(&answer)?;
    } else {
        print_checks(&checks)?;
        coverage.iter().try_for_each(coverage::CaptureCoverage::print)?;
    }
    Ok(if is_bad { Outcome::Failed } else { Outcome::Done })
}

/// Columns before the text of a check.
const LABEL_COLUMNS: usize = 19;

fn print_checks(checks: &[DoctorCheck]) -> Result<()> {
    let mut out = WrappedWriter::new(tome_terminal::stdout().lock(), LABEL_COLUMNS);
    for check in checks {
        let (color, mark) = match check.verdict {
            CheckVerdict::Good => (GREEN, "ok"),
            CheckVerdict::Warning => (YELLOW, "warn"),
            CheckVerdict::Bad => (RED, "fail"),
        };
        writeln!(out, "{color}{mark:<4}{RESET}  {:<11}  {}", check.what, check.found)?;
        if let Some(advice) = &check.advice {
            writeln!(out, "{:LABEL_COLUMNS$}{DIM}→{RESET} {advice}", "")?;
        }
    }
    Ok(())
}

fn run_checks(context: &CommandContext) -> Result<Vec<DoctorCheck>> {
    let mut checks = vec![check_config(context), check_home(context)];
    checks.extend(check_permissions(context));
    checks.extend(check_store_mode(context));
    checks.extend(check_notes(context));
    checks.extend(check_capture(context));
    let report = collect_status(context, StartPolicy::Never)?;
    checks.push(check_daemon(&report.daemon));
    if matches!(report.daemon, DaemonState::NotRunning) {
        let home = &context.settings.home;
        let projects = Projects::load(home);
        let mut damage = Damage::find_in_files(home, &projects, CheckDepth::Full);
        damage.extend(damage_of_injections(&projects));
        checks.extend(damage.iter().map(|one| bad("damage", &one.problem, &one.remedy)));
    }
    if let DaemonState::Running(status) = &report.daemon {
        checks.extend(status.stores.iter().filter(|store| !store.refusing.is_empty()).map(
            |store| {
                bad(
                    "store",
                    format!("{} refuses writes: {}", store.path, store.refusing),
                    "free some disk space; the daemon reopens the store automatically",
                )
            },
        ));
        let broken = status.stores.iter().filter(|store| !store.problem.is_empty());
        checks.extend(broken.map(check_broken_store));
        checks.extend(check_damage(context, status)?);
        let size = format_bytes(status.disk_bytes);
        let stores = format_counted(status.projects.len() as u64, "project", "projects");
        checks.push(good("stores", format!("{stores}, {size}, mode {}", status.store_mode)));
        checks.extend(status.finder.iter().flat_map(check_indexes));
        checks.extend(check_model(status));
    }
    checks.push(if report.waiting.events == 0 {
        good("spool", "empty")
    } else {
        warning(
            "spool",
            format!(
                "{} for the daemon",
                format_counted(report.waiting.events, "event waiting", "events waiting")
            ),
            match &report.daemon {
                DaemonState::Running(_) => {
                    "the daemon stores them shortly, unless a problem is listed below"
                }
                _ => "run `tome start` to store them",
            },
        )
    });
    checks.extend(report.spool_problems().iter().map(|problem| {
        warning(
            "spool",
            format!("events cannot be stored yet: {problem}"),
            "fix the cause; the daemon retries within a minute",
        )
    }));
    if report.waiting.damaged > 0 {
        let found = format_counted(report.waiting.damaged, "damaged line", "damaged lines");
        checks.push(warning(
            "spool",
            format!("{found} moved to spool/damaged.jsonl"),
            "inspect the file; repair its lines and feed them to `tome ingest`, or delete it",
        ));
    }
    if report.lost.events > 0 {
        let found = format!(
            "{} could not be stored",
            format_counted(report.lost.events, "event", "events")
        );
        checks.push(bad("lost", found, "check that the home is writable and the disk is not full; then run `tome status --reset-lost`"));
    }
    let split = merge_sessions::find_split_sessions(context);
    checks.extend(split.map(|(found, remedy)| warning("sessions", found, remedy)));
    checks.extend(super::agent_checks::check_agents(context, &report));
    Ok(checks)
}

fn check_config(context: &CommandContext) -> DoctorCheck {
    let config = &context.config;
    let file = config.file.as_ref().filter(|path| path.exists());
    match config.problems.first() {
        Some(problem) => bad(
            "config",
            problem.to_string(),
            "fix it; until then commands refuse to run, and hooks use the remaining settings",
        ),
        None => good(
            "config",
            file.map_or("no config file; using defaults".to_owned(), |path| {
                path.display().to_string()
            }),
        ),
    }
}

fn check_home(context: &CommandContext) -> DoctorCheck {
    let home = context.settings.home.root();
    let shown = context.shorten_path(home);
    if !home.exists() {
        return warning(
            "home",
            format!("{shown} does not exist yet"),
            "it is created with the first event",
        );
    }
    match tempfile::tempfile_in(home) {
        Ok(_) => good("home", shown),
        Err(error) => bad(
            "home",
            format!("{shown} cannot be written: {error}"),
            "make it writable, or set TOME_HOME to a folder that is",
        ),
    }
}

/// Checks that no file in the home is accessible to other users.
fn check_permissions(context: &CommandContext) -> Option<DoctorCheck> {
    let home = context.settings.home.root();
    platform::is_open_to_others(home)?;
    let mut open = Vec::new();
    let mut folders = vec![home.to_path_buf()];
    let mut left = FILES_CHECKED_MAX;
    while let Some(folder) = folders.pop() {
        open.extend(Some(folder.clone()).filter(is_open_to_others));
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().take(left) {
            left -= 1;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                folders.push(entry.path());
            } else {
                open.extend(Some(entry.path()).filter(is_open_to_others));
            }
        }
    }
    Some(match open.first() {
        None => good("permissions", "accessible to the owner only"),
        Some(first) => bad(
            "permissions",
            format!(
                "{} can be read by others, such as {}",
                format_counted(open.len() as u64, "file or folder", "files and folders"),
                first.display()
            ),
            &format!("chmod -R go-rwx {}", home.display()),
        ),
    })
}

fn is_open_to_others(path: &PathBuf) -> bool {
    platform::is_open_to_others(Path::new(path)) == Some(true)
}

/// Warns about events stored in the other store mode, which are kept but not shown.
fn check_store_mode(context: &CommandContext) -> Option<DoctorCheck> {
    let home = &context.settings.home;
    let own_ledgers =
        || Projects::load(home).all().into_iter().map(|(_, folder)| folder.join("ledger"));
    let (has_other, other) = match context.settings.store_mode {
        StoreMode::PerProject => (home.unified_ledger().is_dir(), StoreMode::Unified),
        StoreMode::Unified => (own_ledgers().any(|ledger| ledger.is_dir()), StoreMode::PerProject),
    };
    has_other.then(|| {
        let other = other.as_str();
        warning(
            "stores",
            format!("some events were stored with store.mode = {other}"),
            &format!(
                "they are kept but not shown; `tome --set store.mode={other} daemon` serves them"
            ),
        )
    })
}

/// Checks the notebook of the current project, and warns about notes in the home that a `.memory/`
/// folder in the repository hides.
/// Whether something keeps sessions from being recorded.
fn check_capture(context: &CommandContext) -> Option<DoctorCheck> {
    let (found, advice) = capture_state::describe_gap(context, SystemClock.now())?;
    Some(warning("capture", found, advice))
}

fn check_notes(context: &CommandContext) -> Option<DoctorCheck> {
    // With a remote daemon the notes are on its machine.
    if context.settings.daemon_endpoint.is_some() {
        return None;
    }
    let here = std::env::current_dir().ok()?.to_string_lossy().into_owned();
    let home = &context.settings.home;
    let projects = Arc::new(Projects::load(home));
    let rules = context.settings.notes.clone();
    let notebooks =
        Notebooks::new(home.clone(), Arc::clone(&projects), rules, Arc::new(SystemClock));
    let owner = NotebookOwner { scope: Scope::Project, cwd: Some(here.clone()), session: None };
    let folder = match notebooks.open(&owner) {
        Ok(notebook) => notebook.root().to_path_buf(),
        Err(error) => {
            let advice = "fix it; until then notes of this project cannot be saved";
            return Some(bad("notes", error.to_string(), advice));
        }
    };
    let in_home = projects.find_folder(&projects.resolve_project_or_guess(&here, None));
    let in_home = in_home.map(|project| project.join("memory")).filter(|other| *other != folder);
    let hidden = in_home.as_deref().map_or(0, count_notes);
    if hidden > 0 {
        let notes = format_counted(hidden, "note in Tome's home is", "notes in Tome's home are");
        return Some(warning(
            "notes",
            format!("{notes} hidden by {}", folder.display()),
            "`tome init --in-repo` moves them there",
        ));
    }
    Some(good(
        "notes",
        if folder.is_dir() {
            format!(
                "{} in {}",
                format_counted(count_notes(&folder), "note", "notes"),
                context.shorten_path(&folder)
            )
        } else {
            format!("none yet; they will be in {}", context.shorten_path(&folder))
        },
    ))
}

/// Counts the Markdown files in a notebook, without the index.
fn count_notes(folder: &Path) -> u64 {
    let mut folders = vec![folder.to_path_buf()];
    let (mut notes, mut left) = (0, FILES_CHECKED_MAX);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().take(left) {
            left -= 1;
            let (path, name) = (entry.path(), entry.file_name());
            if name.to_string_lossy().starts_with('.') {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") && name != "MEMORY.md" {
                notes += 1;
            }
        }
    }
    notes
}

/// A store that is busy or cannot be read.
fn check_broken_store(store: &v1::Store) -> DoctorCheck {
    if store.no_answer {
        warning(
            "store",
            format!("{} is busy: {}", store.path, store.problem),
            "check again in a minute; if it persists, run `tome stop --force`; the next command starts a new daemon",
        )
    } else {
        bad(
            "store",
            format!("{} cannot be read: {}", store.path, store.problem),
            "fix the cause, or rebuild the store with `tome admin repair`; until then its new events wait in the spool, other projects are not affected",
        )
    }
}

/// Has the daemon verify all store files, and merges the damage with that in its status.
fn check_damage(context: &CommandContext, status: &v1::StatusResponse) -> Result<Vec<DoctorCheck>> {
    let request =
        v1::VerifyStoresRequest { files_only: true, ..v1::VerifyStoresRequest::default() };
    let verified = context.block_on(async {
        let client = context.connector.connect(StartPolicy::Never).await?;
        // Older daemons lack this call; then only the damage in their status is reported.
        Ok(client.verify_stores(request).await.unwrap_or_default())
    })?;
    let mut damage = status.damage.clone();
    damage.extend(verified.damage);
    damage.sort_by(|a, b| a.found.cmp(&b.found));
    damage.dedup();
    Ok(damage.iter().map(|one| bad("damage", &one.found, &one.remedy)).collect())
}

/// Checks the search indexes. Problems are warnings: an index can always be rebuilt.
fn check_indexes(indexes: &v1::Finder) -> Vec<DoctorCheck> {
    let mut checks = vec![good("indexes", index_status::summarize_indexes(indexes))];
    if let Some(problem) = index_status::endpoint_problem(indexes) {
        checks.push(warning(
            "indexes",
            format!("{} computes no vectors: {problem}", indexes.embedder),
            "check the endpoint, or embed.* in `tome config`, then run `tome stop`; until then recall works by keywords only",
        ));
    }
    for set in &indexes.index_sets {
        let broken = set.indexes.iter().map(|index| index.problem.as_str());
        let problems = index_status::set_problems(indexes, set);
        for problem in broken.chain(problems).filter(|problem| !problem.is_empty()) {
            checks.push(warning(
                "indexes",
                format!("an index of {} cannot be used: {problem}", index_status::set_name(set)),
                &format!(
                    "it is rebuilt automatically; if not, delete {}, which loses no data",
                    set.path
                ),
            ));
        }
    }
    checks
}

/// Checks the chat model and its reflections.
fn check_model(status: &v1::StatusResponse) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    if let Some(model) = status.model.as_ref().filter(|model| !model.chat_problem.is_empty()) {
        let problem = format!("the chat model cannot be used: {}", model.chat_problem);
        checks.push(warning(
            "model",
            problem,
            "check chat.* in `tome config`, then run `tome stop`",
        ));
    }
    let Some(reflections) = &status.reflections else { return checks };
    match reflections.left.last() {
        Some(left) => checks.push(warning(
            "reflect",
            format!(
                "gave up on {} after two attempts, last error: {}",
                format_counted(reflections.left.len() as u64, "session", "sessions"),
                left.why
            ),
            &format!("`tome reflect {}` retries it", left.session_id),
        )),
        None => checks.push(good(
            "reflect",
            format!(
                "{}, {} waiting{}",
                format_counted(reflections.done, "session done", "sessions done"),
                reflections.waiting,
                if reflections.is_on { "" } else { ", turned off" }
            ),
        )),
    }
    checks
}

fn check_daemon(daemon: &DaemonState) -> DoctorCheck {
    let own = env!("CARGO_PKG_VERSION");
    match daemon {
        DaemonState::Running(status) if is_older_version(&status.version, own) => warning(
            "daemon",
            format!("running version {}, but this is {own}", status.version),
            "`tome start` replaces it",
        ),
        DaemonState::Running(status) => good(
            "daemon",
            format!(
                "running (pid {}, version {}, {})",
                status.pid,
                status.version,
                format_bytes(status.resident_bytes)
            ),
        ),
        DaemonState::NotRunning => good("daemon", "not running; starts automatically when needed"),
        DaemonState::NotAnswering { pid, problem } => bad(
            "daemon",
            format!("does not answer (pid {pid}): {problem}"),
            "`tome stop --force` kills it; meanwhile events wait in the spool",
        ),
        DaemonState::Failing(problem) => bad(
            "daemon",
            format!("answers with an error: {problem}"),
            "see run/daemon.log in the home; restart it with `tome stop` and `tome start`",
        ),
        DaemonState::Unreachable(problem) => bad(
            "daemon",
            format!("cannot be reached: {problem}"),
            "check daemon.endpoint in `tome config`, and TOME_TOKEN",
        ),
    }
}
