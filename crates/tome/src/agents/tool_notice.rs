//! Tool calls that an agent is about to make. They are not recorded, because the result repeats them;
//! memory may inject a text before them.

use tome_contents::list_edited_files;
use tome_model::Tool;

use super::claude_code::hook::event_name;
use super::hook_context::HookContext;
use super::lenient_json::{self, ParsedPayload};
use super::{AgentProfile, HookInput};

/// Tools that start a subagent.
const SUBAGENT_TOOLS: [&str; 2] = ["Agent", "Task"];

/// A tool call that is about to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolNotice {
    pub session: String,
    pub cwd: String,
    /// The subagent that makes the call; empty for the agent itself.
    pub subagent: String,
    /// Files that it changes.
    pub files: Vec<String>,
    /// The kind and the task of the subagent that it starts.
    pub task: Option<(String, String)>,
}

/// Parses the notice of a tool call; `None` for other events, for calls that neither edit nor start a
/// subagent, and for agents that accept no text there.
pub fn parse_tool_notice(input: &HookInput<'_>) -> Option<ToolNotice> {
    if !AgentProfile::of_agent(input.agent).accepts_text_before_tools {
        return None;
    }
    let ParsedPayload::Object(mut fields) = lenient_json::parse_payload(input.payload) else {
        return None;
    };
    if event_name(input, &fields) != "PreToolUse" {
        return None;
    }
    let context = HookContext::from_fields(input, &mut fields)?;
    let tool = Tool {
        name: fields.take_text("tool_name"),
        input: fields.take_value("tool_input"),
        output: serde_json::Value::Null,
    };
    let text = |name: &str| tool.input.get(name).and_then(|value| value.as_str());
    let task = SUBAGENT_TOOLS.contains(&tool.name.as_str()).then(|| {
        let task = [text("description"), text("prompt")].into_iter().flatten();
        let kind = text("subagent_type").unwrap_or_default().to_owned();
        (kind, task.collect::<Vec<_>>().join(": "))
    });
    let files: Vec<String> = list_edited_files(&tool).into_iter().map(str::to_owned).collect();
    if files.is_empty() && task.is_none() {
        return None;
    }
    let (session, cwd) = context.session_and_folder();
    let subagent = fields.get_str("agent_id").unwrap_or_default().to_owned();
    Some(ToolNotice { session: session.to_owned(), cwd: cwd.to_owned(), subagent, files, task })
}
