//! Reads events directly from the files of a fjall database, even if it cannot be opened: from every
//! table block and journal batch that matches its checksum.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsm_tree::{Cache, Checksum, Table};

use super::journal;
use crate::limits::BAD_BLOCKS_MAX;
use crate::{Family, LedgerError, event_value, key};

/// Small, because a table is read once from beginning to end.
const CACHE_BYTES: u64 = 1024 * 1024;

/// Visits key and value of every event that is still readable in the folder of a ledger. An event may
/// be visited several times.
pub(crate) fn visit_events(ledger: &Path, show: VisitEvent<'_>) -> Result<(), LedgerError> {
    for dir in list_folders(ledger, |name| name == "fjall" || name.starts_with("fjall-aside-")) {
        let names = keyspace_names(&dir);
        for keyspace in list_folders(&dir.join("keyspaces"), |_| true) {
            let name = keyspace.file_name().and_then(|name| name.to_str()?.parse::<u64>().ok());
            let name = name.and_then(|id| names.get(&id));
            let is_events = name.map(|name| name == Family::Events.as_str());
            for table in list_files(&keyspace.join("tables")) {
                match is_events {
                    Some(true) => visit_items(&table, show)?,
                    Some(false) => {}
                    None => {
                        visit_items(&table, &mut |key, value| visit_if_event(key, value, show))?;
                    }
                }
            }
        }
        for (_, path) in journal::list_journals(&dir).unwrap_or_default() {
            journal::visit_valid_items(&path, &mut |key, value| visit_if_event(key, value, show))?;
        }
    }
    for path in list_files(ledger).into_iter().filter(|path| is_torn_journal(path)) {
        journal::visit_valid_items(&path, &mut |key, value| visit_if_event(key, value, show))?;
    }
    Ok(())
}

type VisitEvent<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> Result<(), LedgerError>;

/// Visits an item of an unknown family if it is an event; values of other families never decode as one.
fn visit_if_event(key: &[u8], value: &[u8], show: VisitEvent<'_>) -> Result<(), LedgerError> {
    let event = key::parse_event_key(Family::Events, key, key)
        .and_then(|position| event_value::decode_event(key, position, value));
    if event.is_ok() { show(key, value) } else { Ok(()) }
}

fn is_torn_journal(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("torn-") && path.extension().is_some_and(|end| end == "journal")
}

/// Reads the names of the keyspaces by number, as far as fjall's own keyspace is readable.
fn keyspace_names(dir: &Path) -> HashMap<u64, String> {
    let mut names = HashMap::new();
    for table in list_files(&dir.join("keyspaces/0/tables")) {
        let _ = visit_items(&table, &mut |key, value| {
            if let Some((b'n', id)) = key.split_first()
                && let (Ok(id), Ok(name)) = (id.try_into(), std::str::from_utf8(value))
            {
                names.insert(u64::from_be_bytes(id), name.to_owned());
            }
            Ok(())
        });
    }
    names
}

/// Visits every readable item of a table.
fn visit_items(path: &Path, show: VisitEvent<'_>) -> Result<(), LedgerError> {
    let cache = Arc::new(Cache::with_capacity_bytes(CACHE_BYTES));
    let none = Checksum::from_raw(0);
    let Ok(table) = Table::recover(path.to_owned(), none, 0, 0, cache, None, false, false) else {
        return Ok(());
    };
    let mut bad_in_a_row = 0;
    for item in table.iter() {
        match item {
            Ok(item) => {
                bad_in_a_row = 0;
                show(&item.key.user_key, &item.value)?;
            }
            Err(_) if bad_in_a_row < BAD_BLOCKS_MAX => bad_in_a_row += 1,
            Err(_) => break,
        }
    }
    Ok(())
}

fn list_folders(dir: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| entry.file_name().to_str().is_some_and(&is_wanted))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

fn list_files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}
