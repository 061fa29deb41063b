//! The indexes that recall uses, and the other workers of a store, as a status shows them.

use std::path::Path;

use tome_contents::StoreReport;
use tome_home::ProjectionReport;
use tome_proto::v1;
use tome_recall::DeskReport;
use tome_recall::RecallError;

use super::shared::Shared;

/// What is known without looking at any store.
pub fn status(shared: &Shared) -> v1::Finder {
    v1::Finder {
        embedder: shared.recall.embedder().to_owned(),
        far: shared.far.as_ref().map(|far| {
            let reading = far.reading();
            let again_in = reading.again_in.map_or(0, |again| again.as_millis());
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
pub fn desk_to_wire(report: DeskReport) -> v1::FinderDesk {
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
pub fn store_workers(shared: &Shared, report: StoreReport) -> v1::StoreWorkers {
    let path = report.path.clone();
    let mut told = report_to_wire(report);
    if !told.problem.is_empty() {
        return told;
    }
    let was_open = shared.stores.is_open(&path);
    if let Err(error) = add_workers(shared, &path, &mut told) {
        told.problem = error.explained();
    }
    if !was_open {
        shared.stores.close(&path);
    }
    told
}

fn add_workers(
    shared: &Shared,
    path: &Path,
    told: &mut v1::StoreWorkers,
) -> Result<(), RecallError> {
    let store = shared.stores.open(path)?;
    told.workers.push(worker_to_wire(shared.copies.report(&store)?));
    if let Some(desk) = shared.recall.report(&store)? {
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
