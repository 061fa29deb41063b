//! The projects that a command reads. Outside of a project these are all of them, so that the first
//! commands of a new user work in the home folder too.

use std::path::Path;

use anyhow::Result;
use tome_home::Projects;

use super::project_name::{ProjectNames, find_typed_root, resolve_name};
use super::{CommandContext, CommandError};

/// Projects that a refusal names.
const NAMES_SHOWN: usize = 12;

/// Resolves the project of a folder, or the current project if it is known.
pub fn resolve_project(context: &CommandContext, folder: Option<&Path>) -> Result<Option<String>> {
    if let Some(folder) = folder {
        let root = find_typed_root(&resolve_name(context, folder)?)?;
        return Ok(Some(Projects::load(&context.settings.home).canonical_root(&root)));
    }
    let here = std::env::current_dir()?;
    Ok(Projects::load(&context.settings.home).find_known_project(&here.to_string_lossy()))
}

/// The roots of the projects to read: that of `--project`, the current one, or all known ones.
pub fn projects_in_scope(
    context: &CommandContext,
    folder: Option<&Path>,
    is_all: bool,
) -> Result<Vec<String>> {
    if !is_all && let Some(root) = resolve_project(context, folder)? {
        return Ok(vec![root]);
    }
    let names = ProjectNames::load(context);
    let roots: Vec<String> = names.roots().map(str::to_owned).collect();
    if roots.is_empty() { Err(refuse_without_project(&names).into()) } else { Ok(roots) }
}

/// The project that a list is limited to; empty for all.
pub fn project_or_all(
    context: &CommandContext,
    project: Option<&Path>,
    is_all: bool,
) -> Result<String> {
    if is_all {
        Ok(String::new())
    } else {
        Ok(resolve_project(context, project)?.unwrap_or_default())
    }
}

/// The refusal of a command that reads one project, where several are known.
pub fn refuse_without_project(names: &ProjectNames) -> CommandError {
    let roots: Vec<&str> = names.roots().collect();
    if roots.is_empty() {
        CommandError::not_found("no project has been recorded yet")
            .with_hint("`tome import` reads the history of your agents")
    } else {
        CommandError::bad_input("this folder belongs to no project that Tome knows")
            .with_hint(name_projects(names, &roots))
    }
}

/// The refusal of a command that found something in several projects.
pub fn refuse_several(names: &ProjectNames, what: &str, roots: &[&str]) -> CommandError {
    CommandError::bad_input(format!("{what} is in {} projects", roots.len()))
        .with_hint(name_projects(names, roots))
}

/// Such as `add --project NAME: app, site`.
fn name_projects(names: &ProjectNames, roots: &[&str]) -> String {
    let shown: Vec<String> =
        roots.iter().take(NAMES_SHOWN).map(|root| names.argument(root)).collect();
    let more = match roots.len().saturating_sub(NAMES_SHOWN) {
        0 => String::new(),
        hidden => format!(" and {hidden} more (`tome projects`)"),
    };
    format!("add --project NAME: {}{more}", shown.join(", "))
}
