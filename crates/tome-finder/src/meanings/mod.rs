//! The index of vectors: an exact scan over one bit a dimension, and the best rows looked at again with
//! five. Nothing is built, balanced or trained: rows are appended, and found from then on.
//!
//! Promises: what was written is found after a crash if `write` came back, and not by half if it did not.
//! The same entries give the same answers, in whatever order they came. Files that are not
//! whole are [`FinderError::Damaged`], never a wrong answer.

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

/// Pieces of an event that are looked at to say how near it is.
const PIECES_LOOKED_AT: usize = 8;

/// An index of vectors in a folder.
pub struct Meanings {
    embedder: Arc<dyn Embedder>,
    store: RwLock<Store>,
    /// One commit at a time. Searches go on while it writes.
    writing: Mutex<()>,
}

impl Meanings {
    /// Opens an index. One that was made with another embedder is damaged.
    pub fn open(folder: &Path, embedder: Arc<dyn Embedder>) -> Result<Self, FinderError> {
        let head = Head::read(folder)?;
        let (name, dimensions) = (embedder.name(), embedder.dimensions());
        if head.embedder != name || head.dimensions != dimensions {
            let problem = format!(
                "was made with {} ({} dimensions), but {name} ({dimensions}) is used now: it has to be made again",
                head.embedder, head.dimensions
            );
            return Err(damaged(folder, problem));
        }
        Ok(Self::of(Store::open(folder, head)?, embedder))
    }

    /// What an index says of itself, read from its head alone.
    pub fn glance(folder: &Path) -> Result<Glance, FinderError> {
        let head = Head::read(folder)?;
        Ok(Glance { cursor: head.cursor, entries: None, embedder: Some(head.embedder) })
    }

    /// Makes an empty one, in place of whatever is in the folder.
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

    /// How far it has come; empty at first.
    pub fn cursor(&self) -> String {
        self.read().head.cursor.clone()
    }

    /// How many entries it has.
    pub fn count(&self) -> usize {
        self.read().table.live()
    }

    /// The named things that it has, with the `at` they were put in with, in the order of their names.
    pub fn named(&self) -> Vec<(String, Millis)> {
        self.read().table.named()
    }

    /// The line that an event was put in with, if events were put in by number.
    pub fn line(&self, seq: u64) -> Option<u32> {
        self.read().table.line(seq)
    }

    /// Embeds and writes. Whole or not at all.
    #[expect(clippy::needless_pass_by_value, reason = "as the other index has it")]
    pub fn write(&self, batch: Batch) -> Result<(), FinderError> {
        self.write_batch(&batch)
    }

    /// The same for a batch that somebody else needs too.
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

    /// Gets rid of dead rows. The batch is in already: if there is no room for it, the next one tries again.
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

    /// What lies nearest to a text. The score is 1 for the same, and 0 for what has nothing to do with
    /// it: the cosine, counted from that of unrelated texts. What is below 0 is not found.
    pub fn search(
        &self,
        text: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, FinderError> {
        self.search_for(&self.question(text)?, filter, limit)
    }

    /// Where a question points to; what is rare here counts in it.
    pub fn question(&self, text: &str) -> Result<Bearing, FinderError> {
        // An embedder may take its time: commits do not wait for it.
        let tokens = self.embedder.tokens(text);
        let weights = self.read().table.counts.weights(tokens);
        self.bearing(&self.embedder.embed_question(text, &|token| weights.of(token))?)
    }

    /// What lies nearest to a question, as [`search`](Self::search) says it.
    pub fn search_for(
        &self,
        question: &Bearing,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, FinderError> {
        let found = self.nearest(question, filter, limit)?;
        Ok(self.counted_from_unrelated(found))
    }

    /// How near an event is to a question: its pieces, the nearest first, if they are not too many, or
    /// else those of `parts`. An event that is not here has none.
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

    /// Counts scores from the cosine of unrelated texts on.
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

    /// What lies nearest, with the cosine as score. What points away is not found.
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

    /// Where a vector points to.
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

    /// Whether its files are still there as it left them. While somebody writes they are about to
    /// change, and nothing is held against them.
    pub fn is_whole(&self) -> bool {
        let _one = match self.writing.try_lock() {
            Err(TryLockError::WouldBlock) => return true,
            one => one,
        };
        self.read().is_whole()
    }
}

/// Where a question points to: a vector as rows are, of length 1; none if it points nowhere.
#[derive(Debug, Clone)]
pub struct Bearing(Option<Vec<f32>>);

/// The best rows by sign bits, in the order of their cosines.
fn nearest(
    store: &Store,
    question: &[f32],
    filter: &Filter,
    limit: usize,
) -> Result<Vec<Found>, FinderError> {
    let words: Vec<u64> = row::signs(question).collect();
    let mut rows = scan::candidates(&store.table, &words, filter, limit);
    // In the order of the file, which is how a disk likes to be read.
    rows.sort_unstable();
    by_cosine(store, question, rows, limit)
}

/// Some rows in the order of their cosines, without those that point away.
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
