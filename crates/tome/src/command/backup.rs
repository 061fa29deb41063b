//! `tome backup` and `tome restore`: everything that cannot be rebuilt, as one file.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tome_engine::backup::{BackupCounts, BackupError, BlockReader, Record, check_backup};
use tome_home::sync_folder;
use tome_model::{Clock, Millis, SystemClock};
use tome_proto::{ClientError, v1};
use tome_terminal::{BOLD, RESET, YELLOW, format_bytes, format_counted, progress_bar, wrap_lines};

use super::{CommandContext, CommandError, Outcome};
use crate::cli::backup::{BackupArgs, RestoreArgs};
use crate::connect::StartPolicy;

/// Blocks on their way to the daemon.
const BLOCKS_IN_FLIGHT: usize = 2;
const BLOCK_TEMPLATE: &str = "{spinner} {bytes} {msg}";

pub fn write(context: &CommandContext, asked: &BackupArgs) -> Result<Outcome> {
    let path = choose_path(&asked.path)?;
    if path.exists() && !asked.force {
        let refusal = CommandError::bad_input(format!("{} exists already", path.display()));
        return Err(refusal.with_hint("choose another name, or add --force").into());
    }
    let folder = parent_of(&path);
    let mut file = tempfile::Builder::new()
        .prefix(".tome-backup-")
        .tempfile_in(folder)
        .with_context(|| format!("cannot write in {}", folder.display()))?;
    let config = context.config.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
    let bar = progress_bar(None, BLOCK_TEMPLATE);
    bar.set_message("read");
    context.block_on(async {
        let client = context.connector.connect(StartPolicy::IfNotRunning).await?;
        let request = v1::WriteBackupRequest { config: config.unwrap_or_default() };
        let mut blocks = client.write_backup(request).await?;
        while let Some(block) = blocks.next().await {
            let block = block.map_err(ClientError::from)?.block;
            file.write_all(&block)
                .with_context(|| format!("cannot write in {}", folder.display()))?;
            bar.inc(block.len() as u64);
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    file.as_file().sync_all().with_context(|| format!("cannot write in {}", folder.display()))?;
    // Read back: a backup counts only if it can be read.
    let checked = check_file(file.path())?;
    let bytes = file.as_file().metadata()?.len();
    let kept = if asked.force { file.persist(&path) } else { file.persist_noclobber(&path) };
    kept.map_err(|failed| failed.error)
        .with_context(|| format!("cannot write {}", path.display()))?;
    sync_folder(folder).with_context(|| format!("cannot sync {}", folder.display()))?;
    if context.json {
        context.print_json(&json!({
            "file": path, "bytes": bytes, "verified": true, "holds": counts_json(&checked.counts),
        }))?;
    } else {
        let mut out = tome_terminal::stdout().lock();
        let shown = context.shorten_path(&path);
        writeln!(out, "{BOLD}{shown}{RESET}  {}, verified", format_bytes(bytes))?;
        print_counts(&mut out, &checked.counts)?;
    }
    Ok(if checked.counts.unreadable > 0 { Outcome::Failed } else { Outcome::Done })
}

pub fn restore(context: &CommandContext, asked: &RestoreArgs) -> Result<Outcome> {
    // The whole file is verified before anything is changed.
    let checked = check_file(&asked.file)?;
    if asked.check {
        return show_checked(context, asked, &checked);
    }
    let restored = send_blocks(context, &asked.file)?;
    let config = restore_config(context, checked.config.as_deref())?;
    if context.json {
        context.print_json(&json!({
            "file": asked.file, "created": checked.created, "holds": counts_json(&checked.counts),
            "events": restored.events, "duplicates": restored.duplicates,
            "projects": restored.projects, "notes": restored.notes,
            "notes_beside": restored.notes_beside, "files": restored.files,
            "spooled": restored.spooled, "config": config.as_str(),
        }))?;
        return Ok(Outcome::Done);
    }
    print_restored(context, &restored, config)?;
    Ok(Outcome::Done)
}

fn print_restored(
    context: &CommandContext,
    restored: &v1::RestoreProgress,
    config: ConfigOutcome,
) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    let has_news = restored.events + restored.notes + restored.notes_beside + restored.files > 0;
    if !has_news {
        writeln!(out, "nothing to restore: everything in this backup is here already")?;
    } else {
        let events = format_counted(restored.events, "event", "events");
        let known = match restored.duplicates {
            0 => String::new(),
            known => format!(" ({} already here)", format_counted(known, "was", "were")),
        };
        writeln!(out, "{BOLD}restored {events}{RESET}{known}")?;
        for (count, one, many) in [
            (restored.projects, "new project", "new projects"),
            (restored.notes, "note", "notes"),
            (restored.files, "other file", "other files"),
            (restored.spooled, "waiting event", "waiting events"),
        ] {
            if count > 0 {
                writeln!(out, "  {}", format_counted(count, one, many))?;
            }
        }
    }
    if restored.notes_beside > 0 {
        let notes = format_counted(restored.notes_beside, "note differs", "notes differ");
        writeln!(out, "  {YELLOW}{notes}{RESET} from those here: see *.restored.md beside them")?;
    }
    let file = context.config.file.as_deref().map(|file| context.shorten_path(file));
    match (config, file) {
        (ConfigOutcome::Restored, Some(file)) => writeln!(out, "  settings in {file}")?,
        (ConfigOutcome::Kept, Some(file)) => {
            writeln!(out, "  settings stay as they are in {file}")?;
        }
        _ => {}
    }
    if has_news {
        let rest = "Contents and indexes are built in the background; `tome status` shows how far.";
        for line in wrap_lines(rest, tome_terminal::terminal_width()) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// A backup that was read as a whole.
struct CheckedBackup {
    counts: BackupCounts,
    created: Option<Millis>,
    version: String,
    config: Option<String>,
}

fn check_file(path: &Path) -> Result<CheckedBackup> {
    let file = open(path)?;
    let bar = progress_bar(Some(file.metadata()?.len()), "{wide_bar} {percent}% checked");
    let (mut created, mut version, mut config) = (None, String::new(), None);
    let counts = check_backup(bar.wrap_read(BufReader::new(file)), &mut |record| match record {
        Record::Start { created: at, version: by } => {
            (created, version) = (Some(*at), by.clone());
        }
        Record::Config { text } => config = Some(text.clone()),
        _ => {}
    });
    bar.finish_and_clear();
    let counts = counts.map_err(|error| explain(path, error))?;
    Ok(CheckedBackup { counts, created, version, config })
}

fn open(path: &Path) -> Result<File> {
    let found = File::open(path).and_then(|file| match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(std::io::Error::other("it is not a file")),
    });
    found.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            CommandError::not_found(format!("there is no file {}", path.display())).into()
        }
        _ => CommandError::bad_input(format!("cannot read {}: {error}", path.display())).into(),
    })
}

fn explain(path: &Path, error: BackupError) -> anyhow::Error {
    if !error.is_bad_file() {
        return error.into();
    }
    let refusal = CommandError::bad_input(format!("{}: {error}", path.display()));
    match error {
        BackupError::NotABackup | BackupError::Newer(_) => refusal.into(),
        _ => refusal.with_hint("nothing was restored; use another backup").into(),
    }
}

fn show_checked(
    context: &CommandContext,
    asked: &RestoreArgs,
    checked: &CheckedBackup,
) -> Result<Outcome> {
    let bytes = std::fs::metadata(&asked.file)?.len();
    if context.json {
        context.print_json(&json!({
            "file": asked.file, "bytes": bytes, "verified": true, "created": checked.created,
            "version": checked.version, "holds": counts_json(&checked.counts),
        }))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    let shown = context.shorten_path(&asked.file);
    writeln!(out, "{BOLD}{shown}{RESET}  {}, intact", format_bytes(bytes))?;
    if let Some(created) = checked.created {
        let ago = tome_terminal::format_ago(SystemClock.now(), created);
        writeln!(out, "  written {ago} by Tome {}", checked.version)?;
    }
    print_counts(&mut out, &checked.counts)?;
    Ok(Outcome::Done)
}

fn print_counts(out: &mut impl Write, counts: &BackupCounts) -> Result<()> {
    let mut parts = vec![
        format_counted(counts.events, "event", "events"),
        format_counted(counts.projects, "project", "projects"),
        format_counted(counts.notes, "note", "notes"),
    ];
    if counts.spooled > 0 {
        parts.push(format_counted(counts.spooled, "waiting event", "waiting events"));
    }
    writeln!(out, "  {}", parts.join(", "))?;
    if counts.unreadable > 0 {
        let events = format_counted(counts.unreadable, "event", "events");
        writeln!(out, "  {YELLOW}{events} could not be read{RESET}; run `tome doctor`")?;
    }
    Ok(())
}

fn counts_json(counts: &BackupCounts) -> Value {
    serde_json::to_value(counts).unwrap_or_default()
}

/// Sends the blocks one after the other; the daemon answers each once it is durable.
fn send_blocks(context: &CommandContext, path: &Path) -> Result<v1::RestoreProgress> {
    let mut reader = BlockReader::new(BufReader::new(open(path)?));
    let bar = progress_bar(Some(std::fs::metadata(path)?.len()), "{wide_bar} {percent}% restored");
    let (to_daemon, blocks) = mpsc::channel(BLOCKS_IN_FLIGHT);
    let mut progress = v1::RestoreProgress::default();
    context.block_on(async {
        let client = context.connector.connect(StartPolicy::IfNotRunning).await?;
        let mut answers = client.restore_backup(ReceiverStream::new(blocks)).await?;
        while let Some((block, _)) = reader.next_block().map_err(|error| explain(path, error))? {
            let bytes = block.len() as u64;
            // If the daemon is gone, the answer below says why.
            let _ = to_daemon.send(v1::BackupBlock { block }).await;
            let answer = answers.next().await.ok_or_else(|| {
                ClientError::Unreachable("the daemon stopped during the restore".to_owned())
            });
            progress =
                answer.and_then(|answer| answer.map_err(ClientError::from)).with_context(|| {
                    let events = format_counted(progress.events, "event", "events");
                    format!("{events} restored so far; run the command again for the rest")
                })?;
            bar.inc(bytes);
        }
        drop(to_daemon);
        Ok(())
    })?;
    bar.finish_and_clear();
    Ok(progress)
}

/// The outcome for the config file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConfigOutcome {
    NotInBackup,
    Restored,
    Same,
    /// There is another one, which counts.
    Kept,
}

impl ConfigOutcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::NotInBackup => "not in the backup",
            Self::Restored => "restored",
            Self::Same => "same",
            Self::Kept => "kept",
        }
    }
}

/// Writes the config file, unless there is one.
fn restore_config(context: &CommandContext, text: Option<&str>) -> Result<ConfigOutcome> {
    let (Some(text), Some(file)) = (text, &context.config.file) else {
        return Ok(ConfigOutcome::NotInBackup);
    };
    match std::fs::read_to_string(file) {
        Ok(here) if here == text => return Ok(ConfigOutcome::Same),
        Ok(_) => return Ok(ConfigOutcome::Kept),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Ok(ConfigOutcome::Kept);
        }
        Err(_) => {}
    }
    let folder = parent_of(file);
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    tome_home::write_atomic(file, text.as_bytes())?;
    Ok(ConfigOutcome::Restored)
}

/// The file to write: in a folder it is named after the time.
fn choose_path(asked: &Path) -> Result<PathBuf> {
    let asked = std::path::absolute(asked)?;
    if asked.is_dir() {
        let now = jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S").to_string();
        return Ok(asked.join(format!("tome-{now}.backup")));
    }
    let folder = parent_of(&asked);
    if !folder.is_dir() {
        let refusal = CommandError::not_found(format!("there is no folder {}", folder.display()));
        return Err(refusal.with_hint("create it first").into());
    }
    Ok(asked)
}

fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
