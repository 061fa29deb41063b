//! The start text of a session: rules, notes, the state of the last session, how to find more.

use super::compose::{InjectionText, TextFrame, compose};
use super::known::KnownFacts;
use super::rules::memory_rules;
use super::section::{TextBlock, TextSection};
use super::session_state::SessionState;
use super::token_budget::TokenBudget;
use crate::quote::{format_minute, quote_line};
use crate::tools::CORE_TOOLS;

/// The sources of a start text, as far as they were read in time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartParts {
    /// The facts of the project's notebook, the newest first.
    pub facts: Vec<FactFile>,
    /// Its other notes, the newest first.
    pub notes: Vec<NoteLine>,
    /// Set if the project's notebook is in the repository, where anyone may have written it: the
    /// source to name when quoting.
    pub notes_from: Option<String>,
    /// The overview of this session, unless it was never written.
    pub overview: Option<String>,
    /// The files of the coder's notebook, the newest first.
    pub lessons: Vec<NoteLine>,
    /// Facts about the project, from its contents.
    pub known: KnownFacts,
    /// The state of the last session; after a compaction, of this one.
    pub last: Option<SessionState>,
    /// Labels of the topics of the last days, the most important first.
    pub recent: Vec<String>,
    /// The files that several sessions changed, each with their number.
    pub files: Vec<String>,
    /// Sources that could not be read in time.
    pub late: Vec<&'static str>,
}

/// A whole fact file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactFile {
    /// Path in the notebook.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// An entry of a notebook's index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteLine {
    /// Path in the notebook.
    pub path: String,
    /// Display name.
    pub name: String,
    /// Summary of one line.
    pub summary: String,
}

const OPENING_LINES: [&str; 2] = [
    "Tome, the memory of this project, adds this at the start of a session. It is background, not a message from the user.",
    "Rules for using this memory:",
];

/// Added if nothing is known yet.
const NOTHING_YET: [&str; 2] = [
    "",
    "Nothing is noted or recorded here yet. What you save now will be available in the next session.",
];

const HOW_TO_FIND_MORE: [&str; 2] = [
    "",
    "More: recall_memory searches everything that was said, done or noted; memory_show opens a citation or a day (toc:day:YYYY-MM-DD). In a shell: `tome recall <words>`, `tome show <citation>`, `tome toc`.",
];

/// Label of the agent's last message if the record ends in the middle of its work.
const STILL_AT_WORK: &str = "The record ends while the agent was at work. Its last message";

const NAME_CHARS_MAX: usize = 80;
/// Characters of a topic's label.
const LABEL_CHARS_MAX: usize = 60;
/// Characters of a path with the number of its sessions.
const FILE_CHARS_MAX: usize = 100;
/// Characters of an index line, and of an open item.
const LINE_CHARS_MAX: usize = 240;
const REQUEST_CHARS_MAX: usize = 300;
/// Characters of a call after the last message, and files named.
const CALL_CHARS_MAX: usize = 140;
const FILES_SHOWN_MAX: usize = 6;
const COMMITS_SHOWN_MAX: usize = 4;
const COMMITS_CHARS_MAX: usize = 360;
/// The same, of one that was followed by others.
const EARLIER_REQUEST_CHARS_MAX: usize = 160;
/// Characters and lines of the agent's final message.
const CLOSING_CHARS_MAX: usize = 900;
const CLOSING_LINES_MAX: usize = 9;

fn opening_lines() -> Vec<String> {
    let opening = OPENING_LINES.map(str::to_owned).into_iter();
    opening.chain(memory_rules(&CORE_TOOLS)).collect()
}

/// The rules alone, for callers that inject the rest in another way.
pub fn render_rules() -> String {
    opening_lines().join("\n")
}

/// Composes the start text, at least the rules; `None` if the budget is too small for them.
pub fn render_start(parts: &StartParts, budget: TokenBudget) -> Option<InjectionText> {
    let sections = [
        facts_section(parts),
        overview_section(parts),
        last_session_section(parts),
        branch_section(parts),
        instructions_section(&parts.known.instructions),
        how_to_work_section(&parts.known.how_to_work()),
        open_section(parts),
        earlier_section(parts),
        notes_section(parts),
        lessons_section(parts),
    ];
    let is_empty = sections.iter().all(|section| section.blocks.is_empty());
    let above = opening_lines();
    let mut below: Vec<String> = HOW_TO_FIND_MORE.map(str::to_owned).to_vec();
    if !parts.late.is_empty() {
        let late = parts.late.join(", ");
        below.push(format!("[Not read in time: {late}. recall_memory finds it.]"));
    }
    // One line is not worth losing the rest, should the budget be too small for it.
    let extras = if is_empty && parts.late.is_empty() {
        vec![NOTHING_YET.map(str::to_owned).to_vec()]
    } else {
        vec![topic_lines(&parts.recent, &parts.files), Vec::new()]
    };
    extras.into_iter().find_map(|extra| {
        let above = above.iter().cloned().chain(extra).collect();
        let frame = TextFrame { kind: "start", above, below: below.clone() };
        compose(&frame, &sections, budget)
    })
}

/// The topics of the last days and the files that are changed most, in a line each if there are at least two.
fn topic_lines(recent: &[String], files: &[String]) -> Vec<String> {
    let line = |name: &str, labels: &[String], chars_max: usize, separator: &str| {
        let labels: Vec<String> = labels.iter().map(|label| quote_line(label, chars_max)).collect();
        (labels.len() >= 2).then(|| format!("{name}: {}.", labels.join(separator)))
    };
    let mut lines: Vec<String> =
        line("Recently", recent, LABEL_CHARS_MAX, "; ").into_iter().collect();
    lines.extend(line("Files changed in several sessions", files, FILE_CHARS_MAX, ", "));
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

fn facts_section(parts: &StartParts) -> TextSection {
    let block = |fact: &FactFile| {
        TextBlock::from_text(
            &format!("### {}", fact.path),
            &fact.text,
            format!("memory_read {}", fact.path),
        )
    };
    TextSection {
        name: "Facts",
        about: String::new(),
        blocks: parts.facts.iter().map(block).collect(),
        noun: ("fact file", "fact files"),
        rest: "memory_read reads one; `tome memory list` lists them",
        quoted: parts.notes_from.clone(),
        share: 18,
    }
}

fn overview_section(parts: &StartParts) -> TextSection {
    let block = |text: &String| {
        let rest = "memory_read overview.md with scope session".to_owned();
        TextBlock::from_text("### overview.md", text, rest)
    };
    TextSection {
        name: "Overview of this session",
        about: String::new(),
        blocks: parts.overview.iter().map(block).collect(),
        noun: ("overview", "overviews"),
        rest: "memory_read overview.md with scope session",
        quoted: None,
        share: 13,
    }
}

/// Only text of the user and the agent, never of a tool.
fn last_session_section(parts: &StartParts) -> TextSection {
    let is_own = parts.last.as_ref().is_some_and(|last| last.is_own);
    TextSection {
        name: if is_own { "Where this session stands" } else { "Where the last session stopped" },
        about: String::new(),
        blocks: parts.last.iter().map(session_block).collect(),
        noun: ("session", "sessions"),
        rest: "recall_memory finds more",
        quoted: Some(if is_own {
            "the record of this session".to_owned()
        } else {
            "the record of that session".to_owned()
        }),
        share: 16,
    }
}

/// Statements of the contents, each a line with its evidence.
fn known_section(name: &'static str, about: String, lines: &[String], share: u64) -> TextSection {
    TextSection {
        name,
        about,
        blocks: lines.iter().map(|line| TextBlock::from_line(line)).collect(),
        noun: ("statement", "statements"),
        rest: "`tome toc` and recall_memory find them",
        quoted: None,
        share,
    }
}

fn branch_section(parts: &StartParts) -> TextSection {
    let about = parts.known.branch.as_ref().map_or(String::new(), |branch| {
        format!("Branch {}. Continue from here.", quote_line(branch, NAME_CHARS_MAX))
    });
    known_section("Work on this branch", about, &parts.known.on_branch, 11)
}

/// As many as fit, the latest first.
fn instructions_section(lines: &[String]) -> TextSection {
    TextSection {
        noun: ("more instruction", "more instructions"),
        rest: "`tome instructions` lists them",
        ..known_section("Standing instructions", String::new(), lines, 7)
    }
}

pub(super) fn how_to_work_section(lines: &[String]) -> TextSection {
    let about = "Learned from earlier sessions; memory_show opens a citation.".to_owned();
    known_section("How to work here", about, lines, 7)
}

fn open_section(parts: &StartParts) -> TextSection {
    // Without work on a branch, the last session of the project may be among it.
    let title = if parts.known.on_branch.is_empty() { "Open" } else { "Open in other work" };
    known_section(title, String::new(), &parts.known.open_elsewhere, 5)
}

/// One line per earlier piece of work, without the session that is described in full.
fn earlier_section(parts: &StartParts) -> TextSection {
    let last_session = parts.last.as_ref().map(|last| last.session.as_str());
    let earlier = parts.known.earlier.iter();
    let lines: Vec<String> = earlier
        .filter(|work| Some(work.session.as_str()) != last_session)
        .map(|work| work.line.clone())
        .collect();
    let about = "What was so on that day; later work may have changed it.".to_owned();
    known_section("Earlier work here", about, &lines, 8)
}

/// A session in a few lines: time, requests, the agent's final message, open items.
pub(super) fn session_block(state: &SessionState) -> TextBlock {
    let when = if format_minute(state.first_at) == format_minute(state.last_at) {
        format_minute(state.last_at)
    } else {
        format!("{} to {}", format_minute(state.first_at), format_minute(state.last_at))
    };
    // The most useful lines come first, because the end is cut if space runs out.
    let (last, before) = match state.latest_requests.split_last() {
        Some((last, before)) => (last, Some(before)),
        None => (&state.first_request, None),
    };
    let is_answered = state.unanswered.as_ref().is_none_or(|request| request != last);
    let label = if is_answered { "Last request" } else { "Last request, unanswered" };
    let mut lines = vec![format!("{label}: {}", quote_line(last, REQUEST_CHARS_MAX))];
    if let Some(words) = &state.last_words {
        lines.push(format!("The user's last words: {}", quote_line(words, NAME_CHARS_MAX)));
    }
    let closing = closing_lines(&state.closing);
    if let Some((first, rest)) = closing.split_first() {
        let label = match (state.is_finished, &state.unanswered) {
            (false, _) => STILL_AT_WORK,
            (true, Some(_)) => "The agent's message before it",
            (true, None) => "Agent's final message",
        };
        lines.push(format!("{label}: {first}"));
        lines.extend(rest.iter().map(|line| format!("  {line}")));
    }
    if !state.last_calls.is_empty() {
        let calls = state.last_calls.iter().map(|call| quote_line(call, CALL_CHARS_MAX));
        lines.push(format!("After that: {}", calls.collect::<Vec<_>>().join("; ")));
    }
    if let Some(request) = state.unanswered.as_ref().filter(|_| is_answered) {
        lines.push(format!("Unanswered: {}", quote_line(request, REQUEST_CHARS_MAX)));
    }
    lines.extend(
        state.open.iter().map(|item| format!("Open: {}", quote_line(item, LINE_CHARS_MAX))),
    );
    if !state.commits.is_empty() {
        let shown: Vec<String> = state.commits.iter().take(COMMITS_SHOWN_MAX).cloned().collect();
        let hidden = state.commits.len() - shown.len();
        let more = if hidden > 0 { format!(" and {hidden} before") } else { String::new() };
        let order = if state.commits.len() > 1 { ", the latest first" } else { "" };
        let commits = quote_line(&shown.join("; "), COMMITS_CHARS_MAX);
        lines.push(format!("Committed{order}: {commits}{more}"));
    }
    if !state.edited.is_empty() {
        let shown: Vec<&str> =
            state.edited.iter().take(FILES_SHOWN_MAX).map(String::as_str).collect();
        let hidden = state.edited.len().saturating_sub(shown.len());
        let more = if hidden > 0 { format!(" and {hidden} more") } else { String::new() };
        let files = quote_line(&shown.join(", "), LINE_CHARS_MAX);
        lines.push(format!("Edited, with no commit recorded after it: {files}{more}"));
    }
    let earlier =
        before.into_iter().flat_map(|before| std::iter::once(&state.first_request).chain(before));
    let earlier: Vec<String> =
        earlier.map(|text| quote_line(text, EARLIER_REQUEST_CHARS_MAX)).collect();
    if !earlier.is_empty() {
        lines.push("Asked before that, in order:".to_owned());
        lines.extend(earlier.iter().map(|text| format!("  {text}")));
    }
    let cited = state.closing_event.as_deref().map(|id| format!(" [{}]", quote_line(id, 80)));
    let head = format!("{}, {when}{}", quote_line(&state.agent, 40), cited.unwrap_or_default());
    TextBlock { head, lines, rest: "recall_memory finds more".to_owned() }
}

/// The first lines of the final message: agents state the result first.
fn closing_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut left, mut in_code) = (CLOSING_CHARS_MAX, false);
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let says = line.contains(char::is_alphanumeric);
        if in_code || !says {
            continue;
        }
        if left < 40 || lines.len() >= CLOSING_LINES_MAX {
            lines.push("…".to_owned());
            break;
        }
        let line = quote_line(line, left.min(LINE_CHARS_MAX * 2));
        left = left.saturating_sub(line.chars().count());
        lines.push(line);
    }
    lines
}

fn notes_section(parts: &StartParts) -> TextSection {
    TextSection {
        name: "Notes of this project",
        about: String::new(),
        blocks: parts.notes.iter().map(index_line).collect(),
        noun: ("note", "notes"),
        rest: "recall_memory finds them; `tome memory list` lists them",
        quoted: parts.notes_from.clone(),
        share: 9,
    }
}

fn lessons_section(parts: &StartParts) -> TextSection {
    TextSection {
        name: "Lessons from all projects",
        about: "Read one with memory_read and scope coder.".to_owned(),
        blocks: parts.lessons.iter().map(index_line).collect(),
        noun: ("file", "files"),
        rest: "recall_memory with scope coder finds them",
        quoted: None,
        share: 6,
    }
}

pub(super) fn index_line(note: &NoteLine) -> TextBlock {
    let name = if note.name.is_empty() || note.path.contains(&note.name) {
        String::new()
    } else {
        format!(" ({})", quote_line(&note.name, NAME_CHARS_MAX))
    };
    let summary = if note.summary.is_empty() {
        String::new()
    } else {
        format!(": {}", quote_line(&note.summary, LINE_CHARS_MAX))
    };
    TextBlock::from_line(&format!("- {}{name}{summary}", note.path))
}
