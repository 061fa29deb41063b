//! Resolves a parsed phrase to days or exact times, relative to now.

use jiff::civil::{Date, ISOWeekDate, Weekday};
use jiff::{Span as Distance, ToSpan};

use super::language::{PhraseMeaning, TimeUnit, WhichPeriod};
use super::matcher::{ParsedPhrase, SlotValues};
use tome_model::{Millis, Period, Zone};

const MINUTE_MS: u64 = 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResolvedRange {
    /// Whole days, both included.
    Days { first: Date, last: Date, cover: CoverUnit },
    /// From (inclusive) to (exclusive); `moment` is the one that the phrase names.
    Exact { from: Millis, to: Millis, moment: Millis },
}

/// The periods that cover whole days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CoverUnit {
    /// Only days: so that a month is listed by its days. Longer periods are listed by their weeks.
    Days,
    /// Whole weeks where possible, otherwise days.
    Weeks,
}

/// The reference time and zone of a phrase.
pub(super) struct ReferenceTime<'a> {
    now: Millis,
    today: Date,
    zone: &'a Zone,
}

impl<'a> ReferenceTime<'a> {
    pub fn new(now: Millis, zone: &'a Zone) -> Self {
        let now = Millis(now.0.min(Zone::end().0 - 1));
        Self { now, today: zone.date_of(now), zone }
    }

    pub fn year(&self) -> i16 {
        self.today.year()
    }

    /// Resolves a phrase; `None` if the calendar has no such date.
    pub fn resolve(&self, phrase: &ParsedPhrase) -> Option<ResolvedRange> {
        let nested = &phrase.values.nested;
        match phrase.meaning {
            PhraseMeaning::Between => {
                let last = self.resolve_simple(nested.get(1)?, self.today)?;
                // `from Monday to Wednesday`: the latest such Wednesday, and the Monday before it.
                let (_, anchor) = self.day_bounds(last);
                let first = self.resolve_simple(nested.first()?, anchor)?;
                Some(self.enclosing_days(first, last))
            }
            PhraseMeaning::WeekOf => {
                let (first, last) =
                    self.day_bounds(self.resolve_simple(nested.first()?, self.today)?);
                // A month is not in one week; `the first week of March` is not supported.
                (first == last).then(|| period_range(Period::week_containing(first)))
            }
            PhraseMeaning::Since => {
                self.resolve_since(self.resolve_simple(nested.first()?, self.today)?)
            }
            PhraseMeaning::After => {
                self.resolve_after(self.resolve_simple(nested.first()?, self.today)?)
            }
            PhraseMeaning::Before => {
                self.resolve_before(self.resolve_simple(nested.first()?, self.today)?)
            }
            PhraseMeaning::Until => {
                let (_, last) = self.day_bounds(self.resolve_simple(nested.first()?, self.today)?);
                day_range(self.zone.date_of(Millis(0)), last)
            }
            _ => self.resolve_simple(phrase, self.today),
        }
    }

    /// Resolves a phrase without nested phrases. Without a year or week of its own, it means the
    /// latest one that has begun on the anchor day.
    fn resolve_simple(&self, phrase: &ParsedPhrase, anchor: Date) -> Option<ResolvedRange> {
        let values = &phrase.values;
        match phrase.meaning {
            PhraseMeaning::DaysBack(count) => one_day(subtract_distance(self.today, count.days())?),
            PhraseMeaning::Back(count) => self.resolve_unit_back(values.unit?, count),
            PhraseMeaning::AgoBetween(from, to) => self.resolve_ago_between(values.unit?, from, to),
            PhraseMeaning::Weekend => {
                let begun = self.today.weekday().to_monday_zero_offset() >= 5;
                self.resolve_unit_back(TimeUnit::Weekend, i64::from(!begun))
            }
            PhraseMeaning::Ago => self.resolve_ago(values.unit?, values.count?),
            PhraseMeaning::Hours(count) => self.resolve_recent(TimeUnit::Hour, count),
            PhraseMeaning::Rolling => self.resolve_rolling(values.unit?, values.count.unwrap_or(1)),
            PhraseMeaning::Weekday(which) => self.resolve_weekday(values.weekday?, which, anchor),
            PhraseMeaning::Month(which) => self.resolve_month(values, which, anchor),
            PhraseMeaning::Date => one_day(resolve_date(values, *values.days.first()?, anchor)?),
            PhraseMeaning::Dates => {
                let last = resolve_date(values, *values.days.get(1)?, anchor)?;
                day_range(last.with().day(*values.days.first()?).build().ok()?, last)
            }
            PhraseMeaning::YearBack(count) => {
                let year = Some(self.today.year() - count);
                let values = SlotValues { year, ..values.clone() };
                match values.days.first() {
                    Some(day) => one_day(resolve_date(&values, *day, anchor)?),
                    None => self.resolve_month(&values, WhichPeriod::Latest, anchor),
                }
            }
            PhraseMeaning::Year => Some(period_range(Period::Year(values.year?))),
            PhraseMeaning::Quarter => resolve_quarter(values, anchor),
            PhraseMeaning::Week => resolve_week(values, anchor),
            PhraseMeaning::Iso => self.resolve_iso(values, anchor),
            PhraseMeaning::Between
            | PhraseMeaning::WeekOf
            | PhraseMeaning::Since
            | PhraseMeaning::After
            | PhraseMeaning::Before
            | PhraseMeaning::Until => None,
        }
    }

    fn resolve_unit_back(&self, unit: TimeUnit, count: i64) -> Option<ResolvedRange> {
        let monday =
            || subtract_distance(self.today, (count.checked_mul(7)?).days()).map(week_start);
        match unit {
            TimeUnit::Minute | TimeUnit::Hour => None,
            TimeUnit::Day => one_day(subtract_distance(self.today, count.days())?),
            TimeUnit::Week => Some(period_range(Period::week_containing(monday()?))),
            TimeUnit::Weekend => {
                let saturday = add_distance(monday()?, 5.days())?;
                day_range(saturday, add_distance(saturday, 1.day())?)
            }
            TimeUnit::Month => {
                let first = subtract_distance(self.today.first_of_month(), count.months())?;
                Some(period_range(Period::Month(first.year(), first.month())))
            }
            TimeUnit::Quarter => {
                let first = subtract_distance(
                    quarter_start(self.today)?,
                    (count.checked_mul(3)?).months(),
                )?;
                quarter_range(first)
            }
            TimeUnit::Year => {
                let first = subtract_distance(self.today.first_of_year(), count.years())?;
                Some(period_range(Period::Year(first.year())))
            }
        }
    }

    fn resolve_ago(&self, unit: TimeUnit, count: i64) -> Option<ResolvedRange> {
        let Some(unit_ms) = clock_unit_ms(unit) else { return self.resolve_unit_back(unit, count) };
        let away = u64::try_from(count).ok()?.checked_mul(unit_ms)?;
        // `3 hours ago` covers half the distance before and after it, at least 15 minutes.
        let about = (away / 2).max(15 * MINUTE_MS).min(away);
        let moment = self.now.0.checked_sub(away)?;
        Some(ResolvedRange::Exact {
            from: Millis(moment.saturating_sub(about)),
            to: Millis(moment + about + 1),
            moment: Millis(moment),
        })
    }

    fn resolve_ago_between(&self, unit: TimeUnit, from: i64, to: i64) -> Option<ResolvedRange> {
        if clock_unit_ms(unit).is_none() {
            return Some(self.enclosing_days(
                self.resolve_unit_back(unit, from)?,
                self.resolve_unit_back(unit, to)?,
            ));
        }
        match (self.resolve_recent(unit, from)?, self.resolve_recent(unit, to)?) {
            (ResolvedRange::Exact { from, .. }, ResolvedRange::Exact { from: to, .. }) => {
                Some(ResolvedRange::Exact { from, to, moment: from })
            }
            _ => None,
        }
    }

    fn resolve_rolling(&self, unit: TimeUnit, count: i64) -> Option<ResolvedRange> {
        let distance = match unit {
            TimeUnit::Minute | TimeUnit::Hour => return self.resolve_recent(unit, count),
            TimeUnit::Weekend => return None,
            TimeUnit::Day => count.days(),
            TimeUnit::Week => count.checked_mul(7)?.days(),
            TimeUnit::Month => count.months(),
            TimeUnit::Quarter => count.checked_mul(3)?.months(),
            TimeUnit::Year => count.years(),
        };
        day_range(add_distance(subtract_distance(self.today, distance)?, 1.day())?, self.today)
    }

    /// The last hours or minutes, including now.
    fn resolve_recent(&self, unit: TimeUnit, count: i64) -> Option<ResolvedRange> {
        let away = u64::try_from(count).ok()?.checked_mul(clock_unit_ms(unit)?)?;
        let from = Millis(self.now.0.checked_sub(away)?);
        Some(ResolvedRange::Exact { from, to: Millis(self.now.0 + 1), moment: from })
    }

    fn resolve_weekday(&self, day: i8, which: WhichPeriod, anchor: Date) -> Option<ResolvedRange> {
        let day = Weekday::from_monday_one_offset(day).ok()?;
        one_day(match which {
            WhichPeriod::Latest => {
                subtract_distance(anchor, i64::from(day.until(anchor.weekday())).days())?
            }
            WhichPeriod::Last => self.today.nth_weekday(-1, day).ok()?,
            WhichPeriod::This | WhichPeriod::LastWeek => {
                let week = if which == WhichPeriod::LastWeek { 7 } else { 0 };
                let monday = week_start(subtract_distance(self.today, week.days())?);
                add_distance(monday, i64::from(day.to_monday_zero_offset()).days())?
            }
        })
    }

    fn resolve_month(
        &self,
        values: &SlotValues,
        which: WhichPeriod,
        anchor: Date,
    ) -> Option<ResolvedRange> {
        let month = values.month?;
        let year = match (values.year, which) {
            (Some(year), _) => year,
            (None, WhichPeriod::Latest) => anchor.year() - i16::from(month > anchor.month()),
            (None, WhichPeriod::Last) => self.today.year() - i16::from(month >= self.today.month()),
            (None, WhichPeriod::This | WhichPeriod::LastWeek) => self.today.year(),
        };
        Some(period_range(Period::Month(year, month)))
    }

    fn resolve_iso(&self, values: &SlotValues, anchor: Date) -> Option<ResolvedRange> {
        if values.week.is_some() {
            return resolve_week(values, anchor);
        }
        if values.quarter.is_some() {
            return resolve_quarter(values, anchor);
        }
        let day = values.days.first().copied();
        let first = Date::new(values.year?, values.month?, day.unwrap_or(1)).ok()?;
        let month = Period::Month(first.year(), first.month());
        Some(period_range(if day.is_some() { Period::Day(first) } else { month }))
    }

    fn resolve_since(&self, start: ResolvedRange) -> Option<ResolvedRange> {
        match start {
            ResolvedRange::Exact { moment, .. } => {
                Some(ResolvedRange::Exact { from: moment, to: Millis(self.now.0 + 1), moment })
            }
            ResolvedRange::Days { first, last, .. } => day_range(first, last.max(self.today)),
        }
    }

    fn resolve_after(&self, end: ResolvedRange) -> Option<ResolvedRange> {
        match end {
            ResolvedRange::Exact { .. } => self.resolve_since(end),
            ResolvedRange::Days { last, .. } => day_range(last.tomorrow().ok()?, self.today),
        }
    }

    fn resolve_before(&self, end: ResolvedRange) -> Option<ResolvedRange> {
        match end {
            ResolvedRange::Exact { moment, .. } => {
                Some(ResolvedRange::Exact { from: Millis(0), to: moment, moment })
            }
            ResolvedRange::Days { first, .. } => {
                day_range(self.zone.date_of(Millis(0)), first.yesterday().ok()?)
            }
        }
    }

    fn enclosing_days(&self, one: ResolvedRange, other: ResolvedRange) -> ResolvedRange {
        let ((first, last), (start, end)) = (self.day_bounds(one), self.day_bounds(other));
        ResolvedRange::Days {
            first: first.min(start),
            last: last.max(end),
            cover: CoverUnit::Weeks,
        }
    }

    fn day_bounds(&self, range: ResolvedRange) -> (Date, Date) {
        match range {
            ResolvedRange::Days { first, last, .. } => (first, last),
            ResolvedRange::Exact { from, to, .. } => {
                (self.zone.date_of(from), self.zone.date_of(Millis(to.0.saturating_sub(1))))
            }
        }
    }
}

fn subtract_distance(date: Date, distance: Distance) -> Option<Date> {
    date.checked_sub(distance).ok()
}

fn add_distance(date: Date, distance: Distance) -> Option<Date> {
    date.checked_add(distance).ok()
}

fn week_start(date: Date) -> Date {
    Period::week_containing(date).bounds().0
}

/// The length of a unit that is not a calendar unit.
fn clock_unit_ms(unit: TimeUnit) -> Option<u64> {
    match unit {
        TimeUnit::Minute => Some(MINUTE_MS),
        TimeUnit::Hour => Some(60 * MINUTE_MS),
        _ => None,
    }
}

fn one_day(date: Date) -> Option<ResolvedRange> {
    day_range(date, date)
}

fn day_range(first: Date, last: Date) -> Option<ResolvedRange> {
    (first <= last).then_some(ResolvedRange::Days { first, last, cover: CoverUnit::Weeks })
}

fn period_range(period: Period) -> ResolvedRange {
    let (first, last) = period.bounds();
    let cover =
        if matches!(period, Period::Month(..)) { CoverUnit::Days } else { CoverUnit::Weeks };
    ResolvedRange::Days { first, last, cover }
}

/// A day of a month; without a year, the latest such day up to the anchor. Nine years always include a
/// February 29, even across 1900 and 2100.
fn resolve_date(values: &SlotValues, day: i8, anchor: Date) -> Option<Date> {
    let date_in = |year: i16| Date::new(year, values.month?, day).ok();
    match values.year {
        Some(year) => date_in(year),
        None => (0..9).find_map(|ago| date_in(anchor.year() - ago).filter(|date| *date <= anchor)),
    }
}

fn resolve_week(values: &SlotValues, anchor: Date) -> Option<ResolvedRange> {
    let monday_in = |year: i16| {
        ISOWeekDate::new(year, values.week?, Weekday::Monday).ok().map(ISOWeekDate::date)
    };
    let monday = match values.year {
        Some(year) => monday_in(year),
        // Only some years have a week 53.
        None => {
            (-1..8).find_map(|ago| monday_in(anchor.year() - ago).filter(|date| *date <= anchor))
        }
    };
    Some(period_range(Period::week_containing(monday?)))
}

fn resolve_quarter(values: &SlotValues, anchor: Date) -> Option<ResolvedRange> {
    let month = (values.quarter? - 1) * 3 + 1;
    let year = values.year.unwrap_or(anchor.year() - i16::from(month > anchor.month()));
    quarter_range(Date::new(year, month, 1).ok()?)
}

fn quarter_start(date: Date) -> Option<Date> {
    Date::new(date.year(), (date.month() - 1) / 3 * 3 + 1, 1).ok()
}

fn quarter_range(first: Date) -> Option<ResolvedRange> {
    day_range(first, add_distance(first, 2.months())?.last_of_month())
}
