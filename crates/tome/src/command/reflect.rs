//! `tome reflect`: has the chat model reflect on a session now. Also the reflection lines of `tome
//! status`.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_llm::Usage;
use tome_model::Millis;
use tome_proto::{ClientError, v1};

use super::events::project_of;
use super::{Context, Outcome, Refusal};
use crate::cli::reflect::Reflect;
use crate::reach::{ReachError, Start};
use crate::render::{DIM, GREEN, PLAIN, RED, YELLOW, ago, count, counted, safe};

pub fn run(context: &Context, asked: &Reflect) -> Result<Outcome> {
    let is_wide = asked.session.is_some() && asked.project.is_none();
    let project = if is_wide { None } else { project_of(context, asked.project.as_deref())? };
    let request = v1::ReflectRequest {
        session_id: asked.session.clone().unwrap_or_default(),
        project: project.unwrap_or_default(),
        dry_run: asked.dry_run,
    };
    let answer = context.block_on(async {
        // No retry: a call that broke off may already have cost tokens.
        let client = context.reach.client(Start::IfAway).await?;
        Ok(client.reflect(request).await.map_err(ReachError::from))
    })?;
    let done = match answer {
        Ok(done) => done,
        Err(ReachError::Client(ClientError::Conflict(said))) => {
            return Err(Refusal::failed(said).hint("`tome status` shows the configured model; after changing settings, run `tome stop` so that the daemon restarts with them").into());
        }
        Err(error) => return Err(error.into()),
    };
    if context.json {
        context.print_json(&as_json(context, &done, asked.dry_run))?;
    } else {
        print(context, &done, asked.dry_run)?;
    }
    Ok(if done.problem.is_empty() { Outcome::Done } else { Outcome::Failed })
}

fn print(context: &Context, done: &v1::ReflectResponse, dry_run: bool) -> Result<()> {
    let mut out = crate::terminal::stdout().lock();
    writeln!(
        out,
        "session  {} {DIM}({}, {}, {}){PLAIN}",
        safe(&done.session_id),
        safe(&done.agent),
        safe(&done.project),
        counted(done.messages, "message", "messages")
    )?;
    if !done.skipped.is_empty() {
        return Ok(writeln!(out, "nothing to reflect on: {}", done.skipped)?);
    }
    if dry_run {
        return Ok(writeln!(out, "would call {}; nothing was sent", done.model)?);
    }
    for path in &done.written {
        writeln!(out, "wrote    {GREEN}{}{PLAIN}", safe(path))?;
    }
    if done.written.is_empty() && done.problem.is_empty() {
        writeln!(out, "wrote    nothing; the model found nothing worth keeping")?;
    }
    let used = usage(done);
    let cost = context.settings.chat.prices.cost(&used);
    writeln!(
        out,
        "model    {} ({}, {} tokens read, {} written{})",
        done.model,
        counted(u64::from(done.rounds), "reply", "replies"),
        count(used.read()),
        count(used.output),
        cost.map(|cost| format!(", cost {cost:.4}")).unwrap_or_default()
    )?;
    if !done.problem.is_empty() {
        let problem = &done.problem;
        writeln!(
            out,
            "{RED}interrupted:{PLAIN} {problem}; the notes written until then are complete"
        )?;
    }
    Ok(())
}

fn usage(done: &v1::ReflectResponse) -> Usage {
    Usage {
        input: done.input_tokens,
        cache_read: done.cache_read_tokens,
        cache_written: done.cache_written_tokens,
        output: done.output_tokens,
    }
}

fn as_json(context: &Context, done: &v1::ReflectResponse, dry_run: bool) -> Value {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let used = usage(done);
    json!({
        "session_id": done.session_id, "agent": done.agent, "project": done.project, "model": done.model,
        "dry_run": dry_run, "events": done.events, "messages": done.messages,
        "skipped": given(&done.skipped), "written": done.written, "refused": done.refused,
        "rounds": done.rounds, "input_tokens": used.read(), "output_tokens": used.output,
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
        counted(status.done, "session", "sessions"),
        count(status.skipped),
        count(status.waiting)
    )?;
    if status.last_at_ms > 0 {
        let wrote = match status.last_written.as_slice() {
            [] => "nothing".to_owned(),
            written => written.join(", "),
        };
        writeln!(out, "         last {}: {}", ago(now, Millis(status.last_at_ms)), safe(&wrote))?;
    }
    if status.failed_at_ms > status.last_at_ms {
        writeln!(
            out,
            "         {YELLOW}interrupted{PLAIN} {}, session {}: {}",
            ago(now, Millis(status.failed_at_ms)),
            safe(&status.failed_session_id),
            safe(&status.failure)
        )?;
    }
    if let Some(left) = status.left.last() {
        let sessions = counted(status.left.len() as u64, "session", "sessions");
        writeln!(
            out,
            "         {YELLOW}gave up on {sessions}{PLAIN} after two attempts; `tome reflect {}` retries the last one",
            safe(&left.session_id)
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
