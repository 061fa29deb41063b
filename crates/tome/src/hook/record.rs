//! The work of a hook: parses the payload into drafts, sends them to the daemon or writes them to the
//! spool, then requests the injection.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tome_engine::{Sealer, Spool};
use tome_home::{FinalLink, open_regular};
use tome_model::{Agent, Clock, Delivered, Draft, SystemClock};
use tome_proto::{Client, ClientError, limits};
use tome_redact::Redactor;

use super::ask::{self, Question};
use super::owner::Ownership;
use super::{Hook, lost, transcript};
use crate::agents::{self, Heard};
use crate::config::{Config, Settings};
use crate::reach::{Reach, is_older};

/// Larger payloads are sealed in the hook, so that text beyond the size cap is not sent.
const SEND_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Polling interval for a transcript that the agent writes after its hooks run.
const A_MOMENT: Duration = Duration::from_millis(25);
/// Bytes read from the end of a transcript to find the last turn.
const TRANSCRIPT_TAIL_BYTES: u64 = 256 * 1024;

/// The input of a hook.
pub enum Input {
    /// The agent's JSON.
    Payload(Arc<Vec<u8>>),
    /// The drafts that an earlier process parsed from it.
    Drafts(Vec<Delivered>),
}

/// Messages from the worker to the main thread.
pub enum Told {
    /// The delivery is stored, spooled, recorded as lost, or was empty.
    Settled {
        /// Deadline for the injection; `None` if none will follow.
        answer_by: Option<Duration>,
    },
    /// The text for the agent, if any. Sent before the connection is closed, to save time.
    Answered(Option<String>),
}

const SETTLED: Told = Told::Settled { answer_by: None };

type Tell<'t> = &'t dyn Fn(Told);

/// Records the input, and requests the injection.
pub fn record(hook: &Hook, input: &Input, ownership: &Ownership, tell: Tell<'_>) {
    let Ok(config) = Config::load(&hook.called.flags, &|name| std::env::var(name).ok()) else {
        // Without a home there is no place to record even the loss.
        return tell(SETTLED);
    };
    let settings = config.settings_without_zone();
    let drafts = match input {
        Input::Payload(payload) => {
            Delivered::number(hook.delivery, parse_payload(hook, payload, &settings))
        }
        Input::Drafts(drafts) => drafts.clone(),
    };
    // Another process that takes over reuses these drafts: parsing the payload again could give a
    // different result, because the project or the transcript may have changed.
    let drafts = hook.drafts.get_or_init(|| drafts);
    let Some(last) = drafts.last() else { return tell(SETTLED) };
    let question = Question::of(&settings, &hook.called, &last.draft);
    let reach = Reach::new(settings, hook.called.flags.clone());
    let sending = Sending { hook, ownership, reach: &reach, question, tell };
    match runtime() {
        Some(runtime) => runtime.block_on(sending.send(drafts)),
        None => match sending.spool(drafts) {
            Spooled::ByAnother => {}
            Spooled::Written | Spooled::Lost => tell(SETTLED),
        },
    }
}

/// Parses a payload into drafts.
fn parse_payload(hook: &Hook, payload: &[u8], settings: &Settings) -> Vec<Draft> {
    let cwd = std::env::current_dir().unwrap_or_else(|_| "/".into());
    let Some(agent) = hook.called.names.first().and_then(|name| agent(name, &cwd)) else {
        return Vec::new();
    };
    let cwd = cwd.to_string_lossy();
    let heard = Heard {
        agent: &agent,
        event: hook.called.names.get(1).map(String::as_str),
        payload,
        now: hook.began,
        cwd: &cwd,
        read_tail: &read_tail,
        wait: &|| wait_a_moment(hook),
    };
    let drafts = match hook.called.from_transcript {
        true => agents::drafts_from_transcript(&heard),
        false => agents::drafts(&heard),
    };
    transcript::follow(hook, &heard);
    let drafts = drafts.into_iter().map(place).collect();
    if payload.len() > SEND_BYTES_MAX { seal(settings, drafts) } else { drafts }
}

fn runtime() -> Option<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().ok()
}

/// Resolves the agent that runs the hook. Copilot CLI also runs the hooks in a repository's Claude Code
/// settings; those events are attributed to Copilot, or ignored (`None`) if it has its own hooks, which
/// report the same events with slightly different times.
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

/// Time limit for finding the project of a folder. On timeout the daemon resolves it later, so a hanging
/// file system does not lose the event.
const LOCATE_TIMEOUT: Duration = Duration::from_millis(25);

/// Sets the draft's project now, while its folder is sure to exist.
fn place(mut draft: Draft) -> Draft {
    draft.flatten_deep();
    if let Some(found) = tome_home::locate_within(Path::new(&draft.cwd), LOCATE_TIMEOUT) {
        draft.project = Some(found.root.to_string_lossy().into_owned());
    }
    draft
}

fn seal(settings: &Settings, drafts: Vec<Draft>) -> Vec<Draft> {
    let Some(sealer) = sealer(settings) else { return Vec::new() };
    drafts.into_iter().map(|draft| sealer.seal(draft)).collect()
}

fn sealer(settings: &Settings) -> Option<Sealer> {
    // Invalid user-defined patterns are skipped here; every other command reports them.
    let mut own = settings.redact.clone();
    let redactor = Redactor::new(&own).or_else(|_| {
        own.retain(|own| Redactor::new(std::slice::from_ref(own)).is_ok());
        Redactor::new(&own)
    });
    // The built-in patterns always compile; nothing unsealed may be written.
    let redactor = redactor.or_else(|_| Redactor::new(&[])).ok()?;
    Some(Sealer::new(redactor, settings.text_bytes_max))
}

enum Spooled {
    Written,
    ByAnother,
    /// The spool cannot be written; the loss is recorded.
    Lost,
}

/// A delivery being sent, with the injection request that follows it.
struct Sending<'d> {
    hook: &'d Hook,
    ownership: &'d Ownership,
    reach: &'d Reach,
    question: Option<Question>,
    tell: Tell<'d>,
}

impl Sending<'_> {
    /// Sends the drafts to the daemon, or writes them to the spool; then requests the injection.
    async fn send(self, drafts: &[Delivered]) {
        let sent = self.hook.waited.within(self.hook.by.answered, send(self.reach, drafts)).await;
        match sent.unwrap_or(Err(ClientError::TimedOut(self.hook.by.answered.as_millis()))) {
            Ok(sent) => self.taken(sent).await,
            Err(error) => self.not_taken(&error, drafts).await,
        }
    }

    /// Deadline for the injection.
    fn answer_by(&self, question: &Question) -> Duration {
        if question.is_start() { self.hook.by.said_at_start } else { self.hook.by.said }
    }

    /// The daemon acknowledged the event.
    async fn taken(mut self, sent: Sent) {
        let may_replace = self.reach.settings().daemon_autostart;
        if is_older(&sent.version, env!("CARGO_PKG_VERSION")) && may_replace {
            self.reach.replace_behind();
        }
        // A duplicate has already had its injection.
        let question = self.question.take().filter(|_| sent.is_new);
        let answer_by = question.as_ref().map(|question| self.answer_by(question));
        (self.tell)(Told::Settled { answer_by });
        let (Some(question), Some(until)) = (question, answer_by) else { return };
        let within = self.hook.waited.left(until);
        let answer = question.about(&sent.id).ask(&sent.client, within).await;
        (self.tell)(Told::Answered(answer));
    }

    /// The daemon did not acknowledge the event, or its reply was lost.
    async fn not_taken(mut self, error: &ClientError, drafts: &[Delivered]) {
        let is_safe = match self.spool(drafts) {
            Spooled::ByAnother => return,
            Spooled::Written => true,
            Spooled::Lost => false,
        };
        let settings = self.reach.settings();
        let away = matches!(error, ClientError::Unreachable(_));
        let may_start = settings.daemon_autostart && settings.daemon_endpoint.is_none();
        if is_safe && away && may_start {
            self.reach.start_behind();
        }
        // Only a session start waits for a daemon that is still starting.
        let is_worth_it = is_safe && may_start;
        let question = self.question.take().filter(Question::is_start).filter(|_| is_worth_it);
        let answer_by = question.as_ref().map(|question| self.answer_by(question));
        (self.tell)(Told::Settled { answer_by });
        let (Some(question), Some(until)) = (question, answer_by) else { return };
        let until = Instant::now() + self.hook.waited.left(until);
        let answer = ask::once_it_is_there(self.reach, question, until).await;
        (self.tell)(Told::Answered(answer));
    }

    /// Writes the drafts to the spool or records the loss, unless another process has taken over.
    fn spool(&self, drafts: &[Delivered]) -> Spooled {
        let settings = self.reach.settings();
        // Nothing unsealed may be written.
        let appended = match sealer(settings) {
            Some(sealer) => {
                let seal = |one: &Delivered| Delivered {
                    draft: sealer.seal(one.draft.clone()),
                    delivery: one.delivery,
                };
                let sealed: Vec<Delivered> = drafts.iter().map(seal).collect();
                Spool::of(&settings.home).append_if(sealed, || self.ownership.begin_writing())
            }
            None => Err(std::io::ErrorKind::InvalidInput.into()),
        };
        match appended {
            Ok(true) => Spooled::Written,
            Ok(false) => Spooled::ByAnother,
            Err(_) if !self.ownership.begin_writing() => Spooled::ByAnother,
            Err(_) => {
                // If this fails too, there is nowhere left to report it.
                let _ = lost::record(&settings.home, self.hook.delivery, SystemClock.now());
                Spooled::Lost
            }
        }
    }
}

/// The daemon's response to the last draft.
struct Sent {
    client: Client,
    id: String,
    is_new: bool,
    version: String,
}

/// Sends the drafts to the daemon, in order.
async fn send(reach: &Reach, drafts: &[Delivered]) -> Result<Sent, ClientError> {
    let client = reach.endpoint().connect().await?;
    let mut last = tome_proto::v1::IngestEventResponse::default();
    for draft in drafts {
        last = client.ingest(draft.clone(), limits::LONG_CALL_TIMEOUT).await?;
    }
    Ok(Sent { client, id: last.id, is_new: last.created, version: last.daemon_version })
}

/// Waits for the agent to write its transcript, if there is time left before the read deadline. Returns
/// whether it waited.
#[expect(
    clippy::disallowed_methods,
    reason = "agents do not signal when they have written their log"
)]
fn wait_a_moment(hook: &Hook) -> bool {
    let is_time = hook.waited.elapsed() + A_MOMENT < hook.by.read;
    if is_time {
        std::thread::sleep(A_MOMENT);
    }
    is_time
}

fn read_tail(path: &Path) -> Option<String> {
    let mut file = open_regular(path, FinalLink::Follow).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TRANSCRIPT_TAIL_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(TRANSCRIPT_TAIL_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
