//! The command line of `tome memory`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

const MEMORY_HELP: &str = "\
Notes are Markdown files. The path determines the kind: facts/user.md, episodes/2026-11.md, or any other
name, such as auth.md, for a note with a --type. You can edit the files with any program; the next command
picks up the changes. `tome memory log` shows every version and who wrote it, `tome memory restore` restores any of
them.";

/// `tome memory`
#[derive(Debug, Args)]
#[command(after_help = MEMORY_HELP)]
pub struct MemoryArgs {
    #[command(flatten)]
    pub notebook: NotebookArgs,
    #[command(subcommand)]
    pub command: MemoryCommand,
}

/// Options that select the notebook.
#[derive(Debug, Clone, Args)]
pub struct NotebookArgs {
    /// Scope of the notes [default: session if --session is given, otherwise project]
    #[arg(long, global = true, value_name = "SCOPE", help_heading = "Which notebook")]
    pub scope: Option<ScopeName>,
    /// The session whose notes are meant
    #[arg(long, global = true, value_name = "ID", help_heading = "Which notebook")]
    pub session: Option<String>,
    /// This project, by name or folder [default: the current folder]
    #[arg(long, global = true, value_name = "PROJECT", help_heading = "Which notebook")]
    pub project: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScopeName {
    // One run of an agent.
    Session,
    // One code base.
    Project,
    // You, across projects.
    Coder,
}

/// `tome memory …`
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// List the notes with their sizes and summaries
    #[command(visible_alias = "ls")]
    List,
    /// Show the index as agents see it
    View(ViewArgs),
    /// Print a note
    Read(NotePathArgs),
    /// Create or replace a note; reads standard input
    Write(WriteArgs),
    /// Append an entry to a note; reads standard input
    Append(AppendArgs),
    /// Replace several texts in a note, all or none; each must occur exactly once
    Patch(PatchArgs),
    /// Replace the first occurrence of a text in a note
    Update(UpdateArgs),
    /// Delete notes; their history is kept
    #[command(visible_alias = "rm")]
    Delete(DeleteArgs),
    /// Edit a note with $VISUAL or $EDITOR
    Edit(NotePathArgs),
    /// Show who changed what and when, newest first
    Log(LogArgs),
    /// Print an earlier version of a note
    Show(VersionArgs),
    /// Show the last change of a note, or the difference between two versions
    Diff(DiffArgs),
    /// Restore a version of a note [default: the previous one]
    Restore(VersionArgs),
}

/// `tome memory view`
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// List the files with their types instead
    #[arg(long)]
    pub files: bool,
}

/// `tome memory read`, `tome memory edit`
#[derive(Debug, Args)]
pub struct NotePathArgs {
    /// Path of the note
    pub path: String,
}

/// `tome memory write`
#[derive(Debug, Args)]
pub struct WriteArgs {
    /// Path of the note
    pub path: String,
    /// The content, instead of standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "file")]
    pub content: Option<String>,
    /// Read the content from this file
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Name of the note; used with --description and --type
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub name: Option<String>,
    /// One-line description
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub description: Option<String>,
    /// Type of the note: user, feedback, project or reference
    #[arg(long = "type", value_name = "TYPE")]
    pub note_type: Option<String>,
    /// Write only if the note is still at this version; "" only if it does not exist yet
    #[arg(long, value_name = "VERSION")]
    pub if_version: Option<String>,
}

/// `tome memory append`
#[derive(Debug, Args)]
pub struct AppendArgs {
    /// Path of the note
    pub path: String,
    /// The entry, instead of standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub entry: Option<String>,
    /// New summary of the note, under ten words [default: derived from its entries]
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub summary: Option<String>,
}

/// `tome memory patch`
#[derive(Debug, Args)]
pub struct PatchArgs {
    /// Path of the note
    pub path: String,
    /// Text to replace, which must occur exactly once; repeatable
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub old: Vec<String>,
    /// Replacement; one for each --old
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub new: Vec<String>,
    /// The same as JSON: [{"oldText": "…", "newText": "…"}]
    #[arg(long, value_name = "JSON", conflicts_with_all = ["old", "new"])]
    pub patches: Option<String>,
}

/// `tome memory update`
#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// Path of the note
    pub path: String,
    /// Text to replace
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub old: String,
    /// Replacement
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub new: String,
}

/// `tome memory delete`
#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// Paths of the notes
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
}

/// `tome memory log`
#[derive(Debug, Args)]
pub struct LogArgs {
    /// Only this note, even if it was deleted
    pub path: Option<String>,
    /// Show at most the newest N; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: u32,
}

/// `tome memory show`, `tome memory restore`
#[derive(Debug, Args)]
pub struct VersionArgs {
    /// Path of the note, even if it was deleted
    pub path: String,
    /// A version from `tome memory log`, or a prefix of one
    #[arg(value_name = "VERSION")]
    pub at: Option<String>,
}

/// `tome memory diff`
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// Path of the note, even if it was deleted
    pub path: String,
    /// Old version [default: the one before the last change]
    pub from: Option<String>,
    /// New version [default: the current one]
    pub to: Option<String>,
}
