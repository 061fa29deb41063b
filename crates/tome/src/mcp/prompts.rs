//! MCP prompts: the two guides from the coder's notebook, as edited by their owner, plus the
//! caller's argument.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::{Value, json};
use tome_engine::{ToolEffect, neutralize_markers, strip_fence};

use super::caller::McpCaller;
use super::daemon_tools::DaemonTools;

struct PromptGuide {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    path: &'static str,
    /// Name, description and introduction of the optional argument.
    argument: (&'static str, &'static str, &'static str),
}

const GUIDES: [PromptGuide; 2] = [
    PromptGuide {
        name: "memory-recall",
        title: "Recall earlier lessons",
        about: "How to find lessons that are relevant to a task",
        path: "memory-recall-guide.md",
        argument: ("task", "the task at hand", "The task"),
    },
    PromptGuide {
        name: "memory-store",
        title: "Store new lessons",
        about: "How to save lessons from this work so that they can be found again",
        path: "memory-store-guide.md",
        argument: ("work", "the work that was done", "The work"),
    },
];

pub fn list() -> ListPromptsResult {
    let prompts = GUIDES.iter().map(|guide| {
        let (name, about, _) = guide.argument;
        let argument = PromptArgument::new(name).with_description(about).with_required(false);
        Prompt::new(guide.name, Some(guide.about), Some(vec![argument])).with_title(guide.title)
    });
    ListPromptsResult::with_all_items(prompts.collect())
}

pub async fn get(
    calls: &DaemonTools,
    who: &McpCaller,
    name: &str,
    arguments: Option<&JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let guide = GUIDES.iter().find(|guide| guide.name == name).ok_or_else(|| {
        let names = GUIDES.map(|guide| guide.name).join(", ");
        let name = tome_model::truncate_to(name, 80);
        ErrorData::invalid_params(format!("unknown prompt {name:?}; available: {names}"), None)
    })?;
    let read = json!({ "path": guide.path, "scope": "coder" });
    let answer = calls.call_tool("memory_read", ToolEffect::Reads, &read, who).await;
    if answer.is_error {
        return Err(ErrorData::internal_error(answer.text, None));
    }
    // The user requested the guide, so it is not fenced, but markers are still neutralized.
    let text = neutralize_markers(strip_fence(&answer.text)).into_owned();
    let (argument, _, intro) = guide.argument;
    let added = arguments.and_then(|all| all.get(argument)).and_then(Value::as_str);
    let text = match added.map(str::trim).filter(|added| !added.is_empty()) {
        None => text,
        Some(added) => format!("{}\n\n{intro}: {added}", text.trim_end()),
    };
    let messages = vec![PromptMessage::new_text(Role::User, text)];
    Ok(GetPromptResult::new(messages).with_description(guide.about))
}
