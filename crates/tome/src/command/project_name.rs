//! The names of projects: in place of folders wherever `--project` is accepted, and on every screen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use tome_home::{Projects, is_foreign_path, normalize_path, relative_folder, resolve_project_root};
use tome_terminal::one_line;

use super::shell_word::quote_shell;
use super::{CommandContext, CommandError};

const NAME_CHARS_MAX: usize = 60;
/// Characters of a name that was typed, in an error.
const NAME_SHOWN_MAX: usize = 200;
/// Names that an error suggests.
const NEAR_NAMES_MAX: usize = 3;

/// The folder that `--project` means: an existing one, one that a project had, or that of the project
/// with this name. Everything else is refused: a mistyped name must not stand for the project around it.
pub fn resolve_name(context: &CommandContext, typed: &Path) -> Result<PathBuf> {
    if typed.exists() {
        return Ok(typed.to_path_buf());
    }
    let text = typed.to_string_lossy();
    let is_path = typed.is_absolute() || text.starts_with(['.', '~']) || is_foreign_path(&text);
    // The folders of a daemon elsewhere are not on this machine.
    if is_path && context.settings.daemon_endpoint.is_some() {
        return Ok(typed.to_path_buf());
    }
    resolve_known(&Projects::load(&context.settings.home), typed, is_path)
}

fn resolve_known(projects: &Projects, typed: &Path, is_path: bool) -> Result<PathBuf> {
    let text = typed.to_string_lossy();
    let named = match is_path {
        true => Vec::new(),
        false => projects.find_by_name(text.trim_end_matches('/')),
    };
    match named.as_slice() {
        [] if projects.had_folder(&absolute_path(typed)?) => Ok(typed.to_path_buf()),
        [] => Err(refuse_unknown(&text, projects.list().iter().map(|one| one.name.as_str()))),
        [root] => Ok(projects.current_folder(root)),
        several => {
            let list = projects.list();
            let is_meant = |one: &&tome_home::KnownProject| several.contains(&one.root);
            let names: Vec<String> =
                list.iter().filter(is_meant).map(|one| one.name.clone()).collect();
            let problem =
                format!("--project {text} matches several projects: {}", names.join(", "));
            Err(CommandError::bad_input(problem).with_hint("use the longer name").into())
        }
    }
}

/// The error for a name that no project has, with the names that are like it.
pub fn refuse_unknown<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> anyhow::Error {
    let near: Vec<String> = find_near_names(text, names).into_iter().map(quote_shell).collect();
    let hint = match near.is_empty() {
        true => "`tome projects` lists them".to_owned(),
        false => format!("did you mean {}? `tome projects` lists all", near.join(" or ")),
    };
    let text = one_line(text, NAME_SHOWN_MAX);
    CommandError::not_found(format!("no project {text}")).with_hint(hint).into()
}

/// The names that were probably meant, best first: those that contain the text, and those that differ
/// from it in few characters. Of a path, its last part counts.
fn find_near_names<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let text = text.trim_end_matches(['/', '\\']).to_lowercase();
    let text = text.rsplit(['/', '\\']).next().unwrap_or_default();
    if text.is_empty() {
        return Vec::new();
    }
    let edits_max = (text.chars().count() + 1) / 3;
    let rate = |name: &str| {
        let name = name.to_lowercase();
        let last_part = name.rsplit('/').next().unwrap_or(&name);
        let edits = count_edits(text, last_part).min(count_edits(text, &name));
        let is_near = edits <= edits_max || name.contains(text);
        is_near.then_some((edits > edits_max, edits))
    };
    let mut near: Vec<_> = names.filter_map(|name| Some((rate(name)?, name))).collect();
    near.sort();
    near.into_iter().take(NEAR_NAMES_MAX).map(|(_, name)| name).collect()
}

/// The number of characters to insert, delete, replace or swap with their neighbor until one text is
/// the other.
fn count_edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut rows: [Vec<usize>; 2] = [Vec::new(), (0..=other.len()).collect()];
    let mut before = None;
    for (line, now) in one.chars().enumerate() {
        let [older, last] = &rows;
        let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX - 1);
        let mut row = vec![line + 1];
        for (column, letter) in other.iter().enumerate() {
            let replaced = at(last, column) + usize::from(*letter != now);
            let mut edits = replaced.min(at(last, column + 1) + 1).min(at(&row, column) + 1);
            let left = column.checked_sub(1);
            if let Some(left) = left
                && before == Some(*letter)
                && other.get(left) == Some(&now)
            {
                edits = edits.min(at(older, left) + 1);
            }
            row.push(edits);
        }
        before = Some(now);
        let [older, last] = &mut rows;
        *older = std::mem::replace(last, row);
    }
    rows[1].last().copied().unwrap_or_default()
}

/// Makes a folder absolute. One of another system is already, and would else lie below this folder.
pub fn absolute_path(folder: &Path) -> std::io::Result<PathBuf> {
    if is_foreign_path(&folder.to_string_lossy()) {
        return Ok(folder.to_path_buf());
    }
    std::path::absolute(folder)
}

/// The root of the project that a typed folder belongs to. A folder of another system is normalized,
/// as it was when the project was recorded.
pub fn find_typed_root(folder: &Path) -> std::io::Result<String> {
    let text = folder.to_string_lossy();
    if is_foreign_path(&text) {
        return Ok(resolve_project_root(&text));
    }
    let folder = std::path::absolute(folder)?;
    let root = tome_home::locate_project(&folder).map_or(folder, |found| found.root);
    Ok(root.to_string_lossy().into_owned())
}

/// The folder of an optional `--project`.
pub fn resolve_given(context: &CommandContext, typed: Option<&Path>) -> Result<Option<PathBuf>> {
    typed.map(|typed| resolve_name(context, typed)).transpose()
}

/// The name of a project and its folders.
#[derive(Debug, Clone, Default)]
struct KnownName {
    name: String,
    /// Where it is now.
    folder: String,
    /// Where it was, and clones that were merged into it.
    other_folders: Vec<String>,
}

/// The short names of the known projects, each of which only one project has.
#[derive(Debug, Clone, Default)]
pub struct ProjectNames {
    by_root: Arc<BTreeMap<String, KnownName>>,
    /// The root of the project that the current folder belongs to.
    current: Option<String>,
}

impl ProjectNames {
    pub fn load(context: &CommandContext) -> Self {
        let projects = Projects::load(&context.settings.home);
        let here = std::env::current_dir().ok();
        let current = here.and_then(|here| projects.find_known_project(&here.to_string_lossy()));
        let known = projects.list().into_iter().map(|one| {
            let (name, folder, other_folders) = (one.name, one.folder, one.other_folders);
            (one.root, KnownName { name, folder, other_folders })
        });
        Self { by_root: Arc::new(known.collect()), current }
    }

    #[cfg(test)]
    pub fn for_test(known: &[(&str, &str)]) -> Self {
        let known = known.iter().map(|(root, name)| {
            let (name, folder) = ((*name).to_owned(), (*root).to_owned());
            ((*root).to_owned(), KnownName { name, folder, ..KnownName::default() })
        });
        Self { by_root: Arc::new(known.collect()), current: None }
    }

    /// The same names after a project was moved.
    #[cfg(test)]
    pub fn with_move(mut self, root: &str, folder: &str) -> Self {
        let mut known = BTreeMap::clone(&self.by_root);
        let one = known.entry(root.to_owned()).or_default();
        one.other_folders.push(std::mem::replace(&mut one.folder, folder.to_owned()));
        self.by_root = Arc::new(known);
        self
    }

    /// Where a project is now; its root if it is not known here.
    pub fn folder(&self, root: &str) -> String {
        let known = self.by_root.get(root).map(|known| known.folder.as_str());
        known.filter(|folder| !folder.is_empty()).unwrap_or(root).to_owned()
    }

    /// Where the folder of a session is now. A folder of a project that was moved is below its new
    /// folder, unless it still exists where it was.
    pub fn session_folder(&self, root: &str, cwd: &str) -> String {
        let Some(known) = self.by_root.get(root).filter(|_| !Path::new(cwd).is_dir()) else {
            return cwd.to_owned();
        };
        let below = |former: &String| relative_folder(cwd, former);
        let rest = known.other_folders.iter().filter_map(below).min_by_key(String::len);
        match rest {
            None => cwd.to_owned(),
            Some(rest) if rest.is_empty() => known.folder.clone(),
            Some(rest) if is_foreign_path(&known.folder) => {
                normalize_path(&format!("{}/{rest}", known.folder))
            }
            Some(rest) => format!("{}/{rest}", known.folder.trim_end_matches('/')),
        }
    }

    /// The command that makes the folder of a session again, if only that folder of its project is gone: the
    /// project was not moved then.
    pub fn restore_folder(&self, root: &str, folder: &str) -> Option<String> {
        let project = self.folder(root);
        let below = relative_folder(folder, &project).filter(|below| !below.is_empty())?;
        let is_gone = Path::new(&project).is_dir() && !Path::new(folder).exists();
        let is_plain = below.split('/').all(|part| part != "..");
        (is_gone && is_plain).then(|| format!("mkdir -p {}", quote_shell(folder)))
    }

    /// The name of a project; that of its folder if it is not known here.
    pub fn name(&self, root: &str) -> String {
        let known = self.by_root.get(root).map(|known| &known.name);
        known
            .filter(|name| !name.is_empty())
            .map_or_else(|| base_name(root), |name| one_line(name, NAME_CHARS_MAX))
    }

    /// The roots of all known projects.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.by_root.keys().map(String::as_str)
    }

    /// The value of `--project` for a project, quoted for a shell: its name, or its root if a folder
    /// here has that name.
    pub fn argument(&self, root: &str) -> String {
        match self.by_root.get(root).map(|known| &known.name) {
            Some(name) if !name.is_empty() && !Path::new(name).exists() => quote_shell(name),
            _ => quote_shell(&self.folder(root)),
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
    use tome_home::Home;
    use tome_model::Millis;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's file needs no durable write")]
    fn a_project_that_does_not_exist_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let root = top.join("backend");
        std::fs::create_dir_all(root.join(".git")).unwrap();
        std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let projects = Projects::load(&Home::at(top.join("home")));
        projects.ensure_folder(root.to_str().unwrap(), Millis(1)).unwrap();
        projects.ensure_folder("/gone/app", Millis(1)).unwrap();
        let resolve = |typed: &str, is_path| {
            resolve_known(&projects, Path::new(typed), is_path).map_err(|error| error.to_string())
        };
        assert_eq!(resolve("backend", false).unwrap(), root);
        for known in ["/gone/app", "/gone/app/src/lexer"] {
            assert_eq!(resolve(known, true).unwrap(), Path::new(known));
        }
        // The repository around it is another project.
        let below = root.join("bakend");
        for (typed, is_path) in
            [("bakend", false), (below.to_str().unwrap(), true), ("/gone", true), ("./no", true)]
        {
            assert_eq!(resolve(typed, is_path).unwrap_err(), format!("no project {typed}"));
        }
    }

    #[test]
    fn near_names_are_suggested() {
        let names = ["backend", "work/site", "lexer-app", "x"];
        let near = |text: &str| find_near_names(text, names.into_iter());
        for typed in ["bakend", "backedn", "Backends", "backen", "/srv/bakend/", "end"] {
            assert_eq!(near(typed), ["backend"], "{typed}");
        }
        assert_eq!(near("lexer"), ["lexer-app"]);
        assert_eq!(near("sites"), ["work/site"]);
        for typed in ["nosuch", "", "/", "front"] {
            assert_eq!(near(typed), Vec::<&str>::new(), "{typed}");
        }
    }

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

    #[test]
    fn a_moved_project_is_where_it_was_moved_to() {
        let names = ProjectNames::for_test(&[("/gone/app", "app"), ("/gone/site", "site")]);
        let names = names.with_move("/gone/app", "/srv/app");
        assert_eq!(names.name("/gone/app"), "app");
        assert_eq!(names.folder("/gone/app"), "/srv/app");
        assert_eq!(names.folder("/gone/site"), "/gone/site");
        let folder = |cwd| names.session_folder("/gone/app", cwd);
        assert_eq!(folder("/gone/app"), "/srv/app");
        assert_eq!(folder("/gone/app/crates/lexer"), "/srv/app/crates/lexer");
        assert_eq!(folder("/gone/app-clone"), "/gone/app-clone");
        assert_eq!(folder("/"), "/", "a folder that exists stays");
    }

    /// The sessions of a project that came from Windows, after `tome projects mv`.
    #[cfg(not(windows))]
    #[test]
    fn a_project_of_windows_is_where_it_was_moved_to() {
        let names = ProjectNames::for_test(&[("C:\\gone\\app", "app")]);
        let names = names.with_move("C:\\gone\\app", "/srv/app");
        let folder = |cwd| names.session_folder("C:\\gone\\app", cwd);
        assert_eq!(folder("c:/gone/app"), "/srv/app");
        assert_eq!(folder("C:\\gone\\app\\crates\\lexer"), "/srv/app/crates/lexer");
        assert_eq!(folder("C:\\gone\\app-clone"), "C:\\gone\\app-clone");
        let names = names.with_move("C:\\gone\\app", "D:\\app");
        let folder = names.session_folder("C:\\gone\\app", "C:\\gone\\app\\crates\\lexer");
        assert_eq!(folder, "D:\\app\\crates\\lexer");
    }

    #[cfg(not(windows))]
    #[test]
    fn a_typed_folder_of_windows_has_the_root_of_its_project() {
        let root = |typed: &str| find_typed_root(Path::new(typed)).unwrap();
        for typed in ["c:/Users/dev/app", "C:\\Users\\dev\\app\\", "\\\\?\\C:\\Users\\dev\\app"] {
            assert_eq!(root(typed), "C:\\Users\\dev\\app");
        }
        assert_eq!(root("/gone/app"), "/gone/app");
    }
}
