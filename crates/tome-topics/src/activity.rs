//! The activity of a topic or of a whole project.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::{Date, Weekday};
use tome_model::{Agent, Millis, SessionId};

use crate::limits::WEEKS_MAX;
use crate::record::SegmentRecord;

/// When and by whom a topic was worked on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicActivity {
    /// Number of days with work on it.
    pub days: u64,
    /// The first of them, as `2026-11-14`.
    pub first_day: String,
    /// The last of them.
    pub last_day: String,
    /// Time of its first event.
    pub first_at: Millis,
    /// Time of its last event.
    pub last_at: Millis,
    /// Number of segments.
    pub segments: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// The agents involved, sorted.
    pub agents: Vec<Agent>,
}

/// Segments in one week.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeekActivity {
    /// The Monday, as `2026-11-09`.
    pub monday: String,
    /// Number of segments.
    pub segments: u64,
}

impl TopicActivity {
    pub(crate) fn from_segments<'a>(segments: impl Iterator<Item = &'a SegmentRecord>) -> Self {
        let mut days: BTreeSet<&str> = BTreeSet::new();
        let mut sessions: BTreeSet<&SessionId> = BTreeSet::new();
        let mut agents: BTreeSet<&Agent> = BTreeSet::new();
        let mut activity = Self { first_at: Millis(u64::MAX), ..Self::default() };
        for segment in segments {
            days.insert(segment.day());
            sessions.insert(&segment.session);
            agents.insert(&segment.agent);
            activity.segments += 1;
            activity.first_at = activity.first_at.min(segment.first_at);
            activity.last_at = activity.last_at.max(segment.last_at);
        }
        activity.days = days.len() as u64;
        activity.sessions = sessions.len() as u64;
        activity.agents = agents.into_iter().cloned().collect();
        activity.first_day = days.first().map_or("", |day| day).to_owned();
        activity.last_day = days.last().map_or("", |day| day).to_owned();
        activity
    }

    /// Most days first, then the latest.
    pub(crate) fn importance(&self) -> (u64, &str, u64, Millis) {
        (self.days, &self.last_day, self.segments, self.last_at)
    }
}

/// The activity by week, from the first week to the last, including quiet weeks; only the last weeks
/// of a long period.
pub(crate) fn count_weeks<'a>(
    segments: impl Iterator<Item = &'a SegmentRecord>,
) -> Vec<WeekActivity> {
    let mut weeks: BTreeMap<Date, u64> = BTreeMap::new();
    for segment in segments {
        if let Some(monday) = segment.day().parse::<Date>().ok().and_then(monday_of) {
            *weeks.entry(monday).or_insert(0) += 1;
        }
    }
    let (Some((first, _)), Some((last, _))) = (weeks.first_key_value(), weeks.last_key_value())
    else {
        return Vec::new();
    };
    let mut all = Vec::new();
    let (mut monday, first) = (*last, *first);
    while monday >= first && all.len() < WEEKS_MAX {
        let segments = weeks.get(&monday).copied().unwrap_or(0);
        all.push(WeekActivity { monday: monday.to_string(), segments });
        let Ok(before) = monday.checked_sub(jiff::Span::new().days(7)) else { break };
        monday = before;
    }
    all.reverse();
    all
}

fn monday_of(day: Date) -> Option<Date> {
    match day.weekday() {
        Weekday::Monday => Some(day),
        _ => day.nth_weekday(-1, Weekday::Monday).ok(),
    }
}
