//! Read-only tools over the project's files: list, read, search.
//!
//! File content comes from outside: it is fenced as data, and secrets are redacted. Every result is
//! size-limited.

mod gitignore;
mod list;
mod private_key;
mod read;
mod root;
mod search;
mod walk;

use std::sync::Arc;

use serde_json::Value;
use tome_agent::Toolbox;

pub use root::ProjectRoot;

/// Adds the file tools for a project to a toolbox.
pub fn with_files(tools: Toolbox, root: ProjectRoot) -> Toolbox {
    let root = Arc::new(root);
    tools
        .with_tool(list::ListFiles(Arc::clone(&root)))
        .with_tool(read::ReadFile(Arc::clone(&root)))
        .with_tool(search::SearchFiles(root))
}

fn str_argument<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    arguments.get(name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// Reads a number; models also pass numbers as strings.
fn number_argument(arguments: &Value, name: &str) -> Option<usize> {
    let value = arguments.get(name)?;
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    usize::try_from(number).ok()
}
