//! Cuts a session's events, in order, into segments: a pure function.
//!
//! Greedy: whether an event begins a segment depends only on earlier events. Appending an event
//! therefore changes only the last segment, and a late event changes nothing before it.

use std::ops::Range;

use tome_ledger::Began;
use tome_model::{Event, EventKind, Millis, Period};
use tome_text::{token_units, units_to_tokens};

use super::ContentsSettings;
use super::limits::{EVENT_WEIGHT, TOOL_WEIGHT_MAX};
use super::said::said;

/// Estimated size of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// Estimated tokens of its texts.
    pub tokens: u64,
    /// Tokens it counts for when segments are cut: capped for tool calls.
    pub counted: u64,
}

/// Estimates the size of an event.
pub fn weigh(event: &Event) -> Weight {
    let tokens = units_to_tokens(said(event).map(|text| token_units(&text)).sum());
    let most = if event.tool.is_some() || event.kind == EventKind::ToolResult {
        TOOL_WEIGHT_MAX
    } else {
        u64::MAX
    };
    Weight { tokens, counted: tokens.min(most) + EVENT_WEIGHT }
}

/// Whether an event always ends its segment.
pub(super) fn ends(event: &Event) -> bool {
    matches!(event.kind, EventKind::SessionEnd | EventKind::Compaction)
}

/// A segment, as ranges of indexes into the session's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Why the segment begins here.
    pub began: Began,
    /// The events of the segment.
    pub events: Range<usize>,
    /// Events right before the segment, if it continues the previous one.
    pub overlap: Range<usize>,
    /// Whether its last event closes it.
    pub ended: bool,
}

/// Cuts the ordered events of one session into segments.
pub fn segments(events: &[Event], settings: &ContentsSettings) -> Vec<Segment> {
    let mut cutter = Cutter::new(settings);
    let mut found: Vec<Segment> = Vec::new();
    let mut weights = Vec::with_capacity(events.len());
    for (place, event) in events.iter().enumerate() {
        let counted = weigh(event).counted;
        weights.push((event.at, counted));
        match (cutter.step(event.at, counted, ends(event)), found.last_mut()) {
            (None, Some(segment)) => {
                segment.events.end = place + 1;
                segment.ended = ends(event);
            }
            (began, before) => {
                let began = began.unwrap_or(Began::Session);
                let from = before.map_or(place, |before| before.events.start);
                let tail = weights.get(from..place).unwrap_or_default();
                let kept = overlap_len(began, event.at, tail.iter().rev().copied(), settings);
                found.push(Segment {
                    began,
                    events: place..place + 1,
                    overlap: place - kept..place,
                    ended: ends(event),
                });
            }
        }
    }
    found
}

/// Returns how many events before a segment's first one are shown with it. `before` yields time and
/// capped tokens of the previous segment's events, latest first.
pub(super) fn overlap_len(
    began: Began,
    first_at: Millis,
    before: impl Iterator<Item = (Millis, u64)>,
    settings: &ContentsSettings,
) -> usize {
    if !goes_on(began) {
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
pub(super) fn goes_on(began: Began) -> bool {
    matches!(began, Began::Full | Began::Midnight)
}

/// Cuts a session incrementally, event by event.
pub(super) struct Cutter<'a> {
    settings: &'a ContentsSettings,
    last: Option<Last>,
}

/// State of the current segment.
struct Last {
    at: Millis,
    weight: u64,
    day_ends: Millis,
    ended: bool,
}

impl<'a> Cutter<'a> {
    pub(super) fn new(settings: &'a ContentsSettings) -> Self {
        Self { settings, last: None }
    }

    /// Adds the next event. Returns the reason if it begins a new segment.
    pub(super) fn step(&mut self, at: Millis, counted: u64, ends: bool) -> Option<Began> {
        let began = self.begins(at, counted);
        match (&mut self.last, began) {
            (Some(last), None) => {
                last.at = at;
                last.weight = last.weight.saturating_add(counted);
                last.ended = ends;
            }
            _ => {
                let zone = &self.settings.zone;
                let (_, day_ends) = Period::day_of(at, zone).range(zone);
                self.last = Some(Last { at, weight: counted, day_ends, ended: ends });
            }
        }
        began
    }

    fn begins(&self, at: Millis, counted: u64) -> Option<Began> {
        let Some(last) = &self.last else {
            return Some(Began::Session);
        };
        if last.ended {
            Some(Began::Ended)
        } else if last.at.distance_ms(at) > self.settings.gap_ms {
            Some(Began::Gap)
        } else if at >= last.day_ends {
            Some(Began::Midnight)
        } else if last.weight.saturating_add(counted) > self.settings.tokens_max {
            Some(Began::Full)
        } else {
            None
        }
    }
}
