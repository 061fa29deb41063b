//! Packages that commands added: `cargo add serde`, `npm install --save-dev vitest`, `go get x`.

use std::collections::BTreeSet;

use tome_model::{CommandOutcome, Event};

use crate::extract::commands::chain::unquote;
use crate::extract::commands::command_name::strip_wrappers;
use crate::extract::commands::command_run::{CommandRun, parse_command_runs};

/// A program that adds packages.
struct Installer {
    program: &'static str,
    verbs: &'static [&'static str],
    /// Flags whose value is the next word.
    valued: &'static [&'static str],
    /// Whether names are paths, such as those of Go modules.
    has_paths: bool,
}

const NODE_FLAGS: &[&str] = &[
    "--prefix",
    "-w",
    "--workspace",
    "--registry",
    "--tag",
    "--cwd",
    "--loglevel",
    "--cache",
    "--omit",
];
const PIP_FLAGS: &[&str] = &[
    "-r",
    "--requirement",
    "-c",
    "--constraint",
    "-e",
    "--editable",
    "-i",
    "--index-url",
    "--extra-index-url",
    "-t",
    "--target",
    "-f",
    "--find-links",
    "--python",
    "-p",
    "--root",
    "--prefix",
    "--platform",
];

const INSTALLERS: [Installer; 12] = [
    Installer::named(
        "cargo",
        &["add"],
        &[
            "-F",
            "--features",
            "-p",
            "--package",
            "--rename",
            "--path",
            "--base",
            "--git",
            "--branch",
            "--tag",
            "--rev",
            "--registry",
            "--target",
            "--manifest-path",
            "-C",
            "-Z",
        ],
    ),
    Installer::named("npm", &["install", "i", "add", "in"], NODE_FLAGS),
    Installer::named(
        "pnpm",
        &["add", "install", "i"],
        &["--filter", "-F", "-C", "--dir", "--registry", "--loglevel"],
    ),
    Installer::named("yarn", &["add"], &["--cwd", "--registry", "--cache-folder"]),
    Installer::named("bun", &["add", "install", "i"], &["--cwd", "--registry"]),
    Installer { has_paths: true, ..Installer::named("go", &["get"], &["-C", "-modfile", "-tags"]) },
    Installer::named("pip", &["install"], PIP_FLAGS),
    Installer::named("pip3", &["install"], PIP_FLAGS),
    Installer::named(
        "uv",
        &["add"],
        &[
            "-r",
            "--requirements",
            "-c",
            "--constraints",
            "--group",
            "--extra",
            "--optional",
            "--package",
            "--python",
            "-p",
            "--index",
            "--index-url",
            "--default-index",
            "--find-links",
            "-f",
            "-m",
            "--marker",
            "--script",
            "--tag",
            "--branch",
            "--rev",
            "--bounds",
            "--directory",
            "--project",
        ],
    ),
    Installer::named("poetry", &["add"], &["-G", "--group", "-E", "--extras", "--source", "-C"]),
    Installer::named("gem", &["install"], &["-v", "--version", "--source", "-i"]),
    Installer::named("bundle", &["add"], &["-v", "--version", "-g", "--group", "-s", "--source"]),
];

impl Installer {
    const fn named(
        program: &'static str,
        verbs: &'static [&'static str],
        valued: &'static [&'static str],
    ) -> Self {
        Self { program, verbs, valued, has_paths: false }
    }

    /// The words that are no flags and no values of flags.
    fn operands<'a>(&self, words: &[&'a str]) -> Vec<&'a str> {
        let mut operands = Vec::new();
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            if is_redirection(word) {
                break;
            }
            if self.valued.contains(&word) {
                words.next();
            } else if !word.starts_with(['-', '+']) {
                operands.push(word);
            }
        }
        operands
    }

    fn find_name<'a>(&self, word: &'a str) -> Option<&'a str> {
        let word = unquote(word);
        let versioned = word.rfind('@').filter(|at| *at > 0).and_then(|at| word.get(..at));
        let name = versioned.unwrap_or(word);
        let name = name.split(['=', '<', '>', '~', '!', '[']).next().unwrap_or(name).trim_end();
        let is_path = name.contains('/') && !name.starts_with('@');
        let is_name = name.len() > 1
            && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "@/._-".contains(c))
            && (self.has_paths || !is_path);
        is_name.then_some(name)
    }
}

/// The packages that the commands of some events added.
pub(crate) fn find_packages(events: &[Event]) -> BTreeSet<String> {
    let mut packages = BTreeSet::new();
    for (at, event) in events.iter().enumerate() {
        let Some(tool) = &event.tool else { continue };
        let runs = parse_command_runs(at, event, tool);
        for run in runs.iter().filter(|run| run.outcome != CommandOutcome::Failed) {
            packages.extend(packages_of(run).into_iter().map(str::to_owned));
        }
    }
    packages
}

fn packages_of<'a>(run: &CommandRun<'a>) -> Vec<&'a str> {
    let Some(words) = strip_wrappers(run.command) else { return Vec::new() };
    let words = match words.as_slice() {
        ["python" | "python3" | "py", "-m", rest @ ..] => rest,
        ["uv", "pip", ..] => words.get(1..).unwrap_or_default(),
        words => words,
    };
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let Some(installer) = INSTALLERS.iter().find(|one| one.program == *program) else {
        return Vec::new();
    };
    let operands = installer.operands(rest);
    let operands = match operands.as_slice() {
        ["workspace", _, rest @ ..] => rest,
        operands => operands,
    };
    match operands.split_first() {
        Some((verb, names)) if installer.verbs.contains(verb) => {
            names.iter().filter_map(|name| installer.find_name(name)).collect()
        }
        _ => Vec::new(),
    }
}

fn is_redirection(word: &str) -> bool {
    word.trim_start_matches(['0', '1', '2', '&']).starts_with(['>', '<'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::extract::commands::shell_event::build_shell_event;

    fn added(command: &str, code: i64) -> String {
        let event = build_shell_event("/home/dev/shop", &json!({ "command": command }), code);
        find_packages(&[event]).into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn packages_are_found_behind_flags() {
        for (command, packages) in [
            ("cargo add serde", "serde"),
            ("cargo add -p shop --features derive serde@1.0 tokio", "serde tokio"),
            ("cargo +nightly add --dev insta", "insta"),
            ("go get -u github.com/example/pty@latest", "github.com/example/pty"),
            ("go get ./...", ""),
            ("npm install --save-dev vitest", "vitest"),
            ("cd web && npm i lodash @types/lodash 2>&1 | tail -3", "@types/lodash lodash"),
            ("npm --prefix web install react", "react"),
            ("npm install", ""),
            ("npm install ../local.tgz ./other git+https://example.com/x.git", ""),
            ("pnpm --filter web add -D eslint", "eslint"),
            ("yarn workspace web add left-pad", "left-pad"),
            ("bun add -d zod", "zod"),
            ("uv add --group dev 'httpx>=0.27'", "httpx"),
            ("uv pip install ruff", "ruff"),
            ("python3 -m pip install --upgrade pip requests[socks]==2.0", "pip requests"),
            ("pip install -r requirements.txt", ""),
            ("pip install -e . > install.log", ""),
            ("cargo test add", ""),
            ("npm run add react", ""),
        ] {
            assert_eq!(added(command, 0), packages, "{command}");
        }
        assert_eq!(added("cargo add serde", 101), "", "it failed");
    }
}
