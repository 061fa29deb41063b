//! `tome mcp`: runs the MCP server.

use std::io::{IsTerminal, Write};

use anyhow::Result;
use tome_model::Agent;

use super::notes::folder;
use super::{Context, Outcome, Refusal};
use crate::cli::mcp::Mcp;
use crate::mcp::{Surroundings, Toolsets, Variables, serve};

pub fn run(context: Context, asked: &Mcp) -> Result<Outcome> {
    let toolsets = match &asked.toolsets {
        Some(named) => Toolsets::parse(named).map_err(Refusal::bad_input)?,
        None => context.settings.mcp_toolsets.clone(),
    };
    let given = asked.project.as_deref();
    let surroundings = Surroundings {
        agent: asked.agent.as_deref().map(Agent::parse).transpose()?,
        session: asked.session.clone(),
        project: given.map(|project| folder(Some(project))).transpose()?,
        // A deleted working directory must not prevent the server from starting.
        cwd: folder(None).unwrap_or_default(),
        variables: Variables::read(&|name| std::env::var(name).ok()),
    };
    if std::io::stdin().is_terminal() {
        let said = "waiting for MCP messages on standard input; `tome mcp --help` explains how to configure a client";
        writeln!(crate::terminal::stderr(), "{said}")?;
    }
    // `--agent` is set only by `tome setup`, which also installs the hooks.
    let injects = context.settings.inject.any() && context.settings.inject.start;
    let hooks_state_rules = surroundings.agent.is_some() && injects;
    serve(context.reach, context.settings.home, surroundings, &toolsets, hooks_state_rules)?;
    Ok(Outcome::Done)
}
