//! The way back: events of one store or of all, in the order in which they happened.
//!
//! At the same moment the stores come one after the other, sorted by name, each in the order of
//! arrival. So the place of one event says of every store what is still to come, and a page can
//! go on exactly where the last one ended:
//!
//! ```text
//! continuation  at_ms ":" seq ":" store
//! ```
//!
//! Many stores are read in waves, a few at a time, so that they need not all be open at once. What
//! a wave finds is merged with what was found before; where that is enough for a page, the next
//! waves read only up to its end.
//!
//! A store that cannot be read does not keep those of other projects from being read: it is left
//! out and named in the answer. Who asks for its project alone is told what is wrong, and so is
//! everybody when not one store can be read.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use serde_json::Value;
use tome_ledger::{Direction, EventRange, LedgerError, Mark, Position};
use tome_model::{Agent, Event, EventId, EventKind, Millis, ModelError, SessionId};

use crate::{HomeError, Store, Stores};

/// Which events to read.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// The first moment.
    pub from: Option<Millis>,
    /// The first moment that is too late.
    pub to: Option<Millis>,
    /// Only this session.
    pub session: Option<SessionId>,
    /// Only this project.
    pub project: Option<String>,
    /// Only these agents; all when empty.
    pub agents: Vec<Agent>,
    /// Only these kinds; all when empty.
    pub kinds: Vec<EventKind>,
    /// The latest first.
    pub newest_first: bool,
    /// Go on where an earlier answer ended: its `more_after`.
    pub after: Option<String>,
    /// The most events to return.
    pub events_max: usize,
    /// The most bytes of text to return (one event is returned, however large).
    pub bytes_max: usize,
}

/// Events in order, and where to go on.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The events.
    pub events: Vec<Event>,
    /// Where to go on, if there may be more. Good for ever, since events never change.
    pub more_after: Option<String>,
    /// Stores that could not be read, and why.
    pub skipped: Vec<String>,
}

/// Events looked at for one answer: a filter that nothing passes must not hold the daemon for ever.
const LOOKED_AT_MAX: usize = 100_000;

/// The least that each wave may look at.
const LOOKED_AT_MIN: usize = 1_000;

/// Stores read at a time.
const WAVE_STORES: usize = 8;

/// The shortest beginning of an id that is looked up.
const PREFIX_BYTES_MIN: usize = 4;

/// Ids with the same beginning that are looked for in one store.
const LIKE_MAX: usize = 4;

impl Stores {
    /// Reads events. Several stores are merged by time.
    pub fn read(&self, question: &Question) -> Result<Answer, HomeError> {
        let end = question.after.as_deref().map(PageEnd::parse).transpose()?;
        let mut paths = self.asked(question.project.as_deref());
        paths.sort_by_cached_key(|path| name(path));
        let waves = paths.chunks(WAVE_STORES);
        let _few_at_a_time =
            (waves.len() > 1).then(|| self.wide.lock().unwrap_or_else(PoisonError::into_inner));
        let looked_at_max = (LOOKED_AT_MAX / waves.len().max(1)).max(LOOKED_AT_MIN);
        let mut page = Page::default();
        for (n, wave) in waves.enumerate() {
            let stores = self.open_wave(question, n * WAVE_STORES, wave, &mut page)?;
            page.read(&stores, question, end.as_ref(), looked_at_max)?;
            page.note_damage(&stores);
        }
        // Nothing at all could be read: that is no answer.
        if page.opened == 0
            && let Some(error) = page.failed
        {
            return Err(error);
        }
        let more_after = page.stop.filter(|_| page.has_more).and_then(|place| {
            let store = name(paths.get(place.which)?);
            Some(PageEnd { mark: Mark { at: place.at, seq: place.seq }, store }.to_string())
        });
        let mut events: Vec<Event> = page.found.into_values().collect();
        if question.newest_first {
            events.reverse();
        }
        Ok(Answer { events, more_after, skipped: page.skipped })
    }

    /// Opens a few stores, the first of which is the `first`th of all. Those that cannot be opened
    /// are skipped, unless one project was asked for.
    fn open_wave(
        &self,
        question: &Question,
        first: usize,
        paths: &[PathBuf],
        page: &mut Page,
    ) -> Result<Vec<(usize, Store)>, HomeError> {
        let mut stores = Vec::with_capacity(paths.len());
        for (which, path) in (first..).zip(paths) {
            match self.open(path) {
                Ok(store) => stores.push((which, store)),
                Err(error) if question.project.is_some() => return Err(error),
                Err(error) => {
                    page.skipped.push(unreadable(path, &error));
                    page.failed.get_or_insert(error);
                }
            }
        }
        page.opened += stores.len();
        Ok(stores)
    }

    /// One event by its id or by the beginning of its id. One store at a time, those written to
    /// last first.
    pub fn find(&self, id: &str, project: Option<&str>) -> Result<Event, HomeError> {
        let parsed = EventId::parse(id)?;
        let (mut like, mut skipped) = (BTreeMap::new(), Vec::new());
        for path in self.asked(project) {
            match self.look_in(&path, &parsed, &mut like) {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(error) if project.is_some() => return Err(error),
                Err(error) => skipped.push(unreadable(&path, &error)),
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
        let but = skipped.iter().map(|store| format!("; not looked at: {store}"));
        Err(HomeError::NotFound(format!("there is no event {id}{}", but.collect::<String>())))
    }

    /// The event of this id in a store; or else the ids that begin with it are added, with where
    /// they were seen first.
    fn look_in(
        &self,
        path: &Path,
        id: &EventId,
        like: &mut BTreeMap<EventId, PathBuf>,
    ) -> Result<Option<Event>, HomeError> {
        let store = self.open(path)?;
        let event = store.event(id)?;
        if event.is_none() && id.as_str().len() >= PREFIX_BYTES_MIN {
            for id in store.ids_with_prefix(id.as_str(), LIKE_MAX)? {
                like.entry(id).or_insert_with(|| path.to_path_buf());
            }
        }
        Ok(event)
    }

    fn asked(&self, project: Option<&str>) -> Vec<PathBuf> {
        match project {
            Some(root) => self.existing(root).into_iter().collect(),
            None => self.paths(),
        }
    }
}
/// The place of an event among those of all stores: `which` store, sorted by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    at: Millis,
    which: usize,
    seq: u64,
}

/// A page in the making.
#[derive(Default)]
struct Page {
    found: BTreeMap<Place, Event>,
    /// Where the page ends: up to there everything wanted was found, behind it nothing was looked for.
    stop: Option<Place>,
    /// Whether anything is behind it.
    has_more: bool,
    skipped: Vec<String>,
    /// Why the first of those that could not be opened could not.
    failed: Option<HomeError>,
    opened: usize,
}

/// The stores of a wave, being read: the next event of each.
struct Heads<'a, I> {
    streams: Vec<(&'a (usize, Store), I)>,
    next: BTreeMap<Place, (usize, Event)>,
}

impl<I: Iterator<Item = Result<(Position, Event), LedgerError>>> Heads<'_, I> {
    /// Reads the next event of one of the stores.
    fn pull(&mut self, n: usize) -> Result<(), (PathBuf, HomeError)> {
        let Some(((which, store), stream)) = self.streams.get_mut(n) else {
            return Ok(());
        };
        let Some(next) = stream.next() else {
            return Ok(());
        };
        let (position, event) = next.map_err(|error| (store.path().to_path_buf(), error.into()))?;
        let place = Place { at: position.at, which: *which, seq: position.seq };
        self.next.insert(place, (n, event));
        Ok(())
    }
}

impl Page {
    /// Reads stores up to where the page ends, and merges what is found into the page.
    fn read(
        &mut self,
        stores: &[(usize, Store)],
        question: &Question,
        end: Option<&PageEnd>,
        looked_at_max: usize,
    ) -> Result<(), HomeError> {
        let range = |store: &Store| question.range(end, &name(store.path()));
        let streams =
            stores.iter().map(|store| (store, store.1.events(&range(&store.1)))).collect();
        let mut heads = Heads { streams, next: BTreeMap::new() };
        for n in 0..stores.len() {
            self.note(heads.pull(n), question)?;
        }
        let (mut looked_at, mut events, mut bytes) = (0, 0, 0);
        loop {
            let next =
                if question.newest_first { heads.next.pop_last() } else { heads.next.pop_first() };
            let Some((place, (n, event))) = next else {
                break;
            };
            if self.stop.is_some_and(|stop| question.is_behind(place, stop)) {
                self.has_more = true;
                break;
            }
            self.note(heads.pull(n), question)?;
            looked_at += 1;
            if question.wants(&event) {
                events += 1;
                bytes += weight(&event);
                self.found.insert(place, event);
            }
            if question.is_full(events, bytes) || looked_at >= looked_at_max {
                self.has_more |= !heads.next.is_empty();
                self.end_at(place, question);
                break;
            }
        }
        self.end_when_full(question);
        Ok(())
    }

    /// A store that fails while it is read ends there, unless it is the only one asked for.
    fn note(
        &mut self,
        pulled: Result<(), (PathBuf, HomeError)>,
        question: &Question,
    ) -> Result<(), HomeError> {
        match pulled {
            Err((_, error)) if question.project.is_some() => return Err(error),
            Err((path, error)) => self.skipped.push(unreadable(&path, &error)),
            Ok(()) => {}
        }
        Ok(())
    }

    /// Says of which stores something could not be read because it is damaged.
    fn note_damage(&mut self, stores: &[(usize, Store)]) {
        for (_, store) in stores {
            if let Some(first) = store.damage().first() {
                let path = store.path().display();
                self.skipped.push(format!(
                    "{path} is damaged, events may be missing here ({first}): run `tome admin repair`"
                ));
            }
        }
    }

    /// Ends the page where it holds enough.
    fn end_when_full(&mut self, question: &Question) {
        let (mut events, mut bytes) = (0, 0);
        let mut is_full = |event: &Event| {
            events += 1;
            bytes += weight(event);
            question.is_full(events, bytes)
        };
        let mut found = self.found.iter();
        let last = if question.newest_first {
            found.rfind(|(_, event)| is_full(event))
        } else {
            found.find(|(_, event)| is_full(event))
        };
        if let Some(last) = last.map(|(place, _)| *place) {
            self.end_at(last, question);
        }
    }

    fn end_at(&mut self, stop: Place, question: &Question) {
        let before = self.found.len();
        self.found.retain(|place, _| !question.is_behind(*place, stop));
        self.has_more |= self.found.len() < before;
        self.stop = Some(stop);
    }
}

impl Question {
    /// Whether a place comes after another in the order asked for.
    fn is_behind(&self, place: Place, other: Place) -> bool {
        if self.newest_first { place < other } else { place > other }
    }

    fn is_full(&self, events: usize, bytes: usize) -> bool {
        events >= self.events_max || bytes >= self.bytes_max
    }

    /// What to read from the store of this name.
    fn range(&self, end: Option<&PageEnd>, store: &str) -> EventRange {
        EventRange {
            from: self.from,
            to: self.to,
            session: self.session.clone(),
            after: end.map(|end| end.seen_of(store)),
            direction: if self.newest_first { Direction::Backward } else { Direction::Forward },
        }
    }

    fn wants(&self, event: &Event) -> bool {
        (self.agents.is_empty() || self.agents.contains(&event.agent))
            && (self.kinds.is_empty() || self.kinds.contains(&event.kind))
            && self.project.as_ref().is_none_or(|root| *root == event.project)
    }
}

/// Where a page ended: the last event that was looked at.
#[derive(Debug, PartialEq, Eq)]
struct PageEnd {
    mark: Mark,
    store: String,
}

impl PageEnd {
    fn parse(text: &str) -> Result<Self, ModelError> {
        let mut parts = text.splitn(3, ':');
        let mut part = || parts.next();
        let parsed = (|| {
            let at = Millis(part()?.parse().ok()?);
            let seq = part()?.parse().ok()?;
            let store = part()?.to_owned();
            let mark = Mark { at, seq };
            Some(Self { mark, store })
        })();
        parsed
            .filter(|end| end.to_string() == text && !end.store.is_empty())
            .ok_or_else(|| ModelError::invalid("continuation", "was not made by GetEvents"))
    }

    /// How far the store of this name has been read, in either direction. Stores before that of
    /// the page's last event are read up to the end of its moment, those behind up to its
    /// beginning; numbers begin with 1.
    fn seen_of(&self, store: &str) -> Mark {
        let seq = match store.cmp(&self.store) {
            Ordering::Less => u64::MAX,
            Ordering::Equal => self.mark.seq,
            Ordering::Greater => 0,
        };
        Mark { seq, ..self.mark }
    }
}

impl std::fmt::Display for PageEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.mark.at.0, self.mark.seq, self.store)
    }
}

/// The name of a store: that of the folder its ledger is in.
fn name(ledger: &Path) -> String {
    let folder = ledger.parent().and_then(Path::file_name);
    folder.map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// What is said of a store that was left out. The path comes first, unless the reason names it.
fn unreadable(path: &Path, error: &HomeError) -> String {
    let (path, why) = (path.display().to_string(), error.explained());
    if why.contains(&path) { why } else { format!("{path}: {why}") }
}

/// What an event weighs on a page, about.
fn weight(event: &Event) -> usize {
    let tool =
        event.tool.as_ref().map_or(0, |tool| json_weight(&tool.input) + json_weight(&tool.output));
    event.text.len() + tool + 256
}

fn json_weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(json_weight).sum::<usize>() + 2,
        Value::Object(map) => {
            map.iter().map(|(name, item)| name.len() + 4 + json_weight(item)).sum::<usize>() + 2
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}
