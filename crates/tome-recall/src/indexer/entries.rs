//! Converts events, nodes and notes into index entries.

use std::ops::Range;

use tome_finder::{ByteRange, EntryKey, IndexEntry, RecordKind};
use tome_model::{Event, Grip, Millis, Node, Period, Zone};
use tome_notebook::{LessonKind, LessonSection, OVERVIEW_TEMPLATE, split_lessons};

use super::chunking::split_chunks;
use super::pages::PageKey;
use crate::literal::{self, NoteSection, blank_out, node_text, parse_note};
use tome_contents::{authored_kind, event_texts, find_rejection_words};

/// Full text of an event. The byte ranges of its chunks refer to this text.
pub(crate) fn event_text(event: &Event) -> String {
    // The call that the user rejected is not their words.
    if let Some(words) = find_rejection_words(event) {
        return words.to_owned();
    }
    let mut all = String::new();
    for text in event_texts(event) {
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(&text);
    }
    all
}

/// Entries of an event: one per chunk, none if the event has no text.
pub(crate) fn event_entries(event: &Event, seq: u64, line: u32) -> Vec<IndexEntry> {
    let text = event_text(event);
    let mut keywords = Some(event_keywords(event));
    let mut build_entry = |range: ByteRange| IndexEntry {
        key: EntryKey::Event(seq),
        range,
        source: RecordKind::Event,
        at: event.at,
        project: event.project.clone(),
        session: event.session.as_str().to_owned(),
        agent: event.agent.as_str().to_owned(),
        kind: authored_kind(event).as_str().to_owned(),
        line,
        title: String::new(),
        text: slice_text(&text, range).to_owned(),
        // Only with the first chunk.
        keywords: keywords.take().unwrap_or_default(),
    };
    split_chunks(&text).into_iter().map(&mut build_entry).collect()
}

/// Extra search terms of an event: its day, so that "the release in May" finds it, and its tool.
/// The day is in UTC, because an index must not depend on a setting that may change.
pub(crate) fn event_keywords(event: &Event) -> String {
    let day = Period::day_containing(event.at, &Zone::utc()).title();
    let tool = event.tool.as_ref().map_or("", |tool| tool.name.as_str());
    format!("{day} {tool}")
}

/// Returns a range of a text; empty if the range is invalid.
pub(crate) fn slice_text(text: &str, range: ByteRange) -> &str {
    text.get(range.from as usize..range.to as usize).unwrap_or_default()
}

/// Entries of a node and of its sources. The range of a source holds its number.
pub(crate) fn node_entries(project: &str, node: &Node, grips: &[Grip]) -> Vec<IndexEntry> {
    let page = PageKey::Node { project: project.to_owned(), id: node.id.clone() };
    let only = |names: Vec<&str>| match names.as_slice() {
        [one] => (*one).to_owned(),
        _ => String::new(),
    };
    let text = node_text(node);
    let entry = IndexEntry {
        key: EntryKey::Named(page.name()),
        range: ByteRange { from: 0, to: u32::try_from(text.len()).unwrap_or(u32::MAX) },
        source: RecordKind::Node,
        at: node.first_at,
        project: project.to_owned(),
        session: only(node.sessions.iter().map(tome_model::SessionId::as_str).collect()),
        agent: only(node.agents.iter().map(tome_model::Agent::as_str).collect()),
        kind: String::new(),
        line: 0,
        title: node.title.clone(),
        text,
        keywords: node.keywords.join(" "),
    };
    let grip_entry = |(number, grip): (u32, &Grip)| IndexEntry {
        range: ByteRange { from: number, to: number },
        source: RecordKind::Grip,
        at: grip.at,
        title: String::new(),
        text: grip.excerpt.clone(),
        keywords: String::new(),
        ..entry.clone()
    };
    // A period also lists sources of its segments; index each only with its own node.
    let indexed = (0..).zip(grips).filter(|(_, grip)| grip.node == node.id);
    let grips: Vec<IndexEntry> = indexed.map(grip_entry).collect();
    std::iter::once(entry).chain(grips).collect()
}

/// A note to be indexed.
pub(crate) struct NoteText<'a> {
    pub page: &'a PageKey,
    pub name: &'a str,
    pub modified: Millis,
    pub session: &'a str,
    pub text: &'a str,
}

/// Splits a note into sections. Sections of a session overview that are still the blank template
/// are dropped.
fn parse_note_sections<'a>(of: &PageKey, text: &'a str) -> literal::ParsedNote<'a> {
    let mut note = parse_note(text);
    if of.is_overview() {
        let form = parse_note(OVERVIEW_TEMPLATE);
        let of_form = |section: &NoteSection| form.text.get(section.range.clone());
        let is_form = |section: &NoteSection| {
            let section_text = note.text.get(section.range.clone());
            form.sections.iter().any(|blank| of_form(blank) == section_text)
        };
        let kept = note.sections.iter().filter(|section| !is_form(section)).cloned().collect();
        note.sections = kept;
    }
    note
}

/// The searchable parts of a note.
pub(crate) struct NoteBody {
    /// Text without frontmatter, META comments and the labels of lessons, with the same byte offsets
    /// as the file.
    pub text: String,
    parts: Vec<NotePart>,
}

/// A section of a note, or a lesson.
pub(crate) struct NotePart {
    line: u32,
    range: ByteRange,
    /// Headings above a section.
    heading: String,
    /// Description and keywords of the note, with its first section; tags of a lesson.
    pub keywords: String,
    /// The lesson's type and title; `None` for a section.
    pub lesson: Option<(LessonKind, String)>,
}

impl NotePart {
    /// The name of a lesson's type; empty for a section.
    pub(crate) fn kind(&self) -> &'static str {
        self.lesson.as_ref().map_or("", |(kind, _)| kind.as_str())
    }
}

impl NoteBody {
    pub(crate) fn parse(page: &PageKey, text: &str) -> Self {
        if let PageKey::Lesson { path, .. } = page
            && let Some(kind) = LessonKind::from_path(path)
        {
            return Self::parse_lessons(kind, text);
        }
        let note = parse_note_sections(page, text);
        let keywords = note.description.iter().chain(&note.keywords).map(String::as_str);
        let mut keywords = Some(keywords.collect::<Vec<_>>().join(" "));
        let parts = note.sections.into_iter().map(|section| NotePart {
            line: section.line,
            range: to_byte_range(&section.range),
            heading: section.heading,
            keywords: keywords.take().unwrap_or_default(),
            lesson: None,
        });
        Self { parts: parts.collect(), text: note.text.into_owned() }
    }

    /// Each lesson is a part, and so is the text between two of them.
    fn parse_lessons(kind: LessonKind, text: &str) -> Self {
        let sections = split_lessons(text);
        let markup: Vec<_> = sections.iter().flat_map(|section| section.markup.clone()).collect();
        let has_words =
            |section: &LessonSection| text.get(section.range.clone()).is_some_and(has_letters);
        let parts = sections.into_iter().filter(has_words).map(|section| NotePart {
            line: u32::try_from(section.line).unwrap_or(u32::MAX),
            range: to_byte_range(&section.range),
            heading: String::new(),
            keywords: section.tags.join(" "),
            lesson: section.title.map(|title| (kind, title)),
        });
        Self { parts: parts.collect(), text: blank_out(text, &markup) }
    }

    /// The part with this range, if there is one.
    pub(crate) fn part_at(&self, range: ByteRange) -> Option<&NotePart> {
        self.parts.iter().find(|part| part.range == range)
    }
}

fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn to_byte_range(range: &Range<usize>) -> ByteRange {
    let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    ByteRange { from: byte(range.start), to: byte(range.end) }
}

/// Entries of a note: one per section or lesson.
pub(crate) fn note_entries(note: &NoteText<'_>) -> Vec<IndexEntry> {
    let (source, project) = match note.page {
        PageKey::Note { project, .. } => (RecordKind::Note, project.as_str()),
        PageKey::Detail { project, .. } => (RecordKind::Detail, project.as_str()),
        PageKey::Lesson { .. } => (RecordKind::Lesson, ""),
        PageKey::Node { .. } | PageKey::Grip { .. } => return Vec::new(),
    };
    let NoteBody { text, parts } = NoteBody::parse(note.page, note.text);
    let entry = |part: NotePart| IndexEntry {
        key: EntryKey::Named(note.page.name()),
        range: part.range,
        source,
        at: note.modified,
        project: project.to_owned(),
        session: note.session.to_owned(),
        agent: String::new(),
        kind: part.kind().to_owned(),
        line: part.line,
        text: slice_text(&text, part.range).to_owned(),
        title: match part.lesson {
            Some((_, title)) => title,
            None => format!("{} {}", note.name, part.heading),
        },
        keywords: part.keywords,
    };
    parts.into_iter().map(entry).collect()
}
