//! Reads the payload from standard input, and hands it to another process if time runs out.
//!
//! If the payload is large or the agent slow to send it, the hook starts another process of this program,
//! passes it the bytes read so far and the rest of standard input, and returns to its agent. That process
//! has no tight deadline. It reads the bytes from its standard output descriptor:
//!
//! ```text
//! length:u64be ++ bytes read so far
//! ```
//!
//! With `--drafts`, the bytes are the drafts parsed from the payload, as spool lines.

use std::io::{self, Read, Seek, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use tome_engine::{parse_spool_line, render_spool_line};
use tome_model::DeliveredDraft;

use super::HookRun;
use super::deadlines::WaitClock;
use crate::platform;

/// Cap on the payload; agents send far less in one step.
const PAYLOAD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The input of a hook.
pub enum HookWork {
    /// The agent's JSON.
    Payload(Arc<Vec<u8>>),
    /// The drafts that an earlier process parsed from it.
    Drafts(Vec<DeliveredDraft>),
}

/// The bytes read so far.
#[derive(Clone)]
pub struct PartialPayload {
    pub bytes: Arc<Vec<u8>>,
    pub is_complete: bool,
}

/// Reads standard input until it ends, exceeds `bytes_max`, or the time is up. A complete JSON object
/// counts as the end, because some agents leave the pipe open.
pub fn read_payload(clock: &WaitClock, until: Duration, bytes_max: usize) -> PartialPayload {
    let (bytes, is_ended) = read_stdin_until(clock, until, bytes_max);
    let is_whole = is_ended || is_complete_object(&bytes);
    PartialPayload { bytes: Arc::new(bytes), is_complete: is_whole }
}

fn read_stdin_until(clock: &WaitClock, until: Duration, bytes_max: usize) -> (Vec<u8>, bool) {
    let mut length_before = None;
    platform::read_stdin(bytes_max, &mut |bytes| {
        let is_quiet = length_before.replace(bytes.len()) == Some(bytes.len());
        if is_quiet && is_complete_object(bytes) { None } else { clock.next_slice(until) }
    })
}

fn is_complete_object(bytes: &[u8]) -> bool {
    bytes.trim_ascii_end().ends_with(b"}")
        && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// Starts a process that continues this hook, and passes it the payload or the drafts. Returns once the
/// process is sure to receive them.
pub fn hand_to_child(hook: &HookRun, payload: PartialPayload) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    let flags = &hook.args.flags;
    for (name, value) in [("--home", &flags.home), ("--config", &flags.config)] {
        if let Some(value) = value {
            command.arg(name).arg(value);
        }
    }
    for setting in &flags.set {
        command.arg("--set").arg(setting);
    }
    command.arg("hook").args(&hook.args.positional);
    command.arg("--began").arg(hook.started_at.0.to_string());
    command.arg("--delivery").arg(hook.delivery.to_string());
    let bytes = match hook.drafts.get() {
        Some(drafts) => {
            command.arg("--drafts");
            let lines: String = drafts.iter().cloned().map(render_spool_line).collect();
            Arc::new(lines.into_bytes())
        }
        None => payload.bytes,
    };
    command.stdin(if payload.is_complete { Stdio::null() } else { Stdio::inherit() });
    command.stderr(Stdio::null());
    match write_memory_file(&bytes) {
        Ok(file) => command.stdout(file).spawn().map(|_| ()),
        Err(_) => write_through_pipe(hook, command, bytes),
    }
}

/// Puts the bytes into an in-memory file, which the child inherits complete.
fn write_memory_file(bytes: &[u8]) -> io::Result<std::fs::File> {
    let mut file = platform::create_memory_file()?;
    file.write_all(&(bytes.len() as u64).to_be_bytes())?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Fallback without in-memory files: the pipe may be too small, so wait until the child has read.
fn write_through_pipe(hook: &HookRun, mut command: Command, bytes: Arc<Vec<u8>>) -> io::Result<()> {
    let (reader, mut writer) = io::pipe()?;
    platform::enlarge_pipe(&writer);
    command.stdout(reader).spawn()?;
    drop(command);
    let (done, given) = mpsc::channel();
    std::thread::spawn(move || {
        let length = (bytes.len() as u64).to_be_bytes();
        let written = writer.write_all(&length).and_then(|()| writer.write_all(&bytes));
        let _ = done.send(written);
    });
    let given = hook.wait_clock.receive(hook.deadlines.given_up, &given);
    given.ok_or_else(|| io::Error::from(io::ErrorKind::TimedOut))?
}

/// In the continuing process: reads the bytes that the hook had read, and the rest of standard input.
/// `None` if the hook ended before passing everything; it has then recorded the delivery as lost.
pub fn receive_from_parent(hook: &HookRun) -> Option<HookWork> {
    let mut given = platform::stdout_as_file().ok()?;
    let mut length = [0; 8];
    given.read_exact(&mut length).ok()?;
    let length = u64::from_be_bytes(length).min(PAYLOAD_BYTES_MAX as u64);
    let mut bytes = Vec::new();
    given.take(length).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 != length {
        return None;
    }
    if hook.args.has_drafts {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        return Some(HookWork::Drafts(lines.filter_map(parse_spool_line).collect()));
    }
    let rest = PAYLOAD_BYTES_MAX.saturating_sub(bytes.len());
    bytes.extend_from_slice(&read_stdin_until(&hook.wait_clock, hook.deadlines.read, rest).0);
    Some(HookWork::Payload(Arc::new(bytes)))
}
