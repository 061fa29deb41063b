//! Damage: content that was stored and cannot be read any more.
//!
//! A read that meets damage skips it, so that one bad block does not hide everything behind it, and
//! records it here. `Ledger::damage` reports the record; nothing is ever skipped without an entry.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::limits::DAMAGE_ENTRIES_MAX;
use crate::{Family, KvError, Ledger, LedgerError};

/// A part of the store whose bytes are not the ones that were written.
#[derive(Debug, thiserror::Error)]
#[error("{family}: {problem}")]
pub struct DamagedBlock {
    /// The family that it belongs to.
    pub family: Family,
    /// What the engine found.
    pub problem: String,
}

/// The damage that reads of an open store have met, each piece once.
#[derive(Debug, Default)]
pub(crate) struct DamageLog(Mutex<BTreeSet<String>>);

impl DamageLog {
    /// Records a piece of damage. Beyond a bound only the fact that there is more is kept.
    pub(crate) fn record(&self, finding: impl Into<String>) {
        let mut findings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if findings.len() < DAMAGE_ENTRIES_MAX {
            findings.insert(finding.into());
        } else {
            findings.insert("~ and more".to_owned());
        }
    }

    /// Everything that was recorded, in order.
    pub(crate) fn list(&self) -> Vec<String> {
        let findings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        findings.iter().cloned().collect()
    }
}

impl LedgerError {
    /// Whether stored content is damaged, as opposed to a failing call or a newer format.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Corrupt { .. } => true,
            Self::Storage { source, .. } => is_damaged_block(source),
            _ => false,
        }
    }

    /// The damage in one line.
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
    /// Damage met so far: how the store disagreed with its counts when it was opened, and everything
    /// that reads had to skip since. Empty for a sound store.
    pub fn damage(&self) -> Vec<String> {
        let mut damage = self.shared.kv.damage();
        damage.extend(self.shared.damage.list());
        damage
    }

    /// Records damage and goes on without it. Every other error stays one.
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

    /// An entry of an index whose event is not there any more.
    pub(crate) fn lost(&self, family: Family, key: &[u8]) -> LedgerError {
        let error = LedgerError::corrupt(family, key, "its event is damaged or missing");
        self.shared.damage.record(error.describe_damage());
        error
    }
}
