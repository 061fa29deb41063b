//! The texts that agents are given: the skill, the navigator, the commands, OpenCode's plugin. Each
//! stands once, in `texts/`, and is dressed here as every agent wants it.

use serde_json::json;

use super::Launch;

/// The skill that teaches an agent to navigate.
const SKILL: &str = include_str!("texts/skill.md");
/// When to use it.
const SKILL_ABOUT: &str = "Find what was said, done and decided in earlier sessions, and keep what is worth keeping. \
Use when the person refers to earlier work, when something may have been tried before, when a name, path or error seems to \
have a history, or when something was learned that should not be lost.";

/// A subagent that looks things up.
const NAVIGATOR: &str = include_str!("texts/navigator.md");
/// When to use it.
const NAVIGATOR_ABOUT: &str = "Looks things up in Tome's memory of earlier sessions and reports what was said, with \
citations. Use for questions about past work that need several look-ups, so that the reading stays out of the conversation.";

/// A command that a person types.
#[derive(Debug)]
pub struct Command {
    /// What is typed after the slash.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What may follow it.
    pub hint: &'static str,
    text: &'static str,
}

/// The commands.
pub const COMMANDS: [Command; 3] = [
    Command {
        name: "memory-search",
        about: "Search Tome's memory of earlier sessions",
        hint: "<what to look for>",
        text: include_str!("texts/search.md"),
    },
    Command {
        name: "memory-recent",
        about: "What happened lately in this project, from Tome's memory",
        hint: "[yesterday | last week | 2026-11-14]",
        text: include_str!("texts/recent.md"),
    },
    Command {
        name: "memory-context",
        about: "The words behind a grip, a node or a citation of Tome's memory",
        hint: "<grip, node or citation>",
        text: include_str!("texts/context.md"),
    },
];

/// The page that comes with a plugin.
pub const PLUGIN_README: &str = include_str!("texts/plugin.md");

/// What only files of Tome's hold.
pub const MARK: &str = "Tome's memory";

impl Command {
    /// As Markdown with frontmatter, where what is typed takes the place of `$ARGUMENTS`.
    pub fn markdown(&self, hint: Hint) -> String {
        let hint = match hint {
            Hint::Said => format!("argument-hint: {}\n", json!(self.hint)),
            Hint::Left => String::new(),
        };
        let text = self.text.replace("{{args}}", "$ARGUMENTS");
        format!("---\ndescription: {}\n{hint}---\n\n{text}", self.about)
    }

    /// As Gemini CLI's TOML.
    pub fn toml(&self) -> String {
        format!("description = {}\nprompt = '''\n{}'''\n", json!(self.about), self.text)
    }
}

/// Whether a command's frontmatter says what may follow it: not every agent knows that.
#[derive(Debug, Clone, Copy)]
pub enum Hint {
    /// It does.
    Said,
    /// It does not.
    Left,
}

/// The skill as a `SKILL.md`.
pub fn skill() -> String {
    format!("---\nname: tome-memory\ndescription: {SKILL_ABOUT}\n---\n\n{SKILL}")
}

/// The navigator as a Markdown file with these lines in its frontmatter beside its description.
pub fn navigator(lines: &str) -> String {
    format!("---\ndescription: {NAVIGATOR_ABOUT}\n{lines}---\n\n{NAVIGATOR}")
}

/// OpenCode's plugin, which runs this program.
pub fn opencode_plugin(launch: &Launch) -> String {
    let words: Vec<&String> = std::iter::once(&launch.program).chain(&launch.flags).collect();
    let plugin = include_str!("texts/opencode.js");
    plugin.replace(r#"/*TOME*/ ["tome"]"#, &json!(words).to_string())
}
