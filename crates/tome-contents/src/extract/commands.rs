//! Parses shell commands and their outcome from tool calls of the supported agents.

use serde_json::Value;
use tome_model::{Event, Tool};

use super::command_name::name_command;
use super::failures::{find_failure_line, find_success_line, parse_passed_count};
use super::files::find_text_field;
use super::text::{first_and_last_bytes, output_texts};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandOutcome {
    Passed,
    Failed,
    Unclear,
}

#[derive(Debug, Clone)]
pub(super) struct CommandRun<'a> {
    pub(super) event: usize,
    /// The command line, verbatim from the tool's input.
    pub(super) command_line: &'a str,
    /// Short name, such as `cargo test`.
    pub(super) name: String,
    pub(super) outcome: CommandOutcome,
    /// The output line that shows the outcome.
    pub(super) line: Option<&'a str>,
    /// Whether it builds, tests or ships.
    pub(super) is_major: bool,
}

/// Parses the command that a tool call ran, if any.
pub(super) fn parse_command_run<'a>(
    at: usize,
    event: &'a Event,
    tool: &'a Tool,
) -> Option<CommandRun<'a>> {
    let typed = find_command_line(tool)?;
    let (called, weighty) = name_command(typed)?;
    let texts = output_texts(event);
    let failure = best_match(&texts, find_failure_line);
    let success = best_match(&texts, find_success_line);
    let outcome = match find_exit_code(event, tool) {
        // `cargo test | tail` exits with the code of `tail`.
        Some(0) if weighty && failure.is_some_and(|(line, _)| is_failure_verdict(line)) => {
            CommandOutcome::Failed
        }
        Some(0) => CommandOutcome::Passed,
        Some(_) => CommandOutcome::Failed,
        None if failure.is_some_and(|(_, sure)| sure >= 6) && weighty => {
            if success.is_some_and(|(_, sure)| sure >= 8)
                && failure.is_some_and(|(_, sure)| sure < 9)
            {
                CommandOutcome::Passed
            } else {
                CommandOutcome::Failed
            }
        }
        None if success.is_some() => CommandOutcome::Passed,
        None => CommandOutcome::Unclear,
    };
    let line = match outcome {
        CommandOutcome::Failed => failure.filter(|(_, sure)| *sure > 2),
        CommandOutcome::Passed | CommandOutcome::Unclear => success,
    };
    Some(CommandRun {
        event: at,
        command_line: typed,
        name: called,
        outcome,
        line: line.map(|(line, _)| line),
        is_major: weighty,
    })
}

/// Whether a test runner or compiler only prints such a line when it fails.
fn is_failure_verdict(line: &str) -> bool {
    const STARTS: [&str; 6] = ["--- FAIL", "FAIL\t", "FAILED ", "npm ERR!", "error[E", "FAIL "];
    const HOLDS: [&str; 4] = ["test result: FAILED", "error TS", "BUILD FAIL", "... FAILED"];
    let bare = line.trim_start();
    STARTS.iter().any(|start| bare.starts_with(start))
        || HOLDS.iter().any(|mark| line.contains(mark))
}

fn best_match<'a>(
    texts: &[&'a str],
    find: fn(&'a str) -> Option<(&'a str, u32)>,
) -> Option<(&'a str, u32)> {
    let found = texts.iter().filter_map(|text| find(text));
    found.reduce(|best, one| if one.1 > best.1 { one } else { best })
}

/// Returns the command line of a tool call, if the tool is a shell.
pub(super) fn find_command_line(tool: &Tool) -> Option<&str> {
    let name = tool.name.to_lowercase();
    let shell = [
        "bash",
        "shell",
        "run_shell_command",
        "exec_command",
        "execute_command",
        "powershell",
        "run_in_terminal",
        "terminal",
        "local_shell",
        "shell_command",
        "exec",
        "run_command",
    ];
    if !shell.contains(&name.as_str()) {
        return None;
    }
    let input = &tool.input;
    find_text_field(input, &["command", "cmd", "script"]).or_else(|| input.as_str()).or_else(|| {
        // `["bash", "-lc", "cargo test"]`: the last element is the command line.
        let parts = input.get("command").or_else(|| input.get("cmd"))?.as_array()?;
        parts.iter().rev().find_map(Value::as_str)
    })
}

/// Finds the exit code, if the agent reports one.
fn find_exit_code(event: &Event, tool: &Tool) -> Option<i64> {
    if event.meta.get("failed").and_then(Value::as_bool) == Some(true) {
        return Some(1);
    }
    let places = [Some(&tool.output), tool.output.get("metadata"), event.meta.get("metadata")];
    let field = places.into_iter().flatten().find_map(|place| {
        ["exitCode", "exit_code", "exit", "returncode", "code"]
            .iter()
            .find_map(|name| place.get(name)?.as_i64())
    });
    let is_error = tool.output.get("is_error").and_then(Value::as_bool) == Some(true);
    let failed_kind = find_text_field(&tool.output, &["resultType"]) == Some("failure");
    // Claude Code reports failures differently: an output with streams means success.
    let streams = tool.output.get("stdout").is_some()
        && tool.output.get("interrupted").and_then(Value::as_bool) != Some(true);
    field
        .or_else(|| (is_error || failed_kind).then_some(1))
        .or_else(|| output_texts(event).into_iter().find_map(parse_exit_code))
        .or_else(|| streams.then_some(0))
}

/// Parses `Exit code 1`, `Process exited with code 0`, `<… completed with exit code 0>` near either
/// end of a text.
fn parse_exit_code(text: &str) -> Option<i64> {
    first_and_last_bytes(text, 240).iter().find_map(|part| {
        let lower = part.to_ascii_lowercase();
        ["exit code", "exited with code"].iter().find_map(|mark| {
            let (_, after) = lower.rsplit_once(mark)?;
            let number = after.trim_start_matches([':', ' ', '=']);
            let digits: String =
                number.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
            digits.parse().ok()
        })
    })
}

/// Returns the message of a `git commit`, verbatim from the command line.
pub(super) fn parse_commit_message(typed: &str) -> Option<&str> {
    let (_, after) = typed.split_once("git commit")?;
    let (_, after) = after.split_once("-m ").or_else(|| after.split_once("-am "))?;
    let after = after.trim_start();
    let body = match after.split_once("<<") {
        // `-m "$(cat <<'EOF' …`: the message begins on the next line.
        Some((before, heredoc)) if before.trim().trim_matches('"') == "$(cat" => {
            heredoc.split_once('\n')?.1
        }
        _ => after.trim_start_matches(['"', '\'']),
    };
    let first = body.lines().find(|line| !line.trim().is_empty())?.trim();
    let quoted = after.starts_with(['"', '\'']) && !after.starts_with("\"$(");
    let message = if quoted {
        first
            .split(['"', '\''])
            .next()
            .filter(|_| first.contains('"') || !first.contains('\''))
            .unwrap_or(first)
    } else {
        first
    };
    let message = message.trim_end_matches(['"', '\'', ')']).trim();
    (message.chars().count() >= 3).then_some(message)
}

/// Renders the count in a success line: `42 passed`.
pub(super) fn render_passed_count(line: &str) -> Option<String> {
    parse_passed_count(line).filter(|count| *count > 0).map(|count| format!("{count} passed"))
}
