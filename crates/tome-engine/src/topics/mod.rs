//! Topics as a projection of a store: follows the changes of the contents, keeps what topics need
//! of each segment in a file, and finds the topics of a project.
//!
//! The file is a log: a line per segment that was read, the last one counts. An open segment is only
//! noted, and read when it is closed or when topics are requested.
//!
//! A request never finds all groups again because of a change: new segments join the nearest group,
//! and the projection clusters all of them in the background (`cache.rs` says when).

mod cache;
mod convert;
mod record_log;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tome_contents::Contents;
use tome_finder::{Embedder, StaticEmbedder};
use tome_home::{HomeError, Projection, ProjectionReport, Store, Stores, layout, write_atomic};
use tome_model::{Clock, Level, Millis, NodeId};
use tome_topics::{GroupIds, SegmentRecord, TopicMap, resolve_repository_path};

use cache::{CachedTopics, Clustering, TopicCache, TopicsVersion};
use convert::{PendingRecord, build_record};
use record_log::{LogLine, LogPosition, RecordLog};

/// The name of the projection.
pub const TOPICS_PROJECTION: &str = "topics";
/// Changed nodes per batch.
const BATCH_MAX: usize = 256;
/// Segments that are read and embedded before they are written.
const WRITE_MAX: usize = 64;
/// Segments whose topics are found while a request for something else waits.
const QUICK_MAX: u64 = 500;
/// New events, and changed pages of the contents, that are read while a request for something else waits.
const QUICK_EVENTS_MAX: u64 = 500;
const QUICK_CHANGES_MAX: usize = 200;
/// New lines whose segments join known groups one by one; more take as long as reading all again.
const JOINED_MAX: u64 = 200;

/// The topics of all stores of a home.
pub struct Topics {
    stores: Arc<Stores>,
    contents: Arc<Contents>,
    embedder: Arc<dyn Embedder>,
    clock: Arc<dyn Clock>,
    logs: Mutex<HashMap<PathBuf, Arc<Mutex<RecordLog>>>>,
    /// The topics of projects in use; dropped with their stores.
    cache: Mutex<TopicCache>,
    /// Held while the file of ids is read and written back.
    names_lock: Mutex<()>,
}

/// The ids of groups by project. Not in the folder of the indexes: ids outlive a rebuild.
#[derive(Debug, Default, Serialize, Deserialize)]
struct NamesFile {
    format: u32,
    projects: BTreeMap<String, GroupIds>,
}

const NAMES_FORMAT: u32 = 1;

impl Topics {
    /// Opens the topics over the contents of stores.
    pub fn new(
        stores: Arc<Stores>,
        contents: Arc<Contents>,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        // Every closed segment is embedded, at once: an endpoint may be slow or unreachable.
        let embedder = if embedder.is_remote() { Arc::new(StaticEmbedder) } else { embedder };
        Self {
            stores,
            contents,
            embedder,
            clock,
            logs: Mutex::default(),
            cache: Mutex::default(),
            names_lock: Mutex::default(),
        }
    }

    /// The topics of a project, up to its latest event.
    pub fn load(&self, project: &str) -> Result<Arc<TopicMap>, HomeError> {
        let Some(path) = self.stores.find_store_path(project) else {
            return Ok(Arc::new(TopicMap::build(Vec::new(), &GroupIds::default())));
        };
        let store = self.stores.open(&path)?;
        self.contents.catch_up(&store, &|| false)?;
        let log = self.log(&store);
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        self.follow(&store, &mut log, &|| false)?;
        let position = log.position();
        let own_open = log.open_segments().filter(|(of, ..)| *of == project);
        let newest_open = own_open.map(|(_, _, last_at)| last_at).max().unwrap_or_default();
        let version = TopicsVersion { lines: position.lines, newest_open };
        let cached = self.lock_cache().find(&path, project);
        if let Some(map) = cached.as_ref().and_then(|cached| cached.current(version)) {
            return Ok(map);
        }
        let open = self.read_open(&store, &log, project)?;
        let cached = cached.filter(|cached| log.is_continued_from(cached.position));
        let cached = cached.filter(|cached| position.lines - cached.position.lines <= JOINED_MAX);
        let mut changes =
            log.read_changes(project, cached.as_ref().map(|cached| cached.position))?;
        drop(log);
        changes.extend(open.into_iter().map(|one| (one.id.as_str().to_owned(), Some(one))));
        let Some(cached) = cached else {
            let records: Vec<SegmentRecord> = changes.into_values().flatten().collect();
            let (map, is_clustered) = self.find_groups(&path, project, records)?;
            let clustered = is_clustered.then(|| self.clustering(position));
            let entry =
                CachedTopics::new(&path, project, position, Arc::clone(&map), version, clustered);
            self.lock_cache().insert(entry);
            return Ok(map);
        };
        let (mut changed, mut dropped) = (Vec::new(), BTreeSet::new());
        for (id, record) in changes {
            match record {
                Some(record) => changed.push(record),
                None => drop(dropped.insert(id)),
            }
        }
        let map = Arc::new(cached.base.join(changed, &dropped));
        self.lock_cache().set_current(&path, project, version, Arc::clone(&map));
        Ok(map)
    }

    /// The topics of a project if they are at hand: in memory, maybe without the latest events, or few
    /// enough to be found at once.
    pub fn load_if_quick(&self, project: &str) -> Result<Option<Arc<TopicMap>>, HomeError> {
        let Some(path) = self.stores.find_store_path(project) else { return Ok(None) };
        if let Some(known) = self.lock_cache().find(&path, project) {
            return Ok(Some(known.latest()));
        }
        let is_quick = self.is_nearly_current(&path, QUICK_MAX)?;
        is_quick.then(|| self.load(project)).transpose()
    }

    /// The same up to the latest event, unless many have just come.
    pub fn load_latest_if_quick(&self, project: &str) -> Result<Option<Arc<TopicMap>>, HomeError> {
        let Some(known) = self.load_if_quick(project)? else { return Ok(None) };
        let path = self.stores.find_store_path(project);
        match path.map(|path| self.is_nearly_current(&path, u64::MAX)).transpose()? {
            Some(true) => Ok(Some(self.load(project)?)),
            _ => Ok(Some(known)),
        }
    }

    /// Whether the topics of a store, of that many segments, can be brought up to date at once: few events and
    /// segments are to be read, and nobody is reading them.
    fn is_nearly_current(&self, path: &Path, segments_max: u64) -> Result<bool, HomeError> {
        let store = self.stores.open(path)?;
        let behind =
            store.last_seq().saturating_sub(store.cursor(tome_contents::CONTENTS_PROJECTION)?);
        let log = self.log(&store);
        let Ok(mut log) = log.try_lock() else { return Ok(false) };
        log.refresh()?;
        let changed = store.changed_nodes(log.cursor(), QUICK_CHANGES_MAX + 1)?.len();
        Ok(behind <= QUICK_EVENTS_MAX
            && changed <= QUICK_CHANGES_MAX
            && log.segments() <= segments_max)
    }

    /// Finds the groups of all segments: those of the last clustering if there was one, else new ones.
    /// Returns whether they are new.
    fn find_groups(
        &self,
        store: &Path,
        project: &str,
        records: Vec<SegmentRecord>,
    ) -> Result<(Arc<TopicMap>, bool), HomeError> {
        let names = load_names(&names_path(store)).projects.remove(project);
        match names.filter(|names| !names.groups.is_empty()) {
            Some(names) => Ok((Arc::new(TopicMap::restore(records, &names)), false)),
            None => {
                let build = |before: &GroupIds| TopicMap::build(records, before);
                Ok((self.cluster(store, project, build)?, true))
            }
        }
    }

    /// Clusters segments and saves the ids of the groups. `build` gets the ids of the last time.
    fn cluster(
        &self,
        store: &Path,
        project: &str,
        build: impl FnOnce(&GroupIds) -> TopicMap,
    ) -> Result<Arc<TopicMap>, HomeError> {
        let names_path = names_path(store);
        let _one_at_a_time = self.names_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names = load_names(&names_path);
        let before = names.projects.remove(project).unwrap_or_default();
        let map = Arc::new(build(&before));
        if *map.group_ids() != before {
            names.projects.insert(project.to_owned(), map.group_ids().clone());
            save_names(&names_path, &names)?;
        }
        Ok(map)
    }

    /// Clusters the projects of a store whose segments changed enough since the last time.
    fn cluster_due(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        let path = store.path().to_owned();
        for project in self.projects_due(store)? {
            if stop() {
                return Ok(());
            }
            // Taken first: a segment that changes meanwhile is read again.
            let log = self.log(store);
            let position = log.lock().unwrap_or_else(PoisonError::into_inner).position();
            let map = self.load(&project)?;
            let map = self.cluster(&path, &project, |before| map.cluster_again(before))?;
            let clustered = Some(self.clustering(position));
            let mut cache = self.lock_cache();
            cache.set_base(&path, &project, position, map, clustered);
        }
        Ok(())
    }

    fn projects_due(&self, store: &Store) -> Result<Vec<String>, HomeError> {
        let log = self.log(store);
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.refresh()?;
        let (lines, now) = (log.position().lines, self.clock.now());
        Ok(self.lock_cache().projects_due(store.path(), lines, now))
    }

    fn clustering(&self, position: LogPosition) -> Clustering {
        Clustering { lines: position.lines, at: self.clock.now() }
    }

    fn lock_cache(&self) -> MutexGuard<'_, TopicCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what is in memory about stores that are no longer open.
    pub fn close_unused(&self) {
        self.logs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|path, _| self.stores.is_open(path));
        self.lock_cache().retain(|store| self.stores.is_open(store));
    }

    fn log(&self, store: &Store) -> Arc<Mutex<RecordLog>> {
        let mut logs = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        let log = logs.entry(store.path().to_owned()).or_insert_with(|| {
            let folder = layout::index_dir(store.path()).join("topics");
            Arc::new(Mutex::new(RecordLog::new(&folder, self.embedder.name())))
        });
        Arc::clone(log)
    }

    /// Reads the segments that changed since the last time.
    fn follow(
        &self,
        store: &Store,
        log: &mut RecordLog,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), HomeError> {
        log.refresh()?;
        let newest = store.last_node_change()?;
        if log.cursor() > newest {
            // The log of changes was lost with the contents.
            log.clear()?;
        }
        if log.cursor() == 0 && newest > 0 {
            return self.read_all(store, log, newest, stop);
        }
        while !stop() {
            let changed = store.changed_nodes(log.cursor(), BATCH_MAX)?;
            let Some(last) = changed.last().map(|change| change.seq) else { break };
            let segments = changed.into_iter().filter(|change| change.id.level() == Level::Segment);
            self.read_segments(store, log, segments.map(|change| (change.project, change.id)))?;
            log.advance(last)?;
        }
        self.close_idle(store, log)?;
        log.compact()
    }

    /// Reads every segment. The cursor is written last: after a crash all are read again.
    fn read_all(
        &self,
        store: &Store,
        log: &mut RecordLog,
        newest: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), HomeError> {
        for project in store.contents_projects()? {
            let mut after: Option<NodeId> = None;
            loop {
                if stop() {
                    return Ok(());
                }
                let heads = store.node_headers(&project, "toc:segment:", after.as_ref());
                let ids: Vec<NodeId> = heads
                    .take(BATCH_MAX)
                    .map(|head| head.map(|head| head.id))
                    .collect::<Result<_, _>>()?;
                let Some(last) = ids.last().cloned() else { break };
                self.read_segments(store, log, ids.into_iter().map(|id| (project.clone(), id)))?;
                after = Some(last);
            }
        }
        log.append(&[LogLine::Cursor(newest)])
    }

    /// Reads segments and writes their records; notes those that are still open.
    fn read_segments(
        &self,
        store: &Store,
        log: &mut RecordLog,
        segments: impl Iterator<Item = (String, NodeId)>,
    ) -> Result<(), HomeError> {
        let mut lines = Vec::new();
        let mut pending: Vec<(String, PendingRecord)> = Vec::new();
        for (project, id) in segments {
            let head = store.node_header(&project, &id)?.filter(|head| !head.removed);
            match head {
                None => lines.push(LogLine::Drop { project, id }),
                Some(head) if head.open && self.is_current(head.last_at) => {
                    let line = LogLine::Open { project, id, last_at: head.last_at };
                    lines.extend(log.note_open(line));
                }
                Some(head) => {
                    let node = store.node(&project, &id, Some(head.base))?;
                    let record =
                        node.map(|node| build_record(store, &project, &node)).transpose()?;
                    match record.flatten() {
                        Some(record) => pending.push((project, record)),
                        None => lines.push(LogLine::Drop { project, id }),
                    }
                }
            }
            if pending.len() >= WRITE_MAX {
                lines.extend(self.embed(std::mem::take(&mut pending)));
                log.append(&std::mem::take(&mut lines))?;
            }
        }
        lines.extend(self.embed(pending));
        log.append(&lines)
    }

    /// Computes the vectors of records. Without a vector, files and branches still link a segment.
    fn embed(&self, pending: Vec<(String, PendingRecord)>) -> Vec<LogLine> {
        let texts: Vec<&str> = pending.iter().map(|(_, one)| one.text.as_str()).collect();
        let vectors = self.embedder.embed(&texts).unwrap_or_default();
        let mut vectors = vectors.into_iter();
        pending
            .into_iter()
            .map(|(project, one)| {
                let vector = vectors.next().unwrap_or_default();
                let vector = tome_topics::quantize(&vector);
                LogLine::Put { project, record: Box::new(SegmentRecord { vector, ..one.record }) }
            })
            .collect()
    }

    /// Reads open segments in which nothing happened for longer than a pause that ends them.
    fn close_idle(&self, store: &Store, log: &mut RecordLog) -> Result<(), HomeError> {
        let idle: Vec<(String, NodeId)> = log
            .open_segments()
            .filter(|(_, _, last_at)| !self.is_current(*last_at))
            .map(|(project, id, _)| (project.to_owned(), id.clone()))
            .collect();
        if idle.is_empty() {
            return Ok(());
        }
        self.read_segments(store, log, idle.into_iter())
    }

    /// The records of segments that are still open.
    fn read_open(
        &self,
        store: &Store,
        log: &RecordLog,
        project: &str,
    ) -> Result<Vec<SegmentRecord>, HomeError> {
        let mut pending = Vec::new();
        for (_, id, _) in log.open_segments().filter(|(of, ..)| *of == project) {
            let Some(node) = store.node(project, id, None)? else { continue };
            pending.extend(
                build_record(store, project, &node)?.map(|record| (project.to_owned(), record)),
            );
        }
        let lines = self.embed(pending).into_iter();
        Ok(lines
            .filter_map(|line| match line {
                LogLine::Put { record, .. } => Some(*record),
                _ => None,
            })
            .collect())
    }

    /// Whether a session may still add to a segment.
    fn is_current(&self, last_at: Millis) -> bool {
        let now = self.clock.now();
        last_at > now || last_at.distance_ms(now) <= self.contents.gap_ms()
    }
}

impl Projection for Topics {
    fn name(&self) -> &'static str {
        TOPICS_PROJECTION
    }

    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        let log = self.log(store);
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.refresh()?;
        let is_behind = log.cursor() != store.last_node_change()?;
        drop(log);
        Ok(is_behind || !self.projects_due(store)?.is_empty())
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        let log = self.log(store);
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        self.follow(store, &mut log, stop)?;
        drop(log);
        self.cluster_due(store, stop)
    }

    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        let log = self.log(store);
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.clear()?;
        self.follow(store, &mut log, &|| false)?;
        drop(log);
        self.lock_cache().require_clustering(store.path());
        self.cluster_due(store, &|| false)
    }

    fn report(&self, store: &Store) -> Result<Vec<ProjectionReport>, HomeError> {
        let log = self.log(store);
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.refresh()?;
        Ok(vec![ProjectionReport {
            name: TOPICS_PROJECTION,
            cursor: log.cursor(),
            behind: if log.cursor() == store.last_node_change()? { 0 } else { 1 },
            entries: Some(log.segments()),
            disk_bytes: log.disk_bytes(),
            ..ProjectionReport::default()
        }])
    }
}

/// The path of a file relative to the project, as a person or an agent wrote it from a folder.
pub fn path_in_project(path: &str, cwd: &str, root: &str) -> String {
    let path = path.trim();
    let path = path.strip_prefix("file:").or_else(|| path.strip_prefix('@')).unwrap_or(path);
    let path = strip_line(path);
    let is_root = path.starts_with('/') && path.trim_end_matches('/') == root.trim_end_matches('/');
    if is_root && path.len() > 1 {
        return ".".to_owned();
    }
    let inside = resolve_repository_path(path, cwd, root);
    inside.unwrap_or_else(|| path.trim_start_matches("./").to_owned())
}

/// A path without the number of a line, and of a column, after it: `src/lexer.rs:12:3`.
fn strip_line(path: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut path = path;
    while let Some((rest, number)) = path.rsplit_once(':')
        && is_number(number)
        && !rest.is_empty()
    {
        path = rest;
    }
    path
}

fn names_path(store: &Path) -> PathBuf {
    store.with_file_name("topics.json")
}

/// Reads the ids; without a readable file, ids are derived from the groups again.
fn load_names(path: &Path) -> NamesFile {
    let bytes = std::fs::read(path).ok();
    let names = bytes.and_then(|bytes| serde_json::from_slice::<NamesFile>(&bytes).ok());
    names
        .filter(|names| names.format == NAMES_FORMAT)
        .unwrap_or(NamesFile { format: NAMES_FORMAT, ..NamesFile::default() })
}

fn save_names(path: &Path, names: &NamesFile) -> Result<(), HomeError> {
    write_atomic(path, &serde_json::to_vec(names).unwrap_or_default())
}
