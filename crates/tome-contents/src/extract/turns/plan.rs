//! The headings of plans that the user approved or gave.
//!
//! Agents keep plans in different places: in the call that requests approval (Claude Code), in a
//! Markdown file that was written before it (Gemini CLI, OpenCode, Copilot CLI), or in a marked
//! part of a message (Codex). A list of steps has no heading, and none is invented.

use tome_model::{Event, EventKind, Tool};
use tome_text::count_words;

use crate::extract::commands::outcome::{ToolOutcome, read_outcome};
use crate::extract::language::terms::base_name;
use crate::extract::language::text::{find_text_field, plain_text, strip_any_prefix};
use crate::extract::turns::prompt::is_prompt;

/// The heading of a plan that the user approved or gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlanHeading<'a> {
    /// The event that holds the heading.
    pub(crate) event: usize,
    pub(crate) raw: &'a str,
    pub(crate) text: &'a str,
}

/// Marks a plan in a message of Codex.
const PROPOSED_PLAN: &str = "<proposed_plan>";

/// Words of prompts that only approve a plan.
const GO_AHEAD_WORDS_MAX: usize = 12;

/// Finds the heading of the plan that an event approves or gives.
pub(crate) fn find_plan(events: &[Event], at: usize) -> Option<PlanHeading<'_>> {
    let event = events.get(at)?;
    if is_prompt(event) {
        return find_given_plan(events, at, &event.text);
    }
    let tool = event.tool.as_ref().filter(|_| event.kind == EventKind::ToolResult)?;
    if !matches!(tool.name.as_str(), "ExitPlanMode" | "exit_plan_mode" | "plan_exit")
        || !is_approved(event, tool)
    {
        return None;
    }
    let plan = find_text_field(&tool.input, &["plan"]);
    let plan = plan.or_else(|| find_text_field(&tool.output, &["plan"]));
    match plan {
        Some(plan) => find_heading(at, plan),
        None => find_written_plan(events, at, tool),
    }
}

/// Whether the user approved the plan: Gemini CLI and Copilot CLI report a refusal as a result.
fn is_approved(event: &Event, tool: &Tool) -> bool {
    let outcome = read_outcome(event, tool);
    let output = tool.output.as_str().or_else(|| find_text_field(&tool.output, &["llmContent"]));
    let is_refused = output.is_some_and(|output| {
        ["rejected", "not approved", "cancelled"].iter().any(|word| output.contains(word))
    });
    !matches!(outcome, ToolOutcome::Rejected | ToolOutcome::NotRun | ToolOutcome::Interrupted)
        && !is_refused
}

/// The heading of the plan file that was last written before the approval.
fn find_written_plan<'a>(
    events: &'a [Event],
    approval: usize,
    request: &Tool,
) -> Option<PlanHeading<'a>> {
    let named = find_text_field(&request.input, &["plan_filename", "plan_path"]).map(base_name);
    events.get(..approval)?.iter().enumerate().rev().find_map(|(at, event)| {
        let input = &event.tool.as_ref()?.input;
        let path = find_text_field(input, &["file_path", "filePath", "path"])?;
        let is_plan = match named {
            Some(named) => base_name(path) == named,
            None => is_plan_path(path),
        };
        let text = find_text_field(input, &["content", "file_text"]).filter(|_| is_plan)?;
        find_heading(at, text)
    })
}

/// The heading of the last plan that a call wrote to a file.
pub(crate) fn find_plan_file(events: &[Event]) -> Option<PlanHeading<'_>> {
    events.iter().enumerate().rev().find_map(|(at, event)| {
        let input = &event.tool.as_ref()?.input;
        let path = find_text_field(input, &["file_path", "filePath", "path"])?;
        let text = find_text_field(input, &["content", "file_text"])?;
        find_heading(at, text).filter(|_| is_plan_path(path))
    })
}

/// Whether a path is that of a plan: `plan.md`, or Markdown in a folder `plans`.
pub(crate) fn is_plan_path(path: &str) -> bool {
    let mut parts = path.rsplit(['/', '\\']);
    let (name, folder) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    name == "plan.md" || folder == "plans" && name.ends_with(".md")
}

/// Finds the heading of a plan that a prompt asks to implement: in the prompt, or in the message
/// that proposed it.
fn find_given_plan<'a>(
    events: &'a [Event],
    prompt: usize,
    text: &'a str,
) -> Option<PlanHeading<'a>> {
    let rest = find_pasted_plan(text)?;
    if let Some(found) = find_heading(prompt, rest) {
        return Some(found);
    }
    if text.split_whitespace().count() > GO_AHEAD_WORDS_MAX {
        return None;
    }
    let proposes_plan = |event: &Event| {
        matches!(event.kind, EventKind::AssistantMessage | EventKind::AssistantStop)
            && event.text.contains(PROPOSED_PLAN)
    };
    let at = events.get(..prompt)?.iter().rposition(proposes_plan)?;
    find_proposed_plan(at, &events.get(at)?.text)
}

/// Finds the heading of the plan that a message proposes.
pub(crate) fn find_proposed_plan(at: usize, message: &str) -> Option<PlanHeading<'_>> {
    let (_, plan) = message.rsplit_once(PROPOSED_PLAN)?;
    find_heading(at, plan)
}

/// The text below the line of a prompt that asks to implement a plan; it may be empty.
fn find_pasted_plan(text: &str) -> Option<&str> {
    let (first, rest) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
    let lower = first.to_lowercase();
    (lower.contains("implement") && lower.contains("plan")).then_some(rest)
}

/// The request of a prompt that asks to implement the plan that it holds.
pub(crate) fn request_of_plan(text: &str) -> Option<String> {
    let heading = find_heading(0, find_pasted_plan(text)?)?;
    Some(format!("Implement the plan: {}", plain_text(heading.text)))
}

/// The first Markdown heading of a plan that is more specific than "Plan".
fn find_heading(event: usize, plan: &str) -> Option<PlanHeading<'_>> {
    plan.lines().take(40).find_map(|line| {
        let raw = line.trim();
        let text = raw.strip_prefix('#')?.trim_start_matches('#').trim();
        let bare = strip_any_prefix(text, &["implementation plan", "plan", "the plan"]);
        let text = bare.map_or(text, |rest| rest.trim_start_matches([':', '-', '–', '—', ' ']));
        (count_words(text) >= 3).then_some(PlanHeading { event, raw, text })
    })
}
