//! Search indexes and projections of a store in status responses.

use std::path::Path;

use tome_contents::{CONTENTS_PROJECTION, StoreReport};
use tome_engine::TOPICS_PROJECTION;
use tome_home::{HomeError, ProjectionReport, SESSION_STATS_PROJECTION};
use tome_proto::v1;
use tome_recall::{IndexReport, TRANSCRIPT_PROJECTION};

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

/// A store with its projections.
pub fn store_projections(daemon: &Daemon, report: StoreReport) -> v1::StoreWorkers {
    let path = report.path.clone();
    let mut response = report_to_wire(report);
    if !response.problem.is_empty() {
        return response;
    }
    let was_open = daemon.engine.stores().is_open(&path);
    if let Err(error) = add_projections(daemon, &path, &mut response) {
        response.problem = error.explained();
    }
    if !was_open {
        daemon.engine.stores().close(&path);
    }
    response
}

/// The order in which projections are listed; all others, the indexes, follow.
const LISTED_FIRST: [&str; 4] =
    [SESSION_STATS_PROJECTION, CONTENTS_PROJECTION, TRANSCRIPT_PROJECTION, TOPICS_PROJECTION];

fn add_projections(
    daemon: &Daemon,
    path: &Path,
    response: &mut v1::StoreWorkers,
) -> Result<(), HomeError> {
    let store = daemon.engine.stores().open(path)?;
    let mut reports = daemon.engine.report(&store)?;
    let rank = |name: &str| LISTED_FIRST.iter().position(|listed| *listed == name);
    reports.sort_by_key(|report| rank(report.name).unwrap_or(LISTED_FIRST.len()));
    response.workers = reports.into_iter().map(projection_to_wire).collect();
    if let Some((folder, problems)) = daemon.engine.recall().index_problems(&store) {
        response.finder = folder.display().to_string();
        response.finder_problems = problems;
    }
    Ok(())
}

fn report_to_wire(report: StoreReport) -> v1::StoreWorkers {
    v1::StoreWorkers {
        path: report.path.display().to_string(),
        engine: report.engine.to_owned(),
        events: report.events,
        disk_bytes: report.disk_bytes,
        nodes: report.nodes,
        versions: report.versions,
        grips: report.grips,
        problem: report.problem.unwrap_or_default(),
        ..v1::StoreWorkers::default()
    }
}
