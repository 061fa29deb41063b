//! The indexes as projections of a store.

use tome_home::{HomeError, Projection, ProjectionReport, Store};

use super::Recall;

/// BM25 and, unless a remote endpoint makes them, vectors: one pass reads each text once for both.
impl Projection for Recall {
    fn name(&self) -> &'static str {
        "indexes"
    }

    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        let index_set = self.indexer.ledger_set(store.path());
        Ok(index_set.is_some_and(|index_set| self.indexer.is_behind(&index_set, Some(store))))
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        self.catch_up_indexes(store, stop)?;
        Ok(())
    }

    /// Deletes the indexes and builds them again; queries are answered from the texts meanwhile.
    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        if let Some(index_set) = self.indexer.ledger_set(store.path()) {
            index_set.close();
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

    /// One report per index.
    fn report(&self, store: &Store) -> Result<Vec<ProjectionReport>, HomeError> {
        let report = self.report_indexes(store)?;
        Ok(report.map(|report| report.indexes).unwrap_or_default())
    }
}
