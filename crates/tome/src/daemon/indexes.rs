//! The indexes that recall uses, and the other workers of a store, as a status shows them.

use std::path::Path;

use tome_contents::StoreReport;
use tome_home::{Projection, ProjectionReport};
use tome_proto::v1;
use tome_recall::IndexReport;
use tome_recall::RecallError;

use super::state::Daemon;

/// What is known without looking at any store.
pub fn status(daemon: &Daemon) -> v1::Finder {
    v1::Finder {
        embedder: daemon.engine.recall().embedder_name().to_owned(),
        far: daemon.models.remote.as_ref().map(|far| {
            let reading = far.status();
            let again_in = reading.retry_in.map_or(0, |again| again.as_millis());
            v1::FarEmbedder {
                texts: reading.texts,
                problem: reading.problem.unwrap_or_default(),
                again_in_ms: u64::try_from(again_in).unwrap_or(u64::MAX),
            }
        }),
        desks: Vec::new(),
    }
}

/// The indexes over one store, or over the coder's notebook.
pub fn desk_to_wire(report: IndexReport) -> v1::FinderDesk {
    v1::FinderDesk {
        project: report.project,
        path: report.folder.display().to_string(),
        indexes: report.indexes.into_iter().map(worker_to_wire).collect(),
        problems: report.problems,
    }
}

/// One worker.
fn worker_to_wire(worker: ProjectionReport) -> v1::Worker {
    v1::Worker {
        name: worker.name.to_owned(),
        cursor: worker.cursor,
        behind: worker.behind,
        entries: worker.entries,
        disk_bytes: worker.disk_bytes,
        embedder: worker.embedder.unwrap_or_default(),
        problem: worker.problem.unwrap_or_default(),
    }
}

/// A store with its workers: those that keep their cursors in it, and those that keep their own.
pub fn store_workers(daemon: &Daemon, report: StoreReport) -> v1::StoreWorkers {
    let path = report.path.clone();
    let mut told = report_to_wire(report);
    if !told.problem.is_empty() {
        return told;
    }
    let was_open = daemon.engine.stores().is_open(&path);
    if let Err(error) = add_workers(daemon, &path, &mut told) {
        told.problem = error.explained();
    }
    if !was_open {
        daemon.engine.stores().close(&path);
    }
    told
}

fn add_workers(
    daemon: &Daemon,
    path: &Path,
    told: &mut v1::StoreWorkers,
) -> Result<(), RecallError> {
    let store = daemon.engine.stores().open(path)?;
    let transcripts = daemon.engine.transcripts().report(&store)?;
    told.workers.extend(transcripts.into_iter().map(worker_to_wire));
    if let Some(desk) = daemon.engine.recall().index_report(&store)? {
        told.finder = desk.folder.display().to_string();
        told.finder_problems = desk.problems;
        told.workers.extend(desk.indexes.into_iter().map(worker_to_wire));
    }
    Ok(())
}

fn report_to_wire(report: StoreReport) -> v1::StoreWorkers {
    v1::StoreWorkers {
        path: report.path.display().to_string(),
        engine: report.engine.to_owned(),
        events: report.events,
        disk_bytes: report.disk_bytes,
        workers: report.workers.into_iter().map(worker_to_wire).collect(),
        nodes: report.nodes,
        versions: report.versions,
        grips: report.grips,
        problem: report.problem.unwrap_or_default(),
        ..v1::StoreWorkers::default()
    }
}
