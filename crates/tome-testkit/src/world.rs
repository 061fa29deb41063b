//! The environment of one test: a temporary folder with Tome's home, a config and projects, and the
//! binary under test.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tome_proto::{Client, ClientError};

use crate::{Signal, eventually, eventually_within, is_alive, send_signal};

/// A hook that takes longer hangs. It promises far less, which the benchmark measures.
const HOOK_HANGS: Duration = Duration::from_secs(30);
/// Factor on the hook's deadline in tests.
const PATIENCE: &str = "8";
/// Bytes that a pipe buffers at least.
const PIPE_HOLDS_BYTES: usize = 32 * 1024;
/// A folder in memory, on Linux.
#[cfg(unix)]
const MEMORY_FOLDER: &str = "/dev/shm";
/// Free space that it must have; containers often get 64 MiB.
#[cfg(unix)]
const MEMORY_BYTES_MIN: u64 = 2 * 1024 * 1024 * 1024;
/// A command that takes longer hangs.
const COMMAND_HANGS: Duration = Duration::from_secs(60);

/// A test environment. Dropping it kills its daemon and deletes its folder.
pub struct World {
    folder: TempDir,
    home: PathBuf,
    program: PathBuf,
    reads_transcripts: bool,
}

/// The outcome of running the binary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult {
    /// The exit code; -1 if a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl World {
    /// Creates an environment for the binary at this path (`env!("CARGO_BIN_EXE_tome")` in an
    /// integration test).
    ///
    /// # Panics
    /// If no temporary folder can be created.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let folder = temporary_folder();
        let home = folder.path().join("home");
        Self { home, folder, program: program.into(), reads_transcripts: false }
    }

    /// Enables reading transcripts for events that hooks missed, as in production.
    #[must_use]
    pub fn with_transcripts(mut self) -> Self {
        self.reads_transcripts = true;
        self
    }

    /// Moves the home to another path in the folder.
    #[must_use]
    pub fn with_home(mut self, name: &str) -> Self {
        self.home = self.folder.path().join(name);
        self
    }

    /// Tome's home.
    pub fn home(&self) -> PathBuf {
        self.home.clone()
    }

    /// The binary under test.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The config file; it does not exist until a test writes it.
    pub fn config_file(&self) -> PathBuf {
        self.folder.path().join("config.toml")
    }

    /// Returns a folder of this name; creates it if it is missing.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        let _ = std::fs::create_dir_all(&path);
        path.canonicalize().unwrap_or(path)
    }

    /// Writes a file.
    #[expect(clippy::disallowed_methods, reason = "a test's file needs no durable write")]
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        if let Some(folder) = path.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = std::fs::write(&path, text);
        path
    }

    /// Builds a command for the binary, with an environment that only contains the paths of this
    /// test.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).env_clear().current_dir(self.folder("elsewhere"));
        command.env("HOME", self.folder("person")).env("TOME_HOME", self.home()).env("TZ", "UTC");
        command.env("TOME_DAEMON_IDLE_EXIT", "2m").env("TMPDIR", self.folder("tmp"));
        // Off by default: a test that compares transcripts with stored events enables it.
        if !self.reads_transcripts {
            command.env("TOME_CAPTURE_TRANSCRIPTS", "off");
        }
        command.env("XDG_RUNTIME_DIR", self.folder("runtime"));
        if self.config_file().exists() {
            command.env("TOME_CONFIG", self.config_file());
        }
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }

    /// Runs the binary.
    pub fn tome(&self, args: &[&str]) -> CommandResult {
        Self::run(&mut self.command(args), b"")
    }

    /// Runs the binary with input.
    pub fn tome_with(&self, args: &[&str], input: impl AsRef<[u8]>) -> CommandResult {
        Self::run(&mut self.command(args), input.as_ref())
    }

    /// Runs a command with input and waits for it.
    ///
    /// # Panics
    /// If the command cannot be run or hangs.
    pub fn run(command: &mut Command, input: &[u8]) -> CommandResult {
        Self::run_within(command, input, COMMAND_HANGS)
    }

    /// Runs a command with input; kills it if it hangs.
    ///
    /// # Panics
    /// If the command cannot be run or hangs.
    #[expect(clippy::expect_used, reason = "a test needs the binary to run")]
    pub fn run_within(command: &mut Command, input: &[u8], hangs: Duration) -> CommandResult {
        let (stdin, mut pen) = std::io::pipe().expect("a pipe");
        let (before, after) = input.split_at(input.len().min(PIPE_HOLDS_BYTES));
        // Write what fits before the start: a hook does not wait for a slow test.
        pen.write_all(before).expect("a pipe that holds this much");
        let rest = Some(after.to_vec()).filter(|rest| !rest.is_empty());
        let pen = rest.is_some().then_some(pen);
        let child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        // Otherwise the command keeps the pipe open.
        command.stdin(Stdio::null());
        let child = child.expect("the program runs");
        let feeder = std::thread::spawn(move || {
            // The program may end without reading everything.
            let _ = pen.map(|mut pen| pen.write_all(&rest.unwrap_or_default()));
        });
        let pid = child.id();
        let (ended, waiting) = mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            let hung = waiting.recv_timeout(hangs) == Err(mpsc::RecvTimeoutError::Timeout);
            hung && send_signal(pid, Signal::Kill)
        });
        let output = child.wait_with_output().expect("the program ends");
        drop(ended);
        let hung = watch.join().unwrap_or(false);
        assert!(!hung, "{command:?} did not finish within {hangs:?}");
        let _ = feeder.join();
        CommandResult::from(output)
    }

    /// Runs a hook with a payload and checks that it succeeds, with empty stderr and at most one
    /// JSON object on stdout.
    ///
    /// # Panics
    /// If it does not.
    pub fn hook(&self, args: &[&str], payload: impl AsRef<[u8]>) {
        self.hook_output(args, payload);
    }

    /// Runs a hook and returns its output to the agent, if any.
    ///
    /// # Panics
    /// If it breaks the rules of hooks.
    pub fn hook_output(&self, args: &[&str], payload: impl AsRef<[u8]>) -> Option<Value> {
        let args: Vec<&str> = ["hook"].iter().chain(args).copied().collect();
        Self::run_hook_command(&mut self.command(&args), payload)
    }

    /// Runs a hook by a custom command and checks the rules of hooks. On a busy machine a late hook
    /// would hand its event to another process, so unless the command sets the hook's patience, it
    /// gets time to store the event itself.
    ///
    /// # Panics
    /// If it breaks the rules of hooks.
    pub fn run_hook_command(command: &mut Command, payload: impl AsRef<[u8]>) -> Option<Value> {
        if !command.get_envs().any(|(name, _)| name == "TOME_HOOK_PATIENCE") {
            command.env("TOME_HOOK_PATIENCE", PATIENCE);
        }
        let ran = Self::run_within(command, payload.as_ref(), HOOK_HANGS);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command:?}");
        let responses = ran.json_lines();
        assert!(
            responses.len() <= 1 && responses.iter().all(Value::is_object),
            "{command:?} said {responses:?}"
        );
        responses.into_iter().next()
    }

    /// Stores lines with `tome ingest`.
    ///
    /// # Panics
    /// If it fails.
    pub fn ingest(&self, lines: &str) {
        let ran = self.tome_with(&["ingest"], lines);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "tome ingest");
    }

    /// Returns every event of every project, oldest first, as printed by `tome events`.
    ///
    /// # Panics
    /// If they cannot be listed.
    pub fn events(&self) -> Vec<Value> {
        // On a busy machine the daemon may still be storing what hooks left in the spool.
        let ran = eventually("the spool to be stored", || {
            let ran = self.tome(&["events", "--all-projects", "--limit", "0", "--json"]);
            (!ran.stderr.contains("still in the spool")).then_some(ran)
        });
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "tome events");
        ran.json_lines()
    }

    /// Returns the pid of the daemon of this home, if it runs. Does not try the lock, which could
    /// keep a starting daemon from taking it.
    pub fn daemon_pid(&self) -> Option<u32> {
        let text = std::fs::read_to_string(self.home().join("run/daemon.lock")).ok()?;
        let pid = text.split_whitespace().next()?.parse().ok();
        pid.filter(|pid| is_alive(*pid))
    }

    /// Kills the daemon, waits until it is gone and returns its pid.
    ///
    /// # Panics
    /// If it does not end.
    pub fn kill_daemon(&self) -> Option<u32> {
        let pid = self.daemon_pid()?;
        send_signal(pid, Signal::Kill);
        let gone = eventually_within(Duration::from_secs(20), || {
            (self.daemon_pid() != Some(pid)).then_some(())
        });
        assert!(gone.is_some(), "process {pid} survived SIGKILL");
        Some(pid)
    }

    /// The daemon's socket, if its path is short enough to be in the home.
    pub fn socket(&self) -> PathBuf {
        self.home().join("run/tome.sock")
    }

    /// Connects to the daemon; does not start it.
    #[cfg(unix)]
    pub async fn client(&self) -> Result<Client, ClientError> {
        let path = self.socket();
        Client::connect(move || tokio::net::UnixStream::connect(path.clone()), None).await
    }

    /// Runs `work` with a client of the daemon.
    ///
    /// # Panics
    /// If the daemon cannot be reached.
    #[cfg(unix)]
    #[expect(clippy::expect_used, reason = "a test's assertion")]
    pub fn with_client<T>(&self, work: impl AsyncFnOnce(Client) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let client = self.client().await.expect("the daemon answers");
            work(client).await
        })
    }

    /// The temporary folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Creates a folder that is deleted when dropped, in memory if possible.
///
/// # Panics
/// If it cannot be created.
#[expect(clippy::expect_used, reason = "a test needs a folder")]
pub fn temporary_folder() -> TempDir {
    let folder = tempfile::Builder::new().prefix("tome-world").tempdir_in(parent_folder());
    folder.expect("a temporary folder")
}

/// The folder for the folders of tests: in memory if there is room, because a test syncs hundreds of
/// times, and each takes milliseconds on a disk. A killed process loses nothing there either. `TMPDIR`
/// overrides it.
fn parent_folder() -> PathBuf {
    #[cfg(unix)]
    if std::env::var_os("TMPDIR").is_none() && can_hold_worlds(Path::new(MEMORY_FOLDER)) {
        return PathBuf::from(MEMORY_FOLDER);
    }
    std::env::temp_dir()
}

/// Whether files in this folder can be written and run, with space to spare.
#[cfg(unix)]
fn can_hold_worlds(folder: &Path) -> bool {
    use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};
    statvfs(folder).is_ok_and(|system| {
        let free_bytes = system.f_bavail.saturating_mul(system.f_frsize);
        let is_runnable = !system.f_flag.contains(StatVfsMountFlags::NOEXEC);
        is_runnable && free_bytes >= MEMORY_BYTES_MIN
    }) && access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

impl Drop for World {
    fn drop(&mut self) {
        // A hook may still be starting one; that one exits when idle.
        if let Some(pid) = self.daemon_pid() {
            send_signal(pid, Signal::Kill);
            let gone = || (self.daemon_pid() != Some(pid)).then_some(());
            let _ = eventually_within(Duration::from_secs(5), gone);
        }
    }
}

impl CommandResult {
    /// The expected outcome of a silent hook.
    pub fn silent() -> Self {
        Self { code: 0, stdout: String::new(), stderr: String::new() }
    }

    /// Parses standard output as one JSON value per line.
    ///
    /// # Panics
    /// If a line is not JSON.
    #[expect(clippy::expect_used, reason = "a test's assertion")]
    pub fn json_lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    }

    /// Parses standard output as one JSON value.
    ///
    /// # Panics
    /// If it is not JSON.
    #[expect(clippy::panic, reason = "a test's assertion")]
    pub fn json(&self) -> Value {
        let parsed = serde_json::from_str(&self.stdout);
        parsed.unwrap_or_else(|error| panic!("{error}: {:?}, {}", self.stdout, self.stderr))
    }
}

impl From<Output> for CommandResult {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
