//! The work of a hook: parses the payload into drafts, sends them to the daemon or writes them to the
//! spool, then requests the injection.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tome_engine::{Sealer, Spool};
use tome_home::{FinalLink, open_regular};
use tome_model::{Agent, Clock, DeliveredDraft, Draft, SystemClock};
use tome_proto::{Client, ClientError, limits};
use tome_redact::Redactor;

use super::injection_request::{self, InjectionRequest};
use super::ownership::DeliveryOwnership;
use super::payload::HookWork;
use super::{HookRun, copilot_hooks, from_transcript, lost};
use crate::agents::{self, HookInput};
use crate::capture_rules::CaptureRules;
use crate::config::{Config, Settings};
use crate::connect::{DaemonConnector, build_connector, is_older_version};

/// Larger payloads are sealed in the hook, so that text beyond the size cap is not sent.
const SEND_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How long the daemon may take to acknowledge, even if the deadline is later. What a hook holds is in memory
/// only; the spool is as safe as the daemon.
const ACKNOWLEDGEMENT_WAIT_MAX: Duration = Duration::from_secs(3);
/// Polling interval for a transcript that the agent writes after its hooks run.
const TRANSCRIPT_POLL_INTERVAL: Duration = Duration::from_millis(25);
/// Bytes read from the end of a transcript to find the last turn.
const TRANSCRIPT_TAIL_BYTES: u64 = 256 * 1024;

/// Messages from the worker to the main thread.
pub enum WorkerMessage {
    /// The delivery is stored, spooled, recorded as lost, or was empty.
    Settled {
        /// Deadline for the injection; `None` if none will follow.
        answer_by: Option<Duration>,
    },
    /// The text for the agent, if any. Sent before the connection is closed, to save time.
    Text(Option<String>),
}

const SETTLED: WorkerMessage = WorkerMessage::Settled { answer_by: None };

type WorkerCallback<'t> = &'t dyn Fn(WorkerMessage);

/// Records the input, and requests the injection.
pub fn deliver(
    hook: &HookRun,
    input: &HookWork,
    ownership: &DeliveryOwnership,
    notify: WorkerCallback<'_>,
) {
    let Ok(config) = Config::load(&hook.args.flags, &|name| std::env::var(name).ok()) else {
        // Without a home there is no place to record even the loss.
        return notify(SETTLED);
    };
    let settings = config.to_hook_settings();
    let mut rules = CaptureRules::read(&settings.home, &settings.ignore);
    if rules.is_paused(hook.started_at) {
        return notify(SETTLED);
    }
    let drafts = match input {
        HookWork::Payload(payload) => {
            let drafts = parse_payload(hook, payload, &settings, &mut rules);
            DeliveredDraft::number_drafts(hook.delivery, drafts)
        }
        HookWork::Drafts(drafts) => drafts.clone(),
    };
    // Another process that takes over reuses these drafts: parsing the payload again could give a
    // different result, because the project or the transcript may have changed.
    let drafts = hook.drafts.get_or_init(|| drafts);
    let Some(last) = drafts.last() else {
        return match input {
            HookWork::Payload(payload) => request_before_tool(hook, payload, &settings, notify),
            HookWork::Drafts(_) => notify(SETTLED),
        };
    };
    let request = InjectionRequest::from_draft(&settings, &hook.args, &last.draft);
    let connector = build_connector(&settings, &hook.args.flags);
    let sending = DeliveryInProgress {
        hook,
        ownership,
        settings: &settings,
        connector: &connector,
        injection: request,
        notify,
    };
    match build_runtime() {
        Some(runtime) => runtime.block_on(sending.send_drafts(drafts)),
        None => match sending.spool_drafts(drafts) {
            SpoolOutcome::TakenOver => {}
            SpoolOutcome::Written | SpoolOutcome::Lost => notify(SETTLED),
        },
    }
}

/// Requests the text for a tool call that is about to happen. There is nothing to record, and a daemon
/// that is not running is not started: the tool call does not wait for it.
fn request_before_tool(
    hook: &HookRun,
    payload: &[u8],
    settings: &Settings,
    notify: WorkerCallback<'_>,
) {
    let request = with_hook_input(hook, payload, |input| {
        let notice = agents::parse_tool_notice(input)?;
        InjectionRequest::from_notice(settings, &hook.args, input.agent, notice)
    });
    let Some((request, runtime)) = request.flatten().zip(build_runtime()) else {
        return notify(SETTLED);
    };
    let until = hook.deadlines.injected;
    notify(WorkerMessage::Settled { answer_by: Some(until) });
    let connector = build_connector(settings, &hook.args.flags);
    let answer = runtime.block_on(async {
        let send = async {
            let client = connector.endpoint().connect().await.ok()?;
            request.send(&client, hook.wait_clock.time_left(until)).await
        };
        hook.wait_clock.wait_for(until, send).await.flatten()
    });
    notify(WorkerMessage::Text(answer));
}

/// Builds the input of a hook and passes it to `use_input`; `None` if its agent is unknown.
fn with_hook_input<T>(
    hook: &HookRun,
    payload: &[u8],
    use_input: impl FnOnce(&HookInput<'_>) -> T,
) -> Option<T> {
    let cwd = std::env::current_dir().unwrap_or_else(|_| "/".into());
    let agent = hook.args.positional.first().and_then(|name| resolve_agent(name, &cwd))?;
    let cwd = cwd.to_string_lossy();
    Some(use_input(&HookInput {
        agent: &agent,
        event: hook.args.positional.get(1).map(String::as_str),
        payload,
        now: hook.started_at,
        cwd: &cwd,
        read_tail: &read_transcript_tail,
        wait: &|| wait_for_transcript(hook),
    }))
}

/// Parses a payload into drafts.
fn parse_payload(
    hook: &HookRun,
    payload: &[u8],
    settings: &Settings,
    rules: &mut CaptureRules,
) -> Vec<Draft> {
    let drafts = with_hook_input(hook, payload, |input| {
        let drafts = if hook.args.from_transcript {
            agents::read_transcript_drafts(input)
        } else {
            agents::parse_drafts(input)
        };
        from_transcript::start_transcript_reader(hook, input);
        drafts
    });
    let drafts = drafts.unwrap_or_default().into_iter();
    let recorded = drafts.filter_map(|draft| rules.apply(draft).ok());
    let drafts: Vec<Draft> = recorded.map(|draft| set_project(hook, draft)).collect();
    if payload.len() > SEND_BYTES_MAX { seal_drafts(settings, drafts) } else { drafts }
}

fn build_runtime() -> Option<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().ok()
}

/// Resolves the agent that runs the hook. Copilot CLI also runs the hooks in a repository's Claude Code
/// settings; those events are attributed to Copilot, or ignored (`None`) if it has its own hooks, which
/// report the same events with slightly different times.
fn resolve_agent(name: &str, cwd: &Path) -> Option<Agent> {
    let agent = Agent::parse(name).ok()?;
    let is_copilot =
        std::env::var_os("COPILOT_CLI").is_some() && std::env::var_os("CLAUDECODE").is_none();
    if !is_copilot || agent.as_str() != "claude-code" {
        return Some(agent);
    }
    let has_own_hooks = copilot_hooks::has_own_hooks(&|name| std::env::var(name).ok(), cwd);
    if has_own_hooks { None } else { Agent::parse("copilot").ok() }
}

/// Sets the draft's project now, while its folder is sure to exist. If the file system does not answer
/// in time, the daemon resolves the project later, so a hanging mount does not lose the event.
fn set_project(hook: &HookRun, mut draft: Draft) -> Draft {
    draft.flatten_deep_json();
    let (sender, receiver) = mpsc::channel();
    let folder = PathBuf::from(&draft.cwd);
    std::thread::spawn(move || {
        // The receiver is gone once the time is up.
        let _ = sender.send(tome_home::locate_project(&folder));
    });
    let project = hook.wait_clock.receive(hook.deadlines.located, &receiver).flatten();
    draft.project = project.map(|project| project.root.to_string_lossy().into_owned());
    draft
}

fn seal_drafts(settings: &Settings, drafts: Vec<Draft>) -> Vec<Draft> {
    let Some(sealer) = build_sealer(settings) else { return Vec::new() };
    drafts.into_iter().map(|draft| sealer.seal(draft)).collect()
}

fn build_sealer(settings: &Settings) -> Option<Sealer> {
    // Invalid user-defined patterns are skipped here; every other command reports them.
    let mut patterns = settings.redact.clone();
    let redactor = Redactor::new(&patterns).or_else(|_| {
        patterns.retain(|pattern| Redactor::new(std::slice::from_ref(pattern)).is_ok());
        Redactor::new(&patterns)
    });
    // The built-in patterns always compile; nothing unsealed may be written.
    let redactor = redactor.or_else(|_| Redactor::new(&[])).ok()?;
    Some(Sealer::new(redactor, settings.text_bytes_max))
}

enum SpoolOutcome {
    Written,
    TakenOver,
    /// The spool cannot be written; the loss is recorded.
    Lost,
}

/// A delivery being sent, with the injection request that follows it.
struct DeliveryInProgress<'d> {
    hook: &'d HookRun,
    ownership: &'d DeliveryOwnership,
    settings: &'d Settings,
    connector: &'d DaemonConnector,
    injection: Option<InjectionRequest>,
    notify: WorkerCallback<'d>,
}

impl DeliveryInProgress<'_> {
    /// Sends the drafts to the daemon, or writes them to the spool; then requests the injection.
    async fn send_drafts(self, drafts: &[DeliveredDraft]) {
        let clock = &self.hook.wait_clock;
        let until = self.hook.deadlines.answered.min(clock.waited() + ACKNOWLEDGEMENT_WAIT_MAX);
        let sent = clock.wait_for(until, send_to_daemon(self.connector, drafts)).await;
        match sent.unwrap_or(Err(ClientError::TimedOut(until.as_millis()))) {
            Ok(sent) => self.on_acknowledged(sent).await,
            Err(error) => self.on_unacknowledged(&error, drafts).await,
        }
    }

    fn injection_deadline(&self, request: &InjectionRequest) -> Duration {
        if request.is_start() {
            self.hook.deadlines.injected_at_start
        } else {
            self.hook.deadlines.injected
        }
    }

    /// The daemon acknowledged the event.
    async fn on_acknowledged(mut self, sent: Acknowledgement) {
        let may_replace = self.settings.daemon_autostart;
        if is_older_version(&sent.version, env!("CARGO_PKG_VERSION")) && may_replace {
            self.connector.replace_in_background();
        }
        // A duplicate has already had its injection.
        let request = self.injection.take().filter(|_| sent.is_new);
        let answer_by = request.as_ref().map(|request| self.injection_deadline(request));
        (self.notify)(WorkerMessage::Settled { answer_by });
        let (Some(request), Some(until)) = (request, answer_by) else { return };
        let within = self.hook.wait_clock.time_left(until);
        let answer = request.with_event_id(&sent.id).send(&sent.client, within).await;
        (self.notify)(WorkerMessage::Text(answer));
    }

    /// The daemon did not acknowledge the event, or its reply was lost.
    async fn on_unacknowledged(mut self, error: &ClientError, drafts: &[DeliveredDraft]) {
        let is_safe = match self.spool_drafts(drafts) {
            SpoolOutcome::TakenOver => return,
            SpoolOutcome::Written => true,
            SpoolOutcome::Lost => false,
        };
        let settings = self.settings;
        let is_unreachable = matches!(error, ClientError::Unreachable(_));
        let may_start = settings.daemon_autostart && settings.daemon_endpoint.is_none();
        if is_safe && is_unreachable && may_start {
            self.connector.start_in_background();
        }
        // Only a session start waits for a daemon that is still starting.
        let may_wait_for_daemon = is_safe && may_start;
        let request = self
            .injection
            .take()
            .filter(InjectionRequest::is_start)
            .filter(|_| may_wait_for_daemon);
        let answer_by = request.as_ref().map(|request| self.injection_deadline(request));
        (self.notify)(WorkerMessage::Settled { answer_by });
        let (Some(request), Some(until)) = (request, answer_by) else { return };
        let until = Instant::now() + self.hook.wait_clock.time_left(until);
        let answer = injection_request::send_when_started(self.connector, request, until).await;
        (self.notify)(WorkerMessage::Text(answer));
    }

    /// Writes the drafts to the spool or records the loss, unless another process has taken over.
    fn spool_drafts(&self, drafts: &[DeliveredDraft]) -> SpoolOutcome {
        let settings = self.settings;
        // Nothing unsealed may be written.
        let appended = match build_sealer(settings) {
            Some(sealer) => {
                let seal = |one: &DeliveredDraft| DeliveredDraft {
                    draft: sealer.seal(one.draft.clone()),
                    delivery: one.delivery,
                };
                let sealed: Vec<DeliveredDraft> = drafts.iter().map(seal).collect();
                Spool::new(&settings.home).append_if(sealed, || self.ownership.begin_writing())
            }
            None => Err(std::io::ErrorKind::InvalidInput.into()),
        };
        match appended {
            Ok(true) => SpoolOutcome::Written,
            Ok(false) => SpoolOutcome::TakenOver,
            Err(_) if !self.ownership.begin_writing() => SpoolOutcome::TakenOver,
            Err(_) => {
                // If this fails too, there is nowhere left to report it.
                let _ = lost::record_loss(&settings.home, self.hook.delivery, SystemClock.now());
                SpoolOutcome::Lost
            }
        }
    }
}

/// The daemon's response to the last draft.
struct Acknowledgement {
    client: Client,
    id: String,
    is_new: bool,
    version: String,
}

/// Sends the drafts to the daemon, in order.
async fn send_to_daemon(
    connector: &DaemonConnector,
    drafts: &[DeliveredDraft],
) -> Result<Acknowledgement, ClientError> {
    let client = connector.endpoint().connect().await?;
    let mut last = tome_proto::v1::IngestEventResponse::default();
    for draft in drafts {
        last = client.ingest(draft.clone(), limits::LONG_CALL_TIMEOUT).await?;
    }
    Ok(Acknowledgement { client, id: last.id, is_new: last.created, version: last.daemon_version })
}

/// Waits for the agent to write its transcript, if there is time left before the read deadline. Returns
/// whether it waited.
#[expect(
    clippy::disallowed_methods,
    reason = "agents do not signal when they have written their log"
)]
fn wait_for_transcript(hook: &HookRun) -> bool {
    let has_time_left = hook.wait_clock.waited() + TRANSCRIPT_POLL_INTERVAL < hook.deadlines.read;
    if has_time_left {
        std::thread::sleep(TRANSCRIPT_POLL_INTERVAL);
    }
    has_time_left
}

fn read_transcript_tail(path: &Path) -> Option<String> {
    let mut file = open_regular(path, FinalLink::Follow).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TRANSCRIPT_TAIL_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(TRANSCRIPT_TAIL_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
