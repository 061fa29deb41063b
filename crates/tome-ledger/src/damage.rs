//! Damage: stored content that can no longer be read.
//!
//! A read skips damage, so that one bad block does not hide everything after it, and records it here.
//! Nothing is skipped without a record; `Ledger::damage` returns it.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::limits::DAMAGE_ENTRIES_MAX;
use crate::{Family, KvError, LedgerError};

/// A block whose bytes differ from what was written.
#[derive(Debug, thiserror::Error)]
#[error("{family}: {problem}")]
pub struct DamagedBlock {
    /// The family of the block.
    pub family: Family,
    /// The engine's finding.
    pub problem: String,
}

/// Damage found by reads of an open store, each finding once.
#[derive(Debug, Default)]
pub(crate) struct DamageLog(Mutex<BTreeSet<String>>);

impl DamageLog {
    /// Records a finding. Beyond a limit, only a note that there are more is kept.
    pub(crate) fn record(&self, finding: impl Into<String>) {
        let mut findings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if findings.len() < DAMAGE_ENTRIES_MAX {
            findings.insert(finding.into());
        } else {
            findings.insert("~ and more".to_owned());
        }
    }

    /// All findings, in order.
    pub(crate) fn list(&self) -> Vec<String> {
        let findings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        findings.iter().cloned().collect()
    }
}

impl LedgerError {
    /// Whether stored content is damaged, as opposed to a failed call or a newer format.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Corrupt { .. } => true,
            Self::Storage { source, .. } => is_damaged_block(source),
            _ => false,
        }
    }

    /// Describes the damage in one line.
    pub(crate) fn describe_damage(&self) -> String {
        match self {
            Self::Storage { source, .. } => source.to_string(),
            error => error.to_string(),
        }
    }
}

fn is_damaged_block(error: &KvError) -> bool {
    error.downcast_ref::<DamagedBlock>().is_some()
}
