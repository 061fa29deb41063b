//! Slash commands of the chat. Commands that the command line also has produce the same output.

use anyhow::Result;
use serde_json::json;
use tome_agent::Agent;

use super::screen::{Mode, Screen};
use crate::command::{self, Context};
use crate::render::{DIM, PLAIN};

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
pub enum Slash {
    Shown(Vec<String>),
    Overview,
    Reflect,
    Cost,
    Help,
    Exit,
    /// A message to show instead.
    Hint(String),
}

impl Slash {
    /// Parses a line; `None` if it is a prompt, such as `/etc/hosts is …`.
    pub fn read(line: &str) -> Option<Self> {
        let mut words = line.trim().strip_prefix('/')?.split_whitespace();
        let name = words.next().unwrap_or_default();
        if !name.chars().all(|c| c.is_ascii_alphabetic() || c == '?') {
            return None;
        }
        let rest: Vec<String> = words.map(str::to_owned).collect();
        let command = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned());
            Self::Shown(words.chain(rest.iter().cloned()).collect())
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
            other => Self::Hint(unknown(other)),
        })
    }
}

/// Suggests a known command for an unknown one.
fn unknown(name: &str) -> String {
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
pub fn show(context: &Context, screen: &mut Screen, words: &[String]) {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if screen.mode() == Mode::Json {
        let words: Vec<&str> = words.into_iter().filter(|word| *word != "--json").collect();
        let command = format!("tome {} --json", words.join(" "));
        let text = format!("with --json, run this command separately: `{command}`");
        return screen.json(&json!({ "type": "note", "text": text, "command": command }));
    }
    command::shown_again(context, &words);
}

pub fn help(screen: &mut Screen) {
    screen.fresh_line();
    for (usage, about) in COMMANDS {
        screen.plain(&format!("  {usage:<15} {DIM}{about}{PLAIN}"));
    }
    screen.plain(&format!(
        "  {DIM}A line that ends in \\ continues on the next; Ctrl-C stops a reply.{PLAIN}"
    ));
}

pub fn overview(screen: &mut Screen, agent: &Agent) -> Result<()> {
    match agent.memory().overview()? {
        Some(text) => screen.plain(&crate::render::safe(text.trim_end())),
        None => screen.note("this chat has no overview yet"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_followed_by_a_word_is_a_command() {
        let shown = |words: &[&str]| Slash::Shown(words.iter().map(|w| (*w).to_owned()).collect());
        for (line, expected) in [
            ("hello", None),
            ("/etc/hosts says what?", None),
            ("/exit", Some(Slash::Exit)),
            ("  /quit ", Some(Slash::Exit)),
            ("/", Some(Slash::Help)),
            ("/memory", Some(shown(&["memory", "list"]))),
            ("/memory facts/user.md", Some(shown(&["memory", "read", "facts/user.md"]))),
            ("/recall the  lexer", Some(shown(&["recall", "the", "lexer"]))),
            ("/toc last week", Some(shown(&["toc", "last", "week"]))),
            ("/cost", Some(Slash::Cost)),
        ] {
            assert_eq!(Slash::read(line), expected, "{line}");
        }
        let hint = |line: &str| match Slash::read(line) {
            Some(Slash::Hint(hint)) => hint,
            other => panic!("{other:?}"),
        };
        assert!(hint("/mem").contains("did you mean /memory"));
        assert!(hint("/frobnicate").contains("/overview"));
    }
}
