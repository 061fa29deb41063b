//! The command line of `tome coder`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::memory::NotePathArgs;

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
