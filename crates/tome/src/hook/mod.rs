//! `tome hook <agent> [event]`: what a coding agent runs at every step.
//!
//! It must never break, delay or even worry the agent: it always succeeds, writes nothing to
//! stderr, prints only what the agent accepts, and waits no longer than 100 ms for others (300 ms at
//! the start of a session), whatever the daemon, the disk or the payload are like. The event goes to the
//! daemon; if that does not answer in time, to the spool; if that cannot be written, it is recorded as
//! lost. Once the event is safe, the daemon is asked for what is to be said to the agent; if that is not
//! there in time, nothing is said.
//!
//! What a hook hands over is a delivery, named when it starts. The name travels on every path, so that
//! a delivery that takes two of them is stored once. Every delivery ends in exactly one of three ways:
//! stored, spooled, or recorded as lost; `owner.rs` says who sees to that. A hook that is killed before
//! it has done any of them is the one exception: nobody is left to record it.

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

/// The most patience that can be asked for.
const PATIENCE_MAX: u32 = 100;
/// A larger payload is handed on: parsing and sealing it could take longer than there is time.
const PROMPT_BYTES_MAX: usize = 512 * 1024;
/// How long recording a loss may take: first in the home, then outside it.
const LOSS_RECORDED_WITHIN: Duration = Duration::from_millis(40);

/// One run of a hook.
pub struct Hook {
    called: Called,
    /// What it hands over goes by this name.
    delivery: DeliveryId,
    /// When it began: when what it reports happened, if the payload does not say.
    began: Millis,
    waited: Waited,
    by: Deadlines,
    /// What its payload stands for, once that is known.
    drafts: OnceLock<Vec<Delivered>>,
}

/// Runs the hook.
pub fn run(called: &Called, started: Instant) {
    // A panic in here would print to stderr and fail the agent: neither may happen.
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
        // Nobody waits for a batch.
        None if called.is_batch() => LATE,
        None if starts => START.times(patience()),
        None => PROMPT.times(patience()),
    }
}

/// How patient hooks are, from `TOME_HOOK_PATIENCE`: 1 unless somebody says more.
fn patience() -> u32 {
    let said = std::env::var("TOME_HOOK_PATIENCE").ok().and_then(|text| text.parse().ok());
    said.unwrap_or(1).clamp(1, PATIENCE_MAX)
}

/// A name that no other delivery has.
fn name_delivery(began: Millis) -> DeliveryId {
    let mut random = [0; 10];
    if getrandom::fill(&mut random).is_err() {
        // A system without randomness still tells processes and moments apart.
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
        // No process can be started: what is there is recorded here, however long that takes.
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
        // An agent that does not listen has missed nothing that it needs.
        let _ = std::io::stdout().write_all(said.as_bytes());
    }
}

/// Finds somebody to settle a delivery that the worker could not settle in time.
fn pass_on(hook: &Hook, worker: &Worker, payload: Payload) {
    // A worker that is writing needs only the disk; both may write, and the name makes it one event.
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

/// Runs when the agent is no longer waiting.
fn go_on(hook: &Arc<Hook>) {
    platform::leave_session();
    let Some(input) = payload::take_over(hook) else { return };
    if !Worker::start(hook, input).is_settled(hook.by.recorded) {
        record_loss(hook);
    }
}

/// The thread that does the work: a disk, a mount or a lock that hangs must not hang the agent.
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
                // Nobody listens once the time is up.
                let _ = teller.send(told);
            });
        });
        Self { hook: Arc::clone(hook), ownership, told }
    }

    /// Waits until the delivery is settled, and then for what is to be said to the agent; `None` when
    /// the delivery is not settled in time.
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

    /// Waits until the delivery is settled; whether it is.
    fn is_settled(&self, until: Duration) -> bool {
        self.hook.waited.receive(until, &self.told).is_some()
    }
}

/// Records a loss without waiting for a disk that does not answer.
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
