//! The daemon's own service: status, flush, compact, shutdown.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tome_engine::{DeskReport, EngineError, Store, TALLY, catch_up};
use tome_model::SessionTally;
use tome_proto::v1;
use tome_proto::v1::daemon_server::Daemon;
use tonic::{Request, Response, Status};

use super::damage;
use super::drain::drain;
use super::finder;
use super::models;
use super::reflect;
use super::shared::{Shared, status_of};
use crate::platform;

/// Stores opened for one status, those written to last first.
const COUNTED_STORES_MAX: usize = 64;

/// The daemon's own service.
pub struct DaemonService(pub Arc<Shared>);

#[tonic::async_trait]
impl Daemon for DaemonService {
    async fn status(
        &self,
        request: Request<v1::StatusRequest>,
    ) -> Result<Response<v1::StatusResponse>, Status> {
        let counts = request.into_inner().counts;
        let status = self.0.wait_for(move |shared| status(shared, counts)).await?;
        Ok(Response::new(status))
    }

    async fn flush(
        &self,
        _: Request<v1::FlushRequest>,
    ) -> Result<Response<v1::FlushResponse>, Status> {
        let flushed = self.0.wait_for(|shared| {
            let stores = shared.stores.open_now();
            for store in &stores {
                catch_up(store)?;
                store.flush()?;
            }
            Ok::<_, EngineError>(stores.len())
        });
        let stores = flushed.await?.map_err(|error| status_of(&error))?;
        Ok(Response::new(v1::FlushResponse { stores: u32::try_from(stores).unwrap_or(u32::MAX) }))
    }

    async fn compact(
        &self,
        _: Request<v1::CompactRequest>,
    ) -> Result<Response<v1::CompactResponse>, Status> {
        let compacted = self.0.wait_for(|shared| {
            let mut answer = v1::CompactResponse::default();
            let mut failed = None;
            for path in shared.stores.paths() {
                let was_open = shared.stores.is_open(&path);
                // One that fails keeps none of the others from being done.
                if let Err(error) = compact(shared, &path, &mut answer) {
                    failed.get_or_insert(error);
                }
                if !was_open {
                    shared.stores.close(&path);
                }
            }
            failed.map_or(Ok(answer), Err)
        });
        Ok(Response::new(compacted.await?.map_err(|error| status_of(&error))?))
    }

    async fn verify_stores(
        &self,
        request: Request<v1::VerifyStoresRequest>,
    ) -> Result<Response<v1::VerifyStoresResponse>, Status> {
        let asked = request.into_inner();
        Ok(Response::new(self.0.wait_for(move |shared| damage::verify(shared, &asked)).await?))
    }

    async fn repair_stores(
        &self,
        request: Request<v1::RepairStoresRequest>,
    ) -> Result<Response<v1::RepairStoresResponse>, Status> {
        let asked = request.into_inner();
        Ok(Response::new(self.0.wait_for(move |shared| damage::repair(shared, &asked)).await?))
    }

    async fn shutdown(
        &self,
        _: Request<v1::ShutdownRequest>,
    ) -> Result<Response<v1::ShutdownResponse>, Status> {
        self.0.log.say("asked to leave");
        self.0.leave();
        Ok(Response::new(v1::ShutdownResponse { pid: std::process::id() }))
    }
}

fn compact(
    shared: &Shared,
    path: &Path,
    answer: &mut v1::CompactResponse,
) -> Result<(), EngineError> {
    let store = shared.stores.open(path)?;
    answer.bytes_before += store.disk_bytes();
    store.compact()?;
    answer.bytes_after += store.disk_bytes();
    answer.stores += 1;
    Ok(())
}

fn status(shared: &Shared, counts: bool) -> v1::StatusResponse {
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let mut status = v1::StatusResponse {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        started_ms: shared.started.0,
        now_ms: shared.clock.now().0,
        home: shared.settings.home.root().display().to_string(),
        endpoints: shared.endpoints(),
        store_mode: shared.stores.mode().as_str().to_owned(),
        resident_bytes: platform::resident_bytes(),
        created: count(&shared.counters.created),
        duplicates: count(&shared.counters.duplicates),
        rejected: count(&shared.counters.rejected),
        drained: count(&shared.counters.drained),
        model: models::meter(shared),
        reflections: reflect::status(shared),
        finder: Some(finder::status(shared)),
        last_arrived_ms: count(&shared.counters.last_arrived_ms),
        ..v1::StatusResponse::default()
    };
    if counts {
        drain(shared);
        count_up(shared, &mut status);
        status.damage.extend(damage::of_files(shared));
    }
    for store in shared.stores.open_now() {
        let path = store.path().display().to_string();
        if status.stores.iter().all(|known| known.path != path) {
            let described = describe(&store);
            status.stores.push(described.unwrap_or_else(|error| broken(store.path(), &error)));
        }
    }
    status
}

/// A store that cannot be read. It keeps nothing else from being told.
fn broken(path: &Path, error: &EngineError) -> v1::Store {
    let path = path.display().to_string();
    v1::Store { path, problem: error.explained(), ..v1::Store::default() }
}

fn describe(store: &Store) -> Result<v1::Store, EngineError> {
    let seen = store.cursor(TALLY)?;
    Ok(v1::Store {
        path: store.path().display().to_string(),
        engine: store.engine().to_string(),
        events: store.last_seq(),
        behind: store.last_seq().saturating_sub(seen),
        refusing: store.is_refusing().unwrap_or_default(),
        problem: String::new(),
    })
}

/// Counts projects and agents from the tallies of the stores written to last.
fn count_up(shared: &Shared, status: &mut v1::StatusResponse) {
    let paths = shared.stores.paths();
    let mut projects: BTreeMap<String, v1::Project> = BTreeMap::new();
    let mut agents: BTreeMap<String, v1::AgentCount> = BTreeMap::new();
    let mut desks = Vec::new();
    for path in paths.iter().take(COUNTED_STORES_MAX) {
        // Counting must not leave every store there is open.
        let was_open = shared.stores.is_open(path);
        let counted = counted(shared, path);
        if !was_open {
            shared.stores.close(path);
        }
        let (tallies, disk_bytes) = match counted {
            Ok(counted) => {
                desks.extend(counted.desk.map(finder::desk_to_wire));
                status.damage.extend(counted.damage);
                (counted.tallies, counted.disk_bytes)
            }
            Err(error) => {
                status.stores.push(broken(path, &error));
                continue;
            }
        };
        status.disk_bytes += disk_bytes;
        let first = tallies.first().map(|tally| tally.project.clone());
        let is_alone = tallies.iter().all(|tally| Some(&tally.project) == first.as_ref());
        for tally in &tallies {
            add(&mut projects, &mut agents, tally, path, if is_alone { disk_bytes } else { 0 });
        }
    }
    let coder = shared.recall.report_of_coder().ok().filter(|desk| desk.folder.is_dir());
    desks.extend(coder.map(finder::desk_to_wire));
    if let Some(finder) = &mut status.finder {
        finder.desks = desks;
    }
    let uncounted = paths.len().saturating_sub(COUNTED_STORES_MAX);
    status.projects_uncounted = u32::try_from(uncounted).unwrap_or(u32::MAX);
    status.projects = projects.into_values().collect();
    status.agents = agents.into_values().collect();
    status.projects.sort_by_key(|project| std::cmp::Reverse(project.last_at_ms));
    status.agents.sort_by_key(|agent| std::cmp::Reverse(agent.last_at_ms));
}

/// What a status says of one store.
struct Counted {
    tallies: Vec<SessionTally>,
    disk_bytes: u64,
    desk: Option<DeskReport>,
    damage: Vec<v1::Damage>,
}

fn counted(shared: &Shared, path: &Path) -> Result<Counted, EngineError> {
    let store = shared.stores.open(path)?;
    catch_up(&store)?;
    let tallies = store.session_tallies()?;
    Ok(Counted {
        damage: damage::of_store(shared, path, &store, &tallies),
        tallies,
        disk_bytes: store.disk_bytes(),
        desk: shared.recall.report(&store)?,
    })
}

fn add(
    projects: &mut BTreeMap<String, v1::Project>,
    agents: &mut BTreeMap<String, v1::AgentCount>,
    tally: &SessionTally,
    path: &Path,
    disk_bytes: u64,
) {
    let project = projects.entry(tally.project.clone()).or_insert_with(|| v1::Project {
        root: tally.project.clone(),
        path: path.display().to_string(),
        disk_bytes,
        ..v1::Project::default()
    });
    project.events += tally.events;
    project.sessions += 1;
    project.last_at_ms = project.last_at_ms.max(tally.last_at.0);
    let agent = agents.entry(tally.agent.to_string()).or_insert_with(|| v1::AgentCount {
        agent: tally.agent.to_string(),
        ..v1::AgentCount::default()
    });
    agent.events += tally.events;
    agent.sessions += 1;
    agent.last_at_ms = agent.last_at_ms.max(tally.last_at.0);
}
