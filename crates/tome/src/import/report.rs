//! What an import came to: counts for each agent, and what could not be read.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::agents::transcript::Skip;

/// Damaged lines that are named; the others are counted.
pub const DAMAGED_MAX: usize = 1_000;

/// What an import came to.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Whether nothing was stored, on purpose.
    pub dry_run: bool,
    /// Stored now; or what would be, of a dry run.
    pub imported: u64,
    /// Stored before, by a hook or an import.
    pub already_there: u64,
    /// Found in transcripts and no event, by reason.
    pub skipped: BTreeMap<Skip, u64>,
    /// Lines that cannot be read, or that the daemon refused.
    pub damaged_lines: u64,
    /// Transcripts that were read.
    pub files: u64,
    pub sessions: u64,
    pub bytes: u64,
    pub agents: Vec<AgentReport>,
    /// The first of the lines that cannot be read.
    pub damaged: Vec<Damaged>,
    /// Transcripts that cannot be read at all.
    pub unreadable: Vec<Unreadable>,
}

/// The same for one agent.
#[derive(Debug, Default, Serialize)]
pub struct AgentReport {
    pub agent: String,
    pub files: u64,
    pub sessions: u64,
    pub bytes: u64,
    pub imported: u64,
    pub already_there: u64,
    pub skipped: BTreeMap<Skip, u64>,
    pub damaged_lines: u64,
    #[serde(skip)]
    pub seen: BTreeSet<String>,
}

/// A line that cannot be read.
#[derive(Debug, Serialize)]
pub struct Damaged {
    pub file: String,
    /// Counted from 1; absent where the transcript has no lines.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u64,
    pub reason: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(line: &u64) -> bool {
    *line == 0
}

/// A transcript that cannot be read.
#[derive(Debug, Serialize)]
pub struct Unreadable {
    pub file: String,
    pub reason: String,
}

impl Report {
    /// Adds the agents up.
    pub fn total(&mut self) {
        for agent in &mut self.agents {
            agent.sessions = agent.seen.len() as u64;
            self.files += agent.files;
            self.sessions += agent.sessions;
            self.bytes += agent.bytes;
            self.imported += agent.imported;
            self.already_there += agent.already_there;
            self.damaged_lines += agent.damaged_lines;
            for (why, count) in &agent.skipped {
                *self.skipped.entry(*why).or_default() += count;
            }
        }
    }
}
