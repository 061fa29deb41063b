//! The BM25 index, on top of tantivy's files.
//!
//! The folder holds tantivy's segments and its `meta.json`, whose payload is ours:
//! `{"scheme":2,"cut":1,"cursor":"…"}`. An index with another `scheme`, or another version of the
//! text analyzer (`cut`), counts as damaged and is rebuilt. Entries and cursor are committed
//! together. Files are verified on open and never memory-mapped, so a truncated or corrupt file is
//! reported and cannot crash the process.
//!
//! Results do not depend on how entries are distributed over segments, nor on deleted entries: see
//! `ranking.rs` and `snapshot.rs`.

mod allowed;
mod best;
mod file;
mod folder;
mod merging;
mod pen;
mod question;
mod ranking;
mod schema;
mod snapshot;
mod weight;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use serde::{Deserialize, Serialize};
use tantivy::index::SegmentComponent;
use tantivy::schema::IndexRecordOption;
use tantivy::{Index, IndexReader, IndexSettings, ReloadPolicy, TERMINATED};
use tome_model::Millis;

use crate::files::empty_folder;
use crate::{Batch, Filter, FinderError, Found, Glance};
use folder::OwnFolder;
use pen::Pen;
use question::Wanted;
use schema::Fields;
use snapshot::Snapshot;

/// Increment when the fields or their contents change.
const SCHEME: u32 = 2;

/// Tantivy's list of segments.
const META: &str = "meta.json";

/// The files of every segment.
const ALWAYS: [SegmentComponent; 5] = [
    SegmentComponent::Postings,
    SegmentComponent::Terms,
    SegmentComponent::FastFields,
    SegmentComponent::FieldNorms,
    SegmentComponent::Store,
];

/// A BM25 index in a folder.
pub struct Words {
    folder: PathBuf,
    own: OwnFolder,
    fields: Fields,
    index: Index,
    reader: IndexReader,
    pen: Mutex<Option<Pen>>,
    now: RwLock<Now>,
}

/// The state that searches see.
struct Now {
    snapshot: Arc<Snapshot>,
    cursor: String,
}

/// Metadata stored with every commit.
#[derive(Debug, Serialize, Deserialize)]
struct Payload {
    scheme: u32,
    cut: u32,
    cursor: String,
}

impl Payload {
    fn new(cursor: &str) -> Self {
        Self { scheme: SCHEME, cut: tome_text::ANALYZER_VERSION, cursor: cursor.to_owned() }
    }
}

/// A keyword query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WordsQuery {
    /// The query as entered.
    pub text: String,
}

impl Words {
    /// Opens an index. Returns `Damaged` if its format version differs.
    pub fn open(folder: &Path) -> Result<Self, FinderError> {
        match std::fs::symlink_metadata(folder.join(META)) {
            Ok(_) => guarded(folder, || Self::load(folder)),
            Err(failed) if failed.kind() == std::io::ErrorKind::NotFound => {
                Err(FinderError::Missing(folder.to_owned()))
            }
            Err(failed) => Err(damaged(folder, &failed)),
        }
    }

    /// Reads the metadata of an index from `meta.json`, without opening it.
    pub fn glance(folder: &Path) -> Result<Glance, FinderError> {
        match std::fs::symlink_metadata(folder.join(META)) {
            Ok(_) => guarded(folder, || {
                let metas = Index::open(OwnFolder::open(folder)?)?.load_metas()?;
                let payload = read(metas.payload.as_deref())?;
                let entries = metas.segments.iter().map(|one| u64::from(one.num_docs())).sum();
                Ok(Glance { cursor: payload.cursor, entries: Some(entries), embedder: None })
            }),
            Err(failed) if failed.kind() == std::io::ErrorKind::NotFound => {
                Err(FinderError::Missing(folder.to_owned()))
            }
            Err(failed) => Err(damaged(folder, &failed)),
        }
    }

    /// Creates an empty index, replacing whatever is in the folder. An index open there must be
    /// dropped first.
    pub fn make(folder: &Path) -> Result<Self, FinderError> {
        empty_folder(folder).map_err(|problem| failed(folder, &problem))?;
        caught(|| {
            let (fields, schema) = Fields::new();
            let index = Index::create(OwnFolder::open(folder)?, schema, IndexSettings::default())?;
            let mut pen = Pen::new(&index)?;
            pen.write(Batch::default(), &written(&Payload::new(""))?, &fields)
        })
        .map_err(|problem| failed(folder, &problem))?;
        Self::open(folder)
    }

    fn load(folder: &Path) -> tantivy::Result<Self> {
        let (fields, schema) = Fields::new();
        let own = OwnFolder::open(folder)?;
        let mut index = Index::open(own.clone())?;
        let payload = read(index.load_metas()?.payload.as_deref())?;
        if index.schema() != schema {
            return Err(tantivy::TantivyError::SchemaError("unexpected fields".to_owned()));
        }
        index.set_tokenizers(schema::analyzers());
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let snapshot = Snapshot::new(reader.searcher().segment_readers(), &fields, None)?;
        let now = Now { snapshot: Arc::new(snapshot), cursor: payload.cursor };
        Ok(Self {
            folder: folder.to_owned(),
            own,
            fields,
            index,
            reader,
            pen: Mutex::default(),
            now: RwLock::new(now),
        })
    }

    /// Cursor of the last batch; empty at first.
    pub fn cursor(&self) -> String {
        self.now.read().unwrap_or_else(PoisonError::into_inner).cursor.clone()
    }

    /// Number of live entries.
    pub fn count(&self) -> u64 {
        self.snapshot().count
    }

    /// Writes a batch atomically, syncs it, and makes it visible to searches.
    pub fn write(&self, batch: Batch) -> Result<(), FinderError> {
        let mut held = self.pen();
        let outcome = caught(|| {
            let mut pen = match held.take() {
                Some(pen) => pen,
                None => Pen::new(&self.index)?,
            };
            let payload = Payload::new(&batch.cursor);
            pen.write(batch, &written(&payload)?, &self.fields)?;
            self.look_again(Some(payload.cursor))?;
            pen.tidy()?;
            *held = Some(pen);
            Ok(())
        });
        // After a failure the writer is dropped, and with it everything uncommitted.
        outcome.map_err(|problem| failed(&self.folder, &problem))
    }

    /// Releases the writer with its threads and memory. Returns `false` if merges are still
    /// running: call it again later.
    pub fn rest(&self) -> Result<bool, FinderError> {
        let mut held = self.pen();
        let Some(mut pen) = held.take() else { return Ok(true) };
        guarded(&self.folder, || {
            if !pen.is_tidying() {
                pen.tidy()?;
            }
            if pen.is_tidying() {
                *held = Some(pen);
                return Ok(false);
            }
            self.look_again(None)?;
            Ok(true)
        })
    }

    /// Returns the entries that match best.
    pub fn search(
        &self,
        query: &WordsQuery,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, FinderError> {
        self.ranked(question::wanted(&query.text), filter, limit)
    }

    fn ranked(
        &self,
        wanted: Vec<Wanted>,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Found>, FinderError> {
        let snapshot = self.snapshot();
        let entries = usize::try_from(snapshot.count).unwrap_or(usize::MAX);
        guarded(&self.folder, || {
            let clauses = question::clauses(wanted, &self.fields, &snapshot)?;
            match limit.min(entries) {
                0 => Ok(Vec::new()),
                limit => ranking::rank(&clauses, filter, &self.fields, &snapshot, limit),
            }
        })
    }

    /// Inverse document frequency of a stem, as produced by `tome_text::stemmed_terms`.
    pub fn idf(&self, term: &str) -> Result<f32, FinderError> {
        let snapshot = self.snapshot();
        guarded(&self.folder, || question::rarity(term, &self.fields, &snapshot))
    }

    /// Returns whether any entry has a stem in its text.
    pub fn has(&self, term: &str) -> Result<bool, FinderError> {
        let snapshot = self.snapshot();
        let frequency = guarded(&self.folder, || snapshot.frequency(self.fields.text, term))?;
        Ok(frequency > 0)
    }

    /// Average length of the texts, in terms.
    pub fn usual_length(&self) -> f32 {
        self.snapshot().average
    }

    /// Names of the named records with their `at`, sorted by name.
    pub fn named(&self) -> Result<Vec<(String, Millis)>, FinderError> {
        let snapshot = self.snapshot();
        let mut named = guarded(&self.folder, || named(&snapshot, &self.fields))?;
        named.sort();
        named.dedup_by(|one, other| one.0 == other.0);
        Ok(named)
    }

    /// Returns whether the files on disk are still those that this index wrote. Assumes so while a
    /// write is in progress.
    pub fn is_whole(&self) -> bool {
        let _pen = match self.pen.try_lock() {
            Err(TryLockError::WouldBlock) => return true,
            pen => pen,
        };
        // Retry, because a concurrent merge may delete files listed a moment ago.
        (0..3).any(|_| self.has_files())
    }

    fn has_files(&self) -> bool {
        let Ok(metas) = self.index.load_metas() else { return false };
        let is_ours = read(metas.payload.as_deref()).is_ok_and(|ours| ours.cursor == self.cursor());
        is_ours
            && metas.segments.iter().all(|segment| {
                let dead = segment.has_deletes().then_some(SegmentComponent::Delete);
                ALWAYS.into_iter().chain(dead).all(|of| self.own.has(&segment.relative_path(of)))
            })
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner).snapshot)
    }

    fn pen(&self) -> MutexGuard<'_, Option<Pen>> {
        self.pen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the last commit visible to searches.
    fn look_again(&self, cursor: Option<String>) -> tantivy::Result<()> {
        self.reader.reload()?;
        let before = self.snapshot();
        let searcher = self.reader.searcher();
        let snapshot = Snapshot::new(searcher.segment_readers(), &self.fields, Some(&before))?;
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        now.snapshot = Arc::new(snapshot);
        if let Some(cursor) = cursor {
            now.cursor = cursor;
        }
        Ok(())
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        self.own.close();
    }
}

fn named(snapshot: &Snapshot, fields: &Fields) -> tantivy::Result<Vec<(String, Millis)>> {
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
                    named.push((name, segment.at(*doc)));
                    break;
                }
                postings.advance();
            }
        }
    }
    Ok(named)
}

fn written(payload: &Payload) -> tantivy::Result<String> {
    serde_json::to_string(payload)
        .map_err(|failed| tantivy::TantivyError::InternalError(failed.to_string()))
}

fn read(payload: Option<&str>) -> tantivy::Result<Payload> {
    let other = || tantivy::TantivyError::SchemaError("another format version".to_owned());
    let payload: Payload =
        payload.and_then(|text| serde_json::from_str(text).ok()).ok_or_else(other)?;
    if (payload.scheme, payload.cut) == (SCHEME, tome_text::ANALYZER_VERSION) {
        Ok(payload)
    } else {
        Err(other())
    }
}

/// Runs code that reads the index's files; a failure means that the index must be rebuilt.
fn guarded<T>(folder: &Path, run: impl FnOnce() -> tantivy::Result<T>) -> Result<T, FinderError> {
    caught(run).map_err(|problem| damaged(folder, &problem))
}

/// Runs tantivy code. Corrupt bytes make it fail or panic.
fn caught<T>(run: impl FnOnce() -> tantivy::Result<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(outcome) => outcome.map_err(|problem| problem.to_string()),
        Err(_) => Err("corrupt files".to_owned()),
    }
}

fn damaged(folder: &Path, problem: &dyn std::fmt::Display) -> FinderError {
    FinderError::Damaged { path: folder.to_owned(), problem: problem.to_string() }
}

fn failed(folder: &Path, problem: &dyn std::fmt::Display) -> FinderError {
    FinderError::Failed { path: folder.to_owned(), problem: problem.to_string() }
}

#[cfg(test)]
mod tests;
