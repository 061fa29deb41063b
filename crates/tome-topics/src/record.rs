//! A segment as topics see it: what it touched, ran and decided, with the events that show it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tome_model::{Agent, CommandOutcome, FactKind, FileAction, Millis, NodeId, SessionId};

/// When something happened: the time, then the number of the event.
pub(crate) type Moment = (Millis, u64);

/// A segment of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentRecord {
    /// The segment's node in the contents.
    pub id: NodeId,
    /// Its session.
    pub session: SessionId,
    /// The agent that ran the session.
    pub agent: Agent,
    /// Time of the first event.
    pub first_at: Millis,
    /// Time of the last event.
    pub last_at: Millis,
    /// Number of the first event.
    pub number: u64,
    /// The title of the segment's node.
    pub title: String,
    /// The branch, unless it is the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The segment that it continues, if that one was cut for its size or at midnight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<NodeId>,
    /// Its turns, in order.
    pub turns: Vec<TurnRecord>,
    /// Statements with their evidence, in order of time.
    pub facts: Vec<FactRecord>,
    /// Keywords, most telling first.
    pub terms: Vec<String>,
    /// The vector of its text, quantized; empty if it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vector: Vec<i8>,
}

impl SegmentRecord {
    /// The day of the segment, as in its id.
    pub fn day(&self) -> &str {
        self.id.as_str().trim_start_matches("toc:segment:").split(':').next().unwrap_or_default()
    }

    /// The files that it changed, with repetitions.
    pub fn changed_files(&self) -> impl Iterator<Item = &FileRecord> {
        let turns = self.turns.iter().filter(|turn| turn.is_focused());
        turns.flat_map(TurnRecord::changed_files)
    }
}

/// A turn of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Number of its prompt, or of its first event here.
    pub number: u64,
    /// Time of that event.
    pub at: Millis,
    /// The purpose of the turn, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Sentences of its prompt with which the user may take an earlier choice back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_thoughts: Option<String>,
    /// Files that it touched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileRecord>,
    /// Files that it renamed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<MoveRecord>,
    /// Files and folders that shell commands deleted; they need not have been part of the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deletions: Vec<DeletionRecord>,
    /// Commands that build, test or ship.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandRecord>,
    /// Messages of failed commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorRecord>,
    /// Packages that it added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// Numbers of issues and pull requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<u64>,
}

impl TurnRecord {
    /// Whether it changed few enough files for each of them to be informative.
    pub(crate) fn is_focused(&self) -> bool {
        self.changed_files().count() <= crate::limits::TURN_FILES_MAX
    }

    pub(crate) fn changed_files(&self) -> impl Iterator<Item = &FileRecord> {
        self.files.iter().filter(|file| file.action != FileAction::Read)
    }

    /// When a file was first touched: the beginning of the turn, or its last rename before that.
    pub(crate) fn moment_of(&self, file: &FileRecord) -> Moment {
        let before = self.moves.iter().filter(|one| one.number < file.number);
        (before.map(|one| one.at).fold(self.at, Millis::max), file.number)
    }
}

/// A file that a turn touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Relative to the repository, with `/`.
    pub path: String,
    /// The change, or that it was only read.
    pub action: FileAction,
    /// How often.
    pub times: u32,
    /// Number of the first event that shows it.
    pub number: u64,
}

/// A file or folder that was renamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveRecord {
    /// The old path, relative to the repository.
    pub from: String,
    /// The new path.
    pub to: String,
    /// Number of the event that shows it.
    pub number: u64,
    /// When it was renamed.
    pub at: Millis,
}

/// A file or folder that a shell command deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionRecord {
    /// Relative to the repository.
    pub path: String,
    /// Number of the event that shows it.
    pub number: u64,
    /// When it was deleted.
    pub at: Millis,
}

/// A command that a turn ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRecord {
    /// Its short name, such as `cargo test`.
    pub name: String,
    /// How it ended.
    pub outcome: CommandOutcome,
    /// Number of the event that shows it.
    pub number: u64,
    /// When it ran.
    pub at: Millis,
}

/// The message of a failed command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRecord {
    /// The message, in one line.
    pub text: String,
    /// The command that failed.
    pub command: String,
    /// Number of the event that shows it.
    pub number: u64,
}

/// A statement and the event that shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactRecord {
    /// The kind of statement.
    pub kind: FactKind,
    /// One line.
    pub text: String,
    /// Preference among statements of the same kind.
    pub weight: u32,
    /// Number of the event that shows it.
    pub number: u64,
    /// When it was said.
    pub at: Millis,
    /// Index of its turn in the segment.
    pub turn: usize,
}

/// The indexes of segments, which are sorted by id.
pub(crate) fn find_indexes<'a>(
    segments: &[Arc<SegmentRecord>],
    ids: impl Iterator<Item = &'a str>,
) -> Vec<usize> {
    let index = |id: &str| segments.binary_search_by(|one| one.id.as_str().cmp(id)).ok();
    let mut indexes: Vec<usize> = ids.filter_map(index).collect();
    indexes.sort_unstable();
    indexes
}
