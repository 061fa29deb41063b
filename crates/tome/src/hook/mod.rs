//! `tome hook <agent> [event]`: what a coding agent runs at every step.
//!
//! It must never break, delay or even worry the agent: it always succeeds, writes nothing to
//! stderr, prints only what the agent accepts, and is done within 100 ms, whatever the daemon, the
//! disk or the payload are like. The event goes to the daemon; if that does not answer in time, to
//! the spool; if that cannot be written, it is counted as lost.

pub mod lost;

use std::io::Read;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tome_engine::{Redactor, Sealer, Spool};
use tome_model::{Agent, Clock, Draft, SystemClock};
use tome_proto::ClientError;

use crate::agents::{self, Heard};
use crate::config::{Config, Flags, Settings};
use crate::reach::{Reach, is_older};

/// All told, from the first instruction of `main`. Ten milliseconds of the promised hundred are
/// left for starting and ending the process.
const DEADLINE: Duration = Duration::from_millis(90);
/// Until then the payload has to be there.
const READ_UNTIL: Duration = Duration::from_millis(40);
/// Until then the daemon has to have answered, so that the spool has time to be synced.
const ANSWER_UNTIL: Duration = Duration::from_millis(60);

/// A payload is read up to this size. What an agent hands over in one step is far smaller.
const PAYLOAD_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Above this an event is sealed here, so that the daemon is not sent what it would cut anyway.
const SEND_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How much of the end of a transcript is read for the agent's final words.
const TRANSCRIPT_TAIL_BYTES: u64 = 256 * 1024;

/// Runs the hook. `args` are what follows `tome hook`.
pub fn run(args: &[String], started: Instant) {
    run_with(args, started, &Flags::default());
}

/// Runs the hook with what stood before `hook` on the command line.
pub fn run_with(args: &[String], started: Instant, flags: &Flags) {
    // A panic in here would print to stderr and fail the agent: neither may happen.
    std::panic::set_hook(Box::new(|_| {}));
    let _ = std::panic::catch_unwind(|| {
        let _ = record(args, started, flags);
    });
}

/// Records what the hook was handed. `None` when there is nothing to record.
fn record(args: &[String], started: Instant, flags: &Flags) -> Option<()> {
    let agent = agent(args.first()?)?;
    let payload = read_payload(started)?;
    let config = Config::load(flags, &|name| std::env::var(name).ok()).ok()?;
    let settings = config.settings();
    let cwd = std::env::current_dir()
        .map(|cwd| cwd.to_string_lossy().into_owned())
        .unwrap_or_else(|_| "/".into());
    let drafts = agents::drafts(&Heard {
        agent: &agent,
        event: args.get(1).map(String::as_str),
        payload: &payload,
        now: SystemClock.now(),
        cwd: &cwd,
        read_tail: &read_tail,
    });
    let mut drafts: Vec<Draft> = drafts.into_iter().map(place).collect();
    if payload.len() > SEND_BYTES_MAX {
        drafts = seal(&settings, drafts);
    }
    if drafts.is_empty() {
        return None;
    }
    deliver(&settings, flags, drafts, started);
    Some(())
}

/// The agent that runs the hook. Copilot CLI also runs the hooks of a repository's Claude Code
/// settings; what happens then is its doing.
fn agent(name: &str) -> Option<Agent> {
    let agent = Agent::parse(name).ok()?;
    let is_copilot =
        std::env::var_os("COPILOT_CLI").is_some() && std::env::var_os("CLAUDECODE").is_none();
    if is_copilot && agent.as_str() == "claude-code" {
        Agent::parse("copilot").ok()
    } else {
        Some(agent)
    }
}

/// Notes the project while its folder is sure to exist.
fn place(mut draft: Draft) -> Draft {
    if let Some(found) = tome_engine::locate(Path::new(&draft.cwd)) {
        draft.project = Some(found.root.to_string_lossy().into_owned());
    }
    draft
}

fn seal(settings: &Settings, drafts: Vec<Draft>) -> Vec<Draft> {
    // A pattern of the user's that does not compile is reported by every other command; here the
    // built-in ones still hold.
    let redactor = Redactor::new(&settings.redact).or_else(|_| Redactor::new(&[]));
    let Ok(redactor) = redactor else {
        return Vec::new();
    };
    let sealer = Sealer::new(redactor, settings.text_bytes_max);
    drafts.into_iter().map(|draft| sealer.seal(draft)).collect()
}

fn deliver(settings: &Settings, flags: &Flags, drafts: Vec<Draft>, started: Instant) {
    let reach = Reach::new(settings.clone(), flags.clone());
    match send(
        &reach,
        &drafts,
        ANSWER_UNTIL.saturating_sub(started.elapsed()),
    ) {
        Ok(version) => {
            if is_older(&version, env!("CARGO_PKG_VERSION")) && settings.daemon_autostart {
                reach.replace_behind();
            }
        }
        Err(error) => {
            let spooled = spool(settings, drafts, DEADLINE.saturating_sub(started.elapsed()));
            let away = matches!(error, ClientError::Unreachable(_));
            if spooled && away && settings.daemon_autostart && settings.daemon_endpoint.is_none() {
                reach.start_behind();
            }
        }
    }
}

/// Hands the drafts to the daemon, in order. Returns the daemon's version.
fn send(reach: &Reach, drafts: &[Draft], within: Duration) -> Result<String, ClientError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| ClientError::Unreachable(error.to_string()))?;
    let endpoint = reach.endpoint();
    runtime.block_on(async {
        let exchange = async {
            let client = endpoint.connect().await?;
            let mut version = String::new();
            for draft in drafts {
                version = client.ingest(draft.clone(), within).await?.daemon_version;
            }
            Ok(version)
        };
        tokio::time::timeout(within, exchange)
            .await
            .unwrap_or(Err(ClientError::TimedOut(within.as_millis())))
    })
}

/// Writes the drafts to the spool, or counts them as lost. Done on a thread of its own: a disk that
/// hangs must not hang the agent.
fn spool(settings: &Settings, drafts: Vec<Draft>, within: Duration) -> bool {
    let count = drafts.len() as u64;
    let (done, outcome) = mpsc::channel();
    let theirs = settings.clone();
    std::thread::spawn(move || {
        let written = Spool::of(&theirs.home).append(seal(&theirs, drafts));
        let _ = done.send(written.is_ok());
    });
    let spooled = outcome.recv_timeout(within) == Ok(true);
    if !spooled {
        lost::count(&settings.home, count, SystemClock.now());
    }
    spooled
}

/// Reads stdin. A pipe that is never closed is given up on; what came until then counts.
fn read_payload(started: Instant) -> Option<Vec<u8>> {
    let (chunks, payload) = mpsc::channel();
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock().take(PAYLOAD_BYTES_MAX);
        let mut chunk = vec![0; 256 * 1024];
        loop {
            match stdin.read(&mut chunk) {
                Ok(0) | Err(_) => return,
                Ok(read) => {
                    let Some(read) = chunk.get(..read) else {
                        return;
                    };
                    if chunks.send(read.to_vec()).is_err() {
                        return;
                    }
                }
            }
        }
    });
    let mut bytes = Vec::new();
    while let Ok(chunk) = payload.recv_timeout(READ_UNTIL.saturating_sub(started.elapsed())) {
        bytes.extend_from_slice(&chunk);
    }
    Some(bytes).filter(|bytes| !bytes.trim_ascii().is_empty())
}

fn read_tail(path: &Path) -> Option<String> {
    use std::io::{Seek, SeekFrom};
    let mut file = std::fs::File::open(path).ok()?;
    let length = file
        .metadata()
        .ok()
        .filter(std::fs::Metadata::is_file)?
        .len();
    file.seek(SeekFrom::Start(
        length.saturating_sub(TRANSCRIPT_TAIL_BYTES),
    ))
    .ok()?;
    let mut bytes = Vec::new();
    file.take(TRANSCRIPT_TAIL_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
