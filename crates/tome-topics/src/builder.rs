//! All topics of a project.

use std::sync::Arc;

use crate::activity::TopicActivity;
use crate::graph_weights::GraphWeights;
use crate::group::{Group, find_topic_groups};
use crate::group_ids::GroupIds;
use crate::named::{NamedTopic, TopicKind, collect_named, find_by_key};
use crate::path::Renames;
use crate::record::SegmentRecord;
use crate::similarity::calibrate_segments;

/// The topics of a project.
#[derive(Debug)]
pub struct TopicMap {
    /// Sorted by id. Maps that differ in a few segments share the others.
    pub(crate) segments: Vec<Arc<SegmentRecord>>,
    pub(crate) renames: Arc<Renames>,
    /// Sorted by kind and key.
    pub(crate) named: Vec<Arc<NamedTopic>>,
    pub(crate) groups: Vec<Group>,
    pub(crate) group_ids: GroupIds,
    /// Similarity from which on two segments are linked; from the last clustering.
    pub(crate) threshold: Option<f32>,
}

/// A topic in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its id: `t-…` for a group, else kind and name.
    pub id: String,
    /// Its kind.
    pub kind: TopicKind,
    /// A name, or the terms that distinguish a group.
    pub label: String,
    /// For a group, the title of its most typical segment.
    pub title: String,
    /// When and by whom it was worked on.
    pub activity: TopicActivity,
}

/// Numbers about all topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TopicStatus {
    /// Segments in all.
    pub segments: u64,
    /// Segments that are in no group.
    pub ungrouped: u64,
    /// Topics that are groups of similar segments.
    pub groups: u64,
    /// Topics with a name of their own: files, commands, errors.
    pub named: u64,
}

impl TopicMap {
    /// Finds the topics of segments. `last` keeps the ids of groups; it does not change the groups.
    pub fn build(segments: Vec<SegmentRecord>, last: &GroupIds) -> Self {
        Self::build_with(segments, last, &GraphWeights::default())
    }

    /// The same with other weights.
    pub fn build_with(
        segments: Vec<SegmentRecord>,
        last: &GroupIds,
        weights: &GraphWeights,
    ) -> Self {
        Self::build_shared(segments.into_iter().map(Arc::new).collect(), last, weights)
    }

    /// Finds the topics of the same segments again. `last` keeps the ids of groups.
    pub fn cluster_again(&self, last: &GroupIds) -> Self {
        Self::build_shared(self.segments.clone(), last, &GraphWeights::default())
    }

    fn build_shared(
        mut segments: Vec<Arc<SegmentRecord>>,
        last: &GroupIds,
        weights: &GraphWeights,
    ) -> Self {
        sort_segments(&mut segments);
        let renames = Arc::new(Renames::collect(&segments));
        let named = collect_named(&segments, &renames);
        let threshold = calibrate_segments(&segments);
        let (groups, group_ids) = find_topic_groups(&segments, &named, threshold, last, weights);
        Self { segments, renames, named, groups, group_ids, threshold }
    }

    /// The ids of the groups, for the next time.
    pub fn group_ids(&self) -> &GroupIds {
        &self.group_ids
    }

    /// Numbers about all topics.
    pub fn status(&self) -> TopicStatus {
        let grouped: usize = self.groups.iter().map(|group| group.segments.len()).sum();
        TopicStatus {
            segments: self.segments.len() as u64,
            ungrouped: self.segments.len().saturating_sub(grouped) as u64,
            groups: self.groups.len() as u64,
            named: self.named.len() as u64,
        }
    }

    /// The activity of the whole project.
    pub fn activity(&self) -> TopicActivity {
        TopicActivity::from_segments(self.segments.iter().map(Arc::as_ref))
    }

    /// The most important topics of a kind: most days of work first, then the latest.
    pub fn top(&self, kind: TopicKind, topics_max: usize) -> Vec<Topic> {
        let mut topics: Vec<Topic> = match kind {
            TopicKind::Group => self.groups.iter().map(|group| self.group_topic(group)).collect(),
            _ => self.named_of(kind).iter().map(|topic| self.named_topic(topic)).collect(),
        };
        sort_by_importance(&mut topics);
        topics.truncate(topics_max);
        topics
    }

    /// The current id for an id that may be a former one, or a former name of a file.
    pub fn resolve(&self, id: &str) -> Option<String> {
        let id = id.trim();
        if let Some(path) = id.strip_prefix("file:") {
            // A file of this name is meant before one that had it once.
            let later = || self.renames.later_names(path).into_iter();
            let named = self.find_named(id);
            return named.map(NamedTopic::id).or_else(|| {
                later()
                    .find_map(|name| self.find_named(&format!("file:{name}")).map(NamedTopic::id))
            });
        }
        let named = self.find_named(id).map(NamedTopic::id);
        named.or_else(|| self.group_ids.resolve(id).map(str::to_owned))
    }

    /// Finds a topic by its current or former id.
    pub fn find(&self, id: &str) -> Option<Topic> {
        let id = self.resolve(id)?;
        let group = self.groups.iter().find(|group| group.id == id);
        group
            .map(|group| self.group_topic(group))
            .or_else(|| self.find_named(&id).map(|topic| self.named_topic(topic)))
    }

    pub(crate) fn find_named(&self, id: &str) -> Option<&NamedTopic> {
        let (kind, name) = id.split_once(':')?;
        let kind: TopicKind = kind.parse().ok()?;
        let key = match kind {
            TopicKind::Error => {
                let mut errors = self.named_of(kind).iter();
                return errors.find(|topic| topic.id() == id).map(Arc::as_ref);
            }
            TopicKind::Issue => format!("#{}", name.trim_start_matches('#')),
            TopicKind::Folder => format!("{}/", name.trim_end_matches('/')),
            _ => name.to_owned(),
        };
        let index = find_by_key(&self.named, kind, &key).ok()?;
        self.named.get(index).map(Arc::as_ref)
    }

    /// The named topics of one kind.
    pub(crate) fn named_of(&self, kind: TopicKind) -> &[Arc<NamedTopic>] {
        let from = self.named.partition_point(|topic| topic.kind < kind);
        let to = self.named.partition_point(|topic| topic.kind <= kind);
        self.named.get(from..to).unwrap_or_default()
    }

    /// Indexes of the segments of a topic, given its current id.
    pub(crate) fn segment_indexes(&self, id: &str) -> &[usize] {
        let group = self.groups.iter().find(|group| group.id == id);
        group
            .map(|group| group.segments.as_slice())
            .or_else(|| self.find_named(id).map(|topic| topic.segments.as_slice()))
            .unwrap_or_default()
    }

    pub(crate) fn segments_at<'a>(
        &'a self,
        indexes: &'a [usize],
    ) -> impl DoubleEndedIterator<Item = &'a SegmentRecord> + Clone {
        indexes.iter().filter_map(|index| self.segments.get(*index).map(Arc::as_ref))
    }

    pub(crate) fn group_topic(&self, group: &Group) -> Topic {
        let title = self.segments.get(group.central).map_or("", |segment| segment.title.as_str());
        Topic {
            id: group.id.clone(),
            kind: TopicKind::Group,
            label: if group.terms.is_empty() { title.to_owned() } else { group.terms.join(", ") },
            title: title.to_owned(),
            activity: TopicActivity::from_segments(self.segments_at(&group.segments)),
        }
    }

    pub(crate) fn named_topic(&self, topic: &NamedTopic) -> Topic {
        Topic {
            id: topic.id(),
            kind: topic.kind,
            label: topic.name.clone(),
            title: String::new(),
            activity: TopicActivity::from_segments(self.segments_at(&topic.segments)),
        }
    }
}

/// Sorts segments by id, each once.
pub(crate) fn sort_segments(segments: &mut Vec<Arc<SegmentRecord>>) {
    segments.sort_by(|a, b| a.id.as_str().cmp(b.id.as_str()));
    segments.dedup_by(|a, b| a.id == b.id);
}

pub(crate) fn sort_by_importance(topics: &mut [Topic]) {
    topics.sort_by(|a, b| {
        let order = b.activity.importance().cmp(&a.activity.importance());
        order.then_with(|| a.label.cmp(&b.label)).then_with(|| a.id.cmp(&b.id))
    });
}
