//! The way back: events of one store or of all, in the order in which they happened.

use std::collections::BTreeMap;

use tome_ledger::{Direction, EventRange, Position};
use tome_model::{Agent, Event, EventId, EventKind, Millis, SessionId};

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
    /// Go on after this one.
    pub after: Option<Position>,
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
    /// The last position looked at, if there may be more.
    pub more_after: Option<Position>,
}

/// Events looked at for one answer: a filter that nothing passes must not hold the daemon for ever.
const LOOKED_AT_MAX: usize = 100_000;

/// The shortest beginning of an id that is looked up.
const PREFIX_BYTES_MIN: usize = 4;

impl Stores {
    /// Reads events. Several stores are merged by time.
    pub fn read(&self, question: &Question) -> Result<Answer, EngineError> {
        let stores = self.asked(question.project.as_deref())?;
        let range = question.range();
        let mut streams: Vec<_> = stores.iter().map(|store| store.events(&range)).collect();
        let mut heads: BTreeMap<(Position, usize), Event> = BTreeMap::new();
        let mut answer = Answer::default();
        let (mut looked_at, mut bytes) = (0, 0);
        for (which, stream) in streams.iter_mut().enumerate() {
            if let Some(event) = stream.next() {
                let event = event?;
                heads.insert((position(&event), which), event);
            }
        }
        loop {
            let head = if question.newest_first {
                heads.pop_last()
            } else {
                heads.pop_first()
            };
            let Some(((at, which), event)) = head else {
                return Ok(Answer {
                    more_after: None,
                    ..answer
                });
            };
            if let Some(next) = streams.get_mut(which).and_then(Iterator::next) {
                let next = next?;
                heads.insert((position(&next), which), next);
            }
            looked_at += 1;
            if question.wants(&event) {
                bytes += weight(&event);
                answer.events.push(event);
            }
            answer.more_after = Some(at);
            let full = answer.events.len() >= question.events_max || bytes >= question.bytes_max;
            if full || looked_at >= LOOKED_AT_MAX {
                if heads.is_empty() {
                    answer.more_after = None;
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
                like.extend(
                    store
                        .ids_with_prefix(id, 4)?
                        .into_iter()
                        .map(|id| (store, id)),
                );
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
    fn range(&self) -> EventRange {
        EventRange {
            from: self.from,
            to: self.to,
            session: self.session.clone(),
            after: self.after.clone(),
            direction: if self.newest_first {
                Direction::Backward
            } else {
                Direction::Forward
            },
        }
    }

    fn wants(&self, event: &Event) -> bool {
        (self.agents.is_empty() || self.agents.contains(&event.agent))
            && (self.kinds.is_empty() || self.kinds.contains(&event.kind))
            && self
                .project
                .as_ref()
                .is_none_or(|root| *root == event.project)
    }
}

fn position(event: &Event) -> Position {
    Position {
        at: event.at,
        id: event.id.clone(),
    }
}

fn weight(event: &Event) -> usize {
    let tool = event.tool.as_ref().map_or(0, |tool| {
        tool.input.to_string().len() + tool.output.to_string().len()
    });
    event.text.len() + tool + 256
}
