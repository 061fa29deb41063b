//! Reads fjall's journal after power loss, without opening the database.
//!
//! ```text
//! batch   1 ++ items:u32le ++ seqno:u64le ++ item… ++ 3 ++ checksum:u64le ++ "FJL" ++ 3
//! item    2 ++ kind:u8 ++ packing:u8 ++ keyspace:u64le ++ key_len:u16le ++ len:u32le
//!           ++ len_on_disk:u32le ++ key ++ value           or, a clear: 4 ++ keyspace:u64le
//! ```
//!
//! The checksum is XXH3 of all items in their stored form. Zeros follow the last batch.
//!
//! Pages reach the disk in any order, so an unsynced batch may lose its middle and keep its end. fjall
//! discards a batch without an end, and refuses to open if a checksum is wrong. Neither batch was
//! acknowledged, nor was anything after it, so `cut_torn_tail` keeps a copy and cuts the journal there.
//!
//! A disk that loses synced data looks similar, with one difference: the ledger syncs the last batch of
//! a group before it writes the next one. If events follow the end of a group, that group was
//! acknowledged, and damage to it is an error and never cut. Damage to the last group of the journal
//! cannot be distinguished from a torn one.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::limits::{BATCH_BYTES_MAX, TORN_JOURNALS_MAX};
use crate::{KvError, LedgerError, outbox, store_file};

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const MAGIC: &[u8; 4] = b"FJL\x03";

/// Bytes of a batch's end: its tag, the checksum and the magic.
const END_BYTES: usize = 1 + 8 + MAGIC.len();

/// Bytes before the items of a batch: its tag, the item count and the sequence number.
const BATCH_HEAD_BYTES: usize = 1 + 4 + 8;

const ZEROS: [u8; 16 * 1024] = [0; 16 * 1024];

/// Lists the journals of a database, newest last.
pub(super) fn list_journals(dir: &Path) -> std::io::Result<Vec<(u64, PathBuf)>> {
    let mut journals: Vec<(u64, PathBuf)> = std::fs::read_dir(dir)?
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let number = path.file_name()?.to_str()?.strip_suffix(".jnl")?;
            Some((number.parse().ok()?, path))
        })
        .collect();
    journals.sort();
    Ok(journals)
}

/// Whether a journal contains anything but zeros.
pub(super) fn has_content(path: &Path) -> std::io::Result<bool> {
    let mut file = std::fs::File::open(path)?;
    let mut chunk = ZEROS;
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(false),
            read if chunk.get(..read) != ZEROS.get(..read) => return Ok(true),
            _ => {}
        }
    }
}

/// Rejects a database whose newest journal has lost acknowledged events, before fjall cuts it.
pub(super) fn check_newest_journal(dir: &Path) -> Result<(), KvError> {
    let Some(journal) = Journal::read_newest(dir)? else {
        return Ok(());
    };
    match find_damage(&journal.bytes) {
        Some(JournalDamage { at, acknowledged: true }) => Err(format!(
            "{} is damaged at byte {at}, and synced events follow the damage: restore the ledger from a \
             backup, or repair it from what is still readable",
            journal.path.display()
        )
        .into()),
        _ => Ok(()),
    }
}

/// Cuts the torn end off the newest journal. Returns how to undo it, or `None` if the journal is valid.
pub(super) fn cut_torn_tail(dir: &Path) -> Result<Option<CutJournal>, KvError> {
    let Some(journal) = Journal::read_newest(dir)? else {
        return Ok(None);
    };
    let Some(JournalDamage { at, .. }) = find_damage(&journal.bytes) else {
        return Ok(None);
    };
    let folder = dir.parent().unwrap_or(dir);
    let copy = keep_copy(folder, &journal.bytes)?;
    let file = std::fs::OpenOptions::new().write(true).open(&journal.path)?;
    file.set_len(u64::try_from(at)?)?;
    file.sync_all()?;
    Ok(Some(CutJournal { journal: journal.path, copy }))
}

/// Cuts every journal at its first invalid batch, after keeping a copy.
pub(super) fn cut_all(dir: &Path) -> Result<(), KvError> {
    let folder = dir.parent().unwrap_or(dir);
    for (_, path) in list_journals(dir)? {
        let journal = Journal::read(path)?;
        let sound = valid_len(&journal.bytes);
        if sound < journal.bytes.len() {
            keep_copy(folder, &journal.bytes)?;
            let file = std::fs::OpenOptions::new().write(true).open(&journal.path)?;
            file.set_len(u64::try_from(sound)?)?;
            file.sync_all()?;
        }
    }
    Ok(())
}

/// Length of the valid batches at the beginning of a journal.
fn valid_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(batch) = bytes.get(at..).and_then(parse_batch).filter(|batch| batch.is_valid) {
        at += batch.len;
    }
    at
}

/// Receives a key and its value; an error ends the iteration.
type VisitItem<'s> = dyn FnMut(&[u8], &[u8]) -> Result<(), LedgerError> + 's;

/// Visits the items of every batch that matches its checksum, including those after damage.
pub(super) fn visit_valid_items(path: &Path, show: &mut VisitItem<'_>) -> Result<(), LedgerError> {
    let Ok(journal) = Journal::read(path.to_owned()) else { return Ok(()) };
    let mut at = 0;
    while let Some(batch) = journal.bytes.get(at..).and_then(next_batch) {
        let items = journal.bytes.get(at + BATCH_HEAD_BYTES..).filter(|_| batch.is_valid);
        let mut rest = items.unwrap_or_default();
        while let Some((item, behind)) = parse_item(rest) {
            show(item.key, item.value)?;
            rest = behind;
        }
        at += batch.len;
    }
    Ok(())
}

/// A journal that was cut, and the copy of its former content.
pub(super) struct CutJournal {
    journal: PathBuf,
    copy: PathBuf,
}

impl CutJournal {
    /// Restores the copy, without the trailing zeros.
    pub(super) fn undo(self) -> std::io::Result<()> {
        std::fs::rename(&self.copy, &self.journal)
    }
}

struct Journal {
    path: PathBuf,
    /// Without trailing zeros.
    bytes: Vec<u8>,
}

impl Journal {
    fn read_newest(dir: &Path) -> std::io::Result<Option<Self>> {
        if !dir.try_exists()? {
            return Ok(None);
        }
        let Some((_, path)) = list_journals(dir)?.pop() else {
            return Ok(None);
        };
        Self::read(path).map(Some)
    }

    fn read(path: PathBuf) -> std::io::Result<Self> {
        let mut bytes = std::fs::read(&path)?;
        // A journal is mostly zeros: remove them in large steps first.
        while bytes.ends_with(&ZEROS) {
            bytes.truncate(bytes.len() - ZEROS.len());
        }
        let len = bytes.iter().rposition(|byte| *byte != 0);
        bytes.truncate(len.map_or(0, |last| last + 1));
        Ok(Self { path, bytes })
    }
}

/// The first invalid batch of a journal that continues after it.
#[derive(Debug, PartialEq, Eq)]
struct JournalDamage {
    at: usize,
    /// Whether the damaged batch or a later one had been synced.
    acknowledged: bool,
}

/// Finds the first damage that is followed by the end of a batch.
fn find_damage(bytes: &[u8]) -> Option<JournalDamage> {
    let (mut at, mut group_ended) = (0, false);
    let mut damage: Option<JournalDamage> = None;
    while let Some(batch) = bytes.get(at..).and_then(next_batch) {
        match &mut damage {
            None if batch.is_valid => {}
            None => {
                damage = Some(JournalDamage { at, acknowledged: false });
            }
            Some(damage) if batch.is_valid && batch.events != BatchEvents::None => {
                damage.acknowledged |= group_ended;
            }
            Some(_) => {}
        }
        group_ended |= damage.is_some() && batch.events == BatchEvents::EndOfGroup;
        at += batch.len;
    }
    damage
}

/// The batch that begins here, or everything up to the next end of a batch.
fn next_batch(bytes: &[u8]) -> Option<JournalBatch> {
    parse_batch(bytes).or_else(|| skip_batch(bytes))
}

struct JournalBatch {
    len: usize,
    /// Whether all items are present and match the checksum.
    is_valid: bool,
    events: BatchEvents,
}

/// Which part of a group of appended events a batch contains.
#[derive(PartialEq, Eq)]
enum BatchEvents {
    /// None, or unknown.
    None,
    /// A part; more may follow before the sync.
    Part,
    /// The end, which was synced before anything else was appended.
    EndOfGroup,
}

fn parse_batch(bytes: &[u8]) -> Option<JournalBatch> {
    let (tag, rest) = bytes.split_first()?;
    let (count, rest) = rest.split_first_chunk::<4>()?;
    let (_seqno, items) = rest.split_first_chunk::<8>()?;
    if *tag != START {
        return None;
    }
    let (mut found, mut content, mut last, mut rest) = (0u32, 0usize, None, items);
    while let Some((item, behind)) = parse_item(rest) {
        found = found.checked_add(1)?;
        content = content.checked_add(item.key.len())?;
        content = content.checked_add(item.value.len())?;
        (last, rest) = (Some(item), behind);
    }
    let checksum = parse_end(rest)?;
    let items = items.get(..items.len() - rest.len())?;
    // A group ends with its outbox entry, and continues after a full batch.
    let appended = last.is_some_and(|item| outbox::decode_run(item.key, item.value).is_ok());
    Some(JournalBatch {
        len: bytes.len() - rest.len() + END_BYTES,
        is_valid: found == u32::from_le_bytes(*count) && xxh3_64(items) == checksum,
        events: match appended {
            false => BatchEvents::None,
            true if content >= BATCH_BYTES_MAX => BatchEvents::Part,
            true => BatchEvents::EndOfGroup,
        },
    })
}

struct JournalItem<'a> {
    key: &'a [u8],
    value: &'a [u8],
}

fn parse_item(bytes: &[u8]) -> Option<(JournalItem<'_>, &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    if *tag == CLEAR {
        let (_keyspace, rest) = rest.split_first_chunk::<8>()?;
        let (key, value) = (&[][..], &[][..]);
        return Some((JournalItem { key, value }, rest));
    }
    if *tag != ITEM {
        return None;
    }
    let (_kind_packing_keyspace, rest) = rest.split_first_chunk::<10>()?;
    let (key_len, rest) = rest.split_first_chunk::<2>()?;
    let (_len, rest) = rest.split_first_chunk::<4>()?;
    let (len_on_disk, rest) = rest.split_first_chunk::<4>()?;
    let (key, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*key_len)))?;
    let len = usize::try_from(u32::from_le_bytes(*len_on_disk)).ok()?;
    let (value, rest) = rest.split_at_checked(len)?;
    Some((JournalItem { key, value }, rest))
}

/// Parses the checksum, if this is the end of a batch.
fn parse_end(bytes: &[u8]) -> Option<u64> {
    let (tag, rest) = bytes.split_first()?;
    let (checksum, rest) = rest.split_first_chunk::<8>()?;
    (*tag == END && rest.starts_with(MAGIC)).then(|| u64::from_le_bytes(*checksum))
}

/// Skips an unreadable batch, up to the next end of a batch.
fn skip_batch(bytes: &[u8]) -> Option<JournalBatch> {
    let end = bytes.windows(END_BYTES).position(|window| parse_end(window).is_some())?;
    Some(JournalBatch { len: end + END_BYTES, is_valid: false, events: BatchEvents::None })
}

/// Keeps a copy of a journal that is about to be cut, and removes the oldest copies.
fn keep_copy(folder: &Path, bytes: &[u8]) -> std::io::Result<PathBuf> {
    let mut kept: Vec<(u64, PathBuf)> = std::fs::read_dir(folder)?
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_name()?.to_str()?;
            let number = name.strip_prefix("torn-")?.strip_suffix(".journal")?;
            Some((number.parse().ok()?, path))
        })
        .collect();
    kept.sort();
    let number = kept.last().map_or(1, |(number, _)| number + 1);
    let copy = folder.join(format!("torn-{number}.journal"));
    let mut file = store_file::owner_only(std::fs::OpenOptions::new().create_new(true).write(true))
        .open(&copy)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    store_file::sync_dir(folder)?;
    let too_many = (kept.len() + 1).saturating_sub(TORN_JOURNALS_MAX);
    for (_, path) in kept.iter().take(too_many) {
        std::fs::remove_file(path)?;
    }
    Ok(copy)
}
