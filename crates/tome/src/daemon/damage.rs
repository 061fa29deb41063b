//! Damage of stores and files: finding it for a status, full verification, and repair.

use std::path::{Path, PathBuf};

use tome_engine::damage_of_injections;
use tome_home::{CheckDepth, Damage, Store, StoreMode};
use tome_model::SessionStats;
use tome_proto::v1;

use super::drain::drain;
use super::request_fields::non_empty;
use super::state::Daemon;

/// Minimum interval between two checks of a store's files, each of which reads the whole store.
const CHECK_INTERVAL_MS: u64 = 24 * 3_600_000;

/// Stores up to this size are checked by the status call; larger ones in the background.
const CHECK_INLINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Checks the files of a store if the last check is too old.
fn check_files(daemon: &Daemon, path: &Path) {
    let now = daemon.engine.clock().now();
    let known = daemon.file_checks.get(path);
    if known.is_none_or(|(at, _)| now.distance_ms(at) >= CHECK_INTERVAL_MS) {
        let damage = daemon.engine.stores().verify_files(path);
        if let Some(first) = damage.first() {
            daemon.log.write(&format!("damage: {}", first.problem));
        }
        daemon.file_checks.set(path, Some((now, damage)));
    }
}

/// Checks the files of all open stores, to find damage before a query does.
pub fn check_open_stores(daemon: &Daemon) {
    for store in daemon.engine.stores().open_stores() {
        let path = store.path().to_owned();
        drop(store);
        check_files(daemon, &path);
    }
}

/// Returns the damage of one open store.
pub fn find_in_store(
    daemon: &Daemon,
    path: &Path,
    store: &Store,
    sessions: &[SessionStats],
) -> Vec<v1::Damage> {
    if store.disk_bytes() <= CHECK_INLINE_BYTES_MAX {
        check_files(daemon, path);
    }
    let mut damage = Damage::find_in_store(store);
    let checked = daemon.file_checks.get(path).map(|(_, damage)| damage).unwrap_or_default();
    damage.extend(checked);
    damage.sort_by(|a, b| a.problem.cmp(&b.problem));
    damage.dedup();
    if daemon.engine.stores().mode() == StoreMode::PerProject
        && let Some(root) = project_root(daemon, path)
    {
        damage.extend(Damage::find_foreign_events(path, &root, sessions));
    }
    damage.into_iter().map(damage_to_wire).collect()
}

/// Returns the damage of all other files in the home.
pub fn find_in_home(daemon: &Daemon, depth: CheckDepth) -> Vec<v1::Damage> {
    let projects = daemon.engine.stores().projects();
    let mut damage = Damage::find_in_files(&daemon.settings.home, projects, depth);
    damage.extend(damage_of_injections(projects));
    damage.into_iter().map(damage_to_wire).collect()
}

/// Verifies the store of a project, or everything.
pub fn verify(daemon: &Daemon, request: &v1::VerifyStoresRequest) -> v1::VerifyStoresResponse {
    let project = non_empty(&request.project);
    let mut answer = v1::VerifyStoresResponse::default();
    for path in store_paths(daemon, project) {
        let was_open = daemon.engine.stores().is_open(&path);
        let mut damage = if request.files_only {
            daemon.engine.stores().verify_files(&path)
        } else {
            daemon.engine.stores().verify(&path)
        };
        damage.dedup();
        daemon.file_checks.set(&path, Some((daemon.engine.clock().now(), damage.clone())));
        answer.damage.extend(damage.into_iter().map(damage_to_wire));
        answer.stores += 1;
        if !was_open {
            daemon.engine.stores().close(&path);
        }
    }
    if project.is_none() {
        answer.damage.extend(find_in_home(daemon, CheckDepth::Full));
    }
    answer
}

/// Repairs damaged stores, or with `all` every selected store.
pub fn repair(daemon: &Daemon, request: &v1::RepairStoresRequest) -> v1::RepairStoresResponse {
    drain(daemon);
    let project = non_empty(&request.project);
    let stores = store_paths(daemon, project).into_iter().map(|path| {
        let mut answer =
            v1::StoreRepaired { store: path.display().to_string(), ..v1::StoreRepaired::default() };
        if !request.all && daemon.engine.stores().verify(&path).is_empty() {
            return answer;
        }
        match daemon.engine.repair(&path) {
            Ok(done) => {
                daemon.file_checks.set(&path, None);
                answer.repaired = true;
                (answer.kept, answer.restored, answer.lost) = (done.kept, done.restored, done.lost);
                answer.set_aside = done.set_aside.display().to_string();
                let (kept, restored, lost) = (done.kept, done.restored, done.lost);
                daemon.log.write(&format!(
                    "repaired {}: {kept} events kept, {restored} restored, {lost} lost",
                    path.display()
                ));
                daemon
                    .scheduler
                    .schedule_projects(project_root(daemon, &path).into_iter().collect());
            }
            Err(error) => answer.problem = error.explained(),
        }
        answer
    });
    v1::RepairStoresResponse { stores: stores.collect() }
}

fn store_paths(daemon: &Daemon, project: Option<&str>) -> Vec<PathBuf> {
    match project {
        Some(root) => daemon.engine.stores().find_store_path(root).into_iter().collect(),
        None => daemon.engine.stores().list_paths(),
    }
}

/// The root of the project to which a ledger belongs.
fn project_root(daemon: &Daemon, ledger: &Path) -> Option<String> {
    let folder = ledger.parent()?;
    daemon
        .engine
        .stores()
        .projects()
        .all()
        .into_iter()
        .find(|(_, at)| at == folder)
        .map(|(root, _)| root)
}

fn damage_to_wire(damage: Damage) -> v1::Damage {
    v1::Damage { found: damage.problem, remedy: damage.remedy }
}
