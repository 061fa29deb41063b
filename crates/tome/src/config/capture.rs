//! Settings for reading agents' transcripts.

use std::time::Duration;

use super::{duration, value};

/// When the daemon reads transcripts to store events that hooks missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptSettings {
    pub enabled: bool,
    /// How long a session that has not ended must be idle.
    pub idle: Duration,
}

pub(super) fn transcript_settings<'c>(
    text: &impl Fn(&'static str) -> &'c str,
) -> TranscriptSettings {
    TranscriptSettings {
        enabled: value::parse_boolean(text("capture.transcripts")).unwrap_or(true),
        idle: duration::parse_finite(text("capture.transcripts_idle"))
            .unwrap_or(Duration::from_secs(60)),
    }
}
