//! The vector index: an exhaustive scan over one sign bit per dimension; the best rows are rescored
//! with five bits per dimension. There is no graph to build or train: rows are searchable as soon
//! as they are appended.
//!
//! Guarantees: a batch survives a crash once `write` has returned, and is never partially visible.
//! The same entries give the same results, regardless of insertion order. Incomplete files yield
//! [`FinderError::Damaged`], never a wrong result.

mod bytes;
mod column;
mod commit;
mod compact;
mod counts;
mod head;
mod log;
mod row;
mod scan;
mod slices;
mod store;
mod table;
mod turn;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use tome_model::Millis;

use self::commit::{Commit, Embedded, check_dimensions, check_vector};
use self::head::Head;
use self::store::Store;
use crate::files::{damaged, empty_folder, failed};
use crate::{Batch, Embedder, Filter, FinderError, Found, Glance, Part};

/// Up to this many chunks of an event are compared with a query.
const PIECES_LOOKED_AT: usize = 8;

/// A vector index in a folder.
pub struct Meanings {
    embedder: Arc<dyn Embedder>,
    store: RwLock<Store>,
    /// Serializes commits. Searches continue while one writes.
    writing: Mutex<()>,
}

impl Meanings {
    /// Opens an index. Returns `Damaged` if another embedder created it.
    pub fn open(folder: &Path, embedder: Arc<dyn Embedder>) -> Result<Self, FinderError> {
        let head = Head::read(folder)?;
        let (name, dimensions) = (embedder.name(), embedder.dimensions());
        if head.embedder != name || head.dimensions != dimensions {
            let problem = format!(
                "was built with {} ({} dimensions), but {name} ({dimensions}) is configured: rebuild the index",
                head.embedder, head.dimensions
            );
            return Err(damaged(folder, problem));
        }
        Ok(Self::of(Store::open(folder, head)?, embedder))
    }

    /// Reads the metadata of an index from its head, without opening it.
    pub fn glance(folder: &Path) -> Result<Glance, FinderError> {
        let head = Head::read(folder)?;
        Ok(Glance { cursor: head.cursor, entries: None, embedder: Some(head.embedder) })
    }

    /// Creates an empty index, replacing whatever is in the folder.
    pub fn make(folder: &Path, embedder: Arc<dyn Embedder>) -> Result<Self, FinderError> {
        check_dimensions(&*embedder)?;
        empty_folder(folder).map_err(|error| failed(folder, &error))?;
        let store = Store::create(folder, Head::new(embedder.name(), embedder.dimensions()))?;
        store.head.write(folder)?;
        Ok(Self::of(store, embedder))
    }

    fn of(store: Store, embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, store: RwLock::new(store), writing: Mutex::new(()) }
    }

    fn read(&self) -> RwLockReadGuard<'_, Store> {
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cursor of the last batch; empty at first.
    pub fn cursor(&self) -> String {
        self.read().head.cursor.clone()
    }

    /// Number of live entries.
    pub fn count(&self) -> usize {
        self.read().table.live()
    }

    /// Names of the named records with their `at`, sorted by name.
    pub fn named(&self) -> Vec<(String, Millis)> {
        self.read().table.named()
    }

    /// The line stored with an event. Only found if events were written in order.
    pub fn line(&self, seq: u64) -> Option<u32> {
        self.read().table.line(seq)
    }

    /// Embeds and writes a batch atomically.
    #[expect(clippy::needless_pass_by_value, reason = "same signature as the BM25 index")]
    pub fn write(&self, batch: Batch) -> Result<(), FinderError> {
        self.write_batch(&batch)
    }

    /// Like [`write`](Self::write), for a batch that the caller still needs.
    pub fn write_batch(&self, batch: &Batch) -> Result<(), FinderError> {
        let embedded = Embedded::of(&batch.put, &*self.embedder)?;
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let (commit, head) = {
            let store = self.read();
            let commit = Commit::of(&store.table, batch, &embedded);
            let head = store.append(&commit, &batch.cursor)?;
            (commit, head)
        };
        self.store.write().unwrap_or_else(PoisonError::into_inner).apply(&commit, head)?;
        self.compact();
        Ok(())
    }

    /// Removes dead rows if worthwhile. A failure (such as a full disk) is ignored, because the
    /// batch is already committed and the next write tries again.
    fn compact(&self) {
        let fresh = {
            let store = self.read();
            if !compact::is_worth_it(&store) {
                return;
            }
            compact::compacted(&store)
        };
        if let Ok(fresh) = fresh {
            *self.store.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        }
    }

    /// Returns the entries most similar to a text. The score is the cosine similarity, rescaled so
    /// that unrelated texts score 0 and identical ones 1; scores below 0 are dropped.
    pub fn search(
        &self,
        text: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, FinderError> {
        self.search_for(&self.question(text)?, filter, limit)
    }

    /// Embeds a query, giving more weight to tokens that are rare in this index.
    pub fn question(&self, text: &str) -> Result<Bearing, FinderError> {
        // Embedding may be slow: do not hold the lock meanwhile.
        let tokens = self.embedder.tokens(text);
        let weights = self.read().table.counts.weights(tokens);
        self.bearing(&self.embedder.embed_question(text, &|token| weights.of(token))?)
    }

    /// Like [`search`](Self::search), with an embedded query.
    pub fn search_for(
        &self,
        question: &Bearing,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, FinderError> {
        let found = self.nearest(question, filter, limit)?;
        Ok(self.counted_from_unrelated(found))
    }

    /// Compares an event's chunks with a query, best first. Of an event with many chunks, only
    /// those in `parts` are compared. Empty if the event is not in the index.
    pub fn nearness(
        &self,
        question: &Bearing,
        event: u64,
        parts: &[Part],
    ) -> Result<Vec<Found>, FinderError> {
        let Bearing(Some(question)) = question else { return Ok(Vec::new()) };
        let store = self.read();
        let rows = || store.table.rows_of(event).filter(|row| store.table.has_vector(*row));
        let mut meant: Vec<u32> = rows().take(PIECES_LOOKED_AT + 1).collect();
        if meant.len() > PIECES_LOOKED_AT {
            let part_of = |row: u32| store.table.facts(row).map(|facts| facts.part);
            let is_meant = |row: &u32| part_of(*row).is_some_and(|part| parts.contains(&part));
            meant = rows().filter(is_meant).take(PIECES_LOOKED_AT).collect();
        }
        let found = by_cosine(&store, question, meant, PIECES_LOOKED_AT)?;
        drop(store);
        Ok(self.counted_from_unrelated(found))
    }

    /// Rescales scores so that the cosine of unrelated texts becomes 0.
    fn counted_from_unrelated(&self, mut found: Vec<Found>) -> Vec<Found> {
        let unrelated = self.embedder.unrelated();
        if unrelated > 0.0 {
            for one in &mut found {
                one.score = (one.score - unrelated) / (1.0 - unrelated);
            }
            found.retain(|one| one.score > 0.0);
        }
        found
    }

    /// Returns the most similar rows with their cosine as score; negative ones are dropped.
    fn nearest(
        &self,
        question: &Bearing,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, FinderError> {
        match question {
            Bearing(Some(question)) if limit > 0 => nearest(&self.read(), question, filter, limit),
            Bearing(_) => Ok(Vec::new()),
        }
    }

    fn bearing(&self, vector: &[f32]) -> Result<Bearing, FinderError> {
        check_vector(&*self.embedder, vector)?;
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if length == 0.0 {
            return Ok(Bearing(None));
        }
        let mut bearing = turn::turned(vector);
        bearing.iter_mut().for_each(|number| *number /= length);
        Ok(Bearing(Some(bearing)))
    }

    /// Returns whether the files on disk are still those that this index wrote. Assumes so while a
    /// write is in progress.
    pub fn is_whole(&self) -> bool {
        let _one = match self.writing.try_lock() {
            Err(TryLockError::WouldBlock) => return true,
            one => one,
        };
        self.read().is_whole()
    }
}

/// An embedded query: rotated like the rows and of length 1; `None` for a zero vector.
#[derive(Debug, Clone)]
pub struct Bearing(Option<Vec<f32>>);

/// Selects rows by sign bits and ranks them by cosine.
fn nearest(
    store: &Store,
    question: &[f32],
    filter: &Filter,
    limit: usize,
) -> Result<Vec<Found>, FinderError> {
    let words: Vec<u64> = row::signs(question).collect();
    let mut rows = scan::candidates(&store.table, &words, filter, limit);
    // Read in file order.
    rows.sort_unstable();
    by_cosine(store, question, rows, limit)
}

/// Ranks rows by cosine, dropping negative ones.
fn by_cosine(
    store: &Store,
    question: &[f32],
    rows: Vec<u32>,
    limit: usize,
) -> Result<Vec<Found>, FinderError> {
    let table = &store.table;
    let cosines = store.cosines(question, &rows)?;
    let mut scored: Vec<_> = cosines.into_iter().zip(rows).filter(|(it, _)| *it > 0.0).collect();
    scored.sort_unstable_by(|one, other| {
        other.0.total_cmp(&one.0).then_with(|| table.said(one.1).cmp(&table.said(other.1)))
    });
    scored.truncate(limit);
    Ok(scored.into_iter().filter_map(|(score, row)| table.found(row, score)).collect())
}

#[cfg(test)]
mod tests;
