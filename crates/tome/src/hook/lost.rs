//! Records deliveries that neither the daemon nor the spool could take.
//!
//! Each is recorded by id, so that the record can be removed if the delivery arrives after all: the
//! daemon may still store what a hook had given up on.
//!
//! The file is preallocated and overwritten in place, so that this works on a full disk:
//!
//! ```text
//! count:20 digits, space, last_ms:15 digits, newline       losses without a slot
//! delivery:26 characters, space, at_ms:15 digits, newline  one slot; blank if free
//! ```
//!
//! If not even that can be written (`ulimit -f 0`), an empty file `lost-<delivery>` beside it is the record.
//!
//! The file is `run/lost` or, if the home is not writable, a file in a private folder outside it. A hook
//! killed before it could record anything leaves no record.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tome_engine::try_lock_file;
use tome_home::Home;
use tome_model::{DeliveryId, Millis};

use crate::platform;

/// Losses recorded by id. Beyond that, the oldest are only counted.
const SLOT_COUNT: usize = 512;
const SLOT_BYTES: usize = 43;
const HEADER_BYTES: usize = 37;

/// Attempts and pause for a lock that is held only for the time of one write.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// The number of lost events and the time of the last loss.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LossCount {
    pub events: u64,
    pub last: Option<Millis>,
}

/// The content of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct LossRecords {
    unnamed: LossCount,
    /// By slot number.
    slots: BTreeMap<usize, LossSlot>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LossSlot {
    /// `None` for an unreadable slot, which still counts as a loss.
    id: Option<DeliveryId>,
    at: Millis,
}

/// Preallocates the file with all slots, for when the disk is full.
pub fn preallocate(home: &Home) -> std::io::Result<()> {
    let path = home_loss_file(home);
    let mut file = open_loss_file(&path)?;
    lock_with_timeout(&file)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    if length >= HEADER_BYTES + SLOT_COUNT * SLOT_BYTES {
        return Ok(());
    }
    let records = read_records(&mut file)?;
    write_at(&mut file, 0, &render_header(records.unnamed))?;
    for slot in (0..SLOT_COUNT).filter(|slot| !records.slots.contains_key(slot)) {
        write_at(&mut file, slot_offset(slot), &blank_slot())?;
    }
    file.sync_data()
}

/// Records a lost delivery. Recording it twice counts once.
pub fn record_loss(home: &Home, id: DeliveryId, now: Millis) -> std::io::Result<()> {
    record_in_file(&home_loss_file(home), id, now)
        .or_else(|_| record_loss_outside(home, id, now))
        .or_else(|_| record_as_empty_file(&home_loss_file(home), id))
}

/// Records a lost delivery outside the home, for a home that is not writable or hangs.
pub fn record_loss_outside(home: &Home, id: DeliveryId, now: Millis) -> std::io::Result<()> {
    let folder = platform::user_folders().private_folder(home.root());
    platform::ensure_private_folder(&folder)?;
    let path = folder.join("lost");
    record_in_file(&path, id, now).or_else(|_| record_as_empty_file(&path, id))
}

/// Records a loss as an empty file, which needs no disk space.
fn record_as_empty_file(path: &Path, id: DeliveryId) -> std::io::Result<()> {
    if list_empty_files(path).len() >= SLOT_COUNT {
        return Err(std::io::ErrorKind::StorageFull.into());
    }
    let file = path.with_file_name(format!("lost-{id}"));
    OpenOptions::new().write(true).create(true).truncate(false).open(file).map(|_| ())
}

/// Lists losses recorded as empty files beside `path`.
fn list_empty_files(path: &Path) -> BTreeMap<DeliveryId, PathBuf> {
    let folder = path.parent().map(std::fs::read_dir).into_iter().flatten().flatten().flatten();
    let files = folder.map(|entry| entry.path()).filter_map(|path| {
        let id = path.file_name()?.to_str()?.strip_prefix("lost-")?;
        Some((DeliveryId::parse(id).ok()?, path))
    });
    files.take(SLOT_COUNT).collect()
}

/// Reads the records in all locations.
pub fn read_losses(home: &Home) -> LossCount {
    let mut lost = LossCount::default();
    let mut names = BTreeSet::new();
    for path in loss_files(home) {
        let records = read_file(&path);
        lost.events += records.unnamed.events;
        lost.last = lost.last.max(records.unnamed.last);
        for slot in records.slots.values() {
            let is_news = slot.id.is_none_or(|id| names.insert(id));
            lost.events += u64::from(is_news);
            lost.last = lost.last.max(Some(slot.at));
        }
        for id in list_empty_files(&path).into_keys().filter(|id| names.insert(*id)) {
            lost.events += 1;
            lost.last = lost.last.max(Some(id.started_at()));
        }
    }
    lost
}

/// Returns the ids of all deliveries recorded as lost.
pub fn list_lost_deliveries(home: &Home) -> BTreeSet<DeliveryId> {
    let in_file = |path: &PathBuf| read_file(path).slots.into_values().filter_map(|slot| slot.id);
    loss_files(home)
        .flat_map(|path| in_file(&path).chain(list_empty_files(&path).into_keys()))
        .collect()
}

/// Removes the records of deliveries that have arrived.
pub fn remove_arrived(home: &Home, arrived: &BTreeSet<DeliveryId>) -> std::io::Result<()> {
    blank_slots(home, |id| id.is_some_and(|id| arrived.contains(&id)), false)
}

/// Removes all records and resets the count.
pub fn reset_losses(home: &Home) -> std::io::Result<()> {
    blank_slots(home, |_| true, true)
}

/// Blanks the matching slots in all locations; `zeroes` also resets the counts in the headers.
fn blank_slots(
    home: &Home,
    blanks: impl Fn(Option<DeliveryId>) -> bool,
    zeroes: bool,
) -> std::io::Result<()> {
    for path in loss_files(home) {
        for (_, file) in list_empty_files(&path).into_iter().filter(|(id, _)| blanks(Some(*id))) {
            std::fs::remove_file(file)?;
        }
        if !path.exists() {
            continue;
        }
        let mut file = open_loss_file(&path)?;
        lock_with_timeout(&file)?;
        let records = read_records(&mut file)?;
        for (slot, _) in records.slots.iter().filter(|(_, record)| blanks(record.id)) {
            write_at(&mut file, slot_offset(*slot), &blank_slot())?;
        }
        if zeroes {
            write_at(&mut file, 0, &render_header(LossCount::default()))?;
        }
        file.sync_data()?;
    }
    Ok(())
}

fn record_in_file(path: &Path, id: DeliveryId, now: Millis) -> std::io::Result<()> {
    let mut file = open_loss_file(path)?;
    lock_with_timeout(&file)?;
    let records = read_records(&mut file)?;
    if records.slots.values().any(|slot| slot.id == Some(id)) {
        return Ok(());
    }
    let free = (0..SLOT_COUNT).find(|slot| !records.slots.contains_key(slot));
    let oldest = || records.slots.iter().min_by_key(|(_, slot)| slot.at).map_or(0, |(at, _)| *at);
    let slot = free.unwrap_or_else(oldest);
    // A loss whose slot is reused is still counted in the header.
    let mut nameless = records.unnamed;
    if let Some(replaced) = records.slots.get(&slot) {
        nameless.events += 1;
        nameless.last = nameless.last.max(Some(replaced.at));
    }
    write_at(&mut file, 0, &render_header(nameless))?;
    write_at(&mut file, slot_offset(slot), &format!("{id} {:015}\n", now.0))?;
    file.sync_data()
}

/// All locations where a hook may have recorded a loss. Skips folders that other users could have
/// created.
fn loss_files(home: &Home) -> impl Iterator<Item = PathBuf> {
    let outside = platform::user_folders().private_folders(home.root()).into_iter();
    let outside =
        outside.filter(|folder| folder.exists() && platform::ensure_private_folder(folder).is_ok());
    std::iter::once(home_loss_file(home)).chain(outside.map(|folder| folder.join("lost")))
}

fn home_loss_file(home: &Home) -> PathBuf {
    home.run().join("lost")
}

fn open_loss_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Locks the file, with a time limit.
fn lock_with_timeout(file: &File) -> std::io::Result<()> {
    match try_lock_file(file, LOCK_ATTEMPTS, LOCK_PAUSE)? {
        true => Ok(()),
        false => Err(std::io::ErrorKind::WouldBlock.into()),
    }
}

fn render_header(lost: LossCount) -> String {
    format!("{:020} {:015}\n", lost.events, lost.last.unwrap_or_default().0)
}

fn blank_slot() -> String {
    format!("{:1$}\n", "", SLOT_BYTES - 1)
}

fn slot_offset(slot: usize) -> usize {
    HEADER_BYTES + slot * SLOT_BYTES
}

fn write_at(file: &mut File, offset: usize, text: &str) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(offset as u64))?;
    file.write_all(text.as_bytes())
}

fn read_file(path: &Path) -> LossRecords {
    File::open(path).and_then(|mut file| read_records(&mut file)).unwrap_or_default()
}

fn read_records(file: &mut File) -> std::io::Result<LossRecords> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take((HEADER_BYTES + SLOT_COUNT * SLOT_BYTES) as u64).read_to_end(&mut bytes)?;
    Ok(parse_records(&bytes))
}

fn parse_records(bytes: &[u8]) -> LossRecords {
    let (header, slots) = bytes.split_at_checked(HEADER_BYTES).unwrap_or((bytes, &[]));
    let header = String::from_utf8_lossy(header);
    let mut numbers = header.split_whitespace().map(|word| word.parse().unwrap_or(0));
    let events = numbers.next().unwrap_or(0);
    let last = numbers.next().filter(|ms| *ms > 0).map(Millis);
    let slots = slots.chunks(SLOT_BYTES).enumerate();
    let slots = slots.filter_map(|(number, bytes)| Some((number, parse_slot(bytes)?)));
    LossRecords { unnamed: LossCount { events, last }, slots: slots.collect() }
}

fn parse_slot(bytes: &[u8]) -> Option<LossSlot> {
    let text = String::from_utf8_lossy(bytes);
    // Unwritten parts of a file created on a full disk read as zeros.
    let mut words =
        text.split(|c: char| c.is_whitespace() || c == '\0').filter(|it| !it.is_empty());
    let id = words.next()?;
    let at = words.next().and_then(|ms| ms.parse().ok()).unwrap_or(0);
    Some(LossSlot { id: DeliveryId::parse(id).ok(), at: Millis(at) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(n: u64) -> DeliveryId {
        DeliveryId::new(Millis(n), [1; 10])
    }

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        std::fs::create_dir_all(home.run()).unwrap();
        (folder, home)
    }

    #[test]
    fn a_loss_counts_once_and_is_removed_on_arrival() {
        let (_folder, home) = home();
        preallocate(&home).unwrap();
        let length = std::fs::metadata(home_loss_file(&home)).unwrap().len();
        for n in [1, 2, 2, 3] {
            record_loss(&home, id(n), Millis(100 + n)).unwrap();
        }
        assert_eq!(read_losses(&home), LossCount { events: 3, last: Some(Millis(103)) });
        assert_eq!(
            std::fs::metadata(home_loss_file(&home)).unwrap().len(),
            length,
            "written in place"
        );
        remove_arrived(&home, &BTreeSet::from([id(2), id(9)])).unwrap();
        assert_eq!(list_lost_deliveries(&home), BTreeSet::from([id(1), id(3)]));
        preallocate(&home).unwrap();
        assert_eq!(read_losses(&home).events, 2);
        reset_losses(&home).unwrap();
        assert_eq!(read_losses(&home).events, 0);
    }

    #[test]
    fn an_empty_file_counts_as_a_record() {
        let (_folder, home) = home();
        record_as_empty_file(&home_loss_file(&home), id(4)).unwrap();
        record_loss(&home, id(4), Millis(4)).unwrap();
        record_as_empty_file(&home_loss_file(&home), id(5)).unwrap();
        assert_eq!(read_losses(&home).events, 2);
        assert_eq!(list_lost_deliveries(&home), BTreeSet::from([id(4), id(5)]));
        remove_arrived(&home, &BTreeSet::from([id(4)])).unwrap();
        assert_eq!(read_losses(&home), LossCount { events: 1, last: Some(Millis(5)) });
        reset_losses(&home).unwrap();
        assert_eq!(read_losses(&home).events, 0);
    }

    #[test]
    fn a_count_of_an_earlier_version_is_kept() {
        let (_folder, home) = home();
        let mut file = File::create(home_loss_file(&home)).unwrap();
        writeln!(file, "{:020} {:015}", 7, 50).unwrap();
        assert_eq!(read_losses(&home), LossCount { events: 7, last: Some(Millis(50)) });
        record_loss(&home, id(1), Millis(60)).unwrap();
        preallocate(&home).unwrap();
        assert_eq!(read_losses(&home), LossCount { events: 8, last: Some(Millis(60)) });
    }

    #[test]
    fn without_a_free_slot_the_oldest_is_only_counted() {
        let (_folder, home) = home();
        for n in 1..=SLOT_COUNT as u64 + 5 {
            record_loss(&home, id(n), Millis(n)).unwrap();
        }
        assert_eq!(read_losses(&home).events, SLOT_COUNT as u64 + 5);
        assert_eq!(list_lost_deliveries(&home).len(), SLOT_COUNT);
        assert!(
            !list_lost_deliveries(&home).contains(&id(5))
                && list_lost_deliveries(&home).contains(&id(6))
        );
    }
}
