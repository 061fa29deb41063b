//! Reading what the agent hands over, and handing it on when there is too much for the time left.
//!
//! A hook that has a large payload before it, or an agent that is slow to hand one over, starts
//! another process of this program, gives it what has been read and the rest of standard input, and
//! returns to its agent. That process is in no hurry. Its standard output is the pipe it reads from:
//!
//! ```text
//! length:u64be ++ what has been read so far
//! ```

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::config::Flags;
use crate::platform;

/// A payload is read up to this size. What an agent hands over in one step is far smaller.
const PAYLOAD_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Set for the process that finishes a hook: when the hook began, in milliseconds since 1970.
pub const LATE_VARIABLE: &str = "TOME_HOOK_BEGAN";

/// What has been read.
pub enum Payload {
    /// All of it.
    Whole(Vec<u8>),
    /// What came until the time was up.
    Begun(Vec<u8>),
}

/// Reads standard input until it ends or the time is up.
pub fn read(until: Instant) -> Payload {
    let (chunks, incoming) = mpsc::channel();
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock().take(PAYLOAD_BYTES_MAX);
        let mut chunk = vec![0; 128 * 1024];
        // The reader is dropped with this process, or told to stop by a closed channel.
        while let Ok(read @ 1..) = stdin.read(&mut chunk) {
            let Some(bytes) = chunk.get(..read) else {
                return;
            };
            if chunks.send(bytes.to_vec()).is_err() {
                return;
            }
        }
    });
    let mut bytes = Vec::new();
    loop {
        match incoming.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(chunk) => bytes.extend_from_slice(&chunk),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Payload::Whole(bytes),
            Err(mpsc::RecvTimeoutError::Timeout) => return Payload::Begun(bytes),
        }
    }
}

/// Starts a process that goes on with this hook and gives it what has been read. Returns once it
/// has taken that, or when the time is up.
pub fn hand_on(
    names: &[String],
    flags: &Flags,
    began_ms: u64,
    payload: Payload,
    within: Duration,
) -> io::Result<()> {
    let (reader, mut writer) = io::pipe()?;
    platform::enlarge_pipe(&writer);
    let (bytes, rest) = match payload {
        Payload::Whole(bytes) => (bytes, Stdio::null()),
        Payload::Begun(bytes) => (bytes, Stdio::inherit()),
    };
    let mut command = Command::new(std::env::current_exe()?);
    for (name, value) in [("--home", &flags.home), ("--config", &flags.config)] {
        if let Some(value) = value {
            command.arg(name).arg(value);
        }
    }
    for setting in &flags.set {
        command.arg("--set").arg(setting);
    }
    command.arg("hook").args(names).env(LATE_VARIABLE, began_ms.to_string());
    command.stdin(rest).stdout(reader).stderr(Stdio::null()).spawn()?;
    drop(command);
    let (done, taken) = mpsc::channel();
    std::thread::spawn(move || {
        let length = (bytes.len() as u64).to_be_bytes();
        let _ = done.send(writer.write_all(&length).and_then(|()| writer.write_all(&bytes)));
    });
    taken.recv_timeout(within).map_err(io::Error::other)?
}

/// In the process that goes on: what the hook had read, and the rest of what the agent hands over.
/// `None` when the hook was gone before it had given everything; it has counted that as lost.
pub fn take_over(until: Instant) -> Option<Vec<u8>> {
    let mut pipe = platform::stdout_as_file().ok()?;
    let mut length = [0; 8];
    pipe.read_exact(&mut length).ok()?;
    let length = u64::from_be_bytes(length).min(PAYLOAD_BYTES_MAX);
    let mut bytes = Vec::new();
    pipe.take(length).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 != length {
        return None;
    }
    match read(until) {
        Payload::Whole(rest) | Payload::Begun(rest) => bytes.extend_from_slice(&rest),
    }
    Some(bytes)
}
