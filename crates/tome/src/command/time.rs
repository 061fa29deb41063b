//! Parses times from the command line.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use tome_contents::parse_time_phrase;
use tome_model::{Millis, ModelError, Zone, truncate_to};

/// Parses `2026-11-15` (in the system's time zone), RFC 3339, Unix milliseconds, or an age such as
/// `90m`, `2h`, `3d`.
pub fn parse(field: &'static str, text: &str, now: Millis) -> Result<Millis, ModelError> {
    if let Some(ms) = parse_age(text) {
        return Ok(Millis(now.0.saturating_sub(ms)));
    }
    if let Ok(date) = text.parse::<Date>() {
        let start = date.to_zoned(TimeZone::system()).ok();
        let ms = start.and_then(|start| u64::try_from(start.timestamp().as_millisecond()).ok());
        return ms.map(Millis).ok_or_else(|| ModelError::invalid(field, "is before 1970"));
    }
    Millis::parse(field, text).map_err(|_| {
        ModelError::invalid(
            field,
            format!("{text:?} is not a time: use 2026-11-15, 2026-11-15T09:30:00Z, or an age such as 90m, 2h, 3d"),
        )
    })
}

/// Like [`parse`], and also accepts words such as `yesterday` or `last week`, which stand for the start
/// of that period in `zone`.
pub fn parse_words(
    field: &'static str,
    text: &str,
    now: Millis,
    zone: &Zone,
) -> Result<Millis, ModelError> {
    if let Some(ms) = parse_age(text) {
        return Ok(Millis(now.0.saturating_sub(ms)));
    }
    if let Some(span) = parse_time_phrase(text, now, zone) {
        return Ok(span.from);
    }
    Millis::parse(field, text).map_err(|_| {
        let text = truncate_to(text, 80);
        ModelError::invalid(
            field,
            format!("{text:?} is not a time: use 2026-11-15, yesterday, 'last week', 2026-11-15T09:30:00Z, or an age such as 90m, 2h, 3d"),
        )
    })
}

fn parse_age(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let count: u64 = digits.parse().ok()?;
    let unit_ms = match text.get(digits.len()..)? {
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return None,
    };
    count.checked_mul(unit_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_typed() {
        let now = Millis(1_794_700_000_000);
        assert_eq!(parse("since", "2h", now), Ok(Millis(now.0 - 7_200_000)));
        assert_eq!(parse("since", "1970-01-02T00:00:00Z", now), Ok(Millis(86_400_000)));
        assert_eq!(parse("since", "86400000", now), Ok(Millis(86_400_000)));
        assert!(parse("since", "2026-11-15", now).is_ok());
        let words = |text| parse_words("--since", text, now, &Zone::utc());
        assert_eq!(words("2h"), Ok(Millis(now.0 - 7_200_000)));
        assert_eq!(words("1970-01-02"), Ok(Millis(86_400_000)));
        assert_eq!(words("1970-01-02T00:00:01Z"), Ok(Millis(86_401_000)));
        assert_eq!(words("86400000"), Ok(Millis(86_400_000)));
        assert_eq!(words("yesterday"), Ok(Millis(1_794_614_400_000 - 86_400_000)));
        assert_eq!(words("last week"), words("2026-11-02"));
        assert!(words("once upon a time").unwrap_err().to_string().contains("last week"));
        assert!(parse("since", "soon", now).unwrap_err().to_string().contains("2026-11-15"));
    }
}
