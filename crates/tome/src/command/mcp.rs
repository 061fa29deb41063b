//! `tome mcp`: runs the MCP server.

use std::io::{IsTerminal, Write};

use anyhow::Result;
use tome_engine::Toolsets;
use tome_model::Agent;

use super::notebook_client::absolute_folder;
use super::project_name::resolve_given;
use super::{CommandContext, CommandError, Outcome};
use crate::cli::mcp::McpArgs;
use crate::mcp::{AgentVariables, ServerEnvironment, serve};

pub fn run(context: CommandContext, args: &McpArgs) -> Result<Outcome> {
    let toolsets = match &args.toolsets {
        Some(named) => Toolsets::parse(named).map_err(CommandError::bad_input)?,
        None => context.settings.mcp_toolsets.clone(),
    };
    // A project that is not recorded yet must not prevent the server from starting.
    let folder = match args.project.as_deref() {
        Some(path) if path.is_absolute() => Some(path.to_path_buf()),
        typed => resolve_given(&context, typed).or_else(|error| {
            writeln!(tome_terminal::stderr(), "{error}; using the current folder")?;
            std::io::Result::Ok(None)
        })?,
    };
    let folder = folder.as_deref();
    let surroundings = ServerEnvironment {
        agent: args.agent.as_deref().map(Agent::parse).transpose()?,
        session: args.session.clone(),
        project: folder.map(|project| absolute_folder(Some(project))).transpose()?,
        // A deleted working directory must not prevent the server from starting.
        cwd: absolute_folder(None).unwrap_or_default(),
        variables: AgentVariables::from_env(&|name| std::env::var(name).ok()),
    };
    if std::io::stdin().is_terminal() {
        let hint = "waiting for MCP messages on standard input; `tome mcp --help` explains how to configure a client";
        writeln!(tome_terminal::stderr(), "{hint}")?;
    }
    // `--agent` is set only by `tome setup`, which also installs the hooks.
    let injects = context.settings.inject.is_any_enabled() && context.settings.inject.start;
    let hooks_state_rules = surroundings.agent.is_some() && injects;
    serve(context.connector, context.settings.home, surroundings, &toolsets, hooks_state_rules)?;
    Ok(Outcome::Done)
}
