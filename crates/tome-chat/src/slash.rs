//! Slash commands of the chat. Commands that the command line also has produce the same output.

use anyhow::Result;
use serde_json::json;
use tome_agent::AgentLoop;
use tome_terminal::{DIM, RESET};

use crate::screen::{ChatOutput, OutputMode};
use crate::setup::ChatSetup;

/// Usage and description, for the help.
const COMMANDS: [(&str, &str); 8] = [
    ("/memory [NOTE]", "list the notes of this project, or show one"),
    ("/recall QUERY", "search earlier sessions and notes; takes the flags of `tome recall`"),
    ("/toc [TIME]", "show the contents: what happened, by time"),
    ("/overview", "show the overview of this chat"),
    ("/reflect", "let the model save what is worth keeping, now"),
    ("/cost", "show tokens and cost of this chat, and today's budget"),
    ("/help", "show this list"),
    ("/exit", "leave (also Ctrl-D)"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatCommand {
    RunCli(Vec<String>),
    Overview,
    Reflect,
    Cost,
    Help,
    Exit,
    /// A message to show instead.
    Hint(String),
}

impl ChatCommand {
    /// Parses a line; `None` if it is a prompt, such as `/etc/hosts is …`.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.trim().strip_prefix('/')?.split_whitespace();
        let name = words.next().unwrap_or_default();
        if !name.chars().all(|c| c.is_ascii_alphabetic() || c == '?') {
            return None;
        }
        let rest: Vec<String> = words.map(str::to_owned).collect();
        let command = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned());
            Self::RunCli(words.chain(rest.iter().cloned()).collect())
        };
        Some(match name {
            "memory" if rest.iter().all(|word| word.starts_with('-')) => {
                command(&["memory", "list"])
            }
            "memory" => command(&["memory", "read"]),
            "recall" if rest.is_empty() => {
                Self::Hint("add a query: /recall why did we choose fjall".to_owned())
            }
            "recall" => command(&["recall"]),
            "toc" => command(&["toc"]),
            "overview" => Self::Overview,
            "reflect" => Self::Reflect,
            "cost" => Self::Cost,
            "help" | "?" | "" => Self::Help,
            "exit" | "quit" => Self::Exit,
            other => Self::Hint(unknown_command_hint(other)),
        })
    }
}

/// Suggests a known command for an unknown one.
fn unknown_command_hint(name: &str) -> String {
    let names = COMMANDS.iter().map(|(usage, _)| usage.split(' ').next().unwrap_or(usage));
    let begins = |known: &&str| known.trim_start_matches('/').starts_with(&name.to_lowercase());
    match names.clone().find(begins) {
        Some(meant) => format!("unknown command /{name}; did you mean {meant}? /help lists all"),
        None => {
            format!("unknown command /{name}; available: {}", names.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Runs a command of the command line. In JSON mode it only names the command, because its output
/// would be mixed with the chat's and has another format.
pub fn run_cli_command(setup: &ChatSetup<'_>, screen: &mut ChatOutput, words: &[String]) {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if screen.mode() == OutputMode::Json {
        let words: Vec<&str> = words.into_iter().filter(|word| *word != "--json").collect();
        let command = format!("tome {} --json", words.join(" "));
        let text = format!("with --json, run this command separately: `{command}`");
        return screen.write_json(&json!({ "type": "note", "text": text, "command": command }));
    }
    (setup.run_command)(&words);
}

pub fn show_help(screen: &mut ChatOutput) {
    screen.end_line();
    for (usage, about) in COMMANDS {
        screen.write_output(&format!("  {usage:<15} {DIM}{about}{RESET}"));
    }
    screen.write_output(&format!(
        "  {DIM}A line that ends in \\ continues on the next; Ctrl-C stops a reply.{RESET}"
    ));
}

pub fn show_overview(screen: &mut ChatOutput, agent: &AgentLoop) -> Result<()> {
    match agent.memory().overview()? {
        Some(text) => screen.write_output(&tome_terminal::replace_control_chars(text.trim_end())),
        None => screen.show_note("this chat has no overview yet"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_followed_by_a_word_is_a_command() {
        let shown =
            |words: &[&str]| ChatCommand::RunCli(words.iter().map(|w| (*w).to_owned()).collect());
        for (line, expected) in [
            ("hello", None),
            ("/etc/hosts says what?", None),
            ("/exit", Some(ChatCommand::Exit)),
            ("  /quit ", Some(ChatCommand::Exit)),
            ("/", Some(ChatCommand::Help)),
            ("/memory", Some(shown(&["memory", "list"]))),
            ("/memory facts/user.md", Some(shown(&["memory", "read", "facts/user.md"]))),
            ("/recall the  lexer", Some(shown(&["recall", "the", "lexer"]))),
            ("/toc last week", Some(shown(&["toc", "last", "week"]))),
            ("/cost", Some(ChatCommand::Cost)),
        ] {
            assert_eq!(ChatCommand::parse(line), expected, "{line}");
        }
        let hint = |line: &str| match ChatCommand::parse(line) {
            Some(ChatCommand::Hint(hint)) => hint,
            other => panic!("{other:?}"),
        };
        assert!(hint("/mem").contains("did you mean /memory"));
        assert!(hint("/frobnicate").contains("/overview"));
    }
}
