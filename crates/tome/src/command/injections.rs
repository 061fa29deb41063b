//! `tome injections`: lists recorded injections, or previews the next session's.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_model::{Agent, Millis};
use tome_proto::{Client, v1};
use tome_terminal::{DIM, RESET, WrappedWriter, YELLOW};

use super::project_name::{absolute_path, resolve_name};
use super::project_scope::resolve_project;
use super::screen::Screen;
use super::session_lookup::complete_session;
use super::{CommandContext, CommandError, Outcome};
use crate::agents::{self, InjectionPoint};
use crate::cli::injections::InjectionsArgs;
use crate::hook::settings_to_wire;

pub fn run(context: &CommandContext, args: &InjectionsArgs) -> Result<Outcome> {
    if args.preview { preview_injection(context, args) } else { list_injections(context, args) }
}

fn list_injections(context: &CommandContext, args: &InjectionsArgs) -> Result<Outcome> {
    let is_wide = args.all_projects || args.session.is_some();
    let project = if is_wide { None } else { resolve_project(context, args.project.as_deref())? };
    let request = v1::ListInjectionsRequest {
        project: project.clone().unwrap_or_default(),
        session_id: complete_session(context, args.session.as_deref())?.unwrap_or_default(),
        limit: args.limit,
    };
    let list = async |client: &Client| client.list_injections(request.clone()).await;
    let listed = context.connector.call_blocking(list)?;
    if listed.is_empty() && !context.json {
        let narrowed =
            if project.is_some() { " here; --all-projects searches all projects" } else { "" };
        writeln!(tome_terminal::stderr(), "no injections{narrowed}")?;
    }
    let screen = Screen::new(context);
    for injection in &listed {
        if context.json {
            context.print_json(&injection_json(injection))?;
        } else {
            print_injection(&screen, injection, args.full)?;
        }
    }
    Ok(Outcome::Done)
}

fn print_injection(screen: &Screen, injection: &v1::InjectionRecord, full: bool) -> Result<()> {
    let mut out = tome_terminal::stdout().lock();
    let session: String = injection.session_id.chars().take(8).collect();
    let late = if injection.handed { "" } else { "  too late" };
    let cut = if injection.cut.is_empty() {
        String::new()
    } else {
        format!("  cut: {}", injection.cut.join(", "))
    };
    writeln!(
        out,
        "{DIM}{:<13}{RESET}  {:<11}  {DIM}{session:<8}{RESET}  {:<10}  {:<8}  {:>5} tokens  {:>4} ms{YELLOW}{late}{RESET}{DIM}{cut}{RESET}",
        screen.labels.format_date_hour(screen.now, injection.at_ms),
        injection.agent,
        injection.moment,
        tome_terminal::one_line(&injection.why, 12),
        tome_terminal::format_tokens(injection.tokens),
        injection.took_ms,
    )?;
    if full {
        writeln!(out, "{}\n", tome_terminal::replace_control_chars(&injection.text))?;
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

fn preview_injection(context: &CommandContext, args: &InjectionsArgs) -> Result<Outcome> {
    let agent = Agent::parse(&args.agent)?;
    let bytes_max = agents::max_text_bytes(&agent, InjectionPoint::Start);
    if bytes_max == 0 {
        let known = Agent::KNOWN.join(", ");
        return Err(CommandError::bad_input(format!("Tome cannot inject context into {agent}"))
            .with_hint(format!("known agents: {known}"))
            .into());
    }
    let folder = match &args.project {
        Some(folder) => absolute_path(&resolve_name(context, folder)?)?,
        None => std::env::current_dir()?,
    };
    let settings = &context.settings.inject;
    let request = v1::PreviewInjectionRequest {
        cwd: folder.to_string_lossy().into_owned(),
        bytes_max: u32::try_from(bytes_max)?,
        settings: Some(settings_to_wire(settings)),
    };
    let preview = async |client: &Client| client.preview_injection(request.clone()).await;
    let previewed = context.connector.call_blocking(preview)?;
    if context.json {
        context.print_json(&json!({
            "agent": agent.as_str(), "enabled": settings.start, "tokens": previewed.tokens,
            "budget_tokens": settings.budget_tokens, "cut": previewed.cut, "text": previewed.text,
        }))?;
        return Ok(Outcome::Done);
    }
    let mut err = tome_terminal::stderr();
    if previewed.text.is_empty() {
        writeln!(err, "nothing to inject: inject.budget_tokens is too small")?;
        return Ok(Outcome::Done);
    }
    let mut out = WrappedWriter::new(tome_terminal::stdout().lock(), 2);
    writeln!(out, "{}", tome_terminal::replace_control_chars(&previewed.text))?;
    let (tokens, budget) = (
        tome_terminal::format_count(previewed.tokens),
        tome_terminal::format_count(settings.budget_tokens),
    );
    let cut = if previewed.cut.is_empty() {
        String::new()
    } else {
        format!("; cut: {}", previewed.cut.join(", "))
    };
    writeln!(err, "{DIM}{tokens} of {budget} tokens (inject.budget_tokens){cut}{RESET}")?;
    if !settings.start {
        writeln!(err, "{YELLOW}turned off{RESET} by inject.start or inject.enabled")?;
    }
    Ok(Outcome::Done)
}
