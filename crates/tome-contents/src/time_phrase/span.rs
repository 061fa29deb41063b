//! Time spans, and the periods that cover them.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::resolve::{CoverUnit, ResolvedRange};
use tome_model::{Millis, Period, Zone, days_between};

/// A time range named in a text. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeSpan {
    /// Start, inclusive.
    pub from: Millis,
    /// End, exclusive.
    pub to: Millis,
    /// The periods that cover it, in order, without gaps: weeks and days. A named month is covered by
    /// its days, so that they are listed; a span of hours by the days that contain it.
    pub periods: Vec<Period>,
    /// The words that were parsed.
    pub phrase: String,
}

impl TimeSpan {
    /// Drops the periods that end before a moment, such as that of the first event: `before March`
    /// begins in 1970. `None` if nothing is left.
    pub fn clip_start(mut self, first: Millis, zone: &Zone) -> Option<Self> {
        self.periods.retain(|period| period.range(zone).1 > first);
        let start = self.periods.first()?.range(zone).0;
        self.from = self.from.max(start);
        (self.from < self.to).then_some(self)
    }

    /// Builds a span; `None` if it is empty: before 1970, beyond the calendar, or a day that the
    /// zone skips.
    pub(super) fn from_range(range: ResolvedRange, zone: &Zone, phrase: &str) -> Option<Self> {
        let (from, to, periods) = match range {
            ResolvedRange::Days { first, last, cover } => {
                let from = zone.day_start(first);
                let to = last.tomorrow().map_or(Zone::end(), |next| zone.day_start(next));
                (from, to, cover_with_periods(first, last, cover))
            }
            ResolvedRange::Exact { from, to, .. } => {
                let last = zone.date_of(Millis(to.0.saturating_sub(1)));
                (from, to, cover_with_periods(zone.date_of(from), last, CoverUnit::Weeks))
            }
        };
        (from < to).then(|| Self { from, to, periods, phrase: phrase.to_owned() })
    }
}

/// The periods that cover whole days.
fn cover_with_periods(first: Date, last: Date, cover: CoverUnit) -> Vec<Period> {
    if cover == CoverUnit::Days {
        return days_between(first, last).map(Period::Day).collect();
    }
    let mut periods = Vec::new();
    let mut next = Some(first);
    while let Some(day) = next.filter(|day| *day <= last) {
        let sunday = day.checked_add(6.days()).ok();
        let whole = sunday.filter(|sunday| day.weekday() == Weekday::Monday && *sunday <= last);
        periods.push(if whole.is_some() { Period::week_containing(day) } else { Period::Day(day) });
        next = whole.unwrap_or(day).tomorrow().ok();
    }
    periods
}
