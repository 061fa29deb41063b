//! Converts events, nodes and notes into index entries.

use tome_finder::{Entry, Key, Part, Source};
use tome_model::{Event, Grip, Millis, Node, Period, Zone};
use tome_notebook::OVERVIEW;

use super::chunks::chunks;
use super::pages::Page;
use crate::literal::{self, Section, page, text_of_node};
use tome_contents::said;

/// Full text of an event. The byte ranges of its chunks refer to this text.
pub(crate) fn joined(event: &Event) -> String {
    let mut all = String::new();
    for text in said(event) {
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(&text);
    }
    all
}

/// Entries of an event: one per chunk, none if the event has no text.
pub(crate) fn of_event(event: &Event, seq: u64, line: u32) -> Vec<Entry> {
    let text = joined(event);
    let beside = beside(event);
    let mut beside = Some(beside);
    let mut piece = |part: Part| Entry {
        key: Key::Event(seq),
        part,
        source: Source::Event,
        at: event.at,
        project: event.project.clone(),
        session: event.session.as_str().to_owned(),
        agent: event.agent.as_str().to_owned(),
        kind: event.kind.as_str().to_owned(),
        line,
        title: String::new(),
        text: cut(&text, part).to_owned(),
        // Only with the first chunk.
        keywords: beside.take().unwrap_or_default(),
    };
    chunks(&text).into_iter().map(&mut piece).collect()
}

/// Extra search terms of an event: its day, so that "the release in May" finds it, and its tool.
pub(crate) fn beside(event: &Event) -> String {
    let day = Period::day_of(event.at, &Zone::utc()).title();
    let tool = event.tool.as_ref().map_or("", |tool| tool.name.as_str());
    format!("{day} {tool}")
}

/// Returns a range of a text; empty if the range is invalid.
pub(crate) fn cut(text: &str, part: Part) -> &str {
    text.get(part.from as usize..part.to as usize).unwrap_or_default()
}

/// Entries of a node and of its sources. The range of a source holds its number.
pub(crate) fn of_node(project: &str, node: &Node, grips: &[Grip]) -> Vec<Entry> {
    let page = Page::Node { project: project.to_owned(), id: node.id.clone() };
    let only = |names: Vec<&str>| match names.as_slice() {
        [one] => (*one).to_owned(),
        _ => String::new(),
    };
    let text = text_of_node(node);
    let entry = Entry {
        key: Key::Named(page.name()),
        part: Part { from: 0, to: u32::try_from(text.len()).unwrap_or(u32::MAX) },
        source: Source::Node,
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
    let of_grip = |(number, grip): (u32, &Grip)| Entry {
        part: Part { from: number, to: number },
        source: Source::Grip,
        at: grip.at,
        title: String::new(),
        text: grip.excerpt.clone(),
        keywords: String::new(),
        ..entry.clone()
    };
    // A period also lists sources of its segments; index each only with its own node.
    let own = (0..).zip(grips).filter(|(_, grip)| grip.node == node.id);
    let grips: Vec<Entry> = own.map(of_grip).collect();
    std::iter::once(entry).chain(grips).collect()
}

/// A note to be indexed.
pub(crate) struct NoteText<'a> {
    pub page: &'a Page,
    pub name: &'a str,
    pub modified: Millis,
    pub session: &'a str,
    pub text: &'a str,
}

/// Splits a note into sections. Sections of a session overview that are still the blank template
/// are dropped.
pub(crate) fn said_in<'a>(of: &Page, text: &'a str) -> literal::Page<'a> {
    let mut said = page(text);
    if of.is_overview() {
        let form = page(OVERVIEW);
        let of_form = |section: &Section| form.text.get(section.range.clone());
        let is_form = |section: &Section| {
            let said = said.text.get(section.range.clone());
            form.sections.iter().any(|blank| of_form(blank) == said)
        };
        let kept = said.sections.iter().filter(|section| !is_form(section)).cloned().collect();
        said.sections = kept;
    }
    said
}

/// Entries of a note: one per section.
pub(crate) fn of_note(note: &NoteText<'_>) -> Vec<Entry> {
    let (source, project) = match note.page {
        Page::Note { project, .. } => (Source::Note, project.as_str()),
        Page::Detail { project, .. } => (Source::Detail, project.as_str()),
        Page::Insight { .. } => (Source::Insight, ""),
        Page::Node { .. } | Page::Grip { .. } => return Vec::new(),
    };
    let page = said_in(note.page, note.text);
    let about: Vec<&str> =
        page.description.iter().chain(&page.keywords).map(String::as_str).collect();
    let mut about = Some(about.join(" "));
    let entry = |section: Section| {
        let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let part = Part { from: byte(section.range.start), to: byte(section.range.end) };
        Entry {
            key: Key::Named(note.page.name()),
            part,
            source,
            at: note.modified,
            project: project.to_owned(),
            session: note.session.to_owned(),
            agent: String::new(),
            kind: String::new(),
            line: section.line,
            title: format!("{} {}", note.name, section.heading),
            text: cut(&page.text, part).to_owned(),
            // Only with the first section.
            keywords: about.take().unwrap_or_default(),
        }
    };
    page.sections.clone().into_iter().map(entry).collect()
}
