//! The last step of a repair: the rebuilt store takes the place of the old one.
//!
//! ```text
//! <ledger>-repairing/    the new store while it is built; contains COMPLETE once it is finished
//! ```
//!
//! A finished store is moved by the process that finds the old one set aside: the repair itself or, if that was
//! interrupted, the next open.

use std::path::{Path, PathBuf};

use crate::{LedgerError, store_file};

const COMPLETE: &str = "COMPLETE";

/// Where the new store is built.
pub(crate) fn building_path(dir: &Path) -> PathBuf {
    sibling_path(dir, "-repairing")
}

pub(crate) fn sibling_path(dir: &Path, suffix: &str) -> PathBuf {
    let mut name = dir.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    dir.with_file_name(name)
}

/// Marks a new store as complete, after all of it is synced.
pub(crate) fn mark_complete(building: &Path) -> Result<(), LedgerError> {
    let complete = building.join(COMPLETE);
    std::fs::File::create(&complete)
        .and_then(|file| file.sync_all())
        .map_err(LedgerError::io("write", &complete))?;
    sync_folder(building)
}

/// Moves a complete new store into place if the old one is set aside.
pub(crate) fn finish(dir: &Path) -> Result<(), LedgerError> {
    let building = building_path(dir);
    let complete = building.join(COMPLETE);
    if dir.exists() || !complete.exists() {
        return Ok(());
    }
    std::fs::rename(&building, dir).map_err(LedgerError::io("rename", &building))?;
    sync_folder(dir.parent().unwrap_or(dir))?;
    let complete = dir.join(COMPLETE);
    std::fs::remove_file(&complete).map_err(LedgerError::io("remove", &complete))
}

fn sync_folder(dir: &Path) -> Result<(), LedgerError> {
    store_file::sync_dir(dir).map_err(LedgerError::io("sync", dir))
}
