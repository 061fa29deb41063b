//! `tome demo`: the main job on sample sessions, in a home that is thrown away afterwards.
//!
//! Nothing is faked: this program runs itself as the agents' hook, with payloads of the shape that
//! each agent really sends, against a daemon of the demo's own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;
use tome_model::{Clock, SystemClock};

use super::notes::quoted;
use super::{Context, Outcome};
use crate::render::{BOLD, DIM, PLAIN};

/// One sample session: the agent, and its hook payloads, one a line; `{cwd}` stands for the project
/// and `{now}` for the time.
const SESSIONS: [(&str, &str); 3] = [
    ("claude-code", include_str!("demo/claude-code.jsonl")),
    ("codex", include_str!("demo/codex.jsonl")),
    ("gemini", include_str!("demo/gemini.jsonl")),
];

/// What the agent of the first session writes down, and where.
const NOTE: &str = "facts/project.md";
const SESSION: &str = "6f0c5b1e-7c1d-4a52-9d0e-2f6f3a7f9b10";
const LEARNT: &str = r#"{"path": "facts/project.md", "entry": "- Identifiers follow the XID rules, café is one. Check with `cargo test lexer`."}"#;

pub fn run(context: &Context) -> Result<Outcome> {
    let demo = Demo::new()?;
    let mut out = crate::terminal::stdout();
    writeln!(out, "{BOLD}A private home{PLAIN} {DIM}{}{PLAIN}\n", demo.home().display())?;
    demo.record(&mut out)?;
    let show = |title: &str, args: &[&str]| -> Result<()> {
        let mut out = crate::terminal::stdout();
        let typed: Vec<String> = args.iter().map(|word| quoted(word)).collect();
        let typed = format!("tome {}", typed.join(" "));
        writeln!(out, "\n{BOLD}{title}{PLAIN}  {DIM}$ {}{PLAIN}", typed.trim_end())?;
        out.flush()?;
        let args: Vec<&str> =
            if context.json { [args, &["--json"]].concat() } else { args.to_vec() };
        // What a chat says beside its answer belongs to what is shown.
        let beside = crate::platform::stdout_as_file().context("cannot share the output")?;
        let mut command = demo.tome(&args);
        let status = command.stdin(Stdio::null()).stderr(beside).status();
        let status = status.context("cannot run tome")?;
        ensure!(status.success(), "tome {} failed", args.join(" "));
        Ok(())
    };
    show("What was captured", &["events"])?;
    show("One moment, whole", &["show", &demo.id_of("tool_result")?])?;
    show("The contents of it", &["toc"])?;
    show("The words behind a bullet", &["show", &demo.grip()?])?;
    show("What Tome remembers", &[])?;
    remember_and_correct(&demo, &show)?;
    talk(&show)?;
    demo.stop()?;
    writeln!(
        out,
        "\n{DIM}The daemon has left and the home is gone. Yours: `tome`, `tome doctor`, `tome --help`.{PLAIN}"
    )?;
    Ok(Outcome::Done)
}

/// An agent writes down what it learnt; a person corrects it with an editor of their own; both are
/// in the history.
fn remember_and_correct(demo: &Demo, show: &dyn Fn(&str, &[&str]) -> Result<()>) -> Result<()> {
    let as_agent = ["--agent", "claude-code", "--session", SESSION];
    let learnt = ["tool", "memory_append", LEARNT];
    show("An agent remembers", &[&learnt[..], &as_agent].concat())?;
    let located = demo.tome(&["init", "--json"]).output()?;
    let located: serde_json::Value = serde_json::from_slice(&located.stdout)?;
    let folder = located.get("folder").and_then(|folder| folder.as_str());
    let note = Path::new(folder.context("no notebook was made")?).join(NOTE);
    let text = std::fs::read_to_string(&note)
        .with_context(|| format!("cannot read {}", note.display()))?;
    let corrected = text.replace("cargo test lexer", "cargo nextest run lexer");
    ensure!(corrected != text, "the note does not say what was remembered");
    tome_home::write_atomic(&note, corrected.as_bytes())?;
    writeln!(
        crate::terminal::stdout(),
        "\n{BOLD}A person corrects it{PLAIN}  {DIM}by hand, in {NOTE}{PLAIN}"
    )?;
    show("What the agent reads next", &["memory", "read", NOTE])?;
    show("Who wrote what", &["memory", "log"])?;
    show("What was corrected", &["memory", "diff", NOTE])
}

/// A chat learns a fact and ends; the next one knows it. Each is a process and a session of its own.
fn talk(show: &dyn Fn(&str, &[&str]) -> Result<()>) -> Result<()> {
    show("A chat learns something", &["chat", "--offline", "Hello, I am Zhang San."])?;
    show("The next chat knows it", &["chat", "--offline", "What is my name?"])?;
    show("In a file of yours", &["memory", "read", "facts/user.md"])
}

/// The demo's own world.
struct Demo {
    folder: TempDir,
    program: PathBuf,
}

impl Demo {
    fn new() -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("tome-demo")
            .tempdir()
            .context("cannot make a temporary folder")?;
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

    /// This program, in the demo's world.
    fn tome(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.project());
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("TOME_")) {
                command.env_remove(name);
            }
        }
        command
            .env("TOME_HOME", self.home())
            .env("TOME_CONFIG", self.folder.path().join("config.toml"));
        command
    }

    fn record(&self, out: &mut dyn Write) -> Result<()> {
        tome_home::write_atomic(&self.folder.path().join("config.toml"), b"")?;
        for (agent, payloads) in SESSIONS {
            let mut fed = 0;
            for payload in payloads.lines().filter(|line| !line.is_empty()) {
                let payload = payload.replace("{cwd}", &escaped(&self.project()));
                self.hook(agent, &payload.replace("{now}", &SystemClock.now().to_string()))?;
                fed += 1;
            }
            writeln!(out, "{agent:<12} {fed} payloads through {DIM}tome hook {agent}{PLAIN}")?;
        }
        Ok(())
    }

    fn hook(&self, agent: &str, payload: &str) -> Result<()> {
        let mut child = self
            .tome(&["hook", agent])
            .stdin(Stdio::piped())
            // What it says is for the agent.
            .stdout(Stdio::null())
            .spawn()
            .context("cannot run the hook")?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(payload.as_bytes())?;
        }
        ensure!(child.wait()?.success(), "the hook failed");
        Ok(())
    }

    /// The short id of the latest event of a kind.
    fn id_of(&self, kind: &str) -> Result<String> {
        let output = self.tome(&["events", "--kind", kind, "--json", "-n", "1"]).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let event: serde_json::Value =
            serde_json::from_str(text.lines().next().unwrap_or_default())?;
        let id = event.get("id").and_then(|id| id.as_str()).context("no event was captured")?;
        Ok(id.chars().take(8).collect())
    }

    /// A grip of the latest segment that has one.
    fn grip(&self) -> Result<String> {
        let segments = self.tome(&["toc", "today", "--depth", "1", "--json"]).output()?;
        let day: serde_json::Value = serde_json::from_slice(&segments.stdout)?;
        let day = day.get("id").and_then(|id| id.as_str()).context("nothing is in the contents")?;
        let node = self.tome(&["toc", day, "--json"]).output()?;
        let node: serde_json::Value = serde_json::from_slice(&node.stdout)?;
        let bullets = node.get("bullets").and_then(|bullets| bullets.as_array());
        let mut grips = bullets
            .into_iter()
            .flatten()
            .filter_map(|bullet| bullet.get("grips")?.as_array()?.first()?.as_str());
        Ok(grips.next().context("no bullet has a grip")?.to_owned())
    }

    fn stop(&self) -> Result<()> {
        let status = self.tome(&["stop"]).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "the daemon did not leave");
        Ok(())
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // A demo that failed halfway leaves no daemon behind either.
        let _ =
            self.tome(&["stop", "--force"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// A path as it stands between the quotes of a JSON string.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"")
}
