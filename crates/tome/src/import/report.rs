//! The report of an import: counts per agent, and what could not be read.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::agents::transcript_record::RecordSkipReason;

/// Damaged lines listed individually; the others are only counted.
pub const DAMAGED_MAX: usize = 1_000;

#[derive(Debug, Default, Serialize)]
pub struct ImportReport {
    pub dry_run: bool,
    /// Stored now, or to be stored in case of a dry run.
    pub imported: u64,
    /// Stored earlier by a hook or an import.
    pub already_there: u64,
    /// Records that are not events, by reason.
    pub skipped: BTreeMap<RecordSkipReason, u64>,
    /// Lines that cannot be parsed or that the daemon rejected.
    pub damaged_lines: u64,
    pub files: u64,
    pub sessions: u64,
    pub bytes: u64,
    pub agents: Vec<AgentReport>,
    /// The first `DAMAGED_MAX` damaged lines.
    pub damaged: Vec<DamagedLine>,
    pub unreadable: Vec<UnreadableTranscript>,
}

#[derive(Debug, Default, Serialize)]
pub struct AgentReport {
    pub agent: String,
    pub files: u64,
    pub sessions: u64,
    pub bytes: u64,
    pub imported: u64,
    pub already_there: u64,
    pub skipped: BTreeMap<RecordSkipReason, u64>,
    pub damaged_lines: u64,
    #[serde(skip)]
    pub seen: BTreeSet<String>,
}

#[derive(Debug, Serialize)]
pub struct DamagedLine {
    pub file: String,
    /// One-based; absent if the transcript has no lines.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u64,
    pub reason: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "signature required by serde")]
fn is_zero(line: &u64) -> bool {
    *line == 0
}

#[derive(Debug, Serialize)]
pub struct UnreadableTranscript {
    pub file: String,
    pub reason: String,
}

impl ImportReport {
    /// Sums up the agents.
    pub fn sum_agents(&mut self) {
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
