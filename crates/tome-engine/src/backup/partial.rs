//! The part of an interrupted backup that the next run keeps.
//!
//! Events are never changed, so the blocks that hold them stay valid as long as the ledgers still begin
//! with those events. Everything else in a home can change; it comes after the events and is written
//! again.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{Record, project_root};

/// How far a ledger has been read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerMark {
    /// The ledger's folder, relative to the home.
    pub ledger: String,
    /// Number of the last event that was read.
    pub seq: u64,
    /// BLAKE3 hash of the lines of all its events up to there.
    pub sum: String,
}

/// The part of an interrupted backup that can be kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartialBackup {
    /// Number of verified blocks.
    pub blocks: u64,
    /// Their size in the file.
    pub bytes: u64,
    /// The hash of the last block.
    pub last_sum: String,
    /// The version of Tome that wrote it.
    pub version: String,
    /// The config file in it.
    pub config: Option<String>,
    /// The projects in it, each with its last record.
    pub projects: Vec<Value>,
    /// Number of events in those blocks.
    pub events: u64,
    /// How far each ledger was read.
    pub ledgers: Vec<LedgerMark>,
}

impl PartialBackup {
    pub(super) fn add(&mut self, record: Record) {
        match record {
            Record::Start { version, .. } => self.version = version,
            Record::Config { text } => self.config = Some(text),
            Record::Project(project) => {
                self.projects.retain(|known| project_root(known) != project_root(&project));
                self.projects.push(project);
            }
            Record::Event(_) => self.events += 1,
            _ => {}
        }
    }

    pub(crate) fn find_mark(&self, ledger: &str) -> Option<&LedgerMark> {
        self.ledgers.iter().find(|mark| mark.ledger == ledger)
    }
}
