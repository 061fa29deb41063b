//! The vector index: an exhaustive scan over one sign bit per dimension; the best rows are rescored
//! with five bits per dimension. There is no graph to build or train: rows are searchable as soon
//! as they are appended.
//!
//! Guarantees: a batch survives a crash once `write` has returned, and is never partially visible.
//! The same entries give the same results, regardless of insertion order. Incomplete files yield
//! [`FinderError::Damaged`], never a wrong result.

mod bit_slices;
mod column;
mod commit;
mod compact;
mod encoding;
mod head;
mod log;
mod relocate;
mod rotation;
mod row;
mod scan;
mod table;
mod token_counts;
mod vector_files;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use tome_model::Millis;

use self::commit::{CommitBytes, EmbeddedEntries, check_dimensions, check_vector};
use self::head::IndexHead;
use self::vector_files::VectorFiles;
use crate::files::{damaged, io_failed, recreate_folder};
use crate::{
    ByteRange, Embedder, EntryFilter, EntryKey, FinderError, IndexBatch, IndexHit, IndexMeta,
};

/// Up to this many chunks of an event are compared with a query.
const CHUNKS_COMPARED_MAX: usize = 8;

/// A vector index in a folder.
pub struct VectorIndex {
    embedder: Arc<dyn Embedder>,
    files: RwLock<VectorFiles>,
    /// Serializes commits. Searches continue while one writes.
    writing: Mutex<()>,
}

impl VectorIndex {
    /// Opens an index. Returns `Damaged` if another embedder created it.
    pub fn open(folder: &Path, embedder: Arc<dyn Embedder>) -> Result<Self, FinderError> {
        let head = IndexHead::read(folder)?;
        let (name, dimensions) = (embedder.name(), embedder.dimensions());
        if head.embedder != name || head.dimensions != dimensions {
            let problem = format!(
                "was built with {} ({} dimensions), but {name} ({dimensions}) is configured: rebuild the index",
                head.embedder, head.dimensions
            );
            return Err(damaged(folder, problem));
        }
        Ok(Self::from_files(VectorFiles::open(folder, head)?, embedder))
    }

    /// Reads the metadata of an index from its head, without opening it.
    pub fn read_meta(folder: &Path) -> Result<IndexMeta, FinderError> {
        let head = IndexHead::read(folder)?;
        Ok(IndexMeta { cursor: head.cursor, entries: None, embedder: Some(head.embedder) })
    }

    /// Creates an empty index, replacing whatever is in the folder.
    pub fn create(folder: &Path, embedder: Arc<dyn Embedder>) -> Result<Self, FinderError> {
        check_dimensions(&*embedder)?;
        recreate_folder(folder).map_err(|error| io_failed(folder, &error))?;
        let files =
            VectorFiles::create(folder, IndexHead::new(embedder.name(), embedder.dimensions()))?;
        files.head.write(folder)?;
        Ok(Self::from_files(files, embedder))
    }

    fn from_files(files: VectorFiles, embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, files: RwLock::new(files), writing: Mutex::new(()) }
    }

    fn lock_files(&self) -> RwLockReadGuard<'_, VectorFiles> {
        self.files.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Name of the embedder that computed its vectors.
    pub fn embedder_name(&self) -> &str {
        self.embedder.name()
    }

    /// The slower and better embedder beside the one of this index.
    pub fn deep_embedder(&self) -> Option<Arc<dyn Embedder>> {
        self.embedder.deep_embedder()
    }

    /// Weight of a text's similarity; see [`Embedder::script_weight`].
    pub fn script_weight(&self, text: &str) -> f32 {
        self.embedder.script_weight(text)
    }

    /// Cursor of the last batch; empty at first.
    pub fn cursor(&self) -> String {
        self.lock_files().head.cursor.clone()
    }

    /// Number of live entries.
    pub fn entry_count(&self) -> usize {
        self.lock_files().table.live_count()
    }

    /// Names of the named records with their `at`, sorted by name.
    pub fn list_named(&self) -> Vec<(String, Millis)> {
        self.lock_files().table.list_named()
    }

    /// Returns whether a record is in the index.
    pub fn contains(&self, key: &EntryKey) -> bool {
        let files = self.lock_files();
        match key {
            EntryKey::Event(seq) => files.table.event_rows(*seq).next().is_some(),
            EntryKey::Named(name) => files.table.has_named(name),
        }
    }

    /// The line stored with an event.
    pub fn event_line(&self, seq: u64) -> Option<u32> {
        self.lock_files().table.event_line(seq)
    }

    /// Embeds and writes a batch atomically.
    #[expect(clippy::needless_pass_by_value, reason = "same signature as the BM25 index")]
    pub fn write(&self, batch: IndexBatch) -> Result<(), FinderError> {
        self.write_batch(&batch)
    }

    /// Like [`write`](Self::write), for a batch that the caller still needs.
    pub fn write_batch(&self, batch: &IndexBatch) -> Result<(), FinderError> {
        let embedded = EmbeddedEntries::embed(&batch.added, &*self.embedder)?;
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let (commit, head) = {
            let files = self.lock_files();
            let commit = CommitBytes::encode(&files.table, batch, &embedded);
            let head = files.write_commit(&commit, &batch.cursor)?;
            (commit, head)
        };
        self.files.write().unwrap_or_else(PoisonError::into_inner).apply_commit(&commit, head)?;
        self.compact();
        Ok(())
    }

    /// Removes dead rows if worthwhile. A failure (such as a full disk) is ignored, because the
    /// batch is already committed and the next write tries again.
    fn compact(&self) {
        let fresh = {
            let files = self.lock_files();
            if !compact::should_compact(&files) {
                return;
            }
            compact::write_compacted(&files)
        };
        if let Ok(fresh) = fresh {
            *self.files.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        }
    }

    /// Returns the entries most similar to a text. The score is the cosine similarity, rescaled so
    /// that unrelated texts score 0 and identical ones 1; scores below 0 are dropped.
    pub fn search(
        &self,
        text: &str,
        filter: &EntryFilter,
        limit: usize,
    ) -> Result<Vec<IndexHit>, FinderError> {
        self.search_vector(&self.embed_query(text)?, filter, limit)
    }

    /// Embeds a query, giving more weight to tokens that are rare in this index.
    pub fn embed_query(&self, text: &str) -> Result<QueryVector, FinderError> {
        // Embedding may be slow: do not hold the lock meanwhile.
        let tokens = self.embedder.token_ids(text);
        let weights = self.lock_files().table.token_counts.query_weights(tokens);
        self.prepare_query_vector(&self.embedder.embed_query(text, &|token| weights.weight(token))?)
    }

    /// Like [`search`](Self::search), with an embedded query.
    pub fn search_vector(
        &self,
        query_vector: &QueryVector,
        filter: &EntryFilter,
        limit: usize,
    ) -> Result<Vec<IndexHit>, FinderError> {
        let found = self.search_by_similarity(query_vector, filter, limit)?;
        Ok(self.rescale_scores(found))
    }

    /// Compares an event's chunks with a query, best first. If the event has many
    /// chunks, only those in `ranges` are compared. Empty if the event is not in the index.
    pub fn event_similarity(
        &self,
        query_vector: &QueryVector,
        event: u64,
        ranges: &[ByteRange],
    ) -> Result<Vec<IndexHit>, FinderError> {
        let Some(query_vector) = self.direction_of(query_vector) else { return Ok(Vec::new()) };
        let files = self.lock_files();
        let rows = || files.table.event_rows(event).filter(|row| files.table.has_vector(*row));
        let mut compared: Vec<u32> = rows().take(CHUNKS_COMPARED_MAX + 1).collect();
        if compared.len() > CHUNKS_COMPARED_MAX {
            let range_of = |row: u32| files.table.row_meta(row).map(|meta| meta.range);
            let is_compared =
                |row: &u32| range_of(*row).is_some_and(|range| ranges.contains(&range));
            compared = rows().filter(is_compared).take(CHUNKS_COMPARED_MAX).collect();
        }
        let found = rank_by_similarity(&files, query_vector, compared, CHUNKS_COMPARED_MAX)?;
        drop(files);
        Ok(self.rescale_scores(found))
    }

    /// Rescales scores so that the similarity of unrelated texts becomes 0.
    fn rescale_scores(&self, mut found: Vec<IndexHit>) -> Vec<IndexHit> {
        let unrelated = self.embedder.unrelated_similarity();
        if unrelated > 0.0 {
            for one in &mut found {
                one.score = (one.score - unrelated) / (1.0 - unrelated);
            }
            found.retain(|one| one.score > 0.0);
        }
        found
    }

    /// Returns the most similar rows with their similarity as score; negative ones are dropped.
    fn search_by_similarity(
        &self,
        query_vector: &QueryVector,
        filter: &EntryFilter,
        limit: usize,
    ) -> Result<Vec<IndexHit>, FinderError> {
        match self.direction_of(query_vector) {
            Some(direction) if limit > 0 => {
                search_store(&self.lock_files(), direction, filter, limit)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The direction of a query's vector; `None` if another embedder computed it, because such vectors
    /// cannot be compared.
    fn direction_of<'q>(&self, query_vector: &'q QueryVector) -> Option<&'q [f32]> {
        query_vector.direction.as_deref().filter(|_| query_vector.is_for(self))
    }

    fn prepare_query_vector(&self, vector: &[f32]) -> Result<QueryVector, FinderError> {
        check_vector(&*self.embedder, vector)?;
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if length == 0.0 {
            return Ok(QueryVector { embedder: self.embedder_name().into(), direction: None });
        }
        let mut direction = rotation::rotate(vector);
        direction.iter_mut().for_each(|number| *number /= length);
        Ok(QueryVector { embedder: self.embedder_name().into(), direction: Some(direction) })
    }

    /// Returns whether the files on disk are still those that this index wrote. Assumes so while a
    /// write is in progress.
    pub fn is_intact(&self) -> bool {
        let _one = match self.writing.try_lock() {
            Err(TryLockError::WouldBlock) => return true,
            one => one,
        };
        self.lock_files().is_intact()
    }
}

/// An embedded query.
#[derive(Debug, Clone)]
pub struct QueryVector {
    /// Name of the embedder.
    embedder: Arc<str>,
    /// Rotated like the rows and of length 1; `None` for a zero vector.
    direction: Option<Vec<f32>>,
}

impl QueryVector {
    /// Returns whether an index has vectors of the same embedder.
    pub fn is_for(&self, index: &VectorIndex) -> bool {
        *self.embedder == *index.embedder_name()
    }
}

/// Selects rows by sign bits and ranks them by similarity.
fn search_store(
    files: &VectorFiles,
    query_vector: &[f32],
    filter: &EntryFilter,
    limit: usize,
) -> Result<Vec<IndexHit>, FinderError> {
    let words: Vec<u64> = row::sign_bits(query_vector).collect();
    let mut rows = scan::find_candidates(&files.table, &words, filter, limit);
    // Read in file order.
    rows.sort_unstable();
    rank_by_similarity(files, query_vector, rows, limit)
}

/// Ranks rows by similarity, dropping negative ones.
fn rank_by_similarity(
    files: &VectorFiles,
    query_vector: &[f32],
    rows: Vec<u32>,
    limit: usize,
) -> Result<Vec<IndexHit>, FinderError> {
    let table = &files.table;
    let similarities = files.compute_similarities(query_vector, &rows)?;
    let mut scored: Vec<_> =
        similarities.into_iter().zip(rows).filter(|(it, _)| *it > 0.0).collect();
    scored.sort_unstable_by(|one, other| {
        other
            .0
            .total_cmp(&one.0)
            .then_with(|| table.tie_break(one.1).cmp(&table.tie_break(other.1)))
    });
    scored.truncate(limit);
    Ok(scored.into_iter().filter_map(|(score, row)| table.to_hit(row, score)).collect())
}

#[cfg(test)]
mod tests;
