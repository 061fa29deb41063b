//! Periods of the table of contents: years, months, weeks and days.
//!
//! There are two calendars. In the *tree*, a week is an ISO week (Monday to Sunday) and belongs to
//! the month and year of its Thursday, so that every day has exactly one parent; the title of a month
//! says which days that makes. As a *time range*, a month or year is the one on a wall calendar:
//! [`Period::range`] and [`Period::days`] of `Month(2026, 11)` are November 1 to 30, whatever weeks
//! those days belong to.
//!
//! All functions are total: invalid month and week numbers are clamped.

use jiff::ToSpan;
use jiff::civil::{Date, ISOWeekDate, Weekday};

use crate::{Level, Millis, Zone};

/// A calendar period. Coarser ones sort first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Period {
    /// A year.
    Year(i16),
    /// A year and a month, from 1.
    Month(i16, i8),
    /// An ISO year and a week, from 1.
    Week(i16, i8),
    /// A day.
    Day(Date),
}

impl Period {
    /// Returns the day that contains a moment.
    pub fn day_containing(at: Millis, zone: &Zone) -> Self {
        Self::Day(zone.date_of(at))
    }

    /// Returns the day of a date, if the date is valid.
    pub fn day(year: i16, month: i8, day: i8) -> Option<Self> {
        Date::new(year, month, day).ok().map(Self::Day)
    }

    /// The level in the tree.
    pub const fn level(&self) -> Level {
        match self {
            Self::Year(_) => Level::Year,
            Self::Month(..) => Level::Month,
            Self::Week(..) => Level::Week,
            Self::Day(_) => Level::Day,
        }
    }

    /// Its parent in the tree: a day's week, a week's month (by its Thursday), a month's year.
    pub fn parent(&self) -> Option<Self> {
        match *self {
            Self::Year(_) => None,
            Self::Month(year, _) => Some(Self::Year(year)),
            Self::Week(year, week) => {
                let thursday = iso_week_day(year, week, Weekday::Thursday)?;
                Some(Self::Month(thursday.year(), thursday.month()))
            }
            Self::Day(date) => Some(Self::week_containing(date)),
        }
    }

    /// Its ancestors in the tree, the nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> + use<> {
        std::iter::successors(self.parent(), Self::parent)
    }

    /// Its children in the tree, in order: the seven days of a week, the weeks whose Thursday is in
    /// a month, the twelve months of a year. (The last week of the calendar ends on a Friday.)
    pub fn children(&self) -> Vec<Self> {
        match *self {
            Self::Year(year) => (1..=12).map(|month| Self::Month(year, month)).collect(),
            Self::Month(..) => {
                let thursdays = self.dates().filter(|date| date.weekday() == Weekday::Thursday);
                thursdays.map(Self::week_containing).collect()
            }
            Self::Week(..) => self.days().collect(),
            Self::Day(_) => Vec::new(),
        }
    }

    /// Its days in order; for a month or a year those of the wall calendar.
    pub fn days(&self) -> impl Iterator<Item = Self> + use<> {
        self.dates().map(Self::Day)
    }

    /// Its time range, end exclusive, starting in 1970 at the earliest. Empty for a day that the
    /// zone skips.
    pub fn range(&self, zone: &Zone) -> (Millis, Millis) {
        let (first, last) = self.bounds();
        (zone.day_start(first), last.tomorrow().map_or(Zone::end(), |next| zone.day_start(next)))
    }

    /// Its title: `2026`, `November 2026 (Nov 2 – 29)`, `Week 46 of 2026 (Nov 9 – 15)`, `Saturday,
    /// November 14, 2026`. A month names the days of its weeks, unless they are exactly the month's.
    pub fn title(&self) -> String {
        let (first, last) = self.bounds();
        match *self {
            Self::Year(year) => year.to_string(),
            Self::Month(..) => {
                let name = first.strftime("%B %Y");
                match self.bounds_of_weeks() {
                    Some(days) if days != (first, last) => format!("{name} ({})", name_days(days)),
                    _ => name.to_string(),
                }
            }
            Self::Day(date) => date.strftime("%A, %B %-d, %Y").to_string(),
            Self::Week(year, week) => {
                format!("Week {week} of {year} ({})", name_days((first, last)))
            }
        }
    }

    /// The first and last day of its children.
    fn bounds_of_weeks(&self) -> Option<(Date, Date)> {
        let weeks = self.children();
        Some((weeks.first()?.bounds().0, weeks.last()?.bounds().1))
    }

    /// The ISO week of a date.
    pub fn week_containing(date: Date) -> Self {
        let week = date.iso_week_date();
        Self::Week(week.year(), week.week())
    }

    /// Its first and last day.
    pub fn bounds(&self) -> (Date, Date) {
        match *self {
            Self::Year(year) => {
                let first = first_of_month(year, 1);
                (first, first.last_of_year())
            }
            Self::Month(year, month) => {
                let first = first_of_month(year, month);
                (first, first.last_of_month())
            }
            Self::Week(year, week) => {
                let first = iso_week_day(year, week, Weekday::Monday).unwrap_or(Date::MAX);
                (first, first.saturating_add(6.days()))
            }
            Self::Day(date) => (date, date),
        }
    }

    fn dates(&self) -> impl Iterator<Item = Date> + use<> {
        let (first, last) = self.bounds();
        days_between(first, last)
    }
}

/// Names a range of days: `Nov 9 – 15`, `Jun 29 – Aug 2`, `Dec 29, 2025 – Jan 4, 2026`.
fn name_days((first, last): (Date, Date)) -> String {
    let (from, to) = if first.year() != last.year() {
        ("%b %-d, %Y", "%b %-d, %Y")
    } else if first.month() != last.month() {
        ("%b %-d", "%b %-d")
    } else {
        ("%b %-d", "%-d")
    };
    format!("{} – {}", first.strftime(from), last.strftime(to))
}

/// The days between two dates, both included.
pub fn days_between(first: Date, last: Date) -> impl Iterator<Item = Date> {
    std::iter::successors(Some(first), |date| date.tomorrow().ok())
        .take_while(move |date| *date <= last)
}

fn first_of_month(year: i16, month: i8) -> Date {
    Date::new(year.clamp(-9999, 9999), month.clamp(1, 12), 1).unwrap_or(Date::MAX)
}

fn iso_week_day(year: i16, week: i8, day: Weekday) -> Option<Date> {
    let year = year.clamp(-9998, 9999);
    let weeks = ISOWeekDate::new(year, 1, Weekday::Monday).ok()?.weeks_in_year();
    ISOWeekDate::new(year, week.clamp(1, weeks), day).ok().map(ISOWeekDate::date)
}
