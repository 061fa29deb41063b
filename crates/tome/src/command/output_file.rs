//! A file that a command writes: all of it, or none.

use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use tome_home::sync_folder;

use super::CommandError;

/// Writes a file; one that exists only if it may be replaced.
pub fn write_output_file<T>(
    path: &Path,
    is_forced: bool,
    write: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    if path.exists() && !is_forced {
        let refusal = CommandError::bad_input(format!("{} exists already", path.display()));
        return Err(refusal.with_hint("choose another name, or add --force").into());
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    let failed = || format!("cannot write {}", path.display());
    let file = tempfile::Builder::new().prefix(".tome-output-").tempfile_in(folder);
    let mut file = file.with_context(|| format!("cannot write in {}", folder.display()))?;
    let mut buffer = BufWriter::new(&mut file);
    let written = write(&mut buffer)?;
    buffer.flush().with_context(failed)?;
    drop(buffer);
    file.as_file().sync_all().with_context(failed)?;
    let kept = if is_forced { file.persist(path) } else { file.persist_noclobber(path) };
    kept.map_err(|error| error.error).with_context(failed)?;
    sync_folder(folder)?;
    Ok(written)
}
