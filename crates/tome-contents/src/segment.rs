//! Cuts a session's events, in order, into segments: a pure function.
//!
//! A full segment ends before the next prompt, so that turns stay whole; only a very long turn is
//! cut. Greedy: whether an event begins a segment depends only on earlier events. Appending an event
//! therefore changes only the last segment, and a late event changes nothing before it.

use std::ops::Range;

use tome_ledger::{OrderKey, SegmentStartReason};
use tome_model::{Event, EventKind, Millis, Period};
use tome_text::{token_units, units_to_tokens};

use super::ContentsSettings;
use super::event_text::event_texts;
use super::extract::is_prompt;
use super::limits::{EVENT_WEIGHT, TOOL_WEIGHT_MAX, TURN_WEIGHT_FACTOR};

/// The position right before another one. Sequence numbers begin at 1.
pub(super) fn mark_before(mark: OrderKey) -> OrderKey {
    OrderKey { seq: mark.seq.saturating_sub(1), ..mark }
}

/// Estimated size of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventWeight {
    /// Estimated tokens of its texts.
    pub tokens: u64,
    /// Tokens it counts for when segments are cut: capped for tool calls.
    pub capped_tokens: u64,
}

/// Estimates the size of an event.
pub fn weigh_event(event: &Event) -> EventWeight {
    let tokens = units_to_tokens(event_texts(event).map(|text| token_units(&text)).sum());
    let most = if event.tool.is_some() || event.kind == EventKind::ToolResult {
        TOOL_WEIGHT_MAX
    } else {
        u64::MAX
    };
    EventWeight { tokens, capped_tokens: tokens.min(most) + EVENT_WEIGHT }
}

/// Whether an event always ends its segment.
pub(super) fn ends_segment(event: &Event) -> bool {
    matches!(event.kind, EventKind::SessionEnd | EventKind::Compaction)
}

/// A segment, as ranges of indexes into the session's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSegment {
    /// Why the segment begins here.
    pub began: SegmentStartReason,
    /// The events of the segment.
    pub events: Range<usize>,
    /// Events right before the segment, if it continues the previous one.
    pub overlap: Range<usize>,
    /// Whether its last event closes it.
    pub ended: bool,
}

/// Cuts the ordered events of one session into segments.
pub fn cut_segments(events: &[Event], settings: &ContentsSettings) -> Vec<EventSegment> {
    let mut cutter = SegmentCutter::new(settings);
    let mut segments: Vec<EventSegment> = Vec::new();
    let mut weights = Vec::with_capacity(events.len());
    for (index, event) in events.iter().enumerate() {
        let counted = weigh_event(event).capped_tokens;
        weights.push((event.at, counted));
        match (cutter.push_event(event, counted), segments.last_mut()) {
            (None, Some(segment)) => {
                segment.events.end = index + 1;
                segment.ended = ends_segment(event);
            }
            (began, before) => {
                let began = began.unwrap_or(SegmentStartReason::Session);
                let from = before.map_or(index, |before| before.events.start);
                let tail = weights.get(from..index).unwrap_or_default();
                let kept = overlap_len(began, event.at, tail.iter().rev().copied(), settings);
                segments.push(EventSegment {
                    began,
                    events: index..index + 1,
                    overlap: index - kept..index,
                    ended: ends_segment(event),
                });
            }
        }
    }
    segments
}

/// Returns how many events before a segment's first one are shown with it. `before` yields time and
/// capped tokens of the previous segment's events, latest first.
pub(super) fn overlap_len(
    began: SegmentStartReason,
    first_at: Millis,
    before: impl Iterator<Item = (Millis, u64)>,
    settings: &ContentsSettings,
) -> usize {
    if !continues_previous(began) {
        return 0;
    }
    let mut left = settings.overlap_tokens_max;
    before
        .take_while(|(at, counted)| {
            let fits = at.distance_ms(first_at) <= settings.overlap_ms && *counted <= left;
            left = left.saturating_sub(*counted);
            fits
        })
        .count()
}

/// Whether a segment continues the topic of the one before it.
pub(super) fn continues_previous(began: SegmentStartReason) -> bool {
    matches!(began, SegmentStartReason::Full | SegmentStartReason::Midnight)
}

/// Cuts a session incrementally, event by event.
pub(super) struct SegmentCutter<'a> {
    settings: &'a ContentsSettings,
    last: Option<CurrentSegment>,
}

/// State of the current segment.
struct CurrentSegment {
    at: Millis,
    weight: u64,
    day_ends: Millis,
    ended: bool,
}

impl<'a> SegmentCutter<'a> {
    pub(super) fn new(settings: &'a ContentsSettings) -> Self {
        Self { settings, last: None }
    }

    /// Adds the next event. Returns the reason if it begins a new segment.
    pub(super) fn push_event(&mut self, event: &Event, counted: u64) -> Option<SegmentStartReason> {
        let (at, ends) = (event.at, ends_segment(event));
        let began = self.boundary_reason(event, counted);
        match (&mut self.last, began) {
            (Some(last), None) => {
                last.at = at;
                last.weight = last.weight.saturating_add(counted);
                last.ended = ends;
            }
            _ => {
                let zone = &self.settings.zone;
                let (_, day_ends) = Period::day_containing(at, zone).range(zone);
                self.last = Some(CurrentSegment { at, weight: counted, day_ends, ended: ends });
            }
        }
        began
    }

    fn boundary_reason(&self, event: &Event, counted: u64) -> Option<SegmentStartReason> {
        let at = event.at;
        let Some(last) = &self.last else {
            return Some(SegmentStartReason::Session);
        };
        if last.ended {
            Some(SegmentStartReason::Ended)
        } else if last.at.distance_ms(at) > self.settings.gap_ms {
            Some(SegmentStartReason::Gap)
        } else if at >= last.day_ends {
            Some(SegmentStartReason::Midnight)
        } else if last.weight.saturating_add(counted) > self.weight_max(event) {
            Some(SegmentStartReason::Full)
        } else {
            None
        }
    }

    /// The weight that a segment may reach with an event. Within a turn it is several times more.
    fn weight_max(&self, event: &Event) -> u64 {
        let most = self.settings.tokens_max;
        if is_prompt(event) { most } else { most.saturating_mul(TURN_WEIGHT_FACTOR) }
    }
}
