//! The names of projects: in place of folders wherever `--project` is accepted, and on every screen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use tome_home::Projects;
use tome_terminal::one_line;

use super::notebook_client::quote_shell;
use super::{CommandContext, CommandError};

/// Characters of a name.
const NAME_CHARS_MAX: usize = 60;

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

/// Makes a folder absolute. One of another system is already, and would else lie below this folder.
pub fn absolute_path(folder: &Path) -> std::io::Result<PathBuf> {
    if tome_home::is_foreign_path(&folder.to_string_lossy()) {
        return Ok(folder.to_path_buf());
    }
    std::path::absolute(folder)
}

/// The folder of an optional `--project`.
pub fn resolve_given(context: &CommandContext, typed: Option<&Path>) -> Result<Option<PathBuf>> {
    typed.map(|typed| resolve_name(context, typed)).transpose()
}

/// The short names of the known projects, each of which only one project has.
#[derive(Debug, Clone, Default)]
pub struct ProjectNames {
    by_root: Arc<BTreeMap<String, String>>,
    /// The root of the project that the current folder belongs to.
    current: Option<String>,
}

impl ProjectNames {
    pub fn load(context: &CommandContext) -> Self {
        let projects = Projects::load(&context.settings.home);
        let here = std::env::current_dir().ok();
        let current = here.and_then(|here| projects.find_known_project(&here.to_string_lossy()));
        let known = projects.list().into_iter().map(|one| (one.root, one.name));
        Self { by_root: Arc::new(known.collect()), current }
    }

    #[cfg(test)]
    pub fn for_test(known: &[(&str, &str)]) -> Self {
        let known = known.iter().map(|(root, name)| ((*root).to_owned(), (*name).to_owned()));
        Self { by_root: Arc::new(known.collect()), current: None }
    }

    /// The name of a project; that of its folder if it is not known here.
    pub fn name(&self, root: &str) -> String {
        let known = self.by_root.get(root).filter(|name| !name.is_empty());
        known.map_or_else(|| base_name(root), |name| one_line(name, NAME_CHARS_MAX))
    }

    /// The roots of all known projects.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.by_root.keys().map(String::as_str)
    }

    /// The value of `--project` for a project, quoted for a shell: its name, or its root if a folder
    /// here has that name.
    pub fn argument(&self, root: &str) -> String {
        match self.by_root.get(root) {
            Some(name) if !name.is_empty() && !Path::new(name).exists() => quote_shell(name),
            _ => quote_shell(root),
        }
    }

    /// The flag that a suggested command needs to reach a project from here; empty if it needs none.
    pub fn flag(&self, root: &str) -> String {
        let is_only = self.by_root.len() == 1 && self.by_root.contains_key(root);
        if root.is_empty() || is_only || self.current.as_deref() == Some(root) {
            String::new()
        } else {
            format!(" --project {}", self.argument(root))
        }
    }
}

/// The last part of a path.
pub fn base_name(path: &str) -> String {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    one_line(if name.is_empty() { path } else { name }, NAME_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_are_named_by_their_unique_names() {
        let names = ProjectNames::for_test(&[
            ("/home/dev/env/cli", "env/cli"),
            ("/home/dev/apps/cli", "apps/cli"),
        ]);
        assert_eq!(names.name("/home/dev/env/cli"), "env/cli");
        assert_eq!(names.name("/home/dev/other/"), "other");
        assert_eq!(names.flag("/home/dev/apps/cli"), " --project apps/cli");
        assert_eq!(names.flag(""), "");
        assert_eq!(ProjectNames::for_test(&[("/app", "app")]).flag("/app"), "");
    }
}
