//! The Leiden algorithm with the constant Potts model: groups of nodes that are denser inside than
//! the resolution, and connected.
//!
//! Weights are whole numbers and nodes are visited in order, so there is no chance in it: equal
//! graphs give equal groups on every machine. (The published algorithm merges at random when it
//! refines; here the best merge wins, the first among equals.)
//!
//! Why not a crate: those with this model (`leiden-rs` is maintained and complete) add up floating-point
//! weights and merge at random from a seed, so that groups may differ between machines, thread counts
//! and versions of the crate or of its generator. Topics must be the same for the same events, or their
//! ids and pages would change for no reason that a person could see. There is nothing to fall back from:
//! it has no input that it rejects, and ends after a fixed number of runs.

use std::collections::VecDeque;

/// Runs over the whole graph; each starts from the groups of the one before.
const RUNS_MAX: usize = 4;

/// An undirected graph whose nodes stand for one or more members.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    /// The neighbors of each node with their weights; every edge is listed at both ends.
    pub(crate) edges: Vec<Vec<(usize, i64)>>,
    /// Number of members of each node.
    pub(crate) sizes: Vec<i64>,
}

impl Graph {
    /// Creates a graph of single members from edges, each given once; equal edges are added up.
    pub(crate) fn from_edges(nodes: usize, mut edges: Vec<(usize, usize, i64)>) -> Self {
        edges.retain(|(a, b, _)| a != b && *a < nodes && *b < nodes);
        for edge in &mut edges {
            *edge = (edge.0.min(edge.1), edge.0.max(edge.1), edge.2);
        }
        edges.sort_unstable_by_key(|(a, b, _)| (*a, *b));
        let mut merged: Vec<(usize, usize, i64)> = Vec::with_capacity(edges.len());
        for (a, b, weight) in edges {
            match merged.last_mut() {
                Some(last) if (last.0, last.1) == (a, b) => last.2 += weight,
                _ => merged.push((a, b, weight)),
            }
        }
        let mut graph = Self { edges: vec![Vec::new(); nodes], sizes: vec![1; nodes] };
        for (a, b, weight) in merged {
            graph.link(a, b, weight);
            graph.link(b, a, weight);
        }
        graph
    }

    fn link(&mut self, from: usize, to: usize, weight: i64) {
        if let Some(edges) = self.edges.get_mut(from) {
            edges.push((to, weight));
        }
    }

    pub(crate) fn neighbors(&self, node: usize) -> &[(usize, i64)] {
        self.edges.get(node).map_or(&[], Vec::as_slice)
    }

    fn len(&self) -> usize {
        self.edges.len()
    }
}

/// Returns the group of every node, numbered from 0 in order of their first nodes.
pub(crate) fn find_groups(graph: &Graph, resolution: i64) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..graph.len()).collect();
    for _ in 0..RUNS_MAX {
        let next = renumber(&run_once(graph, resolution, groups.clone()));
        let is_stable = next == groups;
        groups = next;
        if is_stable {
            break;
        }
    }
    groups
}

/// Moves, refines and aggregates until nothing merges any more.
fn run_once(graph: &Graph, resolution: i64, start: Vec<usize>) -> Vec<usize> {
    let mut level = graph.clone();
    let mut node_of: Vec<usize> = (0..graph.len()).collect();
    let mut groups = start;
    loop {
        groups = renumber(&groups);
        move_nodes(&level, resolution, &mut groups);
        let refined = renumber(&refine_groups(&level, resolution, &groups));
        let count = refined.iter().max().map_or(0, |last| last + 1);
        if count == level.len() {
            break;
        }
        let mut upper = vec![0; count];
        for (node, part) in refined.iter().enumerate() {
            set_at(&mut upper, *part, value_at(&groups, node));
        }
        node_of.iter_mut().for_each(|node| *node = value_at(&refined, *node));
        level = aggregate(&level, &refined, count);
        groups = upper;
    }
    node_of.into_iter().map(|node| value_at(&groups, node)).collect()
}

/// Moves every node to the group where it adds most, until none gains by moving.
fn move_nodes(graph: &Graph, resolution: i64, groups: &mut [usize]) {
    let nodes = graph.len();
    let mut sizes = vec![0_i64; nodes + 1];
    for (node, group) in groups.iter().enumerate() {
        add_at(&mut sizes, *group, value_at(&graph.sizes, node));
    }
    let mut empty: Vec<usize> =
        (0..=nodes).rev().filter(|group| value_at(&sizes, *group) == 0).collect();
    let mut queue: VecDeque<usize> = (0..nodes).collect();
    let mut is_queued = vec![true; nodes];
    let mut weights = vec![0_i64; nodes + 1];
    let mut touched: Vec<usize> = Vec::new();
    while let Some(node) = queue.pop_front() {
        set_at(&mut is_queued, node, false);
        let (own, size) = (value_at(groups, node), value_at(&graph.sizes, node));
        for (other, weight) in graph.neighbors(node) {
            let group = value_at(groups, *other);
            if value_at(&weights, group) == 0 {
                touched.push(group);
            }
            add_at(&mut weights, group, *weight);
        }
        add_at(&mut sizes, own, -size);
        let gain =
            |group: usize| value_at(&weights, group) - resolution * size * value_at(&sizes, group);
        let mut best = (gain(own), own);
        touched.sort_unstable();
        touched.dedup();
        for group in &touched {
            let one = (gain(*group), *group);
            if one.0 > best.0 {
                best = one;
            }
        }
        if best.0 < 0
            && value_at(&sizes, own) > 0
            && let Some(free) = empty.pop()
        {
            best = (0, free);
        }
        for group in touched.drain(..) {
            set_at(&mut weights, group, 0);
        }
        let (_, group) = best;
        add_at(&mut sizes, group, size);
        if group == own {
            continue;
        }
        set_at(groups, node, group);
        if value_at(&sizes, own) == 0 {
            empty.push(own);
        }
        for (other, _) in graph.neighbors(node) {
            if value_at(groups, *other) != group && !value_at(&is_queued, *other) {
                set_at(&mut is_queued, *other, true);
                queue.push_back(*other);
            }
        }
    }
}

/// Splits each group into parts that hang together: starts from single nodes and merges a node into
/// the best part of its group, if both are well connected to the rest of the group.
fn refine_groups(graph: &Graph, resolution: i64, groups: &[usize]) -> Vec<usize> {
    let nodes = graph.len();
    let mut group_sizes = vec![0_i64; nodes + 1];
    for (node, group) in groups.iter().enumerate() {
        add_at(&mut group_sizes, *group, value_at(&graph.sizes, node));
    }
    let mut parts: Vec<usize> = (0..nodes).collect();
    let mut part_sizes = graph.sizes.clone();
    let mut is_single = vec![true; nodes];
    // Weight between each part and the rest of its group.
    let mut outside = vec![0_i64; nodes];
    for node in 0..nodes {
        let own = value_at(groups, node);
        let inside =
            graph.neighbors(node).iter().filter(|(other, _)| value_at(groups, *other) == own);
        set_at(&mut outside, node, inside.map(|(_, weight)| weight).sum());
    }
    let mut weights = vec![0_i64; nodes];
    let mut touched: Vec<usize> = Vec::new();
    for node in 0..nodes {
        let (group, size) = (value_at(groups, node), value_at(&graph.sizes, node));
        let whole = value_at(&group_sizes, group);
        let is_connected = |part: usize, size: i64, outside: &[i64]| {
            value_at(outside, part) >= resolution * size * (whole - size)
        };
        if !value_at(&is_single, node) || !is_connected(node, size, &outside) {
            continue;
        }
        for (other, weight) in graph.neighbors(node) {
            if value_at(groups, *other) == group {
                let part = value_at(&parts, *other);
                touched.push(part);
                add_at(&mut weights, part, *weight);
            }
        }
        touched.sort_unstable();
        touched.dedup();
        let mut best: Option<(i64, usize)> = None;
        for part in &touched {
            let part_size = value_at(&part_sizes, *part);
            let gain = value_at(&weights, *part) - resolution * size * part_size;
            let is_better = best.is_none_or(|(known, _)| gain > known);
            if gain > 0 && *part != node && is_better && is_connected(*part, part_size, &outside) {
                best = Some((gain, *part));
            }
        }
        if let Some((_, part)) = best {
            let between = value_at(&weights, part);
            let rest = value_at(&outside, part) + value_at(&outside, node) - 2 * between;
            set_at(&mut outside, part, rest);
            add_at(&mut part_sizes, part, size);
            set_at(&mut parts, node, part);
            set_at(&mut is_single, node, false);
            set_at(&mut is_single, part, false);
        }
        for part in touched.drain(..) {
            set_at(&mut weights, part, 0);
        }
    }
    parts
}

/// Builds the graph whose nodes are the parts.
fn aggregate(graph: &Graph, parts: &[usize], count: usize) -> Graph {
    let mut sizes = vec![0_i64; count];
    let mut edges = Vec::new();
    for (node, part) in parts.iter().enumerate() {
        add_at(&mut sizes, *part, value_at(&graph.sizes, node));
        for (other, weight) in graph.neighbors(node) {
            let to = value_at(parts, *other);
            // Both ends list an edge; it is taken once.
            if *part < to {
                edges.push((*part, to, *weight));
            }
        }
    }
    Graph { sizes, ..Graph::from_edges(count, edges) }
}

/// Numbers groups from 0 in order of their first nodes.
fn renumber(groups: &[usize]) -> Vec<usize> {
    let most = groups.iter().max().map_or(0, |last| last + 1);
    let mut names = vec![usize::MAX; most];
    let mut next = 0;
    groups
        .iter()
        .map(|group| {
            if value_at(&names, *group) == usize::MAX {
                set_at(&mut names, *group, next);
                next += 1;
            }
            value_at(&names, *group)
        })
        .collect()
}

fn value_at<T: Copy + Default>(values: &[T], index: usize) -> T {
    values.get(index).copied().unwrap_or_default()
}

fn set_at<T>(values: &mut [T], index: usize, value: T) {
    if let Some(slot) = values.get_mut(index) {
        *slot = value;
    }
}

fn add_at(values: &mut [i64], index: usize, value: i64) {
    if let Some(slot) = values.get_mut(index) {
        *slot += value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clique(from: usize, to: usize, weight: i64) -> Vec<(usize, usize, i64)> {
        (from..to).flat_map(|a| (a + 1..to).map(move |b| (a, b, weight))).collect()
    }

    #[test]
    fn cliques_with_a_bridge_are_separate_groups() {
        let mut edges = clique(0, 5, 500);
        edges.extend(clique(5, 9, 500));
        edges.push((4, 5, 500));
        let groups = find_groups(&Graph::from_edges(11, edges), 60);
        assert_eq!(groups, [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 3]);
    }

    #[test]
    fn edges_below_the_resolution_join_nothing() {
        let groups = find_groups(&Graph::from_edges(4, clique(0, 4, 50)), 60);
        assert_eq!(groups, [0, 1, 2, 3]);
        assert!(find_groups(&Graph::default(), 60).is_empty());
    }

    #[test]
    fn a_long_chain_is_split_into_connected_groups() {
        let edges: Vec<_> = (0..99).map(|a| (a, a + 1, 300)).collect();
        let groups = find_groups(&Graph::from_edges(100, edges), 60);
        // Connected: along the chain a group is never left and entered again.
        let mut seen = Vec::new();
        for group in &groups {
            if seen.last() != Some(group) {
                assert!(!seen.contains(group), "{groups:?}");
                seen.push(*group);
            }
        }
        assert!(seen.len() > 5 && seen.len() < 40, "{groups:?}");
    }

    #[test]
    fn no_node_gains_by_moving() {
        let mut edges = Vec::new();
        for a in 0..200_usize {
            for step in [1, 7, 31] {
                edges.push((a, (a * step + step) % 200, 100 + i64::try_from(a % 5).unwrap() * 90));
            }
        }
        let graph = Graph::from_edges(200, edges);
        let groups = find_groups(&graph, 60);
        for node in 0..200 {
            let gain = |group: usize| {
                let members = groups.iter().enumerate().filter(|(n, g)| **g == group && *n != node);
                let weight: i64 = graph
                    .neighbors(node)
                    .iter()
                    .filter(|(other, _)| groups[*other] == group)
                    .map(|(_, weight)| weight)
                    .sum();
                weight - 60 * i64::try_from(members.count()).unwrap()
            };
            let own = gain(groups[node]);
            let best = groups.iter().map(|group| gain(*group)).max().unwrap();
            assert!(own >= best.max(0), "node {node}: {own} < {best}");
        }
    }
}
