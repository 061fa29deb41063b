//! Sessions, hits, notes and nodes as items of the browser.

use std::fmt::Write;

use tome_browse::{Item, ItemTarget, NotebookScope};
use tome_proto::v1;
use tome_recall::{Citation, CitationTarget};
use tome_terminal::{BOLD, DIM, GREEN, RESET, format_count, format_counted, one_line};

use crate::command::recall::split_project;
use crate::command::screen::Screen;
use crate::command::session_page::print_header;
use crate::command::toc::entry_title;

/// Characters of the text of an item.
const TEXT_CHARS_MAX: usize = 300;

fn blank_item(target: ItemTarget) -> Item {
    Item {
        target,
        project: String::new(),
        session: String::new(),
        citation: String::new(),
        when: String::new(),
        who: String::new(),
        project_name: String::new(),
        text: String::new(),
        card: String::new(),
        agent: String::new(),
    }
}

pub fn session_item(screen: &Screen, session: &v1::Session) -> Item {
    let mut card = Vec::new();
    // Writing to memory cannot fail.
    let _ = print_header(&mut card, screen, session, 0);
    Item {
        project: session.project.clone(),
        session: session.id.clone(),
        citation: session.short_id.clone(),
        when: screen.when(session.last_at_ms),
        who: session.agent.clone(),
        project_name: screen.projects.name(&session.project),
        text: one_line(&session.title, TEXT_CHARS_MAX),
        card: String::from_utf8_lossy(&card).into_owned(),
        agent: session.agent.clone(),
        ..blank_item(ItemTarget::Session(session.id.clone()))
    }
}

pub fn hit_item(screen: &Screen, hit: &v1::RecallHit) -> Item {
    let who = match hit.source.as_str() {
        "notes" | "detail" => "note".to_owned(),
        "coder" => "lesson".to_owned(),
        _ => tome_terminal::name_side(&hit.kind, &hit.agent),
    };
    let text = match hit.title.as_str() {
        "" => hit.text.clone(),
        title => format!("{title}: {}", hit.text),
    };
    Item {
        project: hit.project.clone(),
        session: hit.session_id.clone(),
        citation: hit.id.clone(),
        when: hit.at_ms.map(|at| screen.when(at)).unwrap_or_default(),
        card: hit_card(screen, hit, &who),
        project_name: screen.projects.name(&hit.project),
        text: one_line(&text, TEXT_CHARS_MAX),
        agent: hit.agent.clone(),
        who,
        ..blank_item(hit_target(hit))
    }
}

/// The record that a hit is from.
fn hit_target(hit: &v1::RecallHit) -> ItemTarget {
    let note = |scope, path: String, line: Option<u32>| ItemTarget::Note {
        scope,
        session: match scope {
            NotebookScope::Session => hit.session_id.clone(),
            _ => String::new(),
        },
        path,
        line: line.unwrap_or(0),
    };
    let Ok(citation) = hit.citation.parse::<Citation>() else { return ItemTarget::Nothing };
    match citation.target {
        CitationTarget::Event(_) | CitationTarget::Message { .. } | CitationTarget::Grip(_) => {
            ItemTarget::Event(hit.id.clone())
        }
        CitationTarget::Detail { path, line, .. } => note(NotebookScope::Session, path, line),
        CitationTarget::Note { path, line } => note(NotebookScope::Project, path, line),
        CitationTarget::Lesson { path, line } => note(NotebookScope::Coder, path, line),
        CitationTarget::Node(id) => ItemTarget::Node(id.to_string()),
    }
}

/// A hit as `tome recall` prints it: the excerpt, the question and the answer around it, and what was
/// said about it at other times.
fn hit_card(screen: &Screen, hit: &v1::RecallHit, who: &str) -> String {
    let mut card = hit_head(screen, hit, who);
    for (label, part) in [("asked", &hit.prompt), ("answered", &hit.answer)] {
        if let Some(part) = part {
            let _ = writeln!(card, "\n{DIM}{label} #{}:{RESET} {}", part.number, part.text);
        }
    }
    card
}

/// The citation, the time and the excerpt of a hit.
fn hit_head(screen: &Screen, hit: &v1::RecallHit, who: &str) -> String {
    let id = split_project(&hit.id).1;
    let when = hit.at_ms.map(|at| screen.labels.format_date_hour(screen.now, at));
    let sure = Some(hit.confidence.as_str()).filter(|sure| !matches!(*sure, "" | "strong"));
    let about: Vec<&str> = [when.as_deref(), Some(who), sure]
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .collect();
    let mut head = format!("{GREEN}{id}{RESET}  {DIM}{}{RESET}\n", about.join(" · "));
    if !hit.project.is_empty() {
        let _ = writeln!(head, "{DIM}{}{RESET}", screen.project_path(&hit.project));
    }
    for other in &hit.others {
        let day = screen.labels.format_date_hour(screen.now, other.at_ms);
        let label = format!("{} #{} ({day}):", other.relation, other.number);
        let _ = writeln!(head, "{DIM}{label}{RESET} {}", other.text);
    }
    if !hit.title.is_empty() {
        let _ = writeln!(head, "\n{BOLD}{}{RESET}", one_line(&hit.title, TEXT_CHARS_MAX));
    }
    let _ = writeln!(head, "\n{}", hit.text);
    head
}

pub fn note_item(
    screen: &Screen,
    scope: NotebookScope,
    project: &str,
    note: &v1::ListedNote,
) -> Item {
    let folder = if scope == NotebookScope::Coder { "coder" } else { "memory" };
    let target =
        ItemTarget::Note { scope, session: String::new(), path: note.path.clone(), line: 0 };
    let text = match note.summary.as_str() {
        "" => note.path.clone(),
        summary => format!("{}: {summary}", note.path),
    };
    Item {
        project: project.to_owned(),
        citation: format!("{folder}/{}", note.path),
        who: if note.note_type.is_empty() { note.kind.clone() } else { note.note_type.clone() },
        project_name: screen.projects.name(project),
        text: one_line(&text, TEXT_CHARS_MAX),
        ..blank_item(target)
    }
}

pub fn entry_item(screen: &Screen, entry: &v1::TocEntry, project: &str) -> Item {
    let is_segment = entry.level == "segment";
    let who = if is_segment {
        entry.agents.join(", ")
    } else {
        format_counted(entry.events, "event", "events")
    };
    let project = match entry.shares.as_slice() {
        [only] => only.project.as_str(),
        _ => project,
    };
    Item {
        project: project.to_owned(),
        citation: entry.id.clone(),
        when: screen.labels.entry_label(entry),
        who,
        project_name: screen.projects.name(project),
        text: one_line(&entry_title(screen, entry), TEXT_CHARS_MAX),
        ..blank_item(ItemTarget::Node(entry.id.clone()))
    }
}

/// The items of a segment: the conversation from its beginning, then its bullets with their
/// evidence.
pub fn segment_items(screen: &Screen, node: &v1::Node) -> Vec<Item> {
    let session = node.sessions.first().cloned().unwrap_or_default();
    let common = |target| Item {
        project: node.project.clone(),
        session: session.clone(),
        project_name: screen.projects.name(&node.project),
        agent: node.agents.first().cloned().unwrap_or_default(),
        ..blank_item(target)
    };
    let events = format_count(node.events);
    let mut items = vec![Item {
        citation: node.id.clone(),
        when: screen.labels.format_hour(node.first_at_ms),
        text: format!("the conversation, {events} events"),
        card: format!("{BOLD}{}{RESET}\n{DIM}{}{RESET}\n", node.title, node.period),
        ..common(ItemTarget::Event(node.first_event.clone()))
    }];
    for bullet in &node.bullets {
        let evidence = bullet.numbers.first().map(|number| format!("#{number}"));
        let target = evidence.clone().map_or(ItemTarget::Nothing, ItemTarget::Event);
        items.push(Item {
            citation: evidence.clone().unwrap_or_default(),
            when: evidence.unwrap_or_default(),
            text: one_line(&bullet.text, TEXT_CHARS_MAX),
            card: bullet.text.clone(),
            ..common(target)
        });
    }
    items
}
