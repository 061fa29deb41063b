//! The files of the project, for a model to look at: list, read, search. Nothing is changed.
//!
//! What a file says came from outside: it is fenced as data, and secrets are cut out of it. Every
//! answer is bounded, whatever lies in the folder.

mod ignored;
mod list;
mod private_key;
mod read;
mod root;
mod search;
mod walk;

use std::sync::Arc;

use serde_json::Value;
use tome_agent::Toolbox;

pub use root::Root;

/// The tools over a project's folder, added to others.
pub fn with_files(tools: Toolbox, root: Root) -> Toolbox {
    let root = Arc::new(root);
    tools
        .with(list::ListFiles(Arc::clone(&root)))
        .with(read::ReadFile(Arc::clone(&root)))
        .with(search::SearchFiles(root))
}

/// A text among the arguments.
fn text<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    arguments.get(name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// A number among the arguments; models write them as text as well.
fn number(arguments: &Value, name: &str) -> Option<usize> {
    let value = arguments.get(name)?;
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    usize::try_from(number).ok()
}
