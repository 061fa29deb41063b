//! Looking through what no index has: events, nodes and notes, one by one.

use std::time::Instant;

use tome_finder::{Filter, Key, Part, Source};
use tome_ledger::Ledger;
use tome_model::{Event, Millis};

use super::keeper::{self, Page};
use super::literal::{Needle, sections};
use crate::EngineError;

/// What is looked through.
pub(super) struct Scan<'a> {
    /// Events that arrived after this number.
    pub after: u64,
    pub filter: &'a Filter,
    /// What is kept: the best.
    pub limit: usize,
    pub deadline: Instant,
}

/// Something that matches.
pub(super) struct Seen {
    pub key: Key,
    pub part: Part,
    pub source: Source,
    pub at: Millis,
    pub line: u32,
    pub score: f32,
}

/// What a scan found.
pub(super) struct SeenAll {
    pub seen: Vec<Seen>,
    pub looked: u64,
    /// What was not looked through, when the time was over.
    pub cut: Option<String>,
}

/// Events that are read before the clock is looked at.
const AT_ONCE: usize = 500;

/// Looks through the events that arrived after a number.
pub(super) fn scan_events(
    ledger: &Ledger,
    needle: &Needle,
    scan: &Scan<'_>,
) -> Result<SeenAll, EngineError> {
    let mut found = SeenAll { seen: Vec::new(), looked: 0, cut: None };
    let mut after = scan.after;
    loop {
        let entries = ledger.outbox(after, AT_ONCE)?;
        let Some(last) = entries.last() else { break };
        after = last.seq;
        for entry in &entries {
            let Some(event) = ledger.event_at(&entry.position)? else { continue };
            found.looked += 1;
            if !admits(scan.filter, &event) {
                continue;
            }
            if let Some(look) = needle.look(&keeper::joined(&event)) {
                found.seen.push(Seen {
                    key: Key::Event(entry.seq),
                    part: Part::default(),
                    source: Source::Event,
                    at: event.at,
                    line: 0,
                    score: look.score(),
                });
            }
        }
        keep(&mut found.seen, scan.limit);
        if Instant::now() > scan.deadline {
            let left = ledger.last_seq().saturating_sub(after);
            found.cut = (left > 0).then(|| format!("{left} events were not looked through: the index is being made; ask again in a moment"));
            break;
        }
    }
    Ok(found)
}

fn keep(seen: &mut Vec<Seen>, limit: usize) {
    seen.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.at.cmp(&a.at)));
    seen.truncate(limit);
}

fn admits(filter: &Filter, event: &Event) -> bool {
    let one_of = |list: &[String], one: &str| list.is_empty() || list.iter().any(|it| it == one);
    filter.project.as_ref().is_none_or(|project| *project == event.project)
        && filter.session.as_ref().is_none_or(|session| session == event.session.as_str())
        && one_of(&filter.agents, event.agent.as_str())
        && one_of(&filter.kinds, event.kind.as_str())
        && filter.since.is_none_or(|since| event.at >= since)
        && filter.until.is_none_or(|until| event.at < until)
}

/// Looks through the nodes of the contents and their grips.
pub(super) fn scan_nodes(
    ledger: &Ledger,
    needle: &Needle,
    scan: &Scan<'_>,
) -> Result<SeenAll, EngineError> {
    let mut found = SeenAll { seen: Vec::new(), looked: 0, cut: None };
    let projects = match &scan.filter.project {
        Some(project) => vec![project.clone()],
        None => ledger.contents_projects()?,
    };
    for project in projects {
        for head in ledger.heads(&project, "", None) {
            let Some(node) = ledger.node(&project, &head?.id, None)? else { continue };
            found.looked += 1;
            let filter = scan.filter;
            let is_of = filter.since.is_none_or(|since| node.last_at >= since)
                && filter.until.is_none_or(|until| node.first_at < until)
                && filter
                    .session
                    .as_ref()
                    .is_none_or(|session| node.sessions.iter().any(|it| it.as_str() == session))
                && (filter.agents.is_empty()
                    || node
                        .agents
                        .iter()
                        .any(|it| filter.agents.iter().any(|one| one == it.as_str())));
            let text = keeper::node_text(&node);
            if !is_of {
                continue;
            }
            if let Some(look) =
                needle.look_under(&format!("{} {}", node.title, node.keywords.join(" ")), &text)
            {
                let page = Page::Node { project: project.clone(), id: node.id.clone() };
                found.seen.push(Seen {
                    key: Key::Named(page.name()),
                    part: Part { from: 0, to: u32::try_from(text.len()).unwrap_or(u32::MAX) },
                    source: Source::Node,
                    at: node.first_at,
                    line: 0,
                    score: look.score(),
                });
            }
            if Instant::now() > scan.deadline {
                found.cut = Some("not all of the contents were looked through".to_owned());
                keep(&mut found.seen, scan.limit);
                return Ok(found);
            }
        }
    }
    keep(&mut found.seen, scan.limit);
    Ok(found)
}

/// Looks through a note, section by section.
pub(super) fn scan_note(
    name: &str,
    source: Source,
    modified: Millis,
    text: &str,
    needle: &Needle,
) -> Vec<Seen> {
    let of = |section: super::literal::Section| {
        let part = Part {
            from: u32::try_from(section.range.start).unwrap_or(u32::MAX),
            to: u32::try_from(section.range.end).unwrap_or(u32::MAX),
        };
        let look = needle.look_under(&section.heading, keeper::cut(text, part))?;
        Some(Seen {
            key: Key::Named(name.to_owned()),
            part,
            source,
            at: modified,
            line: section.line,
            score: look.score(),
        })
    };
    sections(text).into_iter().filter_map(of).collect()
}
