//! The graph of segments: edges for similar texts and for rare things in common.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph_weights::GraphWeights;
use crate::leiden::Graph;
use crate::limits::{
    CONTINUES, EDGE_MAX, LINKED_WHOLE, ONE, OTHER_BRANCH, RARE_MAX, RARE_MIN, RARE_SHARE,
};
use crate::named::{NamedTopic, TopicKind};
use crate::path::base_name;
use crate::record::SegmentRecord;
use crate::similarity::{find_similar, find_similar_to};

/// Files that every kind of work changes.
#[rustfmt::skip]
const GENERIC_FILES: [&str; 22] = [
    "Cargo.toml", "Cargo.lock", "package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock",
    "bun.lock", "go.mod", "go.sum", "pyproject.toml", "poetry.lock", "uv.lock", "requirements.txt",
    "README.md", "CHANGELOG.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "Makefile", ".gitignore",
    "Gemfile.lock", "composer.lock",
];

/// Builds the graph of segments, which are sorted by id.
pub(crate) fn build_graph(
    segments: &[Arc<SegmentRecord>],
    named: &[Arc<NamedTopic>],
    threshold: Option<f32>,
    weights: &GraphWeights,
) -> Graph {
    let mut edges = find_similar(segments, threshold, weights);
    for topic in named {
        add_shared(topic, segments.len(), weights, &mut edges);
    }
    let indexes: BTreeMap<&str, usize> =
        segments.iter().enumerate().map(|(index, one)| (one.id.as_str(), index)).collect();
    for (index, segment) in segments.iter().enumerate() {
        let before = segment.continues.as_ref().and_then(|id| indexes.get(id.as_str()));
        edges.extend(before.map(|before| (*before, index, CONTINUES)));
    }
    let mut graph = Graph::from_edges(segments.len(), edges);
    for (from, edges) in graph.edges.iter_mut().enumerate() {
        let branch = branch_at(segments, from);
        for (to, weight) in edges {
            *weight = limit_edge(*weight, branch, branch_at(segments, *to));
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

/// Edges of one segment to all others, for a segment that joins groups found before. `own` are the
/// named topics of the segment.
pub(crate) fn edges_of<'a>(
    index: usize,
    segments: &[Arc<SegmentRecord>],
    own: impl Iterator<Item = &'a NamedTopic>,
    threshold: Option<f32>,
    weights: &GraphWeights,
) -> BTreeMap<usize, i64> {
    let mut edges: BTreeMap<usize, i64> =
        find_similar_to(index, segments, threshold, weights).into_iter().collect();
    for topic in own {
        let Some((weight, reach)) = link_weight(topic, segments.len(), weights) else {
            continue;
        };
        let position = topic.segments.partition_point(|other| *other < index);
        let from = position.saturating_sub(reach);
        let linked = topic.segments.iter().skip(from).take(position - from + reach + 1);
        for other in linked.filter(|other| **other != index) {
            *edges.entry(*other).or_insert(0) += weight;
        }
    }
    let Some(joining) = segments.get(index) else { return BTreeMap::new() };
    for (other, segment) in segments.iter().enumerate() {
        let is_next = joining.continues.as_ref() == Some(&segment.id)
            || segment.continues.as_ref() == Some(&joining.id);
        if is_next {
            *edges.entry(other).or_insert(0) += CONTINUES;
        }
    }
    for (other, weight) in &mut edges {
        *weight = limit_edge(*weight, joining.branch.as_ref(), branch_at(segments, *other));
    }
    edges
}

fn branch_at(segments: &[Arc<SegmentRecord>], index: usize) -> Option<&String> {
    segments.get(index).and_then(|one| one.branch.as_ref())
}

fn limit_edge(weight: i64, from: Option<&String>, to: Option<&String>) -> i64 {
    let is_apart = from.zip(to).is_some_and(|(a, b)| a != b);
    let share = if is_apart { OTHER_BRANCH } else { ONE };
    (weight * share / ONE).min(EDGE_MAX)
}

/// Adds edges between the segments of a rare topic. The rarer it is, the more it weighs.
fn add_shared(
    topic: &NamedTopic,
    segments: usize,
    weights: &GraphWeights,
    edges: &mut Vec<(usize, usize, i64)>,
) {
    let Some((weight, reach)) = link_weight(topic, segments, weights) else { return };
    for (position, from) in topic.segments.iter().enumerate() {
        for to in topic.segments.iter().skip(position + 1).take(reach) {
            edges.push((*from, *to, weight));
        }
    }
}

/// The weight of an edge for a topic in common, and the number of later segments that each is linked
/// to; `None` if the topic links nothing.
fn link_weight(
    topic: &NamedTopic,
    segments: usize,
    weights: &GraphWeights,
) -> Option<(i64, usize)> {
    let base = match topic.kind {
        TopicKind::Branch | TopicKind::Issue => 700,
        TopicKind::Error => 400,
        TopicKind::File => weights.file,
        TopicKind::Package | TopicKind::Symbol => 150,
        TopicKind::Command => 60,
        // The files in it are linked already.
        TopicKind::Folder | TopicKind::Group => 0,
    };
    let count = topic.segments.len();
    // A branch separates work, however long it lives.
    let is_work = matches!(topic.kind, TopicKind::Branch | TopicKind::Issue);
    if base == 0 || count < 2 || !is_work && !is_rare(topic, segments) {
        return None;
    }
    let weight = if is_work { base } else { base * rarity(count, segments) / ONE };
    Some((weight, if count <= LINKED_WHOLE { count } else { weights.linked_next }))
}

/// How rare something is, in thousandths: 1000 if two segments have it, 0 if all do. Whole numbers
/// only, so that it is the same on every machine.
fn rarity(count: usize, segments: usize) -> i64 {
    let bits = |share: usize| i64::from((share.max(1) * 16).ilog2()) - 4;
    let (rarity, most) = (bits(segments / count.max(1)), bits(segments / 2));
    if most <= 0 { ONE } else { (rarity * ONE / most).clamp(100, ONE) }
}
