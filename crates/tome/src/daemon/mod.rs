//! The daemon: the one process that writes. It serves every project of one home, opens stores when
//! they are needed, and leaves when nobody has needed it for a while.
//!
//! Whoever holds the lock on `run/daemon.lock` is the daemon. The lock goes with the process, so
//! that a crash leaves nothing to clean up but a socket, which the next daemon replaces.

mod activity;
mod agent_transcripts;
mod calls;
mod capture;
mod citation;
mod contents;
mod control;
mod damage;
mod drain;
mod events;
mod grpc_status;
pub mod heap;
mod home_watch;
mod indexes;
mod injection;
mod listen;
mod log;
mod losses;
mod maintenance;
mod models;
mod notebook;
mod polish;
mod recall;
mod reflect;
mod remote_vectors;
mod scheduler;
mod state;
mod tcp;
mod tools;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tome_model::{Clock, SystemClock};

use crate::config::Settings;
use crate::hook::lost;
use crate::{connect, platform};
use log::Log;
use state::Daemon;

/// How long calls in flight may take to finish once the daemon is asked to leave.
const FINISH_TIMEOUT: Duration = Duration::from_secs(10);

/// How a run of the daemon came to its end.
pub enum Ran {
    /// It served, and left when it was asked to or had been idle.
    Served,
    /// Another daemon serves this home already.
    AlreadyRunning(Option<u32>),
}

/// Runs the daemon until it is asked to leave.
pub fn run(settings: Settings) -> Result<Ran> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    prepare_home(&settings)?;
    let Some(lock) = take_lock(&settings)? else {
        let holder = connect::DaemonConnector::new(settings, crate::config::ConfigFlags::default())
            .daemon_pid();
        return Ok(Ran::AlreadyRunning(holder));
    };
    // Worth nothing to a daemon that could not write anything else either.
    let _ = lost::preallocate(&settings.home);
    let log = Log::open(&settings.home.run().join("daemon.log"), Arc::clone(&clock));
    let daemon = Arc::new(Daemon::new(settings, clock, log, platform::raise_descriptor_limit())?);
    // Before anybody asks: an import reads the file. What is wrong here is told with the next event.
    if let Err(error) = daemon.engine.stores().session_index() {
        daemon.log.say(&format!("cannot read the index of sessions: {}", error.explained()));
    }
    let held = lock.try_clone().context("cannot hold the daemon's lock")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("tome")
        .enable_all()
        .build()
        .context("cannot start the daemon's threads")?;
    runtime.block_on(serve(Arc::clone(&daemon), held))?;
    runtime.shutdown_timeout(FINISH_TIMEOUT);
    daemon.engine.stores().close_idle(0);
    daemon.log.say("left");
    // Nobody is to take a later process of the same number for this daemon.
    let _ = lock.set_len(0);
    Ok(Ran::Served)
}

async fn serve(daemon: Arc<Daemon>, lock: File) -> Result<()> {
    let servers = listen::start(&daemon).await?;
    daemon.log.say(&format!(
        "version {} listens at {}",
        env!("CARGO_PKG_VERSION"),
        daemon.endpoints().join(" and ")
    ));
    let background = tokio::spawn(maintenance::run(Arc::clone(&daemon)));
    let home = tokio::spawn(home_watch::run(Arc::clone(&daemon), lock));
    tokio::select! {
        () = platform::wait_for_termination() => daemon.log.say("asked to end by a signal"),
        () = daemon.leaving() => {}
    }
    daemon.leave();
    let finished = async {
        let _ = background.await;
        let _ = home.await;
        servers.finished().await;
    };
    if tokio::time::timeout(FINISH_TIMEOUT, finished).await.is_err() {
        daemon.log.say("left with calls unfinished");
    }
    Ok(())
}

fn prepare_home(settings: &Settings) -> Result<()> {
    let home = &settings.home;
    for folder in [home.root().to_path_buf(), home.run(), home.projects()] {
        std::fs::create_dir_all(&folder).with_context(|| {
            format!(
                "cannot create {}; set TOME_HOME to a folder that can be written",
                folder.display()
            )
        })?;
    }
    // A home that an earlier hand made with wider rights is closed; its parents are not touched.
    if platform::is_open_to_others(home.root()) == Some(true) {
        platform::remove_other_permissions(home.root())
            .with_context(|| format!("cannot make {} private", home.root().display()))?;
    }
    Ok(())
}

/// Takes the daemon's lock and signs it; `None` when another daemon holds it.
fn take_lock(settings: &Settings) -> Result<Option<File>> {
    let path = connect::daemon_lock_path(settings);
    let mut lock = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .with_context(|| format!("cannot open {}", path.display()))?;
    if !lock_patiently(&lock).with_context(|| format!("cannot lock {}", path.display()))? {
        return Ok(None);
    }
    lock.set_len(0)
        .and_then(|()| writeln!(lock, "{} {}", std::process::id(), env!("CARGO_PKG_VERSION")))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Some(lock))
}

/// Locks the file unless another daemon holds it. Clients look whether it is locked by locking it
/// for a moment, so a single refusal means nothing.
fn lock_patiently(lock: &File) -> std::io::Result<bool> {
    for _ in 0..20 {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
            Err(std::fs::TryLockError::WouldBlock) => {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "nobody tells when a file is unlocked"
                )]
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
    Ok(false)
}
