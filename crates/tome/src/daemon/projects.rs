//! The gRPC service for projects.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tome_home::{HomeError, KnownProject, NoteRests, catch_up_session_stats, find_note_rests};
use tome_ledger::disk_bytes;
use tome_model::InvalidInput;
use tome_proto::v1;
use tome_proto::v1::change_project_request::Change;
use tome_proto::v1::projects_server::Projects;
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::drain::drain;
use super::grpc_status::status_of;
use super::state::Daemon;

/// Attempts to merge while the scheduler uses the store, and the delay between them.
const MERGE_ATTEMPTS_MAX: u32 = 100;
const MERGE_RETRY_AFTER: Duration = Duration::from_millis(100);

pub struct ProjectsService(pub Arc<Daemon>);

#[tonic::async_trait]
impl Projects for ProjectsService {
    async fn list_projects(
        &self,
        _: Request<v1::ListProjectsRequest>,
    ) -> Result<Response<v1::ListProjectsResponse>, Status> {
        let projects = self.0.run_blocking(CallKind::Ledger, |daemon| {
            drain(daemon);
            list_projects(daemon)
        });
        Ok(Response::new(v1::ListProjectsResponse { projects: projects.await? }))
    }

    async fn change_project(
        &self,
        request: Request<v1::ChangeProjectRequest>,
    ) -> Result<Response<v1::ChangeProjectResponse>, Status> {
        let request = request.into_inner();
        let is_merge = matches!(request.change, Some(Change::MergeInto(_)));
        let mut attempts = 0;
        let changed = loop {
            let request = request.clone();
            let work = self.0.run_blocking(CallKind::Ledger, move |daemon| {
                drain(daemon);
                change_project(daemon, &request)
            });
            attempts += 1;
            match work.await? {
                // The scheduler uses a store only for moments.
                Err(HomeError::InUse(_)) if attempts < MERGE_ATTEMPTS_MAX => {
                    tokio::time::sleep(MERGE_RETRY_AFTER).await;
                }
                changed => break changed.map_err(|error| status_of(&error))?,
            }
        };
        if is_merge {
            self.0.log.write("stopping: projects were merged, and the stores need a new daemon");
            self.0.stop();
        }
        Ok(Response::new(changed))
    }
}

/// Sessions and events of a project in all stores, and when it was last used.
#[derive(Default)]
struct StoredProject {
    sessions: u64,
    events: u64,
    last_at_ms: u64,
}

fn list_projects(daemon: &Daemon) -> Vec<v1::KnownProject> {
    let stores = daemon.engine.stores();
    let mut stored: HashMap<String, StoredProject> = HashMap::new();
    let mut problems: HashMap<PathBuf, String> = HashMap::new();
    for path in stores.list_paths() {
        let was_open = stores.is_open(&path);
        let read = stores.open(&path).and_then(|store| {
            catch_up_session_stats(&store)?;
            Ok(store.all_session_stats()?)
        });
        if !was_open {
            daemon.engine.close(&path);
        }
        match read {
            Ok(sessions) => {
                for stats in sessions {
                    let counts = stored.entry(stats.project).or_default();
                    counts.sessions += 1;
                    counts.events += stats.events;
                    counts.last_at_ms = counts.last_at_ms.max(stats.last_at.0);
                }
            }
            Err(error) => {
                problems.insert(path, error.to_string());
            }
        }
    }
    let mut all: Vec<v1::KnownProject> = stores
        .projects()
        .list()
        .into_iter()
        .map(|project| {
            let counts = stored.remove(&project.root).unwrap_or_default();
            let problem = problems.remove(&project.home_folder.join("ledger"));
            to_wire(project, &counts, problem.unwrap_or_default())
        })
        .collect();
    all.sort_by(|a, b| (b.last_at_ms, &a.name).cmp(&(a.last_at_ms, &b.name)));
    all
}

fn to_wire(project: KnownProject, found: &StoredProject, problem: String) -> v1::KnownProject {
    v1::KnownProject {
        disk_bytes: disk_bytes(&project.home_folder),
        has_notes: find_note_rests(&project.home_folder) == NoteRests::Notes,
        root: project.root,
        name: project.name,
        folder: project.folder,
        other_folders: project.other_folders,
        remote: project.remote.unwrap_or_default(),
        sessions: found.sessions,
        events: found.events,
        last_at_ms: found.last_at_ms,
        problem,
    }
}

fn change_project(
    daemon: &Daemon,
    request: &v1::ChangeProjectRequest,
) -> Result<v1::ChangeProjectResponse, HomeError> {
    let (projects, root) = (daemon.engine.stores().projects(), request.project.as_str());
    match &request.change {
        Some(Change::NewName(name)) => projects.rename(root, name)?,
        Some(Change::NewFolder(folder)) => projects.move_to(root, folder)?,
        Some(Change::MergeInto(into)) => {
            let merged = daemon.engine.merge_project(root, into)?;
            daemon.scheduler.schedule_projects(std::iter::once(into.clone()).collect());
            return Ok(v1::ChangeProjectResponse {
                events: merged.events,
                notes: merged.notes,
                kept: merged.kept.display().to_string(),
            });
        }
        Some(Change::Remove(true)) => {
            let kept = remove_project(daemon, root)?;
            return Ok(v1::ChangeProjectResponse {
                kept: kept.map(|folder| folder.display().to_string()).unwrap_or_default(),
                ..v1::ChangeProjectResponse::default()
            });
        }
        Some(Change::Remove(false)) | None => {
            return Err(InvalidInput::Missing { field: "change" }.into());
        }
    }
    Ok(v1::ChangeProjectResponse::default())
}

/// Removes a project that holds no event and no note. Returns where the rest of its folder is kept.
fn remove_project(daemon: &Daemon, root: &str) -> Result<Option<PathBuf>, HomeError> {
    let stores = daemon.engine.stores();
    let project = list_projects(daemon).into_iter().find(|project| project.root == root);
    let Some(project) = project else {
        return Err(HomeError::NotFound(format!("there is no project {root}")));
    };
    if project.events > 0 || project.has_notes || !project.problem.is_empty() {
        let problem = "it holds events or notes, which are not deleted";
        return Err(InvalidInput::invalid("project", problem).into());
    }
    if let Some(path) = stores.find_store_path(root) {
        daemon.engine.close(&path);
        if stores.is_open(&path) {
            return Err(HomeError::InUse(path));
        }
    }
    stores.projects().remove_empty(root)
}
