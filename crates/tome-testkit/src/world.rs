//! One test's world: a temporary folder with Tome's home, a config and projects in it, and the
//! program under test run against them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A world. When it is dropped its daemon is ended and its folder deleted.
pub struct World {
    folder: TempDir,
    program: PathBuf,
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
        Self {
            folder: folder.expect("a temporary folder"),
            program: program.into(),
        }
    }

    /// Tome's home.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
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
    #[expect(
        clippy::disallowed_methods,
        reason = "a test's file needs no durable write"
    )]
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
        command
            .args(args)
            .env_clear()
            .current_dir(self.folder("elsewhere"));
        command
            .env("HOME", self.folder("person"))
            .env("TOME_HOME", self.home())
            .env("TZ", "UTC");
        command
            .env("TOME_DAEMON_IDLE_EXIT", "2m")
            .env("TMPDIR", self.folder("tmp"));
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
    /// When the command cannot be run at all.
    #[expect(
        clippy::expect_used,
        reason = "a test whose program does not run cannot go on"
    )]
    pub fn run(command: &mut Command, input: &[u8]) -> Ran {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let stdin = child.stdin.take();
        let input = input.to_vec();
        let feeder = std::thread::spawn(move || {
            // The program may end before it has read everything; that is its right.
            let _ = stdin.map(|mut stdin| stdin.write_all(&input));
        });
        let output = child.wait_with_output().expect("the program ends");
        let _ = feeder.join();
        Ran::from(output)
    }

    /// Runs a hook with a payload. What every hook promises is checked here, every time: it
    /// succeeds, complains of nothing and says nothing.
    ///
    /// # Panics
    /// When it does not.
    pub fn hook(&self, args: &[&str], payload: impl AsRef<[u8]>) {
        let args: Vec<&str> = ["hook"].iter().chain(args).copied().collect();
        let ran = self.tome_with(&args, payload);
        assert_eq!(
            ran,
            Ran {
                code: 0,
                stdout: String::new(),
                stderr: String::new()
            },
            "tome {args:?}"
        );
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

    /// The process of the daemon, as its lock file says.
    pub fn daemon_pid(&self) -> Option<u32> {
        let text = std::fs::read_to_string(self.home().join("run/daemon.lock")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    }

    /// The world's folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if self.home().join("run/daemon.lock").exists() {
            let _ = self.tome(&["stop", "--force"]);
        }
    }
}

impl Ran {
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
