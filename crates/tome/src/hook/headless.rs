//! Detects headless runs, so that they print the same with and without Tome.
//!
//! Lessons for a plan, the request to store and overview reminders make an agent do or say more than it
//! was asked. That is fine in a conversation, but would change the output that a script reads from `claude
//! -p` or `codex exec`. They are sent only if a person takes part:
//!
//! - Claude Code reports it in its hooks' environment;
//! - for other clients, the ancestors of this process are inspected: the client's arguments, and whether
//!   its input and output are a terminal.
//!
//! If this cannot be determined (no `/proc`, unknown client, parent has exited), the run counts as
//! headless: a missing injection does no harm.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use tome_model::Agent;

use crate::config::InjectSettings;

/// Maximum number of shells and wrappers between a client and its hook.
const ANCESTORS_MAX: usize = 8;

/// Cap on a command line, which may contain a long prompt.
const ARGS_BYTES_MAX: u64 = 256 * 1024;

/// Programs through which clients run their hooks.
const SHELL_WRAPPERS: [&str; 10] =
    ["sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "busybox", "env", "timeout"];

/// Variables set by CI servers; Gemini CLI uses them to detect headless runs too.
const CI_VARIABLES: [&str; 2] = ["CI", "GITHUB_ACTIONS"];

/// Returns the settings, without the injections that headless runs do not get.
pub fn permitted_injections(settings: &InjectSettings, agent: &Agent) -> InjectSettings {
    let is_enabled = settings.plan || settings.store || settings.overview;
    let var = |name: &str| std::env::var(name).ok();
    if !is_enabled || settings.headless || is_attended(agent.as_str(), &var, &find_client_process) {
        return settings.clone();
    }
    InjectSettings { plan: false, store: false, overview: false, ..settings.clone() }
}

struct ClientProcess {
    args: Vec<String>,
    /// Whether both its input and output are a terminal.
    has_terminal: bool,
}

fn is_attended(
    agent: &str,
    var: &dyn Fn(&str) -> Option<String>,
    find_client: &dyn Fn() -> Option<ClientProcess>,
) -> bool {
    let is_set =
        |name: &&str| var(name).is_some_and(|value| !matches!(&*value, "" | "0" | "false"));
    if CI_VARIABLES.iter().any(is_set) {
        return false;
    }
    if agent == "claude-code" {
        if let Some(attended) = var("CLAUDE_CODE_SESSION_ATTENDED") {
            return attended == "1";
        }
        if let Some(entrypoint) = var("CLAUDE_CODE_ENTRYPOINT") {
            return entrypoint == "cli";
        }
    }
    find_client().is_some_and(|client| client.has_terminal && !is_one_shot(agent, &client.args))
}

/// Whether a client with these arguments answers one prompt and exits, or serves another program. True
/// for unknown clients.
fn is_one_shot(agent: &str, args: &[String]) -> bool {
    let args = client_args(args);
    let has = |names: &[&str]| args.iter().any(|arg| names.contains(&arg.as_str()));
    let has_prompt = || {
        args.iter().any(|arg| arg.starts_with("-p") || arg.split('=').next() == Some("--prompt"))
    };
    match agent {
        "claude-code" => has(&["-p", "--print"]),
        "codex" => has(&["exec", "e", "review", "app-server", "mcp-server", "cloud"]),
        "copilot" => has_prompt() || has(&["--acp", "--server", "--headless", "--ui-server"]),
        "gemini" | "qwen" => {
            has_prompt()
                || has(&["--acp", "--experimental-acp"])
                || has_prompt_argument(args) && !has(&["-i", "--prompt-interactive"])
        }
        "opencode" => has(&["run", "serve", "web", "acp", "github", "attach"]),
        _ => true,
    }
}

/// The client's own arguments, after the script if an interpreter runs it.
fn client_args(args: &[String]) -> &[String] {
    let is_interpreted = args
        .first()
        .is_some_and(|arg| matches!(program_name(arg), "node" | "nodejs" | "bun" | "deno"));
    let skipped = if is_interpreted {
        args.iter().skip(1).position(|arg| !arg.starts_with('-')).map_or(1, |at| at + 2)
    } else {
        1
    };
    args.get(skipped..).unwrap_or_default()
}

/// Whether there is a prompt: an argument that is neither an option nor an option's value. An argument
/// with spaces always counts as a prompt.
fn has_prompt_argument(args: &[String]) -> bool {
    let mut before = "";
    args.iter().any(|arg| {
        let is_value = before.starts_with('-') && !before.contains('=');
        let is_prompt = !arg.starts_with('-') && (!is_value || arg.contains(char::is_whitespace));
        before = arg;
        is_prompt
    })
}

fn program_name(arg: &str) -> &str {
    let name = Path::new(arg).file_name().and_then(|name| name.to_str()).unwrap_or(arg);
    name.trim_start_matches('-')
}

/// Finds the nearest ancestor process that is not a wrapper.
fn find_client_process() -> Option<ClientProcess> {
    let mut process = parent_process("self")?;
    for _ in 0..ANCESTORS_MAX {
        let args = process_args(&process)?;
        if !args.first().is_some_and(|arg| SHELL_WRAPPERS.contains(&program_name(arg))) {
            let has_terminal = is_terminal(&process, 0) && is_terminal(&process, 1);
            return Some(ClientProcess { args, has_terminal });
        }
        process = parent_process(&process)?;
    }
    None
}

/// Returns the parent of a process, unless that is init.
fn parent_process(process: &str) -> Option<String> {
    let stat = read_proc_file(&format!("/proc/{process}/stat"))?;
    let stat = String::from_utf8_lossy(&stat).into_owned();
    // `pid (name) state parent …`; the name may itself contain parentheses.
    let (_, rest) = stat.rsplit_once(')')?;
    let parent = rest.split_whitespace().nth(1)?;
    (!matches!(parent, "0" | "1")).then(|| parent.to_owned())
}

fn process_args(process: &str) -> Option<Vec<String>> {
    let bytes = read_proc_file(&format!("/proc/{process}/cmdline"))?;
    let args = bytes.strip_suffix(&[0]).unwrap_or(&bytes).split(|byte| *byte == 0);
    Some(args.map(|arg| String::from_utf8_lossy(arg).into_owned()).collect())
}

fn is_terminal(process: &str, descriptor: u32) -> bool {
    let target = std::fs::read_link(format!("/proc/{process}/fd/{descriptor}"));
    target.is_ok_and(|target| {
        target.starts_with("/dev/pts")
            || target.to_str().is_some_and(|path| path.starts_with("/dev/tty"))
            || target == Path::new("/dev/console")
    })
}

fn read_proc_file(path: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(ARGS_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a client with these arguments in a terminal counts as attended.
    fn attended(agent: &str, env: &[(&str, &str)], line: &[&str]) -> bool {
        at(agent, env, line, true)
    }

    fn at(agent: &str, env: &[(&str, &str)], line: &[&str], has_terminal: bool) -> bool {
        let var = |name: &str| {
            let found = env.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let client = || {
            let args = line.iter().map(|arg| (*arg).to_owned()).collect();
            (!line.is_empty()).then_some(ClientProcess { args, has_terminal })
        };
        is_attended(agent, &var, &client)
    }

    #[test]
    fn claude_code_reports_headless_runs_in_variables() {
        let says = |env: &[(&str, &str)]| attended("claude-code", env, &[]);
        assert!(says(&[("CLAUDE_CODE_SESSION_ATTENDED", "1"), ("CLAUDE_CODE_ENTRYPOINT", "cli")]));
        assert!(says(&[("CLAUDE_CODE_ENTRYPOINT", "cli")]));
        assert!(!says(&[("CLAUDE_CODE_SESSION_ATTENDED", "0"), ("CLAUDE_CODE_ENTRYPOINT", "cli")]));
        assert!(!says(&[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]));
        assert!(!says(&[]));
        assert!(attended("claude-code", &[], &["claude", "--resume"]));
        assert!(!attended("claude-code", &[], &["claude", "--print", "hi"]));
    }

    #[test]
    fn headless_runs_of_other_agents_are_detected_by_their_arguments() {
        let attended_lines: [(&str, &[&str]); 8] = [
            ("codex", &["codex"]),
            ("codex", &["/opt/codex", "-m", "big", "fix the bug"]),
            ("copilot", &["copilot", "--allow-all-tools"]),
            ("copilot", &["copilot", "-i", "fix the bug"]),
            ("gemini", &["node", "/opt/gemini.js", "-m", "flash"]),
            ("gemini", &["node", "--max-old-space-size=1", "/opt/gemini.js", "-i", "fix the bug"]),
            ("gemini", &["gemini", "--resume", "latest"]),
            ("opencode", &["opencode", "--continue"]),
        ];
        for (agent, line) in attended_lines {
            assert!(attended(agent, &[], line), "{line:?}");
            assert!(!at(agent, &[], line, false), "{line:?} without a terminal");
            assert!(!attended(agent, &[("CI", "true")], line), "{line:?} on a build server");
        }
        let headless_lines: [(&str, &[&str]); 10] = [
            ("codex", &["codex", "-m", "big", "exec", "--json", "fix"]),
            ("codex", &["codex", "e", "fix"]),
            ("copilot", &["copilot", "--no-color", "-p", "fix"]),
            ("copilot", &["copilot", "--prompt=fix"]),
            ("gemini", &["node", "/opt/gemini.js", "-p", "fix"]),
            ("gemini", &["gemini", "-m", "flash", "--prompt", "fix"]),
            ("gemini", &["gemini", "fix"]),
            ("gemini", &["gemini", "--yolo", "fix the bug"]),
            ("opencode", &["opencode", "run", "fix"]),
            ("somebody", &["somebody"]),
        ];
        for (agent, line) in headless_lines {
            assert!(!attended(agent, &[], line), "{line:?}");
        }
        assert!(!attended("codex", &[], &[]), "nobody knows the client");
    }
}
