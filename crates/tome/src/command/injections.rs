//! `tome injections`: lists recorded injections, or previews the next session's.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_model::{Agent, Millis};
use tome_proto::{Client, v1};
use tome_terminal::{DIM, RESET, YELLOW};

use super::events::resolve_project;
use super::project_name::resolve_name;
use super::session_lookup::complete_session;
use super::{CommandContext, CommandError, Outcome, time};
use crate::agents::{self, InjectionPoint};
use crate::cli::injections::InjectionsArgs;
use crate::hook::settings_to_wire;

pub fn run(context: &CommandContext, asked: &InjectionsArgs) -> Result<Outcome> {
    if asked.preview { preview_injection(context, asked) } else { list_injections(context, asked) }
}

fn list_injections(context: &CommandContext, asked: &InjectionsArgs) -> Result<Outcome> {
    let is_wide = asked.all_projects || asked.session.is_some();
    let project = if is_wide { None } else { resolve_project(context, asked.project.as_deref())? };
    let request = v1::ListInjectionsRequest {
        project: project.clone().unwrap_or_default(),
        session_id: complete_session(context, asked.session.as_deref())?.unwrap_or_default(),
        limit: asked.limit,
    };
    let list = async |client: &Client| client.list_injections(request.clone()).await;
    let listed = context.connector.call_blocking(list)?;
    if listed.is_empty() && !context.json {
        let narrowed =
            if project.is_some() { " here; --all-projects searches all projects" } else { "" };
        writeln!(tome_terminal::stderr(), "no injections{narrowed}")?;
    }
    for one in &listed {
        if context.json {
            context.print_json(&injection_json(one))?;
        } else {
            print_injection(one, asked.full)?;
        }
    }
    Ok(Outcome::Done)
}

fn print_injection(one: &v1::InjectionRecord, full: bool) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    let session: String = one.session_id.chars().take(8).collect();
    let late = if one.handed { "" } else { "  too late" };
    let cut = match one.cut.is_empty() {
        true => String::new(),
        false => format!("  cut: {}", one.cut.join(", ")),
    };
    writeln!(
        out,
        "{DIM}{}{RESET}  {:<11}  {DIM}{session:<8}{RESET}  {:<10}  {:<8}  {:>5} tokens  {:>4} ms{YELLOW}{late}{RESET}{DIM}{cut}{RESET}",
        time::format_local_time(Millis(one.at_ms)),
        one.agent,
        one.moment,
        tome_terminal::one_line(&one.why, 12),
        tome_terminal::format_tokens(one.tokens),
        one.took_ms,
    )?;
    if full {
        writeln!(out, "{}\n", tome_terminal::replace_control_chars(&one.text))?;
    }
    Ok(())
}

fn injection_json(one: &v1::InjectionRecord) -> Value {
    json!({
        "at": Millis(one.at_ms).to_string(), "moment": one.moment, "why": one.why,
        "agent": one.agent, "session_id": one.session_id, "project": one.project,
        "tokens": one.tokens, "cut": one.cut, "took_ms": one.took_ms, "handed": one.handed,
        "text": one.text,
    })
}

fn preview_injection(context: &CommandContext, asked: &InjectionsArgs) -> Result<Outcome> {
    let agent = Agent::parse(&asked.agent)?;
    let bytes_max = agents::max_text_bytes(&agent, InjectionPoint::Start);
    if bytes_max == 0 {
        let known = Agent::KNOWN.join(", ");
        return Err(CommandError::bad_input(format!("Tome cannot inject context into {agent}"))
            .with_hint(format!("known agents: {known}"))
            .into());
    }
    let folder = match &asked.project {
        Some(folder) => std::path::absolute(resolve_name(context, folder)?)?,
        None => std::env::current_dir()?,
    };
    let settings = &context.settings.inject;
    let request = v1::PreviewInjectionRequest {
        cwd: folder.to_string_lossy().into_owned(),
        bytes_max: u32::try_from(bytes_max)?,
        settings: Some(settings_to_wire(settings)),
    };
    let preview = async |client: &Client| client.preview_injection(request.clone()).await;
    let found = context.connector.call_blocking(preview)?;
    if context.json {
        context.print_json(&json!({
            "agent": agent.as_str(), "enabled": settings.start, "tokens": found.tokens,
            "budget_tokens": settings.budget_tokens, "cut": found.cut, "text": found.text,
        }))?;
        return Ok(Outcome::Done);
    }
    let mut err = tome_terminal::stderr();
    if found.text.is_empty() {
        writeln!(err, "nothing to inject: inject.budget_tokens is too small")?;
        return Ok(Outcome::Done);
    }
    writeln!(tome_terminal::stdout(), "{}", tome_terminal::replace_control_chars(&found.text))?;
    let (tokens, budget) = (
        tome_terminal::format_count(found.tokens),
        tome_terminal::format_count(settings.budget_tokens),
    );
    let cut = match found.cut.is_empty() {
        true => String::new(),
        false => format!("; cut: {}", found.cut.join(", ")),
    };
    writeln!(err, "{DIM}{tokens} of {budget} tokens (inject.budget_tokens){cut}{RESET}")?;
    if !settings.start {
        writeln!(err, "{YELLOW}turned off{RESET} by inject.start or inject.enabled")?;
    }
    Ok(Outcome::Done)
}
