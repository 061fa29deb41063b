//! Topics that have something to do with another one, and why.

use std::collections::{BTreeMap, BTreeSet};

use tome_text::count_noun;

use crate::builder::{Topic, TopicMap};
use crate::graph::is_rare;
use crate::limits::RELATED_MAX;
use crate::named::TopicKind;

/// A related topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedTopic {
    /// The topic.
    pub topic: Topic,
    /// The reason: "shares 4 files", "12 segments in common".
    pub reason: String,
}

impl TopicMap {
    /// The topics that share most with a topic, given its current id.
    pub fn related(&self, id: &str) -> Vec<RelatedTopic> {
        let segments: BTreeSet<usize> = self.segment_indexes(id).iter().copied().collect();
        if segments.is_empty() {
            return Vec::new();
        }
        let is_group = self.groups.iter().any(|group| group.id == id);
        let mut found = self.related_groups(id, &segments);
        if !is_group {
            found.extend(self.files_in_common(id, &segments));
        }
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.topic.id.cmp(&b.1.topic.id)));
        found.truncate(RELATED_MAX);
        found.into_iter().map(|(_, related)| related).collect()
    }

    /// Groups with segments of the topic, or with the same rare files.
    fn related_groups(&self, id: &str, segments: &BTreeSet<usize>) -> Vec<(usize, RelatedTopic)> {
        let rare = |kind: TopicKind| {
            let all = self.segments.len();
            self.named_of(kind).iter().filter(move |topic| is_rare(topic, all))
        };
        let touches = |indexes: &[usize]| indexes.iter().any(|index| segments.contains(index));
        let files: Vec<&[usize]> = rare(TopicKind::File)
            .map(|topic| topic.segments.as_slice())
            .filter(|indexes| touches(indexes))
            .collect();
        let mut found = Vec::new();
        for group in self.groups.iter().filter(|group| group.id != id) {
            let common = group.segments.iter().filter(|index| segments.contains(index)).count();
            let is_member = |index: &usize| group.segments.binary_search(index).is_ok();
            let shared = files.iter().filter(|indexes| indexes.iter().any(is_member)).count();
            let (score, reason) = match (common, shared) {
                (1.., _) => (
                    common * 2,
                    count_noun(common as u64, "segment in common", "segments in common"),
                ),
                (0, 1..) => {
                    (shared, format!("shares {}", count_noun(shared as u64, "file", "files")))
                }
                (0, 0) => continue,
            };
            found.push((score, RelatedTopic { topic: self.group_topic(group), reason }));
        }
        found
    }

    /// Files that turns of a named topic changed as well.
    fn files_in_common(&self, id: &str, segments: &BTreeSet<usize>) -> Vec<(usize, RelatedTopic)> {
        let Some(named) = self.find_named(id).filter(|topic| topic.kind == TopicKind::File) else {
            return Vec::new();
        };
        let mut together: BTreeMap<String, usize> = BTreeMap::new();
        for segment in segments.iter().filter_map(|index| self.segments.get(*index)) {
            for turn in segment.turns.iter().filter(|turn| turn.is_focused()) {
                let changed: BTreeSet<String> = self.renames.changed_names(turn).collect();
                if changed.contains(&named.name) {
                    for other in changed.into_iter().filter(|path| *path != named.name) {
                        *together.entry(other).or_insert(0) += 1;
                    }
                }
            }
        }
        let often = together.into_iter().filter(|(_, times)| *times > 1);
        often
            .filter_map(|(path, times)| {
                let topic = self.find_named(&format!("file:{path}"))?;
                let reason = format!("changed together {times} times");
                Some((times, RelatedTopic { topic: self.named_topic(topic), reason }))
            })
            .collect()
    }
}
