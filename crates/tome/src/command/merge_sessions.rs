//! `tome admin merge-sessions`: merges sessions whose events are stored in several projects, and the check
//! for such sessions in `tome status` and `tome doctor`.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_home::SessionIndex;
use tome_proto::{Client, v1};
use tome_terminal::{DIM, RESET, format_count, format_counted, replace_control_chars};

use super::{CommandContext, Outcome};

/// Sessions listed; `--json` lists all.
const SESSIONS_SHOWN_MAX: usize = 20;

pub fn run(context: &CommandContext, dry_run: bool) -> Result<Outcome> {
    let merge = async |client: &Client| client.merge_sessions(dry_run).await;
    let merged = context.connector.call_once_blocking(merge)?;
    if context.json {
        context.print_json(&as_json(&merged, dry_run))?;
    } else {
        print_merged(&merged, dry_run)?;
    }
    Ok(Outcome::Done)
}

fn as_json(merged: &v1::MergeSessionsResponse, dry_run: bool) -> Value {
    let session = |one: &v1::MergedSession| {
        json!({
            "agent": one.agent, "session_id": one.session_id, "project": one.project,
            "elsewhere": one.elsewhere, "events": one.events, "duplicates": one.duplicates,
        })
    };
    let sessions: Vec<Value> = merged.sessions.iter().map(session).collect();
    json!({"dry_run": dry_run, "sessions": sessions, "kept": merged.kept})
}

fn print_merged(merged: &v1::MergeSessionsResponse, dry_run: bool) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    if merged.sessions.is_empty() {
        writeln!(out, "nothing to merge: every session is in one project")?;
        return Ok(());
    }
    let verb = if dry_run { "would move" } else { "moved" };
    for session in merged.sessions.iter().take(SESSIONS_SHOWN_MAX) {
        writeln!(
            out,
            "{} {}: {verb} {} ({} of them stored twice) to {}  {DIM}from {}{RESET}",
            session.agent,
            replace_control_chars(&session.session_id),
            format_counted(session.events, "event", "events"),
            format_count(session.duplicates),
            replace_control_chars(&session.project),
            replace_control_chars(&session.elsewhere.join(", ")),
        )?;
    }
    let more = merged.sessions.len().saturating_sub(SESSIONS_SHOWN_MAX) as u64;
    if more > 0 {
        writeln!(
            out,
            "and {} more; --json lists them",
            format_counted(more, "session", "sessions")
        )?;
    }
    for kept in &merged.kept {
        writeln!(out, "the previous store was kept as {}", replace_control_chars(kept))?;
    }
    if dry_run {
        writeln!(out, "run without --dry-run to move them")?;
    }
    Ok(())
}

/// Counts the sessions stored in several projects, according to the session index.
pub fn count_split_sessions(context: &CommandContext) -> u64 {
    let index = SessionIndex::open(&context.settings.home.session_index());
    index.map_or(0, |index| index.split_sessions().len() as u64)
}

/// Returns the problem and its remedy; `None` without split sessions.
pub fn find_split_sessions(context: &CommandContext) -> Option<(String, &'static str)> {
    let split = count_split_sessions(context);
    let found = || {
        format!(
            "{} stored in several projects",
            format_counted(split, "session is", "sessions are")
        )
    };
    (split > 0).then(|| (found(), "run `tome admin merge-sessions`"))
}
