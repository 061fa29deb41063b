//! Periods: the years, months, weeks and days that the contents hang on.
//!
//! Two calendars meet here. In the *tree*, a week is an ISO week (Monday to Sunday) and belongs to
//! the month and the year of its Thursday, so that every day has exactly one place. As a *stretch of
//! time*, a month or a year is the one on the wall: [`Period::range`] and [`Period::days`] of
//! `Month(2026, 11)` are the first to the thirtieth, whatever weeks those days hang under.
//!
//! Everything is total: a month or week number that no year has counts as the nearest that it has.

use jiff::ToSpan;
use jiff::civil::{Date, ISOWeekDate, Weekday};

use crate::{Level, Millis, NodeId, Zone};

/// A period of the calendar. In order, coarser ones come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Period {
    /// A year.
    Year(i16),
    /// A year and its month, from 1.
    Month(i16, i8),
    /// An ISO year and its week, from 1.
    Week(i16, i8),
    /// A day.
    Day(Date),
}

impl Period {
    /// The day that a moment is in.
    pub fn day_of(at: Millis, zone: &Zone) -> Self {
        Self::Day(zone.date_of(at))
    }

    /// The day of a date, if there is such a date.
    pub fn day(year: i16, month: i8, day: i8) -> Option<Self> {
        Date::new(year, month, day).ok().map(Self::Day)
    }

    /// How coarse it is.
    pub const fn level(&self) -> Level {
        match self {
            Self::Year(_) => Level::Year,
            Self::Month(..) => Level::Month,
            Self::Week(..) => Level::Week,
            Self::Day(_) => Level::Day,
        }
    }

    /// The id of its node.
    pub fn id(&self) -> NodeId {
        NodeId::of(*self)
    }

    /// Where it hangs: a day in its week, a week in the month of its Thursday, a month in its year.
    pub fn parent(&self) -> Option<Self> {
        match *self {
            Self::Year(_) => None,
            Self::Month(year, _) => Some(Self::Year(year)),
            Self::Week(year, week) => {
                let thursday = day_of_week(year, week, Weekday::Thursday)?;
                Some(Self::Month(thursday.year(), thursday.month()))
            }
            Self::Day(date) => Some(Self::week_of(date)),
        }
    }

    /// All that it hangs under, the nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> + use<> {
        std::iter::successors(self.parent(), Self::parent)
    }

    /// What hangs under it, in order: seven days under a week, under a month the weeks whose Thursday
    /// it holds, twelve months under a year. (The calendar ends on a Friday, in the middle of a week.)
    pub fn children(&self) -> Vec<Self> {
        match *self {
            Self::Year(year) => (1..=12).map(|month| Self::Month(year, month)).collect(),
            Self::Month(..) => {
                let thursdays = self.dates().filter(|date| date.weekday() == Weekday::Thursday);
                thursdays.map(Self::week_of).collect()
            }
            Self::Week(..) => self.days().collect(),
            Self::Day(_) => Vec::new(),
        }
    }

    /// Its days, in order; of a month or a year, those of the calendar on the wall.
    pub fn days(&self) -> impl Iterator<Item = Self> + use<> {
        self.dates().map(Self::Day)
    }

    /// From when (inclusive) to when (exclusive) it is; nothing lies before 1970. A day that the zone
    /// skips is empty.
    pub fn range(&self, zone: &Zone) -> (Millis, Millis) {
        let (first, last) = self.bounds();
        (zone.start_of(first), last.tomorrow().map_or(Zone::end(), |next| zone.start_of(next)))
    }

    /// What people call it: `2026`, `November 2026`, `Week 46 of 2026 (Nov 9 – 15)`,
    /// `Saturday, November 14, 2026`.
    pub fn title(&self) -> String {
        let (first, last) = self.bounds();
        match *self {
            Self::Year(year) => year.to_string(),
            Self::Month(..) => first.strftime("%B %Y").to_string(),
            Self::Day(date) => date.strftime("%A, %B %-d, %Y").to_string(),
            Self::Week(year, week) => {
                let (from, to) = if first.year() != last.year() {
                    ("%b %-d, %Y", "%b %-d, %Y")
                } else if first.month() != last.month() {
                    ("%b %-d", "%b %-d")
                } else {
                    ("%b %-d", "%-d")
                };
                format!("Week {week} of {year} ({} – {})", first.strftime(from), last.strftime(to))
            }
        }
    }

    /// The ISO week that a date is in.
    pub(crate) fn week_of(date: Date) -> Self {
        let week = date.iso_week_date();
        Self::Week(week.year(), week.week())
    }

    /// Its first and its last day.
    pub(crate) fn bounds(&self) -> (Date, Date) {
        match *self {
            Self::Year(year) => {
                let first = first_of(year, 1);
                (first, first.last_of_year())
            }
            Self::Month(year, month) => {
                let first = first_of(year, month);
                (first, first.last_of_month())
            }
            Self::Week(year, week) => {
                let first = day_of_week(year, week, Weekday::Monday).unwrap_or(Date::MAX);
                (first, first.saturating_add(6.days()))
            }
            Self::Day(date) => (date, date),
        }
    }

    fn dates(&self) -> impl Iterator<Item = Date> + use<> {
        let (first, last) = self.bounds();
        dates(first, last)
    }
}

/// The days from one to another, both included.
pub(crate) fn dates(first: Date, last: Date) -> impl Iterator<Item = Date> {
    std::iter::successors(Some(first), |date| date.tomorrow().ok())
        .take_while(move |date| *date <= last)
}

fn first_of(year: i16, month: i8) -> Date {
    Date::new(year.clamp(-9999, 9999), month.clamp(1, 12), 1).unwrap_or(Date::MAX)
}

fn day_of_week(year: i16, week: i8, day: Weekday) -> Option<Date> {
    let year = year.clamp(-9998, 9999);
    let weeks = ISOWeekDate::new(year, 1, Weekday::Monday).ok()?.weeks_in_year();
    ISOWeekDate::new(year, week.clamp(1, weeks), day).ok().map(ISOWeekDate::date)
}
