//! `tome restore`: adds a backup to the home.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tome_engine::backup::{BackupError, BlockReader};
use tome_proto::{ClientError, v1};
use tome_terminal::{format_counted, progress_bar};

use super::summary::{ConfigOutcome, print_restored};
use super::{
    CheckedBackup, CommandContext, CommandError, Outcome, Screen, check_records,
    command_that_continues, counts_json, parent_of, partial_path,
};
use crate::cli::backup::RestoreArgs;
use crate::connect::StartPolicy;

/// Blocks on their way to the daemon.
const BLOCKS_IN_FLIGHT: usize = 2;

pub fn restore(context: &CommandContext, args: &RestoreArgs) -> Result<Outcome> {
    // The whole file is verified before anything is changed.
    let checked = check_file(&args.file)?;
    if args.check {
        return show_checked(context, args, &checked);
    }
    let restored = send_blocks(context, &args.file)?;
    let config = restore_config(context, checked.config.as_deref())?;
    if context.json {
        context.print_json(&json!({
            "file": args.file, "created": checked.created, "holds": counts_json(&checked.counts),
            "events": restored.events, "duplicates": restored.duplicates,
            "projects": restored.projects, "notes": restored.notes,
            "notes_known": restored.notes_known, "notes_beside": restored.notes_beside,
            "versions": restored.versions, "files": restored.files,
            "files_known": restored.files_known,
            "spooled": restored.spooled, "config": config.as_str(),
        }))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    let file = context.config.file.as_deref();
    print_restored(&mut out, &Screen::new(context), &restored, config, file)?;
    Ok(Outcome::Done)
}

fn check_file(path: &Path) -> Result<CheckedBackup> {
    let file = open_backup(path)?;
    check_records(file.metadata()?.len(), file).map_err(|error| explain_backup_error(path, error))
}

fn open_backup(path: &Path) -> Result<File> {
    let opened = File::open(path).and_then(|file| {
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(std::io::Error::other("it is not a file"))
        }
    });
    opened.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            let missing = CommandError::not_found(format!("there is no file {}", path.display()));
            let partial = partial_path(path);
            match command_that_continues(&partial).filter(|_| partial.is_file()) {
                Some(command) => {
                    let hint = format!("this backup was interrupted; `{command}` continues it");
                    missing.with_hint(hint).into()
                }
                None => missing.with_hint("`tome backup FILE` writes one").into(),
            }
        }
        _ => CommandError::bad_input(format!("cannot read {}: {error}", path.display())).into(),
    })
}

fn explain_backup_error(path: &Path, error: BackupError) -> anyhow::Error {
    if !error.is_bad_file() {
        return error.into();
    }
    let refusal = CommandError::bad_input(format!("{}: {error}", path.display()));
    let hint = match (&error, command_that_continues(path)) {
        (BackupError::NotABackup | BackupError::Newer(_), _) => return refusal.into(),
        (_, Some(command)) => {
            format!("nothing was restored: this backup was interrupted; `{command}` continues it")
        }
        (_, None) => "nothing was restored; use another backup".to_owned(),
    };
    refusal.with_hint(hint).into()
}

fn show_checked(
    context: &CommandContext,
    args: &RestoreArgs,
    checked: &CheckedBackup,
) -> Result<Outcome> {
    let bytes = std::fs::metadata(&args.file)?.len();
    if context.json {
        context.print_json(&json!({
            "file": args.file, "bytes": bytes, "verified": true, "created": checked.created,
            "version": checked.version, "holds": counts_json(&checked.counts),
        }))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    checked.print(&mut out, &Screen::new(context), &args.file, bytes)?;
    Ok(Outcome::Done)
}

/// Sends the blocks one after the other; the daemon answers each once it is durable.
fn send_blocks(context: &CommandContext, path: &Path) -> Result<v1::RestoreProgress> {
    let mut reader = BlockReader::new(BufReader::new(open_backup(path)?));
    let bar = progress_bar(Some(std::fs::metadata(path)?.len()), "{wide_bar} {percent}% restored");
    let (to_daemon, blocks) = mpsc::channel(BLOCKS_IN_FLIGHT);
    let mut progress = v1::RestoreProgress::default();
    context.block_on(async {
        let client = context.connector.connect(StartPolicy::IfNotRunning).await?;
        let mut answers = client.restore_backup(ReceiverStream::new(blocks)).await?;
        while let Some(block) =
            reader.next_block().map_err(|error| explain_backup_error(path, error))?
        {
            let bytes = block.bytes.len() as u64;
            let block = v1::BackupBlock { block: block.bytes, ..v1::BackupBlock::default() };
            // If the daemon is gone, the answer below says why.
            let _ = to_daemon.send(block).await;
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
