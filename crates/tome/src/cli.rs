//! The command line: global options, commands and their help texts.

pub mod backup;
pub mod browse;
pub mod coder;
pub mod config;
pub mod contents;
pub mod doctor;
mod examples;
pub mod export;
mod help_text;
pub mod import;
pub mod init;
pub mod injections;
pub mod mcp;
pub mod memory;
pub mod pause;
pub mod projects;
pub mod recall;
pub mod reflect;
pub mod sessions;
pub mod setup;
mod suggestions;
pub mod tool;
pub mod topics;

use std::fmt::Write;
use std::path::PathBuf;

use clap::builder::Styles;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use tome_terminal::{known_width, wrap_lines};

const EXIT_CODES_HELP: &str = "\
Exit codes:
  0  success
  1  the operation failed
  2  the command line, the configuration or some of the input is invalid
  3  the daemon cannot be reached
  4  not found";

/// Memory for coding agents: records what you and your agents do, and finds it again.
///
/// Without a command, tome shows an overview of what is stored.
#[derive(Debug, Parser)]
#[command(name = "tome", version, after_help = EXIT_CODES_HELP, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: GlobalOptions,
    /// The overview of this project, by name or folder [default: the current project if known, otherwise all]
    // Needs its own id: clap propagates global options of subcommands (`--project` of `tome memory`) to the parent.
    #[arg(id = "overview_project", long = "project", value_name = "PROJECT")]
    pub project: Option<PathBuf>,
    /// The overview of all projects
    #[arg(
        id = "overview_all_projects",
        long = "all-projects",
        conflicts_with = "overview_project"
    )]
    pub all_projects: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The order and grouping of commands in the help. Commands not listed here come last, under "More".
const COMMAND_GROUPS: [(&str, &[&str]); 5] = [
    (
        "What happened",
        &[
            "recall",
            "browse",
            "toc",
            "sessions",
            "read",
            "resume",
            "report",
            "topics",
            "file",
            "events",
            "show",
            "instructions",
            "injections",
            "ingest",
            "import",
            "export",
        ],
    ),
    ("Notes", &["memory", "coder", "reflect", "init"]),
    ("Chat", &["chat"]),
    (
        "Setup and maintenance",
        &[
            "setup", "status", "projects", "pause", "unpause", "config", "doctor", "backup",
            "restore", "demo", "start", "stop", "daemon", "admin", "bench",
        ],
    ),
    ("For agents and shells", &["hook", "mcp", "tool", "completions", "man"]),
];

impl Cli {
    /// Parses the command line. The help, which takes longer to build than to parse without it, is only built
    /// where it is printed.
    pub fn parse() -> Result<Self, clap::Error> {
        let matches = Self::command().try_get_matches_from(std::env::args_os());
        if let Ok(cli) = matches.and_then(|matches| Self::from_arg_matches(&matches)) {
            return Ok(cli);
        }
        let mut command = Self::build_command();
        let help = build_grouped_help(&command);
        command = help_text::lay_out(command).help_template(help);
        let matches = command.try_get_matches_from_mut(std::env::args_os());
        let matches = matches.map_err(|error| suggestions::filter_suggestions(error, &command))?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

impl Cli {
    /// Builds the command line, with examples for every command.
    pub fn build_command() -> clap::Command {
        Self::command().mut_subcommands(|found| {
            let name = found.get_name().to_owned();
            add_examples(found, &name)
        })
    }

    /// Builds the command line of the manual, which has examples for the program itself too.
    pub fn build_manual_command() -> clap::Command {
        let command = Self::build_command();
        let help = examples::with_examples("", EXIT_CODES_HELP);
        command.after_help(help)
    }
}

/// Adds the examples of a command, named with those above it, and of all commands below it.
fn add_examples(command: clap::Command, path: &str) -> clap::Command {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let command = match examples::with_examples(path, &help) {
        help if help.is_empty() => command,
        help => command.after_help(help),
    };
    command.mut_subcommands(|found| {
        let path = format!("{path} {}", found.get_name());
        add_examples(found, &path)
    })
}

pub fn has_subcommand(name: &str) -> bool {
    Cli::command().find_subcommand(name).is_some()
}

/// Columns before the description of a command.
const HELP_LABEL_COLUMNS: usize = 15;

/// Builds the top-level help template. clap cannot group subcommands, so the groups are written into
/// the template.
fn build_grouped_help(command: &clap::Command) -> String {
    let styles = Styles::default();
    let (head, name) = (styles.get_header(), styles.get_literal());
    let about = |found: &clap::Command| found.get_about().map(ToString::to_string);
    let listed = |group: &str, names: &mut dyn Iterator<Item = &clap::Command>| {
        let mut text = format!("{head}{group}:{head:#}\n");
        for found in names {
            let about = about(found).unwrap_or_default();
            // Writing to a string cannot fail.
            let width = known_width().unwrap_or(usize::MAX).saturating_sub(HELP_LABEL_COLUMNS);
            for (i, line) in wrap_lines(&about, width).iter().enumerate() {
                let label = if i == 0 { found.get_name() } else { "" };
                let _ = writeln!(text, "  {name}{label:<12}{name:#} {line}");
            }
        }
        text
    };
    let mut help = String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n");
    for (group, names) in COMMAND_GROUPS {
        let mut found = names.iter().filter_map(|name| command.find_subcommand(name));
        help.push_str(&listed(group, &mut found));
        help.push('\n');
    }
    let is_grouped = |name: &str| COMMAND_GROUPS.iter().any(|(_, names)| names.contains(&name));
    let mut rest = command.get_subcommands().filter(|found| !is_grouped(found.get_name()));
    if let Some(first) = rest.next() {
        help.push_str(&listed("More", &mut std::iter::once(first).chain(rest)));
        help.push('\n');
    }
    let _ = write!(help, "{head}Options:{head:#}\n{{options}}{{after-help}}");
    help
}

/// Options that every command accepts.
#[derive(Debug, Clone, Args)]
pub struct GlobalOptions {
    /// Tome's home folder [default: $TOME_HOME, or $XDG_DATA_HOME/tome, or ~/.local/share/tome]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub home: Option<PathBuf>,
    /// Config file [default: $TOME_CONFIG, or $XDG_CONFIG_HOME/tome/config.toml]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub config: Option<PathBuf>,
    /// Override a setting for this run; `tome config --all` lists all settings
    #[arg(long, global = true, value_name = "KEY=VALUE", help_heading = "Global options")]
    pub set: Vec<String>,
    /// Print JSON: one object, or one object per line for lists
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// When to use colors
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Global options"
    )]
    pub color: ColorChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    // Colors on a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Search everything that was said, done or noted
    #[command(visible_alias = "search", aliases = ["find", "grep"])]
    Recall(recall::RecallArgs),
    /// Search and read in a full-screen view: type, choose, read, resume
    Browse(browse::BrowseArgs),
    /// Browse the table of contents: years, months, weeks, days and segments of sessions
    Toc(contents::TocArgs),
    /// List sessions, filtered by time, agent, branch, file or words
    #[command(visible_aliases = ["session", "log", "ls"], aliases = ["list", "history"])]
    Sessions(sessions::SessionsArgs),
    /// Read the conversation of a session in a pager
    Read(sessions::ReadArgs),
    /// Continue a session in its agent: choose one, print or run the command
    Resume(sessions::ResumeArgs),
    /// Write a report of what was done, as Markdown
    Report(sessions::ReportArgs),
    /// Show what a project has been about: groups of work, files, branches, errors
    Topics(topics::TopicsArgs),
    /// Show who changed a file and why, what was decided about it, and what broke
    File(topics::FileArgs),
    /// List the standing instructions and preferences of the user
    Instructions(recall::InstructionsArgs),
    /// List events, filtered by time, session, agent or kind
    Events(EventsArgs),
    /// Show a session, an event, a node, a source (grip) or a citation
    Show(contents::ShowArgs),
    /// List what was injected into agents' contexts, or preview the next session's injection
    Injections(injections::InjectionsArgs),
    /// Store events from JSON lines
    #[command(after_help = INGEST_HELP)]
    Ingest(IngestArgs),
    /// Import the history that coding agents have left on disk
    #[command(after_help = import::IMPORT_HELP)]
    Import(import::ImportArgs),
    /// Write a session or a project as Markdown, HTML or JSON lines
    #[command(after_help = export::EXPORT_HELP)]
    Export(export::ExportArgs),
    /// Read and edit notes, and restore earlier versions
    #[command(aliases = ["note", "notes"])]
    Memory(memory::MemoryArgs),
    /// Search and store lessons: what you (the coder) learned, for all projects
    #[command(subcommand, alias = "lessons")]
    Coder(coder::CoderCommand),
    /// Have the chat model write notes about a session
    Reflect(reflect::ReflectArgs),
    /// Show where this project's notes are, or move them into the repository
    Init(init::InitArgs),
    /// Chat with an agent that has memory and can read this project's files
    #[command(after_help = tome_chat::CHAT_HELP)]
    Chat(tome_chat::ChatArgs),
    /// Connect Tome to the coding agents on this machine, or disconnect it
    Setup(setup::SetupArgs),
    /// Show the state of the daemon, stores and spool
    Status(StatusArgs),
    /// List projects; rename, move or merge one, or forget an empty one
    #[command(after_help = projects::PROJECTS_HELP)]
    Projects(projects::ProjectsArgs),
    /// Stop recording for a while, or until `tome unpause`
    #[command(after_help = pause::PAUSE_HELP)]
    Pause(pause::PauseArgs),
    /// Resume recording
    Unpause,
    /// Show the settings that differ from their defaults, or change one
    Config(config::ConfigArgs),
    /// Check configuration, permissions, daemon, spool, stores and agents, and suggest fixes
    Doctor(doctor::DoctorArgs),
    /// Write everything that cannot be rebuilt into one file
    #[command(after_help = backup::BACKUP_HELP)]
    Backup(backup::BackupArgs),
    /// Add everything from a backup that is missing here, or verify a backup
    #[command(after_help = backup::RESTORE_HELP)]
    Restore(backup::RestoreArgs),
    /// Run a demo with sample sessions in a temporary home
    Demo,
    /// Start the daemon, or replace an older one
    Start,
    /// Stop the daemon
    Stop(StopArgs),
    /// Run the daemon in the foreground
    Daemon(DaemonArgs),
    /// Record one step of a coding agent (run by its hooks; reads JSON from standard input)
    #[command(after_help = HOOK_HELP)]
    Hook(HookArgs),
    /// Run the MCP server: tools, notes and contents for any MCP client
    #[command(after_help = mcp::MCP_HELP)]
    Mcp(mcp::McpArgs),
    /// Call a tool as an agent would, or list the tools
    Tool(tool::ToolCommandArgs),
    /// Maintain the stores
    #[command(subcommand)]
    Admin(AdminCommand),
    /// Measure recall quality on your own data
    #[command(subcommand)]
    Bench(tome_bench::BenchCommand),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands to a folder
    Man(ManArgs),
}

const INGEST_HELP: &str = "\
Each line is one JSON object:
  {\"session_id\": \"s1\", \"agent\": \"codex\", \"cwd\": \"/home/dev/app\", \"kind\": \"user_message\",
   \"text\": \"fix the lexer\", \"at\": \"2026-11-15T09:30:00Z\"}
with optional id, role, tool (name, input, output), project and meta. `at` is RFC 3339 or
milliseconds since the Unix epoch. Kinds: session_start, user_message, assistant_message, tool_result,
assistant_stop, subagent_start, subagent_stop, session_end, compaction, unknown.
Invalid lines are reported with their numbers; all other lines are stored (exit code 2). Events that
are already stored are counted as duplicates, so the same input can be sent again safely. As with hooks
and imports, events of a pause and of ignored folders are left out and counted.";

const HOOK_HELP: &str = "\
Agents: claude-code, codex, gemini, copilot, opencode. The name of the event is in the JSON or, for
agents that do not put it there, on the command line (`tome hook copilot sessionStart`).
Hooks never fail and never block: they exit 0, print nothing to standard error and return within 100 ms
(300 ms at the start of a session). If the daemon does not answer in time, the event waits in the spool.
Standard output is added to the agent's context (`tome injections` lists it; inject.enabled=off turns it
off). TOME_HOOK_OFF=1 disables hooks; TOME_HOOK_PATIENCE=5 makes all deadlines five times as long, for
slow machines.";

/// `tome events`
#[derive(Debug, Args)]
pub struct EventsArgs {
    /// Only events since this time: 2026-11-15, yesterday, 'last week', 2026-11-15T09:30:00Z, or 90m, 2h, 3d ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only events before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only this agent; repeatable
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Only this kind; repeatable
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Only what this side said or did; repeatable
    #[arg(long, value_name = "ROLE", value_parser = ["user", "assistant", "tool"])]
    pub role: Vec<String>,
    /// Show texts in full instead of one line each
    #[arg(long, alias = "whole")]
    pub full: bool,
    /// Only this project, by name or folder [default: the current project if known, otherwise all]
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// All projects
    #[arg(long)]
    pub all_projects: bool,
    /// Show at most the latest N; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: u32,
    /// Show the newest first
    #[arg(long)]
    pub newest_first: bool,
}

/// `tome ingest`
#[derive(Debug, Args)]
pub struct IngestArgs {
    /// Read this file instead of standard input
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// `tome status`
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Reset the count of lost events to zero
    #[arg(long)]
    pub reset_lost: bool,
}

/// `tome stop`
#[derive(Debug, Args)]
pub struct StopArgs {
    /// Kill the daemon if it does not stop
    #[arg(long)]
    pub force: bool,
}

/// `tome daemon`
#[derive(Debug, Args)]
pub struct DaemonArgs {
    /// Detach from the terminal's session; used by clients that start the daemon
    #[arg(long, hide = true)]
    pub detached: bool,
}

/// `tome hook`
#[derive(Debug, Args)]
pub struct HookArgs {
    /// The agent that runs the hook
    pub agent: String,
    /// The name of the event, if the agent's JSON does not contain it
    pub event: Option<String>,
}

/// `tome admin`
#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    /// Write buffered data to disk
    Flush,
    /// Compact the stores
    Compact,
    /// Show each store's projections and their progress
    Status,
    /// Verify every store file, and every node of the contents against the events
    Verify(ProjectFilter),
    /// Rebuild damaged stores from their readable parts and from the transcripts
    Repair(RepairArgs),
    /// Rebuild the contents from the events
    RebuildToc(ProjectFilter),
    /// Rebuild the transcripts (messages.jsonl) of all sessions from the events
    RebuildMessages(ProjectFilter),
    /// Merge sessions whose events are stored in several projects
    MergeSessions(MergeSessionsArgs),
}

/// `tome admin merge-sessions`
#[derive(Debug, Args)]
pub struct MergeSessionsArgs {
    /// Show what would be merged without changing anything
    #[arg(long)]
    pub dry_run: bool,
}

/// `tome admin repair`
#[derive(Debug, Args)]
pub struct RepairArgs {
    #[command(flatten)]
    pub filter: ProjectFilter,
    /// Also rebuild stores without detected damage
    #[arg(long)]
    pub force: bool,
}

/// Which project an admin command works on.
#[derive(Debug, Args)]
pub struct ProjectFilter {
    /// Only this project, by name or folder [default: all]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
}

/// `tome completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `tome man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write tome.1, tome-events.1, … to this folder
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
    fn whole_and_full_mean_the_same() {
        for flag in ["--whole", "--full"] {
            for words in [["show", "1"].as_slice(), &["events"], &["injections"]] {
                let line = ["tome"].iter().chain(words).chain([&flag]);
                assert!(Cli::command().try_get_matches_from(line).is_ok(), "{words:?} {flag}");
            }
        }
    }

    #[test]
    fn every_command_has_examples() {
        fn check(command: &clap::Command, own: &str) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let mut lines = help.lines();
            assert_eq!(lines.next(), Some("Examples:"), "{own}");
            let mut examples = lines.take_while(|line| line.starts_with("  "));
            assert!(examples.any(|line| line.contains(own)), "{own}");
            for found in command.get_subcommands().filter(|found| !found.is_hide_set()) {
                check(found, &format!("{own} {}", found.get_name()));
            }
        }
        check(&Cli::build_manual_command(), "tome");
    }

    #[test]
    fn every_command_is_in_a_group() {
        let command = Cli::command();
        let help = build_grouped_help(&command);
        assert!(!help.contains("More"), "{help}");
        for found in command.get_subcommands() {
            assert!(help.contains(found.get_name()), "{help}");
        }
    }
}
