//! Creates a session's `working-memory/`, with a blank overview and a folder for details.
//!
//! It is created under a temporary name and renamed into place. An existing `working-memory/` is
//! never touched, whatever it contains.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use tome_notebook::{OVERVIEW_TEMPLATE, move_if_free};

use tome_home::HomeError;

const WORKING_MEMORY: &str = "working-memory";
const STAGING: &str = ".working-memory.new";

/// Creates the working memory of a session if it does not exist.
pub(super) fn ensure(folder: &Path) -> Result<(), HomeError> {
    let path = folder.join(WORKING_MEMORY);
    if std::fs::symlink_metadata(&path).is_ok() {
        return Ok(());
    }
    let making = folder.join(STAGING);
    create_template(&making).map_err(HomeError::file("create", &making))?;
    match move_if_free(&making, &path) {
        Ok(()) => Ok(()),
        // A note of the session created it meanwhile.
        Err(_) if path.exists() => {
            std::fs::remove_dir_all(&making).map_err(HomeError::file("remove", &making))
        }
        Err(error) => Err(HomeError::file("create", &path)(error)),
    }
}

fn create_template(making: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(making.join("detail"))?;
    let mut file = File::create(making.join("overview.md"))?;
    file.write_all(OVERVIEW_TEMPLATE.as_bytes())?;
    // Sync, because an empty overview would look as if someone had cleared it.
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_created_meanwhile_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (making, path) = (folder.path().join(STAGING), folder.path().join(WORKING_MEMORY));
        create_template(&making).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(move_if_free(&making, &path).is_err());
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
        std::fs::remove_dir(&path).unwrap();
        ensure(folder.path()).unwrap();
        assert!(path.join("overview.md").is_file() && !making.exists());
        ensure(folder.path()).unwrap();
    }
}
