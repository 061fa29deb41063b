//! Ingestion: seals a draft, resolves its project and appends it to that project's ledger.
//!
//! Two steps with different costs: `prepare` uses the CPU and may run in parallel; `submit` only
//! queues, so that events are stored in the order of submission.

use std::collections::{BTreeSet, HashMap};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};

use tome_ledger::{AppendedEvent, NewEvent};
use tome_model::{Clock, DeliveredDraft, Draft, EventKind, InvalidInput};

use crate::Sealer;
use tome_home::{GitLocation, HomeError, LinkedWorktree, SessionIndex, StoreMode, Stores};

/// Ingests drafts into stores.
pub struct Intake {
    sealer: Arc<Sealer>,
    stores: Arc<Stores>,
    clock: Arc<dyn Clock>,
}

/// The outcome of one draft. Drafts rejected for the same reason share the error.
pub type IngestResult = Result<AppendedEvent, Arc<HomeError>>;

/// Drafts that are sealed and encoded, grouped by project.
pub struct PreparedDrafts {
    batches: HashMap<String, ProjectBatch>,
    /// One result per draft: final for rejected drafts, a placeholder for the others.
    results: Vec<IngestResult>,
}

impl PreparedDrafts {
    /// The roots of the projects with drafts in this batch.
    pub fn roots(&self) -> BTreeSet<String> {
        self.batches.keys().cloned().collect()
    }
}

impl Intake {
    /// Creates an intake for some stores.
    pub fn new(sealer: Sealer, stores: Arc<Stores>, clock: Arc<dyn Clock>) -> Self {
        Self { sealer: Arc::new(sealer), stores, clock }
    }

    /// The sealer that every draft passes through.
    pub fn sealer(&self) -> Arc<Sealer> {
        Arc::clone(&self.sealer)
    }

    /// Stores drafts of any projects and returns one result per draft, in order, once all are
    /// synced. A draft that cannot be stored does not affect the others.
    pub fn ingest<D: Into<DeliveredDraft>>(&self, drafts: Vec<D>) -> Vec<IngestResult> {
        self.store_prepared(self.prepare(drafts))
    }

    /// Stores prepared drafts; blocks until they are synced.
    pub fn store_prepared(&self, prepared: PreparedDrafts) -> Vec<IngestResult> {
        let unfinished: Vec<IngestResult> =
            prepared.results.iter().map(|_| placeholder_result()).collect();
        let (done, results) = mpsc::channel();
        self.submit(prepared, move |results| {
            // Sending fails only when the caller is gone; the events are stored all the same.
            let _ = done.send(results);
        });
        results.recv().unwrap_or(unfinished)
    }

    /// Seals and encodes drafts and groups them by project. A draft that cannot be stored gets its
    /// result here.
    pub fn prepare<D: Into<DeliveredDraft>>(&self, drafts: Vec<D>) -> PreparedDrafts {
        let arrived = self.clock.now();
        let mut batches: HashMap<String, ProjectBatch> = HashMap::new();
        let mut results: Vec<IngestResult> = Vec::with_capacity(drafts.len());
        let sessions = match self.stores.session_index() {
            Ok(sessions) => sessions,
            Err(error) => {
                let error = Arc::new(error);
                let results = drafts.iter().map(|_| Err(Arc::clone(&error))).collect();
                return PreparedDrafts { batches, results };
            }
        };
        // Drafts of one batch mostly share a working directory, and resolving it reads the disk.
        let mut roots: HashMap<(String, Option<String>), Result<String, Arc<HomeError>>> =
            HashMap::new();
        let mut worktrees = HashMap::new();
        for (index, delivered) in drafts.into_iter().enumerate() {
            let DeliveredDraft { mut draft, delivery } = delivered.into();
            draft.flatten_deep_json();
            if needs_location(&draft) {
                self.add_location(&mut draft, &mut worktrees);
            }
            let draft = self.sealer.seal(draft);
            let cwd = draft.cwd.clone();
            let root = sessions.assign_project(&draft.agent, &draft.session, || {
                let key = (cwd.clone(), draft.project.clone());
                let resolve = || self.resolve_project(&draft).map_err(Arc::new);
                roots.entry(key).or_insert_with(resolve).clone()
            });
            let root = match root {
                Ok(root) => root,
                Err(error) => {
                    results.push(Err(error));
                    continue;
                }
            };
            let event = NewEvent::encode(draft, root.clone(), arrived).with_delivery(delivery);
            if let Some(problem) = event.problem() {
                results.push(Err(Arc::new(InvalidInput::invalid("event", problem).into())));
                continue;
            }
            results.push(placeholder_result());
            let batch = batches.entry(root).or_default();
            batch.indexes.push(index);
            batch.cwds.insert(cwd);
            batch.events.push(event);
        }
        PreparedDrafts { batches, results }
    }

    /// Whether `submit` can queue at once, without opening a store.
    pub fn can_submit_without_io(&self, prepared: &PreparedDrafts) -> bool {
        let is_written = self.stores.session_index().is_ok_and(SessionIndex::is_written);
        is_written
            && prepared.batches.keys().all(|root| match self.stores.mode() {
                StoreMode::Unified => !self.stores.open_stores().is_empty(),
                StoreMode::PerProject => {
                    let folder = self.stores.projects().find_folder(root);
                    folder.is_some_and(|folder| self.stores.is_open(&folder.join("ledger")))
                }
            })
    }

    /// Queues prepared drafts and calls `done` once all of them are synced or have failed.
    pub fn submit(
        &self,
        prepared: PreparedDrafts,
        done: impl FnOnce(Vec<IngestResult>) + Send + 'static,
    ) {
        let PreparedDrafts { batches, results } = prepared;
        let pending = Arc::new(PendingResults(Mutex::new(Some((results, done)))));
        for (root, batch) in batches {
            self.append_batch(&root, batch, &pending);
        }
        // Dropping the last reference, here or on a ledger's thread, calls `done`.
    }

    /// Whether `prepare` can resolve this draft's project without the file system, and need not look
    /// up its branch.
    pub fn can_prepare_without_io(&self, draft: &Draft) -> bool {
        self.stores.projects().is_cached(&draft.cwd) && !needs_location(draft)
    }

    /// Records where in its repository an event happened: the branch and commit if it is recent and
    /// does not name its branch, and the linked worktree if that existed then. `worktrees` holds
    /// those of the batch, by working directory.
    fn add_location(
        &self,
        draft: &mut Draft,
        worktrees: &mut HashMap<String, Option<LinkedWorktree>>,
    ) {
        let projects = self.stores.projects();
        let found = if draft.at.distance_ms(self.clock.now()) <= LOCATION_AGE_MS {
            projects.read_git_location(&draft.cwd).unwrap_or_default()
        } else {
            let find = || projects.find_linked_worktree(&draft.cwd);
            let linked = worktrees.entry(draft.cwd.clone()).or_insert_with(find).as_ref();
            let worktree = linked.filter(|linked| linked.since <= draft.at);
            let worktree = worktree.map(|linked| linked.top.clone());
            GitLocation { worktree, ..GitLocation::default() }
        };
        let worktree = found.worktree.map(|top| top.to_string_lossy().into_owned());
        let head = [("branch", found.branch), ("commit", found.commit)];
        let head = head.into_iter().filter(|_| !draft.meta.contains_key("branch"));
        let fields: Vec<_> = head.chain([("worktree", worktree)]).collect();
        for (name, value) in fields {
            if let Some(value) = value {
                draft.meta.insert(name.to_owned(), value.into());
            }
        }
    }

    fn resolve_project(&self, draft: &Draft) -> Result<String, HomeError> {
        self.stores.projects().resolve_project(&draft.cwd, draft.project.as_deref())
    }

    fn append_batch<D: FnOnce(Vec<IngestResult>) + Send + 'static>(
        &self,
        root: &str,
        batch: ProjectBatch,
        pending: &Arc<PendingResults<D>>,
    ) {
        let ProjectBatch { indexes, cwds, events } = batch;
        let store = self.stores.open_project(root).and_then(|store| {
            self.stores.session_index()?.flush()?;
            for cwd in &cwds {
                self.stores.projects().record_worktree(root, cwd)?;
            }
            Ok(store)
        });
        match store {
            Ok(store) => {
                let pending = Arc::clone(pending);
                // Hold the store until the sync, so that it is not closed as idle; release it
                // before `done`, whose receiver may close and reopen the store.
                let held = Arc::clone(&store);
                store.append_with_callback(events, move |result| {
                    pending.settle(&indexes, result.map_err(HomeError::from));
                    drop(held);
                    drop(pending);
                });
            }
            Err(error) => pending.settle(&indexes, Err(error)),
        }
    }
}

/// How long after an event the working directory still identifies its branch.
const LOCATION_AGE_MS: u64 = 10_000;

/// Whether the location of an event is recorded: at the beginning of a session and of a turn, and
/// at their ends, because an agent may switch branches in between.
fn needs_location(draft: &Draft) -> bool {
    matches!(
        draft.kind,
        EventKind::SessionStart
            | EventKind::UserMessage
            | EventKind::AssistantStop
            | EventKind::SessionEnd
    ) && !draft.meta.contains_key("worktree")
}

/// The result of a draft until its ledger has answered; final if the intake shuts down before that.
fn placeholder_result() -> IngestResult {
    Err(Arc::new(HomeError::Closed))
}

/// The events of one project, with their positions in the whole batch.
#[derive(Default)]
struct ProjectBatch {
    indexes: Vec<usize>,
    cwds: BTreeSet<String>,
    events: Vec<NewEvent>,
}

/// Collects the results of several ledgers and calls back when dropped.
struct PendingResults<D: FnOnce(Vec<IngestResult>)>(Mutex<Option<(Vec<IngestResult>, D)>>);

impl<D: FnOnce(Vec<IngestResult>)> PendingResults<D> {
    fn settle(&self, indexes: &[usize], result: Result<Vec<AppendedEvent>, HomeError>) {
        let mut pending = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((results, _)) = pending.as_mut() else { return };
        let mut set = |index: usize, answer: IngestResult| {
            if let Some(slot) = results.get_mut(index) {
                *slot = answer;
            }
        };
        match result {
            Ok(appended) => {
                for (index, one) in indexes.iter().zip(appended) {
                    set(*index, Ok(one));
                }
            }
            Err(error) => {
                let error = Arc::new(error);
                for index in indexes {
                    set(*index, Err(Arc::clone(&error)));
                }
            }
        }
    }
}

impl<D: FnOnce(Vec<IngestResult>)> Drop for PendingResults<D> {
    fn drop(&mut self) {
        let pending = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((results, done)) = pending {
            done(results);
        }
    }
}
