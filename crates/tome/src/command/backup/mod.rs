//! `tome backup` and `tome restore`: everything that cannot be rebuilt, as one file.

mod partial_file;
mod restore;
mod summary;

use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tokio_stream::StreamExt;
use tome_engine::backup::{
    BackupCounts, BackupError, LedgerMark, PartialBackup, Record, check_backup,
};
use tome_home::sync_folder;
use tome_model::{Clock, Millis, SystemClock};
use tome_notebook::move_if_free;
use tome_proto::{ClientError, v1};
use tome_terminal::{format_bytes, progress_bar};

use self::partial_file::PartialFile;
pub use self::restore::restore;
use self::summary::{Reuse, WrittenBackup};
use super::screen::Screen;
use super::shell_word::quote_shell;
use super::time::format_file_time;
use super::{CommandContext, CommandError, Outcome};
use crate::cli::backup::BackupArgs;
use crate::connect::StartPolicy;

const BLOCK_TEMPLATE: &str = "{spinner} {bytes} {msg}";

pub fn write(context: &CommandContext, args: &BackupArgs) -> Result<Outcome> {
    let target = Target::choose(&args.path)?;
    if target.file.exists() && !args.force {
        let refusal = CommandError::bad_input(format!("{} exists already", target.file.display()));
        return Err(refusal.with_hint("choose another name, or add --force").into());
    }
    let mut file = PartialFile::open(&target.partial)?;
    let written = match write_file(context, &mut file) {
        Ok(written) => written,
        Err(error) => return Err(explain_interruption(file, error)),
    };
    let cannot_write = || format!("cannot write {}", target.file.display());
    match args.force {
        true => std::fs::rename(&target.partial, &target.file),
        false => move_if_free(&target.partial, &target.file),
    }
    .with_context(cannot_write)?;
    sync_folder(parent_of(&target.file)).with_context(cannot_write)?;
    let (reuse, checked) = written;
    let bytes = file.len()?;
    drop(file);
    if context.json {
        context.print_json(&json!({
            "file": target.file, "bytes": bytes, "verified": true,
            "holds": counts_json(&checked.counts), "reused": reuse.to_json(),
        }))?;
    } else {
        let written = WrittenBackup { path: &target.file, bytes, counts: checked.counts, reuse };
        written.print(&mut tome_terminal::stdout().lock(), &Screen::new(context))?;
    }
    Ok(if checked.counts.unreadable > 0 { Outcome::Failed } else { Outcome::Done })
}

/// The file of a backup, and where it is while it is being written.
struct Target {
    file: PathBuf,
    partial: PathBuf,
}

/// The end of the name of a backup that is being written or was interrupted.
const PARTIAL: &str = ".partial";

impl Target {
    /// In a folder the file is named after the time. The partial backup has the same name in every run,
    /// so that the next one finds it.
    fn choose(path: &Path) -> Result<Self> {
        let path = std::path::absolute(path)?;
        if path.is_dir() {
            let now = format_file_time(SystemClock.now());
            let file = path.join(format!("tome-{now}.backup"));
            return Ok(Self { file, partial: path.join(format!("tome.backup{PARTIAL}")) });
        }
        let folder = parent_of(&path);
        if !folder.is_dir() {
            let refusal =
                CommandError::not_found(format!("there is no folder {}", folder.display()));
            return Err(refusal.with_hint("create it first").into());
        }
        if let Some(command) = command_that_continues(&path).filter(|_| path.is_file()) {
            let problem = format!("{} is an interrupted backup", path.display());
            let hint = format!("`{command}` continues it");
            return Err(CommandError::bad_input(problem).with_hint(hint).into());
        }
        let partial = partial_path(&path);
        Ok(Self { file: path, partial })
    }
}

/// Where the backup that becomes this file is while it is being written.
fn partial_path(file: &Path) -> PathBuf {
    let mut partial = file.as_os_str().to_owned();
    partial.push(PARTIAL);
    PathBuf::from(partial)
}

/// The command that continues a partial backup; `None` if the path is not that of one.
fn command_that_continues(partial: &Path) -> Option<String> {
    let name =
        partial.file_name()?.to_str()?.strip_suffix(PARTIAL).filter(|name| !name.is_empty())?;
    let target = match name {
        "tome.backup" => parent_of(partial).to_path_buf(),
        name => partial.with_file_name(name),
    };
    Some(format!("tome backup {}", quote_shell(target.to_str()?)))
}

/// Completes the file and verifies all of it.
fn write_file(context: &CommandContext, file: &mut PartialFile) -> Result<(Reuse, CheckedBackup)> {
    let reuse = receive_blocks(context, file)?;
    let cannot_write = || format!("cannot write {}", file.path.display());
    file.file.sync_all().with_context(cannot_write)?;
    // Read back: a backup counts only if it can be read.
    let (bytes, path) = (file.len()?, file.path.clone());
    file.file.seek(SeekFrom::Start(0)).with_context(cannot_write)?;
    let checked = check_records(bytes, &file.file);
    Ok((reuse, checked.with_context(|| format!("{} is not readable", path.display()))?))
}

/// Writes the blocks that the daemon sends to the file, after those that can be kept.
fn receive_blocks(context: &CommandContext, file: &mut PartialFile) -> Result<Reuse> {
    let kept = file.read_kept()?;
    let mut reuse = match &kept {
        Some(kept) => Reuse::Continued { events: kept.events, bytes: kept.bytes },
        None => Reuse::Nothing,
    };
    let config = context.config.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
    let mut end = kept.as_ref().map_or(0, |kept| kept.bytes);
    let bar = progress_bar(None, BLOCK_TEMPLATE);
    bar.set_message("read");
    bar.inc(end);
    context.block_on(async {
        let client = context.connector.connect(StartPolicy::IfNotRunning).await?;
        let request = v1::WriteBackupRequest {
            config: config.unwrap_or_default(),
            partial: kept.map(partial_to_wire),
        };
        let mut blocks = client.write_backup(request).await?;
        let mut is_first = true;
        while let Some(block) = blocks.next().await {
            let block = block.map_err(ClientError::from)?;
            if !block.started_over.is_empty() {
                reuse = Reuse::StartedOver { reason: block.started_over };
                (end, is_first) = (0, true);
                bar.set_position(0);
            }
            let written = if is_first { file.truncate(end) } else { Ok(()) };
            written
                .and_then(|()| file.file.write_all(&block.block))
                .with_context(|| format!("cannot write {}", file.path.display()))?;
            is_first = false;
            bar.inc(block.block.len() as u64);
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    Ok(reuse)
}

fn partial_to_wire(partial: PartialBackup) -> v1::PartialBackup {
    let mark = |it: LedgerMark| v1::LedgerMark { ledger: it.ledger, seq: it.seq, sum: it.sum };
    v1::PartialBackup {
        blocks: partial.blocks,
        last_sum: partial.last_sum,
        version: partial.version,
        config: partial.config,
        projects: partial.projects.iter().map(Value::to_string).collect(),
        events: partial.events,
        ledgers: partial.ledgers.into_iter().map(mark).collect(),
    }
}

/// Says what is left of a backup that failed, and how to continue it. An empty file is removed.
fn explain_interruption(file: PartialFile, error: anyhow::Error) -> anyhow::Error {
    match file.len() {
        Ok(0) => {
            file.remove();
            error
        }
        Ok(bytes) => {
            let kept = format_bytes(bytes);
            error.context(format!(
                "the backup was interrupted after {kept}; run the same command again to continue it"
            ))
        }
        Err(_) => error,
    }
}

/// A backup that was read as a whole.
struct CheckedBackup {
    counts: BackupCounts,
    created: Option<Millis>,
    version: String,
    config: Option<String>,
}

fn check_records(bytes: u64, from: impl Read) -> Result<CheckedBackup, BackupError> {
    let bar = progress_bar(Some(bytes), "{wide_bar} {percent}% checked");
    let (mut created, mut version, mut config) = (None, String::new(), None);
    let counts = check_backup(bar.wrap_read(BufReader::new(from)), &mut |record| match record {
        Record::Start { created: at, version: by } => {
            (created, version) = (Some(*at), by.clone());
        }
        Record::Config { text } => config = Some(text.clone()),
        _ => {}
    });
    bar.finish_and_clear();
    Ok(CheckedBackup { counts: counts?, created, version, config })
}

fn counts_json(counts: &BackupCounts) -> Value {
    serde_json::to_value(counts).unwrap_or_default()
}

fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
