//! The command lines of `tome backup` and `tome restore`.

use std::path::PathBuf;

use clap::Args;

pub const BACKUP_HELP: &str = "\
A backup is one file with everything that cannot be rebuilt: events, projects, notes with their
history, waiting events and the config file. It is written while Tome runs, holds every event that
was stored when it began, and is read back and verified before it gets its name. `zstd -dc` prints
its JSON lines.

If a backup is interrupted, run the same command again: the events that are in FILE.partial already
are verified and kept, and everything else is read again.

Examples:
  tome backup ~/backups/                 write tome-<date>-<time>.backup into that folder
  tome backup home.backup                write this file
  tome restore --check home.backup       verify a backup without restoring it
  tome restore home.backup               add everything that is missing here";

pub const RESTORE_HELP: &str = "\
Restoring adds and never replaces: events and notes that exist here stay as they are, and restoring
the same backup again adds nothing. Earlier versions of notes join the history here, with their
authors: see `tome memory log`. A note that differs from the one here is put beside it as
name.restored.md, unless it was changed or deleted here since. If a restore is interrupted, run it
again. Contents and indexes are built afterwards.

Examples:
  tome restore --check home.backup       verify every block, and show what it holds
  tome restore home.backup               restore into the usual home
  tome --home /tmp/look restore home.backup     restore into an empty home, to look around";

/// `tome backup`
#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The file to write, or an existing folder for it
    #[arg(value_name = "FILE|DIR")]
    pub path: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

/// `tome restore`
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The backup
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Verify the backup and show what it holds, without restoring anything
    #[arg(long, visible_alias = "verify")]
    pub check: bool,
}
