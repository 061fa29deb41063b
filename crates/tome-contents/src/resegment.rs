//! Re-segments a session's events in one project from the first new event on.
//!
//! Cutting is greedy, so it starts at the segment that holds the first new event (or the one before
//! it) and stops as soon as a segment comes out unchanged and the next new event is not reached
//! yet. For events appended at the end, only the open segment is cut again.

use std::collections::{BTreeSet, HashMap};
use std::iter::Peekable;

use tome_ledger::{
    EventRange, Ledger, LedgerError, OrderKey, ScanDirection, SegmentEntry, SegmentStartReason,
};
use tome_model::{Event, Level, Millis, Node, NodeId, Period, SessionId};

use super::evidence;
use super::extract::{changes_subject, continues_turn, is_prompt, names_request};
use super::later_change::outline_turns;
use super::pending_changes::{BuiltNode, PendingChanges};
use super::segment::{
    EventWeight, SegmentCutter, continues_previous, ends_segment, mark_before, overlap_len,
    weigh_event,
};
use super::{ContentsSettings, SegmentInput, Summarizer};
use tome_home::HomeError;

/// Reads the events of one session in one project, up to a cursor.
#[derive(Clone, Copy)]
pub(super) struct SessionReader<'a> {
    pub(super) ledger: &'a Ledger,
    pub(super) settings: &'a ContentsSettings,
    pub(super) project: &'a str,
    pub(super) session: &'a SessionId,
    /// Events that arrived later are ignored.
    pub(super) upto_seq: u64,
}

/// Events already read, by sequence number.
pub(super) type EventCache = HashMap<u64, Event>;

/// Sorts before all events.
const FIRST_MARK: OrderKey = OrderKey { at: Millis(0), seq: 0 };
/// Sorts after all events.
const LAST_MARK: OrderKey = OrderKey { at: Millis(u64::MAX), seq: u64::MAX };

/// Cuts again around new positions.
pub(super) fn resegment(
    part: SessionReader<'_>,
    summarizer: &dyn Summarizer,
    new: &BTreeSet<OrderKey>,
    read: &mut EventCache,
    changes: &mut PendingChanges<'_>,
) -> Result<(), HomeError> {
    let Some(last_new) = new.last() else {
        return Ok(());
    };
    let last_segment = part.ledger.segment_before(part.project, part.session, LAST_MARK)?;
    let end = last_segment.map_or(*last_new, |segment| segment.last.max(*last_new));
    let mut left = new.clone();
    while let Some(first) = left.first() {
        let start = part.ledger.segment_before(part.project, part.session, *first)?;
        let mut resegmenter = Resegmenter::start_at(part, summarizer, start, left)?;
        resegmenter.cut_until(end, read, changes)?;
        left = resegmenter.new;
    }
    Ok(())
}

/// Cuts the whole session again. Returns the other projects that the session has events in.
pub(super) fn resegment_all(
    part: SessionReader<'_>,
    summarizer: &dyn Summarizer,
    changes: &mut PendingChanges<'_>,
) -> Result<BTreeSet<String>, HomeError> {
    let mut resegmenter = Resegmenter::start_at(part, summarizer, None, BTreeSet::new())?;
    resegmenter.until = StopAt::SessionEnd;
    resegmenter.cut_until(LAST_MARK, &mut EventCache::new(), changes)?;
    Ok(resegmenter.others)
}

/// Where to stop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StopAt {
    /// The first unchanged segment with no new event before the next one.
    Unchanged,
    SessionEnd,
}

type SegmentRecords<'a> = Box<dyn Iterator<Item = Result<SegmentEntry, LedgerError>> + 'a>;

struct Resegmenter<'a> {
    part: SessionReader<'a>,
    summarizer: &'a dyn Summarizer,
    until: StopAt,
    /// New positions not yet reached.
    new: BTreeSet<OrderKey>,
    /// The stored record of the first segment; its start does not change.
    start: Option<SegmentEntry>,
    /// The segment before the next one to finish.
    before: Option<SegmentEntry>,
    /// Stored segment records, from the first one on.
    known: Peekable<SegmentRecords<'a>>,
    others: BTreeSet<String>,
}

/// A segment under construction.
struct SegmentBuilder {
    began: SegmentStartReason,
    overlap: Vec<Event>,
    events: Vec<Event>,
    order_keys: Vec<OrderKey>,
    /// Time and capped tokens of each event.
    counts: Vec<(Millis, u64)>,
    first: OrderKey,
    last: OrderKey,
    /// Its last prompt, if it says what is wanted, or the one before mere acknowledgments.
    request: Option<OrderKey>,
    /// Whether a prompt wanted something else than the earlier request, without naming it.
    is_other_request: bool,
    weight: u64,
    tokens: u64,
}

/// How a segment ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SegmentEnd {
    /// Another segment of its session, with which the agent may go on with the last turn.
    Followed { breaks_turn: bool },
    /// Nothing, and its last event ended it.
    Closed,
    /// Nothing yet.
    Open,
}

#[derive(PartialEq, Eq)]
enum SegmentStep {
    Continue,
    Unchanged,
}

impl<'a> Resegmenter<'a> {
    fn start_at(
        part: SessionReader<'a>,
        summarizer: &'a dyn Summarizer,
        start: Option<SegmentEntry>,
        new: BTreeSet<OrderKey>,
    ) -> Result<Self, HomeError> {
        let (project, session) = (part.project, part.session);
        let before = match &start {
            Some(start) => {
                part.ledger.segment_before(project, session, mark_before(start.first))?
            }
            None => None,
        };
        let from = start.as_ref().map_or(FIRST_MARK, |start| start.first);
        let known: SegmentRecords<'a> = Box::new(part.ledger.segments(project, session, from));
        let known = known.peekable();
        let (until, others) = (StopAt::Unchanged, BTreeSet::new());
        Ok(Self { part, summarizer, until, new, start, before, known, others })
    }

    /// Cuts the events from the start up to `end`, or until segments come out unchanged.
    fn cut_until(
        &mut self,
        end: OrderKey,
        read: &mut EventCache,
        changes: &mut PendingChanges<'_>,
    ) -> Result<(), HomeError> {
        let SessionReader { ledger, settings, .. } = self.part;
        let from = self.start.as_ref().map_or(FIRST_MARK, |start| start.first);
        let mut cutter = SegmentCutter::new(settings);
        let mut cut: Option<SegmentBuilder> = None;
        let range = self.part.event_range(mark_before(from), ScanDirection::Forward);
        for position in ledger.positions(&range) {
            let position = position?;
            let mark = position.order_key();
            if mark > end {
                break;
            }
            if position.seq > self.part.upto_seq {
                continue;
            }
            let Some(event) = self.part.load_event(&position, read)? else {
                continue;
            };
            if event.project != self.part.project {
                self.others.insert(event.project);
                continue;
            }
            let weight = weigh_event(&event);
            let began = cutter.push_event(&event, weight.capped_tokens);
            if let (None, Some(cut)) = (began, &mut cut) {
                cut.push(event, mark, weight);
                continue;
            }
            let next = self.begin_segment(began, cut.as_ref(), event, mark, weight)?;
            let first = next.events.first();
            let next_prompt = first.filter(|event| is_prompt(event)).cloned();
            let breaks_turn = first.is_some_and(continues_turn);
            if let Some(done) = cut.replace(next)
                && self.finish_segment(
                    &done,
                    SegmentEnd::Followed { breaks_turn },
                    next_prompt.as_ref(),
                    changes,
                )? == SegmentStep::Unchanged
            {
                return Ok(());
            }
        }
        if let Some(done) = cut {
            let end = if done.is_closed() { SegmentEnd::Closed } else { SegmentEnd::Open };
            self.finish_segment(&done, end, None, changes)?;
        }
        self.new.clear();
        self.remove_stale_before(LAST_MARK, changes)
    }

    fn begin_segment(
        &self,
        began: Option<SegmentStartReason>,
        done: Option<&SegmentBuilder>,
        event: Event,
        mark: OrderKey,
        weight: EventWeight,
    ) -> Result<SegmentBuilder, HomeError> {
        let (began, overlap) = match done {
            Some(done) => {
                let began = began.unwrap_or(SegmentStartReason::Session);
                (began, done.overlap_events(began, event.at, self.part.settings))
            }
            None => {
                let began =
                    self.start.as_ref().map_or(SegmentStartReason::Session, |start| start.began);
                (began, self.part.load_overlap(began, mark, self.before.as_ref())?)
            }
        };
        let mut cut = SegmentBuilder {
            began,
            overlap,
            events: Vec::new(),
            order_keys: Vec::new(),
            counts: Vec::new(),
            first: mark,
            last: mark,
            request: None,
            is_other_request: false,
            weight: 0,
            tokens: 0,
        };
        cut.push(event, mark, weight);
        Ok(cut)
    }

    /// Writes a segment and checks whether the following ones are unchanged.
    fn finish_segment(
        &mut self,
        cut: &SegmentBuilder,
        end: SegmentEnd,
        next_prompt: Option<&Event>,
        changes: &mut PendingChanges<'_>,
    ) -> Result<SegmentStep, HomeError> {
        let SessionReader { project, session, .. } = self.part;
        let segment = self.part.build_record(cut, self.before.as_ref());
        self.remove_stale_before(segment.first, changes)?;
        let known = self
            .known
            .next_if(|known| known.as_ref().is_ok_and(|known| known.first == segment.first));
        let known = known.transpose()?;
        if let Some(known) = known.as_ref().filter(|known| known.id != segment.id) {
            self.remove_segment(known, changes)?;
        }
        let continues = cut.began != SegmentStartReason::Gap && cut.request.is_none();
        let earlier = if continues { self.part.load_request(self.before.as_ref())? } else { None };
        let built = self.part.build_node(
            self.summarizer,
            cut,
            (earlier.as_ref(), next_prompt),
            (&segment, end),
        )?;
        if changes.put_node(project, built)? {
            changes.changed_days.extend(changed_day(project, &segment.id));
        }
        let is_known = known.as_ref() == Some(&segment);
        if !is_known {
            changes.set_segment(project, session, segment.first, Some(segment.clone()));
        }
        self.new = self.new.split_off(&mark_after(segment.last));
        self.before = Some(segment);
        Ok(if is_known && self.is_rest_unchanged()? {
            SegmentStep::Unchanged
        } else {
            SegmentStep::Continue
        })
    }

    /// Whether the next new event lies after the start of the next stored segment.
    fn is_rest_unchanged(&mut self) -> Result<bool, HomeError> {
        if self.until == StopAt::SessionEnd {
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

    /// Removes stored segments before a position that no longer begin there.
    fn remove_stale_before(
        &mut self,
        upto: OrderKey,
        changes: &mut PendingChanges<'_>,
    ) -> Result<(), HomeError> {
        loop {
            let known = self.known.next_if(|known| match known {
                Ok(known) => known.first < upto,
                Err(_) => true,
            });
            let Some(known) = known.transpose()? else {
                return Ok(());
            };
            self.remove_segment(&known, changes)?;
            changes.set_segment(self.part.project, self.part.session, known.first, None);
        }
    }

    fn remove_segment(
        &self,
        known: &SegmentEntry,
        changes: &mut PendingChanges<'_>,
    ) -> Result<(), HomeError> {
        let project = self.part.project;
        if changes.remove_node(project, &known.id)? {
            changes.changed_days.extend(changed_day(project, &known.id));
        }
        Ok(())
    }
}

impl SegmentBuilder {
    fn push(&mut self, event: Event, mark: OrderKey, weight: EventWeight) {
        if names_request(&event) {
            self.request = Some(mark);
        } else if changes_subject(&event) {
            self.request = None;
            self.is_other_request = true;
        }
        self.counts.push((event.at, weight.capped_tokens));
        self.weight += weight.capped_tokens;
        self.tokens += weight.tokens;
        self.events.push(event);
        self.order_keys.push(mark);
        self.last = mark;
    }

    fn is_closed(&self) -> bool {
        self.events.last().is_some_and(ends_segment)
    }

    /// Its last events, as overlap for the next segment.
    fn overlap_events(
        &self,
        began: SegmentStartReason,
        first_at: Millis,
        settings: &ContentsSettings,
    ) -> Vec<Event> {
        let len = overlap_len(began, first_at, self.counts.iter().rev().copied(), settings);
        let from = self.events.len().saturating_sub(len);
        self.events.get(from..).unwrap_or_default().to_vec()
    }
}

impl SessionReader<'_> {
    fn event_range(&self, after: OrderKey, direction: ScanDirection) -> EventRange {
        let session = Some(self.session.clone());
        EventRange { session, after: Some(after), direction, ..EventRange::default() }
    }

    /// Loads an event, from the cache if it is there and belongs to this project.
    fn load_event(
        &self,
        position: &tome_ledger::EventPosition,
        read: &mut EventCache,
    ) -> Result<Option<Event>, HomeError> {
        match read.get(&position.seq) {
            Some(event) if event.project == self.project => Ok(read.remove(&position.seq)),
            // It stays cached for its own project.
            Some(_) => Ok(None),
            None => Ok(self.ledger.event_at(position)?),
        }
    }

    /// Loads the events of the previous segment that are shown with a segment, in order.
    pub(super) fn load_overlap(
        &self,
        began: SegmentStartReason,
        first: OrderKey,
        before: Option<&SegmentEntry>,
    ) -> Result<Vec<Event>, HomeError> {
        let Some(before) = before.filter(|_| continues_previous(began)) else {
            return Ok(Vec::new());
        };
        let mut events: Vec<Event> = Vec::new();
        let mut counts: Vec<(Millis, u64)> = Vec::new();
        for position in self.ledger.positions(&self.event_range(first, ScanDirection::Backward)) {
            let position = position?;
            if position.order_key() < before.first
                || position.at.distance_ms(first.at) > self.settings.overlap_ms
            {
                break;
            }
            let is_there = position.seq <= self.upto_seq;
            let event = if is_there { self.ledger.event_at(&position)? } else { None };
            let Some(event) = event.filter(|event| event.project == self.project) else {
                continue;
            };
            counts.push((event.at, weigh_event(&event).capped_tokens));
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

    /// Loads the request that a segment continues, if it has none of its own.
    pub(super) fn load_request(
        &self,
        before: Option<&SegmentEntry>,
    ) -> Result<Option<Event>, HomeError> {
        match before.and_then(|before| before.request) {
            Some(request) => Ok(self.ledger.event_by_order(request)?),
            None => Ok(None),
        }
    }

    fn build_record(&self, cut: &SegmentBuilder, before: Option<&SegmentEntry>) -> SegmentEntry {
        let day = Period::day_containing(cut.first.at, &self.settings.zone);
        // After a pause, something else may have begun.
        let continues = cut.began != SegmentStartReason::Gap;
        let id = match cut.events.first() {
            Some(first) => NodeId::for_segment(&day, first.at, self.session, &first.id),
            // Unreachable: a segment has at least the event that began it.
            None => day.id(),
        };
        SegmentEntry {
            id,
            first: cut.first,
            last: cut.last,
            events: cut.events.len() as u64,
            weight: cut.weight,
            began: cut.began,
            ended: cut.is_closed(),
            first_of: coarsest_first(before.and_then(|before| before.id.day()), day),
            continues_week: before.is_some_and(|before| starts_within_week(before, day)),
            request: match (cut.request, before) {
                (None, Some(before)) if continues && !cut.is_other_request => before.request,
                (own, _) => own,
            },
            turns: outline_turns(&cut.events, &cut.order_keys),
        }
    }

    fn build_node(
        &self,
        summarizer: &dyn Summarizer,
        cut: &SegmentBuilder,
        (earlier_request, next_prompt): (Option<&Event>, Option<&Event>),
        (segment, end): (&SegmentEntry, SegmentEnd),
    ) -> Result<BuiltNode, HomeError> {
        let is_followed = matches!(end, SegmentEnd::Followed { .. });
        let input = SegmentInput {
            events: &cut.events,
            overlap: &cut.overlap,
            earlier_request,
            next_prompt,
            is_followed,
            breaks_turn: end == SegmentEnd::Followed { breaks_turn: true },
        };
        let name = summarizer.name();
        let checked = evidence::check_segment_summary(
            summarizer.summarize_segment(&input)?,
            name,
            &segment.id,
            &cut.events,
        );
        let mut agents: Vec<_> = cut.events.iter().map(|event| event.agent.clone()).collect();
        agents.sort();
        agents.dedup();
        let source = cut.events.first().zip(cut.events.last());
        let node = Node {
            id: segment.id.clone(),
            version: 0,
            open: end == SegmentEnd::Open,
            title: checked.title,
            bullets: checked.bullets,
            keywords: checked.keywords,
            children: Vec::new(),
            first_at: segment.first.at,
            last_at: segment.last.at,
            events: segment.events,
            tokens: cut.tokens,
            agents,
            sessions: vec![self.session.clone()],
            session_count: 1,
            source: source.map(|(first, last)| (first.id.clone(), last.id.clone())),
            summarizer: name.to_owned(),
            made_at: Millis(0),
            work: checked.work,
        };
        Ok(BuiltNode { node, firsts: first_counts(segment), grips: checked.grips })
    }
}

/// Returns the coarsest period in which a segment is the first of its session, given the day of the
/// session's previous segment.
fn coarsest_first(before: Option<Period>, day: Period) -> Option<Level> {
    let Some(before) = before else {
        return Some(Level::Year);
    };
    let coarser = |day: Period| std::iter::once(day).chain(day.ancestors());
    let differ = coarser(before).zip(coarser(day)).filter(|(before, day)| before != day);
    differ.last().map(|(_, period)| period.level())
}

/// Whether a month or year began since the session's previous segment, but not a week.
fn starts_within_week(before: &SegmentEntry, day: Period) -> bool {
    let before = before.id.day();
    let is_longer_new = coarsest_first(before, day).is_some_and(|level| level < Level::Week);
    is_longer_new && before.and_then(|before| before.parent()) == day.parent()
}

/// For each level from year to day, 1 if a segment is the first of its session there.
fn first_counts(segment: &SegmentEntry) -> [u64; 4] {
    [Level::Year, Level::Month, Level::Week, Level::Day].map(|level| {
        let is_first = segment.first_of.is_some_and(|first_of| first_of <= level);
        u64::from(is_first && !(level == Level::Week && segment.continues_week))
    })
}

fn changed_day(project: &str, segment: &NodeId) -> Option<(String, Period)> {
    segment.day().map(|day| (project.to_owned(), day))
}

fn mark_after(mark: OrderKey) -> OrderKey {
    OrderKey { seq: mark.seq.saturating_add(1), ..mark }
}
