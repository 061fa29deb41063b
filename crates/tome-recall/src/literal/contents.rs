//! Scans the contents of a project, newest first: titles, bullets and keywords of nodes, and their
//! sources.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tome_finder::{EntryKey, RecordKind, RecordMeta};
use tome_ledger::Ledger;
use tome_model::{Agent, Grip, Millis, Node, NodeId};

use super::limits::{NODES_MAX, NODES_PER_TASK};
use super::scan::{ScanState, SharedMinScore, build_snippet, match_range};
use super::{Scan, ScanMatch, ScanQuery, TextMatch};
use crate::RecallError;
use crate::parallel;

/// Scans the latest versions of a project's nodes, and the sources that they list.
pub(crate) fn scan_contents(
    ledger: &Ledger,
    project: &str,
    scan_query: ScanQuery<'_>,
) -> Result<Scan, RecallError> {
    let wanted = |source| scan_query.filter.admits_source(source);
    if !(wanted(RecordKind::Node) || wanted(RecordKind::Grip)) {
        return Ok(ScanState::new(scan_query).finish());
    }
    let (nodes, min_score) = (newest_nodes(ledger, project)?, SharedMinScore::default());
    let scan = |nodes: &[(Millis, NodeId)]| -> Result<ScanState<'_>, RecallError> {
        let mut scanning = ScanState::for_part(scan_query, &min_score);
        for (_, id) in nodes {
            if !scanning.should_continue(0) {
                break;
            }
            let Some(node) = ledger.node(project, id, None)? else { continue };
            match_node(&mut scanning, project, &node);
            let grips = node.bullets.iter().flat_map(|bullet| &bullet.grips);
            for id in grips.filter(|_| wanted(RecordKind::Grip)) {
                // A period also lists sources of its segments; match each only with its own node.
                if let Some(grip) = ledger.grip(project, id)?.filter(|grip| grip.node == node.id) {
                    match_grip(&mut scanning, project, &node, &grip);
                }
            }
        }
        Ok(scanning)
    };
    let chunks: Vec<_> = nodes.chunks(NODES_PER_TASK).collect();
    let scans = parallel::map(chunks, 1, scan).into_iter().collect::<Result<_, _>>()?;
    Ok(ScanState::merge(scan_query, scans))
}

/// The nodes there are, the newest first.
fn newest_nodes(ledger: &Ledger, project: &str) -> Result<Vec<(Millis, NodeId)>, RecallError> {
    let mut kept = BinaryHeap::new();
    for head in ledger.node_headers(project, "toc:", None) {
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

/// Searchable text of a node: its bullets, one per line, or else its title.
pub(crate) fn node_text(node: &Node) -> String {
    if node.bullets.is_empty() {
        return node.title.clone();
    }
    let bullets: Vec<&str> = node.bullets.iter().map(|bullet| bullet.text.as_str()).collect();
    bullets.join("\n")
}

/// The node's session if it has exactly one, otherwise empty.
fn single_session(node: &Node) -> &str {
    match node.sessions.as_slice() {
        [one] => one.as_str(),
        _ => "",
    }
}

/// The properties of a node, or of one of its sources, that a filter tests.
fn node_meta<'a>(
    source: RecordKind,
    project: &'a str,
    node: &'a Node,
    at: Millis,
) -> RecordMeta<'a, Agent> {
    RecordMeta {
        source,
        at,
        project,
        session: single_session(node),
        agents: &node.agents,
        kind: "",
    }
}

fn match_node(scanning: &mut ScanState<'_>, project: &str, node: &Node) {
    let about = node_meta(RecordKind::Node, project, node, node.first_at);
    if !scanning.query.filter.admits(&about) {
        return;
    }
    scanning.count_scanned();
    let matcher = scanning.query.matcher;
    let text = node_text(node);
    let title = format!("{}\n{}", node.title, node.keywords.join(" "));
    let Some(text_match) = matcher.match_with_title(&title, &text) else { return };
    scanning.add_match(node.first_at, text_match, |text_match| {
        // If only the title or the keywords match, show them before the bullets.
        let snippet = match matcher.match_text(&title).filter(|_| text_match.range.is_empty()) {
            Some(above) => build_snippet(&format!("{title}\n{text}"), &above),
            None => build_snippet(&text, &text_match),
        };
        let key = EntryKey::Named(node.id.as_str().to_owned());
        ScanMatch {
            snippet,
            source: RecordKind::Node,
            ..build_node_match(key, project, node, node.first_at, text_match)
        }
    });
}

fn match_grip(scanning: &mut ScanState<'_>, project: &str, node: &Node, grip: &Grip) {
    let about = node_meta(RecordKind::Grip, project, node, grip.at);
    if !scanning.query.filter.admits(&about) {
        return;
    }
    scanning.count_scanned();
    let Some(text_match) = scanning.query.matcher.match_text(&grip.excerpt) else { return };
    scanning.add_match(grip.at, text_match, |text_match| {
        let key = EntryKey::Named(grip.id.as_str().to_owned());
        let snippet = build_snippet(&grip.excerpt, &text_match);
        ScanMatch {
            snippet,
            source: RecordKind::Grip,
            ..build_node_match(key, project, node, grip.at, text_match)
        }
    });
}

fn build_node_match(
    key: EntryKey,
    project: &str,
    node: &Node,
    at: Millis,
    text_match: TextMatch,
) -> ScanMatch {
    let agent = node.agents.first().filter(|_| node.agents.len() == 1);
    ScanMatch {
        key,
        source: RecordKind::Node,
        at,
        line: 0,
        project: project.to_owned(),
        session: single_session(node).to_owned(),
        agent: agent.map_or_else(String::new, |agent| agent.as_str().to_owned()),
        kind: String::new(),
        title: node.title.clone(),
        range: match_range(&text_match, 0),
        text_match,
        snippet: String::new(),
    }
}
