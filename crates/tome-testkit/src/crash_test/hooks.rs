//! Runs hooks of all five agents, with and without event ids, some of them suspended or killed, and
//! checks that every delivery is stored or recorded as lost exactly once.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tome_model::Event;

use crate::{SeededRng, Signal, World, pause, send_signal};

const AGENTS: [&str; 5] = ["claude-code", "codex", "gemini", "copilot", "opencode"];

/// A time for payloads that have one: long after the events of other writers.
const STAMP_MS: u64 = 1_794_700_000_000;

/// The fate of a hook in the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookFault {
    None,
    /// Suspended after the first duration, for the second.
    Suspended(Duration, Duration),
    /// Killed after this duration: its event may be missing but not duplicated.
    Killed(Duration),
}

pub(super) struct HookOutcome {
    pub(super) took: Duration,
    pub(super) was_killed: bool,
    pub(super) was_suspended: bool,
    /// A violation of the rules of hooks.
    pub(super) problem: Option<String>,
}

/// Runs the n-th hook of a writer, possibly suspended or killed.
pub(super) fn run_hook(
    world: &World,
    chance: &mut SeededRng,
    session: &str,
    mark: &str,
    n: u64,
) -> HookOutcome {
    let millis =
        |chance: &mut SeededRng, least, end| Duration::from_millis(chance.in_range(least, end));
    let blow = match chance.in_range(0, 24) {
        0 => HookFault::Killed(millis(chance, 0, 40)),
        1..=8 => HookFault::Suspended(millis(chance, 0, 40), millis(chance, 20, 250)),
        _ => HookFault::None,
    };
    let (args, payload) = build_payload(world, session, mark, n);
    let mut command = world.command(&args);
    let began = Instant::now();
    let ended = spawn_hook(&mut command, &payload).and_then(|child| {
        let pid = child.id();
        match blow {
            HookFault::None => {}
            HookFault::Suspended(after, during) => {
                pause(after);
                send_signal(pid, Signal::Stop);
                pause(during);
                send_signal(pid, Signal::Continue);
            }
            HookFault::Killed(after) => {
                pause(after);
                send_signal(pid, Signal::Kill);
            }
        }
        child.wait_with_output()
    });
    let was_killed = matches!(blow, HookFault::Killed(_));
    let problem = match &ended {
        Ok(output) if was_killed || (output.status.success() && output.stderr.is_empty()) => None,
        Ok(output) => Some(format!("a hook ended with {}: {:?}", output.status, output.stderr)),
        Err(error) => Some(format!("a hook could not be run: {error}")),
    };
    let was_suspended = matches!(blow, HookFault::Suspended(..));
    HookOutcome { took: began.elapsed(), was_killed, was_suspended, problem }
}

/// Starts a hook with its payload already in the pipe.
fn spawn_hook(command: &mut Command, payload: &str) -> std::io::Result<Child> {
    let (stdin, mut pen) = std::io::pipe()?;
    pen.write_all(payload.as_bytes())?;
    let child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    command.stdin(Stdio::null());
    child
}

/// Builds the payload: alternately a tool call, which has an id or a time, and a prompt, which has
/// only its words.
fn build_payload<'a>(world: &World, session: &str, mark: &str, n: u64) -> (Vec<&'a str>, String) {
    let agent = usize::try_from(n).ok().and_then(|n| AGENTS.get(n % AGENTS.len())).copied();
    let agent = agent.unwrap_or("claude-code");
    let is_tool = (n / AGENTS.len() as u64).is_multiple_of(2);
    let cwd = world.folder("project0");
    let input = json!({"mark": mark});
    let words = format!("please look at {mark}");
    let stamp = STAMP_MS + n;
    let (event, payload) = match (agent, is_tool) {
        ("gemini", true) => (
            None,
            json!({"session_id": session, "cwd": cwd, "hook_event_name": "AfterTool", "timestamp": stamp,
                   "tool_name": "read_file", "tool_input": input, "tool_response": {"llmContent": "x"}}),
        ),
        ("gemini", false) => (
            None,
            json!({"session_id": session, "cwd": cwd, "hook_event_name": "BeforeAgent", "prompt": words}),
        ),
        ("copilot", true) => (
            Some("postToolUse"),
            json!({"sessionId": session, "cwd": cwd, "timestamp": stamp, "toolName": "bash",
                   "toolArgs": input, "toolResult": {"resultType": "success", "textResultForLlm": "x"}}),
        ),
        ("copilot", false) => (
            Some("userPromptSubmitted"),
            json!({"sessionId": session, "cwd": cwd, "prompt": words}),
        ),
        ("opencode", true) => (
            Some("tool.execute.after"),
            json!({"input": {"tool": "bash", "sessionID": session, "callID": mark, "args": input},
                   "output": {"title": "x", "output": "x"}, "directory": cwd}),
        ),
        ("opencode", false) => (
            Some("chat.message"),
            json!({"input": {"sessionID": session}, "directory": cwd,
                   "output": {"message": {"role": "user"}, "parts": [{"type": "text", "text": words}]}}),
        ),
        (_, true) => (
            None,
            json!({"session_id": session, "cwd": cwd, "hook_event_name": "PostToolUse", "tool_name": "Bash",
                   "tool_use_id": format!("toolu_{mark}"), "tool_input": input, "tool_response": "x"}),
        ),
        (_, false) => (
            None,
            json!({"session_id": session, "cwd": cwd, "hook_event_name": "UserPromptSubmit", "prompt": words}),
        ),
    };
    (["hook", agent].into_iter().chain(event).collect(), payload.to_string())
}

/// The mark of an event that a hook delivered.
pub(super) fn event_mark(event: &Event) -> Option<&str> {
    let in_tool = event.tool.as_ref().and_then(|tool| tool.input.get("mark"));
    let in_text = || event.text.strip_prefix("please look at ");
    in_tool.and_then(Value::as_str).or_else(in_text)
}

#[derive(Debug, Default)]
pub(super) struct HookDeliveries {
    /// Marks of hooks that ended normally.
    delivered: HashSet<String>,
    /// Marks of hooks that were killed.
    killed: HashSet<String>,
    pub(super) suspended: u64,
    pub(super) slowest: Duration,
    pub(super) problems: Vec<String>,
}

/// The result of comparing deliveries with stored events.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DeliveryBalance {
    pub(super) delivered: u64,
    pub(super) killed: u64,
    pub(super) stored: u64,
    pub(super) missing: u64,
    pub(super) killed_missing: u64,
    pub(super) duplicates: u64,
    /// Events that no hook delivered.
    pub(super) foreign: u64,
}

impl DeliveryBalance {
    /// Whether exactly the missing deliveries were recorded as lost. A killed hook may have
    /// recorded its loss before.
    pub(super) fn is_settled(&self, lost: u64) -> bool {
        (self.missing..=self.missing + self.killed_missing).contains(&lost)
    }
}

impl HookDeliveries {
    pub(super) fn add(&mut self, mark: String, ended: HookOutcome) {
        self.suspended += u64::from(ended.was_suspended);
        self.slowest = self.slowest.max(ended.took);
        self.problems.extend(ended.problem);
        if ended.was_killed {
            self.killed.insert(mark);
        } else {
            self.delivered.insert(mark);
        }
    }

    /// Compares the deliveries with all stored events of hooks.
    pub(super) fn compare_with(&self, listed: &[Event]) -> DeliveryBalance {
        let mut seen: HashMap<&str, u64> = HashMap::new();
        let mut balance = DeliveryBalance {
            delivered: self.delivered.len() as u64,
            killed: self.killed.len() as u64,
            ..DeliveryBalance::default()
        };
        for event in listed {
            let mark = event_mark(event);
            match mark.filter(|mark| self.delivered.contains(*mark) || self.killed.contains(*mark))
            {
                Some(mark) => *seen.entry(mark).or_default() += 1,
                None => balance.foreign += 1,
            }
        }
        balance.stored = seen.len() as u64;
        balance.duplicates = seen.values().map(|times| times - 1).sum();
        let missing = |marks: &HashSet<String>| {
            marks.iter().filter(|mark| !seen.contains_key(mark.as_str())).count() as u64
        };
        balance.missing = missing(&self.delivered);
        balance.killed_missing = missing(&self.killed);
        balance
    }
}
