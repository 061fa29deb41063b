//! The topics of projects in use, and when their segments are clustered again.
//!
//! A clustering takes time that grows with the number of segments, so it runs in the background, and
//! for many segments only after enough of them changed or some time has passed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tome_model::Millis;
use tome_topics::TopicMap;

use super::record_log::LogPosition;

/// Projects kept in memory; the longest unused is dropped first.
const PROJECTS_MAX: usize = 4;
/// Up to this many segments take a few hundredths of a second: they are clustered after each change.
const SMALL_MAX: usize = 2_000;
/// Beyond that, one changed segment in this many is enough.
const CHANGED_SHARE: usize = 100;
/// Time after which even a single change is enough.
const CLUSTER_AFTER_MS: u64 = 10 * 60 * 1_000;

/// The state of the segments that a map shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TopicsVersion {
    pub(super) lines: u64,
    pub(super) newest_open: Millis,
}

/// When segments were clustered, and how many lines the log had.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clustering {
    pub(super) lines: u64,
    pub(super) at: Millis,
}

/// The topics of a project.
#[derive(Debug, Clone)]
pub(super) struct CachedTopics {
    store: PathBuf,
    project: String,
    /// The topics that later changes are added to, and the position in the log that they reflect.
    pub(super) base: Arc<TopicMap>,
    pub(super) position: LogPosition,
    /// The last clustering; `None` if the groups are those of an earlier process.
    clustered: Option<Clustering>,
    current: (TopicsVersion, Arc<TopicMap>),
}

impl CachedTopics {
    pub(super) fn new(
        store: &Path,
        project: &str,
        position: LogPosition,
        base: Arc<TopicMap>,
        version: TopicsVersion,
        clustered: Option<Clustering>,
    ) -> Self {
        let current = (version, Arc::clone(&base));
        let (store, project) = (store.to_owned(), project.to_owned());
        Self { store, project, base, position, clustered, current }
    }

    /// The topics, if they show this state.
    pub(super) fn current(&self, version: TopicsVersion) -> Option<Arc<TopicMap>> {
        (self.current.0 == version).then(|| Arc::clone(&self.current.1))
    }

    /// The topics that were requested last.
    pub(super) fn latest(&self) -> Arc<TopicMap> {
        Arc::clone(&self.current.1)
    }

    fn is_due(&self, lines: u64, now: Millis) -> bool {
        let Some(last) = self.clustered else { return true };
        let changed = usize::try_from(lines.abs_diff(last.lines)).unwrap_or(usize::MAX);
        let segments = self.base.segments().len();
        let is_old = now > last.at && last.at.distance_ms(now) >= CLUSTER_AFTER_MS;
        changed > 0
            && (segments <= SMALL_MAX
                || is_old
                || changed.saturating_mul(CHANGED_SHARE) >= segments)
    }
}

/// The topics in memory, the longest unused first.
#[derive(Debug, Default)]
pub(super) struct TopicCache {
    entries: Vec<CachedTopics>,
}

impl TopicCache {
    pub(super) fn find(&mut self, store: &Path, project: &str) -> Option<CachedTopics> {
        let at = self.find_index(store, project)?;
        let entry = self.entries.remove(at);
        self.entries.push(entry.clone());
        Some(entry)
    }

    pub(super) fn insert(&mut self, entry: CachedTopics) {
        self.entries.retain(|one| (&one.store, &one.project) != (&entry.store, &entry.project));
        self.entries.push(entry);
        self.entries.drain(..self.entries.len().saturating_sub(PROJECTS_MAX));
    }

    pub(super) fn set_current(
        &mut self,
        store: &Path,
        project: &str,
        version: TopicsVersion,
        map: Arc<TopicMap>,
    ) {
        if let Some(entry) = self.entry(store, project) {
            entry.current = (version, map);
        }
    }

    /// Replaces the topics by those of a clustering.
    pub(super) fn set_base(
        &mut self,
        store: &Path,
        project: &str,
        position: LogPosition,
        map: Arc<TopicMap>,
        clustered: Option<Clustering>,
    ) {
        if let Some(entry) = self.entry(store, project) {
            entry.current = (entry.current.0, Arc::clone(&map));
            (entry.base, entry.position, entry.clustered) = (map, position, clustered);
        }
    }

    /// Projects of a store whose segments are due for clustering.
    pub(super) fn projects_due(&self, store: &Path, lines: u64, now: Millis) -> Vec<String> {
        let due = self.entries.iter().filter(|one| one.store == store && one.is_due(lines, now));
        due.map(|one| one.project.clone()).collect()
    }

    /// Makes the projects of a store due for clustering.
    pub(super) fn require_clustering(&mut self, store: &Path) {
        let of_store = self.entries.iter_mut().filter(|one| one.store == store);
        of_store.for_each(|one| one.clustered = None);
    }

    pub(super) fn retain(&mut self, is_open: impl Fn(&Path) -> bool) {
        self.entries.retain(|one| is_open(&one.store));
    }

    fn find_index(&self, store: &Path, project: &str) -> Option<usize> {
        self.entries.iter().position(|one| one.store == store && one.project == project)
    }

    fn entry(&mut self, store: &Path, project: &str) -> Option<&mut CachedTopics> {
        let at = self.find_index(store, project)?;
        self.entries.get_mut(at)
    }
}
