//! Reading what the agent hands over, and handing it on when there is too much for the time left.
//!
//! A hook that has a large payload before it, or an agent that is slow to hand one over, starts
//! another process of this program, gives it what has been read and the rest of standard input, and
//! returns to its agent. That process is in no hurry. Its standard output is where it reads from:
//!
//! ```text
//! length:u64be ++ what has been read so far
//! ```
//!
//! With `--drafts` it gets the drafts that were made of the payload instead, as lines of the spool.

use std::io::{self, Read, Seek, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use tome_engine::{read_spool_line, write_spool_line};

use super::Hook;
use super::record::Input;
use super::waiting::Waited;
use crate::platform;

/// A payload is read up to this size. What an agent hands over in one step is far smaller.
const PAYLOAD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What has been read so far.
#[derive(Clone)]
pub struct Payload {
    pub bytes: Arc<Vec<u8>>,
    /// Whether that is all of it.
    pub is_whole: bool,
}

/// Reads standard input until it ends, gets longer than `bytes_max`, or the time is up. An agent that
/// leaves the pipe open after its last brace has said everything all the same.
pub fn read(waited: &Waited, until: Duration, bytes_max: usize) -> Payload {
    let (bytes, is_ended) = read_stdin(waited, until, bytes_max);
    let is_whole = is_ended || is_object(&bytes);
    Payload { bytes: Arc::new(bytes), is_whole }
}

fn read_stdin(waited: &Waited, until: Duration, bytes_max: usize) -> (Vec<u8>, bool) {
    let mut length_before = None;
    platform::read_stdin(bytes_max, &mut |bytes| {
        let is_quiet = length_before.replace(bytes.len()) == Some(bytes.len());
        if is_quiet && is_object(bytes) { None } else { waited.slice(until) }
    })
}

fn is_object(bytes: &[u8]) -> bool {
    bytes.trim_ascii_end().ends_with(b"}")
        && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// Starts a process that goes on with this hook and gives it what has been read. Returns once it has
/// that for sure.
pub fn hand_on(hook: &Hook, payload: Payload) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    let flags = &hook.called.flags;
    for (name, value) in [("--home", &flags.home), ("--config", &flags.config)] {
        if let Some(value) = value {
            command.arg(name).arg(value);
        }
    }
    for setting in &flags.set {
        command.arg("--set").arg(setting);
    }
    command.arg("hook").args(&hook.called.names);
    command.arg("--began").arg(hook.began.0.to_string());
    command.arg("--delivery").arg(hook.delivery.to_string());
    let bytes = match hook.drafts.get() {
        Some(drafts) => {
            command.arg("--drafts");
            let lines: String = drafts.iter().cloned().map(write_spool_line).collect();
            Arc::new(lines.into_bytes())
        }
        None => payload.bytes,
    };
    command.stdin(if payload.is_whole { Stdio::null() } else { Stdio::inherit() });
    command.stderr(Stdio::null());
    match in_memory(&bytes) {
        Ok(file) => command.stdout(file).spawn().map(|_| ()),
        Err(_) => through_a_pipe(hook, command, bytes),
    }
}

/// What has been read, in a file that is nowhere but in memory: a child that was started has it.
fn in_memory(bytes: &[u8]) -> io::Result<std::fs::File> {
    let mut file = platform::memory_file()?;
    file.write_all(&(bytes.len() as u64).to_be_bytes())?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// The same where there are no such files: the pipe may be too small, so the child has to read first.
fn through_a_pipe(hook: &Hook, mut command: Command, bytes: Arc<Vec<u8>>) -> io::Result<()> {
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
    let given = hook.waited.receive(hook.by.given_up, &given);
    given.ok_or_else(|| io::Error::from(io::ErrorKind::TimedOut))?
}

/// In the process that goes on: what the hook had read, and the rest of what the agent hands over.
/// `None` when the hook was gone before it had given everything; it has recorded that as lost.
pub fn take_over(hook: &Hook) -> Option<Input> {
    let mut given = platform::stdout_as_file().ok()?;
    let mut length = [0; 8];
    given.read_exact(&mut length).ok()?;
    let length = u64::from_be_bytes(length).min(PAYLOAD_BYTES_MAX as u64);
    let mut bytes = Vec::new();
    given.take(length).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 != length {
        return None;
    }
    if hook.called.takes_drafts {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        return Some(Input::Drafts(lines.filter_map(read_spool_line).collect()));
    }
    let rest = PAYLOAD_BYTES_MAX.saturating_sub(bytes.len());
    bytes.extend_from_slice(&read_stdin(&hook.waited, hook.by.read, rest).0);
    Some(Input::Payload(Arc::new(bytes)))
}
