//! Checks before fjall opens a damaged database: it deletes keyspaces that look unfinished or
//! unreferenced, and they may contain all data.

use std::path::Path;

use crate::KvError;

/// The keyspace with the names of all others.
const META: &str = "0";
/// The file with the current version of a keyspace; fjall deletes a keyspace without it.
const CURRENT: &str = "current";

/// Rejects a database whose keyspaces fjall would delete or fail on.
pub(super) fn check_keyspaces(dir: &Path) -> Result<(), KvError> {
    let folder = dir.join("keyspaces");
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let (mut has_meta, mut has_tables) = (false, false);
    for entry in entries {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            continue;
        }
        let (name, path) = (entry.file_name(), entry.path());
        if name.to_str().and_then(|name| name.parse::<u64>().ok()).is_none() {
            return Err(format!("{} does not belong there: move it away", path.display()).into());
        }
        let is_whole = path.join(CURRENT).try_exists()?;
        let holds_tables =
            std::fs::read_dir(path.join("tables")).is_ok_and(|mut tables| tables.next().is_some());
        if holds_tables && !is_whole {
            return Err(damaged_error(&path, "its file `current` is missing"));
        }
        has_meta |= name == META && is_whole;
        has_tables |= name != META && holds_tables;
    }
    if has_tables && !has_meta {
        return Err(damaged_error(&folder.join(META), "it contained the names of all families"));
    }
    Ok(())
}

fn damaged_error(path: &Path, problem: &str) -> KvError {
    format!(
        "{} is damaged ({problem}): restore the ledger from a backup, or repair it from what is \
         still readable",
        path.display()
    )
    .into()
}
