//! The indexes as projections of a store.

use std::sync::Arc;

use tome_home::{HomeError, Projection, ProjectionReport, Store};

use super::Recall;

/// BM25 and, unless a remote endpoint makes them, vectors: one pass reads each text once for both.
impl Projection for Recall {
    fn name(&self) -> &'static str {
        "indexes"
    }

    fn cursor(&self, store: &Store) -> Result<u64, HomeError> {
        let reports = Projection::report(self, store)?;
        let events = reports.iter().filter(|index| index.name.ends_with("/events"));
        Ok(events.map(|index| index.cursor).min().unwrap_or(0))
    }

    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        let desk = self.indexer.ledger_set(store.path());
        Ok(desk.is_some_and(|desk| self.indexer.is_behind(&desk, Some(store))))
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        self.catch_up_indexes(store, stop)?;
        Ok(())
    }

    /// Deletes the indexes and builds them again; queries are answered from the texts meanwhile.
    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        if let Some(desk) = self.indexer.ledger_set(store.path()) {
            desk.close();
            let folder = tome_home::layout::index_dir(store.path());
            match std::fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(HomeError::file("delete", &folder)(error));
                }
                _ => {}
            }
        }
        Projection::catch_up(self, store, &|| false)
    }

    fn report(&self, store: &Store) -> Result<Vec<ProjectionReport>, HomeError> {
        Ok(self.index_report(store)?.map(|report| report.indexes).unwrap_or_default())
    }
}

/// Vectors made by a remote endpoint: a slow one, or one that is away, delays nothing else.
pub struct RemoteVectors(pub Arc<Recall>);

impl Projection for RemoteVectors {
    fn name(&self) -> &'static str {
        "vectors"
    }

    fn cursor(&self, store: &Store) -> Result<u64, HomeError> {
        let vectors = self.report(store)?.into_iter().find(|index| index.name == "vectors/events");
        Ok(vectors.map_or(0, |index| index.cursor))
    }

    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        let keeper = &self.0.indexer;
        let desk = keeper.ledger_set(store.path());
        Ok(desk.is_some_and(|desk| keeper.are_vectors_behind(&desk, Some(store))))
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        self.0.catch_up_vectors(store, stop)?;
        Ok(())
    }

    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        Projection::rebuild(&*self.0, store)
    }

    fn report(&self, store: &Store) -> Result<Vec<ProjectionReport>, HomeError> {
        let mut indexes = Projection::report(&*self.0, store)?;
        indexes.retain(|index| index.name.starts_with("vectors/"));
        Ok(indexes)
    }
}
