//! An isolated home with Tome set up, a project, and a scripted model.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tome_testkit::{CommandResult, World};

use crate::model::{Model, Step};

/// Timeout of an agent; on a busy machine most of it is startup.
const AGENT_HANGS: Duration = Duration::from_secs(300);

/// Factor by which hook deadlines are extended.
const PATIENCE: &str = "TOME_HOOK_PATIENCE";

pub struct AgentFixture {
    pub world: World,
    pub app: PathBuf,
    pub model: Model,
}

impl AgentFixture {
    pub fn new(script: Vec<Step>) -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_tome")).with_transcripts();
        let app = world.folder("app");
        Self { world, app, model: Model::new(script) }
    }

    /// Writes a file into the user's home.
    pub fn write(&self, path: &str, text: &str) {
        self.world.write(&format!("person/{path}"), text);
    }

    /// Runs `tome setup` for the agent.
    pub fn set_up(&self, agent: &str) {
        let mut command = self.world.command(&["setup", "--yes", "--agent", agent]);
        let ran = World::run(command.current_dir(&self.app), b"");
        assert_eq!(ran.code, 0, "tome setup: {}{}", ran.stdout, ran.stderr);
    }

    /// Enables requests in headless runs.
    pub fn ask_headless_runs(&self) {
        self.write(".config/tome/config.toml", "[inject]\nheadless = \"on\"\n");
    }

    /// Calls a tool from the project, as a person may.
    pub fn tool(&self, name: &str, arguments: &Value) {
        let mut command = self.world.command(&["tool", name, "-"]);
        let ran = World::run(command.current_dir(&self.app), arguments.to_string().as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{name} {arguments}");
    }

    /// The agent's program, run in the project. It finds Tome's home only through setup.
    pub fn agent(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().current_dir(&self.app).env("HOME", self.world.folder("person"));
        command.env("TMPDIR", self.world.folder("tmp")).env("TZ", "UTC").env("TERM", "dumb");
        command.env("XDG_RUNTIME_DIR", self.world.folder("runtime"));
        command.env("TOME_DAEMON_IDLE_EXIT", "2m");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // Hooks have production deadlines unless the caller extends them for a slow machine.
        command.envs(std::env::var_os(PATIENCE).map(|times| (PATIENCE, times)));
        command
    }

    /// Runs the agent to its end, without input.
    pub fn run(&self, command: &mut Command) -> CommandResult {
        let ran = World::run_within(command, b"", AGENT_HANGS);
        println!("{}\n{}\n{}", ran.stdout, ran.stderr, self.model.log());
        assert_eq!(ran.code, 0, "{command:?} failed; what it said stands above");
        ran
    }

    /// Returns all injections, oldest first.
    pub fn injections(&self) -> Vec<Value> {
        self.world.tome(&["injections", "--all-projects", "--json"]).json_lines()
    }
}
