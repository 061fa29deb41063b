//! The command lines of `tome sessions`, `tome read`, `tome resume` and `tome report`.

use std::path::PathBuf;

use clap::Args;

const SESSIONS_HELP: &str = "\
Examples:
  tome sessions                       the latest sessions of this project
  tome sessions last week             or today, yesterday, in March, since monday
  tome sessions lexer --agent codex   those whose title, branch or facts have the word
  tome sessions --file src/lexer.rs   those that changed a file
  tome sessions 419f                  the page of one; the same as `tome show 419f`
`tome read <id>` opens the conversation, `tome resume <id>` continues it.";

/// `tome sessions`
#[derive(Debug, Args)]
#[command(after_help = SESSIONS_HELP)]
pub struct SessionsArgs {
    /// A time, words of the title, branch or facts, or the id of a session [default: the latest]
    #[arg(value_name = "TIME OR WORDS")]
    pub what: Vec<String>,
    /// Only sessions since this time: 2026-11-15, yesterday, 'last week', or 90m, 2h, 3d ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only sessions before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only sessions in this time: 2026-11-15, yesterday, 'last week'
    #[arg(long, value_name = "TIME", conflicts_with_all = ["since", "until"])]
    pub on: Option<String>,
    /// Only this agent; repeatable
    #[arg(long, value_name = "NAME")]
    pub agent: Vec<String>,
    /// Only branches whose name contains this
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// Only sessions that changed this file
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Only this project, by name or folder [default: the current project if known, otherwise all]
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// Sessions of all projects
    #[arg(long)]
    pub all_projects: bool,
    /// List at most the latest N sessions; 0 for all, up to 1,000
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20,
          value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub limit: u32,
}

const READ_HELP: &str = "\
Examples:
  tome read                  the latest session of this project
  tome read 419f             a session, by the beginning of its id
  tome read 123              the session of event #123, opened there
  tome read 419f --turn 3    one turn
In the pager, n and N go to the next and the previous prompt, q quits. $PAGER chooses another pager.";

/// `tome read`
#[derive(Debug, Args)]
#[command(after_help = READ_HELP)]
pub struct ReadArgs {
    /// Id of a session or its beginning, number or id of an event, or a citation [default: the latest session]
    #[arg(value_name = "SESSION OR CITATION")]
    pub what: Option<String>,
    /// Only this turn, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub turn: Option<u32>,
    /// Print to standard output instead of a pager
    #[arg(long)]
    pub no_pager: bool,
    /// This project, by name or folder [default: the current project, then all]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
}

const RESUME_HELP: &str = "\
Examples:
  tome resume                choose a session of this project; type to filter
  tome resume 419f           print the command that continues this one
  tome resume 419f --run     run it, in the folder of the session
  eval \"$(tome resume)\"      run it in this shell";

/// `tome resume`
#[derive(Debug, Args)]
#[command(after_help = RESUME_HELP)]
pub struct ResumeArgs {
    /// Id of a session or its beginning, or the number or id of an event in it [default: choose one]
    #[arg(value_name = "SESSION")]
    pub id: Option<String>,
    /// Run the command instead of printing it
    #[arg(long)]
    pub run: bool,
    /// Only this project, by name or folder [default: the current project if known, otherwise all]
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// Choose from the sessions of all projects
    #[arg(long)]
    pub all_projects: bool,
}

const REPORT_HELP: &str = "\
Examples:
  tome report                        the last 7 days of this project
  tome report last week              or yesterday, in March, 2026-11-14, or 3d: the last 3 days
  tome report --standup              yesterday, today, blockers
  tome report --standup monday       as it was on Monday
  tome report last week --all-projects --out report.md
Every line comes from a recorded event; --sources adds its number, which `tome show` opens.";

/// `tome report`
#[derive(Debug, Args)]
#[command(after_help = REPORT_HELP)]
pub struct ReportArgs {
    /// A time in words [default: the last 7 days]
    #[arg(value_name = "TIME")]
    pub time: Vec<String>,
    /// A short report: yesterday (or the last day with work), today, blockers; with a time, as of its last day
    #[arg(long)]
    pub standup: bool,
    /// Add the number of the event that shows each line
    #[arg(long, short = 'v', visible_alias = "verbose")]
    pub sources: bool,
    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Only this project, by name or folder [default: the current project if known, otherwise all]
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// All projects
    #[arg(long)]
    pub all_projects: bool,
}
