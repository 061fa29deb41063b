//! fjall's journal after power loss, read from outside.
//!
//! ```text
//! batch   1 ++ items:u32le ++ seqno:u64le ++ item… ++ 3 ++ checksum:u64le ++ "FJL" ++ 3
//! item    2 ++ kind:u8 ++ packing:u8 ++ keyspace:u64le ++ key_len:u16le ++ len:u32le
//!           ++ len_on_disk:u32le ++ key ++ value           or, a clear: 4 ++ keyspace:u64le
//! ```
//!
//! The checksum is XXH3 of all items as they stand there. Zeros follow the last batch.
//!
//! Pages reach the disk in any order, so a batch that was not yet synced can have lost its middle
//! and kept its end. fjall discards a batch without an end and refuses to open at all when the
//! checksum is wrong. Both are batches that nobody was told about, and so is everything behind
//! them: `mend` keeps a copy and cuts there.
//!
//! A disk that loses what was synced looks alike, with one difference: the ledger syncs the last
//! batch of a group before it writes the next. So if events stand behind the end of a group, that
//! group was acknowledged, and damage to it is refused and never cut. Damage to the very last
//! group of the journal cannot be told from a torn one.

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

/// The bytes of an end: its tag, the checksum and the magic.
const END_BYTES: usize = 1 + 8 + MAGIC.len();

/// The bytes in front of the items of a batch: its tag, their number and the sequence number.
const BATCH_HEAD_BYTES: usize = 1 + 4 + 8;

const ZEROS: [u8; 16 * 1024] = [0; 16 * 1024];

/// The journals of a database, the newest last.
pub(super) fn journals(dir: &Path) -> std::io::Result<Vec<(u64, PathBuf)>> {
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

/// Whether a journal holds anything but zeros.
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

/// Refuses a database whose newest journal has lost acknowledged events, before fjall cuts it.
pub(super) fn refuse_rot(dir: &Path) -> Result<(), KvError> {
    let Some(journal) = Journal::newest(dir)? else {
        return Ok(());
    };
    match damage(&journal.bytes) {
        Some(Damage { at, acknowledged: true }) => Err(format!(
            "{} is damaged at byte {at} and events that were synced stand behind it: restore the \
             ledger from a backup, or repair it from what can still be read",
            journal.path.display()
        )
        .into()),
        _ => Ok(()),
    }
}

/// Cuts what was torn off the newest journal. Returns what undoes it, or nothing if the newest
/// journal is sound.
pub(super) fn mend(dir: &Path) -> Result<Option<Mended>, KvError> {
    let Some(journal) = Journal::newest(dir)? else {
        return Ok(None);
    };
    let Some(Damage { at, .. }) = damage(&journal.bytes) else {
        return Ok(None);
    };
    let folder = dir.parent().unwrap_or(dir);
    let copy = set_aside(folder, &journal.bytes)?;
    let file = std::fs::OpenOptions::new().write(true).open(&journal.path)?;
    file.set_len(u64::try_from(at)?)?;
    file.sync_all()?;
    Ok(Some(Mended { journal: journal.path, copy }))
}

/// Cuts every journal where it stops being sound, after a copy of it was kept.
pub(super) fn cut_all(dir: &Path) -> Result<(), KvError> {
    let folder = dir.parent().unwrap_or(dir);
    for (_, path) in journals(dir)? {
        let journal = Journal::read(path)?;
        let sound = sound_len(&journal.bytes);
        if sound < journal.bytes.len() {
            set_aside(folder, &journal.bytes)?;
            let file = std::fs::OpenOptions::new().write(true).open(&journal.path)?;
            file.set_len(u64::try_from(sound)?)?;
            file.sync_all()?;
        }
    }
    Ok(())
}

/// Where the last batch of an unbroken row of sound ones ends.
fn sound_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(batch) = bytes.get(at..).and_then(read_batch).filter(|batch| batch.sound) {
        at += batch.len;
    }
    at
}

/// Shown a key and its value; an error ends the walk.
type ShowItem<'s> = dyn FnMut(&[u8], &[u8]) -> Result<(), LedgerError> + 's;

/// Shows the items of every batch of a journal that matches its checksum, also behind damage.
pub(super) fn each_sound_item(path: &Path, show: &mut ShowItem<'_>) -> Result<(), LedgerError> {
    let Ok(journal) = Journal::read(path.to_owned()) else { return Ok(()) };
    let mut at = 0;
    while let Some(batch) = journal.bytes.get(at..).and_then(next_batch) {
        let items = journal.bytes.get(at + BATCH_HEAD_BYTES..).filter(|_| batch.sound);
        let mut rest = items.unwrap_or_default();
        while let Some((item, behind)) = read_item(rest) {
            show(item.key, item.value)?;
            rest = behind;
        }
        at += batch.len;
    }
    Ok(())
}

/// A journal that was cut, and the copy of what it was.
pub(super) struct Mended {
    journal: PathBuf,
    copy: PathBuf,
}

impl Mended {
    /// Puts the copy back. Without the zeros at its end, which say nothing.
    pub(super) fn undo(self) -> std::io::Result<()> {
        std::fs::rename(&self.copy, &self.journal)
    }
}

struct Journal {
    path: PathBuf,
    /// Without the zeros at its end.
    bytes: Vec<u8>,
}

impl Journal {
    fn newest(dir: &Path) -> std::io::Result<Option<Self>> {
        if !dir.try_exists()? {
            return Ok(None);
        }
        let Some((_, path)) = journals(dir)?.pop() else {
            return Ok(None);
        };
        Self::read(path).map(Some)
    }

    fn read(path: PathBuf) -> std::io::Result<Self> {
        let mut bytes = std::fs::read(&path)?;
        // A journal is mostly zeros: in large steps first.
        while bytes.ends_with(&ZEROS) {
            bytes.truncate(bytes.len() - ZEROS.len());
        }
        let len = bytes.iter().rposition(|byte| *byte != 0);
        bytes.truncate(len.map_or(0, |last| last + 1));
        Ok(Self { path, bytes })
    }
}

/// Where a journal stops being sound, though it goes on.
#[derive(Debug, PartialEq, Eq)]
struct Damage {
    at: usize,
    /// What is damaged or what stands behind it had been synced.
    acknowledged: bool,
}

/// The first damage that has the end of a batch behind it.
fn damage(bytes: &[u8]) -> Option<Damage> {
    let (mut at, mut group_ended) = (0, false);
    let mut damage: Option<Damage> = None;
    while let Some(batch) = bytes.get(at..).and_then(next_batch) {
        match &mut damage {
            None if batch.sound => {}
            None => {
                damage = Some(Damage { at, acknowledged: false });
            }
            Some(damage) if batch.sound && batch.events != Events::None => {
                damage.acknowledged |= group_ended;
            }
            Some(_) => {}
        }
        group_ended |= damage.is_some() && batch.events == Events::EndOfGroup;
        at += batch.len;
    }
    damage
}

/// The batch that begins here, or whatever is here up to the next end of one.
fn next_batch(bytes: &[u8]) -> Option<Batch> {
    read_batch(bytes).or_else(|| skip_batch(bytes))
}

/// A batch as it stands in a journal.
struct Batch {
    len: usize,
    /// Its items are all there and are what they were.
    sound: bool,
    events: Events,
}

/// What a batch has of a group of appended events.
#[derive(PartialEq, Eq)]
enum Events {
    /// Nothing, or nobody can tell.
    None,
    /// A part of it; more may follow before the sync.
    Part,
    /// The end: it was synced before anything else was appended.
    EndOfGroup,
}

fn read_batch(bytes: &[u8]) -> Option<Batch> {
    let (tag, rest) = bytes.split_first()?;
    let (count, rest) = rest.split_first_chunk::<4>()?;
    let (_seqno, items) = rest.split_first_chunk::<8>()?;
    if *tag != START {
        return None;
    }
    let (mut found, mut content, mut last, mut rest) = (0u32, 0usize, None, items);
    while let Some((item, behind)) = read_item(rest) {
        found = found.checked_add(1)?;
        content = content.checked_add(item.key.len())?;
        content = content.checked_add(item.value.len())?;
        (last, rest) = (Some(item), behind);
    }
    let checksum = read_end(rest)?;
    let items = items.get(..items.len() - rest.len())?;
    // A group of events ends with its outbox entry, and goes on after a batch that is full.
    let appended = last.is_some_and(|item| outbox::read_run(item.key, item.value).is_ok());
    Some(Batch {
        len: bytes.len() - rest.len() + END_BYTES,
        sound: found == u32::from_le_bytes(*count) && xxh3_64(items) == checksum,
        events: match appended {
            false => Events::None,
            true if content >= BATCH_BYTES_MAX => Events::Part,
            true => Events::EndOfGroup,
        },
    })
}

struct Item<'a> {
    key: &'a [u8],
    value: &'a [u8],
}

fn read_item(bytes: &[u8]) -> Option<(Item<'_>, &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    if *tag == CLEAR {
        let (_keyspace, rest) = rest.split_first_chunk::<8>()?;
        let (key, value) = (&[][..], &[][..]);
        return Some((Item { key, value }, rest));
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
    Some((Item { key, value }, rest))
}

/// The checksum, if this is the end of a batch.
fn read_end(bytes: &[u8]) -> Option<u64> {
    let (tag, rest) = bytes.split_first()?;
    let (checksum, rest) = rest.split_first_chunk::<8>()?;
    (*tag == END && rest.starts_with(MAGIC)).then(|| u64::from_le_bytes(*checksum))
}

/// A batch that cannot be read any more, up to the next end of one.
fn skip_batch(bytes: &[u8]) -> Option<Batch> {
    let end = bytes.windows(END_BYTES).position(|window| read_end(window).is_some())?;
    Some(Batch { len: end + END_BYTES, sound: false, events: Events::None })
}

/// Keeps a copy of a journal that is about to be cut, and no more than a few of them.
fn set_aside(folder: &Path, bytes: &[u8]) -> std::io::Result<PathBuf> {
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
    let mut file = store_file::for_owner(std::fs::OpenOptions::new().create_new(true).write(true))
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
