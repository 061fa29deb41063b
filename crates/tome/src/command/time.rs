//! Parses times from the command line, and formats times in the system's time zone.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use tome_contents::{TimeSpan, parse_time_phrase, parse_time_start};
use tome_model::{InvalidInput, Millis, Zone, truncate_to};

use crate::config::unit_ms;

/// Parses an age such as `90m`, `2h`, `3d`; a period such as `2026-11-15`, `2026`, `yesterday` or `last
/// week`, which stands for its start in `zone`; RFC 3339, in `zone` if it has no offset; or Unix milliseconds.
pub fn parse(
    field: &'static str,
    text: &str,
    now: Millis,
    zone: &Zone,
) -> Result<Millis, InvalidInput> {
    if let Some(ms) = parse_age(text) {
        return Ok(Millis(now.0.saturating_sub(ms)));
    }
    if let Some(start) = parse_time_start(text, now, zone) {
        return Ok(start);
    }
    if let Some(at) = parse_clock_time(text, zone) {
        return Ok(at);
    }
    let is_range = parse_time_phrase(text, now, zone).is_some();
    Millis::parse(field, text).map_err(|_| {
        let text = truncate_to(text, 80);
        if is_range {
            let message = format!("{text:?} is more than a start: give its two ends as --since and --until");
            return InvalidInput::invalid(field, message);
        }
        InvalidInput::invalid(
            field,
            format!("{text:?} is not understood; try 2026-11-15, yesterday, 'last week', 2026-11-15T09:30:00Z, or an age such as 90m, 2h, 3d"),
        )
    })
}

/// Parses a period such as `yesterday`, `last week` or `2026-11-14`; `3d` are the last 3 days, and a
/// moment stands for its day.
pub fn parse_period(
    field: &'static str,
    text: &str,
    now: Millis,
    zone: &Zone,
) -> Result<TimeSpan, InvalidInput> {
    let text = text.trim();
    let words = spell_out(text, zone);
    parse_time_phrase(words.as_deref().unwrap_or(text), now, zone).ok_or_else(|| {
        let text = truncate_to(text, 80);
        InvalidInput::invalid(
            field,
            format!("{text:?} is not understood; try 2026-11-15, yesterday, 'last week', 'in March', 'Feb 9 to Feb 12', or 3d for the last 3 days"),
        )
    })
}

/// An age or a moment in the words of a period.
fn spell_out(text: &str, zone: &Zone) -> Option<String> {
    if parse_age(text).is_some() {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match text.get(digits.len()..)? {
            "h" | "hour" | "hours" => "hours",
            "d" | "day" | "days" => "days",
            "w" | "week" | "weeks" => "weeks",
            // Seconds are no unit of a phrase.
            "s" => {
                return Some(format!("last {} minutes", digits.parse::<u64>().ok()?.div_ceil(60)));
            }
            _ => "minutes",
        };
        return Some(format!("last {digits} {unit}"));
    }
    let is_moment = text.contains('T') && text.contains(':');
    let at = Millis::parse("time", text).ok().filter(|_| is_moment)?;
    Some(zone.date_of(at).to_string())
}

/// Parses a date with a time of day but without an offset: `2026-11-15T09:30`.
fn parse_clock_time(text: &str, zone: &Zone) -> Option<Millis> {
    let shown: DateTime = text.trim().parse().ok()?;
    let has_offset = text.ends_with(['Z', 'z']) || text.contains(['+', '[']);
    (text.contains(':') && !has_offset).then(|| zone.moment_of(shown))?
}

/// Parses `90m`, `2h`, `3d`, `1 hour`.
fn parse_age(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let count: u64 = digits.trim_end().parse().ok()?;
    let unit_ms = match text.get(digits.len()..)? {
        "w" | "week" | "weeks" => 604_800_000,
        "day" | "days" => 86_400_000,
        "hour" | "hours" => 3_600_000,
        "minute" | "minutes" => 60_000,
        unit => unit_ms(unit)?,
    };
    count.checked_mul(unit_ms)
}

/// Formats a time in the system's time zone.
pub fn format_local_time(at: Millis) -> String {
    format_local(at, "%Y-%m-%d %H:%M:%S")
}

/// Formats a time in the system's time zone for the name of a file.
pub fn format_file_time(at: Millis) -> String {
    format_local(at, "%Y-%m-%d-%H%M%S")
}

fn format_local(at: Millis, format: &str) -> String {
    let stamp = i64::try_from(at.0).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    match stamp {
        Some(stamp) => stamp.to_zoned(TimeZone::system()).strftime(format).to_string(),
        None => at.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_typed() {
        let now = Millis(1_794_700_000_000);
        let at = |text| parse("--since", text, now, &Zone::utc());
        assert_eq!(at("2h"), Ok(Millis(now.0 - 7_200_000)));
        assert_eq!(at("1970-01-02"), Ok(Millis(86_400_000)));
        assert_eq!(at("1970-01-02T00:00:01Z"), Ok(Millis(86_401_000)));
        assert_eq!(at("86400000"), Ok(Millis(86_400_000)));
        assert_eq!(at("yesterday"), Ok(Millis(1_794_614_400_000 - 86_400_000)));
        assert_eq!(at("last week"), at("2026-11-02"));
        assert_eq!(at("1 hour"), at("1h"));
        assert_eq!(at("1970-01-02T00:30"), Ok(Millis(86_400_000 + 1_800_000)));
        for range in ["between march 5 and march 12", "before april", "until april 1"] {
            assert!(at(range).unwrap_err().to_string().contains("--until"), "{range}");
        }
        assert!(at("once upon a time").unwrap_err().to_string().contains("last week"));
        assert!(at("soon").unwrap_err().to_string().contains("2026-11-15"));
        let period = |text| parse_period("time", text, now, &Zone::utc());
        assert_eq!(period("3d").unwrap(), period("last 3 days").unwrap());
        assert_eq!(period("90m").unwrap().from, at("90m").unwrap());
        assert_eq!(period("2026-11-14T09:30:00Z").unwrap(), period("2026-11-14").unwrap());
        assert!(period("soon").unwrap_err().to_string().contains("3d"));
        let paris = Zone::parse("Europe/Paris").unwrap();
        assert_eq!(parse("--since", "1970-01-02", now, &paris), Ok(Millis(82_800_000)));
    }
}
