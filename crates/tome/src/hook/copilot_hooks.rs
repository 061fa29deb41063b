//! Copilot CLI's own hooks for Tome: where they are, and whether there are any.

use std::io::Read;
use std::path::{Path, PathBuf};

use tome_home::{FinalLink, open_regular};

/// Hooks file relative to a project.
pub const PROJECT_HOOKS_FILE: &str = ".github/hooks/tome.json";

/// Read limit for a hooks file; Tome's own has two kilobytes.
const HOOKS_FILE_BYTES_MAX: u64 = 64 * 1024;

/// Text that occurs only in Tome's own hooks file.
pub const OWN_HOOK_MARK: &str = "hook copilot sessionStart";

/// Returns whether Copilot CLI has hooks of its own for Tome in `cwd`, either the user's or the
/// project's. `var` reads an environment variable.
pub fn has_own_hooks(var: &dyn Fn(&str) -> Option<String>, cwd: &Path) -> bool {
    let named = |name: &str| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let of_person = named("COPILOT_HOME").or_else(|| Some(named("HOME")?.join(".copilot")));
    let of_person = of_person.map(|folder| folder.join("hooks/tome.json"));
    let of_projects = cwd.ancestors().map(|folder| folder.join(PROJECT_HOOKS_FILE));
    // A repository may contain anything here: links, pipes, devices and long files are not read.
    let says = |path: PathBuf| {
        let mut text = String::new();
        let read = open_regular(&path, FinalLink::Refuse)
            .and_then(|file| file.take(HOOKS_FILE_BYTES_MAX).read_to_string(&mut text));
        read.is_ok() && text.contains(OWN_HOOK_MARK)
    };
    of_person.into_iter().chain(of_projects).any(says)
}
