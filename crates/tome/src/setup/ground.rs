//! What the wiring stands on: the person's folders, the project, and how this program is run.

use std::path::{Path, PathBuf};

/// How an agent runs this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Its path, or its name where PATH finds it.
    pub program: String,
    /// What stands before every command, such as `--home`.
    pub flags: Vec<String>,
}

impl Launch {
    /// By name, for files that are carried to other machines.
    pub fn by_name() -> Self {
        Self { program: "tome".to_owned(), flags: Vec::new() }
    }

    /// What follows the program.
    pub fn args(&self, command: &[&str]) -> Vec<String> {
        self.flags.iter().cloned().chain(command.iter().map(|word| (*word).to_owned())).collect()
    }

    /// The whole as a line for a shell.
    pub fn line(&self, command: &[&str]) -> String {
        let words = std::iter::once(self.program.clone()).chain(self.args(command));
        words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if cfg!(windows) { format!("\"{word}\"") } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Where things are.
pub struct Ground<'a> {
    /// The person's home folder.
    pub home: PathBuf,
    /// The project to wire, if not the person's own settings.
    pub project: Option<PathBuf>,
    /// How agents run this program.
    pub launch: Launch,
    /// The environment.
    pub var: &'a dyn Fn(&str) -> Option<String>,
}

impl Ground<'_> {
    /// The folder that a variable names, or one under the person's home.
    pub fn folder(&self, variable: &str, default: &str) -> PathBuf {
        self.named(variable).unwrap_or_else(|| self.home.join(default))
    }

    /// The folder that a variable names.
    pub fn named(&self, variable: &str) -> Option<PathBuf> {
        (self.var)(variable).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// A path in the project where one is wired, else in a folder of the person's.
    pub fn either(&self, in_project: &str, of_person: PathBuf) -> PathBuf {
        self.project.as_ref().map_or(of_person, |root| root.join(in_project))
    }

    /// Whether PATH has a program of this name, and where.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let path = (self.var)("PATH")?;
        let name = if cfg!(windows) { format!("{name}.exe") } else { name.to_owned() };
        std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| is_program(file))
    }

    /// A path as people write it.
    pub fn short(&self, path: &Path) -> String {
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
    crate::platform::is_program(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_the_words_it_was_made_of() {
        let launch = Launch {
            program: "/opt/my tools/tome".to_owned(),
            flags: vec!["--home".to_owned(), "/data/it's".to_owned()],
        };
        let line = launch.line(&["hook", "codex"]);
        assert_eq!(line, r"'/opt/my tools/tome' --home '/data/it'\''s' hook codex");
        let words = crate::setup::part::split_words(&line);
        assert_eq!(words, ["/opt/my tools/tome", "--home", "/data/it's", "hook", "codex"]);
        assert_eq!(Launch::by_name().line(&["mcp"]), "tome mcp");
    }
}
