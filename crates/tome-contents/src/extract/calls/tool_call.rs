//! A single tool call as a reader of the conversation sees it.

use tome_model::{CommandOutcome, Event, FileAction, Tool};

use crate::extract::calls::call_line::{describe_call, describe_commit};
use crate::extract::commands::command_run::{find_command_line, parse_command_runs};
use crate::extract::commands::failures::render_failure_message;
use crate::extract::commands::outcome::{ToolOutcome, read_error, read_outcome};
use crate::extract::files::touched_files::parse_files;
use crate::extract::git::commit_message::{CommitMessage, read_commit_message};

/// A tool call: its outcome, and the command or the files that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallSummary<'a> {
    /// How it ended, as far as its payload shows.
    pub outcome: ToolOutcome,
    /// The line that explains why it failed.
    pub reason: Option<String>,
    /// The call in one line: its command, or the tool and what it was called with.
    pub line: String,
    /// The command line of a shell call.
    pub command: Option<&'a str>,
    /// The message of the commit that the command makes.
    pub commit: Option<CommitMessage>,
    /// Files that it creates, changes, deletes or reads, as the agent named them, even if it failed.
    pub files: Vec<(&'a str, FileAction)>,
}

impl ToolCallSummary<'_> {
    /// Prefix of its line: `$ ` for a command.
    pub fn prompt_mark(&self) -> &'static str {
        if self.command.is_some() { "$ " } else { "" }
    }

    /// Suffix of its line: how it ended, such as ` (exit 1)`; empty if it passed.
    pub fn outcome_mark(&self) -> String {
        match self.outcome.words() {
            words if words.is_empty() => words,
            words => format!(" ({words})"),
        }
    }
}

/// Reads the tool call of an event; `None` if the event is none.
pub fn read_tool_call(event: &Event) -> Option<ToolCallSummary<'_>> {
    let tool = event.tool.as_ref()?;
    let files = parse_files(tool).into_iter().map(|file| (file.path, file.action));
    let files: Vec<(&str, FileAction)> = files.collect();
    let (outcome, reason) = judge_call(event, tool);
    let command = find_command_line(tool);
    let commit = command.and_then(read_commit_message);
    let file = files.first().map(|(path, _)| *path);
    let line = match (command, &commit) {
        (Some(command), Some(message)) => describe_commit(command, message, &event.cwd),
        _ => describe_call(tool, command, file, &event.cwd),
    };
    Some(ToolCallSummary { outcome, reason, line, command, commit, files })
}

/// The outcome of a call, and why it failed. The exit code of a shell call may be that of `tail`: a
/// check passed or failed as its output shows, and otherwise its outcome is unknown.
fn judge_call(event: &Event, tool: &Tool) -> (ToolOutcome, Option<String>) {
    let outcome = read_outcome(event, tool);
    let runs = parse_command_runs(0, event, tool);
    let failed = runs.iter().rev().find(|run| run.outcome == CommandOutcome::Failed);
    let cause = failed.and_then(|run| run.line).map(render_failure_message);
    let is_open = |of: CommandOutcome| of == CommandOutcome::Unknown;
    match outcome {
        ToolOutcome::Exited(0) | ToolOutcome::Unknown if failed.is_some() => {
            (ToolOutcome::Failed, cause)
        }
        ToolOutcome::Exited(0) if runs.iter().any(|run| run.is_major && is_open(run.outcome)) => {
            (ToolOutcome::Unknown, None)
        }
        ToolOutcome::Exited(0) | ToolOutcome::Unknown => (outcome, None),
        ToolOutcome::Exited(_) | ToolOutcome::Failed => {
            (outcome, cause.or_else(|| read_error(event)))
        }
        _ => (outcome, None),
    }
}
