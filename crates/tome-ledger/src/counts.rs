//! Counts that the content of a store must match, in a small file beside the engine's files:
//!
//! ```text
//! COUNTS   counts 1
//!          last_seq = 00000000000000000120     number of the last acknowledged event
//!          missing = 00000000000000000000      events that a repair could not restore
//!          families = 000003ff                 families in use, as bits
//!          check = 0123456789abcdef            XXH3 of the lines above
//! ```
//!
//! The writer overwrites the file in place after each synced group, without a sync: after kill -9 it is
//! exact, after power loss it may lag behind, and it is never ahead of what was acknowledged. A store
//! with fewer events than its `COUNTS` has therefore lost acknowledged ones, while a batch torn by
//! power loss before its acknowledgement raises no alarm. A missing or empty file claims nothing.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use crate::limits::COUNTS_BYTES_MAX;
use crate::{
    Family, KeyRange, KeyValue, LedgerError, ScanDirection, cursor_value, key, outbox, store_file,
};

const FILE_NAME: &str = "COUNTS";
const HEADER: &str = "counts 1";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StoreCounts {
    /// Number of the last acknowledged event.
    pub(crate) last_seq: u64,
    /// Events up to `last_seq` that a repair could not restore.
    pub(crate) missing: u64,
    /// Families that had content when the store was opened or closed, as bits.
    pub(crate) families: u32,
}

impl StoreCounts {
    fn to_text(self) -> String {
        let Self { last_seq, missing, families } = self;
        let lines = format!(
            "{HEADER}\nlast_seq = {last_seq:020}\nmissing = {missing:020}\nfamilies = {families:08x}\n"
        );
        format!("{lines}check = {:016x}\n", xxh3_64(lines.as_bytes()))
    }

    fn parse(text: &str) -> Option<Self> {
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        let counts = Self {
            last_seq: value("last_seq = ")?.parse().ok()?,
            missing: value("missing = ")?.parse().ok()?,
            families: u32::from_str_radix(value("families = ")?, 16).ok()?,
        };
        (counts.to_text() == text).then_some(counts)
    }
}

pub(crate) struct CountsFile {
    path: PathBuf,
    open: Mutex<(Option<File>, StoreCounts)>,
}

/// The state of a store compared with its counts.
pub(crate) struct CheckedStore {
    pub(crate) file: CountsFile,
    /// Number of the last event in the outbox.
    pub(crate) last_seq: u64,
    /// Highest number ever assigned; numbers up to it are never reused.
    pub(crate) highest_seq: u64,
    /// Differences between the store and its counts.
    pub(crate) findings: Vec<String>,
}

impl CountsFile {
    /// Raises the number of the last acknowledged event.
    pub(crate) fn raise_last_seq(&self, last_seq: u64) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, counts) = &mut *open;
        if last_seq <= counts.last_seq {
            return;
        }
        counts.last_seq = last_seq;
        // The file only helps to detect losses: failing to write it must not fail an append.
        let _ = overwrite_file(&self.path, file, *counts);
    }
}

impl CountsFile {
    /// Records the families in use, before the store is closed.
    pub(crate) fn record_families(&self, kv: &dyn KeyValue) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, counts) = &mut *open;
        let families = check_families(kv, counts.families, &mut Vec::new());
        if families != counts.families {
            counts.families = families;
            let _ = overwrite_file(&self.path, file, *counts);
        }
    }
}

/// Writes the counts of a newly built store.
pub(crate) fn write(dir: &Path, counts: StoreCounts) -> Result<(), LedgerError> {
    let path = dir.join(FILE_NAME);
    overwrite_file(&path, &mut None, counts).map_err(LedgerError::io("write", &path))
}

/// Reads the counts of a store, or zeros if there are none or they are damaged.
pub(crate) fn read_or_default(dir: &Path) -> StoreCounts {
    read_counts(&dir.join(FILE_NAME)).ok().flatten().unwrap_or_default()
}

fn overwrite_file(
    path: &Path,
    file: &mut Option<File>,
    counts: StoreCounts,
) -> std::io::Result<()> {
    let file = match file {
        Some(file) => file,
        none => {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false);
            none.insert(store_file::owner_only(&mut options).open(path)?)
        }
    };
    file.seek(SeekFrom::Start(0))?;
    file.write_all(counts.to_text().as_bytes())
}

/// Reads the counts from a file; `None` if it is missing or empty, an error if it is damaged.
fn read_counts(path: &Path) -> Result<Option<StoreCounts>, String> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(COUNTS_BYTES_MAX).read_to_end(&mut bytes)) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    }
    // After power loss, a new file may be empty or full of zeros.
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let parsed = std::str::from_utf8(&bytes).ok().and_then(StoreCounts::parse);
    parsed.map(Some).ok_or_else(|| "its checksum does not match".to_owned())
}

/// Compares a store with its counts. Takes a few lookups if they agree.
pub(crate) fn check(kv: &dyn KeyValue) -> Result<CheckedStore, LedgerError> {
    let path = kv.path().join(FILE_NAME);
    let mut findings = Vec::new();
    let stored = read_counts(&path).unwrap_or_else(|problem| {
        findings.push(format!("{} is damaged: {problem}", path.display()));
        None
    });
    let known = stored.unwrap_or_default();
    let last_seq = check_outbox_end(kv, &mut findings)?;
    let cursor = highest_cursor(kv, &mut findings)?;
    let highest_seq = last_seq.max(known.last_seq).max(cursor);
    if highest_seq > last_seq {
        findings.push(format!(
            "acknowledged events are missing: {highest_seq} were stored, and the outbox ends at {last_seq}"
        ));
    }
    let expected = highest_seq.saturating_sub(known.missing);
    for family in [Family::Events, Family::Ids, Family::Sessions] {
        check_key_count(kv, family, expected, &mut findings);
    }
    let families = check_families(kv, known.families, &mut findings);
    let counts = StoreCounts { last_seq: highest_seq, families, ..known };
    let mut file = None;
    if stored != Some(counts) {
        // As above: without the file the store works as before, but losses go unnoticed.
        let _ = overwrite_file(&path, &mut file, counts);
    }
    let file = CountsFile { path, open: Mutex::new((file, counts)) };
    Ok(CheckedStore { file, last_seq, highest_seq, findings })
}

/// Returns the number of the last event in the outbox and checks that all its keys exist.
fn check_outbox_end(kv: &dyn KeyValue, findings: &mut Vec<String>) -> Result<u64, LedgerError> {
    let last = kv.scan(Family::Outbox, KeyRange::ALL, ScanDirection::Backward).next();
    let Some((key, run)) = last.transpose().map_err(LedgerError::storage(kv.path()))? else {
        return Ok(0);
    };
    let last_seq = key::decode_u64(Family::Outbox, &key, &key)?;
    match outbox::decode_run(&key, &run).map(|mut run| run.pop()) {
        Ok(Some(last)) => {
            let id = last.position.id.as_str().as_bytes();
            for (family, key) in
                [(Family::Events, key::event_key(&last.position)), (Family::Ids, id.to_vec())]
            {
                match kv.get(family, &key) {
                    Ok(Some(_)) => {}
                    Ok(None) => findings.push(format!("{family}: the last event is missing")),
                    Err(error) => findings.push(error.to_string()),
                }
            }
        }
        Ok(None) => {}
        Err(error) => findings.push(error.to_string()),
    }
    Ok(last_seq)
}

/// Returns the position of the most advanced projection. A cursor is never ahead of the events.
fn highest_cursor(kv: &dyn KeyValue, findings: &mut Vec<String>) -> Result<u64, LedgerError> {
    let mut highest = 0;
    for pair in kv.scan(Family::Checkpoints, KeyRange::ALL, ScanDirection::Forward) {
        let (projection, value) = pair.map_err(LedgerError::storage(kv.path()))?;
        match cursor_value::decode_cursor(&String::from_utf8_lossy(&projection), &value) {
            Ok((seq, _)) => highest = highest.max(seq),
            Err(error) if error.is_damage() => findings.push(error.to_string()),
            // Written by a newer version: ignored.
            Err(_) => {}
        }
    }
    Ok(highest)
}

/// Reports families that became empty. Returns all families that are or were in use.
fn check_families(kv: &dyn KeyValue, known: u32, findings: &mut Vec<String>) -> u32 {
    let mut families = known;
    for family in Family::ALL {
        let bit = 1 << family.index();
        match kv.key_count(family) {
            Some(0) if known & bit != 0 => findings.push(format!("{family}: all entries missing")),
            Some(0) | None => {}
            Some(_) => families |= bit,
        }
    }
    families
}

fn check_key_count(kv: &dyn KeyValue, family: Family, expected: u64, findings: &mut Vec<String>) {
    if kv.key_count(family).is_none_or(|count| count == expected) {
        return;
    }
    // The engine's count is an estimate, so a mismatch is verified by counting the keys.
    let counted =
        kv.scan(family, KeyRange::ALL, ScanDirection::Forward).filter(Result::is_ok).count();
    let counted = u64::try_from(counted).unwrap_or(u64::MAX);
    if counted < expected {
        let missing = expected - counted;
        findings.push(format!("{family}: {missing} of {expected} entries are missing"));
    } else if counted > expected {
        findings.push(format!("{family}: {counted} entries, but {expected} were stored"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_round_trip_and_every_changed_byte_is_detected() {
        let text = StoreCounts { last_seq: 120, missing: 3, families: 0x1f }.to_text();
        assert_eq!(
            StoreCounts::parse(&text),
            Some(StoreCounts { last_seq: 120, missing: 3, families: 0x1f })
        );
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let spoiled = String::from_utf8(bytes).unwrap();
            assert_eq!(StoreCounts::parse(&spoiled), None, "{spoiled}");
        }
    }
}
