//! What the agent's transcript tells about an event and the hook's payload does not.
//!
//! Some agents write their transcript behind their hooks. The hook does not wait for it: it starts
//! another process, which waits until the transcript is complete and records the rest. If that fails,
//! an import finds the same events later, with the same ids.

use std::sync::Arc;
use std::time::Duration;

use super::args::Called;
use super::payload::{self, Payload};
use crate::agents::{self, Heard};

/// Tells the process what it is there for.
pub const FLAG: &str = "--from-transcript";

/// Starting the process takes no longer, even where nothing can be started quickly.
const START_MAX: Duration = Duration::from_millis(20);

/// Starts the process if the transcript will have more to say.
pub fn follow(called: &Called, heard: &Heard<'_>) {
    if called.from_transcript || !agents::has_more_in_transcript(heard) {
        return;
    }
    let names = [called.names.as_slice(), &[FLAG.to_owned()]].concat();
    let payload = Payload { bytes: Arc::new(heard.payload.to_vec()), is_whole: true };
    // Nothing is lost if this fails: the transcript is still there for an import.
    let _ = payload::hand_on(&names, &called.flags, heard.now.0, payload, START_MAX);
}
