//! Damage: what a status says of it, checking every store, and repairing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tome_engine::damage_of_injections;
use tome_home::{CheckDepth, Damage, Store, StoreMode};
use tome_model::{Millis, SessionStats};
use tome_proto::v1;

use super::drain::drain;
use super::state::Daemon;

/// A store is read as a whole to check its files at most this often.
const CHECK_EVERY_MS: u64 = 24 * 3_600_000;

/// Stores up to this size are checked while a status waits; larger ones in the background.
const CHECKED_AT_ONCE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What the last check of each store's files has found.
#[derive(Default)]
pub struct FileChecks(Mutex<HashMap<PathBuf, (Millis, Vec<Damage>)>>);

impl FileChecks {
    fn known(&self, path: &Path) -> Option<(Millis, Vec<Damage>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    fn set(&self, path: &Path, checked: Option<(Millis, Vec<Damage>)>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match checked {
            Some(checked) => known.insert(path.to_owned(), checked),
            None => known.remove(path),
        };
    }
}

/// Checks the files of a store, if that is due.
fn check_files(daemon: &Daemon, path: &Path) {
    let now = daemon.engine.clock().now();
    let known = daemon.file_checks.known(path);
    if known.is_none_or(|(at, _)| now.distance_ms(at) >= CHECK_EVERY_MS) {
        let damage = daemon.engine.stores().verify_files(path);
        if let Some(first) = damage.first() {
            daemon.log.say(&format!("damage: {}", first.problem));
        }
        daemon.file_checks.set(path, Some((now, damage)));
    }
}

/// Checks the files of the stores that are open, so that damage shows before somebody runs into it.
pub fn check_open_stores(daemon: &Daemon) {
    for store in daemon.engine.stores().open_stores() {
        let path = store.path().to_owned();
        drop(store);
        check_files(daemon, &path);
    }
}

/// The damage of one store that is open.
pub fn of_store(
    daemon: &Daemon,
    path: &Path,
    store: &Store,
    tallies: &[SessionStats],
) -> Vec<v1::Damage> {
    if store.disk_bytes() <= CHECKED_AT_ONCE_BYTES_MAX {
        check_files(daemon, path);
    }
    let mut damage = Damage::find_in_store(store);
    let checked = daemon.file_checks.known(path).map(|(_, damage)| damage).unwrap_or_default();
    damage.extend(checked);
    damage.sort_by(|a, b| a.problem.cmp(&b.problem));
    damage.dedup();
    if daemon.engine.stores().mode() == StoreMode::PerProject
        && let Some(root) = root_of(daemon, path)
    {
        damage.extend(Damage::find_foreign_events(path, &root, tallies));
    }
    damage.into_iter().map(to_wire).collect()
}

/// The damage of all other files of the home.
pub fn of_files(daemon: &Daemon, depth: CheckDepth) -> Vec<v1::Damage> {
    let projects = daemon.engine.stores().projects();
    let mut damage = Damage::find_in_files(&daemon.settings.home, projects, depth);
    damage.extend(damage_of_injections(projects));
    damage.into_iter().map(to_wire).collect()
}

/// Checks the store of a project, or everything.
pub fn verify(daemon: &Daemon, asked: &v1::VerifyStoresRequest) -> v1::VerifyStoresResponse {
    let project = Some(asked.project.as_str()).filter(|project| !project.is_empty());
    let mut answer = v1::VerifyStoresResponse::default();
    for path in paths(daemon, project) {
        let was_open = daemon.engine.stores().is_open(&path);
        let mut damage = match asked.files_only {
            true => daemon.engine.stores().verify_files(&path),
            false => daemon.engine.stores().verify(&path),
        };
        damage.dedup();
        daemon.file_checks.set(&path, Some((daemon.engine.clock().now(), damage.clone())));
        answer.damage.extend(damage.into_iter().map(to_wire));
        answer.stores += 1;
        if !was_open {
            daemon.engine.stores().close(&path);
        }
    }
    if project.is_none() {
        answer.damage.extend(of_files(daemon, CheckDepth::Full));
    }
    answer
}

/// Repairs the damaged stores, or all that were asked for.
pub fn repair(daemon: &Daemon, asked: &v1::RepairStoresRequest) -> v1::RepairStoresResponse {
    drain(daemon);
    let project = Some(asked.project.as_str()).filter(|project| !project.is_empty());
    let stores = paths(daemon, project).into_iter().map(|path| {
        let mut answer =
            v1::StoreRepaired { store: path.display().to_string(), ..v1::StoreRepaired::default() };
        if !asked.all && daemon.engine.stores().verify(&path).is_empty() {
            return answer;
        }
        match daemon.engine.repair(&path) {
            Ok(done) => {
                daemon.file_checks.set(&path, None);
                answer.repaired = true;
                (answer.kept, answer.restored, answer.lost) = (done.kept, done.restored, done.lost);
                answer.set_aside = done.set_aside.display().to_string();
                let (kept, restored, lost) = (done.kept, done.restored, done.lost);
                daemon.log.say(&format!(
                    "repaired {}: {kept} events kept, {restored} restored, {lost} lost",
                    path.display()
                ));
                daemon.scheduler.events_stored(root_of(daemon, &path).into_iter().collect());
            }
            Err(error) => answer.problem = error.explained(),
        }
        answer
    });
    v1::RepairStoresResponse { stores: stores.collect() }
}

fn paths(daemon: &Daemon, project: Option<&str>) -> Vec<PathBuf> {
    match project {
        Some(root) => daemon.engine.stores().find_store_path(root).into_iter().collect(),
        None => daemon.engine.stores().list_paths(),
    }
}

/// The root of the project whose store this is.
fn root_of(daemon: &Daemon, ledger: &Path) -> Option<String> {
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

fn to_wire(damage: Damage) -> v1::Damage {
    v1::Damage { found: damage.problem, remedy: damage.remedy }
}
