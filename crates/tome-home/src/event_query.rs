//! Queries events of one store or of all, ordered by the time they happened.
//!
//! Events of the same millisecond are ordered by store name, then by arrival. The position of one
//! event therefore determines the position in every store, and a page continues exactly where the
//! last one ended:
//!
//! ```text
//! continuation  at_ms ":" seq ":" store
//! ```
//!
//! Many stores are read in waves of a few, so that they need not all be open at once. Each wave is
//! merged into the page; once the page is full, later waves read only up to its end.
//!
//! An unreadable store is skipped and reported with the page. The query fails if it names that
//! store's project, or if no store at all can be read.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tome_ledger::{EventPosition, EventRange, LedgerError, OrderKey, ScanDirection};
use tome_model::{Agent, Event, EventId, EventKind, InvalidInput, Millis, SessionId};

use crate::{HomeError, Store, Stores};

/// Selects events.
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    /// Start of the time range, inclusive.
    pub from: Option<Millis>,
    /// End of the time range, exclusive.
    pub to: Option<Millis>,
    /// Only this session.
    pub session: Option<SessionId>,
    /// Only this project.
    pub project: Option<String>,
    /// Only these agents; all when empty.
    pub agents: Vec<Agent>,
    /// Only these kinds; all when empty.
    pub kinds: Vec<EventKind>,
    /// Reverse the order.
    pub newest_first: bool,
    /// Continue after an earlier page: its `more_after`.
    pub after: Option<String>,
    /// Limit of events to return.
    pub events_max: usize,
    /// Limit of text bytes to return; at least one event is returned, however large.
    pub bytes_max: usize,
}

/// A page of events, and where it continues.
#[derive(Debug, Clone, Default)]
pub struct EventPage {
    /// The events, in order.
    pub events: Vec<Event>,
    /// The numbers of the events in their stores, in the same order.
    pub numbers: Vec<u64>,
    /// Continuation if there may be more. Never expires, since events never change.
    pub more_after: Option<String>,
    /// Stores that could not be read, with the reason.
    pub skipped: Vec<String>,
}

/// Limit of events scanned per query: a filter that matches nothing must not block the daemon.
const SCANNED_EVENTS_MAX: usize = 100_000;

/// Lower bound of that limit per wave.
const SCANNED_EVENTS_MIN: usize = 1_000;

const WAVE_STORES: usize = 8;

/// The shortest id prefix that is looked up.
const PREFIX_BYTES_MIN: usize = 4;

/// Limit of ids with the same prefix, per store.
const PREFIX_MATCHES_MAX: usize = 4;

impl Stores {
    /// Queries events; merges several stores by time.
    pub fn query_events(&self, query: &EventQuery) -> Result<EventPage, HomeError> {
        let end = query.after.as_deref().map(PageEnd::parse).transpose()?;
        let mut paths = self.paths_to_search(query.project.as_deref());
        paths.sort_by_cached_key(|path| store_name(path));
        let waves = paths.chunks(WAVE_STORES);
        let _wide_scan = (waves.len() > 1).then(|| self.lock_wide_scan());
        let scanned_max = (SCANNED_EVENTS_MAX / waves.len().max(1)).max(SCANNED_EVENTS_MIN);
        let mut page = PageBuilder::default();
        for (n, wave) in waves.enumerate() {
            let stores = self.open_wave(query, n * WAVE_STORES, wave, &mut page)?;
            page.read_stores(&stores, query, end.as_ref(), scanned_max)?;
            page.report_damage(&stores);
        }
        // Not one store could be read.
        if page.opened == 0
            && let Some(error) = page.failed
        {
            return Err(error);
        }
        let more_after = page.stop.filter(|_| page.has_more).and_then(|position| {
            let store = store_name(paths.get(position.which)?);
            Some(
                PageEnd { key: OrderKey { at: position.at, seq: position.seq }, store }.to_string(),
            )
        });
        let mut found: Vec<(u64, Event)> =
            page.found.into_iter().map(|(position, event)| (position.seq, event)).collect();
        if query.newest_first {
            found.reverse();
        }
        let (numbers, events) = found.into_iter().unzip();
        Ok(EventPage { events, numbers, more_after, skipped: page.skipped })
    }

    /// Opens a wave of stores; `first` is the index of the first one. Stores that fail to open are
    /// skipped, unless the query names a project.
    fn open_wave(
        &self,
        query: &EventQuery,
        first: usize,
        paths: &[PathBuf],
        page: &mut PageBuilder,
    ) -> Result<Vec<(usize, Store)>, HomeError> {
        let mut stores = Vec::with_capacity(paths.len());
        for (which, path) in (first..).zip(paths) {
            match self.open(path) {
                Ok(store) => stores.push((which, store)),
                Err(error) if query.project.is_some() => return Err(error),
                Err(error) => {
                    page.skipped.push(describe_unreadable(path, &error));
                    page.failed.get_or_insert(error);
                }
            }
        }
        page.opened += stores.len();
        Ok(stores)
    }

    /// Finds an event by its id or an id prefix. Searches store by store, the last written first.
    pub fn find_event(&self, id: &str, project: Option<&str>) -> Result<Event, HomeError> {
        let parsed = EventId::parse(id)?;
        let (mut like, mut skipped) = (BTreeMap::new(), Vec::new());
        for path in self.paths_to_search(project) {
            match self.find_in_store(&path, &parsed, &mut like) {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(error) if project.is_some() => return Err(error),
                Err(error) => skipped.push(describe_unreadable(&path, &error)),
            }
        }
        if like.len() > 1 {
            let some = like.keys().map(ToString::to_string).collect();
            return Err(HomeError::Ambiguous { prefix: id.to_owned(), some });
        }
        if let Some((only, path)) = like.pop_first()
            && let Some(event) = self.open(&path)?.event(&only)?
        {
            return Ok(event);
        }
        let but = skipped.iter().map(|store| format!("; not searched: {store}"));
        Err(HomeError::NotFound(format!("no event {id}{}", but.collect::<String>())))
    }

    /// Finds an event in one store. If there is none, adds the ids with this prefix to `like`.
    fn find_in_store(
        &self,
        path: &Path,
        id: &EventId,
        like: &mut BTreeMap<EventId, PathBuf>,
    ) -> Result<Option<Event>, HomeError> {
        let store = self.open(path)?;
        let event = store.event(id)?;
        if event.is_none() && id.as_str().len() >= PREFIX_BYTES_MIN {
            for id in store.ids_with_prefix(id.as_str(), PREFIX_MATCHES_MAX)? {
                like.entry(id).or_insert_with(|| path.to_path_buf());
            }
        }
        Ok(event)
    }

    fn paths_to_search(&self, project: Option<&str>) -> Vec<PathBuf> {
        match project {
            Some(root) => self.find_store_path(root).into_iter().collect(),
            None => self.list_paths(),
        }
    }
}
/// The position of an event in the merged order; `which` is the store's index, sorted by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MergePosition {
    at: Millis,
    which: usize,
    seq: u64,
}

#[derive(Default)]
struct PageBuilder {
    found: BTreeMap<MergePosition, Event>,
    /// End of the page: everything up to it has been read, nothing behind it.
    stop: Option<MergePosition>,
    /// Whether there are events behind the end.
    has_more: bool,
    skipped: Vec<String>,
    /// The first error of opening a store.
    failed: Option<HomeError>,
    opened: usize,
}

/// The streams of a wave's stores, with the next event of each.
struct StoreStreams<'a, I> {
    streams: Vec<(&'a (usize, Store), I)>,
    next: BTreeMap<MergePosition, (usize, Event)>,
}

impl<I: Iterator<Item = Result<(EventPosition, Event), LedgerError>>> StoreStreams<'_, I> {
    fn advance(&mut self, n: usize) -> Result<(), (PathBuf, HomeError)> {
        let Some(((which, store), stream)) = self.streams.get_mut(n) else {
            return Ok(());
        };
        let Some(next) = stream.next() else {
            return Ok(());
        };
        let (position, event) = next.map_err(|error| (store.path().to_path_buf(), error.into()))?;
        let merge_position = MergePosition { at: position.at, which: *which, seq: position.seq };
        self.next.insert(merge_position, (n, event));
        Ok(())
    }
}

impl PageBuilder {
    /// Reads stores up to the end of the page and merges their events into it.
    fn read_stores(
        &mut self,
        stores: &[(usize, Store)],
        query: &EventQuery,
        end: Option<&PageEnd>,
        scanned_max: usize,
    ) -> Result<(), HomeError> {
        let range = |store: &Store| query.range_for_store(end, &store_name(store.path()));
        let streams =
            stores.iter().map(|store| (store, store.1.events(&range(&store.1)))).collect();
        let mut heads = StoreStreams { streams, next: BTreeMap::new() };
        for n in 0..stores.len() {
            self.record_read_error(heads.advance(n), query)?;
        }
        let (mut scanned, mut events, mut bytes) = (0, 0, 0);
        loop {
            let next =
                if query.newest_first { heads.next.pop_last() } else { heads.next.pop_first() };
            let Some((position, (n, event))) = next else {
                break;
            };
            if self.stop.is_some_and(|stop| query.is_after(position, stop)) {
                self.has_more = true;
                break;
            }
            self.record_read_error(heads.advance(n), query)?;
            scanned += 1;
            if query.matches_event(&event) {
                events += 1;
                bytes += estimate_bytes(&event);
                self.found.insert(position, event);
            }
            if query.is_full(events, bytes) || scanned >= scanned_max {
                self.has_more |= !heads.next.is_empty();
                self.truncate_at(position, query);
                break;
            }
        }
        self.truncate_when_full(query);
        Ok(())
    }

    /// Records a read error: that store's stream ends, and the query fails if it names a project.
    fn record_read_error(
        &mut self,
        pulled: Result<(), (PathBuf, HomeError)>,
        query: &EventQuery,
    ) -> Result<(), HomeError> {
        match pulled {
            Err((_, error)) if query.project.is_some() => return Err(error),
            Err((path, error)) => self.skipped.push(describe_unreadable(&path, &error)),
            Ok(()) => {}
        }
        Ok(())
    }

    /// Reports stores whose damage may hide events.
    fn report_damage(&mut self, stores: &[(usize, Store)]) {
        for (_, store) in stores {
            if let Some(first) = store.damage().first() {
                let path = store.path().display();
                self.skipped.push(format!(
                    "{path} is damaged, events may be missing here ({first}): run `tome admin repair`"
                ));
            }
        }
    }

    /// Truncates the page once it is full.
    fn truncate_when_full(&mut self, query: &EventQuery) {
        let (mut events, mut bytes) = (0, 0);
        let mut is_full = |event: &Event| {
            events += 1;
            bytes += estimate_bytes(event);
            query.is_full(events, bytes)
        };
        let mut found = self.found.iter();
        let last = if query.newest_first {
            found.rfind(|(_, event)| is_full(event))
        } else {
            found.find(|(_, event)| is_full(event))
        };
        if let Some(last) = last.map(|(position, _)| *position) {
            self.truncate_at(last, query);
        }
    }

    fn truncate_at(&mut self, stop: MergePosition, query: &EventQuery) {
        let before = self.found.len();
        self.found.retain(|position, _| !query.is_after(*position, stop));
        self.has_more |= self.found.len() < before;
        self.stop = Some(stop);
    }
}

impl EventQuery {
    /// Whether `position` comes after `other` in the query's order.
    fn is_after(&self, position: MergePosition, other: MergePosition) -> bool {
        if self.newest_first { position < other } else { position > other }
    }

    fn is_full(&self, events: usize, bytes: usize) -> bool {
        events >= self.events_max || bytes >= self.bytes_max
    }

    /// The range to read from the store of this name.
    fn range_for_store(&self, end: Option<&PageEnd>, store: &str) -> EventRange {
        EventRange {
            from: self.from,
            to: self.to,
            session: self.session.clone(),
            after: end.map(|end| end.key_for_store(store)),
            direction: if self.newest_first {
                ScanDirection::Backward
            } else {
                ScanDirection::Forward
            },
        }
    }

    fn matches_event(&self, event: &Event) -> bool {
        (self.agents.is_empty() || self.agents.contains(&event.agent))
            && (self.kinds.is_empty() || self.kinds.contains(&event.kind))
            && self.project.as_ref().is_none_or(|root| *root == event.project)
    }
}

/// The position of the last event scanned for a page.
#[derive(Debug, PartialEq, Eq)]
struct PageEnd {
    key: OrderKey,
    store: String,
}

impl PageEnd {
    fn parse(text: &str) -> Result<Self, InvalidInput> {
        let mut parts = text.splitn(3, ':');
        let mut part = || parts.next();
        let parsed = (|| {
            let at = Millis(part()?.parse().ok()?);
            let seq = part()?.parse().ok()?;
            let store = part()?.to_owned();
            let key = OrderKey { at, seq };
            Some(Self { key, store })
        })();
        parsed
            .filter(|end| end.to_string() == text && !end.store.is_empty())
            .ok_or_else(|| InvalidInput::invalid("continuation", "was not made by GetEvents"))
    }

    /// Returns how far a store has been read, in either direction. At the page's last millisecond,
    /// stores sorted before that of the last event are read completely and those after it not at
    /// all; sequence numbers start at 1.
    fn key_for_store(&self, store: &str) -> OrderKey {
        let seq = match store.cmp(&self.store) {
            Ordering::Less => u64::MAX,
            Ordering::Equal => self.key.seq,
            Ordering::Greater => 0,
        };
        OrderKey { seq, ..self.key }
    }
}

impl std::fmt::Display for PageEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.key.at.0, self.key.seq, self.store)
    }
}

/// The name of a store: that of the folder around its ledger.
fn store_name(ledger: &Path) -> String {
    let folder = ledger.parent().and_then(Path::file_name);
    folder.map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Describes a skipped store. Prefixes the path unless the error contains it.
pub fn describe_unreadable(path: &Path, error: &HomeError) -> String {
    let (path, why) = (path.display().to_string(), error.explained());
    if why.contains(&path) { why } else { format!("{path}: {why}") }
}

/// Estimates the bytes that an event adds to a page.
fn estimate_bytes(event: &Event) -> usize {
    let tool = event
        .tool
        .as_ref()
        .map_or(0, |tool| estimate_json_bytes(&tool.input) + estimate_json_bytes(&tool.output));
    event.text.len() + tool + 256
}

fn estimate_json_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(estimate_json_bytes).sum::<usize>() + 2,
        Value::Object(map) => {
            map.iter().map(|(name, item)| name.len() + 4 + estimate_json_bytes(item)).sum::<usize>()
                + 2
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}
