//! Full verification of a store: every file against its checksum, every event under all its keys.

use crate::{Family, KeyRange, Ledger, LedgerError, ScanDirection};

/// Outbox entries checked at a time.
const PAGE_ENTRIES: usize = 4_096;

impl Ledger {
    /// Checks every file against its checksum, without decoding events. Returns the mismatches.
    pub fn verify_files(&self) -> Result<Vec<String>, LedgerError> {
        let findings = self.shared.kv.verify_files();
        findings.map_err(LedgerError::storage(self.path()))
    }

    /// Reads everything and returns the damage. Slow on a large store.
    pub fn verify(&self) -> Result<Vec<String>, LedgerError> {
        let mut findings = self.verify_files()?;
        let (mut after, mut listed, mut lost) = (0, 0u64, 0u64);
        loop {
            let entries = self.read_outbox(after, PAGE_ENTRIES)?;
            let Some(last) = entries.last() else { break };
            after = last.seq;
            listed += entries.len() as u64;
            for entry in &entries {
                let by_id = self.position(&entry.position.id);
                let is_known = self.skip_damage(by_id)?.flatten() == Some(entry.position.clone());
                if !is_known || self.event_at(&entry.position)?.is_none() {
                    lost += 1;
                }
            }
        }
        if lost > 0 {
            findings.push(format!("{lost} of {listed} events cannot be read"));
        }
        for family in [Family::Events, Family::Sessions] {
            let keys = self.scan(family, KeyRange::ALL, ScanDirection::Forward);
            let count = keys.filter(Result::is_ok).count() as u64;
            if count != listed {
                findings.push(format!("{family}: {count} entries, the outbox has {listed}"));
            }
        }
        findings.extend(self.damage());
        Ok(findings)
    }
}
