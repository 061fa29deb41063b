//! What a session begins with: the protocol, what is known, where things stand, how to find more.

use tome_model::Millis;

use super::compose::{Composed, Frame, compose};
use super::mark;
use super::piece::{Block, Piece};
use super::room::Room;

/// What there is to say at the start of a session, as far as it was read in time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartParts {
    /// The facts of the project's notebook, the newest first.
    pub facts: Vec<FactFile>,
    /// Its other notes, the newest first.
    pub notes: Vec<NoteLine>,
    /// Where the project's notebook lies, if that is in the repository: then anybody may have
    /// written it.
    pub notes_from: Option<String>,
    /// The overview of this session, if somebody has written one.
    pub overview: Option<String>,
    /// The files of the coder's notebook, the newest first.
    pub insights: Vec<NoteLine>,
    /// Where the last session stopped.
    pub last: Option<LastStretch>,
    /// What could not be read in time.
    pub late: Vec<&'static str>,
}

/// A fact file, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactFile {
    /// Within the notebook.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// One line of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteLine {
    /// Within the notebook.
    pub path: String,
    /// What it is called.
    pub name: String,
    /// What it says, in a line.
    pub summary: String,
}

/// The latest segment of the contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastStretch {
    /// Its node.
    pub id: String,
    /// What it was about.
    pub title: String,
    /// What is worth knowing of it.
    pub bullets: Vec<String>,
    /// When it ended.
    pub at: Millis,
    /// Whose session it was.
    pub agents: Vec<String>,
    /// Whether it is the very session that starts again.
    pub is_own: bool,
}

/// The protocol. Agents heed what is phrased as a fact.
const PROTOCOL: [&str; 8] = [
    "Tome, the memory of this project, adds this by itself when a session starts. It is background,",
    "not something the user said, and it may be out of date: the code in front of you is right.",
    "How this memory is used:",
    "1. The indexes below say what is known. They are looked through before a task begins.",
    "2. Notes that bear on the task are read first, with memory_read.",
    "3. After significant work, what was learned is saved: memory_write, memory_append; what holds in any project: coder_memory_store.",
    "4. A note that is there is updated (memory_patch), not written a second time.",
    "5. A note that is no longer true is deleted (memory_delete).",
];

/// Said where nothing is known yet: somebody has to begin.
const NOTHING_YET: [&str; 2] =
    ["", "Nothing is noted or recorded here yet; what is saved now is there in the next session."];

/// How to find more.
const MORE: [&str; 2] = [
    "",
    "More: recall_memory finds what was said, done and noted, with citations; get_toc_root and get_node go by date. In a shell: `tome recall <words>`, `tome toc`, `tome show <citation>`.",
];

/// Characters of a note's name.
const NAME_CHARS_MAX: usize = 80;
/// Characters of a line of an index, and of a bullet.
const LINE_CHARS_MAX: usize = 240;

/// The protocol by itself, for whoever puts the rest into a context in another way.
pub fn protocol_text() -> String {
    PROTOCOL.join("\n")
}

/// The text for the start of a session, the protocol at least; `None` where there is no room for it.
pub fn start_text(parts: &StartParts, room: Room) -> Option<Composed> {
    let pieces = [facts(parts), overview(parts), last(parts), notes(parts), insights(parts)];
    let is_empty = pieces.iter().all(|piece| piece.blocks.is_empty());
    let mut above = PROTOCOL.map(str::to_owned).to_vec();
    let mut below: Vec<String> = MORE.map(str::to_owned).to_vec();
    match parts.late.is_empty() {
        false => {
            let late = parts.late.join(", ");
            below.push(format!("[Not read in time: {late}. The tools have it.]"));
        }
        true if is_empty => above.extend(NOTHING_YET.map(str::to_owned)),
        true => {}
    }
    compose(&Frame { kind: "start", above, below }, &pieces, room)
}

fn facts(parts: &StartParts) -> Piece {
    let block = |fact: &FactFile| {
        Block::text(&format!("### {}", fact.path), &fact.text, format!("memory_read {}", fact.path))
    };
    Piece {
        name: "Facts",
        about: String::new(),
        blocks: parts.facts.iter().map(block).collect(),
        noun: ("fact file", "fact files"),
        rest: "memory_list lists them, memory_read reads one",
        quoted: parts.notes_from.clone(),
        share: 34,
    }
}

fn overview(parts: &StartParts) -> Piece {
    let block = |text: &String| {
        let rest = "memory_read overview.md with scope session".to_owned();
        Block::text("### overview.md", text, rest)
    };
    Piece {
        name: "Overview of this session",
        about: String::new(),
        blocks: parts.overview.iter().map(block).collect(),
        noun: ("overview", "overviews"),
        rest: "memory_read overview.md with scope session",
        quoted: None,
        share: 20,
    }
}

/// It is made of what agents and tools said, whoever they had it from.
fn last(parts: &StartParts) -> Piece {
    let block = |last: &LastStretch| {
        let bullets =
            last.bullets.iter().map(|text| format!("- {}", mark::line(text, LINE_CHARS_MAX)));
        let rest = format!("get_node {}", last.id);
        Block { head: mark::line(&last.title, LINE_CHARS_MAX), lines: bullets.collect(), rest }
    };
    let about = parts.last.as_ref().map(|last| {
        let whose = if last.is_own { "This session so far" } else { "It" };
        let agents = last.agents.join(", ");
        format!("{whose} ended {} ({agents}); get_node {}", minute(last.at), last.id)
    });
    let is_own = parts.last.as_ref().is_some_and(|last| last.is_own);
    Piece {
        name: if is_own { "Where this session stopped" } else { "Where the last session stopped" },
        about: about.unwrap_or_default(),
        blocks: parts.last.iter().map(block).collect(),
        noun: ("stretch", "stretches"),
        rest: "get_toc_root shows the latest",
        quoted: Some("the record of that session".to_owned()),
        share: 16,
    }
}

fn notes(parts: &StartParts) -> Piece {
    Piece {
        name: "Notes of this project",
        about: String::new(),
        blocks: parts.notes.iter().map(index_line).collect(),
        noun: ("note", "notes"),
        rest: "memory_view shows the whole index",
        quoted: parts.notes_from.clone(),
        share: 18,
    }
}

fn insights(parts: &StartParts) -> Piece {
    Piece {
        name: "Lessons from all projects",
        about: "Read with memory_read and scope coder, or asked for with coder_memory_recall."
            .to_owned(),
        blocks: parts.insights.iter().map(index_line).collect(),
        noun: ("file", "files"),
        rest: "memory_view with scope coder shows the whole index",
        quoted: None,
        share: 12,
    }
}

fn index_line(note: &NoteLine) -> Block {
    let name = match note.name.is_empty() || note.path.contains(&note.name) {
        true => String::new(),
        false => format!(" ({})", mark::line(&note.name, NAME_CHARS_MAX)),
    };
    let summary = match note.summary.is_empty() {
        true => String::new(),
        false => format!(": {}", mark::line(&note.summary, LINE_CHARS_MAX)),
    };
    Block::line(&format!("- {}{name}{summary}", note.path))
}

/// A moment, to the minute.
pub(super) fn minute(at: Millis) -> String {
    let text = at.to_string();
    let day = text.get(..10).unwrap_or(&text);
    format!("{day} {} UTC", text.get(11..16).unwrap_or_default())
}
