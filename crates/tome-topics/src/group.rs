//! Groups of segments that belong together, found in their graph.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::graph::build_graph;
use crate::graph_weights::GraphWeights;
use crate::group_ids::GroupIds;
use crate::label::label_groups;
use crate::leiden::find_groups;
use crate::named::NamedTopic;
use crate::record::SegmentRecord;

/// A group of segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) id: String,
    /// Indexes of its segments, ascending.
    pub(crate) segments: Vec<usize>,
    pub(crate) terms: Vec<String>,
    /// Index of the segment whose title stands for the group.
    pub(crate) central: usize,
}

/// Finds the groups of segments, which are sorted by id, and their ids.
pub(crate) fn find_topic_groups(
    segments: &[Arc<SegmentRecord>],
    named: &[Arc<NamedTopic>],
    threshold: Option<f32>,
    last: &GroupIds,
    weights: &GraphWeights,
) -> (Vec<Group>, GroupIds) {
    let graph = build_graph(segments, named, threshold, weights);
    let group_numbers = find_groups(&graph, weights.resolution);
    let count = group_numbers.iter().max().map_or(0, |last| last + 1);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (index, group) in group_numbers.iter().enumerate() {
        if let Some(group) = members.get_mut(*group) {
            group.push(index);
        }
    }
    // One segment alone is not a topic.
    members.retain(|group| group.len() > 1);
    let ids: Vec<BTreeSet<String>> = members
        .iter()
        .map(|group| {
            let segments = group.iter().filter_map(|index| segments.get(*index));
            segments.map(|segment| segment.id.as_str().to_owned()).collect()
        })
        .collect();
    let (ids, group_ids) = GroupIds::assign(&ids, last);
    let labels = label_groups(segments, &members);
    let groups = ids.into_iter().zip(members).zip(labels).map(|((id, segments), label)| Group {
        id,
        segments,
        terms: label.terms,
        central: label.central,
    });
    (groups.collect(), group_ids)
}
