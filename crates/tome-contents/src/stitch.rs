//! Re-segments a session's events in one project from the first new event on.
//!
//! Cutting is greedy, so it starts at the segment that holds the first new event (or the one before
//! it) and stops as soon as a segment comes out unchanged and the next new event is not reached
//! yet. For events appended at the end, only the open segment is cut again.

use std::collections::{BTreeSet, HashMap};
use std::iter::Peekable;

use tome_ledger::{Began, Direction, EventRange, Ledger, LedgerError, Mark, Stretch};
use tome_model::{Event, Level, Millis, Node, NodeId, Period, SessionId};

use super::changes::{Changes, Made};
use super::evidence;
use super::segment::{Cutter, Weight, ends, goes_on, overlap_len, weigh};
use super::{ContentsSettings, SegmentInput, Summarizer};
use tome_home::HomeError;

/// Reads the events of one session in one project, up to a cursor.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) ledger: &'a Ledger,
    pub(super) settings: &'a ContentsSettings,
    pub(super) project: &'a str,
    pub(super) session: &'a SessionId,
    /// Events that arrived later are ignored.
    pub(super) upto_seq: u64,
}

/// Events already read, by sequence number.
pub(super) type Read = HashMap<u64, Event>;

/// Sorts before all events.
const START: Mark = Mark { at: Millis(0), seq: 0 };
/// Sorts after all events.
const END: Mark = Mark { at: Millis(u64::MAX), seq: u64::MAX };

/// Cuts again around new positions.
pub(super) fn stitch(
    part: Part<'_>,
    summarizer: &dyn Summarizer,
    new: &BTreeSet<Mark>,
    read: &mut Read,
    changes: &mut Changes<'_>,
) -> Result<(), HomeError> {
    let Some(last_new) = new.last() else {
        return Ok(());
    };
    let known = part.ledger.stretch_before(part.project, part.session, END)?;
    let end = known.map_or(*last_new, |known| known.last.max(*last_new));
    let mut left = new.clone();
    while let Some(first) = left.first() {
        let start = part.ledger.stretch_before(part.project, part.session, *first)?;
        let mut needle = Needle::at(part, summarizer, start, left)?;
        needle.walk(end, read, changes)?;
        left = needle.new;
    }
    Ok(())
}

/// Cuts the whole session again. Returns the other projects that the session has events in.
pub(super) fn stitch_whole(
    part: Part<'_>,
    summarizer: &dyn Summarizer,
    changes: &mut Changes<'_>,
) -> Result<BTreeSet<String>, HomeError> {
    let mut needle = Needle::at(part, summarizer, None, BTreeSet::new())?;
    needle.until = Until::TheEnd;
    needle.walk(END, &mut Read::new(), changes)?;
    Ok(needle.others)
}

/// Where to stop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// The first unchanged segment with no new event before the next one.
    InStep,
    TheEnd,
}

type Stretches<'a> = Box<dyn Iterator<Item = Result<Stretch, LedgerError>> + 'a>;

struct Needle<'a> {
    part: Part<'a>,
    summarizer: &'a dyn Summarizer,
    until: Until,
    /// New positions not yet reached.
    new: BTreeSet<Mark>,
    /// The stored record of the first segment; its start does not change.
    start: Option<Stretch>,
    /// The segment before the next one to finish.
    before: Option<Stretch>,
    /// Stored segment records, from the first one on.
    known: Peekable<Stretches<'a>>,
    others: BTreeSet<String>,
}

/// A segment under construction.
struct Cut {
    began: Began,
    overlap: Vec<Event>,
    events: Vec<Event>,
    /// Time and capped tokens of each event.
    counts: Vec<(Millis, u64)>,
    first: Mark,
    last: Mark,
    weight: u64,
    tokens: u64,
}

#[derive(PartialEq, Eq)]
enum Step {
    On,
    InStep,
}

impl<'a> Needle<'a> {
    fn at(
        part: Part<'a>,
        summarizer: &'a dyn Summarizer,
        start: Option<Stretch>,
        new: BTreeSet<Mark>,
    ) -> Result<Self, HomeError> {
        let (project, session) = (part.project, part.session);
        let before = match &start {
            Some(start) => part.ledger.stretch_before(project, session, before(start.first))?,
            None => None,
        };
        let from = start.as_ref().map_or(START, |start| start.first);
        let known: Stretches<'a> = Box::new(part.ledger.stretches(project, session, from));
        let known = known.peekable();
        let (until, others) = (Until::InStep, BTreeSet::new());
        Ok(Self { part, summarizer, until, new, start, before, known, others })
    }

    /// Cuts the events from the start up to `end`, or until segments come out unchanged.
    fn walk(
        &mut self,
        end: Mark,
        read: &mut Read,
        changes: &mut Changes<'_>,
    ) -> Result<(), HomeError> {
        let Part { ledger, settings, .. } = self.part;
        let from = self.start.as_ref().map_or(START, |start| start.first);
        let mut cutter = Cutter::new(settings);
        let mut cut: Option<Cut> = None;
        let range = self.part.range(before(from), Direction::Forward);
        for position in ledger.positions(&range) {
            let position = position?;
            let mark = position.mark();
            if mark > end {
                break;
            }
            if position.seq > self.part.upto_seq {
                continue;
            }
            let Some(event) = self.part.event(&position, read)? else {
                continue;
            };
            if event.project != self.part.project {
                self.others.insert(event.project);
                continue;
            }
            let weight = weigh(&event);
            let began = cutter.step(event.at, weight.counted, ends(&event));
            if let (None, Some(cut)) = (began, &mut cut) {
                cut.push(event, mark, weight);
                continue;
            }
            let next = self.begin(began, cut.as_ref(), event, mark, weight)?;
            if let Some(done) = cut.replace(next)
                && self.finish(&done, false, changes)? == Step::InStep
            {
                return Ok(());
            }
        }
        if let Some(done) = cut {
            let open = !done.ended();
            self.finish(&done, open, changes)?;
        }
        self.new.clear();
        self.forget_known(END, changes)
    }

    fn begin(
        &self,
        began: Option<Began>,
        done: Option<&Cut>,
        event: Event,
        mark: Mark,
        weight: Weight,
    ) -> Result<Cut, HomeError> {
        let (began, overlap) = match done {
            Some(done) => {
                let began = began.unwrap_or(Began::Session);
                (began, done.tail(began, event.at, self.part.settings))
            }
            None => {
                let began = self.start.as_ref().map_or(Began::Session, |start| start.began);
                (began, self.part.overlap(began, mark, self.before.as_ref())?)
            }
        };
        let mut cut = Cut {
            began,
            overlap,
            events: Vec::new(),
            counts: Vec::new(),
            first: mark,
            last: mark,
            weight: 0,
            tokens: 0,
        };
        cut.push(event, mark, weight);
        Ok(cut)
    }

    /// Writes a segment and checks whether the following ones are unchanged.
    fn finish(
        &mut self,
        cut: &Cut,
        open: bool,
        changes: &mut Changes<'_>,
    ) -> Result<Step, HomeError> {
        let Part { project, session, .. } = self.part;
        let stretch = self.part.stretch(cut, self.before.as_ref());
        self.forget_known(stretch.first, changes)?;
        let known = self
            .known
            .next_if(|known| known.as_ref().is_ok_and(|known| known.first == stretch.first));
        let known = known.transpose()?;
        if let Some(known) = known.as_ref().filter(|known| known.id != stretch.id) {
            self.remove(known, changes)?;
        }
        let made = self.part.make(self.summarizer, cut, &stretch, open)?;
        if changes.put(project, made)? {
            changes.touched.extend(day_of(project, &stretch.id));
        }
        let is_known = known.as_ref() == Some(&stretch);
        if !is_known {
            changes.begin(project, session, stretch.first, Some(stretch.clone()));
        }
        self.new = self.new.split_off(&after(stretch.last));
        self.before = Some(stretch);
        Ok(if is_known && self.is_in_step()? { Step::InStep } else { Step::On })
    }

    /// Whether what is new lies behind the beginning of the next segment there was.
    fn is_in_step(&mut self) -> Result<bool, HomeError> {
        if self.until == Until::TheEnd {
            return Ok(false);
        }
        let Some(next_new) = self.new.first().copied() else {
            return Ok(true);
        };
        match self.known.peek() {
            Some(Ok(next)) => Ok(next.first <= next_new),
            Some(Err(_)) | None => Ok(false),
        }
    }

    /// Takes out the segments that began before a place and begin there no longer.
    fn forget_known(&mut self, upto: Mark, changes: &mut Changes<'_>) -> Result<(), HomeError> {
        loop {
            let known = self.known.next_if(|known| match known {
                Ok(known) => known.first < upto,
                Err(_) => true,
            });
            let Some(known) = known.transpose()? else {
                return Ok(());
            };
            self.remove(&known, changes)?;
            changes.begin(self.part.project, self.part.session, known.first, None);
        }
    }

    fn remove(&self, known: &Stretch, changes: &mut Changes<'_>) -> Result<(), HomeError> {
        let project = self.part.project;
        if changes.remove(project, &known.id)? {
            changes.touched.extend(day_of(project, &known.id));
        }
        Ok(())
    }
}

impl Cut {
    fn push(&mut self, event: Event, mark: Mark, weight: Weight) {
        self.counts.push((event.at, weight.counted));
        self.weight += weight.counted;
        self.tokens += weight.tokens;
        self.events.push(event);
        self.last = mark;
    }

    fn ended(&self) -> bool {
        self.events.last().is_some_and(ends)
    }

    /// Its last events, as overlap for the next segment.
    fn tail(&self, began: Began, first_at: Millis, settings: &ContentsSettings) -> Vec<Event> {
        let len = overlap_len(began, first_at, self.counts.iter().rev().copied(), settings);
        let from = self.events.len().saturating_sub(len);
        self.events.get(from..).unwrap_or_default().to_vec()
    }
}

impl Part<'_> {
    fn range(&self, after: Mark, direction: Direction) -> EventRange {
        let session = Some(self.session.clone());
        EventRange { session, after: Some(after), direction, ..EventRange::default() }
    }

    /// Loads an event, from the cache if it is there and belongs to this project.
    fn event(
        &self,
        position: &tome_ledger::Position,
        read: &mut Read,
    ) -> Result<Option<Event>, HomeError> {
        match read.get(&position.seq) {
            Some(event) if event.project == self.project => Ok(read.remove(&position.seq)),
            // It stays cached for its own project.
            Some(_) => Ok(None),
            None => Ok(self.ledger.event_at(position)?),
        }
    }

    /// Loads the events of the previous segment that are shown with a segment, in order.
    pub(super) fn overlap(
        &self,
        began: Began,
        first: Mark,
        before: Option<&Stretch>,
    ) -> Result<Vec<Event>, HomeError> {
        let Some(before) = before.filter(|_| goes_on(began)) else {
            return Ok(Vec::new());
        };
        let mut events: Vec<Event> = Vec::new();
        let mut counts: Vec<(Millis, u64)> = Vec::new();
        for position in self.ledger.positions(&self.range(first, Direction::Backward)) {
            let position = position?;
            if position.mark() < before.first
                || position.at.distance_ms(first.at) > self.settings.overlap_ms
            {
                break;
            }
            let is_there = position.seq <= self.upto_seq;
            let event = if is_there { self.ledger.event_at(&position)? } else { None };
            let Some(event) = event.filter(|event| event.project == self.project) else {
                continue;
            };
            counts.push((event.at, weigh(&event).counted));
            events.push(event);
            let fits = overlap_len(began, first.at, counts.iter().copied(), self.settings);
            if fits < events.len() {
                events.pop();
                break;
            }
        }
        events.reverse();
        Ok(events)
    }

    fn stretch(&self, cut: &Cut, before: Option<&Stretch>) -> Stretch {
        let day = Period::day_of(cut.first.at, &self.settings.zone);
        let id = match cut.events.first() {
            Some(first) => NodeId::segment(&day, first.at, self.session, &first.id),
            // Unreachable: a segment has at least the event that began it.
            None => day.id(),
        };
        Stretch {
            id,
            first: cut.first,
            last: cut.last,
            events: cut.events.len() as u64,
            weight: cut.weight,
            began: cut.began,
            ended: cut.ended(),
            first_of: first_of(before.and_then(|before| before.id.day()), day),
        }
    }

    fn make(
        &self,
        summarizer: &dyn Summarizer,
        cut: &Cut,
        stretch: &Stretch,
        open: bool,
    ) -> Result<Made, HomeError> {
        let input = SegmentInput { events: &cut.events, overlap: &cut.overlap };
        let name = summarizer.name();
        let told =
            evidence::of_segment(summarizer.segment(&input)?, name, &stretch.id, &cut.events);
        let mut agents: Vec<_> = cut.events.iter().map(|event| event.agent.clone()).collect();
        agents.sort();
        agents.dedup();
        let source = cut.events.first().zip(cut.events.last());
        let node = Node {
            id: stretch.id.clone(),
            version: 0,
            open,
            title: told.title,
            bullets: told.bullets,
            keywords: told.keywords,
            children: Vec::new(),
            first_at: stretch.first.at,
            last_at: stretch.last.at,
            events: stretch.events,
            tokens: cut.tokens,
            agents,
            sessions: vec![self.session.clone()],
            session_count: 1,
            source: source.map(|(first, last)| (first.id.clone(), last.id.clone())),
            summarizer: name.to_owned(),
            made_at: Millis(0),
        };
        Ok(Made { node, firsts: firsts(stretch.first_of), grips: told.grips })
    }
}

/// Returns the coarsest period in which a segment is the first of its session, given the day of the
/// session's previous segment.
fn first_of(before: Option<Period>, day: Period) -> Option<Level> {
    let Some(before) = before else {
        return Some(Level::Year);
    };
    let coarser = |day: Period| std::iter::once(day).chain(day.ancestors());
    let differ = coarser(before).zip(coarser(day)).filter(|(before, day)| before != day);
    differ.last().map(|(_, period)| period.level())
}

/// The same as 0 or 1 per level, from year to day.
fn firsts(first_of: Option<Level>) -> [u64; 4] {
    [Level::Year, Level::Month, Level::Week, Level::Day]
        .map(|level| u64::from(first_of.is_some_and(|first_of| first_of <= level)))
}

fn day_of(project: &str, segment: &NodeId) -> Option<(String, Period)> {
    segment.day().map(|day| (project.to_owned(), day))
}

/// The position right before another one. Sequence numbers begin at 1.
pub(super) fn before(mark: Mark) -> Mark {
    Mark { seq: mark.seq.saturating_sub(1), ..mark }
}

fn after(mark: Mark) -> Mark {
    Mark { seq: mark.seq.saturating_add(1), ..mark }
}
