//! The command line of the notes, as typed: `tome memory`, `tome coder`, `tome tool`, `tome init`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

const MEMORY_HELP: &str = "\
A note is a Markdown file. Its path says what it is: facts/user.md, episodes/2026-11.md, or a name
such as auth.md for a note with a type. Files are the truth: edit them with any program, and the
next command sees it. Nothing is lost: `tome memory log` shows every version, by whom, and
`tome memory restore` brings any of them back.";

/// `tome memory`
#[derive(Debug, Args)]
#[command(after_help = MEMORY_HELP)]
pub struct Memory {
    #[command(flatten)]
    pub place: Place,
    #[command(subcommand)]
    pub command: MemoryCommand,
}

/// Which notebook is meant.
#[derive(Debug, Clone, Args)]
pub struct Place {
    /// Whose notes [default: project, or session where --session is given]
    #[arg(long, global = true, value_name = "SCOPE", help_heading = "Which notebook")]
    pub scope: Option<ScopeName>,
    /// The session, for its own notes
    #[arg(long, global = true, value_name = "ID", help_heading = "Which notebook")]
    pub session: Option<String>,
    /// A folder of the project [default: where you stand]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Which notebook")]
    pub project: Option<PathBuf>,
}

/// Whose notes.
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
    /// List the notes: path, size and what each says
    List,
    /// Show the index as an agent's prompt has it
    View(View),
    /// Print one note, and nothing else
    Read(Read),
    /// Create a note, or replace what it says; reads standard input
    Write(Write),
    /// Add an entry at the end of a note; reads standard input
    Append(Append),
    /// Replace texts in a note, all of them or none; each has to be there exactly once
    Patch(Patch),
    /// Replace the first place where a text stands in a note
    Update(Update),
    /// Delete notes; their versions are kept
    Delete(Delete),
    /// Edit a note with $VISUAL or $EDITOR
    Edit(Read),
    /// Show who changed what, and when, the newest first
    Log(Log),
    /// Print a note as it was at a version
    Show(Version),
    /// Show what changed in a note: the last time, or between two versions
    Diff(Diff),
    /// Bring a version back: the one given, else the one before the present
    Restore(Version),
}

/// `tome memory view`
#[derive(Debug, Args)]
pub struct View {
    /// The files with their types instead
    #[arg(long)]
    pub files: bool,
}

/// `tome memory read`, `tome memory edit`
#[derive(Debug, Args)]
pub struct Read {
    /// The note
    pub path: String,
}

/// `tome memory write`
#[derive(Debug, Args)]
pub struct Write {
    /// The note
    pub path: String,
    /// What it says, instead of standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "file")]
    pub content: Option<String>,
    /// Take what it says from this file
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// What it is called; with --description and --type
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub name: Option<String>,
    /// What it says, in a line
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub description: Option<String>,
    /// What it is about: user, feedback, project or reference
    #[arg(long = "type", value_name = "TYPE")]
    pub note_type: Option<String>,
    /// Only if the note is still at this version; "" only if there is none yet
    #[arg(long, value_name = "VERSION")]
    pub if_version: Option<String>,
}

/// `tome memory append`
#[derive(Debug, Args)]
pub struct Append {
    /// The note
    pub path: String,
    /// What to add, instead of standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub entry: Option<String>,
    /// What the whole note says now, in under ten words [default: made from its entries]
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub summary: Option<String>,
}

/// `tome memory patch`
#[derive(Debug, Args)]
pub struct Patch {
    /// The note
    pub path: String,
    /// A text that is there exactly once; may be given several times
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub old: Vec<String>,
    /// What comes in its place; one for every --old
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub new: Vec<String>,
    /// The same as JSON: [{"oldText": "…", "newText": "…"}]
    #[arg(long, value_name = "JSON", conflicts_with_all = ["old", "new"])]
    pub patches: Option<String>,
}

/// `tome memory update`
#[derive(Debug, Args)]
pub struct Update {
    /// The note
    pub path: String,
    /// A text that is there
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub old: String,
    /// What comes in its place
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub new: String,
}

/// `tome memory delete`
#[derive(Debug, Args)]
pub struct Delete {
    /// The notes
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
}

/// `tome memory log`
#[derive(Debug, Args)]
pub struct Log {
    /// Only this note, which may be deleted
    pub path: Option<String>,
    /// At most this many, the newest; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: u32,
}

/// `tome memory show`, `tome memory restore`
#[derive(Debug, Args)]
pub struct Version {
    /// The note, which may be deleted
    pub path: String,
    /// A version from `tome memory log`, or the beginning of one
    #[arg(value_name = "VERSION")]
    pub at: Option<String>,
}

/// `tome memory diff`
#[derive(Debug, Args)]
pub struct Diff {
    /// The note, which may be deleted
    pub path: String,
    /// From this version on [default: the one before the last change]
    pub from: Option<String>,
    /// Up to this version [default: the note as it is now]
    pub to: Option<String>,
}

/// `tome coder …`
#[derive(Debug, Subcommand)]
pub enum Coder {
    /// Find the insights that answer a question, at most three
    Recall(Recall),
    /// Store an insight, by the rules of the store guide
    #[command(after_help = STORE_HELP)]
    Store(Store),
    /// List the insights' files
    List,
    /// Print one file
    Read(Read),
    /// Check every file against the store guide
    Lint,
    /// Reorganise the files, losing nothing
    Tidy,
    /// Print one of the guides that an agent follows
    Guide(Guide),
}

const STORE_HELP: &str = "\
An insight is something worth knowing in the next project too. Its type is episodic (what happened
and what it taught), procedural (steps that can be repeated) or semantic (a principle). The content
is 3 to 5 sentences, the description one; of the tags one is success or failure, another the subject.
`tome coder guide store` says it all. As JSON, for --file: one object with type, title, description,
content and tags, or a list of at most three.";

/// `tome coder recall`
#[derive(Debug, Args)]
pub struct Recall {
    /// The question, in words
    #[arg(value_name = "QUESTION")]
    pub question: Vec<String>,
    /// Look for this word instead; 3 to 8 of them
    #[arg(long, value_name = "WORD")]
    pub keyword: Vec<String>,
    /// Only insights of this type (episodic, procedural, semantic); may be given several times
    #[arg(long = "type", value_name = "TYPE")]
    pub types: Vec<String>,
}

/// `tome coder store`
#[derive(Debug, Args)]
pub struct Store {
    /// episodic, procedural or semantic
    #[arg(long = "type", value_name = "TYPE")]
    pub insight_type: Option<String>,
    /// A short title
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub title: Option<String>,
    /// One sentence
    #[arg(long, value_name = "SENTENCE", allow_hyphen_values = true)]
    pub description: Option<String>,
    /// Three to five sentences
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub content: Option<String>,
    /// With or without #; may be given several times
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,
    /// The topic's folder below the type's
    #[arg(long, value_name = "FOLDER")]
    pub topic: Option<String>,
    /// Read insights as JSON from this file; - is standard input
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["insight_type", "title", "description", "content", "tag", "topic"]
    )]
    pub file: Option<PathBuf>,
}

/// `tome coder guide`
#[derive(Debug, Args)]
pub struct Guide {
    /// Which one
    pub which: WhichGuide,
}

/// The two guides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WhichGuide {
    Store,
    Recall,
}

/// `tome tool`
#[derive(Debug, Args)]
pub struct Tool {
    /// The tool; without one all are listed
    pub name: Option<String>,
    /// Its arguments as a JSON object; - reads standard input [default: {}, or what is piped in]
    #[arg(value_name = "JSON")]
    pub arguments: Option<String>,
    /// Act as this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Act in this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// A folder of the project [default: where you stand]
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// List only this set: recall, notes, coder, contents, anthropic
    #[arg(long, value_name = "SET", conflicts_with = "name")]
    pub toolset: Option<String>,
}

/// `tome init`
#[derive(Debug, Args)]
pub struct Init {
    /// Keep the notes in .memory/ in the repository, so that a team can commit them
    #[arg(long)]
    pub in_repo: bool,
    /// A folder of the project [default: where you stand]
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
}
