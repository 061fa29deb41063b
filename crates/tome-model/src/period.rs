//! Periods of the table of contents: years, months, weeks and days.
//!
//! Years, months and days are those of a wall calendar. Weeks are ISO weeks (Monday to Sunday), so the
//! first and last week of a month may lie in two months. Such a week is listed below both, with all of its
//! days; a month is built from the weeks that lie within it and from the single days of the others
//! ([`Period::parts`]), so that every day counts in exactly one month.
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

    /// The period to go up to: a day's week, the month that has most days of a week, a month's year.
    pub fn parent(&self) -> Option<Self> {
        match *self {
            Self::Year(_) => None,
            Self::Month(year, _) => Some(Self::Year(year)),
            Self::Week(year, week) => {
                let thursday = iso_week_day(year, week, Weekday::Thursday)?;
                Some(Self::month_containing(thursday))
            }
            Self::Day(date) => Some(Self::week_containing(date)),
        }
    }

    /// The longer periods that a day lies in: its week, month and year. Of other periods, those to go up to.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> + use<> {
        let next = match *self {
            Self::Day(date) => [Self::week_containing(date), Self::month_containing(date)].to_vec(),
            _ => self.parent().into_iter().collect(),
        };
        let last = next.last().copied();
        next.into_iter().chain(std::iter::successors(last.and_then(|it| it.parent()), Self::parent))
    }

    /// The periods below it, in order: the seven days of a week, the weeks that have a day in a month, the
    /// twelve months of a year. (The last week of the calendar ends on a Friday.)
    pub fn children(&self) -> Vec<Self> {
        match *self {
            Self::Year(year) => (1..=12).map(|month| Self::Month(year, month)).collect(),
            Self::Month(..) => {
                let mut weeks: Vec<Self> = self.dates().map(Self::week_containing).collect();
                weeks.dedup();
                weeks
            }
            Self::Week(..) => self.days().collect(),
            Self::Day(_) => Vec::new(),
        }
    }

    /// The periods that it is built from, in order; together they are exactly its days. Those of a month are
    /// the weeks within it, and the days of the weeks that it shares with another month.
    pub fn parts(&self) -> Vec<Self> {
        let is_part_of_self = |week: &Self| week.month() == Some(*self);
        match *self {
            Self::Month(..) => {
                let mut parts: Vec<Self> = self
                    .dates()
                    .map(|date| {
                        Some(Self::week_containing(date))
                            .filter(is_part_of_self)
                            .unwrap_or(Self::Day(date))
                    })
                    .collect();
                parts.dedup();
                parts
            }
            _ => self.children(),
        }
    }

    /// The periods that have it among their [parts](Self::parts).
    pub fn part_of(&self) -> Vec<Self> {
        match *self {
            Self::Year(_) => Vec::new(),
            Self::Month(year, _) => vec![Self::Year(year)],
            Self::Week(..) => self.month().into_iter().collect(),
            Self::Day(date) => {
                let week = Self::week_containing(date);
                let month = Some(Self::month_containing(date)).filter(|_| week.month().is_none());
                std::iter::once(week).chain(month).collect()
            }
        }
    }

    /// The month that it lies in as a whole.
    fn month(&self) -> Option<Self> {
        let (first, last) = self.bounds();
        let month = Self::month_containing(first);
        (month == Self::month_containing(last)).then_some(month)
    }

    /// Its days in order.
    pub fn days(&self) -> impl Iterator<Item = Self> + use<> {
        self.dates().map(Self::Day)
    }

    /// Its time range, end exclusive, starting in 1970 at the earliest. Empty for a day that the
    /// zone skips.
    pub fn range(&self, zone: &Zone) -> (Millis, Millis) {
        let (first, last) = self.bounds();
        (zone.day_start(first), last.tomorrow().map_or(Zone::end(), |next| zone.day_start(next)))
    }

    /// Its title: `2026`, `November 2026`, `Week 46 of 2026 (Nov 9 – 15)`, `Saturday, November 14, 2026`.
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

    /// The month of a date.
    pub fn month_containing(date: Date) -> Self {
        Self::Month(date.year(), date.month())
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
