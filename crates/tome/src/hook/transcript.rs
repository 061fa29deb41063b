//! What the agent's transcript tells about an event and the hook's payload does not.
//!
//! Some agents write their transcript behind their hooks. The hook does not wait for it: it starts
//! another process, which waits until the transcript is complete and records the rest. If that fails,
//! an import finds the same events later, with the same ids.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::args::Called;
use super::payload::{self, Payload};
use super::waiting::Waited;
use super::{Hook, name_delivery};
use crate::agents::{self, Heard};

/// Tells the process what it is there for.
pub const FLAG: &str = "--from-transcript";

/// Starts the process if the transcript will have more to say. Its events are a delivery of their own.
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
    // Nothing is lost if this fails: the transcript is still there for an import.
    let _ = payload::hand_on(&next, payload);
}
