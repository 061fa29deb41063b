//! `tome demo`: the main job on one screen, in a temporary home.
//!
//! Nothing is simulated: the demo runs this program as the agents' hook, with payloads in their real
//! format, against its own daemon, and shows what the next agent is told and what recall answers.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use tome_model::{Clock, SystemClock};
use tome_terminal::{BOLD, DIM, GREEN, RESET, one_line, print_hanging, terminal_width};

use super::{CommandContext, Outcome, own_program};

/// The hook payloads of a session of Claude Code, one per line. `{cwd}` is replaced by the project folder
/// and `{now}` by the current time.
const SAMPLE_SESSION: &str = include_str!("demo/claude-code.jsonl");
const QUESTION: &str = "why were identifiers split?";
/// How to go on.
const NEXT_STEPS: [(&str, &str); 3] = [
    ("tome import", "the sessions you already had"),
    ("tome setup", "record new ones, and tell your agents"),
    ("tome recall", "ask about them; `tome show` opens a hit by its number"),
];
/// Excerpts are cut to this, so that everything fits one screen.
const EXCERPT_CHARS: usize = 175;
const WIDTH_MAX: usize = 100;
/// Deadlines of the demo's hooks are longer: on a busy machine, too, it shows the same.
const HOOK_PATIENCE: &str = "100";

pub fn run(context: &CommandContext) -> Result<Outcome> {
    let demo = DemoSandbox::new()?;
    demo.start_daemon()?;
    let recorded = demo.record_session()?;
    let injected = demo.start_next_session()?;
    let recalled = demo.recall()?;
    demo.stop_daemon()?;
    if context.json {
        context.print_json(&json!({"recorded": recorded, "told": injected, "recall": recalled}))?;
        return Ok(Outcome::Done);
    }
    let width = terminal_width().min(WIDTH_MAX);
    print_demo(&mut tome_terminal::stdout().lock(), recorded, &injected, &recalled, width)?;
    Ok(Outcome::Done)
}

fn print_demo(
    out: &mut dyn Write,
    recorded: usize,
    injected: &str,
    recalled: &Value,
    width: usize,
) -> Result<()> {
    let quote = |out: &mut dyn Write, text: &str| {
        print_hanging(out, "   ", 3, &one_line(text, EXCERPT_CHARS), width)
    };
    let recorded = format!("Claude Code, {recorded} hooks");
    print_title(out, "1  A session is recorded", &recorded, width)?;
    for text in find_texts() {
        quote(out, &text)?;
    }
    writeln!(out)?;
    print_title(out, "2  The next session starts with it", "Codex reads this first", width)?;
    for line in injected.lines().filter(|line| is_about_session(line)) {
        quote(out, line)?;
    }
    writeln!(out)?;
    let typed = format!("$ tome recall '{QUESTION}'");
    print_title(out, "3  Recall answers, with evidence", &typed, width)?;
    let first =
        recalled.get("hits").and_then(|hits| hits.get(0)).context("recall found nothing")?;
    let text = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let question = format!("{} {}", text(first, "id"), text(first, "text"));
    quote(out, &question)?;
    if let Some(answer) = first.get("answer").filter(|answer| answer.is_object()) {
        let number = answer.get("number").and_then(Value::as_u64).unwrap_or_default();
        quote(out, &format!("→ #{number} {}", text(answer, "text")))?;
    }
    writeln!(out)?;
    for (i, (command, text)) in NEXT_STEPS.iter().enumerate() {
        let mark = match i {
            0 => format!("{GREEN}Next{RESET}  {command:<14}"),
            _ => format!("      {command:<14}"),
        };
        print_hanging(out, &mark, 20, text, width)?;
    }
    let end = "The demo ran in a temporary home, which is deleted now. The key in the prompt was \
               redacted before it was stored.";
    print_hanging(out, "", 0, end, width)?;
    Ok(())
}

/// Prints a title, with a remark beside it or, on a narrow terminal, below.
fn print_title(out: &mut dyn Write, title: &str, remark: &str, width: usize) -> Result<()> {
    if title.len() + 2 + remark.len() <= width {
        writeln!(out, "{BOLD}{title}{RESET}  {DIM}{remark}{RESET}")?;
    } else {
        writeln!(out, "{BOLD}{title}{RESET}\n   {DIM}{remark}{RESET}")?;
    }
    Ok(())
}

/// The request and the conclusion, as the payloads say it; the key is left out.
fn find_texts() -> Vec<String> {
    let payloads = SAMPLE_SESSION.lines().filter_map(|line| serde_json::from_str(line).ok());
    let text =
        |payload: &Value, name: &str| payload.get(name).and_then(Value::as_str).map(str::to_owned);
    payloads
        .filter_map(|payload: Value| {
            let prompt = text(&payload, "prompt").map(|prompt| {
                let shown = prompt.split(" The staging key").next().unwrap_or_default().to_owned();
                format!("you: {shown} …")
            });
            let answer = text(&payload, "last_assistant_message");
            prompt.or_else(|| answer.map(|answer| format!("claude-code: {answer}")))
        })
        .collect()
}

/// The lines of an injection about the session before.
fn is_about_session(line: &str) -> bool {
    line.starts_with("Last request:") || line.starts_with("Agent's final message:")
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
        tome_home::write_atomic(&folder.path().join("config.toml"), b"")?;
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
            .env("TOME_HOOK_PATIENCE", HOOK_PATIENCE)
            .env("TOME_CONFIG", self.folder.path().join("config.toml"));
        command
    }

    /// The first hook would start it, and its event would get its number after the second one.
    fn start_daemon(&self) -> Result<()> {
        let status = self.build_command(&["start"]).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "the daemon did not start");
        Ok(())
    }

    /// Runs the hooks of the sample session. Returns their number.
    fn record_session(&self) -> Result<usize> {
        let mut fed = 0;
        for payload in SAMPLE_SESSION.lines().filter(|line| !line.is_empty()) {
            let payload = payload.replace("{cwd}", &escape_json_path(&self.project()));
            let payload = payload.replace("{now}", &SystemClock.now().to_string());
            self.run_hook("claude-code", &payload)?;
            fed += 1;
        }
        Ok(fed)
    }

    /// Starts a session of another agent. Returns the text that is injected.
    fn start_next_session(&self) -> Result<String> {
        let payload = json!({
            "session_id": "demo-next", "cwd": self.project(), "hook_event_name": "SessionStart",
            "source": "startup",
        });
        let response: Value =
            serde_json::from_slice(&self.run_hook("codex", &payload.to_string())?)
                .context("nothing was injected into the next session")?;
        let text =
            response.pointer("/hookSpecificOutput/additionalContext").and_then(Value::as_str);
        Ok(text.context("nothing was injected into the next session")?.to_owned())
    }

    fn recall(&self) -> Result<Value> {
        let output = self.build_command(&["recall", QUESTION, "--json"]).output()?;
        ensure!(output.status.success(), "tome recall failed");
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    fn run_hook(&self, agent: &str, payload: &str) -> Result<Vec<u8>> {
        let mut child = self
            .build_command(&["hook", agent])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run the hook")?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(payload.as_bytes())?;
        }
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "the hook failed");
        Ok(output.stdout)
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

fn escape_json_path(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"")
}
