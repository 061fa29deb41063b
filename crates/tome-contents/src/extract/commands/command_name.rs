//! Derives a short name for a command line: `cargo test`, without wrappers and arguments.

use crate::extract::commands::chain::split_words;
use crate::extract::language::terms::base_name;

/// Programs that inspect, navigate or do small file operations.
#[rustfmt::skip]
const MINOR_PROGRAMS: &[&str] = &[
    "ls", "cat", "grep", "rg", "find", "echo", "pwd", "head", "tail", "sed", "awk", "wc", "which",
    "tree", "less", "stat", "du", "df", "ps", "env", "printenv", "date", "type", "file", "fd", "jq",
    "sort", "uniq", "xargs", "printf", "true", "sleep", "test", "mkdir", "touch", "cp", "mv", "rm",
    "chmod", "whoami", "uname", "hostname", "history", "nl", "cut", "tr", "diff", "hexdump", "xxd",
    "open", "for", "while", "if", "do", "done", "[", "(", "{", "command", "id", "kill", "ln", "cd",
    "export", "source", "set", ".", "pushd", "popd", "unset", "tee", "EOF",
];
#[rustfmt::skip]
const MINOR_GIT_COMMANDS: &[&str] = &[
    "status", "log", "diff", "show", "branch", "blame", "rev-parse", "ls-files", "remote", "config",
    "grep", "reflog", "fetch", "add", "stash", "describe", "worktree", "checkout", "switch",
    "cat-file", "ls-tree", "for-each-ref",
];
const WRAPPERS: &[&str] = &["sudo", "time", "nice", "env", "nohup", "exec", "command"];
/// Words of commands that build, check or ship.
#[rustfmt::skip]
const MAJOR_WORDS: &[&str] = &[
    "test", "tests", "build", "check", "clippy", "lint", "fmt", "run", "compile", "deploy", "apply",
    "migrate", "migration", "upgrade", "install", "push", "commit", "merge", "rebase",
    "cherry-pick", "publish", "release", "rollout", "up", "plan", "verify", "vet", "tsc", "pytest",
    "mypy", "ruff", "eslint", "jest", "vitest", "gofmt", "golangci-lint", "make", "psql", "mysql",
    "sqlite3", "terraform", "ansible-playbook", "alembic", "mvn", "ctest", "cmake", "ninja", "tox",
    "bench", "pull", "revert", "helm", "gradle", "gradlew", "bun", "typecheck", "phpunit", "rspec",
    "e2e",
];

/// A command's short name, and whether it builds, checks or ships. `None` if it only inspects,
/// navigates or does small file operations.
pub(crate) fn name_command(command: &str) -> Option<(String, bool)> {
    let words = strip_wrappers(command)?;
    let (first, rest) = words.split_first()?;
    if is_minor(first, rest) {
        return None;
    }
    let name = build_name(first, rest);
    let is_major = name.split([' ', ':', '/', '.']).any(|word| MAJOR_WORDS.contains(&word));
    Some((name, is_major))
}

/// Whether a command changes files rather than checking them: formatters, unless a flag such as
/// `--check` asks for a report only, and linters that fix.
pub(crate) fn writes_files(name: &str, command: &str) -> bool {
    #[rustfmt::skip]
    const FORMATTERS: [&str; 11] = [
        "fmt", "format", "gofmt", "goimports", "rustfmt", "prettier", "black", "isort", "dprint",
        "yapf", "gofumpt",
    ];
    const FIXES: [&str; 4] = ["fix", "autofix", "autocorrect", "write"];
    #[rustfmt::skip]
    const FIX_FLAGS: [&str; 9] = [
        "--fix", "--write", "--apply", "--unsafe-fixes", "--autocorrect", "--autocorrect-all",
        "--auto-correct", "--updateSnapshot", "--update-snapshots",
    ];
    const CHECKS: [&str; 7] =
        ["--check", "-c", "--list-different", "-l", "-d", "--diff", "--dry-run"];
    let named = |words: &[&str]| name.split([' ', ':', '/', '-']).any(|word| words.contains(&word));
    let formats = named(&FORMATTERS);
    let mut words = command.split_whitespace();
    let reports = named(&["check"]) || words.clone().any(|word| CHECKS.contains(&word));
    let fixes = words.any(|word| FIX_FLAGS.contains(&word.split('=').next().unwrap_or(word)));
    fixes || named(&FIXES) || formats && !reports
}

fn is_minor(program: &str, rest: &[&str]) -> bool {
    let verb = rest.iter().find(|word| !word.starts_with('-'));
    let asks = |word: &&str| matches!(*word, "view" | "list" | "diff" | "status" | "checks");
    match program {
        "git" => find_git_verb(rest).is_none_or(|verb| MINOR_GIT_COMMANDS.contains(&verb)),
        "gh" => verb.is_none_or(|verb| *verb == "api") || rest.iter().any(asks),
        _ => MINOR_PROGRAMS.contains(&program),
    }
}

/// Returns the words of a command from its program name on, without wrappers and assignments:
/// `npx tsc` is `tsc`.
pub(crate) fn strip_wrappers(part: &str) -> Option<Vec<&str>> {
    let mut words: Vec<&str> = split_words(part);
    loop {
        let first = *words.first()?;
        let assigns = first.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        if first == "timeout" || first == "nice" {
            let arguments = words
                .iter()
                .skip(1)
                .take_while(|word| {
                    word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit())
                })
                .count();
            words.drain(..=arguments.min(words.len() - 1));
        } else if assigns || WRAPPERS.contains(&first) {
            words.remove(0);
        } else if let Some(payload) = find_payload(&words) {
            words.drain(..payload);
        } else {
            break;
        }
    }
    let named = words
        .first()?
        .starts_with(|c: char| c.is_alphabetic() || matches!(c, '.' | '/' | '~' | '@'));
    named.then_some(words)
}

/// Where the command begins that a runner such as `npx` or `uv run` runs in its environment.
fn find_payload(words: &[&str]) -> Option<usize> {
    #[rustfmt::skip]
    const VALUED: [&str; 14] = [
        "-n", "--name", "-p", "--prefix", "--with", "--extra", "--group", "--python", "--package",
        "--directory", "--project", "--cwd", "--env-file", "--from",
    ];
    let runner = match words {
        ["npx" | "bunx" | "pnpx" | "uvx", ..] => 1,
        ["conda" | "mamba" | "micromamba", "run", ..]
        | ["uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch", "run", ..]
        | ["npm" | "pnpm" | "yarn" | "bundle" | "mise", "exec", ..]
        | ["pnpm" | "yarn", "dlx", ..] => 2,
        _ => return None,
    };
    let mut at = runner;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        // The name of a module after `-m` is the command.
        at += 1 + usize::from(VALUED.contains(word));
    }
    // A script of the project has no name without its runner: `pipenv run test`, `uv run train.py`.
    let payload = words.get(at)?;
    let is_script =
        MINOR_PROGRAMS.contains(payload) || payload.ends_with(".py") || *payload == "test";
    (!is_script).then_some(at)
}

/// Programs named together with their first two arguments.
const TWO_ARGUMENT_PROGRAMS: &[&str] = &[
    "npm", "pnpm", "yarn", "bun", "uv", "mise", "docker", "poetry", "bundle", "gh", "kubectl",
    "pipenv", "deno", "python", "python3",
];
/// Programs without subcommands: the next word selects what they check.
const SINGLE_PROGRAMS: &[&str] = &["pytest", "tsc", "mypy", "eslint", "jest", "rspec", "phpunit"];
/// Flags whose value is the next word.
const FLAGS_WITH_VALUE: &[&str] = &[
    "--context",
    "--kube-context",
    "-n",
    "--namespace",
    "-C",
    "--manifest-path",
    "--project",
    "--prefix",
    "--file",
    "-w",
    "--workspace",
    "--dir",
];

/// Joins the program with its first arguments that are not flags, paths or values.
fn build_name(first: &str, rest: &[&str]) -> String {
    let program = if first.starts_with("./") { first } else { base_name(first) };
    if program == "git" {
        return find_git_verb(rest)
            .map_or("git".to_owned(), |verb| format!("git {verb}{}", find_force_flag(rest)));
    }
    if SINGLE_PROGRAMS.contains(&program) {
        return program.to_owned();
    }
    let script = matches!(program, "python" | "python3" | "node" | "php" | "ruby" | "bash" | "sh");
    let mut words = vec![program];
    let mut rest = rest.iter().copied();
    while let Some(word) = rest.next() {
        if FLAGS_WITH_VALUE.contains(&word) {
            rest.next();
        } else if !word.starts_with('-') {
            let word = if script && words.len() == 1 { base_name(word) } else { word };
            if !is_subcommand(word, script) {
                break;
            }
            words.push(word);
        } else if words.len() > 1 {
            break;
        }
        if words.len() > 1 + usize::from(TWO_ARGUMENT_PROGRAMS.contains(&program)) {
            break;
        }
    }
    shorten_name(&words)
}

/// ` --force` or ` --force-with-lease`, if given: git may refuse a push without it and accept it with it.
fn find_force_flag(rest: &[&str]) -> &'static str {
    if rest.iter().any(|word| word.starts_with("--force-with-lease")) {
        " --force-with-lease"
    } else if rest.iter().any(|word| matches!(*word, "--force" | "-f")) {
        " --force"
    } else {
        ""
    }
}

fn is_subcommand(word: &str, script: bool) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
        && word.len() <= 28
        && (script || !word.contains('.'))
        && !word.starts_with(|c: char| c.is_ascii_digit())
}

/// `npm test cart` counts as `npm test`.
fn shorten_name(words: &[&str]) -> String {
    match words {
        [
            tool @ ("npm" | "pnpm" | "yarn" | "bun"),
            verb @ ("test" | "install" | "ci" | "build" | "lint"),
            _,
        ] => {
            format!("{tool} {verb}")
        }
        ["kubectl", verb, _] if *verb != "rollout" => format!("kubectl {verb}"),
        ["python" | "python3", tool @ ("pytest" | "mypy" | "ruff"), ..] => (*tool).to_owned(),
        ["python" | "python3", script, _] if script.ends_with(".py") && *script != "manage.py" => {
            format!("python {script}")
        }
        _ => words.join(" "),
    }
}

/// Flags of git itself whose value is the next word.
const GIT_FLAGS_WITH_VALUE: [&str; 6] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"];

/// The subcommand of a call of git, after its own flags: `git -C dir commit`.
pub(crate) fn find_git_verb<'a>(arguments: &[&'a str]) -> Option<&'a str> {
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        if GIT_FLAGS_WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_named_without_its_runner() {
        let name = |command: &str| name_command(command).map(|(name, _)| name);
        for (command, expected) in [
            ("npx tsc --noEmit", "tsc"),
            ("bunx @biomejs/biome check src", "biome check"),
            ("pnpm exec vitest run", "vitest run"),
            ("uv run --with ruff ruff check .", "ruff check"),
            ("uv run -m pytest -q", "pytest"),
            ("poetry run pytest tests/api", "pytest"),
            ("conda run -n shop python train.py", "python train.py"),
            ("conda run -n shop pip install torch", "pip install"),
            ("pytest -k cart", "pytest"),
            ("uv sync", "uv sync"),
        ] {
            assert_eq!(name(command).as_deref(), Some(expected), "{command}");
        }
    }

    #[test]
    fn fixers_write_and_formatters_check_only_if_asked_to() {
        let formats = |command: &str| {
            let (name, _) = name_command(command).unwrap();
            writes_files(&name, command)
        };
        assert!(formats("npm run lint:fix"));
        assert!(formats("npx biome check --write src"));
        assert!(formats("ruff check --fix ."));
        assert!(formats("npm run lint -- --fix"));
        assert!(formats("clang-format -i a.cc"));
        assert!(!formats("npm run format:check"));
        assert!(!formats("npm run lint"));
        assert!(!formats("ruff check ."));
        assert!(formats("cargo fmt"));
        assert!(formats("mise run fmt"));
        assert!(formats("npx prettier --write src"));
        assert!(!formats("cargo fmt --check"));
        assert!(!formats("gofmt -l ."));
        assert!(!formats("cargo clippy"));
    }
}
