//! Where one segment ends and the next begins: a pure function of a session's events, in order.
//!
//! Greedy: whether an event begins a segment depends only on what came before it. So events that
//! come later, at the end, change nothing but the last segment, and a late one nothing before it.

use std::ops::Range;

use tome_ledger::Began;
use tome_model::{Event, EventKind, Millis, Period};
use tome_text::{token_units, units_to_tokens};

use super::ContentsSettings;
use super::limits::{EVENT_WEIGHT, TOOL_WEIGHT_MAX};
use super::said::said;

/// How much an event says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight {
    /// About how many tokens its texts have.
    pub tokens: u64,
    /// What it counts for when segments are cut: the same, but little for a tool call.
    pub counted: u64,
}

/// How much an event says.
pub fn weigh(event: &Event) -> Weight {
    let tokens = units_to_tokens(said(event).map(|text| token_units(&text)).sum());
    let most = if event.tool.is_some() || event.kind == EventKind::ToolResult {
        TOOL_WEIGHT_MAX
    } else {
        u64::MAX
    };
    Weight { tokens, counted: tokens.min(most) + EVENT_WEIGHT }
}

/// Whether nothing more comes into a segment after this.
pub(super) fn ends(event: &Event) -> bool {
    matches!(event.kind, EventKind::SessionEnd | EventKind::Compaction)
}

/// A segment, by the places of its events among those of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Why it began.
    pub began: Began,
    /// Its events.
    pub events: Range<usize>,
    /// What came right before, where the segment goes on with it.
    pub overlap: Range<usize>,
    /// Whether its last event ends it.
    pub ended: bool,
}

/// Cuts the events of one session, which are in order, into segments.
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

/// How many events before the first one of a segment are shown with it: `before` are when those of
/// the segment before it happened and what they count for, the latest first.
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

/// Whether a segment goes on with what the one before it was about.
pub(super) fn goes_on(began: Began) -> bool {
    matches!(began, Began::Full | Began::Midnight)
}

/// Cuts a session as its events come.
pub(super) struct Cutter<'a> {
    settings: &'a ContentsSettings,
    last: Option<Last>,
}

/// The segment as it is so far.
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

    /// Takes the next event. Says why it begins a segment, if it does.
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
