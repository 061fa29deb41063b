//! Where a command of a chain runs: its folder and the environment that was activated for it.
//! Without them a reader could not run the command again.

use tome_model::{Event, Tool};

use crate::extract::commands::chain::{ChainPart, split_words, unquote};
use crate::extract::language::text::find_text_field;

/// The folder and the environment of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandEnvironment<'a> {
    /// Relative to the project, absolute if outside of it, and empty at its root. `None` if it is
    /// not known: `cd $DIR`, `cd -`, `popd`.
    pub(crate) folder: Option<String>,
    /// Activations such as `source .venv/bin/activate`, with the folder in which they ran.
    activations: Vec<(Option<String>, &'a str)>,
}

impl CommandEnvironment<'_> {
    /// A command line that does the same from the root of the project.
    pub(crate) fn complete(&self, command: &str) -> Option<String> {
        let folder = self.folder.as_deref()?;
        let change = (!folder.is_empty()).then(|| format!("cd {} && ", quote_folder(folder)));
        let change = change.unwrap_or_default();
        let mut activate = String::new();
        let mut is_at_root = false;
        for (from, activation) in &self.activations {
            is_at_root = from.as_deref() == Some("");
            if activation.contains('$') || !is_at_root && from.as_deref() != Some(folder) {
                return None;
            }
            activate.push_str(activation);
            activate.push_str(" && ");
        }
        Some(match is_at_root {
            true => format!("{activate}{change}{command}"),
            false => format!("{change}{activate}{command}"),
        })
    }
}

fn quote_folder(folder: &str) -> String {
    if folder.contains(char::is_whitespace) { format!("\"{folder}\"") } else { folder.to_owned() }
}

/// Reads the environment of every part of a chain.
pub(crate) fn read_environments<'a>(
    chain: &[ChainPart<'a>],
    event: &Event,
    tool: &Tool,
) -> Vec<CommandEnvironment<'a>> {
    let root = project_root(event);
    let mut activations: Vec<(Option<String>, &'a str)> = Vec::new();
    let mut environments = Vec::with_capacity(chain.len());
    for (part, folder) in chain.iter().zip(read_folders(chain, event, tool)) {
        let folder = folder.map(|path| relative_to(&path, root));
        environments
            .push(CommandEnvironment { folder: folder.clone(), activations: activations.clone() });
        if let [stage] = part.stages.as_slice()
            && is_activation(&split_words(stage))
        {
            activations.push((folder, stage));
        }
    }
    environments
}

/// Reads the folder in which every part of a chain runs; `None` if it is not known.
pub(crate) fn read_folders(
    chain: &[ChainPart<'_>],
    event: &Event,
    tool: &Tool,
) -> Vec<Option<String>> {
    let given = find_text_field(&tool.input, &["workdir", "cwd", "dir_path", "directory"])
        .or_else(|| event.meta.get("workdir")?.as_str());
    let mut current = match given {
        Some(given) => enter_folder(Some(&event.cwd), given),
        None => Some(event.cwd.clone()),
    };
    let mut folders = Vec::with_capacity(chain.len());
    for part in chain {
        folders.push(current.clone());
        let [stage] = part.stages.as_slice() else { continue };
        match split_words(stage).as_slice() {
            ["cd" | "pushd", target, ..] => {
                current = enter_folder(current.as_deref(), unquote(target));
            }
            ["popd", ..] | ["cd"] => current = None,
            _ => {}
        }
    }
    folders
}

fn is_activation(words: &[&str]) -> bool {
    matches!(
        words,
        ["source" | ".", _, ..]
            | ["conda" | "mamba" | "micromamba" | "pyenv", "activate", ..]
            | ["nvm" | "fnm", "use", ..]
            | ["workon", _, ..]
    )
}

/// The root that folders are relative to. A worktree is a root of its own.
fn project_root(event: &Event) -> &str {
    let project = event.project.trim_end_matches('/');
    let cwd = event.cwd.trim_end_matches('/');
    if !is_below(cwd, project) {
        return cwd;
    }
    let below = cwd.get(project.len()..).unwrap_or_default();
    let Some(from) = below.find("worktrees/").map(|at| project.len() + at + "worktrees/".len())
    else {
        return project;
    };
    let name = cwd.get(from..).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    cwd.get(..from + name.len()).unwrap_or(project)
}

fn is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
}

fn relative_to(path: &str, root: &str) -> String {
    let below = if is_below(path, root) { path.get(root.len()..) } else { None };
    below.map_or(path, |rest| rest.trim_matches(['/', '\\'])).to_owned()
}

/// The folder after `cd target`.
pub(crate) fn enter_folder(current: Option<&str>, target: &str) -> Option<String> {
    if target.contains(['$', '`']) || target.starts_with('-') {
        return None;
    }
    let is_windows = target.chars().nth(1) == Some(':');
    if is_windows || target.starts_with('/') {
        return Some(target.trim_end_matches(['/', '\\']).to_owned());
    }
    let current = current?;
    if let Some(rest) = target.strip_prefix('~') {
        return Some(format!("{}{}", home_of(current)?, rest.trim_end_matches('/')));
    }
    let mut parts: Vec<&str> = current.split('/').collect();
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." if parts.len() > 1 => drop(parts.pop()),
            ".." => return None,
            _ => parts.push(step),
        }
    }
    Some(parts.join("/"))
}

/// The home folder that a path lies in.
fn home_of(path: &str) -> Option<&str> {
    if is_below(path, "/root") {
        return Some("/root");
    }
    let user = ["/home/", "/Users/"].iter().find_map(|homes| path.strip_prefix(homes))?;
    let rest = user.find('/').map_or(0, |at| user.len() - at);
    path.get(..path.len() - rest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::extract::commands::chain::split_chain;
    use crate::extract::commands::shell_event::build_shell_event;

    fn complete(cwd: &str, input: &serde_json::Value) -> Option<String> {
        let mut event = build_shell_event(cwd, input, 0);
        "/home/dev/shop".clone_into(&mut event.project);
        let tool = event.tool.take().unwrap();
        let chain = split_chain(input["command"].as_str().unwrap());
        let environments = read_environments(&chain, &event, &tool);
        environments.last().unwrap().complete(chain.last().unwrap().stages[0])
    }

    fn from_root(command: &str) -> Option<String> {
        complete("/home/dev/shop", &json!({"command": command}))
    }

    #[test]
    fn a_command_keeps_its_folder_and_its_environment() {
        for (line, shown) in [
            ("npm test", "npm test"),
            ("cd /home/dev/shop && npm test", "npm test"),
            ("cd ~/shop/web && npm test", "cd web && npm test"),
            ("cd web/app; cd .. && npm test | tail -3", "cd web && npm test"),
            ("cd '/opt/my app' && make test", "cd \"/opt/my app\" && make test"),
            ("source .venv/bin/activate && pytest", "source .venv/bin/activate && pytest"),
            ("cd api && . env/bin/activate && pytest", "cd api && . env/bin/activate && pytest"),
            ("conda activate shop && cd api && pytest", "conda activate shop && cd api && pytest"),
        ] {
            assert_eq!(from_root(line).as_deref(), Some(shown), "{line}");
        }
        assert_eq!(from_root("cd $BUILD && make test"), None);
        assert_eq!(from_root("pushd web && npm ci && popd && npm test"), None);
        assert_eq!(from_root("cd ../../../../.. && npm test"), None);
        assert_eq!(from_root("source $VENV/bin/activate && pytest"), None);
    }

    #[test]
    fn the_folder_of_the_call_counts() {
        let plain = json!({"command": "npm test"});
        assert_eq!(complete("/home/dev/shop/web", &plain).unwrap(), "cd web && npm test");
        assert_eq!(complete("/srv/copy", &plain).unwrap(), "npm test");
        assert_eq!(complete("/home/dev/shop/.worktrees/fix", &plain).unwrap(), "npm test");
        let given = json!({"command": "npm test", "workdir": "web"});
        assert_eq!(complete("/home/dev/shop", &given).unwrap(), "cd web && npm test");
    }
}
