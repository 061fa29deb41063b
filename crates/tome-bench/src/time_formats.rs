//! Parses the many time formats of data sets. Times without a zone are UTC.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;
use tome_model::Millis;

/// A point in time and its precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParsedTime {
    pub at: Millis,
    /// The precision: a day for a date, a minute for `13:56`.
    pub precision_ms: u64,
}

pub(crate) const DAY_MS: u64 = 86_400_000;
const MINUTE_MS: u64 = 60_000;
const SECOND_MS: u64 = 1_000;

const DATE_FORMATS: [&str; 11] = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y年%m月%d日",
    "%B-%d-%Y",
    "%B %d %Y",
    "%b %d %Y",
    "%d %B %Y",
    "%d %b %Y",
    "%d-%B-%Y",
    "%m/%d/%Y",
];
const TIME_FORMATS: [(&str, u64); 4] = [
    ("%H:%M", MINUTE_MS),
    ("%I:%M %p", MINUTE_MS),
    ("%H:%M:%S", SECOND_MS),
    ("%I:%M:%S %p", SECOND_MS),
];

/// Ignored: the date already determines the day of the week.
const WEEKDAYS: [&str; 14] = [
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// Parses a time; `None` if no format matches.
pub fn parse(text: &str) -> Option<ParsedTime> {
    let text = text.trim();
    parse_unix_time(text)
        .or_else(|| parse_iso_time(text))
        .or_else(|| parse_written_time(&normalize_words(text)))
}

/// Parses seconds or milliseconds since the Unix epoch.
fn parse_unix_time(text: &str) -> Option<ParsedTime> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() < 9 || !is_number(whole) || !is_number(part) {
        return None;
    }
    let count: u64 = whole.parse().ok()?;
    let (ms, lasts_ms) = match whole.len() {
        ..=11 => {
            let thousandths: u64 = format!("{part:0<3}").get(..3)?.parse().ok()?;
            (count.checked_mul(1_000)? + thousandths, if part.is_empty() { SECOND_MS } else { 1 })
        }
        12..=14 => (count, 1),
        _ => return None,
    };
    Some(ParsedTime { at: Millis::from_ms("ts", ms).ok()?, precision_ms: lasts_ms })
}

/// Parses RFC 3339 and other ISO 8601 formats.
fn parse_iso_time(text: &str) -> Option<ParsedTime> {
    if let Ok(stamp) = text.parse::<Timestamp>() {
        return from_timestamp(stamp, 1);
    }
    if let Ok(date) = text.parse::<Date>()
        && !text.contains(':')
    {
        return utc_time(date.at(0, 0, 0, 0), DAY_MS);
    }
    let time: DateTime = text.parse().ok()?;
    let lasts_ms = match text.matches(':').count() {
        ..=1 => MINUTE_MS,
        _ if text.contains('.') => 1,
        _ => SECOND_MS,
    };
    utc_time(time, lasts_ms)
}

/// Parses a date with an optional time before or after it.
fn parse_written_time(text: &str) -> Option<ParsedTime> {
    DATE_FORMATS.iter().find_map(|date| {
        let read = |format: &str| BrokenDownTime::parse(format, text).ok();
        if let Some(found) = read(date) {
            return utc_time(found.to_date().ok()?.at(0, 0, 0, 0), DAY_MS);
        }
        TIME_FORMATS.iter().find_map(|(time, lasts_ms)| {
            let found = read(&format!("{date} {time}")).or_else(|| read(&format!("{time} {date}")));
            utc_time(found?.to_datetime().ok()?, *lasts_ms)
        })
    })
}

/// Lowercases the text and removes punctuation, weekdays and filler words.
fn normalize_words(text: &str) -> String {
    let lower = text.to_lowercase().replace(['(', ')', ','], " ");
    let words = lower.split_whitespace().filter(|word| {
        !WEEKDAYS.contains(word)
            && !matches!(*word, "on" | "at" | "utc" | "gmt")
            && !word.starts_with("周")
            && !word.starts_with("星期")
    });
    words.map(strip_ordinal_suffix).collect::<Vec<_>>().join(" ")
}

/// Strips an ordinal suffix: `8th` becomes `8`.
fn strip_ordinal_suffix(word: &str) -> &str {
    let endings = ["st", "nd", "rd", "th"];
    let number = endings.iter().find_map(|ending| word.strip_suffix(ending));
    number
        .filter(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        .unwrap_or(word)
}

fn utc_time(time: DateTime, lasts_ms: u64) -> Option<ParsedTime> {
    from_timestamp(time.to_zoned(TimeZone::UTC).ok()?.timestamp(), lasts_ms)
}

fn from_timestamp(stamp: Timestamp, lasts_ms: u64) -> Option<ParsedTime> {
    let ms = u64::try_from(stamp.as_millisecond()).ok()?;
    Some(ParsedTime { at: Millis::from_ms("ts", ms).ok()?, precision_ms: lasts_ms })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::parse;

    #[test]
    fn many_time_formats_are_parsed() {
        let texts = [
            "1:56 pm on 8 May, 2023",
            "March-15-2024",
            "2024年04月01日 周一 08:19",
            "2023/05/20 (Sat) 02:21",
            "2026-02-16T01:00:50.799103Z",
            "2026-01-29T14:21:37.807523+11:00",
            "2026-01-29T14:21:37",
            "2026-01-29 14:21",
            "2026-01-29",
            "May 8th, 2023 at 12:05 am",
            "Monday, 3 July 2023",
            "1700000000",
            "1700000000.25",
            "1700000000123",
            "20230508",
            "soon",
            "",
            "-5",
            "1:56 pm",
            "2023-02-30",
        ];
        let read = texts.map(|text| match parse(text) {
            Some(time) => format!("{text}: {} {}\n", time.at, time.precision_ms),
            None => format!("{text}: none\n"),
        });
        expect![[r#"
            1:56 pm on 8 May, 2023: 2023-05-08T13:56:00.000Z 60000
            March-15-2024: 2024-03-15T00:00:00.000Z 86400000
            2024年04月01日 周一 08:19: 2024-04-01T08:19:00.000Z 60000
            2023/05/20 (Sat) 02:21: 2023-05-20T02:21:00.000Z 60000
            2026-02-16T01:00:50.799103Z: 2026-02-16T01:00:50.799Z 1
            2026-01-29T14:21:37.807523+11:00: 2026-01-29T03:21:37.807Z 1
            2026-01-29T14:21:37: 2026-01-29T14:21:37.000Z 1000
            2026-01-29 14:21: 2026-01-29T14:21:00.000Z 60000
            2026-01-29: 2026-01-29T00:00:00.000Z 86400000
            May 8th, 2023 at 12:05 am: 2023-05-08T00:05:00.000Z 60000
            Monday, 3 July 2023: 2023-07-03T00:00:00.000Z 86400000
            1700000000: 2023-11-14T22:13:20.000Z 1000
            1700000000.25: 2023-11-14T22:13:20.250Z 1
            1700000000123: 2023-11-14T22:13:20.123Z 1
            20230508: 2023-05-08T00:00:00.000Z 86400000
            soon: none
            : none
            -5: none
            1:56 pm: none
            2023-02-30: none
        "#]]
        .assert_eq(&read.concat());
    }
}
