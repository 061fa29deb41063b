//! `tome reflect`: has the chat model reflect on a session now. Also the reflection lines of `tome
//! status`.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_llm::Usage;
use tome_model::Millis;
use tome_proto::{Client, ClientError, v1};
use tome_terminal::{
    DIM, GREEN, RED, RESET, YELLOW, format_ago, format_count, format_counted, replace_control_chars,
};

use super::project_scope::resolve_project;
use super::session_lookup::complete_session;
use super::{CommandContext, CommandError, Outcome};
use crate::cli::reflect::ReflectArgs;
use crate::connect::ConnectError;

pub fn run(context: &CommandContext, args: &ReflectArgs) -> Result<Outcome> {
    let is_wide = args.session.is_some() && args.project.is_none();
    let project = if is_wide { None } else { resolve_project(context, args.project.as_deref())? };
    let request = v1::ReflectRequest {
        session_id: complete_session(context, args.session.as_deref())?.unwrap_or_default(),
        project: project.unwrap_or_default(),
        dry_run: args.dry_run,
    };
    // No retry: a call that broke off may already have cost tokens.
    let reflect = async |client: &Client| client.reflect(request).await;
    let done = match context.connector.call_once_blocking(reflect) {
        Ok(done) => done,
        Err(ConnectError::Client(ClientError::Conflict(message))) => {
            return Err(CommandError::failed(message).with_hint("`tome status` shows the configured model; after changing settings, run `tome stop` so that the daemon restarts with them").into());
        }
        Err(error) => return Err(error.into()),
    };
    if context.json {
        context.print_json(&reflection_json(context, &done, args.dry_run))?;
    } else {
        print_reflection(context, &done, args.dry_run)?;
    }
    Ok(if done.problem.is_empty() { Outcome::Done } else { Outcome::Failed })
}

fn print_reflection(
    context: &CommandContext,
    done: &v1::ReflectResponse,
    dry_run: bool,
) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    writeln!(
        out,
        "session  {} {DIM}({}, {}, {}){RESET}",
        replace_control_chars(&done.session_id),
        replace_control_chars(&done.agent),
        replace_control_chars(&done.project),
        format_counted(done.messages, "message", "messages")
    )?;
    if !done.skipped.is_empty() {
        return Ok(writeln!(out, "nothing to reflect on: {}", done.skipped)?);
    }
    if dry_run {
        return Ok(writeln!(out, "would call {}; nothing was sent", done.model)?);
    }
    for path in &done.written {
        writeln!(out, "wrote    {GREEN}{}{RESET}", replace_control_chars(path))?;
    }
    if done.written.is_empty() && done.problem.is_empty() {
        writeln!(out, "wrote    nothing; the model found nothing worth keeping")?;
    }
    let used = token_usage(done);
    let cost = context.settings.chat.prices.cost(&used);
    writeln!(
        out,
        "model    {} ({}, {} tokens read, {} written{})",
        done.model,
        format_counted(u64::from(done.rounds), "reply", "replies"),
        format_count(used.input_total()),
        format_count(used.output),
        cost.map(|cost| format!(", cost {cost:.4}")).unwrap_or_default()
    )?;
    if !done.problem.is_empty() {
        let problem = &done.problem;
        writeln!(
            out,
            "{RED}interrupted:{RESET} {problem}; the notes written until then are complete"
        )?;
    }
    Ok(())
}

fn token_usage(done: &v1::ReflectResponse) -> Usage {
    Usage {
        input: done.input_tokens,
        cache_read: done.cache_read_tokens,
        cache_written: done.cache_written_tokens,
        output: done.output_tokens,
    }
}

fn reflection_json(context: &CommandContext, done: &v1::ReflectResponse, dry_run: bool) -> Value {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let used = token_usage(done);
    json!({
        "session_id": done.session_id, "agent": done.agent, "project": done.project, "model": done.model,
        "dry_run": dry_run, "events": done.events, "messages": done.messages,
        "skipped": given(&done.skipped), "written": done.written, "refused": done.refused,
        "rounds": done.rounds, "input_tokens": used.input_total(), "output_tokens": used.output,
        "cost": context.settings.chat.prices.cost(&used),
        "problem": given(&done.problem),
    })
}

/// Prints the reflection lines of `tome status`.
pub fn print_status(
    out: &mut impl Write,
    status: &v1::ReflectionStatus,
    now: Millis,
) -> Result<()> {
    writeln!(
        out,
        "reflect  {}{} done, {} too short, {} waiting",
        if status.is_on { "" } else { "off; " },
        format_counted(status.done, "session", "sessions"),
        format_count(status.skipped),
        format_count(status.waiting)
    )?;
    if status.last_at_ms > 0 {
        let wrote = match status.last_written.as_slice() {
            [] => "nothing".to_owned(),
            written => written.join(", "),
        };
        writeln!(
            out,
            "         last {}: {}",
            format_ago(now, Millis(status.last_at_ms)),
            replace_control_chars(&wrote)
        )?;
    }
    if status.failed_at_ms > status.last_at_ms {
        writeln!(
            out,
            "         {YELLOW}interrupted{RESET} {}, session {}: {}",
            format_ago(now, Millis(status.failed_at_ms)),
            replace_control_chars(&status.failed_session_id),
            replace_control_chars(&status.failure)
        )?;
    }
    if let Some(left) = status.left.last() {
        let sessions = format_counted(status.left.len() as u64, "session", "sessions");
        writeln!(
            out,
            "         {YELLOW}gave up on {sessions}{RESET} after two attempts; `tome reflect {}` retries the last one",
            replace_control_chars(&left.session_id)
        )?;
    }
    Ok(())
}

pub fn status_json(status: &v1::ReflectionStatus) -> Value {
    let at = |ms: u64| Some(ms).filter(|ms| *ms > 0).map(Millis);
    let left: Vec<Value> = status
        .left
        .iter()
        .map(|left| {
            json!({"session_id": left.session_id, "project": left.project, "at": Millis(left.at_ms), "why": left.why})
        })
        .collect();
    json!({
        "on": status.is_on, "done": status.done, "skipped": status.skipped, "waiting": status.waiting,
        "last_at": at(status.last_at_ms), "last_session_id": status.last_session_id,
        "last_written": status.last_written,
        "failed_at": at(status.failed_at_ms), "failed_session_id": status.failed_session_id,
        "failure": status.failure, "left": left,
    })
}
