//! Topics between two clusterings: known groups are kept, and new segments join the nearest one.

use std::collections::{BTreeMap, BTreeSet};

use crate::builder::{TopicMap, sort_segments};
use crate::graph::edges_of;
use crate::graph_weights::GraphWeights;
use crate::group::{Group, find_indexes};
use crate::group_ids::GroupIds;
use crate::label::label_groups;
use crate::named::{NamedTopic, collect_named};
use crate::path::Renames;
use crate::record::SegmentRecord;

impl TopicMap {
    /// The topics with the groups of an earlier clustering. Segments that are in none of them stay
    /// alone until the next one.
    pub fn restore(mut segments: Vec<SegmentRecord>, group_ids: &GroupIds) -> Self {
        sort_segments(&mut segments);
        let mut groups: Vec<Group> = group_ids
            .groups
            .iter()
            .map(|(id, members)| {
                let indexes = find_indexes(&segments, members.iter().map(String::as_str));
                Group { id: id.clone(), segments: indexes, terms: Vec::new(), central: 0 }
            })
            .filter(|group| !group.segments.is_empty())
            .collect();
        let members: Vec<Vec<usize>> = groups.iter().map(|group| group.segments.clone()).collect();
        for (group, label) in groups.iter_mut().zip(label_groups(&segments, &members)) {
            (group.terms, group.central) = (label.terms, label.central);
        }
        let renames = Renames::collect(&segments);
        let named = collect_named(&segments, &renames);
        Self { segments, renames, named, groups, group_ids: group_ids.clone() }
    }

    /// The topics after some segments changed or were dropped. Groups and their labels stay; a new
    /// segment joins the group that it has most in common with, if it has enough.
    pub fn join(&self, changed: Vec<SegmentRecord>, dropped: &BTreeSet<String>) -> Self {
        let replaced: BTreeSet<&str> = changed.iter().map(|one| one.id.as_str()).collect();
        let is_kept = |segment: &&SegmentRecord| {
            let id = segment.id.as_str();
            !replaced.contains(id) && !dropped.contains(id)
        };
        let mut segments: Vec<SegmentRecord> =
            self.segments.iter().filter(is_kept).cloned().collect();
        let fresh: BTreeSet<String> = changed
            .iter()
            .map(|one| one.id.as_str().to_owned())
            .filter(|id| self.find_index(id).is_none())
            .collect();
        segments.extend(changed);
        sort_segments(&mut segments);
        let renames = Renames::collect(&segments);
        let named = collect_named(&segments, &renames);
        let mut groups: Vec<Group> = Vec::new();
        for group in &self.groups {
            let ids = self.segments_at(&group.segments).map(|segment| segment.id.as_str());
            let indexes = find_indexes(&segments, ids);
            let central = self.segments.get(group.central).map_or("", |one| one.id.as_str());
            let central = find_indexes(&segments, std::iter::once(central));
            let Some(first) = indexes.first().copied() else { continue };
            let central = central.first().copied().unwrap_or(first);
            groups.push(Group { segments: indexes, central, ..group.clone() });
        }
        let mut group_ids = self.group_ids.clone();
        for index in find_indexes(&segments, fresh.iter().map(String::as_str)) {
            let Some(best) = nearest_group(index, &segments, &named, &groups) else { continue };
            let Some(group) = groups.get_mut(best) else { continue };
            let at = group.segments.partition_point(|other| *other < index);
            group.segments.insert(at, index);
            let id = segments.get(index).map(|segment| segment.id.as_str().to_owned());
            group_ids.groups.entry(group.id.clone()).or_default().extend(id);
        }
        Self { segments, renames, named, groups, group_ids }
    }

    /// All segments, sorted by id.
    pub fn segments(&self) -> &[SegmentRecord] {
        &self.segments
    }

    fn find_index(&self, id: &str) -> Option<usize> {
        self.segments.binary_search_by(|one| one.id.as_str().cmp(id)).ok()
    }
}

/// The group that gains most by a segment, as when groups are found.
fn nearest_group(
    index: usize,
    segments: &[SegmentRecord],
    named: &[NamedTopic],
    groups: &[Group],
) -> Option<usize> {
    let weights = GraphWeights::default();
    let edges = edges_of(index, segments, named, &weights);
    let mut gains: BTreeMap<usize, i64> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        let inside = edges.iter().filter(|(other, _)| group.segments.binary_search(other).is_ok());
        let weight: i64 = inside.map(|(_, weight)| weight).sum();
        let size = i64::try_from(group.segments.len()).unwrap_or(i64::MAX);
        gains.insert(at, weight - weights.resolution.saturating_mul(size));
    }
    let best = gains.into_iter().filter(|(_, gain)| *gain > 0);
    best.max_by_key(|(at, gain)| (*gain, std::cmp::Reverse(*at))).map(|(at, _)| at)
}
