//! `tome mcp`: starts the server for a client that speaks the Model Context Protocol.

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
        // One that was deleted is no reason to have no memory at all.
        cwd: folder(None).unwrap_or_default(),
        variables: Variables::read(&|name| std::env::var(name).ok()),
    };
    if std::io::stdin().is_terminal() {
        let said = "waiting for a client's messages on standard input; `tome mcp --help` says how a client is told of it";
        writeln!(crate::terminal::stderr(), "{said}")?;
    }
    // The setup names the agent, and wires its hooks in the same step.
    let injects = context.settings.inject.any() && context.settings.inject.start;
    let hooks_state_rules = surroundings.agent.is_some() && injects;
    serve(context.reach, context.settings.home, surroundings, &toolsets, hooks_state_rules)?;
    Ok(Outcome::Done)
}
