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
mod ask;
pub mod lost;
mod owner;
mod payload;
mod presence;
mod record;
mod transcript;
mod waiting;

use std::io::{IsTerminal, Write};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

use tome_model::{Clock, Delivered, DeliveryId, Millis, SystemClock};

use crate::config::Config;
use crate::platform;
use args::Called;
pub use ask::settings_to_wire;
use owner::Ownership;
use payload::Payload;
use record::{Input, Told, record};
use waiting::{Deadlines, LATE, PROMPT, START, Waited};

/// Upper limit of `TOME_HOOK_PATIENCE`.
const PATIENCE_MAX: u32 = 100;
/// Larger payloads are handed to another process: parsing and sealing them could exceed the deadline.
const PROMPT_BYTES_MAX: usize = 512 * 1024;
/// Time limit for recording a loss, in the home and then again outside it.
const LOSS_RECORDED_WITHIN: Duration = Duration::from_millis(40);

/// One run of a hook.
pub struct Hook {
    called: Called,
    delivery: DeliveryId,
    /// Start of the hook; the event's time if the payload has none.
    began: Millis,
    waited: Waited,
    by: Deadlines,
    /// The drafts parsed from the payload, once available.
    drafts: OnceLock<Vec<Delivered>>,
}

/// Runs a hook, or continues one that another process has started.
pub fn run(called: &Called, started: Instant) {
    // A panic must neither print to stderr nor fail the agent.
    std::panic::set_hook(Box::new(|_| {}));
    let _ = std::panic::catch_unwind(|| {
        let began = called.began_ms.map_or_else(|| SystemClock.now(), Millis);
        let hook = Arc::new(Hook {
            called: called.clone(),
            delivery: called.delivery.unwrap_or_else(|| name_delivery(began)),
            began,
            waited: Waited::since(started),
            by: deadlines(called),
            drafts: OnceLock::new(),
        });
        match called.began_ms {
            Some(_) => go_on(&hook),
            None => begin(&hook),
        }
    });
}

fn deadlines(called: &Called) -> Deadlines {
    let starts = called.names.get(1).is_some_and(|event| waiting::is_start(event));
    match called.began_ms {
        Some(_) => LATE,
        // The agent does not wait for a batch.
        None if called.is_batch() => LATE,
        None if starts => START.times(patience()),
        None => PROMPT.times(patience()),
    }
}

/// The factor for all deadlines, from `TOME_HOOK_PATIENCE`; 1 by default.
fn patience() -> u32 {
    let said = std::env::var("TOME_HOOK_PATIENCE").ok().and_then(|text| text.parse().ok());
    said.unwrap_or(1).clamp(1, PATIENCE_MAX)
}

/// Generates a unique delivery id.
fn name_delivery(began: Millis) -> DeliveryId {
    let mut random = [0; 10];
    if getrandom::fill(&mut random).is_err() {
        // Without a random source, process id and time still make the id unique.
        let seed = format!("{} {:?}", std::process::id(), Instant::now());
        blake3::Hasher::new().update(seed.as_bytes()).finalize_xof().fill(&mut random);
    }
    DeliveryId::new(began, random)
}

/// Runs while the agent waits.
fn begin(hook: &Arc<Hook>) {
    if std::io::stdin().is_terminal() {
        return;
    }
    let payload = payload::read(&hook.waited, hook.by.read, PROMPT_BYTES_MAX);
    if !payload.is_whole || payload.bytes.len() > PROMPT_BYTES_MAX {
        if payload::hand_on(hook, payload.clone()).is_ok() {
            return;
        }
        // No process can be started: record the payload here, even if that takes longer.
        let is_settled = payload.is_whole
            && Worker::start(hook, Input::Payload(payload.bytes)).is_settled(hook.by.given_up);
        if !is_settled {
            record_loss(hook);
        }
        return;
    }
    let worker = Worker::start(hook, Input::Payload(Arc::clone(&payload.bytes)));
    match worker.attempt() {
        Some(said) => print(said),
        None => pass_on(hook, &worker, payload),
    }
}

fn print(said: Option<String>) {
    if let Some(said) = said {
        // If the agent has closed the pipe, the injection is simply dropped.
        let _ = std::io::stdout().write_all(said.as_bytes());
    }
}

/// Hands a delivery that the worker did not settle in time to another process.
fn pass_on(hook: &Hook, worker: &Worker, payload: Payload) {
    // A worker that has begun to write cannot be relieved. Should it not finish in time, the delivery is
    // handed on as well; its id makes sure that it is stored once.
    let is_claimed = worker.ownership.claim();
    if !is_claimed && worker.is_settled(hook.by.returned) {
        return;
    }
    if payload::hand_on(hook, payload).is_ok() {
        return worker.ownership.handed_on();
    }
    worker.ownership.give_back();
    if !worker.is_settled(hook.by.given_up) {
        record_loss(hook);
    }
}

/// Continues a hook in another process, after it has returned to its agent.
fn go_on(hook: &Arc<Hook>) {
    platform::leave_session();
    let Some(input) = payload::take_over(hook) else { return };
    if !Worker::start(hook, input).is_settled(hook.by.recorded) {
        record_loss(hook);
    }
}

/// The thread that does the work, so that a hanging disk, mount or lock cannot block the agent.
struct Worker {
    hook: Arc<Hook>,
    ownership: Arc<Ownership>,
    told: mpsc::Receiver<Told>,
}

impl Worker {
    fn start(hook: &Arc<Hook>, input: Input) -> Self {
        let (teller, told) = mpsc::channel();
        let ownership = Arc::new(Ownership::new());
        let (theirs, owned) = (Arc::clone(hook), Arc::clone(&ownership));
        std::thread::spawn(move || {
            record(&theirs, &input, &owned, &|told| {
                // The receiver is gone once the time is up.
                let _ = teller.send(told);
            });
        });
        Self { hook: Arc::clone(hook), ownership, told }
    }

    /// Waits until the delivery is settled, and then for the text to print; `None` if the delivery was not
    /// settled in time.
    fn attempt(&self) -> Option<Option<String>> {
        let waited = &self.hook.waited;
        let Some(Told::Settled { answer_by }) = waited.receive(self.hook.by.recorded, &self.told)
        else {
            return None;
        };
        let answered = answer_by.and_then(|until| waited.receive(until, &self.told));
        Some(match answered {
            Some(Told::Answered(answer)) => answer,
            _ => None,
        })
    }

    /// Waits until the delivery is settled, at most until the deadline.
    fn is_settled(&self, until: Duration) -> bool {
        self.hook.waited.receive(until, &self.told).is_some()
    }
}

/// Records a loss without blocking on a hanging disk.
fn record_loss(hook: &Hook) {
    let Ok(config) = Config::load(&hook.called.flags, &|name| std::env::var(name).ok()) else {
        return;
    };
    let home = config.settings_without_zone().home;
    let (id, now) = (hook.delivery, SystemClock.now());
    for write in [lost::record, lost::record_outside] {
        let (done, written) = mpsc::channel();
        let home = home.clone();
        std::thread::spawn(move || done.send(write(&home, id, now)));
        let until = hook.waited.elapsed() + LOSS_RECORDED_WITHIN;
        if hook.waited.receive(until, &written).is_some_and(|written| written.is_ok()) {
            return;
        }
    }
}
