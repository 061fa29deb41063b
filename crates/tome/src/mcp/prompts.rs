//! The prompts: the two guides of the coder's notebook, as their owner keeps them, and what they are
//! wanted for.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptResult, JsonObject, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::{Value, json};
use tome_engine::{Effect, fenced_body, neutralize};

use super::calls::Calls;
use super::who::Who;

struct Guide {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    path: &'static str,
    /// What the caller may add, and how it is introduced.
    argument: (&'static str, &'static str, &'static str),
}

const GUIDES: [Guide; 2] = [
    Guide {
        name: "memory-recall",
        title: "Recall what was learned",
        about: "How to find lessons that bear on the work ahead",
        path: "memory-recall-guide.md",
        argument: ("task", "what is to be done", "The task"),
    },
    Guide {
        name: "memory-store",
        title: "Store what was learned",
        about: "How to keep what this work taught, so that it is found again",
        path: "memory-store-guide.md",
        argument: ("work", "what was done", "The work"),
    },
];

/// All of them.
pub fn list() -> ListPromptsResult {
    let prompts = GUIDES.iter().map(|guide| {
        let (name, about, _) = guide.argument;
        let argument = PromptArgument::new(name).with_description(about).with_required(false);
        Prompt::new(guide.name, Some(guide.about), Some(vec![argument])).with_title(guide.title)
    });
    ListPromptsResult::with_all_items(prompts.collect())
}

/// One of them, with what the caller adds.
pub async fn get(
    calls: &Calls,
    who: &Who,
    name: &str,
    arguments: Option<&JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let guide = GUIDES.iter().find(|guide| guide.name == name).ok_or_else(|| {
        let known = GUIDES.map(|guide| guide.name).join(", ");
        let name = tome_model::truncate_to(name, 80);
        ErrorData::invalid_params(format!("there is no prompt {name:?}; there are {known}"), None)
    })?;
    let read = json!({ "path": guide.path, "scope": "coder" });
    let answer = calls.tool("memory_read", Effect::Reads, &read, who).await;
    if answer.is_error {
        return Err(ErrorData::internal_error(answer.text, None));
    }
    // The person asked for the guide: it is no quotation, but no marker passes either.
    let text = neutralize(fenced_body(&answer.text)).into_owned();
    let (argument, _, intro) = guide.argument;
    let added = arguments.and_then(|all| all.get(argument)).and_then(Value::as_str);
    let text = match added.map(str::trim).filter(|added| !added.is_empty()) {
        None => text,
        Some(added) => format!("{}\n\n{intro}: {added}", text.trim_end()),
    };
    let messages = vec![PromptMessage::new_text(Role::User, text)];
    Ok(GetPromptResult::new(messages).with_description(guide.about))
}
