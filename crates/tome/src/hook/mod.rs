//! `tome hook <agent> [event]`: what a coding agent runs at every step.
//!
//! It must never break, delay or even worry the agent: it always succeeds, writes nothing to
//! stderr, prints only what the agent accepts, and is done within 100 ms, whatever the daemon, the
//! disk or the payload are like. The event goes to the daemon; if that does not answer in time, to
//! the spool; if that cannot be written, it is counted as lost.

pub mod args;
pub mod lost;
mod payload;

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use tome_engine::{Redactor, Sealer, Spool};
use tome_model::{Agent, Clock, Draft, Millis, SystemClock};
use tome_proto::ClientError;

use crate::agents::{self, Heard};
use crate::config::{Config, Flags, Settings};
use crate::platform;
use crate::reach::{Reach, is_older};
use args::Called;

/// By when each step has to be done, from the first instruction of `main`.
struct Deadlines {
    /// The payload is there.
    read: Duration,
    /// The daemon has answered.
    answered: Duration,
    /// The daemon has it, or the spool is synced.
    recorded: Duration,
}

/// What is left of the promised hundred milliseconds is for starting and ending the process, and
/// for handing on what could not be done by then.
const PROMPT: Deadlines = Deadlines {
    read: Duration::from_millis(35),
    answered: Duration::from_millis(55),
    recorded: Duration::from_millis(80),
};

/// By then a hook returns to its agent, whatever became of the event.
const RETURN: Duration = Duration::from_millis(92);

/// For the process that goes on with a hook whose agent is no longer waiting.
const LATE: Deadlines = Deadlines {
    read: Duration::from_secs(10),
    answered: Duration::from_secs(20),
    recorded: Duration::from_secs(60),
};

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The daemon has it, or it waits in the spool, or there was nothing to record.
    Safe,
    /// Time ran out before anybody had it for sure.
    Open,
    /// Neither daemon nor spool would take it; that has been counted.
    Lost,
}

/// A larger payload is handed on: parsing and sealing it could take longer than there is time.
const PROMPT_BYTES_MAX: usize = 512 * 1024;
/// A larger payload is sealed here, so that the daemon is not sent what it would cut anyway.
const SEND_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How much of the end of a transcript is read for the agent's final words.
const TRANSCRIPT_TAIL_BYTES: u64 = 256 * 1024;

/// Runs the hook.
pub fn run(called: &Called, started: Instant) {
    // A panic in here would print to stderr and fail the agent: neither may happen.
    std::panic::set_hook(Box::new(|_| {}));
    let _ = std::panic::catch_unwind(|| match called.began_ms {
        Some(ms) => go_on(called, Millis(ms), started),
        None => begin(called, started),
    });
}

/// What a hook does while its agent waits.
fn begin(called: &Called, started: Instant) {
    let now = SystemClock.now();
    if std::io::stdin().is_terminal() {
        return;
    }
    let mut payload = payload::read(started + PROMPT.read, PROMPT_BYTES_MAX);
    // An agent that leaves the pipe open has said everything all the same.
    payload.is_whole = payload.is_whole || is_json(&payload.bytes);
    let is_prompt = payload.is_whole && payload.bytes.len() <= PROMPT_BYTES_MAX;
    if is_prompt && record_within(called, &payload.bytes, now, started, &PROMPT) != Fate::Open {
        return;
    }
    let within = RETURN.saturating_sub(started.elapsed());
    if payload::hand_on(&called.names, &called.flags, now.0, payload, within).is_err() {
        count_lost(called, now);
    }
}

/// What is done when the agent is no longer waiting.
fn go_on(called: &Called, began: Millis, started: Instant) {
    platform::leave_session();
    let Some(bytes) = payload::take_over(started + LATE.read) else { return };
    if record_within(called, &Arc::new(bytes), began, started, &LATE) == Fate::Open {
        count_lost(called, began);
    }
}

/// Counts a lost event, without waiting for a disk that does not answer.
fn count_lost(called: &Called, now: Millis) {
    let flags = called.flags.clone();
    let (done, counted) = mpsc::channel();
    std::thread::spawn(move || {
        if let Ok(config) = Config::load(&flags, &|name| std::env::var(name).ok()) {
            lost::count(&config.settings().home, 1, now);
        }
        let _ = done.send(());
    });
    let _ = counted.recv_timeout(Duration::from_millis(5));
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// Records what the hook was handed, on a thread of its own: a disk, a mount or a lock that hangs
/// must not hang the agent.
fn record_within(
    called: &Called,
    payload: &Arc<Vec<u8>>,
    now: Millis,
    started: Instant,
    by: &'static Deadlines,
) -> Fate {
    let (done, fate) = mpsc::channel();
    let (called, payload) = (called.clone(), Arc::clone(payload));
    std::thread::spawn(move || {
        let _ = done.send(record(&called, &payload, now, started, by));
    });
    // The thread may still succeed; whoever goes on stores the same event, which is stored once. A
    // thread that panicked has stored nothing, and whoever goes on would fare no better.
    match fate.recv_timeout(by.recorded.saturating_sub(started.elapsed())) {
        Ok(fate) => fate,
        Err(_) => Fate::Open,
    }
}

/// Records what the hook was handed.
fn record(called: &Called, payload: &[u8], now: Millis, started: Instant, by: &Deadlines) -> Fate {
    let Some(agent) = called.names.first().and_then(|name| agent(name)) else {
        return Fate::Safe;
    };
    let Ok(config) = Config::load(&called.flags, &|name| std::env::var(name).ok()) else {
        return Fate::Lost;
    };
    let settings = config.settings();
    let cwd = std::env::current_dir()
        .map_or_else(|_| "/".into(), |cwd| cwd.to_string_lossy().into_owned());
    let drafts = agents::drafts(&Heard {
        agent: &agent,
        event: called.names.get(1).map(String::as_str),
        payload,
        now,
        cwd: &cwd,
        read_tail: &read_tail,
    });
    let mut drafts: Vec<Draft> = drafts.into_iter().map(place).collect();
    if payload.len() > SEND_BYTES_MAX {
        drafts = seal(&settings, drafts);
    }
    if drafts.is_empty() {
        Fate::Safe
    } else {
        deliver(&settings, &called.flags, drafts, started, by)
    }
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
    draft.flatten_deep();
    if let Some(found) = tome_engine::locate(Path::new(&draft.cwd)) {
        draft.project = Some(found.root.to_string_lossy().into_owned());
    }
    draft
}

fn seal(settings: &Settings, drafts: Vec<Draft>) -> Vec<Draft> {
    // A pattern of the user's that does not compile is reported by every other command; here the
    // others still hold.
    let mut own = settings.redact.clone();
    let redactor = Redactor::new(&own).or_else(|_| {
        own.retain(|own| Redactor::new(std::slice::from_ref(own)).is_ok());
        Redactor::new(&own)
    });
    // Without any pattern of the user's it always compiles; nothing unsealed may be written.
    let Ok(redactor) = redactor.or_else(|_| Redactor::new(&[])) else { return Vec::new() };
    let sealer = Sealer::new(redactor, settings.text_bytes_max);
    drafts.into_iter().map(|draft| sealer.seal(draft)).collect()
}

/// Hands the drafts to the daemon, or else to the spool.
fn deliver(
    settings: &Settings,
    flags: &Flags,
    drafts: Vec<Draft>,
    started: Instant,
    by: &Deadlines,
) -> Fate {
    let reach = Reach::new(settings.clone(), flags.clone());
    match send(&reach, &drafts, by.answered.saturating_sub(started.elapsed())) {
        Ok(version) => {
            if is_older(&version, env!("CARGO_PKG_VERSION")) && settings.daemon_autostart {
                reach.replace_behind();
            }
            Fate::Safe
        }
        Err(error) => {
            let fate = spool(settings, drafts);
            let away = matches!(error, ClientError::Unreachable(_));
            if fate == Fate::Safe
                && away
                && settings.daemon_autostart
                && settings.daemon_endpoint.is_none()
            {
                reach.start_behind();
            }
            fate
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

/// Writes the drafts to the spool, or counts them as lost.
fn spool(settings: &Settings, drafts: Vec<Draft>) -> Fate {
    let count = drafts.len() as u64;
    if Spool::of(&settings.home).append(seal(settings, drafts)).is_ok() {
        return Fate::Safe;
    }
    lost::count(&settings.home, count, SystemClock.now());
    Fate::Lost
}

fn read_tail(path: &Path) -> Option<String> {
    use std::io::{Seek, SeekFrom};
    // Opening anything but a file, such as a named pipe, could wait for ever.
    let length = path.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    let mut file = std::fs::File::open(path).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(TRANSCRIPT_TAIL_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(TRANSCRIPT_TAIL_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
