//! `tome tool`: calls a tool as an agent would, or lists the tools.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};
use tome_proto::{ClientError, v1};

use super::notes::{answered, folder, input, once, print_said, result};
use super::{Context, Outcome, Refusal};
use crate::cli::notes::Tool;
use crate::reach::{ReachError, Start};
use crate::render::{DIM, PLAIN, table};

pub fn run(context: &Context, asked: &Tool) -> Result<Outcome> {
    match &asked.name {
        None => list(context, asked.toolset.as_deref().unwrap_or_default()),
        Some(name) => call(context, asked, name),
    }
}

fn list(context: &Context, toolset: &str) -> Result<Outcome> {
    let asked = context.block_on(async {
        Ok(context.reach.ask(Start::IfAway, async |client| client.tools(toolset).await).await)
    })?;
    let tools = asked.map_err(refused)?;
    if context.json {
        for tool in &tools {
            let schema: Value = serde_json::from_str(&tool.input_schema_json).unwrap_or_default();
            context.print_json(&json!({
                "name": tool.name, "toolset": tool.toolset, "description": tool.description,
                "input_schema": schema,
            }))?;
        }
        return Ok(Outcome::Done);
    }
    let mut out = crate::terminal::stdout().lock();
    let rows: Vec<Vec<String>> = tools
        .iter()
        .map(|tool| vec![tool.name.clone(), tool.toolset.clone(), gist(&tool.description)])
        .collect();
    table(&mut out, &["tool", "set", "what it does"], &rows)?;
    writeln!(
        out,
        "\n  {DIM}`tome tool <name> '<json>'` calls one; `tome tool --json` prints their schemas{PLAIN}"
    )?;
    Ok(Outcome::Done)
}

/// Returns the first sentence, without its period.
fn gist(description: &str) -> String {
    let line = description.lines().next().unwrap_or_default();
    let sentence = line.split_once(". ").map_or(line, |(first, _)| first);
    sentence.trim_end_matches('.').to_owned()
}

fn call(context: &Context, asked: &Tool, name: &str) -> Result<Outcome> {
    let request = v1::CallToolRequest {
        name: name.to_owned(),
        arguments_json: arguments(asked.arguments.as_deref())?,
        cwd: folder(asked.project.as_deref())?,
        session_id: asked.session.clone().unwrap_or_default(),
        agent: asked.agent.clone().unwrap_or_default(),
        command: match asked.agent {
            Some(_) => String::new(),
            None => format!("tome tool {name}"),
        },
    };
    let answer = once(context, async |client| client.call_tool(request).await);
    let answer = answer.map_err(refused)?;
    if context.json {
        context.print_json(&result(&answer))?;
        answered(answer)?;
    } else {
        print_said(&answered(answer)?.text)?;
    }
    Ok(Outcome::Done)
}

/// Returns the typed or piped arguments; `{}` if there are none.
fn arguments(typed: Option<&str>) -> Result<String> {
    let text = match typed {
        Some("-") => input(None, Some(&PathBuf::from("-")), "'<json>'")?,
        Some(text) => text.to_owned(),
        None if std::io::stdin().is_terminal() => String::new(),
        None => input(None, None, "'<json>'")?,
    };
    Ok(if text.trim().is_empty() { "{}".to_owned() } else { text })
}

fn refused(error: ReachError) -> anyhow::Error {
    match error {
        ReachError::Client(ClientError::NotFound(message)) => {
            Refusal::not_found(message).hint("`tome tool` lists all tools").into()
        }
        error => error.into(),
    }
}
