//! `tome tool`: calls a tool as an agent would, or lists the tools.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};
use tome_proto::{ClientError, v1};
use tome_terminal::{DIM, RESET, WrappedWriter, print_table};

use super::notebook_client::{
    absolute_folder, check_tool_response, parse_tool_result, print_with_newline, read_input,
};
use super::project_name::resolve_given;
use super::session_lookup::complete_session;
use super::{CommandContext, CommandError, Outcome};
use crate::cli::tool::ToolCommandArgs;
use crate::connect::ConnectError;

pub fn run(context: &CommandContext, args: &ToolCommandArgs) -> Result<Outcome> {
    match &args.name {
        None => list_tools(context, args.toolset.as_deref().unwrap_or_default()),
        Some(name) => call_tool(context, args, name),
    }
}

fn list_tools(context: &CommandContext, toolset: &str) -> Result<Outcome> {
    let listed = context.connector.call_blocking(async |client| client.list_tools(toolset).await);
    let tools = listed.map_err(map_error)?;
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
    let mut out = tome_terminal::stdout().lock();
    let rows: Vec<Vec<String>> = tools
        .iter()
        .map(|tool| {
            vec![tool.name.clone(), tool.toolset.clone(), first_sentence(&tool.description)]
        })
        .collect();
    print_table(&mut out, &["tool", "set", "what it does"], &rows)?;
    writeln!(
        WrappedWriter::new(out, 2),
        "\n  {DIM}`tome tool <name> '<json>'` calls one; `tome tool --json` prints their schemas{RESET}"
    )?;
    Ok(Outcome::Done)
}

/// Returns the first sentence, without its period.
fn first_sentence(description: &str) -> String {
    let line = description.lines().next().unwrap_or_default();
    let sentence = line.split_once(". ").map_or(line, |(first, _)| first);
    sentence.trim_end_matches('.').to_owned()
}

fn call_tool(context: &CommandContext, args: &ToolCommandArgs, name: &str) -> Result<Outcome> {
    let request = v1::CallToolRequest {
        name: name.to_owned(),
        arguments_json: read_arguments(args.arguments.as_deref())?,
        cwd: absolute_folder(resolve_given(context, args.project.as_deref())?.as_deref())?,
        session_id: complete_session(context, args.session.as_deref())?.unwrap_or_default(),
        agent: args.agent.clone().unwrap_or_default(),
        command: match args.agent {
            Some(_) => String::new(),
            None => format!("tome tool {name}"),
        },
    };
    let answer =
        context.connector.call_once_blocking(async |client| client.call_tool(request).await);
    let answer = answer.map_err(map_error)?;
    if context.json {
        context.print_json(&parse_tool_result(&answer))?;
        check_tool_response(answer)?;
    } else {
        print_with_newline(&check_tool_response(answer)?.text)?;
    }
    Ok(Outcome::Done)
}

/// Returns the typed or piped arguments; `{}` if there are none.
fn read_arguments(typed: Option<&str>) -> Result<String> {
    let text = match typed {
        Some("-") => read_input(None, Some(&PathBuf::from("-")), "'<json>'")?,
        Some(text) => text.to_owned(),
        None if std::io::stdin().is_terminal() => String::new(),
        None => read_input(None, None, "'<json>'")?,
    };
    Ok(if text.trim().is_empty() { "{}".to_owned() } else { text })
}

fn map_error(error: ConnectError) -> anyhow::Error {
    match error {
        ConnectError::Client(ClientError::NotFound(message)) => {
            CommandError::not_found(message).with_hint("`tome tool` lists all tools").into()
        }
        error => error.into(),
    }
}
