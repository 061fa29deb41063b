//! The environment of an installation: the user's folders, the project, and how to run this
//! program.

use std::path::{Path, PathBuf};

use crate::platform;

/// The command with which an agent runs this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchCommand {
    /// A path, or a name to look up in PATH.
    pub program: String,
    /// Global flags before the subcommand, such as `--home`.
    pub flags: Vec<String>,
}

impl LaunchCommand {
    /// Looks the program up in PATH, for files that are copied to other machines.
    pub fn by_name() -> Self {
        Self { program: "tome".to_owned(), flags: Vec::new() }
    }

    pub fn args(&self, command: &[&str]) -> Vec<String> {
        self.flags.iter().cloned().chain(command.iter().map(|word| (*word).to_owned())).collect()
    }

    /// Renders the command as a quoted shell line.
    pub fn shell_line(&self, command: &[&str]) -> String {
        let words = std::iter::once(self.program.clone()).chain(self.args(command));
        words.map(|word| shell_quote(&word)).collect::<Vec<_>>().join(" ")
    }
}

fn shell_quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if platform::HAS_POSIX_SHELL {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        format!("\"{word}\"")
    }
}

pub struct Environment<'a> {
    /// The user's home folder.
    pub home: PathBuf,
    /// The project to install into, or `None` for the user's own settings.
    pub project: Option<PathBuf>,
    pub launch: LaunchCommand,
    /// Reads an environment variable.
    pub var: &'a dyn Fn(&str) -> Option<String>,
}

impl Environment<'_> {
    /// Returns the folder named by a variable, or `default` in the home folder.
    pub fn folder_or_default(&self, variable: &str, default: &str) -> PathBuf {
        self.folder_from_var(variable).unwrap_or_else(|| self.home.join(default))
    }

    /// Returns the folder named by a variable, if that is an absolute path.
    pub fn folder_from_var(&self, variable: &str) -> Option<PathBuf> {
        (self.var)(variable).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Returns a path in the project if there is one, or else the user's.
    pub fn project_or_user(&self, in_project: &str, of_person: PathBuf) -> PathBuf {
        self.project.as_ref().map_or(of_person, |root| root.join(in_project))
    }

    /// Looks up an executable in PATH.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        let path = (self.var)("PATH")?;
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| is_program(file))
    }

    /// Shortens a path for display.
    pub fn display_path(&self, path: &Path) -> String {
        if let Some(rest) = self.project.as_ref().and_then(|root| path.strip_prefix(root).ok()) {
            return rest.display().to_string();
        }
        match path.strip_prefix(&self.home) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

fn is_program(path: &Path) -> bool {
    platform::is_executable(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_line_splits_into_the_original_words() {
        let launch = LaunchCommand {
            program: "/opt/my tools/tome".to_owned(),
            flags: vec!["--home".to_owned(), "/data/it's".to_owned()],
        };
        let line = launch.shell_line(&["hook", "codex"]);
        assert_eq!(line, r"'/opt/my tools/tome' --home '/data/it'\''s' hook codex");
        let words = crate::setup::install_file::split_shell_words(&line);
        assert_eq!(words, ["/opt/my tools/tome", "--home", "/data/it's", "hook", "codex"]);
        assert_eq!(LaunchCommand::by_name().shell_line(&["mcp"]), "tome mcp");
    }
}
