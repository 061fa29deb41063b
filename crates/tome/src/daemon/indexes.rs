//! Search indexes and projections of a store in status responses.

use std::path::Path;

use tome_contents::StoreReport;
use tome_home::ProjectionReport;
use tome_proto::v1;
use tome_recall::IndexReport;
use tome_recall::RecallError;

use super::state::Daemon;

/// The part of the status that needs no store.
pub fn finder_status(daemon: &Daemon) -> v1::Finder {
    v1::Finder {
        embedder: daemon.engine.recall().embedder_name().to_owned(),
        remote: daemon.models.remote.as_ref().map(|remote| {
            let status = remote.status();
            let retry_in = status.retry_in.map_or(0, |retry| retry.as_millis());
            v1::RemoteEmbedder {
                texts: status.texts,
                problem: status.problem.unwrap_or_default(),
                retry_in_ms: u64::try_from(retry_in).unwrap_or(u64::MAX),
            }
        }),
        index_sets: Vec::new(),
    }
}

pub fn index_set_to_wire(report: IndexReport) -> v1::FinderIndexSet {
    v1::FinderIndexSet {
        project: report.project,
        path: report.folder.display().to_string(),
        indexes: report.indexes.into_iter().map(projection_to_wire).collect(),
        problems: report.problems,
    }
}

fn projection_to_wire(projection: ProjectionReport) -> v1::Worker {
    v1::Worker {
        name: projection.name.to_owned(),
        cursor: projection.cursor,
        behind: projection.behind,
        entries: projection.entries,
        disk_bytes: projection.disk_bytes,
        embedder: projection.embedder.unwrap_or_default(),
        problem: projection.problem.unwrap_or_default(),
    }
}

/// A store with its projections: those with a cursor in the ledger, and those with their own.
pub fn store_projections(daemon: &Daemon, report: StoreReport) -> v1::StoreWorkers {
    let path = report.path.clone();
    let mut response = report_to_wire(report);
    if !response.problem.is_empty() {
        return response;
    }
    let was_open = daemon.engine.stores().is_open(&path);
    if let Err(error) = add_external_projections(daemon, &path, &mut response) {
        response.problem = error.explained();
    }
    if !was_open {
        daemon.engine.stores().close(&path);
    }
    response
}

fn add_external_projections(
    daemon: &Daemon,
    path: &Path,
    response: &mut v1::StoreWorkers,
) -> Result<(), RecallError> {
    let store = daemon.engine.stores().open(path)?;
    response.workers.push(projection_to_wire(daemon.engine.transcripts().report(&store)?));
    response.workers.push(projection_to_wire(daemon.engine.topics().report(&store)?));
    if let Some(indexes) = daemon.engine.recall().report_indexes(&store)? {
        response.finder = indexes.folder.display().to_string();
        response.finder_problems = indexes.problems;
        response.workers.extend(indexes.indexes.into_iter().map(projection_to_wire));
    }
    Ok(())
}

fn report_to_wire(report: StoreReport) -> v1::StoreWorkers {
    v1::StoreWorkers {
        path: report.path.display().to_string(),
        engine: report.engine.to_owned(),
        events: report.events,
        disk_bytes: report.disk_bytes,
        workers: report.projections.into_iter().map(projection_to_wire).collect(),
        nodes: report.nodes,
        versions: report.versions,
        grips: report.grips,
        problem: report.problem.unwrap_or_default(),
        ..v1::StoreWorkers::default()
    }
}
