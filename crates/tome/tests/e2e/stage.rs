//! One agent's stage: a home of its own in which Tome is set up, a project, and a scripted model.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tome_testkit::{Ran, World};

use crate::model::{Model, Step};

/// An agent that takes this long hangs; starting one takes most of it where a machine is busy.
const AGENT_HANGS: Duration = Duration::from_secs(300);

/// How many times longer than usual hooks may take.
const PATIENCE: &str = "TOME_HOOK_PATIENCE";

pub struct Stage {
    pub world: World,
    /// The project that the agent works in.
    pub app: PathBuf,
    pub model: Model,
}

impl Stage {
    pub fn new(script: Vec<Step>) -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_tome")).with_transcripts();
        let app = world.folder("app");
        Self { world, app, model: Model::new(script) }
    }

    /// Writes a file into the person's home.
    pub fn write(&self, path: &str, text: &str) {
        self.world.write(&format!("person/{path}"), text);
    }

    /// Wires the agent with `tome setup`, and nothing else.
    pub fn set_up(&self, agent: &str) {
        let mut command = self.world.command(&["setup", "--yes", "--agent", agent]);
        let ran = World::run(command.current_dir(&self.app), b"");
        assert_eq!(ran.code, 0, "tome setup: {}{}", ran.stdout, ran.stderr);
    }

    /// Lets Tome ask for more even though nobody is at the keyboard.
    pub fn ask_headless_runs(&self) {
        self.write(".config/tome/config.toml", "[inject]\nheadless = \"on\"\n");
    }

    /// Calls a tool from the project, as a person may.
    pub fn tool(&self, name: &str, arguments: &Value) {
        let mut command = self.world.command(&["tool", name, "-"]);
        let ran = World::run(command.current_dir(&self.app), arguments.to_string().as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{name} {arguments}");
    }

    /// An agent's program, in the project. It is not told where Tome's home is: setup wrote that down.
    pub fn agent(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().current_dir(&self.app).env("HOME", self.world.folder("person"));
        command.env("TMPDIR", self.world.folder("tmp")).env("TZ", "UTC").env("TERM", "dumb");
        command.env("XDG_RUNTIME_DIR", self.world.folder("runtime"));
        command.env("TOME_DAEMON_IDLE_EXIT", "2m");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // Hooks have their usual deadlines, unless whoever runs this says that the machine is slow.
        command.envs(std::env::var_os(PATIENCE).map(|times| (PATIENCE, times)));
        command
    }

    /// Runs the agent to its end, with nothing to read.
    pub fn run(&self, command: &mut Command) -> Ran {
        let ran = World::run_within(command, b"", AGENT_HANGS);
        println!("{}\n{}\n{}", ran.stdout, ran.stderr, self.model.log());
        assert_eq!(ran.code, 0, "{command:?} failed; what it said stands above");
        ran
    }

    /// What Tome has told agents, oldest first.
    pub fn injections(&self) -> Vec<Value> {
        self.world.tome(&["injections", "--all-projects", "--json"]).json_lines()
    }
}
