//! `tome hook <agent> [event]`: runs at every step of a coding agent.
//!
//! Hooks never fail and never block: exit code 0, nothing on stderr, only output that the agent accepts,
//! and at most 100 ms of waiting (300 ms at the start of a session). The event goes to the daemon or, if
//! that does not answer in time, to the spool; failing both, it is recorded as lost. Once the event is
//! safe, the hook requests the injection and prints it if it arrives in time.
//!
//! One run of a hook is a delivery with a unique id. The id travels on every path, so that a delivery that
//! takes two paths is stored once. Every delivery ends as stored, spooled or recorded as lost (see
//! `ownership.rs`), unless the hook is killed before it gets there.

pub mod args;
pub mod copilot_hooks;
mod deadlines;
mod delivery;
mod from_transcript;
mod headless;
mod injection_request;
pub mod lost;
mod ownership;
mod payload;

use std::io::{IsTerminal, Write};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

use tome_model::{Clock, DeliveredDraft, DeliveryId, Millis, SystemClock};

use crate::config::Config;
use crate::platform;
use args::HookCommandLine;
use deadlines::{
    BACKGROUND_DEADLINES, Deadlines, FOREGROUND_DEADLINES, START_DEADLINES, WaitClock,
};
use delivery::{WorkerMessage, deliver};
pub use injection_request::settings_to_wire;
use ownership::DeliveryOwnership;
use payload::{HookWork, PartialPayload};

/// Upper limit of `TOME_HOOK_PATIENCE`.
const PATIENCE_MAX: u32 = 100;
/// Larger payloads are handed to another process: parsing and sealing them could exceed the deadline.
const FOREGROUND_BYTES_MAX: usize = 512 * 1024;
/// Time limit for recording a loss, in the home and then again outside it.
const LOSS_RECORD_TIMEOUT: Duration = Duration::from_millis(40);

pub struct HookRun {
    args: HookCommandLine,
    delivery: DeliveryId,
    /// Start of the hook; the event's time if the payload has none.
    started_at: Millis,
    wait_clock: WaitClock,
    deadlines: Deadlines,
    /// The drafts parsed from the payload, once available.
    drafts: OnceLock<Vec<DeliveredDraft>>,
}

/// Runs a hook, or continues one that another process has started.
pub fn run(args: &HookCommandLine, started: Instant) {
    // A panic must neither print to stderr nor fail the agent.
    std::panic::set_hook(Box::new(|_| {}));
    let _ = std::panic::catch_unwind(|| {
        let started_at = args.started_ms.map_or_else(|| SystemClock.now(), Millis);
        let hook = Arc::new(HookRun {
            args: args.clone(),
            delivery: args.delivery.unwrap_or_else(|| new_delivery_id(started_at)),
            started_at,
            wait_clock: WaitClock::since(started),
            deadlines: choose_deadlines(args),
            drafts: OnceLock::new(),
        });
        if args.is_continuation() {
            continue_hook(&hook);
        } else {
            run_for_agent(&hook);
        }
    });
}

fn choose_deadlines(args: &HookCommandLine) -> Deadlines {
    let is_start = args.positional.get(1).is_some_and(|event| deadlines::is_start_event(event));
    // The agent does not wait for a batch.
    if args.is_continuation() || args.is_batch() {
        BACKGROUND_DEADLINES
    } else if is_start {
        START_DEADLINES.scaled(read_patience())
    } else {
        FOREGROUND_DEADLINES.scaled(read_patience())
    }
}

/// The factor for all deadlines, from `TOME_HOOK_PATIENCE`; 1 by default.
fn read_patience() -> u32 {
    let patience = std::env::var("TOME_HOOK_PATIENCE").ok().and_then(|text| text.parse().ok());
    patience.unwrap_or(1).clamp(1, PATIENCE_MAX)
}

/// Generates a unique delivery id.
fn new_delivery_id(started_at: Millis) -> DeliveryId {
    let mut random = [0; 10];
    if getrandom::fill(&mut random).is_err() {
        // Without a random source, process id and time still make the id unique.
        let seed = format!("{} {:?}", std::process::id(), Instant::now());
        blake3::Hasher::new().update(seed.as_bytes()).finalize_xof().fill(&mut random);
    }
    DeliveryId::new(started_at, random)
}

/// Runs while the agent waits.
fn run_for_agent(hook: &Arc<HookRun>) {
    if std::io::stdin().is_terminal() {
        return;
    }
    let payload =
        payload::read_payload(&hook.wait_clock, hook.deadlines.read, FOREGROUND_BYTES_MAX);
    if !payload.is_complete || payload.bytes.len() > FOREGROUND_BYTES_MAX {
        if payload::hand_to_child(hook, payload.clone()).is_ok() {
            return;
        }
        // No process can be started: record the payload here, even if that takes longer.
        let is_settled = payload.is_complete
            && HookWorker::start(hook, HookWork::Payload(payload.bytes))
                .wait_until_settled(hook.deadlines.given_up);
        if !is_settled {
            record_loss(hook);
        }
        return;
    }
    let worker = HookWorker::start(hook, HookWork::Payload(Arc::clone(&payload.bytes)));
    match worker.wait_for_text() {
        Some(text) => print_text(text),
        None => hand_over_unsettled(hook, &worker, payload),
    }
}

fn print_text(text: Option<String>) {
    if let Some(text) = text {
        // If the agent has closed the pipe, the injection is simply dropped.
        let _ = std::io::stdout().write_all(text.as_bytes());
    }
}

/// Hands a delivery that the worker did not settle in time to another process.
fn hand_over_unsettled(hook: &HookRun, worker: &HookWorker, payload: PartialPayload) {
    // A worker that has begun to write cannot be relieved. Should it not finish in time, the delivery is
    // handed on as well; its id makes sure that it is stored once.
    let is_claimed = worker.ownership.try_claim();
    if !is_claimed && worker.wait_until_settled(hook.deadlines.returned) {
        return;
    }
    if payload::hand_to_child(hook, payload).is_ok() {
        return worker.ownership.mark_handed_on();
    }
    worker.ownership.give_back();
    if !worker.wait_until_settled(hook.deadlines.given_up) {
        record_loss(hook);
    }
}

/// Continues a hook in another process, after it has returned to its agent.
fn continue_hook(hook: &Arc<HookRun>) {
    platform::detach_from_session();
    let Some(input) = payload::receive_from_parent(hook) else { return };
    if !HookWorker::start(hook, input).wait_until_settled(hook.deadlines.recorded) {
        record_loss(hook);
    }
}

/// The thread that does the work, so that a hanging disk, mount or lock cannot block the agent.
struct HookWorker {
    hook: Arc<HookRun>,
    ownership: Arc<DeliveryOwnership>,
    messages: mpsc::Receiver<WorkerMessage>,
}

impl HookWorker {
    fn start(hook: &Arc<HookRun>, input: HookWork) -> Self {
        let (sender, messages) = mpsc::channel();
        let ownership = Arc::new(DeliveryOwnership::new());
        let (worker_hook, worker_ownership) = (Arc::clone(hook), Arc::clone(&ownership));
        std::thread::spawn(move || {
            deliver(&worker_hook, &input, &worker_ownership, &|message| {
                // The receiver is gone once the time is up.
                let _ = sender.send(message);
            });
        });
        Self { hook: Arc::clone(hook), ownership, messages }
    }

    /// Waits until the delivery is settled, and then for the text to print; `None` if the delivery was not
    /// settled in time.
    fn wait_for_text(&self) -> Option<Option<String>> {
        let clock = &self.hook.wait_clock;
        let Some(WorkerMessage::Settled { answer_by }) =
            clock.receive(self.hook.deadlines.recorded, &self.messages)
        else {
            return None;
        };
        let answered = answer_by.and_then(|until| clock.receive(until, &self.messages));
        Some(match answered {
            Some(WorkerMessage::Text(answer)) => answer,
            _ => None,
        })
    }

    /// Waits until the delivery is settled, at most until the deadline.
    fn wait_until_settled(&self, until: Duration) -> bool {
        self.hook.wait_clock.receive(until, &self.messages).is_some()
    }
}

/// Records a loss without blocking on a hanging disk.
fn record_loss(hook: &HookRun) {
    let Ok(config) = Config::load(&hook.args.flags, &|name| std::env::var(name).ok()) else {
        return;
    };
    let home = config.to_hook_settings().home;
    let (id, now) = (hook.delivery, SystemClock.now());
    for write in [lost::record_loss, lost::record_loss_outside] {
        let (done, written) = mpsc::channel();
        let home = home.clone();
        std::thread::spawn(move || done.send(write(&home, id, now)));
        let until = hook.wait_clock.waited() + LOSS_RECORD_TIMEOUT;
        if hook.wait_clock.receive(until, &written).is_some_and(|written| written.is_ok()) {
            return;
        }
    }
}
