//! Ingestion: seals a draft, resolves its project and appends it to that project's ledger.
//!
//! Two steps with different costs: `prepare` uses the CPU and may run in parallel; `submit` only
//! queues, so that events are stored in the order of submission.

use std::collections::{BTreeSet, HashMap};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};

use tome_ledger::{AppendedEvent, NewEvent};
use tome_model::{Clock, DeliveredDraft, Draft, EventKind, ModelError};

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
    shares: HashMap<String, ProjectBatch>,
    /// One result per draft: final for rejected drafts, a placeholder for the others.
    answers: Vec<IngestResult>,
}

impl PreparedDrafts {
    /// The roots of the projects with drafts in this batch.
    pub fn roots(&self) -> BTreeSet<String> {
        self.shares.keys().cloned().collect()
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
        let none: Vec<IngestResult> = prepared.answers.iter().map(|_| closed_result()).collect();
        let (done, answers) = mpsc::channel();
        self.submit(prepared, move |answers| {
            // Sending fails only when the caller is gone; the events are stored all the same.
            let _ = done.send(answers);
        });
        answers.recv().unwrap_or(none)
    }

    /// Seals and encodes drafts and groups them by project. A draft that cannot be stored gets its
    /// result here.
    pub fn prepare<D: Into<DeliveredDraft>>(&self, drafts: Vec<D>) -> PreparedDrafts {
        let arrived = self.clock.now();
        let mut shares: HashMap<String, ProjectBatch> = HashMap::new();
        let mut answers: Vec<IngestResult> = Vec::with_capacity(drafts.len());
        let sessions = match self.stores.session_index() {
            Ok(sessions) => sessions,
            Err(error) => {
                let error = Arc::new(error);
                let answers = drafts.iter().map(|_| Err(Arc::clone(&error))).collect();
                return PreparedDrafts { shares, answers };
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
                    answers.push(Err(error));
                    continue;
                }
            };
            let event = NewEvent::encode(draft, root.clone(), arrived).with_delivery(delivery);
            if let Some(problem) = event.problem() {
                answers.push(Err(Arc::new(ModelError::invalid("event", problem).into())));
                continue;
            }
            answers.push(closed_result());
            let share = shares.entry(root).or_default();
            share.indexes.push(index);
            share.cwds.insert(cwd);
            share.events.push(event);
        }
        PreparedDrafts { shares, answers }
    }

    /// Whether `submit` can queue at once, without opening a store.
    pub fn can_submit_now(&self, prepared: &PreparedDrafts) -> bool {
        let is_written = self.stores.session_index().is_ok_and(SessionIndex::is_written);
        is_written
            && prepared.shares.keys().all(|root| match self.stores.mode() {
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
        let PreparedDrafts { shares, answers } = prepared;
        let gathering = Arc::new(PendingResults(Mutex::new(Some((answers, done)))));
        for (root, share) in shares {
            self.append_batch(&root, share, &gathering);
        }
        // Dropping the last reference, here or on a ledger's thread, calls `done`.
    }

    /// Whether `prepare` can resolve this draft's project without the file system, and need not look
    /// up its branch.
    pub fn is_resolved(&self, draft: &Draft) -> bool {
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
        share: ProjectBatch,
        gathering: &Arc<PendingResults<D>>,
    ) {
        let ProjectBatch { indexes, cwds, events } = share;
        let store = self.stores.open_project(root).and_then(|store| {
            self.stores.session_index()?.flush()?;
            for cwd in &cwds {
                self.stores.projects().record_worktree(root, cwd)?;
            }
            Ok(store)
        });
        match store {
            Ok(store) => {
                let gathering = Arc::clone(gathering);
                // Hold the store until the sync, so that it is not closed as idle; release it
                // before `done`, whose receiver may close and reopen the store.
                let held = Arc::clone(&store);
                store.append_with_callback(events, move |result| {
                    gathering.settle(&indexes, result.map_err(HomeError::from));
                    drop(held);
                    drop(gathering);
                });
            }
            Err(error) => gathering.settle(&indexes, Err(error)),
        }
    }
}

/// How long after an event the working directory still tells which branch it happened on.
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

fn closed_result() -> IngestResult {
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
        let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((answers, _)) = gathered.as_mut() else { return };
        let mut set = |index: usize, answer: IngestResult| {
            if let Some(slot) = answers.get_mut(index) {
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
        let gathered = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((answers, done)) = gathered {
            done(answers);
        }
    }
}
