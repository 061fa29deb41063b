//! Damage: stored content that can no longer be read.
//!
//! A read skips damage, so that one bad block does not hide everything after it, and records it here.
//! Nothing is skipped without a record; `Ledger::damage` returns it.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::limits::DAMAGE_ENTRIES_MAX;
use crate::{Family, KvError, Ledger, LedgerError};

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

impl Ledger {
    /// Damage found so far: differences from the counts when the store was opened, and everything that
    /// reads have skipped since. Empty for an intact store.
    pub fn damage(&self) -> Vec<String> {
        let mut damage = self.shared.kv.damage();
        damage.extend(self.shared.damage.list());
        damage
    }

    /// Records damage and returns `None` for it. Other errors are passed on.
    pub(crate) fn skip_damage<T>(
        &self,
        read: Result<T, LedgerError>,
    ) -> Result<Option<T>, LedgerError> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_damage() => {
                self.shared.damage.record(error.describe_damage());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Records that the event behind an index entry is missing, and returns the error for it.
    pub(crate) fn record_lost_event(&self, family: Family, key: &[u8]) -> LedgerError {
        let error = LedgerError::corrupt(family, key, "its event is damaged or missing");
        self.shared.damage.record(error.describe_damage());
        error
    }
}
