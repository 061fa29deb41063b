//! Connects to the daemon, starts it if it is not running, and replaces it if it is older than this
//! client.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use thiserror::Error;
use tokio::time::{Instant, sleep};
use tome_home::Home;
use tome_proto::{Client, ClientError};

use crate::process::{neutral_folder, reap_in_background, signal_process};
use crate::{ClientSettings, DaemonEndpoint};

/// Time limit for a daemon to start. It normally takes milliseconds, but the machine may be busy.
const START_TIMEOUT: Duration = Duration::from_secs(15);
/// Time limit for a running daemon to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(4);
/// Time limit for a daemon to finish work in flight and exit.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);
/// Attempts for an idempotent request whose connection breaks.
const ATTEMPTS_MAX: usize = 3;
/// Minimum time between two attempts of hooks to start the daemon.
const HOOK_START_INTERVAL_MS: u64 = 3_000;

/// Whether to start the daemon if it is not running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartPolicy {
    /// Start it, unless the settings forbid it or name no program.
    IfNotRunning,
    /// Only connect to a running daemon.
    Never,
}

/// The daemon cannot be reached, started or stopped, or a call to it failed.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// No daemon is running, and the client may not start one.
    #[error("the daemon is not running")]
    NotRunning,
    /// The daemon did not start, for this reason.
    #[error("the daemon did not start: {0}")]
    NotStarted(String),
    /// The daemon with this process id does not exit.
    #[error("the daemon (pid {0}) does not stop; run `tome stop --force`")]
    Stuck(u32),
    /// The daemon is running, but the call failed.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// Connects to the daemon of one home.
#[derive(Debug, Clone)]
pub struct DaemonConnector {
    settings: ClientSettings,
}

impl DaemonConnector {
    /// Creates a connector; nothing happens yet.
    pub fn new(settings: ClientSettings) -> Self {
        Self { settings }
    }

    /// The settings.
    pub fn settings(&self) -> &ClientSettings {
        &self.settings
    }

    /// Finds the daemon's endpoint. A daemon without a socket publishes it when it listens.
    pub fn endpoint(&self) -> DaemonEndpoint {
        DaemonEndpoint::from_settings(&self.settings)
    }

    /// Connects to the daemon, starting or replacing it as needed. A daemon older than this client is
    /// replaced. A newer one is kept: it understands older clients, and two versions must not keep
    /// replacing each other.
    pub async fn connect(&self, start: StartPolicy) -> Result<Client, ConnectError> {
        let may_start = start == StartPolicy::IfNotRunning
            && self.settings.autostart
            && self.settings.program.is_some()
            && self.is_local();
        match self.probe_version(ANSWER_TIMEOUT).await {
            Ok((_, version))
                if may_start && is_older_version(&version, env!("CARGO_PKG_VERSION")) =>
            {
                self.stop_daemon(true).await?;
                self.start_daemon().await
            }
            Ok((client, _)) => Ok(client),
            Err(ClientError::Unreachable(_)) if may_start => self.start_daemon().await,
            Err(ClientError::Unreachable(_)) if self.is_local() => Err(ConnectError::NotRunning),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a daemon is running. Waits for one that is starting or exiting, so that on `false` no
    /// daemon has the home open.
    pub async fn is_running(&self) -> Result<bool, ConnectError> {
        let deadline = Instant::now() + START_TIMEOUT;
        let mut pause = Duration::from_millis(2);
        loop {
            match self.connect(StartPolicy::Never).await {
                Ok(_) => return Ok(true),
                Err(ConnectError::NotRunning) if !is_lock_held(&self.settings.home) => {
                    return Ok(false);
                }
                Err(ConnectError::NotRunning) => {}
                Err(error) => return Err(error),
            }
            if Instant::now() >= deadline {
                return Err(no_answer());
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Sends an idempotent request, with retries: the daemon may exit between two calls, because it is idle
    /// or being replaced.
    pub async fn call_idempotent<T>(
        &self,
        start: StartPolicy,
        call: impl AsyncFn(&Client) -> Result<T, ClientError>,
    ) -> Result<T, ConnectError> {
        for _ in 1..ATTEMPTS_MAX {
            match call(&self.connect(start).await?).await {
                Err(ClientError::Unreachable(_)) => {}
                answer => return Ok(answer?),
            }
        }
        Ok(call(&self.connect(start).await?).await?)
    }

    /// [`Self::call_idempotent`] for callers outside of async code; starts the daemon if it is not
    /// running.
    pub fn call_blocking<T>(
        &self,
        call: impl AsyncFn(&Client) -> Result<T, ClientError>,
    ) -> Result<T, ConnectError> {
        block_on(self.call_idempotent(StartPolicy::IfNotRunning, call))
    }

    /// Sends a change without retries, for callers outside of async code: a daemon that goes away midway
    /// may have applied it. Starts the daemon if it is not running.
    pub fn call_once_blocking<T>(
        &self,
        change: impl AsyncFnOnce(&Client) -> Result<T, ClientError>,
    ) -> Result<T, ConnectError> {
        block_on(async {
            let client = self.connect(StartPolicy::IfNotRunning).await?;
            Ok(change(&client).await?)
        })
    }

    /// Connects and queries the daemon's version. Connecting alone proves nothing: a daemon that is exiting
    /// or hanging still accepts connections.
    async fn probe_version(&self, within: Duration) -> Result<(Client, String), ClientError> {
        let answer = async {
            let client = self.endpoint().connect().await?;
            let version = client.get_status(false).await?.version;
            Ok((client, version))
        };
        let late = Err(ClientError::TimedOut(within.as_millis()));
        tokio::time::timeout(within, answer).await.unwrap_or(late)
    }

    /// Starts the daemon and waits until it answers. Concurrent callers start only one.
    pub async fn start_daemon(&self) -> Result<Client, ConnectError> {
        self.create_run_folder().map_err(ConnectError::NotStarted)?;
        let began = Instant::now();
        let deadline = began + START_TIMEOUT;
        let mut starting: Option<(File, Child)> = None;
        loop {
            if let Ok((client, _)) = self.probe_version(ANSWER_TIMEOUT).await {
                if let Some((_, child)) = starting {
                    reap_in_background(child);
                }
                return Ok(client);
            }
            starting = match starting {
                None => self.try_launch()?,
                Some((lock, mut child)) => match child.try_wait() {
                    // It found another daemon, which may have been exiting: try again.
                    Ok(Some(status)) if status.success() => None,
                    Ok(Some(status)) => {
                        return Err(ConnectError::NotStarted(self.startup_error(status)));
                    }
                    _ => Some((lock, child)),
                },
            };
            if Instant::now() >= deadline {
                return Err(no_answer());
            }
            // A daemon usually answers within some 12 ms; a hook waits for it.
            let is_slow = began.elapsed() > Duration::from_millis(100);
            sleep(Duration::from_millis(if is_slow { 50 } else { 2 })).await;
        }
    }

    /// Launches a daemon if this process gets the start lock; `None` if another process is starting one.
    fn try_launch(&self) -> Result<Option<(File, Child)>, ConnectError> {
        let run = self.settings.home.run();
        let problem =
            |error| ConnectError::NotStarted(format!("cannot write in {}: {error}", run.display()));
        let lock = self.open_start_lock().map_err(problem)?;
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        let child = self.spawn_daemon().map_err(problem)?;
        Ok(Some((lock, child)))
    }

    /// Starts the daemon in the background, unless another process has just done so.
    pub fn start_in_background(&self) {
        if self.claim_start_attempt() {
            // Errors are ignored: the event is in the spool, and the next hook tries again.
            let _ = self.spawn_daemon();
        }
    }

    /// Whether no other process is starting a daemon or has just tried to; if so, records this attempt.
    fn claim_start_attempt(&self) -> bool {
        use std::io::Write;
        if self.create_run_folder().is_err() {
            return false;
        }
        let Ok(lock) = self.open_start_lock() else { return false };
        if lock.try_lock().is_err() {
            return false;
        }
        let tried = lock.metadata().and_then(|meta| Ok((meta.len(), meta.modified()?)));
        if let Ok((1.., at)) = tried
            && let Ok(at) = at.duration_since(std::time::UNIX_EPOCH)
        {
            let ago = u128::from(self.settings.clock.now().0).abs_diff(at.as_millis());
            if ago < u128::from(HOOK_START_INTERVAL_MS) {
                return false;
            }
        }
        (&lock).write_all(b".").is_ok()
    }

    /// Replaces an older daemon in the background.
    pub fn replace_in_background(&self) {
        if !self.is_local() || !self.claim_start_attempt() {
            return;
        }
        if let Ok(mut command) = self.build_command() {
            command.arg("start").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            // Errors are ignored: the next hook tries again.
            let _ = command.spawn();
        }
    }

    /// Stops the daemon and waits until it has exited. Returns its process id, if one was running.
    pub async fn stop_daemon(&self, force: bool) -> Result<Option<u32>, ConnectError> {
        let shutdown = tokio::time::timeout(ANSWER_TIMEOUT, async {
            self.endpoint().connect().await?.shutdown().await
        });
        let answered_pid = shutdown.await.ok().and_then(Result::ok).map(|answer| answer.pid);
        let Some(holder) = self.daemon_pid() else {
            return Ok(answered_pid);
        };
        if answered_pid.is_none() {
            signal_process(holder, false);
        }
        // A daemon that does not even answer has no work in flight worth waiting for.
        let patience = if force && answered_pid.is_none() { ANSWER_TIMEOUT } else { STOP_TIMEOUT };
        if self.wait_until_gone(holder, patience).await {
            return Ok(Some(holder));
        }
        if force {
            signal_process(holder, true);
            if self.wait_until_gone(holder, STOP_TIMEOUT).await {
                return Ok(Some(holder));
            }
        }
        Err(ConnectError::Stuck(holder))
    }

    /// The process id of the running daemon.
    pub fn daemon_pid(&self) -> Option<u32> {
        daemon_pid(&self.settings.home)
    }

    /// Waits until a process has released the daemon's lock. Another process may hold it by then.
    async fn wait_until_gone(&self, pid: u32, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        while self.daemon_pid() == Some(pid) {
            if Instant::now() >= deadline {
                return false;
            }
            sleep(Duration::from_millis(5)).await;
        }
        true
    }

    fn spawn_daemon(&self) -> std::io::Result<Child> {
        let errors = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(self.start_errors_path())?;
        let mut command = self.build_command()?;
        command.args(["daemon", "--detached"]);
        if let Some(program) = &self.settings.program {
            command.envs(program.environment.iter().map(|(name, value)| (name, value)));
        }
        // The daemon must not keep the current folder in use.
        command.current_dir(neutral_folder(&self.settings.user_folders));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).spawn()
    }

    /// Builds a command that runs the program with the same home and arguments.
    pub fn build_command(&self) -> std::io::Result<Command> {
        let Some(program) = &self.settings.program else {
            return Err(std::io::Error::other("the path of the program is not known"));
        };
        let mut command = Command::new(&program.path);
        command.arg("--home").arg(self.settings.home.root()).args(&program.arguments);
        Ok(command)
    }

    /// The error message of a daemon that failed to start.
    fn startup_error(&self, status: std::process::ExitStatus) -> String {
        let message = std::fs::read_to_string(self.start_errors_path()).unwrap_or_default();
        match message.trim().trim_start_matches("error: ") {
            "" => status.to_string(),
            message => message.to_owned(),
        }
    }

    fn is_local(&self) -> bool {
        self.settings.endpoint.is_none()
    }

    fn create_run_folder(&self) -> Result<(), String> {
        let run = self.settings.home.run();
        std::fs::create_dir_all(&run)
            .map_err(|error| format!("cannot create {}: {error}", run.display()))
    }

    fn open_start_lock(&self) -> std::io::Result<File> {
        OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(self.settings.home.run().join("start.lock"))
    }

    fn start_errors_path(&self) -> PathBuf {
        self.settings.home.run().join("start.err")
    }
}

fn no_answer() -> ConnectError {
    ConnectError::NotStarted(format!("no answer within {} s", START_TIMEOUT.as_secs()))
}

/// Runs a call to the daemon on a runtime of its own.
fn block_on<T>(call: impl Future<Output = Result<T, ConnectError>>) -> Result<T, ConnectError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| ConnectError::NotStarted(error.to_string()))?;
    // Boxed, so that the runtime is compiled once per type of answer, not once per call.
    runtime.block_on(Box::pin(call) as Pin<Box<dyn Future<Output = _> + '_>>)
}

/// The process id of the daemon of a home, from the lock that it holds.
pub fn daemon_pid(home: &Home) -> Option<u32> {
    if !is_lock_held(home) {
        return None;
    }
    let text = std::fs::read_to_string(home.daemon_lock()).unwrap_or_default();
    text.split_whitespace().next().and_then(|pid| pid.parse().ok())
}

/// Whether a process holds the daemon's lock.
fn is_lock_held(home: &Home) -> bool {
    let lock = OpenOptions::new().read(true).write(true).open(home.daemon_lock());
    // A shared lock, so that two concurrent checks do not mistake each other for the daemon.
    lock.is_ok_and(|lock| lock.try_lock_shared().is_err())
}

/// Whether version `a` is older than version `b`. Unparsable parts count as 0.
pub fn is_older_version(a: &str, b: &str) -> bool {
    let numbers = |version: &str| -> Vec<u64> {
        let plain = version.split(['-', '+']).next().unwrap_or_default();
        plain.split('.').map(|part| part.parse().unwrap_or(0)).collect()
    };
    numbers(a) < numbers(b)
}

#[cfg(test)]
mod tests {
    use super::is_older_version;

    #[test]
    fn versions_compare_by_number() {
        assert!(is_older_version("0.9.0", "0.10.0"));
        assert!(is_older_version("0.1.0", "0.1.1"));
        assert!(is_older_version("", "0.1.0"));
        assert!(!is_older_version("0.1.0", "0.1.0"));
        assert!(!is_older_version("1.0.0", "0.9.9"));
    }
}
