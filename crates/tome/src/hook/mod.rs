//! `tome hook <agent> [event]`: what a coding agent runs at every step.
//!
//! It must never break, delay or even worry the agent: it always succeeds, writes nothing to
//! stderr, prints only what the agent accepts, and is done within 100 ms (300 ms at the start of a
//! session), whatever the daemon, the disk or the payload are like. The event goes to the daemon; if
//! that does not answer in time, to the spool; if that cannot be written, it is counted as lost. Once
//! the event is safe, the daemon is asked for what is to be said to the agent; if that is not there in
//! time, nothing is said.

pub mod args;
mod ask;
pub mod lost;
mod payload;

use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use tome_engine::{Redactor, Sealer, Spool};
use tome_model::{Agent, Clock, Draft, Millis, SystemClock};
use tome_proto::{Client, ClientError};

use crate::agents::{self, Heard};
use crate::config::{Config, Settings};
use crate::platform;
use crate::reach::{Reach, is_older};
use args::Called;
use ask::Question;
pub use ask::settings_to_wire;

/// By when each step has to be done, from the first instruction of `main`.
#[derive(Clone, Copy)]
struct Deadlines {
    /// The payload is there.
    read: Duration,
    /// The daemon has answered.
    answered: Duration,
    /// The daemon has it, or the spool is synced.
    recorded: Duration,
    /// What is to be said to the agent is there.
    said: Duration,
    /// The same at the start of a session, which may take longer.
    said_at_start: Duration,
    /// The hook returns to its agent, whatever became of the event.
    returned: Duration,
}

impl Deadlines {
    /// With so many times the patience: some machines are slow, and somebody may say so.
    fn times(self, patience: u32) -> Self {
        Self {
            read: self.read * patience,
            answered: self.answered * patience,
            recorded: self.recorded * patience,
            said: self.said * patience,
            said_at_start: self.said_at_start * patience,
            returned: self.returned * patience,
        }
    }
}

/// What is left of the promised hundred milliseconds is for starting and ending the process, and
/// for handing on what could not be done by then.
const PROMPT: Deadlines = Deadlines {
    read: Duration::from_millis(35),
    answered: Duration::from_millis(55),
    recorded: Duration::from_millis(80),
    said: Duration::from_millis(85),
    said_at_start: Duration::from_millis(270),
    returned: Duration::from_millis(92),
};

/// The most patience that can be asked for.
const PATIENCE_MAX: u32 = 100;

/// For the process that goes on with a hook whose agent is no longer waiting.
const LATE: Deadlines = Deadlines {
    read: Duration::from_secs(10),
    answered: Duration::from_secs(20),
    recorded: Duration::from_secs(60),
    said: Duration::from_secs(60),
    said_at_start: Duration::from_secs(60),
    returned: Duration::from_secs(60),
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

/// What the thread that does the work tells the one that waits for it.
enum Told {
    /// What became of the event, and until when the daemon may take to hear of it and answer.
    Recorded(Fate, Option<Duration>),
    /// What is to be printed.
    Said(String),
}

/// Tells it.
type Tell<'t> = &'t dyn Fn(Told);

/// A larger payload is handed on: parsing and sealing it could take longer than there is time.
const PROMPT_BYTES_MAX: usize = 512 * 1024;
/// A larger payload is sealed here, so that the daemon is not sent what it would cut anyway.
const SEND_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How often a transcript is looked at that is written behind its hooks.
const A_MOMENT: Duration = Duration::from_millis(3);
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
    let by = if called.is_batch() { LATE } else { PROMPT.times(patience()) };
    let mut payload = payload::read(started + by.read, PROMPT_BYTES_MAX);
    // An agent that leaves the pipe open has said everything all the same.
    payload.is_whole = payload.is_whole || is_json(&payload.bytes);
    let is_prompt = payload.is_whole && payload.bytes.len() <= PROMPT_BYTES_MAX;
    if is_prompt {
        let (fate, said) = record_within(called, &payload.bytes, now, started, by);
        if let Some(said) = said {
            // An agent that does not listen has missed nothing that it needs.
            let _ = std::io::stdout().write_all(said.as_bytes());
        }
        if fate != Fate::Open {
            return;
        }
    }
    let within = by.returned.saturating_sub(started.elapsed());
    if payload::hand_on(&called.names, &called.flags, now.0, payload, within).is_err() {
        count_lost(called, now);
    }
}

/// How patient hooks are, from `TOME_HOOK_PATIENCE`: 1 unless somebody says more.
fn patience() -> u32 {
    let said = std::env::var("TOME_HOOK_PATIENCE").ok().and_then(|text| text.parse().ok());
    said.unwrap_or(1).clamp(1, PATIENCE_MAX)
}

/// What is done when the agent is no longer waiting.
fn go_on(called: &Called, began: Millis, started: Instant) {
    platform::leave_session();
    let Some(bytes) = payload::take_over(started + LATE.read) else { return };
    if record_within(called, &Arc::new(bytes), began, started, LATE).0 == Fate::Open {
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
/// must not hang the agent. Returns what became of it, and what is to be said to the agent.
fn record_within(
    called: &Called,
    payload: &Arc<Vec<u8>>,
    now: Millis,
    started: Instant,
    by: Deadlines,
) -> (Fate, Option<String>) {
    let (teller, told) = mpsc::channel();
    let (called, payload) = (called.clone(), Arc::clone(payload));
    std::thread::spawn(move || {
        record(&called, &payload, now, started, &by, &|told| {
            // Nobody listens once the time is up.
            let _ = teller.send(told);
        });
    });
    let within = |until: Duration| until.saturating_sub(started.elapsed());
    // The thread may still succeed; whoever goes on stores the same event, which is stored once. A
    // thread that panicked has stored nothing, and whoever goes on would fare no better.
    let Ok(Told::Recorded(fate, until)) = told.recv_timeout(within(by.recorded)) else {
        return (Fate::Open, None);
    };
    let said = until.and_then(|until| told.recv_timeout(within(until)).ok());
    match said {
        Some(Told::Said(text)) => (fate, Some(text)),
        _ => (fate, None),
    }
}

/// Records what the hook was handed, and asks what is to be said.
fn record(
    called: &Called,
    payload: &[u8],
    now: Millis,
    started: Instant,
    by: &Deadlines,
    tell: Tell<'_>,
) {
    let cwd = std::env::current_dir().unwrap_or_else(|_| "/".into());
    let Some(agent) = called.names.first().and_then(|name| agent(name, &cwd)) else {
        return tell(Told::Recorded(Fate::Safe, None));
    };
    let Ok(config) = Config::load(&called.flags, &|name| std::env::var(name).ok()) else {
        return tell(Told::Recorded(Fate::Lost, None));
    };
    let settings = config.settings();
    let cwd = cwd.to_string_lossy();
    let drafts = agents::drafts(&Heard {
        agent: &agent,
        event: called.names.get(1).map(String::as_str),
        payload,
        now,
        cwd: &cwd,
        read_tail: &read_tail,
        wait: &|| wait_a_moment(started + by.read),
    });
    let mut drafts: Vec<Draft> = drafts.into_iter().map(place).collect();
    if payload.len() > SEND_BYTES_MAX {
        drafts = seal(&settings, drafts);
    }
    let question = drafts.last().and_then(|draft| Question::of(&settings, called, draft));
    match (drafts.is_empty(), runtime()) {
        (true, _) => tell(Told::Recorded(Fate::Safe, None)),
        (false, None) => tell(Told::Recorded(spool(&settings, drafts), None)),
        (false, Some(runtime)) => {
            let reach = Reach::new(settings, called.flags.clone());
            let delivery = Delivery { reach: &reach, question, started, by, tell };
            runtime.block_on(delivery.make(drafts));
        }
    }
}

fn runtime() -> Option<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().ok()
}

/// The agent that runs the hook. Copilot CLI also runs the hooks of a repository's Claude Code
/// settings; what happens then is its doing, and nothing is to be done where it has hooks of its own:
/// they say the same at other milliseconds.
fn agent(name: &str, cwd: &Path) -> Option<Agent> {
    let agent = Agent::parse(name).ok()?;
    let is_copilot =
        std::env::var_os("COPILOT_CLI").is_some() && std::env::var_os("CLAUDECODE").is_none();
    if !is_copilot || agent.as_str() != "claude-code" {
        return Some(agent);
    }
    let is_heard = agents::copilot_has_own_hooks(&|name| std::env::var(name).ok(), cwd);
    if is_heard { None } else { Agent::parse("copilot").ok() }
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

/// An event on its way, and the question that comes after it.
struct Delivery<'d> {
    reach: &'d Reach,
    question: Option<Question>,
    started: Instant,
    by: &'d Deadlines,
    tell: Tell<'d>,
}

impl Delivery<'_> {
    /// Hands the drafts to the daemon, or else to the spool; then asks what is to be said.
    async fn make(self, drafts: Vec<Draft>) {
        match send(self.reach, &drafts, self.by.answered.saturating_sub(self.started.elapsed()))
            .await
        {
            Ok(sent) => self.taken(sent).await,
            Err(error) => self.not_taken(&error, drafts).await,
        }
    }

    /// By when the daemon has to answer a question.
    fn until(&self, question: &Question) -> Duration {
        if question.is_start() { self.by.said_at_start } else { self.by.said }
    }

    /// The daemon has the event.
    async fn taken(mut self, sent: Sent) {
        let may_replace = self.reach.settings().daemon_autostart;
        if is_older(&sent.version, env!("CARGO_PKG_VERSION")) && may_replace {
            self.reach.replace_behind();
        }
        // What was seen before has been answered before.
        let question = self.question.take().filter(|_| sent.is_new);
        let until = question.as_ref().map(|question| self.until(question));
        (self.tell)(Told::Recorded(Fate::Safe, until));
        let (Some(question), Some(until)) = (question, until) else { return };
        let within = until.saturating_sub(self.started.elapsed());
        if let Some(said) = question.about(&sent.id).ask(&sent.client, within).await {
            (self.tell)(Told::Said(said));
        }
    }

    /// The daemon has it not, or nobody knows.
    async fn not_taken(mut self, error: &ClientError, drafts: Vec<Draft>) {
        let settings = self.reach.settings();
        let fate = spool(settings, drafts);
        let away = matches!(error, ClientError::Unreachable(_));
        let may_start = settings.daemon_autostart && settings.daemon_endpoint.is_none();
        if fate == Fate::Safe && away && may_start {
            self.reach.start_behind();
        }
        // A session's start is worth waiting for a daemon that is just starting.
        let is_worth_it = fate == Fate::Safe && may_start;
        let question = self.question.take().filter(Question::is_start).filter(|_| is_worth_it);
        let until = question.as_ref().map(|question| self.until(question));
        (self.tell)(Told::Recorded(fate, until));
        let (Some(question), Some(until)) = (question, until) else { return };
        if let Some(said) = ask::once_it_is_there(self.reach, question, self.started + until).await
        {
            (self.tell)(Told::Said(said));
        }
    }
}

/// What the daemon said of the last of some drafts.
struct Sent {
    client: Client,
    id: String,
    is_new: bool,
    version: String,
}

/// Hands the drafts to the daemon, in order.
async fn send(reach: &Reach, drafts: &[Draft], within: Duration) -> Result<Sent, ClientError> {
    let exchange = async {
        let client = reach.endpoint().connect().await?;
        let mut last = tome_proto::v1::IngestEventResponse::default();
        for draft in drafts {
            last = client.ingest(draft.clone(), within).await?;
        }
        Ok(Sent { client, id: last.id, is_new: last.created, version: last.daemon_version })
    };
    tokio::time::timeout(within, exchange)
        .await
        .unwrap_or(Err(ClientError::TimedOut(within.as_millis())))
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

/// Waits a moment for what an agent is still writing down, if that leaves time for the rest.
#[expect(clippy::disallowed_methods, reason = "an agent tells nobody when it has written its log")]
fn wait_a_moment(until: Instant) -> bool {
    let is_time = Instant::now() + A_MOMENT < until;
    if is_time {
        std::thread::sleep(A_MOMENT);
    }
    is_time
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
