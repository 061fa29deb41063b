//! Resolves a parsed phrase to days or exact times, relative to now.

use jiff::civil::{Date, ISOWeekDate, Weekday};
use jiff::{Span as Distance, ToSpan};

use super::language::{Means, Unit, Which};
use super::reading::{Reading, Values};
use tome_model::{Millis, Period, Zone};

const MINUTE_MS: u64 = 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stretch {
    /// Whole days, both included.
    Days { first: Date, last: Date, parts: Parts },
    /// From (inclusive) to (exclusive); `said` is the moment named by the phrase.
    Exact { from: Millis, to: Millis, said: Millis },
}

/// The periods that cover whole days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// Only days: for a calendar month, which does not consist of whole weeks.
    Days,
    /// Whole weeks where possible, otherwise days.
    Weeks,
}

/// The reference time and zone of a phrase.
pub(super) struct Here<'a> {
    now: Millis,
    today: Date,
    zone: &'a Zone,
}

impl<'a> Here<'a> {
    pub fn at(now: Millis, zone: &'a Zone) -> Self {
        let now = Millis(now.0.min(Zone::end().0 - 1));
        Self { now, today: zone.date_of(now), zone }
    }

    pub fn year(&self) -> i16 {
        self.today.year()
    }

    /// Resolves a phrase; `None` if the calendar has no such date.
    pub fn resolve(&self, reading: &Reading) -> Option<Stretch> {
        let whens = &reading.values.whens;
        match reading.means {
            Means::Between => {
                let last = self.simple(whens.get(1)?, self.today)?;
                // `from Monday to Wednesday`: the latest such Wednesday, and the Monday before it.
                let (_, anchor) = self.days_of(last);
                let first = self.simple(whens.first()?, anchor)?;
                Some(self.hull(first, last))
            }
            Means::WeekOf => {
                let (first, last) = self.days_of(self.simple(whens.first()?, self.today)?);
                // A month is not in one week; `the first week of March` is not supported.
                (first == last).then(|| days_of(Period::week_of(first)))
            }
            Means::Since => self.since(self.simple(whens.first()?, self.today)?),
            Means::After => self.after(self.simple(whens.first()?, self.today)?),
            Means::Before => self.before(self.simple(whens.first()?, self.today)?),
            Means::Until => {
                let (_, last) = self.days_of(self.simple(whens.first()?, self.today)?);
                stretch(self.zone.date_of(Millis(0)), last)
            }
            _ => self.simple(reading, self.today),
        }
    }

    /// Resolves a phrase without nested phrases. Without a year or week of its own, it means the
    /// latest one that has begun on the anchor day.
    fn simple(&self, reading: &Reading, anchor: Date) -> Option<Stretch> {
        let values = &reading.values;
        match reading.means {
            Means::DaysBack(count) => one_day(back(self.today, count.days())?),
            Means::Back(count) => self.unit_back(values.unit?, count),
            Means::AgoBetween(from, to) => self.ago_between(values.unit?, from, to),
            Means::Weekend => {
                let begun = self.today.weekday().to_monday_zero_offset() >= 5;
                self.unit_back(Unit::Weekend, i64::from(!begun))
            }
            Means::Ago => self.ago(values.unit?, values.count?),
            Means::Hours(count) => self.recent(Unit::Hour, count),
            Means::Rolling => self.rolling(values.unit?, values.count.unwrap_or(1)),
            Means::Weekday(which) => self.weekday(values.weekday?, which, anchor),
            Means::Month(which) => self.month(values, which, anchor),
            Means::Date => one_day(date(values, *values.days.first()?, anchor)?),
            Means::Dates => {
                let last = date(values, *values.days.get(1)?, anchor)?;
                stretch(last.with().day(*values.days.first()?).build().ok()?, last)
            }
            Means::YearBack(count) => {
                let year = Some(self.today.year() - count);
                let values = Values { year, ..values.clone() };
                match values.days.first() {
                    Some(day) => one_day(date(&values, *day, anchor)?),
                    None => self.month(&values, Which::Latest, anchor),
                }
            }
            Means::Year => Some(days_of(Period::Year(values.year?))),
            Means::Quarter => quarter(values, anchor),
            Means::Week => week(values, anchor),
            Means::Iso => self.iso(values, anchor),
            Means::Between
            | Means::WeekOf
            | Means::Since
            | Means::After
            | Means::Before
            | Means::Until => None,
        }
    }

    fn unit_back(&self, unit: Unit, count: i64) -> Option<Stretch> {
        let monday = || back(self.today, (count.checked_mul(7)?).days()).map(monday_of);
        match unit {
            Unit::Minute | Unit::Hour => None,
            Unit::Day => one_day(back(self.today, count.days())?),
            Unit::Week => Some(days_of(Period::week_of(monday()?))),
            Unit::Weekend => {
                let saturday = ahead(monday()?, 5.days())?;
                stretch(saturday, ahead(saturday, 1.day())?)
            }
            Unit::Month => {
                let first = back(self.today.first_of_month(), count.months())?;
                Some(days_of(Period::Month(first.year(), first.month())))
            }
            Unit::Quarter => {
                let first = back(quarter_start(self.today)?, (count.checked_mul(3)?).months())?;
                three_months(first)
            }
            Unit::Year => {
                let first = back(self.today.first_of_year(), count.years())?;
                Some(days_of(Period::Year(first.year())))
            }
        }
    }

    fn ago(&self, unit: Unit, count: i64) -> Option<Stretch> {
        let Some(unit_ms) = exact_ms(unit) else { return self.unit_back(unit, count) };
        let away = u64::try_from(count).ok()?.checked_mul(unit_ms)?;
        // `an hour ago` is an approximation.
        let about = (away / 2).max(15 * MINUTE_MS).min(away);
        let said = self.now.0.checked_sub(away)?;
        Some(Stretch::Exact {
            from: Millis(said.saturating_sub(about)),
            to: Millis(said + about + 1),
            said: Millis(said),
        })
    }

    fn ago_between(&self, unit: Unit, from: i64, to: i64) -> Option<Stretch> {
        if exact_ms(unit).is_none() {
            return Some(self.hull(self.unit_back(unit, from)?, self.unit_back(unit, to)?));
        }
        match (self.recent(unit, from)?, self.recent(unit, to)?) {
            (Stretch::Exact { from, .. }, Stretch::Exact { from: to, .. }) => {
                Some(Stretch::Exact { from, to, said: from })
            }
            _ => None,
        }
    }

    fn rolling(&self, unit: Unit, count: i64) -> Option<Stretch> {
        let distance = match unit {
            Unit::Minute | Unit::Hour => return self.recent(unit, count),
            Unit::Weekend => return None,
            Unit::Day => count.days(),
            Unit::Week => count.checked_mul(7)?.days(),
            Unit::Month => count.months(),
            Unit::Quarter => count.checked_mul(3)?.months(),
            Unit::Year => count.years(),
        };
        stretch(ahead(back(self.today, distance)?, 1.day())?, self.today)
    }

    /// The last hours or minutes, including now.
    fn recent(&self, unit: Unit, count: i64) -> Option<Stretch> {
        let away = u64::try_from(count).ok()?.checked_mul(exact_ms(unit)?)?;
        let from = Millis(self.now.0.checked_sub(away)?);
        Some(Stretch::Exact { from, to: Millis(self.now.0 + 1), said: from })
    }

    fn weekday(&self, day: i8, which: Which, anchor: Date) -> Option<Stretch> {
        let day = Weekday::from_monday_one_offset(day).ok()?;
        one_day(match which {
            Which::Latest => back(anchor, i64::from(day.until(anchor.weekday())).days())?,
            Which::Last => self.today.nth_weekday(-1, day).ok()?,
            Which::This | Which::LastWeek => {
                let week = if which == Which::LastWeek { 7 } else { 0 };
                let monday = monday_of(back(self.today, week.days())?);
                ahead(monday, i64::from(day.to_monday_zero_offset()).days())?
            }
        })
    }

    fn month(&self, values: &Values, which: Which, anchor: Date) -> Option<Stretch> {
        let month = values.month?;
        let year = match (values.year, which) {
            (Some(year), _) => year,
            (None, Which::Latest) => anchor.year() - i16::from(month > anchor.month()),
            (None, Which::Last) => self.today.year() - i16::from(month >= self.today.month()),
            (None, Which::This | Which::LastWeek) => self.today.year(),
        };
        Some(days_of(Period::Month(year, month)))
    }

    fn iso(&self, values: &Values, anchor: Date) -> Option<Stretch> {
        if values.week.is_some() {
            return week(values, anchor);
        }
        if values.quarter.is_some() {
            return quarter(values, anchor);
        }
        let day = values.days.first().copied();
        let first = Date::new(values.year?, values.month?, day.unwrap_or(1)).ok()?;
        let month = Period::Month(first.year(), first.month());
        Some(days_of(if day.is_some() { Period::Day(first) } else { month }))
    }

    fn since(&self, start: Stretch) -> Option<Stretch> {
        match start {
            Stretch::Exact { said, .. } => {
                Some(Stretch::Exact { from: said, to: Millis(self.now.0 + 1), said })
            }
            Stretch::Days { first, last, .. } => stretch(first, last.max(self.today)),
        }
    }

    fn after(&self, end: Stretch) -> Option<Stretch> {
        match end {
            Stretch::Exact { .. } => self.since(end),
            Stretch::Days { last, .. } => stretch(last.tomorrow().ok()?, self.today),
        }
    }

    fn before(&self, end: Stretch) -> Option<Stretch> {
        match end {
            Stretch::Exact { said, .. } => Some(Stretch::Exact { from: Millis(0), to: said, said }),
            Stretch::Days { first, .. } => {
                stretch(self.zone.date_of(Millis(0)), first.yesterday().ok()?)
            }
        }
    }

    fn hull(&self, one: Stretch, other: Stretch) -> Stretch {
        let ((first, last), (start, end)) = (self.days_of(one), self.days_of(other));
        Stretch::Days { first: first.min(start), last: last.max(end), parts: Parts::Weeks }
    }

    fn days_of(&self, stretch: Stretch) -> (Date, Date) {
        match stretch {
            Stretch::Days { first, last, .. } => (first, last),
            Stretch::Exact { from, to, .. } => {
                (self.zone.date_of(from), self.zone.date_of(Millis(to.0.saturating_sub(1))))
            }
        }
    }
}

fn back(date: Date, distance: Distance) -> Option<Date> {
    date.checked_sub(distance).ok()
}

fn ahead(date: Date, distance: Distance) -> Option<Date> {
    date.checked_add(distance).ok()
}

fn monday_of(date: Date) -> Date {
    Period::week_of(date).bounds().0
}

/// The length of a unit that is not a calendar unit.
fn exact_ms(unit: Unit) -> Option<u64> {
    match unit {
        Unit::Minute => Some(MINUTE_MS),
        Unit::Hour => Some(60 * MINUTE_MS),
        _ => None,
    }
}

fn one_day(date: Date) -> Option<Stretch> {
    stretch(date, date)
}

fn stretch(first: Date, last: Date) -> Option<Stretch> {
    (first <= last).then_some(Stretch::Days { first, last, parts: Parts::Weeks })
}

fn days_of(period: Period) -> Stretch {
    let (first, last) = period.bounds();
    let parts = if matches!(period, Period::Month(..)) { Parts::Days } else { Parts::Weeks };
    Stretch::Days { first, last, parts }
}

/// A day of a month; without a year, the latest such day up to the anchor. Nine years include a
/// leap year, except around 1900 and 2100.
fn date(values: &Values, day: i8, anchor: Date) -> Option<Date> {
    let of = |year: i16| Date::new(year, values.month?, day).ok();
    match values.year {
        Some(year) => of(year),
        None => (0..9).find_map(|ago| of(anchor.year() - ago).filter(|date| *date <= anchor)),
    }
}

fn week(values: &Values, anchor: Date) -> Option<Stretch> {
    let of = |year: i16| {
        ISOWeekDate::new(year, values.week?, Weekday::Monday).ok().map(ISOWeekDate::date)
    };
    let monday = match values.year {
        Some(year) => of(year),
        // Only some years have a week 53.
        None => (-1..8).find_map(|ago| of(anchor.year() - ago).filter(|date| *date <= anchor)),
    };
    Some(days_of(Period::week_of(monday?)))
}

fn quarter(values: &Values, anchor: Date) -> Option<Stretch> {
    let month = (values.quarter? - 1) * 3 + 1;
    let year = values.year.unwrap_or(anchor.year() - i16::from(month > anchor.month()));
    three_months(Date::new(year, month, 1).ok()?)
}

fn quarter_start(date: Date) -> Option<Date> {
    Date::new(date.year(), (date.month() - 1) / 3 * 3 + 1, 1).ok()
}

fn three_months(first: Date) -> Option<Stretch> {
    stretch(first, ahead(first, 2.months())?.last_of_month())
}
