//! The daemon: the only process that writes. It serves every project of one home, opens stores on
//! demand, and stops after it has been idle for a while.
//!
//! The process that holds the lock on `run/daemon.lock` is the daemon. The kernel releases the lock
//! when the process ends, so a crash leaves only a stale socket, which the next daemon replaces.

mod activity;
mod agent_transcripts;
mod backup;
mod calls;
mod capture;
mod citation;
mod configured_models;
mod contents;
mod daemon_service;
mod daily_budget;
mod damage;
mod deep_vectors;
mod drain;
mod events;
mod file_checks;
mod grpc_status;
mod home_watch;
mod indexes;
mod injection;
mod listen;
mod log;
mod losses;
mod maintenance;
mod models;
mod node_rewriter;
mod notebook;
mod periodic_task;
mod projects;
mod recall;
mod reflect;
mod reflection_queue;
mod reflector;
mod remote_embedder;
mod remote_vectors;
mod request_fields;
mod rewrite_nodes;
mod saved_state;
mod scheduler;
mod state;
mod tcp;
mod tools;
mod topics;
mod transcript_queue;
mod visit_stores;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tome_model::{Clock, SystemClock};

use crate::config::Settings;
use crate::hook::lost;
use crate::platform;
use log::Log;
use state::Daemon;

/// Time for calls in flight to finish after a stop request.
const FINISH_TIMEOUT: Duration = Duration::from_secs(10);

/// The outcome of [`run`].
pub enum DaemonExit {
    /// The daemon served until a stop request or the idle timeout.
    Served,
    /// Another daemon already serves this home; its pid, if known.
    AlreadyRunning(Option<u32>),
}

/// Runs the daemon until it is stopped.
pub fn run(settings: Settings) -> Result<DaemonExit> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    prepare_home(&settings)?;
    let Some(lock) = acquire_lock(&settings)? else {
        return Ok(DaemonExit::AlreadyRunning(tome_client::daemon_pid(&settings.home)));
    };
    // Errors are ignored: a daemon that cannot preallocate cannot record losses either.
    let _ = lost::preallocate(&settings.home);
    let log = Log::open(&settings.home.run().join("daemon.log"), Arc::clone(&clock));
    let daemon = Arc::new(Daemon::new(settings, &clock, log, platform::raise_descriptor_limit())?);
    // Loaded early because it reads a file, which would delay the first event. An error is reported
    // again with that event.
    if let Err(error) = daemon.engine.stores().session_index() {
        daemon.log.write(&format!("cannot read the session index: {}", error.explained()));
    }
    let held = lock.try_clone().context("cannot duplicate the daemon's lock")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("tome")
        .enable_all()
        .build()
        .context("cannot start the daemon's threads")?;
    runtime.block_on(serve(Arc::clone(&daemon), held))?;
    runtime.shutdown_timeout(FINISH_TIMEOUT);
    daemon.engine.stores().close_idle(0);
    daemon.log.write("stopped");
    // A later process with the same pid must not be taken for this daemon.
    let _ = lock.set_len(0);
    Ok(DaemonExit::Served)
}

async fn serve(daemon: Arc<Daemon>, lock: File) -> Result<()> {
    let servers = listen::start(&daemon).await?;
    daemon.log.write(&format!(
        "version {} listening at {}",
        env!("CARGO_PKG_VERSION"),
        daemon.endpoints().join(" and ")
    ));
    let background = tokio::spawn(maintenance::run(Arc::clone(&daemon)));
    let home = tokio::spawn(home_watch::run(Arc::clone(&daemon), lock));
    tokio::select! {
        () = platform::wait_for_termination() => daemon.log.write("stopping: received a signal"),
        () = daemon.stop_requested() => {}
    }
    daemon.stop();
    let finished = async {
        let _ = background.await;
        let _ = home.await;
        servers.wait().await;
    };
    if tokio::time::timeout(FINISH_TIMEOUT, finished).await.is_err() {
        daemon.log.write("stopped with calls in flight");
    }
    Ok(())
}

fn prepare_home(settings: &Settings) -> Result<()> {
    let home = &settings.home;
    for folder in [home.root().to_path_buf(), home.run(), home.projects()] {
        std::fs::create_dir_all(&folder).with_context(|| {
            format!("cannot create {}; set TOME_HOME to a writable folder", folder.display())
        })?;
    }
    // Make a home private that was created with wider permissions. Its parents stay as they are.
    if platform::is_open_to_others(home.root()) == Some(true) {
        platform::remove_other_permissions(home.root())
            .with_context(|| format!("cannot make {} private", home.root().display()))?;
    }
    Ok(())
}

/// Locks `run/daemon.lock` and writes pid and version into it; `None` if another daemon holds it.
fn acquire_lock(settings: &Settings) -> Result<Option<File>> {
    let path = settings.home.daemon_lock();
    let mut lock = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    if !lock_with_retries(&lock).with_context(|| format!("cannot lock {}", path.display()))? {
        return Ok(None);
    }
    lock.set_len(0)
        .and_then(|()| writeln!(lock, "{} {}", std::process::id(), env!("CARGO_PKG_VERSION")))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Some(lock))
}

/// Locks the file; false if another daemon holds it. Clients probe the lock by taking it for a
/// moment, so a single failure is retried.
fn lock_with_retries(lock: &File) -> std::io::Result<bool> {
    for _ in 0..20 {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
            Err(std::fs::TryLockError::WouldBlock) => {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "there is no notification when a file is unlocked"
                )]
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
    Ok(false)
}
