//! A single tool call as a reader of the conversation sees it.

use tome_model::Event;

use super::commands::find_command_line;
use super::files::{FileTouchKind, parse_touched_files};
use super::outcome::{ToolOutcome, read_outcome};

/// A tool call: its outcome, and the command or the files that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// How it ended, as far as its payload shows.
    pub outcome: ToolOutcome,
    /// The command line of a shell call.
    pub command: Option<&'a str>,
    /// Files that it created, changed, deleted or read, as the agent named them.
    pub files: Vec<(&'a str, FileTouchKind)>,
}

/// Reads the tool call of an event; `None` if the event is none.
pub fn read_tool_call(event: &Event) -> Option<ToolCall<'_>> {
    let tool = event.tool.as_ref()?;
    let files = parse_touched_files(event, tool).into_iter().map(|file| (file.path, file.action));
    Some(ToolCall {
        outcome: read_outcome(event, tool),
        command: find_command_line(tool),
        files: files.collect(),
    })
}
