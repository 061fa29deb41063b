//! The state that all services and background tasks of the daemon share.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use anyhow::{Context, Result};
use tokio::sync::{oneshot, watch};
use tome_engine::{Engine, EngineSettings, IngestResult, PreparedDrafts};
use tome_finder::{Embedder, StaticEmbedder};
use tome_home::TimedCalls;
use tome_ledger::AppendOutcome;
use tome_model::{Clock, DeliveredDraft, Millis};
use tonic::Status;

use super::activity::Activity;
use super::calls::{CallKind, CallLimits};
use super::configured_models::ConfiguredModels;
use super::file_checks::FileChecks;
use super::log::Log;
use super::reflector::Reflector;
use super::remote_embedder;
use super::scheduler::Scheduler;
use super::transcript_queue::AgentTranscripts;
use crate::config::Settings;

/// The daemon's state: the engine over its home, and the server's own parts.
pub struct Daemon {
    pub settings: Settings,
    pub log: Log,
    pub engine: Engine,
    pub models: ConfiguredModels,
    /// Sessions to reflect on.
    pub reflector: Arc<Reflector>,
    /// Sessions whose agent transcripts are read for events that hooks missed.
    pub agent_transcripts: Arc<AgentTranscripts>,
    pub scheduler: Scheduler,
    pub calls: CallLimits,
    pub activity: Arc<Activity>,
    pub counters: Counters,
    /// The results of integrity checks of the stores' files.
    pub file_checks: FileChecks,
    /// Held while the spool is drained.
    pub drain_lock: Mutex<()>,
    /// Runs the store inspections of a status with a timeout, and skips stores that timed out
    /// before.
    pub timed_calls: TimedCalls,
    pub started: Millis,
    pub descriptors: u64,
    stopping: watch::Sender<bool>,
    endpoints: OnceLock<Vec<String>>,
    socket: OnceLock<PathBuf>,
}

/// Counters since the daemon started.
#[derive(Debug, Default)]
pub struct Counters {
    pub created: AtomicU64,
    pub duplicates: AtomicU64,
    pub rejected: AtomicU64,
    pub drained: AtomicU64,
    pub last_arrived_ms: AtomicU64,
    /// Estimated bytes of events stored since the stores were last flushed.
    pub unflushed: AtomicU64,
}

impl Daemon {
    pub fn new(
        settings: Settings,
        clock: &Arc<dyn Clock>,
        log: Log,
        descriptors: u64,
    ) -> Result<Self> {
        let remote = remote_embedder::build_embedder(&settings)?.map(Arc::new);
        let models = ConfiguredModels::new(&settings, remote.clone(), clock);
        let mut engine = Engine::open(
            EngineSettings {
                home: settings.home.clone(),
                store_mode: settings.store_mode,
                store_engine: settings.store_engine,
                descriptors: Some(descriptors),
                text_bytes_max: settings.text_bytes_max,
                redact: settings.redact.clone(),
                notes: settings.notes.clone(),
                contents: settings.contents.clone(),
                embedder: match remote {
                    Some(remote) => remote as Arc<dyn Embedder>,
                    None => Arc::new(StaticEmbedder),
                },
            },
            Arc::clone(clock),
        )
        .context("capture.redact in the config")?;
        let reflector = Arc::new(Reflector::new(&settings, &models.chat, clock));
        let agent_transcripts = Arc::new(AgentTranscripts::new(&settings, clock));
        engine.add_projection(Arc::clone(&reflector) as _);
        engine.add_projection(Arc::clone(&agent_transcripts) as _);
        Ok(Self {
            started: clock.now(),
            engine,
            models,
            reflector,
            agent_transcripts,
            scheduler: Scheduler::new(),
            calls: CallLimits::new(),
            activity: Arc::new(Activity::new()),
            counters: Counters::default(),
            file_checks: FileChecks::default(),
            drain_lock: Mutex::new(()),
            timed_calls: TimedCalls::default(),
            descriptors,
            stopping: watch::Sender::new(false),
            endpoints: OnceLock::new(),
            socket: OnceLock::new(),
            settings,
            log,
        })
    }

    /// Stores drafts and counts the outcomes.
    pub fn ingest(&self, drafts: Vec<DeliveredDraft>) -> Vec<IngestResult> {
        let prepared = self.prepare(drafts);
        let roots = prepared.roots();
        let results = self.engine.intake().store_prepared(prepared);
        self.count_results(&results, roots);
        results
    }

    /// Redacts, resolves and encodes drafts. CPU-bound.
    pub fn prepare(&self, drafts: Vec<DeliveredDraft>) -> PreparedDrafts {
        let bytes: usize = drafts.iter().map(|one| one.draft.text.len() + 512).sum();
        self.counters.unflushed.fetch_add(bytes as u64, Ordering::Relaxed);
        self.engine.intake().prepare(drafts)
    }

    /// Queues prepared drafts; the results arrive once they are synced.
    pub fn submit(
        self: &Arc<Self>,
        prepared: PreparedDrafts,
    ) -> oneshot::Receiver<Vec<IngestResult>> {
        let (done, results) = oneshot::channel();
        let (daemon, busy, roots) = (Arc::clone(self), self.activity.begin(), prepared.roots());
        self.engine.intake().submit(prepared, move |results| {
            daemon.count_results(&results, roots);
            drop(busy);
            // The receiver is gone if the caller gave up; the events are stored anyway.
            let _ = done.send(results);
        });
        results
    }

    fn count_results(&self, results: &[IngestResult], roots: BTreeSet<String>) {
        let (mut created, mut duplicates, mut failed) = (0, 0, Vec::new());
        for result in results {
            match result {
                Ok(appended) if appended.outcome == AppendOutcome::Stored => created += 1,
                Ok(_) => duplicates += 1,
                Err(error) => failed.push(error),
            }
        }
        if let Some(first) = failed.first() {
            self.log.write(&format!("{} events not stored: {first}", failed.len()));
        }
        self.counters.duplicates.fetch_add(duplicates, Ordering::Relaxed);
        if created > 0 {
            self.counters.created.fetch_add(created, Ordering::Relaxed);
            self.counters.last_arrived_ms.store(self.engine.clock().now().0, Ordering::Relaxed);
            self.scheduler.schedule_projects(roots);
        }
    }

    /// Runs blocking work once a permit of its kind is free.
    pub async fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        kind: CallKind,
        work: impl FnOnce(&Arc<Self>) -> T + Send + 'static,
    ) -> Result<T, Status> {
        let guard = self.activity.begin();
        let permit = Arc::clone(self.calls.semaphore(kind)).acquire_owned().await;
        let permit = permit.map_err(|_| Status::unavailable("the daemon is stopping"))?;
        let daemon = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            // The thread holds the permit, not the call: the work continues after a caller gives
            // up.
            let (_guard, _permit) = (guard, permit);
            work(&daemon)
        });
        done.await.map_err(|error| {
            self.log.write(&format!("a call panicked: {error}"));
            Status::internal("the daemon failed; see its log")
        })
    }

    /// Requests a stop.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Waits for a stop request.
    pub async fn stop_requested(&self) {
        let mut stopping = self.stopping.subscribe();
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }

    /// The addresses on which the daemon listens.
    pub fn endpoints(&self) -> Vec<String> {
        self.endpoints.get().cloned().unwrap_or_default()
    }

    /// The unix socket, on platforms that have one.
    pub fn socket(&self) -> Option<&Path> {
        self.socket.get().map(PathBuf::as_path)
    }

    /// Sets the socket; later calls have no effect.
    pub fn set_socket(&self, socket: &Path) {
        let _ = self.socket.set(socket.to_path_buf());
    }

    /// Sets the addresses; later calls have no effect.
    pub fn set_endpoints(&self, endpoints: Vec<String>) {
        let _ = self.endpoints.set(endpoints);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use tome_model::SystemClock;

    use super::*;
    use crate::config::{Config, ConfigFlags};

    pub fn daemon(home: &Path) -> Arc<Daemon> {
        let flags = ConfigFlags { home: Some(home.to_path_buf()), ..ConfigFlags::default() };
        let settings = Config::load(&flags, &|_| None).unwrap().to_settings();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let log = Log::open(&home.join("daemon.log"), Arc::clone(&clock));
        Arc::new(Daemon::new(settings, &clock, log, 1024).unwrap())
    }
}
