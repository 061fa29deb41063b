//! Labels of periods in the contents. They omit what the parent entries already show, such as the year.

use jiff::Timestamp;
use jiff::civil::{Date, ISOWeekDate, Weekday};
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;
use tome_model::Millis;
use tome_proto::v1;

use crate::config::Settings;

/// The levels, coarsest first.
const LEVELS: [&str; 5] = ["year", "month", "week", "day", "segment"];

/// Number of levels above this one.
pub fn level_depth(level: &str) -> usize {
    LEVELS.iter().position(|known| *known == level).unwrap_or(0)
}

/// Labels in the time zone of the contents.
#[derive(Debug, Clone)]
pub struct TimeLabels {
    zone: TimeZone,
}

impl TimeLabels {
    pub fn from_settings(settings: &Settings) -> Self {
        // The settings hold only the zone's name; a zone without a name is the system's.
        let found = DateTimeParser::new().parse_time_zone(settings.contents.zone.name());
        Self { zone: found.unwrap_or_else(|_| TimeZone::system()) }
    }

    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    #[cfg(test)]
    pub fn utc() -> Self {
        Self { zone: TimeZone::UTC }
    }

    /// Formats a time as people say it: `2 h ago`, `Feb 13`, `Feb 13, 2025`.
    pub fn format_when(&self, now: Millis, at_ms: u64) -> String {
        const DAY_MS: u64 = 86_400_000;
        let at = Millis(at_ms);
        if at > now || now.distance_ms(at) < DAY_MS {
            return match now.distance_ms(at) {
                0..60_000 => "now".to_owned(),
                _ => tome_terminal::format_ago(now, at),
            };
        }
        let year = |ms| self.format_time(ms, "%Y");
        let format = if year(now.0) == year(at_ms) { "%b %-d" } else { "%b %-d, %Y" };
        self.format_time(at_ms, format)
    }

    /// Formats a time range for people: `Sun, Nov 15, 09:30 – 10:12`.
    pub fn format_period(&self, now: Millis, first_ms: u64, last_ms: u64) -> String {
        let (day, hour) = (|ms| self.format_weekday(now, ms), |ms| self.format_hour(ms));
        let (first, last) = (day(first_ms), day(last_ms));
        match first == last {
            true if hour(first_ms) == hour(last_ms) => format!("{first}, {}", hour(first_ms)),
            true => format!("{first}, {} – {}", hour(first_ms), hour(last_ms)),
            false => format!("{first}, {} – {last}, {}", hour(first_ms), hour(last_ms)),
        }
    }

    /// Formats the day and the minute of a time: `Nov 15, 09:30`; of another year without the minute.
    pub fn format_date_hour(&self, now: Millis, at_ms: u64) -> String {
        let year = |ms| self.format_time(ms, "%Y");
        let format = if year(now.0) == year(at_ms) { "%b %-d, %H:%M" } else { "%b %-d, %Y" };
        self.format_time(at_ms, format)
    }

    /// Formats the day of a time, with the year.
    pub fn format_date(&self, at_ms: u64) -> String {
        self.format_time(at_ms, "%b %-d, %Y")
    }

    /// Formats the day of a time as it can be typed: `2026-11-15`.
    pub fn format_iso_date(&self, at_ms: u64) -> String {
        self.format_time(at_ms, "%Y-%m-%d")
    }

    /// Formats a time range that begins and ends at midnight: `2026`, `February 2026`, `Thu, Feb 12,
    /// 2026`, `Feb 9 – Feb 15, 2026`. The end is exclusive.
    pub fn format_range(&self, from_ms: u64, to_ms: u64) -> String {
        let last_ms = to_ms.saturating_sub(1).max(from_ms);
        let part = |ms, format| self.format_time(ms, format);
        let is_same = |format| part(from_ms, format) == part(last_ms, format);
        let is_first =
            |format, first: &str| part(from_ms, format) == first && part(to_ms, format) == first;
        if is_same("%Y-%m-%d") {
            part(from_ms, "%a, %b %-d, %Y")
        } else if is_same("%Y-%m") && is_first("%d", "01") {
            part(from_ms, "%B %Y")
        } else if is_same("%Y") && is_first("%m-%d", "01-01") {
            part(from_ms, "%Y")
        } else if is_same("%Y") {
            format!("{} – {}", part(from_ms, "%b %-d"), part(last_ms, "%b %-d, %Y"))
        } else {
            format!("{} – {}", self.format_date(from_ms), self.format_date(last_ms))
        }
    }

    /// Formats the day of a time with its weekday, and with the year unless it is the current one.
    pub fn format_weekday(&self, now: Millis, at_ms: u64) -> String {
        let year = |ms| self.format_time(ms, "%Y");
        let format = if year(now.0) == year(at_ms) { "%a, %b %-d" } else { "%a, %b %-d, %Y" };
        self.format_time(at_ms, format)
    }

    pub fn format_second(&self, ms: u64) -> String {
        self.format_time(ms, "%Y-%m-%d %H:%M:%S")
    }

    /// Formats the day of a time, with the year unless it is the current one.
    pub fn format_day(&self, now: Millis, at_ms: u64) -> String {
        let year = |ms| self.format_time(ms, "%Y");
        let format = if year(now.0) == year(at_ms) { "%b %-d" } else { "%b %-d, %Y" };
        self.format_time(at_ms, format)
    }

    /// Formats the hour and minute of a time.
    pub fn format_hour(&self, ms: u64) -> String {
        self.format_time(ms, "%H:%M")
    }

    /// When something of a node happened: the hour in a day, the day in a month. A year tells it by month.
    pub fn bullet_label(&self, level: &str, at_ms: u64) -> Option<String> {
        let format = match level {
            "segment" | "day" => "%H:%M",
            "week" | "month" => "%b %d",
            _ => return None,
        };
        (at_ms != 0).then(|| self.format_time(at_ms, format))
    }

    /// The label of an entry below its parent.
    pub fn entry_label(&self, entry: &v1::TocEntry) -> String {
        let period = entry.id.splitn(3, ':').nth(2).unwrap_or_default();
        let label = match entry.level.as_str() {
            "month" => month_label(period),
            "week" => week_label(period),
            "day" => period.parse::<Date>().ok().map(|day| day.strftime("%a, %b %-d").to_string()),
            "segment" => Some(self.segment_hours(entry)),
            _ => None,
        };
        label.unwrap_or_else(|| period.to_owned())
    }

    fn segment_hours(&self, entry: &v1::TocEntry) -> String {
        let hour = |ms| self.format_time(ms, "%H:%M");
        let (first, last) = (hour(entry.first_at_ms), hour(entry.last_at_ms));
        if first == last { first } else { format!("{first} – {last}") }
    }

    fn format_time(&self, ms: u64, format: &str) -> String {
        let stamp = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let here = stamp.map(|stamp| stamp.to_zoned(self.zone.clone()));
        here.map_or_else(|| "?".to_owned(), |here| here.strftime(format).to_string())
    }
}

/// `2026-11` becomes `November`.
fn month_label(month: &str) -> Option<String> {
    let first: Date = format!("{month}-01").parse().ok()?;
    Some(first.strftime("%B").to_string())
}

/// `2026-W46` becomes `W46  Nov 9 – 15`.
fn week_label(week: &str) -> Option<String> {
    let (year, number) = week.split_once("-W")?;
    let at = |day| ISOWeekDate::new(year.parse().ok()?, number.parse().ok()?, day).ok();
    let (monday, sunday) = (at(Weekday::Monday)?.date(), at(Weekday::Sunday)?.date());
    let last = if monday.month() == sunday.month() { "%-d" } else { "%b %-d" };
    Some(format!("W{number}  {} – {}", monday.strftime("%b %-d"), sunday.strftime(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_people_say_them() {
        let labels = TimeLabels { zone: TimeZone::UTC };
        let now = 1_794_735_000_000;
        let label = |ms| labels.format_when(Millis(now), ms);
        assert_eq!(label(now - 20_000), "now");
        assert_eq!(label(now - 300_000), "5 min ago");
        assert_eq!(label(now - 7_200_000), "2 h ago");
        assert_eq!(label(now + 7_200_000), "in 2 h");
        assert_eq!(label(now - 86_400_000), "Nov 14");
        assert_eq!(label(now - 365 * 86_400_000), "Nov 15, 2025");
        let period = |first, last| labels.format_period(Millis(now), first, last);
        assert_eq!(period(now, now + 2_520_000), "Sun, Nov 15, 09:30 – 10:12");
        assert_eq!(period(now, now + 86_400_000), "Sun, Nov 15, 09:30 – Mon, Nov 16, 09:30");
        let at = |day: &str| {
            let day: Date = day.parse().unwrap();
            let at = day.to_zoned(TimeZone::UTC).unwrap().timestamp().as_millisecond();
            u64::try_from(at).unwrap()
        };
        let range = |from, to| labels.format_range(at(from), at(to));
        assert_eq!(range("2026-01-01", "2027-01-01"), "2026");
        assert_eq!(range("2026-02-01", "2026-03-01"), "February 2026");
        assert_eq!(range("2026-02-12", "2026-02-13"), "Thu, Feb 12, 2026");
        assert_eq!(range("2026-02-09", "2026-02-16"), "Feb 9 – Feb 15, 2026");
        assert_eq!(range("2025-12-29", "2026-01-05"), "Dec 29, 2025 – Jan 4, 2026");
    }

    #[test]
    fn periods_in_few_words() {
        let labels = TimeLabels { zone: TimeZone::UTC };
        let label = |level: &str, id: &str| {
            labels.entry_label(&v1::TocEntry {
                id: id.to_owned(),
                level: level.to_owned(),
                first_at_ms: 1_794_735_000_000,
                last_at_ms: 1_794_737_520_000,
                ..v1::TocEntry::default()
            })
        };
        assert_eq!(label("year", "toc:year:2026"), "2026");
        assert_eq!(label("month", "toc:month:2026-11"), "November");
        assert_eq!(label("week", "toc:week:2026-W46"), "W46  Nov 9 – 15");
        assert_eq!(label("week", "toc:week:2026-W53"), "W53  Dec 28 – Jan 3");
        assert_eq!(label("day", "toc:day:2026-11-14"), "Sat, Nov 14");
        assert_eq!(label("segment", "toc:segment:2026-11-15:01"), "09:30 – 10:12");
        assert_eq!(label("week", "toc:week:nonsense"), "nonsense");
    }
}
