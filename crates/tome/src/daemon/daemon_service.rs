//! The gRPC service of the daemon itself: status, flush, compact, verify, repair, shutdown.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tome_home::{
    CheckDepth, HomeError, SESSION_STATS_PROJECTION, Store, StoreMode, catch_up_session_stats,
};
use tome_ledger::disk_bytes;
use tome_model::SessionStats;
use tome_proto::v1;
use tome_proto::v1::daemon_server;
use tome_recall::IndexReport;
use tome_recall::RecallError;
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::damage;
use super::drain::drain;
use super::grpc_status::status_of;
use super::indexes;
use super::losses::remove_arrived;
use super::models;
use super::reflect;
use super::state::Daemon;
use crate::platform;

/// Stores opened for one status, the most recently written first.
const INSPECTED_STORES_MAX: usize = 64;

/// Time to open and inspect one store for a status. A store that takes longer is reported as
/// unresponsive.
const INSPECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Attempts to merge sessions while the scheduler uses a store, and the delay between them.
const MERGE_ATTEMPTS_MAX: u32 = 100;
const MERGE_RETRY_AFTER: Duration = Duration::from_millis(100);

pub struct DaemonService(pub Arc<Daemon>);

#[tonic::async_trait]
impl daemon_server::Daemon for DaemonService {
    async fn status(
        &self,
        request: Request<v1::StatusRequest>,
    ) -> Result<Response<v1::StatusResponse>, Status> {
        let counts = request.into_inner().counts;
        let status =
            self.0.run_blocking(CallKind::Status, move |daemon| status(daemon, counts)).await?;
        Ok(Response::new(status))
    }

    async fn flush(
        &self,
        _: Request<v1::FlushRequest>,
    ) -> Result<Response<v1::FlushResponse>, Status> {
        let flushed = self.0.run_blocking(CallKind::Ledger, |daemon| {
            let stores = daemon.engine.stores().open_stores();
            for store in &stores {
                catch_up_session_stats(store)?;
                store.flush()?;
            }
            Ok::<_, HomeError>(stores.len())
        });
        let stores = flushed.await?.map_err(|error| status_of(&error))?;
        Ok(Response::new(v1::FlushResponse { stores: u32::try_from(stores).unwrap_or(u32::MAX) }))
    }

    async fn compact(
        &self,
        _: Request<v1::CompactRequest>,
    ) -> Result<Response<v1::CompactResponse>, Status> {
        let compacted = self.0.run_blocking(CallKind::Ledger, |daemon| {
            let mut answer = v1::CompactResponse::default();
            let mut failed = None;
            for path in daemon.engine.stores().list_paths() {
                let was_open = daemon.engine.stores().is_open(&path);
                // One failing store must not keep the others from being compacted.
                if let Err(error) = compact_store(daemon, &path, &mut answer) {
                    failed.get_or_insert(error);
                }
                if !was_open {
                    daemon.engine.stores().close(&path);
                }
            }
            failed.map_or(Ok(answer), Err)
        });
        Ok(Response::new(compacted.await?.map_err(|error| status_of(&error))?))
    }

    async fn merge_sessions(
        &self,
        request: Request<v1::MergeSessionsRequest>,
    ) -> Result<Response<v1::MergeSessionsResponse>, Status> {
        let dry_run = request.into_inner().dry_run;
        let mut attempts = 0;
        let merged = loop {
            let work = self.0.run_blocking(CallKind::Ledger, move |daemon| {
                drain(daemon);
                daemon.engine.recall().close_unused(Duration::ZERO);
                daemon.engine.stores().merge_sessions(dry_run)
            });
            attempts += 1;
            match work.await? {
                // The scheduler uses a store only for moments.
                Err(HomeError::InUse(_)) if attempts < MERGE_ATTEMPTS_MAX => {
                    tokio::time::sleep(MERGE_RETRY_AFTER).await;
                }
                merged => break merged.map_err(|error| status_of(&error))?,
            }
        };
        if !merged.kept.is_empty() {
            self.0
                .log
                .write("stopping: sessions were merged, and the new stores need a new daemon");
            self.0.stop();
        }
        let sessions = merged.sessions.into_iter().map(|one| v1::MergedSession {
            agent: one.session.agent.to_string(),
            session_id: one.session.session.to_string(),
            project: one.session.project,
            elsewhere: one.session.elsewhere,
            events: one.events,
            duplicates: one.duplicates,
        });
        let kept = merged.kept.iter().map(|path| path.display().to_string());
        Ok(Response::new(v1::MergeSessionsResponse {
            sessions: sessions.collect(),
            kept: kept.collect(),
        }))
    }

    async fn verify_stores(
        &self,
        request: Request<v1::VerifyStoresRequest>,
    ) -> Result<Response<v1::VerifyStoresResponse>, Status> {
        let request = request.into_inner();
        Ok(Response::new(
            self.0
                .run_blocking(CallKind::Ledger, move |daemon| damage::verify(daemon, &request))
                .await?,
        ))
    }

    async fn repair_stores(
        &self,
        request: Request<v1::RepairStoresRequest>,
    ) -> Result<Response<v1::RepairStoresResponse>, Status> {
        let request = request.into_inner();
        Ok(Response::new(
            self.0
                .run_blocking(CallKind::Ledger, move |daemon| damage::repair(daemon, &request))
                .await?,
        ))
    }

    async fn shutdown(
        &self,
        _: Request<v1::ShutdownRequest>,
    ) -> Result<Response<v1::ShutdownResponse>, Status> {
        self.0.log.write("stopping: received a shutdown request");
        self.0.stop();
        Ok(Response::new(v1::ShutdownResponse { pid: std::process::id() }))
    }
}

fn compact_store(
    daemon: &Daemon,
    path: &Path,
    answer: &mut v1::CompactResponse,
) -> Result<(), HomeError> {
    let store = daemon.engine.stores().open(path)?;
    answer.bytes_before += store.disk_bytes();
    store.compact()?;
    answer.bytes_after += store.disk_bytes();
    answer.stores += 1;
    Ok(())
}

/// Builds the status. It waits neither for the spool, whose events may be the very problem, nor for
/// an unresponsive store.
fn status(daemon: &Arc<Daemon>, counts: bool) -> v1::StatusResponse {
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let mut status = v1::StatusResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        started_ms: daemon.started.0,
        now_ms: daemon.engine.clock().now().0,
        home: daemon.settings.home.root().display().to_string(),
        endpoints: daemon.endpoints(),
        store_mode: daemon.engine.stores().mode().as_str().to_owned(),
        resident_bytes: platform::resident_bytes(),
        created: count(&daemon.counters.created),
        duplicates: count(&daemon.counters.duplicates),
        rejected: count(&daemon.counters.rejected),
        drained: count(&daemon.counters.drained),
        model: models::model_meter(daemon),
        reflections: reflect::status(daemon),
        finder: Some(indexes::finder_status(daemon)),
        last_arrived_ms: count(&daemon.counters.last_arrived_ms),
        spool_problems: daemon.engine.spool().problems(),
        ..v1::StatusResponse::default()
    };
    if counts {
        inspect_stores(daemon, &mut status);
        status.disk_bytes = home_bytes(daemon);
        remove_arrived(daemon);
        status.damage.extend(damage::find_in_home(daemon, CheckDepth::Quick));
    }
    for store in daemon.engine.stores().open_stores() {
        let path = store.path().to_path_buf();
        let shown = path.display().to_string();
        if status.stores.iter().all(|known| known.path != shown) {
            let described =
                daemon.timed_calls.run(&shown, INSPECT_TIMEOUT, move || describe_store(&store));
            status.stores.push(match described {
                Some(Ok(described)) => described,
                Some(Err(error)) => broken_store(&path, error.explained()),
                None => unresponsive_store(&path),
            });
        }
    }
    status
}

/// The status of a store that cannot be read.
fn broken_store(path: &Path, problem: String) -> v1::Store {
    let path = path.display().to_string();
    v1::Store { path, problem, ..v1::Store::default() }
}

/// The status of a store that did not answer in time.
fn unresponsive_store(path: &Path) -> v1::Store {
    let problem = format!("no answer within {} s", INSPECT_TIMEOUT.as_secs());
    v1::Store { path: path.display().to_string(), problem, no_answer: true, ..v1::Store::default() }
}

fn describe_store(store: &Store) -> Result<v1::Store, HomeError> {
    let cursor = store.cursor(SESSION_STATS_PROJECTION)?;
    Ok(v1::Store {
        path: store.path().display().to_string(),
        engine: store.engine().to_string(),
        events: store.last_seq(),
        behind: store.last_seq().saturating_sub(cursor),
        refusing: store.write_failure().unwrap_or_default(),
        ..v1::Store::default()
    })
}

/// Adds projects, agents and indexes of the most recently written stores to a status.
fn inspect_stores(daemon: &Arc<Daemon>, status: &mut v1::StatusResponse) {
    let paths = daemon.engine.stores().list_paths();
    let mut projects: BTreeMap<String, v1::Project> = BTreeMap::new();
    let mut agents: BTreeMap<String, v1::AgentCount> = BTreeMap::new();
    let mut index_reports = Vec::new();
    for path in paths.iter().take(INSPECTED_STORES_MAX) {
        let (shared, folder) = (Arc::clone(daemon), path.clone());
        let inspected =
            daemon.timed_calls.run(&path.display().to_string(), INSPECT_TIMEOUT, move || {
                // Inspecting must not leave every store open.
                let was_open = shared.engine.stores().is_open(&folder);
                let inspected = inspect_store(&shared, &folder);
                if !was_open {
                    shared.engine.stores().close(&folder);
                }
                inspected
            });
        let Some(inspected) = inspected else {
            status.stores.push(unresponsive_store(path));
            continue;
        };
        let (sessions, disk_bytes) = match inspected {
            Ok(inspected) => {
                index_reports.extend(inspected.indexes.map(indexes::index_set_to_wire));
                status.damage.extend(inspected.damage);
                let is_closed = !daemon.engine.stores().is_open(path);
                status.stores.push(v1::Store { is_closed, ..inspected.described });
                (inspected.sessions, inspected.disk_bytes)
            }
            Err(error) => {
                status.stores.push(broken_store(path, error.explained()));
                continue;
            }
        };
        let first = sessions.first().map(|stats| stats.project.clone());
        let is_only_project = sessions.iter().all(|stats| Some(&stats.project) == first.as_ref());
        for stats in &sessions {
            add_session(
                &mut projects,
                &mut agents,
                stats,
                path,
                if is_only_project { disk_bytes } else { 0 },
            );
        }
    }
    let coder =
        daemon.engine.recall().report_coder_indexes().ok().filter(|report| report.folder.is_dir());
    index_reports.extend(coder.map(indexes::index_set_to_wire));
    if let Some(indexes) = &mut status.finder {
        indexes.index_sets = index_reports;
    }
    let uncounted = paths.len().saturating_sub(INSPECTED_STORES_MAX);
    status.projects_uncounted = u32::try_from(uncounted).unwrap_or(u32::MAX);
    status.projects = projects.into_values().collect();
    status.projects.retain(|one| !daemon.settings.home.is_offline_project(&one.root));
    status.agents = agents.into_values().collect();
    status.projects.sort_by_key(|project| std::cmp::Reverse(project.last_at_ms));
    status.agents.sort_by_key(|agent| std::cmp::Reverse(agent.last_at_ms));
}

/// Disk space allocated to the home; 0 if the file system does not answer in time.
fn home_bytes(daemon: &Daemon) -> u64 {
    let home = daemon.engine.home().root().to_owned();
    let name = format!("{} (size)", home.display());
    let inspected = daemon.timed_calls.run(&name, INSPECT_TIMEOUT, move || disk_bytes(&home));
    inspected.unwrap_or_default()
}

/// One store as a status shows it.
struct StoreInspection {
    described: v1::Store,
    sessions: Vec<SessionStats>,
    disk_bytes: u64,
    indexes: Option<IndexReport>,
    damage: Vec<v1::Damage>,
}

fn inspect_store(daemon: &Daemon, path: &Path) -> Result<StoreInspection, RecallError> {
    let store = daemon.engine.stores().open(path)?;
    catch_up_session_stats(&store)?;
    let sessions = store.all_session_stats()?;
    Ok(StoreInspection {
        described: describe_store(&store)?,
        damage: damage::find_in_store(daemon, path, &store, &sessions),
        sessions,
        disk_bytes: match daemon.engine.stores().mode() {
            StoreMode::PerProject => path.parent().map_or(0, disk_bytes),
            StoreMode::Unified => store.disk_bytes(),
        },
        indexes: daemon.engine.recall().report_indexes(&store)?,
    })
}

fn add_session(
    projects: &mut BTreeMap<String, v1::Project>,
    agents: &mut BTreeMap<String, v1::AgentCount>,
    stats: &SessionStats,
    path: &Path,
    disk_bytes: u64,
) {
    let project = projects.entry(stats.project.clone()).or_insert_with(|| v1::Project {
        root: stats.project.clone(),
        path: path.display().to_string(),
        disk_bytes,
        ..v1::Project::default()
    });
    project.events += stats.events;
    project.sessions += 1;
    project.last_at_ms = project.last_at_ms.max(stats.last_at.0);
    let agent = agents.entry(stats.agent.to_string()).or_insert_with(|| v1::AgentCount {
        agent: stats.agent.to_string(),
        ..v1::AgentCount::default()
    });
    agent.events += stats.events;
    agent.sessions += 1;
    agent.last_at_ms = agent.last_at_ms.max(stats.last_at.0);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tome_model::EventLine;

    use super::*;
    use crate::daemon::state::tests::daemon;

    #[tokio::test]
    async fn a_status_request_drains_nothing_and_reports_spool_problems() {
        let home = tempfile::tempdir().unwrap();
        let daemon = daemon(home.path());
        let line = r#"{"agent":"codex","session_id":"s","cwd":"/a","kind":"user_message","text":"x","at":1}"#;
        let draft = EventLine::parse(line).unwrap().into_draft().unwrap();
        daemon.engine.spool().append(vec![draft]).unwrap();
        daemon.engine.spool().record_failure("the disk is away", daemon.engine.clock().now());
        let shown = status(&daemon, true);
        assert_eq!(daemon.engine.spool().count_waiting().events, 1, "it is still in the spool");
        assert_eq!(shown.spool_problems, ["the disk is away"]);
    }

    #[tokio::test]
    async fn a_status_counts_the_events_of_closed_stores() {
        let home = tempfile::tempdir().unwrap();
        let daemon = daemon(home.path());
        let drafts = ["/a", "/b", "/b"].iter().enumerate().map(|(n, cwd)| {
            let line = format!(
                r#"{{"agent":"codex","session_id":"s{cwd}","cwd":"{cwd}","kind":"user_message","text":"x{n}","at":{n}}}"#
            );
            EventLine::parse(&line).unwrap().into_draft().unwrap()
        });
        let stored = daemon.engine.intake().ingest(drafts.collect());
        assert!(stored.iter().all(Result::is_ok), "{stored:?}");
        let stores = daemon.engine.stores();
        let path = stores.find_store_path("/b").unwrap();
        tome_testkit::eventually("the store to close", || {
            daemon.engine.close(&path);
            (!stores.is_open(&path)).then_some(())
        });
        let shown = status(&daemon, true).stores;
        let mut events: Vec<(u64, bool)> =
            shown.iter().map(|store| (store.events, store.is_closed)).collect();
        events.sort_unstable();
        assert_eq!(events, [(1, false), (2, true)]);
    }

    #[tokio::test]
    async fn a_status_does_not_wait_for_a_store_that_did_not_answer_before() {
        let home = tempfile::tempdir().unwrap();
        let daemon = daemon(home.path());
        drop(daemon.engine.stores().open_project("/a").unwrap());
        drop(daemon.engine.stores().open_project("/b").unwrap());
        let [busy, _] = daemon.engine.stores().list_paths().try_into().unwrap();
        let (release, held) = mpsc::channel::<()>();
        let busy = busy.display().to_string();
        let hangs = move || {
            let _ = held.recv();
        };
        assert!(daemon.timed_calls.run(&busy, Duration::from_millis(1), hangs).is_none());
        let shown = status(&daemon, true);
        let silent: Vec<&str> = shown
            .stores
            .iter()
            .filter(|store| store.no_answer)
            .map(|store| store.path.as_str())
            .collect();
        assert_eq!(silent, [busy.as_str()], "and the other one is there");
        assert_eq!(shown.stores.len(), 2);
        drop(release);
    }
}
