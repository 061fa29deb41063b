//! What begins with a slash: the chat's own commands. What the command line shows already is shown the
//! same way here.

use anyhow::Result;
use serde_json::json;
use tome_agent::Agent;

use super::screen::{Mode, Screen};
use crate::command::{self, Context};
use crate::render::{DIM, PLAIN};

/// The commands and what they do, for the help.
const COMMANDS: [(&str, &str); 8] = [
    ("/memory [NOTE]", "the notes of this project, or one of them"),
    ("/recall QUERY", "what was said, done and noted before; takes the flags of `tome recall`"),
    ("/toc [TIME]", "the contents: what happened, by time"),
    ("/overview", "the overview of this chat"),
    ("/reflect", "have the model write down what is worth keeping, now"),
    ("/cost", "tokens and cost of this chat, and the day's budget"),
    ("/help", "this list"),
    ("/exit", "leave; Ctrl-D does too"),
];

/// What a line that begins with a slash asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slash {
    Shown(Vec<String>),
    Overview,
    Reflect,
    Cost,
    Help,
    Exit,
    /// Something to say to the person instead.
    Hint(String),
}

impl Slash {
    /// Reads a line. `None` where it is a prompt: `/etc/hosts is …` is no command.
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
                Self::Hint("say what to look for: /recall why did we choose fjall".to_owned())
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

/// What is said of a command that does not exist: the one that was meant, perhaps.
fn unknown(name: &str) -> String {
    let names = COMMANDS.iter().map(|(usage, _)| usage.split(' ').next().unwrap_or(usage));
    let begins = |known: &&str| known.trim_start_matches('/').starts_with(&name.to_lowercase());
    match names.clone().find(begins) {
        Some(meant) => format!("there is no /{name}; {meant} perhaps? /help lists them"),
        None => format!("there is no /{name}; there are {}", names.collect::<Vec<_>>().join(", ")),
    }
}

/// Shows what a command of the command line shows. A program is told which one that is: its lines would
/// stand between those of the chat, and are of another form.
pub fn show(context: &Context, screen: &mut Screen, words: &[String]) {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if screen.mode() == Mode::Json {
        let words: Vec<&str> = words.into_iter().filter(|word| *word != "--json").collect();
        let command = format!("tome {} --json", words.join(" "));
        let text = format!("with --json this is a command of its own: `{command}`");
        return screen.json(&json!({ "type": "note", "text": text, "command": command }));
    }
    command::shown_again(context, &words);
}

pub fn help(screen: &mut Screen) {
    screen.fresh_line();
    for (usage, about) in COMMANDS {
        screen.plain(&format!("  {usage:<15} {DIM}{about}{PLAIN}"));
    }
    screen.plain(&format!("  {DIM}A line that ends in \\ goes on; Ctrl-C stops a reply.{PLAIN}"));
}

pub fn overview(screen: &mut Screen, agent: &Agent) -> Result<()> {
    match agent.memory().overview()? {
        Some(text) => screen.plain(&crate::render::safe(text.trim_end())),
        None => screen.note("nothing has been written into this chat's overview yet"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_is_a_command_where_a_word_follows() {
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
        assert!(hint("/mem").contains("/memory perhaps"));
        assert!(hint("/frobnicate").contains("/overview"));
    }
}
