//! Records the parts of an event that are in the agent's transcript but not in the hook's payload.
//!
//! Some agents write their transcript only after their hooks ran. The hook does not wait: it starts another
//! process, which waits until the transcript is complete and records the rest. If that fails, an import
//! finds the same events later, with the same ids.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::args::{FROM_TRANSCRIPT_FLAG, HookCommandLine};
use super::deadlines::WaitClock;
use super::payload::{self, PartialPayload};
use super::{HookRun, new_delivery_id};
use crate::agents::{self, HookInput};

/// Starts that process if the transcript will have more events. They form a separate delivery.
pub fn start_transcript_reader(hook: &HookRun, input: &HookInput<'_>) {
    if hook.args.from_transcript || !agents::has_more_in_transcript(input) {
        return;
    }
    let names = [hook.args.positional.as_slice(), &[FROM_TRANSCRIPT_FLAG.to_owned()]].concat();
    let next = HookRun {
        args: HookCommandLine { positional: names, ..hook.args.clone() },
        delivery: new_delivery_id(hook.started_at),
        started_at: hook.started_at,
        wait_clock: WaitClock::since(Instant::now()),
        deadlines: hook.deadlines,
        drafts: OnceLock::new(),
    };
    let payload = PartialPayload { bytes: Arc::new(input.payload.to_vec()), is_complete: true };
    // If this fails, an import can still read the transcript.
    let _ = payload::hand_to_child(&next, payload);
}
