//! The folder of a session: `working-memory/` with an overview to fill in and room for details.
//!
//! It is made once, beside its place, and then moved there whole: a `working-memory/` that is there
//! is somebody's work, whatever is or is not in it, and is left alone.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use tome_notebook::OVERVIEW;

use crate::EngineError;

const PLACE: &str = "working-memory";
const MAKING: &str = ".working-memory.new";

/// Makes the folders of a session, and its overview, where there are none.
pub(super) fn ensure(folder: &Path) -> Result<(), EngineError> {
    let place = folder.join(PLACE);
    if std::fs::symlink_metadata(&place).is_ok() {
        return Ok(());
    }
    let making = folder.join(MAKING);
    make(&making).map_err(EngineError::file("create", &making))?;
    match std::fs::rename(&making, &place) {
        Ok(()) => Ok(()),
        // Its first note made it meanwhile.
        Err(_) if place.exists() => {
            std::fs::remove_dir_all(&making).map_err(EngineError::file("remove", &making))
        }
        Err(error) => Err(EngineError::file("create", &place)(error)),
    }
}

fn make(making: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(making.join("detail"))?;
    let mut file = File::create(making.join("overview.md"))?;
    file.write_all(OVERVIEW.as_bytes())?;
    // An empty overview would look like one that somebody has emptied.
    file.sync_data()
}
