//! The way back: events of one store or of all, in the order in which they happened.
//!
//! At the same moment the stores come one after the other, sorted by name, each in the order of
//! arrival. So the place of one event says of every store what is still to come, and a page can
//! go on exactly where the last one ended:
//!
//! ```text
//! continuation  at_ms ":" seq ":" store
//! ```

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::Value;
use tome_ledger::{Direction, EventRange, Mark};
use tome_model::{Agent, Event, EventId, EventKind, Millis, ModelError, SessionId};

use crate::{EngineError, Store, Stores};

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
}

/// Events looked at for one answer: a filter that nothing passes must not hold the daemon for ever.
const LOOKED_AT_MAX: usize = 100_000;

/// The shortest beginning of an id that is looked up.
const PREFIX_BYTES_MIN: usize = 4;

impl Stores {
    /// Reads events. Several stores are merged by time.
    pub fn read(&self, question: &Question) -> Result<Answer, EngineError> {
        let end = question.after.as_deref().map(PageEnd::parse).transpose()?;
        let mut stores = self.asked(question.project.as_deref())?;
        stores.sort_by_cached_key(name);
        let mut streams: Vec<_> = stores
            .iter()
            .map(|store| store.events(&question.range(end.as_ref(), &name(store))))
            .collect();
        let mut heads: BTreeMap<(Millis, usize), (Mark, Event)> = BTreeMap::new();
        let mut answer = Answer::default();
        let (mut looked_at, mut bytes) = (0, 0);
        for (which, stream) in streams.iter_mut().enumerate() {
            if let Some(next) = stream.next() {
                let (position, event) = next?;
                heads.insert((position.at, which), (position.mark(), event));
            }
        }
        loop {
            let head = if question.newest_first { heads.pop_last() } else { heads.pop_first() };
            let Some(((_, which), (mark, event))) = head else {
                return Ok(answer);
            };
            if let Some(next) = streams.get_mut(which).and_then(Iterator::next) {
                let (position, event) = next?;
                heads.insert((position.at, which), (position.mark(), event));
            }
            looked_at += 1;
            if question.wants(&event) {
                bytes += weight(&event);
                answer.events.push(event);
            }
            let full = answer.events.len() >= question.events_max || bytes >= question.bytes_max;
            if full || looked_at >= LOOKED_AT_MAX {
                if let Some(store) = stores.get(which).filter(|_| !heads.is_empty()) {
                    let store = name(store);
                    answer.more_after = Some(PageEnd { mark, store }.to_string());
                }
                return Ok(answer);
            }
        }
    }

    /// One event by its id or by the beginning of its id.
    pub fn find(&self, id: &str, project: Option<&str>) -> Result<Event, EngineError> {
        let parsed = EventId::parse(id)?;
        let stores = self.asked(project)?;
        let mut like = Vec::new();
        for store in &stores {
            if let Some(event) = store.event(&parsed)? {
                return Ok(event);
            }
            if id.len() >= PREFIX_BYTES_MIN {
                like.extend(store.ids_with_prefix(id, 4)?.into_iter().map(|id| (store, id)));
            }
        }
        match like.as_slice() {
            [] => Err(EngineError::NotFound(format!("there is no event {id}"))),
            [(store, only)] => store
                .event(only)?
                .ok_or_else(|| EngineError::NotFound(format!("there is no event {only}"))),
            several => Err(EngineError::Ambiguous {
                prefix: id.to_owned(),
                some: several.iter().map(|(_, id)| id.to_string()).collect(),
            }),
        }
    }

    fn asked(&self, project: Option<&str>) -> Result<Vec<Store>, EngineError> {
        match project {
            Some(root) => Ok(self.existing(root)?.into_iter().collect()),
            None => self.paths().iter().map(|path| self.open(path)).collect(),
        }
    }
}

impl Question {
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
fn name(store: &Store) -> String {
    let folder = store.path().parent().and_then(std::path::Path::file_name);
    folder.map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().into_owned())
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
