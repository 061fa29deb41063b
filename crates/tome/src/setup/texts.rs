//! Text installed into agents: the skill, the navigator, the commands, OpenCode's plugin. Each is
//! stored once in `texts/` and rendered here in the format of each agent.

use serde_json::json;

use super::LaunchCommand;

/// Path of the skill within a skills folder.
pub const SKILL_FILE: &str = "tome-memory/SKILL.md";
/// The skill that explains how to search the memory.
const SKILL: &str = include_str!("texts/skill.md");
/// Its frontmatter description: tells the agent when to use it.
const SKILL_DESCRIPTION: &str = "Search what was said, done and decided in earlier sessions, and save what is worth keeping. \
Use when the user refers to earlier work, when something may have been tried before, when a name, path or error seems to \
have a history, or when something was learned that should not be lost.";

/// A subagent that researches the memory.
const NAVIGATOR: &str = include_str!("texts/navigator.md");
const NAVIGATOR_DESCRIPTION: &str = "Looks things up in Tome's memory of earlier sessions and reports what was said, with \
citations. Use for questions about past work that need several lookups, so that the reading stays out of the conversation.";

#[derive(Debug)]
pub struct SlashCommand {
    /// Without the slash.
    pub name: &'static str,
    pub about: &'static str,
    /// Placeholder for the arguments.
    pub hint: &'static str,
    text: &'static str,
}

pub const COMMANDS: [SlashCommand; 3] = [
    SlashCommand {
        name: "memory-search",
        about: "Search Tome's memory of earlier sessions",
        hint: "<what to look for>",
        text: include_str!("texts/search.md"),
    },
    SlashCommand {
        name: "memory-recent",
        about: "Show recent work in this project from Tome's memory",
        hint: "[yesterday | last week | 2026-11-14]",
        text: include_str!("texts/recent.md"),
    },
    SlashCommand {
        name: "memory-context",
        about: "Show the source behind a citation or an id from Tome's memory",
        hint: "<citation or id>",
        text: include_str!("texts/context.md"),
    },
];

pub const PLUGIN_README: &str = include_str!("texts/plugin.md");

/// Text that every file of Tome contains; identifies a file as Tome's.
pub const OWNERSHIP_MARK: &str = "Tome's memory";

impl SlashCommand {
    /// Renders Markdown with frontmatter; the arguments replace `$ARGUMENTS`.
    pub fn to_markdown(&self, hint: ArgumentHint) -> String {
        let hint = match hint {
            ArgumentHint::Include => format!("argument-hint: {}\n", json!(self.hint)),
            ArgumentHint::Omit => String::new(),
        };
        let text = self.text.replace("{{args}}", "$ARGUMENTS");
        format!("---\ndescription: {}\n{hint}---\n\n{text}", self.about)
    }

    /// Renders Gemini CLI's TOML.
    pub fn to_toml(&self) -> String {
        format!("description = {}\nprompt = '''\n{}'''\n", json!(self.about), self.text)
    }
}

/// Whether a command's frontmatter has an argument hint; not every agent supports it.
#[derive(Debug, Clone, Copy)]
pub enum ArgumentHint {
    Include,
    Omit,
}

pub fn render_skill() -> String {
    format!("---\nname: tome-memory\ndescription: {SKILL_DESCRIPTION}\n---\n\n{SKILL}")
}

/// Renders the navigator with additional frontmatter lines.
pub fn render_navigator(lines: &str) -> String {
    format!("---\ndescription: {NAVIGATOR_DESCRIPTION}\n{lines}---\n\n{NAVIGATOR}")
}

pub fn render_opencode_plugin(launch: &LaunchCommand) -> String {
    let words: Vec<&String> = std::iter::once(&launch.program).chain(&launch.flags).collect();
    let plugin = include_str!("texts/opencode.js");
    plugin.replace(r#"/*TOME*/ ["tome"]"#, &json!(words).to_string())
}
