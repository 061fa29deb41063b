//! The graph of segments: edges for similar texts and for rare things in common.

use std::collections::BTreeMap;

use crate::leiden::Graph;
use crate::limits::{
    CONTINUES, EDGE_MAX, LINKED_NEXT, LINKED_WHOLE, ONE, OTHER_BRANCH, RARE_MAX, RARE_MIN,
    RARE_SHARE,
};
use crate::named::{NamedTopic, TopicKind};
use crate::path::base_name;
use crate::record::SegmentRecord;
use crate::similarity::find_similar;

/// Files that every kind of work changes.
#[rustfmt::skip]
const GENERIC_FILES: [&str; 22] = [
    "Cargo.toml", "Cargo.lock", "package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock",
    "bun.lock", "go.mod", "go.sum", "pyproject.toml", "poetry.lock", "uv.lock", "requirements.txt",
    "README.md", "CHANGELOG.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "Makefile", ".gitignore",
    "Gemfile.lock", "composer.lock",
];

/// Builds the graph of segments, which are sorted by id.
pub(crate) fn build_graph(segments: &[SegmentRecord], named: &[NamedTopic]) -> Graph {
    let mut edges = find_similar(segments);
    for topic in named {
        add_shared(topic, segments.len(), &mut edges);
    }
    let places: BTreeMap<&str, usize> =
        segments.iter().enumerate().map(|(place, one)| (one.id.as_str(), place)).collect();
    for (place, segment) in segments.iter().enumerate() {
        let before = segment.continues.as_ref().and_then(|id| places.get(id.as_str()));
        edges.extend(before.map(|before| (*before, place, CONTINUES)));
    }
    let mut graph = Graph::from_edges(segments.len(), edges);
    let branch = |place: usize| segments.get(place).and_then(|one| one.branch.as_ref());
    for (from, edges) in graph.edges.iter_mut().enumerate() {
        for (to, weight) in edges {
            let is_apart = branch(from).zip(branch(*to)).is_some_and(|(a, b)| a != b);
            let share = if is_apart { OTHER_BRANCH } else { ONE };
            *weight = (*weight * share / ONE).min(EDGE_MAX);
        }
    }
    graph
}

/// Whether few enough segments share a topic for it to link them.
pub(crate) fn is_rare(topic: &NamedTopic, segments: usize) -> bool {
    let most = (segments / RARE_SHARE).clamp(RARE_MIN, RARE_MAX);
    let is_generic =
        topic.kind == TopicKind::File && GENERIC_FILES.contains(&base_name(&topic.name));
    topic.segments.len() <= most && !is_generic
}

/// Adds edges between the segments of a rare topic. The rarer it is, the more it weighs.
fn add_shared(topic: &NamedTopic, segments: usize, edges: &mut Vec<(usize, usize, i64)>) {
    let base = match topic.kind {
        TopicKind::Branch | TopicKind::Issue => 700,
        TopicKind::Error => 400,
        TopicKind::File => 350,
        TopicKind::Package | TopicKind::Symbol => 150,
        TopicKind::Command => 60,
        // The files in it are linked already.
        TopicKind::Folder | TopicKind::Group => 0,
    };
    let count = topic.segments.len();
    // A branch tells work apart, however long it lives.
    let is_work = matches!(topic.kind, TopicKind::Branch | TopicKind::Issue);
    if base == 0 || count < 2 || !is_work && !is_rare(topic, segments) {
        return;
    }
    let weight = if is_work { base } else { base * rarity(count, segments) / ONE };
    let reach = if count <= LINKED_WHOLE { count } else { LINKED_NEXT };
    for (place, from) in topic.segments.iter().enumerate() {
        for to in topic.segments.iter().skip(place + 1).take(reach) {
            edges.push((*from, *to, weight));
        }
    }
}

/// How rare something is, in thousandths: 1000 if two segments have it, 0 if all do. Whole numbers
/// only, so that it is the same on every machine.
fn rarity(count: usize, segments: usize) -> i64 {
    let bits = |share: usize| i64::from((share.max(1) * 16).ilog2()) - 4;
    let (own, most) = (bits(segments / count.max(1)), bits(segments / 2));
    if most <= 0 { ONE } else { (own * ONE / most).clamp(100, ONE) }
}
