//! What all parts of the daemon share.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use anyhow::{Context, Result};
use tokio::sync::{Notify, Semaphore, oneshot, watch};
use tome_contents::{Calendar, Extractive};
use tome_engine::{Ingested, Injector, Intake, Prepared, Sealer, Spool, Tools};
use tome_finder::{Embedder, Potion};
use tome_home::{HomeError, Notebooks, Stores, TimedCalls};
use tome_ledger::Outcome;
use tome_model::{Clock, Delivered, Draft, Millis};
use tome_notebook::NotebookError;
use tome_recall::{EndpointEmbedder, Recall, RecallError, SessionCopies};
use tome_redact::{PatternError as CaptureError, Redactor};
use tonic::{Code, Status};

use super::activity::{Activity, Busy};
use super::damage::FileChecks;
use super::far;
use super::log::Log;
use super::models::{Chat, DayBudget};
use super::polish::Polish;
use super::reading::Reading;
use super::reflect::Reflector;
use super::transcripts::Transcripts;
use crate::config::Settings;

/// Calls that work on the ledger at the same time. Each waits on a thread of its own, and a group
/// commit is as large as the number that wait.
const CALLS_MAX: usize = 64;

/// Calls that work on notebooks at the same time. They are counted apart: a notebook that another
/// program keeps locked must not keep events from being stored.
const NOTE_CALLS_MAX: usize = 16;

/// Recalls at the same time. They are counted apart: they keep a processor busy, and may wait for a
/// notebook, and neither is to keep events from being stored.
const RECALL_CALLS_MAX: usize = 4;

/// Statuses at the same time. They are counted apart: a status tells why everything else waits.
const STATUS_CALLS_MAX: usize = 4;

/// What all parts of the daemon share.
pub struct Shared {
    pub settings: Settings,
    pub clock: Arc<dyn Clock>,
    pub log: Log,
    pub stores: Arc<Stores>,
    pub notebooks: Arc<Notebooks>,
    pub calendar: Arc<Calendar>,
    pub copies: Arc<SessionCopies>,
    pub recall: Arc<Recall>,
    /// What a day may cost, whoever asks a model.
    pub budget: Arc<DayBudget>,
    pub polish: Option<Arc<Polish>>,
    /// The model that takes part in conversations, where one is configured.
    pub chat: Chat,
    /// Sessions that are to be reflected on.
    pub reflector: Reflector,
    /// Sessions whose transcripts are read for what hooks missed.
    pub transcripts: Transcripts,
    /// The endpoint that makes vectors, where one is configured.
    pub far: Option<Arc<EndpointEmbedder>>,
    pub spool: Spool,
    pub started: Millis,
    pub counters: Counters,
    /// How many file descriptors the process may have.
    pub descriptors: u64,
    pub activity: Arc<Activity>,
    /// What checks of the stores' files have found.
    pub file_checks: FileChecks,
    /// Told whenever something was stored.
    pub stored: Notify,
    /// What the contents have yet to be made of.
    pub reading: Reading,
    /// Held while the spool is drained.
    pub draining: Mutex<()>,
    intake: Intake,
    /// Made on first use: most daemons only record, and a redactor takes time and memory.
    tools: OnceLock<Tools>,
    injector: OnceLock<Injector>,
    redactor: OnceLock<Arc<Redactor>>,
    calls: Arc<Semaphore>,
    note_calls: Arc<Semaphore>,
    recall_calls: Arc<Semaphore>,
    status_calls: Arc<Semaphore>,
    /// Counts stores for a status, and remembers those that do not answer.
    pub counting: TimedCalls,
    leaving: watch::Sender<bool>,
    endpoints: OnceLock<Vec<String>>,
    socket: OnceLock<PathBuf>,
}

/// What happened since the daemon started.
#[derive(Debug, Default)]
pub struct Counters {
    pub created: AtomicU64,
    pub duplicates: AtomicU64,
    pub rejected: AtomicU64,
    pub drained: AtomicU64,
    pub last_arrived_ms: AtomicU64,
    /// Bytes of events stored since the stores were last flushed, about.
    pub unflushed: AtomicU64,
}

impl Shared {
    /// `descriptors` is how many file descriptors the process may have.
    pub fn new(
        settings: Settings,
        clock: Arc<dyn Clock>,
        log: Log,
        descriptors: u64,
    ) -> Result<Self> {
        let redactor = Redactor::new(&settings.redact).context("capture.redact in the config")?;
        let sealer = Sealer::new(redactor, settings.text_bytes_max);
        let stores = Stores::new(
            settings.home.clone(),
            settings.store_mode,
            settings.store_engine,
            Arc::clone(&clock),
        );
        let stores = Arc::new(stores.within_descriptors(descriptors));
        let notebooks = Arc::new(Notebooks::new(
            settings.home.clone(),
            stores.projects_shared(),
            settings.notes.clone(),
            Arc::clone(&clock),
        ));
        let calendar = Arc::new(Calendar::new(
            Arc::clone(&stores),
            settings.contents.clone(),
            Arc::new(Extractive),
            Arc::clone(&clock),
        ));
        let copies = Arc::new(SessionCopies::new(stores.projects_shared(), Arc::clone(&clock)));
        let far = far::embedder(&settings)?.map(Arc::new);
        let recall = Arc::new(Recall::new(
            settings.home.clone(),
            Arc::clone(&stores),
            Arc::clone(&notebooks),
            Arc::clone(&calendar),
            Arc::clone(&copies),
            match &far {
                Some(far) => Arc::clone(far) as Arc<dyn Embedder>,
                None => Arc::new(Potion),
            },
            Arc::clone(&clock),
        ));
        let budget = Arc::new(DayBudget::new(&settings, &clock));
        Ok(Self {
            polish: Polish::new(&settings, &budget, &clock).map(Arc::new),
            chat: Chat::new(&settings, &budget, &clock),
            reflector: Reflector::new(&settings),
            transcripts: Transcripts::new(&settings),
            budget,
            far,
            copies,
            spool: Spool::of(&settings.home),
            started: clock.now(),
            intake: Intake::new(sealer, Arc::clone(&stores), Arc::clone(&clock)),
            counters: Counters::default(),
            descriptors,
            activity: Arc::new(Activity::new()),
            file_checks: FileChecks::default(),
            stored: Notify::new(),
            reading: Reading::new(),
            draining: Mutex::new(()),
            calls: Arc::new(Semaphore::new(CALLS_MAX)),
            note_calls: Arc::new(Semaphore::new(NOTE_CALLS_MAX)),
            recall_calls: Arc::new(Semaphore::new(RECALL_CALLS_MAX)),
            status_calls: Arc::new(Semaphore::new(STATUS_CALLS_MAX)),
            counting: TimedCalls::default(),
            leaving: watch::Sender::new(false),
            endpoints: OnceLock::new(),
            socket: OnceLock::new(),
            tools: OnceLock::new(),
            injector: OnceLock::new(),
            redactor: OnceLock::new(),
            settings,
            clock,
            log,
            stores,
            notebooks,
            calendar,
            recall,
        })
    }

    /// A call begins.
    pub fn begin(&self) -> Busy {
        self.activity.begin()
    }

    /// The tools over the notebooks, the contents and recall.
    pub fn tools(&self) -> Result<&Tools, CaptureError> {
        if let Some(tools) = self.tools.get() {
            return Ok(tools);
        }
        let redactor = self.redactor()?;
        Ok(self.tools.get_or_init(|| {
            Tools::new(Arc::clone(&self.notebooks), redactor)
                .with_calendar(Arc::clone(&self.calendar))
                .with_recall(Arc::clone(&self.recall))
        }))
    }

    /// What injections are made of.
    pub fn injector(&self) -> Result<&Injector, CaptureError> {
        if let Some(injector) = self.injector.get() {
            return Ok(injector);
        }
        let redactor = self.redactor()?;
        Ok(self.injector.get_or_init(|| {
            Injector::new(
                Arc::clone(&self.stores),
                Arc::clone(&self.notebooks),
                Arc::clone(&self.recall),
                redactor,
            )
        }))
    }

    /// The redactor of what goes out. (What comes in has its own, with the intake.)
    fn redactor(&self) -> Result<Arc<Redactor>, CaptureError> {
        if let Some(redactor) = self.redactor.get() {
            return Ok(Arc::clone(redactor));
        }
        let made = Arc::new(Redactor::new(&self.settings.redact)?);
        Ok(Arc::clone(self.redactor.get_or_init(|| made)))
    }

    /// The sealer that every draft passes through.
    pub fn sealer(&self) -> Arc<Sealer> {
        self.intake.sealer()
    }

    /// Stores drafts and counts what became of them.
    pub fn ingest(&self, drafts: Vec<Delivered>) -> Vec<Ingested> {
        self.unflushed(&drafts);
        let prepared = self.intake.prepare(drafts);
        let roots = prepared.roots();
        let answers = self.intake.store(prepared);
        self.tally_up(&answers, roots);
        answers
    }

    /// Whether preparing a draft needs no answer from the file system.
    pub fn is_resolved(&self, draft: &Draft) -> bool {
        self.intake.is_resolved(draft)
    }

    /// Makes drafts ready to be stored: work for a processor.
    pub fn prepare(&self, drafts: Vec<Delivered>) -> Prepared {
        self.unflushed(&drafts);
        self.intake.prepare(drafts)
    }

    /// Whether submitting this opens no store and so takes no time.
    pub fn is_ready(&self, prepared: &Prepared) -> bool {
        self.intake.is_ready(prepared)
    }

    /// Queues what is ready; the answer comes once it is synced.
    pub fn submit(self: &Arc<Self>, prepared: Prepared) -> oneshot::Receiver<Vec<Ingested>> {
        let (done, answers) = oneshot::channel();
        let (shared, busy, roots) = (Arc::clone(self), self.begin(), prepared.roots());
        self.intake.submit(prepared, move |answers| {
            shared.tally_up(&answers, roots);
            drop(busy);
            // Nobody listens only when the caller is gone; the events are stored all the same.
            let _ = done.send(answers);
        });
        answers
    }

    fn unflushed(&self, drafts: &[Delivered]) {
        let bytes: usize = drafts.iter().map(|one| one.draft.text.len() + 512).sum();
        self.counters.unflushed.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn tally_up(&self, answers: &[Ingested], roots: BTreeSet<String>) {
        let (mut created, mut duplicates, mut failed) = (0, 0, Vec::new());
        for answer in answers {
            match answer {
                Ok(appended) if appended.outcome == Outcome::Stored => created += 1,
                Ok(_) => duplicates += 1,
                Err(error) => failed.push(error),
            }
        }
        if let Some(first) = failed.first() {
            self.log.say(&format!("{} not stored: {first}", failed.len()));
        }
        self.counters.duplicates.fetch_add(duplicates, Ordering::Relaxed);
        if created > 0 {
            self.counters.created.fetch_add(created, Ordering::Relaxed);
            self.counters.last_arrived_ms.store(self.clock.now().0, Ordering::Relaxed);
            self.stored.notify_one();
            self.reading.stored(roots);
        }
    }

    /// Does work that waits for the disk on a thread made for waiting.
    pub async fn wait_for<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Status> {
        self.wait_in_turn(&self.calls, work).await
    }

    /// The same for work on notebooks.
    pub async fn wait_for_notes<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Status> {
        self.wait_in_turn(&self.note_calls, work).await
    }

    /// The same for recall.
    pub async fn wait_for_recall<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Status> {
        self.wait_in_turn(&self.recall_calls, work).await
    }

    /// The same for a status.
    pub async fn wait_for_status<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Status> {
        self.wait_in_turn(&self.status_calls, work).await
    }

    async fn wait_in_turn<T: Send + 'static>(
        self: &Arc<Self>,
        turns: &Arc<Semaphore>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, Status> {
        let busy = self.begin();
        let turn = Arc::clone(turns).acquire_owned().await;
        let turn = turn.map_err(|_| Status::unavailable("the daemon is leaving"))?;
        let shared = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            // Held by the thread, not by the call: a caller who gives up does not end the work, and
            // whoever takes the turn then would be one more than there may be.
            let (_busy, _turn) = (busy, turn);
            work(&shared)
        });
        done.await.map_err(|error| {
            self.log.say(&format!("a call failed: {error}"));
            Status::internal("the daemon failed at this; its log says more")
        })
    }

    /// Asks the daemon to leave.
    pub fn leave(&self) {
        self.leaving.send_replace(true);
    }

    /// Whether it was.
    pub fn is_leaving(&self) -> bool {
        *self.leaving.borrow()
    }

    /// Waits until the daemon is asked to leave.
    pub async fn leaving(&self) {
        let mut leaving = self.leaving.subscribe();
        let _ = leaving.wait_for(|leaving| *leaving).await;
    }

    /// Where the daemon listens.
    pub fn endpoints(&self) -> Vec<String> {
        self.endpoints.get().cloned().unwrap_or_default()
    }

    /// The socket of its user, where there is one.
    pub fn socket(&self) -> Option<&Path> {
        self.socket.get().map(PathBuf::as_path)
    }

    /// Notes which socket it listens on, once.
    pub fn listens_on(&self, socket: &Path) {
        let _ = self.socket.set(socket.to_path_buf());
    }

    /// Notes where the daemon listens, once.
    pub fn listens_at(&self, endpoints: Vec<String>) {
        let _ = self.endpoints.set(endpoints);
    }
}

/// What a caller is told of a failure.
pub fn status_of(error: &HomeError) -> Status {
    let code = match error {
        HomeError::Invalid(_) | HomeError::Ambiguous { .. } => Code::InvalidArgument,
        HomeError::NotFound(_) => Code::NotFound,
        HomeError::Closed | HomeError::InUse(_) => Code::Unavailable,
        HomeError::Notebook(error) => code_of(error),
        error if error.is_callers_fault() => Code::InvalidArgument,
        HomeError::Ledger(_) | HomeError::File { .. } | HomeError::Summary(_) => Code::Internal,
    };
    Status::new(code, error.to_string())
}

/// The gRPC status of an error of recall.
pub fn recall_status(error: &RecallError) -> Status {
    match error {
        RecallError::Home(error) => status_of(error),
        RecallError::Index(_) => Status::internal(error.to_string()),
    }
}

/// What a caller is told of a note that cannot be had.
fn code_of(error: &NotebookError) -> Code {
    match error {
        NotebookError::NotFound { .. } => Code::NotFound,
        NotebookError::Exists(_) => Code::AlreadyExists,
        NotebookError::Changed { .. } => Code::FailedPrecondition,
        NotebookError::Escapes(_)
        | NotebookError::BadPath { .. }
        | NotebookError::Reserved(_)
        | NotebookError::TextNotFound { .. }
        | NotebookError::TextFoundTwice { .. }
        | NotebookError::FactsBudget { .. }
        | NotebookError::FactNotAllowed { .. }
        | NotebookError::Invalid(_)
        | NotebookError::BreaksGuide(_) => Code::InvalidArgument,
        NotebookError::Unreadable { .. }
        | NotebookError::Unsure { .. }
        | NotebookError::File { .. } => Code::Internal,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::mpsc;

    use tome_model::SystemClock;

    use super::*;
    use crate::config::{Config, Flags};

    /// The state of a daemon that serves this home.
    pub fn shared(home: &Path) -> Arc<Shared> {
        let flags = Flags { home: Some(home.to_path_buf()), ..Flags::default() };
        let settings = Config::load(&flags, &|_| None).unwrap().settings();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let log = Log::open(&home.join("daemon.log"), Arc::clone(&clock));
        Arc::new(Shared::new(settings, clock, log, 1024).unwrap())
    }

    #[tokio::test]
    async fn a_caller_who_gives_up_frees_no_turn_before_the_work_is_done() {
        let home = tempfile::tempdir().unwrap();
        let shared = shared(home.path());
        let (go_on, wait) = mpsc::channel::<()>();
        let (began, begun) = oneshot::channel();
        let caller = Arc::clone(&shared);
        let call = tokio::spawn(async move {
            caller
                .wait_for_notes(move |_| {
                    let _ = began.send(());
                    let _ = wait.recv();
                })
                .await
        });
        begun.await.unwrap();
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        assert_eq!(shared.note_calls.available_permits(), NOTE_CALLS_MAX - 1);
        drop(go_on);
        let all = shared.note_calls.acquire_many(u32::try_from(NOTE_CALLS_MAX).unwrap()).await;
        drop(all.unwrap());
    }
}
