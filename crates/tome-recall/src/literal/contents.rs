//! Scans the contents of a project, newest first: titles, bullets and keywords of nodes, and their
//! sources.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tome_finder::{Key, Source};
use tome_ledger::Ledger;
use tome_model::{Agent, Grip, Millis, Node, NodeId};

use super::limits::{NODES_MAX, TURN_NODES};
use super::seen::{About, Floor, Scanning, allows, part_of, shown};
use super::{Hunt, Look, Scan, Seen};
use crate::RecallError;
use crate::abreast;

/// Scans the latest versions of a project's nodes, and the sources that they list.
pub(crate) fn scan_contents(
    ledger: &Ledger,
    project: &str,
    hunt: Hunt<'_>,
) -> Result<Scan, RecallError> {
    let wanted = |source| hunt.filter.sources.is_empty() || hunt.filter.sources.contains(&source);
    if !(wanted(Source::Node) || wanted(Source::Grip)) {
        return Ok(Scanning::new(hunt).done());
    }
    let (nodes, floor) = (newest(ledger, project)?, Floor::default());
    let scan = |nodes: &[(Millis, NodeId)]| -> Result<Scanning<'_>, RecallError> {
        let mut scanning = Scanning::of_part(hunt, &floor);
        for (_, id) in nodes {
            if !scanning.goes_on(0) {
                break;
            }
            let Some(node) = ledger.node(project, id, None)? else { continue };
            look_at_node(&mut scanning, project, &node);
            let grips = node.bullets.iter().flat_map(|bullet| &bullet.grips);
            for id in grips.filter(|_| wanted(Source::Grip)) {
                // A period also lists sources of its segments; match each only with its own node.
                if let Some(grip) = ledger.grip(project, id)?.filter(|grip| grip.node == node.id) {
                    look_at_grip(&mut scanning, project, &node, &grip);
                }
            }
        }
        Ok(scanning)
    };
    let parts: Vec<_> = nodes.chunks(TURN_NODES).collect();
    let parts = abreast::each(parts, 1, scan).into_iter().collect::<Result<_, _>>()?;
    Ok(Scanning::joined(hunt, parts))
}

/// The nodes there are, the newest first.
fn newest(ledger: &Ledger, project: &str) -> Result<Vec<(Millis, NodeId)>, RecallError> {
    let mut kept = BinaryHeap::new();
    for head in ledger.heads(project, "toc:", None) {
        let head = head?;
        if head.removed {
            continue;
        }
        kept.push(Reverse((head.last_at, head.id)));
        if kept.len() > NODES_MAX {
            kept.pop();
        }
    }
    Ok(kept.into_sorted_vec().into_iter().map(|Reverse(one)| one).collect())
}

/// Searchable text of a node: its bullets, one per line.
pub(crate) fn text_of_node(node: &Node) -> String {
    let bullets: Vec<&str> = node.bullets.iter().map(|bullet| bullet.text.as_str()).collect();
    bullets.join("\n")
}

/// The node's session if it has exactly one, otherwise empty.
fn session_of(node: &Node) -> &str {
    match node.sessions.as_slice() {
        [one] => one.as_str(),
        _ => "",
    }
}

fn is_asked_for(
    scanning: &Scanning<'_>,
    source: Source,
    project: &str,
    node: &Node,
    at: Millis,
) -> bool {
    let agents: Vec<&str> = node.agents.iter().map(Agent::as_str).collect();
    let about = About { at, project, session: session_of(node), agents: &agents, kind: "" };
    allows(scanning.hunt.filter, source, &about)
}

fn look_at_node(scanning: &mut Scanning<'_>, project: &str, node: &Node) {
    if !is_asked_for(scanning, Source::Node, project, node, node.first_at) {
        return;
    }
    scanning.looked();
    let needle = scanning.hunt.needle;
    let text = text_of_node(node);
    let title = format!("{}\n{}", node.title, node.keywords.join(" "));
    let Some(look) = needle.look_under(&title, &text) else { return };
    scanning.found(node.first_at, look, |look| {
        // If only the title or the keywords match, show them before the bullets.
        let snippet = match needle.look(&title).filter(|_| look.range.is_empty()) {
            Some(above) => shown(&format!("{title}\n{text}"), &above),
            None => shown(&text, &look),
        };
        let key = Key::Named(node.id.as_str().to_owned());
        Seen { snippet, source: Source::Node, ..seen(key, project, node, node.first_at, look) }
    });
}

fn look_at_grip(scanning: &mut Scanning<'_>, project: &str, node: &Node, grip: &Grip) {
    if !is_asked_for(scanning, Source::Grip, project, node, grip.at) {
        return;
    }
    scanning.looked();
    let Some(look) = scanning.hunt.needle.look(&grip.excerpt) else { return };
    scanning.found(grip.at, look, |look| {
        let key = Key::Named(grip.id.as_str().to_owned());
        let snippet = shown(&grip.excerpt, &look);
        Seen { snippet, source: Source::Grip, ..seen(key, project, node, grip.at, look) }
    });
}

fn seen(key: Key, project: &str, node: &Node, at: Millis, look: Look) -> Seen {
    let agent = node.agents.first().filter(|_| node.agents.len() == 1);
    Seen {
        key,
        source: Source::Node,
        at,
        line: 0,
        project: project.to_owned(),
        session: session_of(node).to_owned(),
        agent: agent.map_or_else(String::new, |agent| agent.as_str().to_owned()),
        kind: String::new(),
        title: node.title.clone(),
        part: part_of(&look, 0),
        look,
        snippet: String::new(),
    }
}
