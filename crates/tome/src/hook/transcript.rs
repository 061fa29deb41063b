//! Records the parts of an event that are in the agent's transcript but not in the hook's payload.
//!
//! Some agents write their transcript only after their hooks ran. The hook does not wait: it starts another
//! process, which waits until the transcript is complete and records the rest. If that fails, an import
//! finds the same events later, with the same ids.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::args::Called;
use super::payload::{self, Payload};
use super::waiting::Waited;
use super::{Hook, name_delivery};
use crate::agents::{self, Heard};

/// Marks the process that reads the transcript.
pub const FLAG: &str = "--from-transcript";

/// Starts that process if the transcript will have more events. They form a separate delivery.
pub fn follow(hook: &Hook, heard: &Heard<'_>) {
    if hook.called.from_transcript || !agents::has_more_in_transcript(heard) {
        return;
    }
    let names = [hook.called.names.as_slice(), &[FLAG.to_owned()]].concat();
    let next = Hook {
        called: Called { names, ..hook.called.clone() },
        delivery: name_delivery(hook.began),
        began: hook.began,
        waited: Waited::since(Instant::now()),
        by: hook.by,
        drafts: OnceLock::new(),
    };
    let payload = Payload { bytes: Arc::new(heard.payload.to_vec()), is_whole: true };
    // If this fails, an import can still read the transcript.
    let _ = payload::hand_on(&next, payload);
}
