//! The names of projects in place of folders, wherever `--project` is accepted.

use std::path::{Path, PathBuf};

use anyhow::Result;
use tome_home::Projects;

use super::{CommandContext, CommandError};

/// The folder that `--project` means: a folder as it is typed, or that of the project with this name.
pub fn resolve_name(context: &CommandContext, typed: &Path) -> Result<PathBuf> {
    let text = typed.to_string_lossy();
    let is_path = typed.is_absolute() || text.starts_with('.') || text.starts_with('~');
    if is_path || typed.is_dir() {
        return Ok(typed.to_path_buf());
    }
    let projects = Projects::load(&context.settings.home);
    match projects.find_by_name(&text).as_slice() {
        [] => Ok(typed.to_path_buf()),
        [root] => Ok(projects.current_folder(root)),
        several => {
            let list = projects.list();
            let is_meant = |one: &&tome_home::KnownProject| several.contains(&one.root);
            let names: Vec<String> =
                list.iter().filter(is_meant).map(|one| one.name.clone()).collect();
            let problem = format!("--project {text} can be {}", names.join(" or "));
            Err(CommandError::bad_input(problem).with_hint("use the longer name").into())
        }
    }
}

/// The folder of an optional `--project`.
pub fn resolve_given(context: &CommandContext, typed: Option<&Path>) -> Result<Option<PathBuf>> {
    typed.map(|typed| resolve_name(context, typed)).transpose()
}
