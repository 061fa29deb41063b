//! The time zone in which days begin and end.
//!
//! Days have no gaps or overlaps, whatever clocks do: a day begins at the first moment after which
//! no clock in the zone shows an earlier date. So a day that a zone skips is empty, and a minute
//! after midnight that is later set back belongs to the day before.
//!
//! Only [`Zone::system`] (also by the name `system`) reads the system's time zone.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use crate::time::LAST_MS;
use crate::{InvalidInput, Millis};

/// The name of the system's zone.
const SYSTEM: &str = "system";

/// A time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    rules: TimeZone,
}

impl Zone {
    /// The zone of this machine; UTC if unknown.
    pub fn system() -> Self {
        let rules = TimeZone::system();
        if rules.is_unknown() {
            return Self::utc();
        }
        // The rules may have no name (a copied /etc/localtime).
        let name = rules.iana_name().map_or_else(|| offset_name(&rules), str::to_owned);
        Self { name, rules }
    }

    /// Coordinated Universal Time.
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), rules: TimeZone::UTC }
    }

    /// Parses a name: `Europe/Berlin`, `UTC`, `system`, or a fixed offset such as `+02:00`.
    pub fn parse(name: &str) -> Result<Self, InvalidInput> {
        let name = name.trim();
        if name.is_empty() {
            return Err(InvalidInput::Missing { field: "zone" });
        }
        if name.eq_ignore_ascii_case(SYSTEM) {
            return Ok(Self::system());
        }
        if let Some(offset) = parse_offset(name) {
            let rules = TimeZone::fixed(offset);
            return Ok(Self { name: offset_name(&rules), rules });
        }
        match TimeZone::get(name) {
            Ok(rules) if !rules.is_unknown() => {
                let name = rules.iana_name().unwrap_or(name).to_owned();
                Ok(Self { name, rules })
            }
            _ => Err(unknown_zone(name)),
        }
    }

    /// The name to store: the IANA name or offset, or `system` if there is neither.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the day that contains a moment.
    pub fn date_of(&self, at: Millis) -> Date {
        let date = self.shown_date(at);
        // When clocks are set back over midnight, they show the new date briefly, then the old one
        // again.
        if at < self.day_start(date) { date.yesterday().unwrap_or(date) } else { date }
    }

    /// Returns the first moment of a day; never before 1970.
    pub fn day_start(&self, date: Date) -> Millis {
        match self.midnight(date) {
            Some(stamp) => Millis(u64::try_from(stamp.as_millisecond()).unwrap_or(0)),
            // In some zones the calendar ends shortly before the end of its last day.
            None if date.year() > 0 => Self::end(),
            None => Millis(0),
        }
    }

    /// Returns the moment at which clocks show a date and time; of two, the first. `None` outside of the calendar.
    pub fn moment_of(&self, shown: DateTime) -> Option<Millis> {
        let stamp = self.rules.to_ambiguous_timestamp(shown).compatible().ok()?;
        Some(Millis(u64::try_from(stamp.as_millisecond()).ok()?))
    }

    /// The exclusive end of representable time.
    pub const fn end() -> Millis {
        Millis(LAST_MS + 1)
    }

    /// The date that a clock shows.
    fn shown_date(&self, at: Millis) -> Date {
        self.rules.to_datetime(to_timestamp(at)).date()
    }

    fn midnight(&self, date: Date) -> Option<Timestamp> {
        let midnight = self.rules.to_ambiguous_timestamp(date.at(0, 0, 0, 0));
        match midnight.offset() {
            // If clocks skip midnight, the day begins where they land.
            AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Gap { .. } => {
                midnight.compatible().ok()
            }
            AmbiguousOffset::Fold { .. } => {
                // Midnight occurs twice. The day begins at the first, unless clocks then go back
                // before midnight.
                let (first, second) = (midnight.earlier().ok()?, midnight.later().ok()?);
                let before = u64::try_from(second.as_millisecond()).unwrap_or(0).saturating_sub(1);
                Some(if self.shown_date(Millis(before)) >= date { first } else { second })
            }
        }
    }
}

fn to_timestamp(at: Millis) -> Timestamp {
    let ms = i64::try_from(at.0.min(LAST_MS)).unwrap_or(0);
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn offset_name(rules: &TimeZone) -> String {
    match rules.to_fixed_offset().map(Offset::seconds) {
        Ok(0) => "UTC".to_owned(),
        Ok(seconds) => {
            let sign = if seconds < 0 { '-' } else { '+' };
            let minutes = seconds.unsigned_abs() / 60;
            format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
        Err(_) => SYSTEM.to_owned(),
    }
}

/// Parses `+02:00`, `-0330` and `+2`.
fn parse_offset(name: &str) -> Option<Offset> {
    let (sign, digits) = match name.strip_prefix('+') {
        Some(digits) => (1, digits),
        None => (-1, name.strip_prefix('-')?),
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
        None => (digits, "00"),
    };
    let number = |text: &str, max: i32| {
        let plain = matches!(text.len(), 1 | 2) && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<i32>().ok().filter(|n| plain && *n <= max)
    };
    let seconds = number(hours, 18)? * 3600 + number(minutes, 59)? * 60;
    Offset::from_seconds(sign * seconds).ok()
}

fn unknown_zone(name: &str) -> InvalidInput {
    InvalidInput::invalid(
        "zone",
        format!(
            "{:?} is not known: use an IANA name such as Europe/Berlin, a fixed offset such as +02:00, UTC or system",
            crate::truncate_to(name, 80)
        ),
    )
}
