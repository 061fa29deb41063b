//! Which events are recorded: none during a pause, none of ignored folders, and of ignored files only
//! that they were used.
//!
//! Hooks apply these rules before anything leaves the process, and so does every import, so that what was
//! left out does not come back from an agent's transcript.

mod ignored_paths;
mod tool_paths;

use tome_home::{Home, Pauses};
use tome_model::{Draft, Millis};

pub use ignored_paths::IgnoredPaths;

/// Takes the place of what an ignored file holds.
pub const IGNORED_MARK: &str = "[ignored path]";

/// Why an event is not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRecorded {
    Paused,
    Ignored,
}

/// The rules of a home and of the projects it records.
pub struct CaptureRules {
    pauses: Pauses,
    ignored: IgnoredPaths,
}

impl CaptureRules {
    /// Reads the pauses of a home; `patterns` is the setting `capture.ignore`.
    pub fn read(home: &Home, patterns: &str) -> Self {
        Self { pauses: Pauses::read(home), ignored: IgnoredPaths::new(patterns) }
    }

    /// Whether nothing is recorded at a time.
    pub fn is_paused(&self, at: Millis) -> bool {
        self.pauses.find(at).is_some()
    }

    /// Decides whether a draft is recorded, and cuts the content of ignored files.
    pub fn apply(&mut self, draft: Draft) -> Result<Draft, NotRecorded> {
        if self.is_paused(draft.at) {
            return Err(NotRecorded::Paused);
        }
        self.ignored.load_rules_for(&draft.cwd);
        if self.ignored.is_folder_ignored(&draft.cwd) {
            return Err(NotRecorded::Ignored);
        }
        Ok(if self.ignored.has_rules() {
            tool_paths::cut_ignored(draft, &self.ignored)
        } else {
            draft
        })
    }
}
