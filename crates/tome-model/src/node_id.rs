//! Ids of nodes. They encode the position in the tree; only well-formed ids can be built.
//!
//! ```text
//! toc:year:2026   toc:month:2026-11   toc:week:2026-W46   toc:day:2026-11-14
//! toc:segment:2026-11-14:<ulid>
//! ```
//!
//! `toc:month:2026:11` and `toc:week:2026:W46` are also accepted, and normalized to the above.

use std::fmt;

use jiff::civil::{Date, ISOWeekDate, Weekday};
use serde::{Deserialize, Serialize, Serializer};

use crate::ulid::{self, derive_ulid};
use crate::{EventId, InvalidInput, Level, Millis, Period, SessionId, truncate_to};

/// The first year with representable days: west of Greenwich, 1970 UTC begins on December 31, 1969.
const FIRST_YEAR: i16 = 1969;

/// The id of a node; encodes its position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct NodeId(String);

impl NodeId {
    /// The id of a session's segment that starts with an event. Deterministic. For a period longer
    /// than a day, the first day counts.
    pub fn for_segment(day: &Period, start: Millis, session: &SessionId, first: &EventId) -> Self {
        let name = derive_ulid(start, "tome segment id v1", &[session.as_str(), first.as_str()]);
        Self(format!("toc:segment:{}:{name}", day.bounds().0))
    }

    /// Parses an id as written by a person or an agent.
    pub fn parse(id: &str) -> Result<Self, InvalidInput> {
        let id = id.trim();
        let (kind, text) = id
            .strip_prefix("toc:")
            .and_then(|rest| rest.split_once(':'))
            .ok_or_else(|| unknown_node(id))?;
        let (period, example) = match kind {
            "year" => (parse_year(text).map(Period::Year), "toc:year:2026"),
            "month" => (parse_month(text), "toc:month:2026-11"),
            "week" => (parse_week(text), "toc:week:2026-W46"),
            "day" => (parse_date(text).map(Period::Day), "toc:day:2026-11-14"),
            "segment" => {
                return parse_segment(text).ok_or_else(|| {
                    malformed("node", id, "toc:segment:2026-11-14:01KA1B2C3D4E5F6G7H8J9KABCD")
                });
            }
            _ => return Err(unknown_node(id)),
        };
        period.map(|period| period.id()).ok_or_else(|| malformed("node", id, example))
    }

    /// The level of the node.
    pub fn level(&self) -> Level {
        match self.0.split(':').nth(1) {
            Some("year") => Level::Year,
            Some("month") => Level::Month,
            Some("week") => Level::Week,
            Some("day") => Level::Day,
            _ => Level::Segment,
        }
    }

    /// The period; for a segment, its day.
    pub fn period(&self) -> Option<Period> {
        let mut parts = self.0.split(':').skip(1);
        let (kind, text) = (parts.next()?, parts.next()?);
        match kind {
            "year" => parse_year(text).map(Period::Year),
            "month" => parse_month(text),
            "week" => parse_week(text),
            _ => parse_date(text).map(Period::Day),
        }
    }

    /// The day of a day or segment.
    pub fn day(&self) -> Option<Period> {
        self.period().filter(|period| period.level() == Level::Day)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Period {
    /// The id of its node.
    pub fn id(&self) -> NodeId {
        NodeId(match self {
            Self::Year(year) => format!("toc:year:{year:04}"),
            Self::Month(year, month) => format!("toc:month:{year:04}-{month:02}"),
            Self::Week(year, week) => format!("toc:week:{year:04}-W{week:02}"),
            Self::Day(date) => format!("toc:day:{date}"),
        })
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Serialize for NodeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl TryFrom<String> for NodeId {
    type Error = InvalidInput;
    fn try_from(id: String) -> Result<Self, InvalidInput> {
        Self::parse(&id)
    }
}

impl From<NodeId> for String {
    fn from(id: NodeId) -> Self {
        id.0
    }
}

fn unknown_node(id: &str) -> InvalidInput {
    InvalidInput::invalid(
        "node",
        format!(
            "{:?} is not known: use an id such as toc:year:2026, toc:month:2026-11, toc:week:2026-W46, toc:day:2026-11-14 or toc:segment:2026-11-14:01KA1B2C3D4E5F6G7H8J9KABCD",
            truncate_to(id, 80)
        ),
    )
}

pub(crate) fn malformed(field: &'static str, id: &str, example: &str) -> InvalidInput {
    let id = truncate_to(id, 80);
    InvalidInput::invalid(field, format!("{id:?} is malformed: use the form {example}"))
}

/// Parses a number with exactly `count` digits.
pub fn parse_digits(text: &str, count: usize) -> Option<i16> {
    let plain = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

fn parse_year(text: &str) -> Option<i16> {
    parse_digits(text, 4).filter(|year| *year >= FIRST_YEAR)
}

fn parse_month(text: &str) -> Option<Period> {
    let (year, month) = text.split_once(['-', ':'])?;
    let month = i8::try_from(parse_digits(month, 2)?).ok()?;
    (1..=12).contains(&month).then_some(Period::Month(parse_year(year)?, month))
}

fn parse_week(text: &str) -> Option<Period> {
    let (year, week) = text.split_once(['-', ':'])?;
    let week = i8::try_from(parse_digits(week.strip_prefix(['W', 'w'])?, 2)?).ok()?;
    // The Monday of every ISO week is representable; the Sunday of the last one is not.
    let monday = ISOWeekDate::new(parse_year(year)?, week, Weekday::Monday).ok()?;
    Some(Period::week_containing(monday.date()))
}

fn parse_date(text: &str) -> Option<Date> {
    let mut parts = text.split('-');
    let (year, month, day) = (parse_year(parts.next()?)?, parts.next()?, parts.next()?);
    let (month, day) = (parse_digits(month, 2)?, parse_digits(day, 2)?);
    let none_left = parts.next().is_none();
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok().filter(|_| none_left)
}

fn parse_segment(text: &str) -> Option<NodeId> {
    let (day, name) = text.split_once(':')?;
    Some(NodeId(format!("toc:segment:{}:{}", parse_date(day)?, ulid::parse(name)?)))
}
