//! The command line, as typed.

pub mod bench;
pub mod chat;
pub mod config;
pub mod contents;
pub mod import;
pub mod injections;
pub mod mcp;
pub mod notes;
pub mod recall;
pub mod reflect;
pub mod setup;

use std::fmt::Write;
use std::path::PathBuf;

use clap::builder::Styles;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  it was tried and failed
  2  the command line, the configuration or some of the input cannot be taken
  3  the daemon cannot be reached
  4  what was asked for is not there";

/// The memory of coding agents: records what an agent and its user do, and finds it again.
///
/// Without a command, tome shows what it remembers.
#[derive(Debug, Parser)]
#[command(name = "tome", version, after_help = EXIT_CODES, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands as the help lists them. One that is not in here is listed last.
const GROUPS: [(&str, &[&str]); 5] = [
    ("What happened", &["recall", "toc", "events", "show", "injections", "ingest", "import"]),
    ("Notes", &["memory", "coder", "reflect", "init"]),
    ("An agent that remembers", &["chat"]),
    (
        "Tome itself",
        &[
            "setup", "status", "config", "doctor", "demo", "start", "stop", "daemon", "admin",
            "bench",
        ],
    ),
    ("For agents and shells", &["hook", "mcp", "tool", "completions", "man"]),
];

impl Cli {
    /// Reads the command line.
    pub fn read() -> Result<Self, clap::Error> {
        let mut command = Self::command();
        let help = grouped_help(&command);
        command = command.help_template(help);
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// Whether there is a command of this name.
pub fn has_command(name: &str) -> bool {
    Cli::command().find_subcommand(name).is_some()
}

/// The help with its commands in groups, which clap does not know.
fn grouped_help(command: &clap::Command) -> String {
    let styles = Styles::default();
    let (head, name) = (styles.get_header(), styles.get_literal());
    let about = |found: &clap::Command| found.get_about().map(ToString::to_string);
    let listed = |group: &str, names: &mut dyn Iterator<Item = &clap::Command>| {
        let mut text = format!("{head}{group}:{head:#}\n");
        for found in names {
            let about = about(found).unwrap_or_default();
            // Nothing can go wrong in writing to a string.
            let _ = writeln!(text, "  {name}{:<12}{name:#} {about}", found.get_name());
        }
        text
    };
    let mut help = String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n");
    for (group, names) in GROUPS {
        let mut found = names.iter().filter_map(|name| command.find_subcommand(name));
        help.push_str(&listed(group, &mut found));
        help.push('\n');
    }
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let mut rest = command.get_subcommands().filter(|found| !is_grouped(found.get_name()));
    if let Some(first) = rest.next() {
        help.push_str(&listed("More", &mut std::iter::once(first).chain(rest)));
        help.push('\n');
    }
    let _ = write!(help, "{head}Options:{head:#}\n{{options}}{{after-help}}");
    help
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Tome's home folder [default: $TOME_HOME, else $XDG_DATA_HOME/tome, else ~/.local/share/tome]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub home: Option<PathBuf>,
    /// The config file [default: $TOME_CONFIG, else $XDG_CONFIG_HOME/tome/config.toml]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub config: Option<PathBuf>,
    /// Set one setting for this run, over file and environment; `tome config` lists them
    #[arg(long, global = true, value_name = "KEY=VALUE", help_heading = "Global options")]
    pub set: Vec<String>,
    /// Print JSON: one object, or one object a line for lists
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// When to use colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Global options"
    )]
    pub color: Color,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    // On a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find again what was said, done and noted, with citations
    Recall(recall::Recall),
    /// The contents: what happened, by year, month, week, day and stretch of a session
    Toc(contents::Toc),
    /// List events: the latest, or those of a time, a session, an agent, a kind
    Events(Events),
    /// Show one event, node or grip by its id, or what a citation names
    Show(contents::Show),
    /// List what was put into agents' contexts, when and why, or preview what the next session gets
    Injections(injections::Injections),
    /// Store events from JSON lines on standard input
    #[command(after_help = INGEST_HELP)]
    Ingest(Ingest),
    /// Store the history that coding agents left on disk
    #[command(after_help = import::HELP)]
    Import(import::Import),
    /// Read, write and correct notes, and get any version of them back
    Memory(notes::Memory),
    /// Recall and store insights that hold across projects
    #[command(subcommand)]
    Coder(notes::Coder),
    /// Have the conversation model write down what is worth keeping of a session
    Reflect(reflect::Reflect),
    /// Say where the notes of this project are, or move them into the repository
    Init(notes::Init),
    /// Talk to an agent that remembers: any configured model, memory, and this project's files
    #[command(after_help = chat::HELP)]
    Chat(chat::Chat),
    /// Wire Tome into the coding agents on this machine, or take it out again
    Setup(setup::Setup),
    /// Say how the daemon, the stores and the spool are
    Status(Status),
    /// Show every setting, its value and where it comes from, or change one
    Config(config::Config),
    /// Check paths, rights, daemon, spool, stores and agents, and say what to do
    Doctor(import::Doctor),
    /// Show the main job on sample sessions, in a home that is thrown away
    Demo,
    /// Start the daemon, or replace one that is older than this program
    Start,
    /// Ask the daemon to finish and leave
    Stop(Stop),
    /// Run the daemon in the foreground
    Daemon(Daemon),
    /// Record one step of a coding agent; for hooks, reads its JSON on standard input
    #[command(after_help = HOOK_HELP)]
    Hook(Hook),
    /// Serve tools, notes and contents to a client of the Model Context Protocol
    #[command(after_help = mcp::HELP)]
    Mcp(mcp::Mcp),
    /// Call a tool as an agent does, or list the tools
    Tool(notes::Tool),
    /// Care for the stores
    #[command(subcommand)]
    Admin(Admin),
    /// Measure how well Tome does its work, on data of your own
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Print completions for a shell
    Completions(Completions),
    /// Print the manual page, or write the pages of all commands into a folder
    Man(Man),
}

const INGEST_HELP: &str = "\
A line is one JSON object:
  {\"session_id\": \"s1\", \"agent\": \"codex\", \"cwd\": \"/home/dev/app\", \"kind\": \"user_message\",
   \"text\": \"fix the lexer\", \"at\": \"2026-11-15T09:30:00Z\"}
with optional id, role, tool (name, input, output), project and meta. `at` is RFC 3339 or
milliseconds since 1970. Kinds: session_start, user_message, assistant_message, tool_result,
assistant_stop, subagent_start, subagent_stop, session_end, compaction, unknown.
A bad line is reported with its number and the others go in (exit code 2). What is stored already
is counted and left alone, so that the same input can be given again at will.";

const HOOK_HELP: &str = "\
Agents: claude-code, codex, gemini, copilot, opencode. The event is taken from the JSON where the
agent puts it there, else from the command line (`tome hook copilot sessionStart`).
A hook always exits 0, writes nothing to standard error and is done within 100 ms (300 ms at the start
of a session): when the daemon does not answer in time, the event waits in the spool. What it prints is
what the agent takes as context (`tome injections` lists it; inject.enabled=off keeps it silent). With
TOME_HOOK_OFF=1 it does nothing; TOME_HOOK_PATIENCE=5 lets it take five times as long, on a slow machine.";

/// `tome events`
#[derive(Debug, Args)]
pub struct Events {
    /// From this time on: 2026-11-15, 2026-11-15T09:30:00Z, or 90m, 2h, 3d for that long ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only this agent; may be given several times
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Only this kind; may be given several times
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Only this project [default: the one you stand in, if Tome knows it, else all]
    #[arg(long, value_name = "DIR", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// All projects
    #[arg(long)]
    pub all_projects: bool,
    /// At most this many, the latest; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: u32,
    /// The latest first
    #[arg(long)]
    pub newest_first: bool,
}

/// `tome ingest`
#[derive(Debug, Args)]
pub struct Ingest {
    /// Read this file instead of standard input
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// `tome status`
#[derive(Debug, Args)]
pub struct Status {
    /// Set the count of lost events back to zero
    #[arg(long)]
    pub reset_lost: bool,
}

/// `tome stop`
#[derive(Debug, Args)]
pub struct Stop {
    /// End it even if it does not answer
    #[arg(long)]
    pub force: bool,
}

/// `tome daemon`
#[derive(Debug, Args)]
pub struct Daemon {
    /// Leave the terminal's session; used by clients that start the daemon
    #[arg(long, hide = true)]
    pub detached: bool,
}

/// `tome hook`
#[derive(Debug, Args)]
pub struct Hook {
    /// Which agent
    pub agent: String,
    /// Which event, where the agent's JSON does not say
    pub event: Option<String>,
}

/// `tome admin`
#[derive(Debug, Subcommand)]
pub enum Admin {
    /// Write what is held in memory to tables on disk
    Flush,
    /// Rewrite the stores without what is superseded
    Compact,
    /// Say how far the workers of each store are, and what they have made
    Status,
    /// Check every file of the stores, and every node of the contents against the events
    Verify(Contents),
    /// Rebuild damaged stores from everything that can still be read and from the transcripts
    Repair(Repair),
    /// Make the contents anew from the events
    RebuildToc(Contents),
    /// Make messages.jsonl of every session anew from the events
    RebuildMessages(Contents),
    /// Bring together sessions whose events are stored in several projects
    MergeSessions(MergeSessions),
}

/// `tome admin merge-sessions`
#[derive(Debug, Args)]
pub struct MergeSessions {
    /// Only list what would be done
    #[arg(long)]
    pub dry_run: bool,
}

/// `tome admin repair`
#[derive(Debug, Args)]
pub struct Repair {
    #[command(flatten)]
    pub contents: Contents,
    /// Rebuild stores in which no damage was found as well
    #[arg(long)]
    pub force: bool,
}

/// Whose contents.
#[derive(Debug, Args)]
pub struct Contents {
    /// Only this project [default: all]
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
}

/// `tome completions`
#[derive(Debug, Args)]
pub struct Completions {
    /// Which shell
    pub shell: clap_complete::Shell,
}

/// `tome man`
#[derive(Debug, Args)]
pub struct Man {
    /// Write tome.1, tome-events.1 and so on into this folder
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_whole() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_is_in_a_group() {
        let command = Cli::command();
        let help = grouped_help(&command);
        assert!(!help.contains("More"), "{help}");
        for found in command.get_subcommands() {
            assert!(help.contains(found.get_name()), "{help}");
        }
    }
}
