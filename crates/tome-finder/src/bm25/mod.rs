//! The BM25 index, on top of tantivy's files.
//!
//! The folder holds tantivy's segments and its `meta.json`, whose payload is ours:
//! `{"scheme":3,"cut":1,"cursor":"…"}`. An index with another `scheme`, or another version of the
//! text analyzer (`cut`), counts as damaged and is rebuilt. Entries and cursor are committed
//! together. Files are verified on open and never memory-mapped, so a truncated or corrupt file is
//! reported and cannot crash the process.
//!
//! Results do not depend on how entries are distributed over segments, nor on deleted entries: see
//! `ranking.rs` and `snapshot.rs`.

mod directory;
mod doc_filter;
mod file;
mod merge_policy;
mod query;
mod ranking;
mod schema;
mod snapshot;
mod term_weight;
mod top_k;
mod writer;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use serde::{Deserialize, Serialize};
use tantivy::index::SegmentComponent;
use tantivy::schema::IndexRecordOption;
use tantivy::{Index, IndexReader, IndexSettings, ReloadPolicy, TERMINATED};
use tome_model::Millis;

use crate::files::recreate_folder;
use crate::{EntryFilter, FinderError, IndexBatch, IndexHit, IndexMeta};
use directory::PrivateDirectory;
use query::SearchTerm;
use schema::IndexFields;
use snapshot::IndexSnapshot;
pub use term_weight::{BM25_B, BM25_K1};
use writer::Bm25Writer;

/// Increment when the fields or their contents change.
const SCHEME: u32 = 3;

/// Tantivy's list of segments.
const META: &str = "meta.json";

/// The files of every segment.
const SEGMENT_FILES: [SegmentComponent; 5] = [
    SegmentComponent::Postings,
    SegmentComponent::Terms,
    SegmentComponent::FastFields,
    SegmentComponent::FieldNorms,
    SegmentComponent::Store,
];

/// A BM25 index in a folder.
pub struct Bm25Index {
    folder: PathBuf,
    directory: PrivateDirectory,
    fields: IndexFields,
    index: Index,
    reader: IndexReader,
    writer: Mutex<Option<Bm25Writer>>,
    visible: RwLock<VisibleState>,
}

/// The state that searches see.
struct VisibleState {
    snapshot: Arc<IndexSnapshot>,
    cursor: String,
}

/// Metadata stored with every commit.
#[derive(Debug, Serialize, Deserialize)]
struct CommitPayload {
    scheme: u32,
    cut: u32,
    cursor: String,
}

impl CommitPayload {
    fn new(cursor: &str) -> Self {
        Self { scheme: SCHEME, cut: tome_text::ANALYZER_VERSION, cursor: cursor.to_owned() }
    }
}

/// A keyword query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bm25Query {
    /// The query as entered.
    pub text: String,
}

impl Bm25Index {
    /// Opens an index. Returns `Damaged` if its format version differs.
    pub fn open(folder: &Path) -> Result<Self, FinderError> {
        match std::fs::symlink_metadata(folder.join(META)) {
            Ok(_) => run_or_damaged(folder, || Self::load(folder)),
            Err(failed) if failed.kind() == std::io::ErrorKind::NotFound => {
                Err(FinderError::Missing(folder.to_owned()))
            }
            Err(failed) => Err(damaged_error(folder, &failed)),
        }
    }

    /// Reads the metadata of an index from `meta.json`, without opening it.
    pub fn read_meta(folder: &Path) -> Result<IndexMeta, FinderError> {
        match std::fs::symlink_metadata(folder.join(META)) {
            Ok(_) => run_or_damaged(folder, || {
                let metas = Index::open(PrivateDirectory::open(folder)?)?.load_metas()?;
                let payload = decode_payload(metas.payload.as_deref())?;
                let entries = metas.segments.iter().map(|one| u64::from(one.num_docs())).sum();
                Ok(IndexMeta { cursor: payload.cursor, entries: Some(entries), embedder: None })
            }),
            Err(failed) if failed.kind() == std::io::ErrorKind::NotFound => {
                Err(FinderError::Missing(folder.to_owned()))
            }
            Err(failed) => Err(damaged_error(folder, &failed)),
        }
    }

    /// Creates an empty index, replacing whatever is in the folder. An index open there must be
    /// dropped first.
    pub fn create(folder: &Path) -> Result<Self, FinderError> {
        recreate_folder(folder).map_err(|problem| failed_error(folder, &problem))?;
        catch_panics(|| {
            let (fields, schema) = IndexFields::new();
            let index =
                Index::create(PrivateDirectory::open(folder)?, schema, IndexSettings::default())?;
            let mut writer = Bm25Writer::new(&index)?;
            writer.write_batch(
                IndexBatch::default(),
                &encode_payload(&CommitPayload::new(""))?,
                &fields,
            )
        })
        .map_err(|problem| failed_error(folder, &problem))?;
        Self::open(folder)
    }

    fn load(folder: &Path) -> tantivy::Result<Self> {
        let (fields, schema) = IndexFields::new();
        let directory = PrivateDirectory::open(folder)?;
        let mut index = Index::open(directory.clone())?;
        let payload = decode_payload(index.load_metas()?.payload.as_deref())?;
        if index.schema() != schema {
            return Err(tantivy::TantivyError::SchemaError("unexpected fields".to_owned()));
        }
        index.set_tokenizers(schema::build_analyzers());
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let snapshot = IndexSnapshot::new(reader.searcher().segment_readers(), &fields, None)?;
        let now = VisibleState { snapshot: Arc::new(snapshot), cursor: payload.cursor };
        Ok(Self {
            folder: folder.to_owned(),
            directory,
            fields,
            index,
            reader,
            writer: Mutex::default(),
            visible: RwLock::new(now),
        })
    }

    /// Cursor of the last batch; empty at first.
    pub fn cursor(&self) -> String {
        self.visible.read().unwrap_or_else(PoisonError::into_inner).cursor.clone()
    }

    /// Number of live entries.
    pub fn entry_count(&self) -> u64 {
        self.snapshot().count
    }

    /// Writes a batch atomically, syncs it, and makes it visible to searches.
    pub fn write(&self, batch: IndexBatch) -> Result<(), FinderError> {
        let mut held = self.lock_writer();
        let outcome = catch_panics(|| {
            let mut writer = match held.take() {
                Some(writer) => writer,
                None => Bm25Writer::new(&self.index)?,
            };
            let payload = CommitPayload::new(&batch.cursor);
            writer.write_batch(batch, &encode_payload(&payload)?, &self.fields)?;
            self.reload(Some(payload.cursor))?;
            writer.start_merges()?;
            *held = Some(writer);
            Ok(())
        });
        // After a failure the writer is dropped, and with it everything uncommitted.
        outcome.map_err(|problem| failed_error(&self.folder, &problem))
    }

    /// Releases the writer with its threads and memory. Returns `false` if merges are still
    /// running: call it again later.
    pub fn release_writer(&self) -> Result<bool, FinderError> {
        let mut held = self.lock_writer();
        let Some(mut writer) = held.take() else { return Ok(true) };
        run_or_damaged(&self.folder, || {
            if !writer.is_merging() {
                writer.start_merges()?;
            }
            if writer.is_merging() {
                *held = Some(writer);
                return Ok(false);
            }
            self.reload(None)?;
            Ok(true)
        })
    }

    /// Returns the entries that match best.
    pub fn search(
        &self,
        query: &Bm25Query,
        filter: &EntryFilter,
        limit: usize,
    ) -> Result<Vec<IndexHit>, FinderError> {
        self.rank_terms(query::parse_query(&query.text), filter, limit)
    }

    fn rank_terms(
        &self,
        wanted: Vec<SearchTerm>,
        filter: &EntryFilter,
        limit: usize,
    ) -> Result<Vec<IndexHit>, FinderError> {
        let snapshot = self.snapshot();
        let entries = usize::try_from(snapshot.count).unwrap_or(usize::MAX);
        run_or_damaged(&self.folder, || {
            let clauses = query::build_clauses(wanted, &self.fields, &snapshot)?;
            match limit.min(entries) {
                0 => Ok(Vec::new()),
                limit => ranking::rank_entries(&clauses, filter, &self.fields, &snapshot, limit),
            }
        })
    }

    /// Inverse document frequency of a stem, as produced by `tome_text::stemmed_terms`.
    pub fn idf(&self, term: &str) -> Result<f32, FinderError> {
        let snapshot = self.snapshot();
        run_or_damaged(&self.folder, || query::idf(term, &self.fields, &snapshot))
    }

    /// Number of entries that have a stem in their text, title or keywords, whichever is most.
    pub fn doc_frequency(&self, term: &str) -> Result<u64, FinderError> {
        let snapshot = self.snapshot();
        run_or_damaged(&self.folder, || query::doc_frequency(term, &self.fields, &snapshot))
    }

    /// The score of an entry that has every word of a query once, at average length. Divided by it,
    /// scores of different indexes can be compared.
    pub fn full_score(&self, query: &Bm25Query) -> Result<f32, FinderError> {
        let snapshot = self.snapshot();
        let wanted = query::parse_query(&query.text);
        run_or_damaged(&self.folder, || query::full_score(&wanted, &self.fields, &snapshot))
    }

    /// Returns whether any entry has a stem in its text.
    pub fn has_term(&self, term: &str) -> Result<bool, FinderError> {
        let snapshot = self.snapshot();
        let frequency =
            run_or_damaged(&self.folder, || snapshot.doc_frequency(self.fields.text, term))?;
        Ok(frequency > 0)
    }

    /// Average length of the texts, in terms.
    pub fn average_length(&self) -> f32 {
        self.snapshot().average
    }

    /// Names of the named records with their `at`, sorted by name.
    pub fn list_named(&self) -> Result<Vec<(String, Millis)>, FinderError> {
        let snapshot = self.snapshot();
        let mut named = run_or_damaged(&self.folder, || collect_named(&snapshot, &self.fields))?;
        named.sort();
        named.dedup_by(|one, other| one.0 == other.0);
        Ok(named)
    }

    /// Returns whether the files on disk are still those that this index wrote. Assumes so while a
    /// write is in progress.
    pub fn is_intact(&self) -> bool {
        let _writer = match self.writer.try_lock() {
            Err(TryLockError::WouldBlock) => return true,
            lock => lock,
        };
        // Retry, because a concurrent merge may delete files listed a moment ago.
        (0..3).any(|_| self.has_files())
    }

    fn has_files(&self) -> bool {
        let Ok(metas) = self.index.load_metas() else { return false };
        let is_ours =
            decode_payload(metas.payload.as_deref()).is_ok_and(|ours| ours.cursor == self.cursor());
        is_ours
            && metas.segments.iter().all(|segment| {
                let dead = segment.has_deletes().then_some(SegmentComponent::Delete);
                SEGMENT_FILES
                    .into_iter()
                    .chain(dead)
                    .all(|of| self.directory.has_file(&segment.relative_path(of)))
            })
    }

    fn snapshot(&self) -> Arc<IndexSnapshot> {
        Arc::clone(&self.visible.read().unwrap_or_else(PoisonError::into_inner).snapshot)
    }

    fn lock_writer(&self) -> MutexGuard<'_, Option<Bm25Writer>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the last commit visible to searches.
    fn reload(&self, cursor: Option<String>) -> tantivy::Result<()> {
        self.reader.reload()?;
        let before = self.snapshot();
        let searcher = self.reader.searcher();
        let snapshot = IndexSnapshot::new(searcher.segment_readers(), &self.fields, Some(&before))?;
        let mut now = self.visible.write().unwrap_or_else(PoisonError::into_inner);
        now.snapshot = Arc::new(snapshot);
        if let Some(cursor) = cursor {
            now.cursor = cursor;
        }
        Ok(())
    }
}

impl Drop for Bm25Index {
    fn drop(&mut self) {
        self.directory.close();
    }
}

fn collect_named(
    snapshot: &IndexSnapshot,
    fields: &IndexFields,
) -> tantivy::Result<Vec<(String, Millis)>> {
    let mut named = Vec::new();
    for segment in &snapshot.segments {
        let index = segment.inverted(fields.key)?;
        let mut names = index.terms().stream()?;
        while names.advance() {
            let mut postings =
                index.read_block_postings_from_terminfo(names.value(), IndexRecordOption::Basic)?;
            while postings.doc(0) != TERMINATED {
                if let Some(doc) = postings.docs().iter().find(|doc| segment.is_alive(**doc)) {
                    let name = String::from_utf8_lossy(names.key()).into_owned();
                    named.push((name, segment.entry_time(*doc)));
                    break;
                }
                postings.advance();
            }
        }
    }
    Ok(named)
}

fn encode_payload(payload: &CommitPayload) -> tantivy::Result<String> {
    serde_json::to_string(payload)
        .map_err(|failed| tantivy::TantivyError::InternalError(failed.to_string()))
}

fn decode_payload(payload: Option<&str>) -> tantivy::Result<CommitPayload> {
    let other = || tantivy::TantivyError::SchemaError("another format version".to_owned());
    let payload: CommitPayload =
        payload.and_then(|text| serde_json::from_str(text).ok()).ok_or_else(other)?;
    if (payload.scheme, payload.cut) == (SCHEME, tome_text::ANALYZER_VERSION) {
        Ok(payload)
    } else {
        Err(other())
    }
}

/// Runs code that reads the index's files; a failure means that the index must be rebuilt.
fn run_or_damaged<T>(
    folder: &Path,
    run: impl FnOnce() -> tantivy::Result<T>,
) -> Result<T, FinderError> {
    catch_panics(run).map_err(|problem| damaged_error(folder, &problem))
}

/// Runs tantivy code. Corrupt bytes make it fail or panic.
fn catch_panics<T>(run: impl FnOnce() -> tantivy::Result<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(outcome) => outcome.map_err(|problem| problem.to_string()),
        Err(_) => Err("corrupt files".to_owned()),
    }
}

fn damaged_error(folder: &Path, problem: &dyn std::fmt::Display) -> FinderError {
    FinderError::Damaged { path: folder.to_owned(), problem: problem.to_string() }
}

fn failed_error(folder: &Path, problem: &dyn std::fmt::Display) -> FinderError {
    FinderError::Failed { path: folder.to_owned(), problem: problem.to_string() }
}

#[cfg(test)]
mod tests;
