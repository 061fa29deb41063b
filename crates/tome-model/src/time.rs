//! Time in milliseconds since 1970 UTC, and the clock.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::InvalidInput;

/// A moment: milliseconds since 1970-01-01 UTC. Displayed as RFC 3339 with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub u64);

/// The last moment that the calendar supports, near the end of the year 9999.
pub(crate) const LAST_MS: u64 = 253_402_207_200_000;

impl Millis {
    /// Parses RFC 3339 (`2026-11-15T09:30:00Z`, or with an offset) or milliseconds.
    pub fn parse(field: &'static str, text: &str) -> Result<Self, InvalidInput> {
        let text = text.trim();
        if let Ok(ms) = text.parse::<u64>() {
            return Self::from_ms(field, ms);
        }
        let stamp: Timestamp = text.parse().map_err(|_| {
            InvalidInput::invalid(
                field,
                format!(
                    "{:?} is not a time: use RFC 3339 such as 2026-11-15T09:30:00Z, or milliseconds since 1970",
                    crate::truncate_to(text, 80)
                ),
            )
        })?;
        let ms = u64::try_from(stamp.as_millisecond())
            .map_err(|_| InvalidInput::invalid(field, "is before 1970"))?;
        Self::from_ms(field, ms)
    }

    /// Validates a number of milliseconds.
    pub fn from_ms(field: &'static str, ms: u64) -> Result<Self, InvalidInput> {
        if ms > LAST_MS {
            return Err(InvalidInput::invalid(
                field,
                "is after the year 9999; is it in milliseconds?",
            ));
        }
        Ok(Self(ms))
    }

    /// The absolute distance to another moment.
    pub fn distance_ms(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }
}

impl std::fmt::Display for Millis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = i64::try_from(self.0.min(LAST_MS)).unwrap_or(0);
        match Timestamp::from_millisecond(ms) {
            Ok(stamp) => f.pad(&format!("{stamp:.3}")),
            Err(_) => f.pad("?"),
        }
    }
}

impl Millis {
    /// The day of the week in UTC, in three letters.
    pub fn weekday(self) -> &'static str {
        const DAY_MS: u64 = 86_400_000;
        // 1970 began on a Thursday.
        match (self.0 / DAY_MS) % 7 {
            0 => "Thu",
            1 => "Fri",
            2 => "Sat",
            3 => "Sun",
            4 => "Mon",
            5 => "Tue",
            _ => "Wed",
        }
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;
        impl serde::de::Visitor<'_> for Written {
            type Value = Millis;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a time: RFC 3339 or milliseconds since 1970")
            }
            fn visit_u64<E: serde::de::Error>(self, ms: u64) -> Result<Millis, E> {
                Millis::from_ms("at", ms).map_err(E::custom)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Millis, E> {
                Millis::parse("at", text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Written)
    }
}

/// The source of the current time; the engine never asks the system directly.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Millis;

    /// Today's date as `2026-11-15`: in UTC by default, in the local zone for `SystemClock`.
    fn today(&self) -> String {
        crate::truncate_to(&self.now().to_string(), 10).to_owned()
    }
}

/// The clock of the operating system. Libraries take a [`Clock`] instead.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the only place that reads the system clock")]
    fn now(&self) -> Millis {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Millis(since.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX)))
    }

    fn today(&self) -> String {
        let ms = i64::try_from(self.now().0).unwrap_or(0);
        let here = Timestamp::from_millisecond(ms).map(|at| at.to_zoned(TimeZone::system()));
        here.map_or_else(|_| "1970-01-01".to_owned(), |here| here.date().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_of_the_week_is_that_of_the_calendar() {
        for day in 0..2_000 {
            let at = Millis(day * 86_400_000 + 86_399_999);
            let date = Timestamp::from_millisecond(at.0 as i64).unwrap().to_zoned(TimeZone::UTC);
            assert_eq!(at.weekday(), date.strftime("%a").to_string());
        }
    }

    #[test]
    fn the_last_moment_can_be_written_and_the_next_is_refused() {
        assert_eq!(Millis(LAST_MS).to_string(), "9999-12-30T22:00:00.000Z");
        assert!(Millis::from_ms("at", LAST_MS + 1).is_err());
    }
}
