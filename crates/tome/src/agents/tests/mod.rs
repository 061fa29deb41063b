//! Tests of the payload parsers: drafts, identities, and robustness against arbitrary input.

mod answers;
mod fixtures;
mod garbage;
mod identities;
mod prompts;
mod titles;
mod turns;

use std::path::Path;

use tome_model::{Agent, Draft, Identity, Millis};

use super::{HookInput, parse_drafts};

/// 2026-11-15T10:00:00Z, half an hour after the fixtures' sessions.
const NOW: Millis = Millis(1_794_736_800_000);

fn parse_hook(agent: &str, event: Option<&str>, payload: impl AsRef<[u8]>) -> Vec<Draft> {
    parse_hook_with(agent, event, payload.as_ref(), &|_: &Path| None)
}

fn parse_hook_with(
    agent: &str,
    event: Option<&str>,
    payload: &[u8],
    read_tail: &dyn Fn(&Path) -> Option<String>,
) -> Vec<Draft> {
    parse_drafts(&HookInput {
        agent: &Agent::parse(agent).unwrap(),
        event,
        payload,
        now: NOW,
        cwd: "/home/dev/elsewhere",
        read_tail,
        wait: &|| false,
    })
}

fn one(agent: &str, payload: impl AsRef<[u8]>) -> Draft {
    let mut drafts = parse_hook(agent, None, payload);
    assert_eq!(drafts.len(), 1, "{drafts:?}");
    drafts.remove(0)
}

/// Renders a draft in one line: kind, time if the payload has one, identity, text, tool, meta.
fn line(draft: &Draft) -> String {
    let at = if draft.at == NOW { "now".to_owned() } else { draft.at.to_string() };
    let identity = match draft.identity {
        Identity::Fixed(_) => "fixed",
        Identity::ByText(_) => "words",
    };
    let mut line = format!("{} {at} {identity}", draft.kind);
    if !draft.text.is_empty() {
        line += &format!(" {:?}", draft.text);
    }
    if let Some(tool) = &draft.tool {
        line += &format!(" {}({}) -> {}", tool.name, tool.input, tool.output);
    }
    if !draft.meta.is_empty() {
        line += &format!(" {}", serde_json::to_string(&draft.meta).unwrap());
    }
    line
}
