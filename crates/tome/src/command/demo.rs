//! `tome demo`: capture, contents, notes and chat on sample sessions, in a temporary home.
//!
//! Nothing is simulated: the demo runs this program as the agents' hook, with payloads in each agent's
//! real format, against its own daemon.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;
use tome_model::{Clock, SystemClock};
use tome_terminal::{BOLD, DIM, RESET};

use super::notebook_client::quote_shell;
use super::{CommandContext, Outcome, own_program};

/// Sample sessions: the agent, and its hook payloads, one per line. `{cwd}` is replaced by the project
/// folder and `{now}` by the current time.
const SAMPLE_SESSIONS: [(&str, &str); 3] = [
    ("claude-code", include_str!("demo/claude-code.jsonl")),
    ("codex", include_str!("demo/codex.jsonl")),
    ("gemini", include_str!("demo/gemini.jsonl")),
];

/// The note that the agent of the first session writes.
const NOTE_PATH: &str = "facts/project.md";
const SESSION_ID: &str = "6f0c5b1e-7c1d-4a52-9d0e-2f6f3a7f9b10";
const NOTE_ARGUMENTS: &str = r#"{"path": "facts/project.md", "entry": "- Identifiers follow the XID rules, café is one. Check with `cargo test lexer`."}"#;

pub fn run(context: &CommandContext) -> Result<Outcome> {
    let demo = DemoSandbox::new()?;
    let mut out = tome_terminal::stdout();
    writeln!(out, "{BOLD}Temporary home{RESET} {DIM}{}{RESET}\n", demo.home().display())?;
    demo.record_sessions(&mut out)?;
    let show = |title: &str, args: &[&str]| -> Result<()> {
        let mut out = tome_terminal::stdout();
        let typed: Vec<String> = args.iter().map(|word| quote_shell(word)).collect();
        let typed = format!("tome {}", typed.join(" "));
        writeln!(out, "\n{BOLD}{title}{RESET}  {DIM}$ {}{RESET}", typed.trim_end())?;
        out.flush()?;
        let args: Vec<&str> =
            if context.json { [args, &["--json"]].concat() } else { args.to_vec() };
        // A chat prints progress on standard error, which is part of the demo.
        let beside =
            crate::platform::stdout_as_file().context("cannot duplicate standard output")?;
        let mut command = demo.build_command(&args);
        let status = command.stdin(Stdio::null()).stderr(beside).status();
        let status = status.context("cannot run tome")?;
        ensure!(status.success(), "tome {} failed", args.join(" "));
        Ok(())
    };
    show("Captured events", &["events"])?;
    show("One event in full", &["show", &demo.find_event_id("tool_result")?])?;
    show("Table of contents", &["toc"])?;
    show("The source of a bullet", &["show", &demo.find_grip()?])?;
    show("Overview", &[])?;
    show_notes(&demo, &show)?;
    show_chat(&show)?;
    demo.stop_daemon()?;
    writeln!(
        out,
        "\n{DIM}Daemon stopped, temporary home deleted. Next: `tome setup`, `tome doctor`, `tome --help`.{RESET}"
    )?;
    Ok(Outcome::Done)
}

/// An agent writes a note, a person corrects the file by hand, and the history shows both.
fn show_notes(demo: &DemoSandbox, show: &dyn Fn(&str, &[&str]) -> Result<()>) -> Result<()> {
    let as_agent = ["--agent", "claude-code", "--session", SESSION_ID];
    let learnt = ["tool", "memory_append", NOTE_ARGUMENTS];
    show("An agent writes a note", &[&learnt[..], &as_agent].concat())?;
    let located = demo.build_command(&["init", "--json"]).output()?;
    let located: serde_json::Value = serde_json::from_slice(&located.stdout)?;
    let folder = located.get("folder").and_then(|folder| folder.as_str());
    let note = Path::new(folder.context("no notebook was created")?).join(NOTE_PATH);
    let text = std::fs::read_to_string(&note)
        .with_context(|| format!("cannot read {}", note.display()))?;
    let corrected = text.replace("cargo test lexer", "cargo nextest run lexer");
    ensure!(corrected != text, "the note does not say what was remembered");
    tome_home::write_atomic(&note, corrected.as_bytes())?;
    writeln!(
        tome_terminal::stdout(),
        "\n{BOLD}You correct it{RESET}  {DIM}by hand, in {NOTE_PATH}{RESET}"
    )?;
    show("What the agent reads next", &["memory", "read", NOTE_PATH])?;
    show("History of the notes", &["memory", "log"])?;
    show("The correction", &["memory", "diff", NOTE_PATH])
}

/// One chat learns a fact; the next one recalls it. Each is a separate process and session.
fn show_chat(show: &dyn Fn(&str, &[&str]) -> Result<()>) -> Result<()> {
    show("A chat learns something", &["chat", "--offline", "Hello, I am Zhang San."])?;
    show("The next chat knows it", &["chat", "--offline", "What is my name?"])?;
    show("Stored as a plain file", &["memory", "read", "facts/user.md"])
}

/// A temporary home and project.
struct DemoSandbox {
    folder: TempDir,
    program: PathBuf,
}

impl DemoSandbox {
    fn new() -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("tome-demo")
            .tempdir()
            .context("cannot create a temporary folder")?;
        std::fs::create_dir_all(folder.path().join("lexer/.git"))?;
        tome_home::write_atomic(&folder.path().join("lexer/.git/HEAD"), b"ref: refs/heads/main\n")?;
        Ok(Self { folder, program: std::env::current_exe().context("cannot find this program")? })
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("lexer")
    }

    /// Builds a command that runs this program in the demo's home.
    fn build_command(&self, args: &[&str]) -> Command {
        let mut command = own_program::build_command(&self.program);
        command
            .args(args)
            .current_dir(self.project())
            .env("TOME_HOME", self.home())
            .env("TOME_CONFIG", self.folder.path().join("config.toml"));
        command
    }

    fn record_sessions(&self, out: &mut dyn Write) -> Result<()> {
        tome_home::write_atomic(&self.folder.path().join("config.toml"), b"")?;
        for (agent, payloads) in SAMPLE_SESSIONS {
            let mut fed = 0;
            for payload in payloads.lines().filter(|line| !line.is_empty()) {
                let payload = payload.replace("{cwd}", &escape_json_path(&self.project()));
                self.run_hook(agent, &payload.replace("{now}", &SystemClock.now().to_string()))?;
                fed += 1;
            }
            writeln!(out, "{agent:<12} {fed} payloads through {DIM}tome hook {agent}{RESET}")?;
        }
        Ok(())
    }

    fn run_hook(&self, agent: &str, payload: &str) -> Result<()> {
        let mut child = self
            .build_command(&["hook", agent])
            .stdin(Stdio::piped())
            // The hook's output is meant for the agent.
            .stdout(Stdio::null())
            .spawn()
            .context("cannot run the hook")?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(payload.as_bytes())?;
        }
        ensure!(child.wait()?.success(), "the hook failed");
        Ok(())
    }

    /// Returns the short id of the latest event of a kind.
    fn find_event_id(&self, kind: &str) -> Result<String> {
        let output =
            self.build_command(&["events", "--kind", kind, "--json", "-n", "1"]).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let event: serde_json::Value =
            serde_json::from_str(text.lines().next().unwrap_or_default())?;
        let id = event.get("id").and_then(|id| id.as_str()).context("no event was captured")?;
        Ok(id.chars().take(8).collect())
    }

    /// Returns the first source in today's node.
    fn find_grip(&self) -> Result<String> {
        let segments = self.build_command(&["toc", "today", "--depth", "1", "--json"]).output()?;
        let day: serde_json::Value = serde_json::from_slice(&segments.stdout)?;
        let day = day.get("id").and_then(|id| id.as_str()).context("the contents are empty")?;
        let node = self.build_command(&["toc", day, "--json"]).output()?;
        let node: serde_json::Value = serde_json::from_slice(&node.stdout)?;
        let bullets = node.get("bullets").and_then(|bullets| bullets.as_array());
        let mut grips = bullets
            .into_iter()
            .flatten()
            .filter_map(|bullet| bullet.get("grips")?.as_array()?.first()?.as_str());
        Ok(grips.next().context("no bullet has a source")?.to_owned())
    }

    fn stop_daemon(&self) -> Result<()> {
        let status = self.build_command(&["stop"]).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "the daemon did not stop");
        Ok(())
    }
}

impl Drop for DemoSandbox {
    fn drop(&mut self) {
        // Also stops the daemon of a demo that failed halfway.
        let _ = self
            .build_command(&["stop", "--force"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

/// Escapes a path for a JSON string.
fn escape_json_path(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"")
}
