//! Parses durations such as `500ms`, `90s`, `30m`, `2h`, `7d`.

use std::time::Duration;

/// Parses a duration; `None` for `never`.
pub fn parse(text: &str) -> Result<Option<Duration>, String> {
    let text = text.trim();
    if text == "never" {
        return Ok(None);
    }
    let problem = || format!("{text:?} is not a duration: use 500ms, 90s, 30m, 2h, 7d or never");
    parse_units(text).map(Some).ok_or_else(problem)
}

/// Parses a duration where `never` makes no sense.
pub fn parse_finite(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let problem = || format!("{text:?} is not a duration: use 500ms, 90s, 30m, 2h or 7d");
    parse_units(text).ok_or_else(problem)
}

/// Parses a number and a unit.
fn parse_units(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default();
    let count: u64 = digits.trim().parse().ok()?;
    let unit_ms = if unit == "ms" { 1 } else { unit_ms(unit)? };
    count.checked_mul(unit_ms).map(Duration::from_millis)
}

/// The milliseconds of a unit of at least a second.
pub fn unit_ms(unit: &str) -> Option<u64> {
    Some(match unit {
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed() {
        assert_eq!(parse("30m"), Ok(Some(Duration::from_secs(1800))));
        assert_eq!(parse(" 500 ms "), Ok(Some(Duration::from_millis(500))));
        assert_eq!(parse("never"), Ok(None));
        for bad in
            ["", "30", "m", "-1s", "1 fortnight", "99999999999999999999s", "18446744073709551615d"]
        {
            assert!(parse(bad).is_err(), "{bad}");
            assert!(parse_finite(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn never_is_named_only_where_it_is_allowed() {
        assert_eq!(parse_finite(" 7d "), Ok(Duration::from_secs(604_800)));
        let problem = "\"never\" is not a duration: use 500ms, 90s, 30m, 2h or 7d";
        assert_eq!(parse_finite("never"), Err(problem.to_owned()));
        let problem = "\"soon\" is not a duration: use 500ms, 90s, 30m, 2h, 7d or never";
        assert_eq!(parse("soon"), Err(problem.to_owned()));
    }
}
