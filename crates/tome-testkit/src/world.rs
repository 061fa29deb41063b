//! One test's world: a temporary folder with Tome's home, a config and projects in it, and the
//! program under test run against them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tome_proto::{Client, ClientError};

use crate::{Signal, eventually_within, is_alive, send};

/// A hook that takes this long hangs. What it promises is far less; measuring that is the bench's.
const HOOK_HANGS: Duration = Duration::from_secs(5);
/// How many times longer than usual a test's hook may take before it gives up on the daemon.
const PATIENCE: &str = "8";
/// A pipe holds this much before its reader has to read.
const PIPE_HOLDS_BYTES: usize = 32 * 1024;
/// A command that takes this long hangs.
const COMMAND_HANGS: Duration = Duration::from_secs(60);

/// A world. When it is dropped its daemon is ended and its folder deleted.
pub struct World {
    folder: TempDir,
    home: PathBuf,
    program: PathBuf,
    reads_transcripts: bool,
}

/// What a run of the program came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The exit code; -1 when a signal ended it.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

impl World {
    /// A world for the program at this path (`env!("CARGO_BIN_EXE_tome")` in an integration test).
    ///
    /// # Panics
    /// When no temporary folder can be made.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let folder = tempfile::Builder::new().prefix("tome-world").tempdir();
        #[expect(clippy::expect_used, reason = "a test without a folder cannot go on")]
        let folder = folder.expect("a temporary folder");
        let home = folder.path().join("home");
        Self { home, folder, program: program.into(), reads_transcripts: false }
    }

    /// The same world with a daemon that stores what hooks missed and a transcript has, as it does for
    /// people.
    #[must_use]
    pub fn with_transcripts(mut self) -> Self {
        self.reads_transcripts = true;
        self
    }

    /// The same world with its home at another path inside it.
    #[must_use]
    pub fn with_home(mut self, name: &str) -> Self {
        self.home = self.folder.path().join(name);
        self
    }

    /// Tome's home.
    pub fn home(&self) -> PathBuf {
        self.home.clone()
    }

    /// The program under test.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The config file; it does not exist until a test writes it.
    pub fn config_file(&self) -> PathBuf {
        self.folder.path().join("config.toml")
    }

    /// A folder of this name in the world, made if it is not there.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        let _ = std::fs::create_dir_all(&path);
        path.canonicalize().unwrap_or(path)
    }

    /// Writes a file in the world.
    #[expect(clippy::disallowed_methods, reason = "a test's file needs no durable write")]
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        if let Some(folder) = path.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = std::fs::write(&path, text);
        path
    }

    /// The program, to be run in this world and in no other: an empty environment but for what
    /// says where the world is.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).env_clear().current_dir(self.folder("elsewhere"));
        command.env("HOME", self.folder("person")).env("TOME_HOME", self.home()).env("TZ", "UTC");
        command.env("TOME_DAEMON_IDLE_EXIT", "2m").env("TMPDIR", self.folder("tmp"));
        // A test that compares transcripts with what hooks stored does so when it says so.
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

    /// Runs the program.
    pub fn tome(&self, args: &[&str]) -> Ran {
        Self::run(&mut self.command(args), b"")
    }

    /// Runs the program with something on its standard input.
    pub fn tome_with(&self, args: &[&str], input: impl AsRef<[u8]>) -> Ran {
        Self::run(&mut self.command(args), input.as_ref())
    }

    /// Runs a command with something on its standard input and waits for it.
    ///
    /// # Panics
    /// When the command cannot be run at all, or hangs.
    pub fn run(command: &mut Command, input: &[u8]) -> Ran {
        Self::run_within(command, input, COMMAND_HANGS)
    }

    /// Runs a command with something on its standard input. One that hangs is ended.
    ///
    /// # Panics
    /// When the command cannot be run at all, or hangs.
    #[expect(clippy::expect_used, reason = "a test whose program does not run cannot go on")]
    pub fn run_within(command: &mut Command, input: &[u8], hangs: Duration) -> Ran {
        let (stdin, mut pen) = std::io::pipe().expect("a pipe");
        let (before, after) = input.split_at(input.len().min(PIPE_HOLDS_BYTES));
        // What fits is there before the program is: a hook has no time for a test that is slow.
        pen.write_all(before).expect("a pipe that holds this much");
        let rest = Some(after.to_vec()).filter(|rest| !rest.is_empty());
        let pen = rest.is_some().then_some(pen);
        let child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        // The command holds the pipe's end until it is given another.
        command.stdin(Stdio::null());
        let child = child.expect("the program runs");
        let feeder = std::thread::spawn(move || {
            // The program may end before it has read everything; that is its right.
            let _ = pen.map(|mut pen| pen.write_all(&rest.unwrap_or_default()));
        });
        let pid = child.id();
        let (ended, waiting) = mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            let hung = waiting.recv_timeout(hangs) == Err(mpsc::RecvTimeoutError::Timeout);
            hung && send(pid, Signal::Kill)
        });
        let output = child.wait_with_output().expect("the program ends");
        drop(ended);
        let hung = watch.join().unwrap_or(false);
        assert!(!hung, "{command:?} was not done within {hangs:?}");
        let _ = feeder.join();
        Ran::from(output)
    }

    /// Runs a hook with a payload. What every hook promises is checked here, every time: it
    /// succeeds, complains of nothing and says nothing but what an agent can read.
    ///
    /// # Panics
    /// When it does not.
    pub fn hook(&self, args: &[&str], payload: impl AsRef<[u8]>) {
        self.hook_says(args, payload);
    }

    /// The same, with what it says to its agent; `None` where it is silent.
    ///
    /// # Panics
    /// When the promise is not kept.
    pub fn hook_says(&self, args: &[&str], payload: impl AsRef<[u8]>) -> Option<Value> {
        let args: Vec<&str> = ["hook"].iter().chain(args).copied().collect();
        Self::hook_command(&mut self.command(&args), payload)
    }

    /// Runs a hook by a command of the test's own making, and checks what every hook promises. A test's
    /// machine may be busy, and a hook that is late hands its event to another process: unless the
    /// command says how patient the hook is, it has time to store the event itself.
    ///
    /// # Panics
    /// When the promise is not kept.
    pub fn hook_command(command: &mut Command, payload: impl AsRef<[u8]>) -> Option<Value> {
        if !command.get_envs().any(|(name, _)| name == "TOME_HOOK_PATIENCE") {
            command.env("TOME_HOOK_PATIENCE", PATIENCE);
        }
        let ran = Self::run_within(command, payload.as_ref(), HOOK_HANGS);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command:?}");
        let said = ran.json_lines();
        assert!(said.len() <= 1 && said.iter().all(Value::is_object), "{command:?} said {said:?}");
        said.into_iter().next()
    }

    /// Stores lines with `tome ingest`.
    ///
    /// # Panics
    /// When it does not succeed.
    pub fn ingest(&self, lines: &str) {
        let ran = self.tome_with(&["ingest"], lines);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "tome ingest");
    }

    /// Every event of every project, oldest first, as `tome events` prints them.
    ///
    /// # Panics
    /// When they cannot be listed.
    pub fn events(&self) -> Vec<Value> {
        let ran = self.tome(&["events", "--all-projects", "--limit", "0", "--json"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "tome events");
        ran.json_lines()
    }

    /// The process of the daemon that serves this home, if one does. Its lock is not tried: a look
    /// must not keep a daemon that is just starting from taking it.
    pub fn daemon_pid(&self) -> Option<u32> {
        let text = std::fs::read_to_string(self.home().join("run/daemon.lock")).ok()?;
        let pid = text.split_whitespace().next()?.parse().ok();
        pid.filter(|pid| is_alive(*pid))
    }

    /// Ends the daemon as a crash would, and waits until it is gone. Returns its process id.
    ///
    /// # Panics
    /// When it does not end.
    pub fn kill_daemon(&self) -> Option<u32> {
        let pid = self.daemon_pid()?;
        send(pid, Signal::Kill);
        let gone = eventually_within(Duration::from_secs(20), || {
            (self.daemon_pid() != Some(pid)).then_some(())
        });
        assert!(gone.is_some(), "process {pid} survived SIGKILL");
        Some(pid)
    }

    /// The daemon's socket, where its path is short enough to be in the home.
    pub fn socket(&self) -> PathBuf {
        self.home().join("run/tome.sock")
    }

    /// A client of the daemon, over its socket. It starts nothing.
    #[cfg(unix)]
    pub async fn client(&self) -> Result<Client, ClientError> {
        let path = self.socket();
        Client::connect(move || tokio::net::UnixStream::connect(path.clone()), None).await
    }

    /// Does something with a client of the daemon.
    ///
    /// # Panics
    /// When the daemon cannot be reached.
    #[cfg(unix)]
    #[expect(clippy::expect_used, reason = "a test's assertion")]
    pub fn ask<T>(&self, work: impl AsyncFnOnce(Client) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let client = self.client().await.expect("the daemon answers");
            work(client).await
        })
    }

    /// The world's folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // A hook may still be starting one; it leaves by itself when it has been idle.
        if let Some(pid) = self.daemon_pid() {
            send(pid, Signal::Kill);
            let gone = || (self.daemon_pid() != Some(pid)).then_some(());
            let _ = eventually_within(Duration::from_secs(5), gone);
        }
    }
}

impl Ran {
    /// What a hook promises: it succeeds and says nothing.
    pub fn silent() -> Self {
        Self { code: 0, stdout: String::new(), stderr: String::new() }
    }

    /// What it printed, one JSON value a line.
    ///
    /// # Panics
    /// When a line is not JSON.
    #[expect(clippy::expect_used, reason = "a test's assertion")]
    pub fn json_lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect()
    }

    /// What it printed, as one JSON value.
    ///
    /// # Panics
    /// When it is not JSON.
    #[expect(clippy::expect_used, reason = "a test's assertion")]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).expect("JSON")
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
