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
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::config::Flags;
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

/// Reads standard input until it ends, gets longer than `bytes_max`, or the time is up.
pub fn read(until: Instant, bytes_max: usize) -> Payload {
    let (bytes, is_whole) = platform::read_stdin(until, bytes_max);
    Payload { bytes: Arc::new(bytes), is_whole }
}

/// Starts a process that goes on with this hook and gives it what has been read. Returns once it
/// has that, or when the time is up.
pub fn hand_on(
    names: &[String],
    flags: &Flags,
    began_ms: u64,
    payload: Payload,
    within: Duration,
) -> io::Result<()> {
    let (reader, mut writer) = io::pipe()?;
    platform::enlarge_pipe(&writer);
    let mut command = Command::new(std::env::current_exe()?);
    for (name, value) in [("--home", &flags.home), ("--config", &flags.config)] {
        if let Some(value) = value {
            command.arg(name).arg(value);
        }
    }
    for setting in &flags.set {
        command.arg("--set").arg(setting);
    }
    command.arg("hook").args(names).arg("--began").arg(began_ms.to_string());
    command.stdin(if payload.is_whole { Stdio::null() } else { Stdio::inherit() });
    command.stdout(reader).stderr(Stdio::null()).spawn()?;
    drop(command);
    let (done, taken) = mpsc::channel();
    std::thread::spawn(move || {
        let length = (payload.bytes.len() as u64).to_be_bytes();
        let given = writer.write_all(&length).and_then(|()| writer.write_all(&payload.bytes));
        let _ = done.send(given);
    });
    taken.recv_timeout(within).map_err(io::Error::other)?
}

/// In the process that goes on: what the hook had read, and the rest of what the agent hands over.
/// `None` when the hook was gone before it had given everything; it has counted that as lost.
pub fn take_over(until: Instant) -> Option<Vec<u8>> {
    let mut pipe = platform::stdout_as_file().ok()?;
    let mut length = [0; 8];
    pipe.read_exact(&mut length).ok()?;
    let length = u64::from_be_bytes(length).min(PAYLOAD_BYTES_MAX as u64);
    let mut bytes = Vec::new();
    pipe.take(length).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 != length {
        return None;
    }
    let rest = PAYLOAD_BYTES_MAX.saturating_sub(bytes.len());
    bytes.extend_from_slice(&platform::read_stdin(until, rest).0);
    Some(bytes)
}
