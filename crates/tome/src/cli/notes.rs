//! The command lines of `tome memory`, `tome coder`, `tome tool` and `tome init`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

const MEMORY_HELP: &str = "\
Notes are Markdown files. The path determines the kind: facts/user.md, episodes/2026-11.md, or a name
such as auth.md for a typed note. You can edit the files with any program; the next command picks up the
changes. `tome memory log` shows every version and who wrote it, `tome memory restore` restores any of
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

/// `tome coder …`
#[derive(Debug, Subcommand)]
pub enum CoderCommand {
    /// Find up to three lessons that answer a question
    Recall(CoderRecallArgs),
    /// Store a lesson, following the store guide
    #[command(after_help = STORE_HELP)]
    Store(CoderStoreArgs),
    /// List the files with lessons
    #[command(visible_alias = "ls")]
    List,
    /// Print one file
    Read(NotePathArgs),
    /// Check every file against the store guide
    Lint,
    /// Reorganize the files without losing content
    Tidy,
    /// Print one of the guides that agents follow
    Guide(GuideArgs),
}

const STORE_HELP: &str = "\
A lesson (insight) is knowledge that applies to other projects too. Its type is episodic (what happened
and what it taught), procedural (repeatable steps) or semantic (a principle). The content has 3 to 5
sentences, the description one; one tag is success or failure, another the subject.
`tome coder guide store` prints all rules. JSON for --file: one object with type, title, description,
content and tags, or an array of up to three.";

/// `tome coder recall`
#[derive(Debug, Args)]
pub struct CoderRecallArgs {
    /// The question, in words
    #[arg(value_name = "QUESTION")]
    pub question: Vec<String>,
    /// Search for keywords instead; give 3 to 8
    #[arg(long, value_name = "WORD")]
    pub keyword: Vec<String>,
    /// Only this type (episodic, procedural, semantic); repeatable
    #[arg(long = "type", value_name = "TYPE")]
    pub types: Vec<String>,
}

/// `tome coder store`
#[derive(Debug, Args)]
pub struct CoderStoreArgs {
    /// episodic, procedural or semantic
    #[arg(long = "type", value_name = "TYPE")]
    pub lesson_type: Option<String>,
    /// A short title
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub title: Option<String>,
    /// One sentence
    #[arg(long, value_name = "SENTENCE", allow_hyphen_values = true)]
    pub description: Option<String>,
    /// Three to five sentences
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub content: Option<String>,
    /// Tag, with or without #; repeatable
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// Topic folder below the folder of the type
    #[arg(long, value_name = "FOLDER")]
    pub topic: Option<String>,
    /// Read lessons as JSON from this file; - for standard input
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["lesson_type", "title", "description", "content", "tag", "topic"]
    )]
    pub file: Option<PathBuf>,
}

/// `tome coder guide`
#[derive(Debug, Args)]
pub struct GuideArgs {
    /// The guide
    pub which: GuideName,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GuideName {
    Store,
    Recall,
}

/// `tome tool`
#[derive(Debug, Args)]
pub struct ToolCommandArgs {
    /// The tool; without it, all tools are listed
    pub name: Option<String>,
    /// Arguments as a JSON object; - for standard input [default: {}, or piped input]
    #[arg(value_name = "JSON")]
    pub arguments: Option<String>,
    /// Act as this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Act in this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// This project, by name or folder [default: the current folder]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
    /// List only this toolset: recall, notes, coder, contents, topics, anthropic
    #[arg(long, value_name = "SET", conflicts_with = "name")]
    pub toolset: Option<String>,
}

/// `tome init`
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Keep the notes in .memory/ in the repository, so that the team can commit them
    #[arg(long)]
    pub in_repo: bool,
    /// This project, by name or folder [default: the current folder]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
}
