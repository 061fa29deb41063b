//! Topics between two clusterings: known groups are kept, and new segments join the nearest one.
//!
//! A new map shares everything with the one before it that did not change, so that a new segment
//! costs little more than a look at the vectors of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::builder::{TopicMap, sort_segments};
use crate::graph::edges_of;
use crate::graph_weights::GraphWeights;
use crate::group::Group;
use crate::group_ids::GroupIds;
use crate::label::label_groups;
use crate::named::{
    NamedTopic, TopicKind, add_lineage, collect_named, error_signature, find_by_key, named_key,
    segment_names,
};
use crate::path::Renames;
use crate::record::{SegmentRecord, TurnRecord, find_indexes};
use crate::similarity::calibrate_segments;

impl TopicMap {
    /// The topics with the groups of an earlier clustering. Segments that are in none of them stay
    /// alone until the next one.
    pub fn restore(segments: Vec<SegmentRecord>, group_ids: &GroupIds) -> Self {
        let mut segments: Vec<Arc<SegmentRecord>> = segments.into_iter().map(Arc::new).collect();
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
        let renames = Arc::new(Renames::collect(&segments));
        let named = collect_named(&segments, &renames);
        let threshold = calibrate_segments(&segments);
        Self { segments, renames, named, groups, group_ids: group_ids.clone(), threshold }
    }

    /// The topics after some segments changed or were dropped. Groups and their labels stay; a new
    /// segment joins the group that it has most in common with, if it has enough.
    pub fn join(&self, changed: Vec<SegmentRecord>, dropped: &BTreeSet<String>) -> Self {
        let changed: BTreeMap<String, Arc<SegmentRecord>> =
            changed.into_iter().map(|one| (one.id.as_str().to_owned(), Arc::new(one))).collect();
        let gone: BTreeSet<usize> = dropped
            .iter()
            .filter(|id| !changed.contains_key(*id))
            .filter_map(|id| self.find_index(id))
            .collect();
        let fresh: BTreeSet<&str> =
            changed.keys().map(String::as_str).filter(|id| self.find_index(id).is_none()).collect();
        let mut segments: Vec<Arc<SegmentRecord>> =
            Vec::with_capacity(self.segments.len() + fresh.len());
        for (index, segment) in self.segments.iter().enumerate() {
            match changed.get(segment.id.as_str()) {
                Some(changed) => segments.push(Arc::clone(changed)),
                None if gone.contains(&index) => {}
                None => segments.push(Arc::clone(segment)),
            }
        }
        segments.extend(fresh.iter().filter_map(|id| changed.get(*id)).map(Arc::clone));
        sort_segments(&mut segments);
        let fresh = find_indexes(&segments, fresh.into_iter());
        let shift = IndexShift::new(&gone, &fresh);
        let replaced: Vec<usize> = changed.keys().filter_map(|id| self.find_index(id)).collect();
        let outdated =
            || gone.iter().chain(&replaced).filter_map(|index| self.segments.get(*index));
        let has_renames = outdated().chain(changed.values()).any(|one| self.concerns_renames(one));
        let (renames, named) = if has_renames {
            let renames = Arc::new(Renames::collect(&segments));
            let named = collect_named(&segments, &renames);
            (renames, named)
        } else {
            let mut update = NamedUpdate {
                named: shift.apply_to_named(&self.named),
                segments: &segments,
                renames: &self.renames,
                errors: BTreeSet::new(),
            };
            for old in gone.iter().filter_map(|index| self.segments.get(*index)) {
                update.note_errors(old);
            }
            for old in replaced.iter().filter_map(|index| self.segments.get(*index)) {
                let index = find_indexes(&segments, std::iter::once(old.id.as_str()));
                index.into_iter().for_each(|index| update.remove(index, old));
            }
            for index in find_indexes(&segments, changed.keys().map(String::as_str)) {
                update.insert(index);
            }
            (Arc::clone(&self.renames), update.finish())
        };
        let mut joined = Self {
            segments,
            renames,
            named,
            groups: self.groups.iter().filter_map(|group| shift.apply_to_group(group)).collect(),
            group_ids: self.group_ids.clone(),
            threshold: self.threshold,
        };
        fresh.into_iter().for_each(|index| joined.join_group(index));
        joined
    }

    /// Adds a segment to the group that gains most by it.
    fn join_group(&mut self, index: usize) {
        let Some(best) = self.nearest_group(index) else { return };
        let (Some(group), Some(segment)) = (self.groups.get_mut(best), self.segments.get(index))
        else {
            return;
        };
        let at = group.segments.partition_point(|other| *other < index);
        group.segments.insert(at, index);
        let members = self.group_ids.groups.entry(group.id.clone()).or_default();
        members.insert(segment.id.as_str().to_owned());
    }

    /// The group that gains most by a segment, as when groups are found.
    fn nearest_group(&self, index: usize) -> Option<usize> {
        let weights = GraphWeights::default();
        let names = segment_names(self.segments.get(index)?, &self.renames);
        // Two messages of one error are one topic.
        let keys: BTreeSet<(TopicKind, String)> =
            names.into_iter().map(|(kind, name)| (kind, named_key(kind, &name))).collect();
        let own = keys.iter().filter_map(|(kind, key)| {
            self.named.get(find_by_key(&self.named, *kind, key).ok()?).map(Arc::as_ref)
        });
        let edges = edges_of(index, &self.segments, own, self.threshold, &weights);
        let mut best: Option<(i64, usize)> = None;
        for (at, group) in self.groups.iter().enumerate() {
            let inside =
                edges.iter().filter(|(other, _)| group.segments.binary_search(other).is_ok());
            let weight: i64 = inside.map(|(_, weight)| weight).sum();
            let size = i64::try_from(group.segments.len()).unwrap_or(i64::MAX);
            let gain = weight - weights.resolution.saturating_mul(size);
            if gain > 0 && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// All segments, sorted by id.
    pub fn segments(&self) -> &[Arc<SegmentRecord>] {
        &self.segments
    }

    fn find_index(&self, id: &str) -> Option<usize> {
        self.segments.binary_search_by(|one| one.id.as_str().cmp(id)).ok()
    }

    /// Whether a segment renames a file, or changes one whose renames depend on its changes.
    fn concerns_renames(&self, segment: &SegmentRecord) -> bool {
        let is_end = |turn: &TurnRecord| {
            !turn.moves.is_empty()
                || turn.changed_files().any(|file| self.renames.is_end(&file.path))
        };
        segment.turns.iter().any(is_end)
    }
}

/// Where the segments of a map are after some were dropped and some were inserted.
struct IndexShift<'a> {
    /// Indexes that are gone.
    gone: &'a BTreeSet<usize>,
    /// New indexes of inserted segments, ascending.
    inserted: &'a [usize],
    /// The first index that changes.
    first: usize,
}

impl<'a> IndexShift<'a> {
    fn new(gone: &'a BTreeSet<usize>, inserted: &'a [usize]) -> Self {
        let first = gone.first().copied().unwrap_or(usize::MAX);
        Self { gone, inserted, first: first.min(inserted.first().copied().unwrap_or(usize::MAX)) }
    }

    /// The new index; `None` if the segment is gone.
    fn apply(&self, index: usize) -> Option<usize> {
        if index < self.first {
            return Some(index);
        }
        if self.gone.contains(&index) {
            return None;
        }
        let mut moved = index - self.gone.range(..index).count();
        for inserted in self.inserted {
            moved += usize::from(*inserted <= moved);
        }
        Some(moved)
    }

    fn apply_to_all(&self, indexes: &[usize]) -> Vec<usize> {
        indexes.iter().filter_map(|index| self.apply(*index)).collect()
    }

    fn is_unchanged(&self, indexes: &[usize]) -> bool {
        indexes.last().is_none_or(|last| *last < self.first)
    }

    fn apply_to_named(&self, named: &[Arc<NamedTopic>]) -> Vec<Arc<NamedTopic>> {
        let moved = named.iter().map(|topic| match self.is_unchanged(&topic.segments) {
            true => Arc::clone(topic),
            false => {
                let segments = self.apply_to_all(&topic.segments);
                let (key, name) = (topic.key.clone(), topic.name.clone());
                Arc::new(NamedTopic { kind: topic.kind, key, name, segments })
            }
        });
        moved.collect()
    }

    fn apply_to_group(&self, group: &Group) -> Option<Group> {
        let segments = self.apply_to_all(&group.segments);
        let first = segments.first().copied()?;
        let central = self.apply(group.central).unwrap_or(first);
        Some(Group { id: group.id.clone(), terms: group.terms.clone(), segments, central })
    }
}

/// Named topics while segments are replaced and added.
struct NamedUpdate<'a> {
    named: Vec<Arc<NamedTopic>>,
    segments: &'a [Arc<SegmentRecord>],
    renames: &'a Renames,
    /// Keys of errors whose segments changed.
    errors: BTreeSet<String>,
}

impl NamedUpdate<'_> {
    fn note_errors(&mut self, segment: &SegmentRecord) {
        let errors = segment.turns.iter().flat_map(|turn| &turn.errors);
        self.errors.extend(errors.map(|error| error_signature(&error.text)));
    }

    /// Removes a segment from the topics that it had before.
    fn remove(&mut self, index: usize, before: &SegmentRecord) {
        self.note_errors(before);
        for (kind, name) in segment_names(before, self.renames) {
            let found = find_by_key(&self.named, kind, &named_key(kind, &name));
            let topic = found.ok().and_then(|at| self.named.get_mut(at));
            if let Some(topic) = topic
                && let Ok(at) = topic.segments.binary_search(&index)
            {
                Arc::make_mut(topic).segments.remove(at);
            }
        }
    }

    /// Adds a segment to its topics.
    fn insert(&mut self, index: usize) {
        let Some(segment) = self.segments.get(index) else { return };
        self.note_errors(segment);
        for (kind, name) in segment_names(segment, self.renames) {
            let key = named_key(kind, &name);
            match find_by_key(&self.named, kind, &key) {
                Ok(at) => {
                    let Some(topic) = self.named.get_mut(at) else { continue };
                    if let Err(at) = topic.segments.binary_search(&index) {
                        Arc::make_mut(topic).segments.insert(at, index);
                    }
                }
                Err(at) => {
                    let mut topic = NamedTopic { kind, key, name, segments: vec![index] };
                    if kind == TopicKind::File {
                        add_lineage(&mut topic, self.segments, self.renames);
                    }
                    self.named.insert(at, Arc::new(topic));
                }
            }
        }
    }

    /// Drops topics without segments, and names errors by the first segment that met them.
    fn finish(mut self) -> Vec<Arc<NamedTopic>> {
        self.named.retain(|topic| !topic.segments.is_empty());
        for key in &self.errors {
            let found = find_by_key(&self.named, TopicKind::Error, key);
            let Some(topic) = found.ok().and_then(|at| self.named.get_mut(at)) else { continue };
            let first = topic.segments.first().and_then(|index| self.segments.get(*index));
            let turns = first.into_iter().flat_map(|segment| &segment.turns);
            let names = turns.flat_map(|turn| &turn.errors).map(|error| &error.text);
            let name = names.filter(|name| error_signature(name) == *key).min();
            if let Some(name) = name.filter(|name| **name != topic.name) {
                Arc::make_mut(topic).name.clone_from(name);
            }
        }
        self.named
    }
}
