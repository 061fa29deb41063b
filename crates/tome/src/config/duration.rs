//! Parses durations such as `500ms`, `90s`, `30m`, `2h`.

use std::time::Duration;

/// Parses a duration; `None` for `never`.
pub fn parse(text: &str) -> Result<Option<Duration>, String> {
    let text = text.trim();
    if text == "never" {
        return Ok(None);
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default();
    let problem = || format!("{text:?} is not a duration: use 500ms, 90s, 30m, 2h or never");
    let count: u64 = digits.trim().parse().map_err(|_| problem())?;
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(problem()),
    };
    count.checked_mul(unit_ms).map(|ms| Some(Duration::from_millis(ms))).ok_or_else(problem)
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
        }
    }
}
