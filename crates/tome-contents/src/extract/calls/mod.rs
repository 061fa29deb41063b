//! A tool call as people read it: its command, its files, one line.

pub(crate) mod call_line;
pub(crate) mod tool_call;
