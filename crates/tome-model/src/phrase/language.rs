//! What a language is made of, and its rules made ready to be followed.
//!
//! ```text
//! last|past {n} {unit}      words, or alternatives of a word; slots that take a value
//! {month} {day} , {year}?   a comma may stand here; a part with ? may be missing
//! ```
//!
//! | slot | takes |
//! | --- | --- |
//! | `{n}` | a count, in digits or as a word |
//! | `{unit}` | minute, hour, day, week, weekend, month, quarter, year |
//! | `{weekday}`, `{weekday!}` | a weekday; with `!` one that can mean nothing else |
//! | `{month}`, `{month!}` | a month; with `!` one that can mean nothing else |
//! | `{day}` | a day of a month: `14`, `14th` |
//! | `{year}`, `{quarter}`, `{week}` | `2026`, `Q3`, `46` |
//! | `{iso}` | `2026-11-14`, `2026-11`, `2026-W46`, `2026-Q3` |
//! | `{when}` | another phrase, that is not made of others itself |

/// The words and the rules of a language.
pub(super) struct Language {
    /// Weekdays, Monday is 1.
    pub weekdays: &'static [(&'static str, i8, Sure)],
    /// Months, January is 1.
    pub months: &'static [(&'static str, i8, Sure)],
    /// Quarters, from 1.
    pub quarters: &'static [(&'static str, i8)],
    /// Units, in every form.
    pub units: &'static [(&'static str, Unit)],
    /// Counts as words.
    pub numbers: &'static [(&'static str, i64)],
    /// What may follow the digits of a day: `14th`.
    pub ordinals: &'static [&'static str],
    /// Words that may be written with a full stop: `Nov.`
    pub short: &'static [&'static str],
    /// Words before a phrase that say nothing.
    pub articles: &'static [&'static str],
    /// Words before a phrase that make it likely that it is a time.
    pub prepositions: &'static [&'static str],
    /// Words after a number that say that it is a count and no date: `in 2000 lines`.
    pub counted: &'static [&'static str],
    /// How times are said. Of two that read the same words, the first counts.
    pub rules: &'static [Rule],
}

/// Whether a word can mean something else as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sure {
    /// It means this.
    Yes,
    /// It may mean something else: `may`, `sat`.
    No,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Weekend,
    Month,
    Quarter,
    Year,
}

/// One way to say a time.
pub(super) struct Rule {
    pub says: &'static str,
    pub means: Means,
    /// What, inside a longer text, has to say that it is a time.
    pub needs: Mark,
}

/// What says that words which could mean something else mean a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// Nothing.
    None,
    /// A preposition before them.
    Preposition,
    /// A word before them that speaks of nothing but time, or that the text says nothing else.
    Time,
}

impl Rule {
    /// Means a time wherever it stands.
    pub const fn any(says: &'static str, means: Means) -> Self {
        Self { says, means, needs: Mark::None }
    }

    /// Means a time alone, or after a preposition, or after a word such as `since`.
    pub const fn marked(says: &'static str, means: Means) -> Self {
        Self { says, means, needs: Mark::Preposition }
    }

    /// Means a time alone, or after a word such as `since`.
    pub const fn alone(says: &'static str, means: Means) -> Self {
        Self { says, means, needs: Mark::Time }
    }
}

/// What a phrase means; the values come from its slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// The day that many days back.
    DaysBack(i64),
    /// The unit that many units back; 0 is the present one.
    Back(i64),
    /// That many hours, up to now.
    Hours(i64),
    /// That many units (one, if not said), up to today or now.
    Rolling,
    /// The unit that many units back.
    Ago,
    /// From that many units back to that many.
    AgoBetween(i64, i64),
    /// The latest weekend that has begun.
    Weekend,
    /// A weekday.
    Weekday(Which),
    /// A month, of the year that is said.
    Month(Which),
    /// A day of a month.
    Date,
    /// Two days of a month and those between.
    Dates,
    /// A month, or a day of it, of the year that many years back.
    YearBack(i16),
    /// A year.
    Year,
    /// A quarter.
    Quarter,
    /// A week of a year.
    Week,
    /// The week that a phrase begins in.
    WeekOf,
    /// What is written as ISO 8601 has it.
    Iso,
    /// From the beginning of one to the end of another.
    Between,
    /// From the beginning of it to today.
    Since,
    /// From the end of it to today.
    After,
    /// Up to the beginning of it.
    Before,
    /// Up to the end of it.
    Until,
}

/// Which of those that have the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// The latest that has begun.
    Latest,
    /// The latest before the present one.
    Last,
    /// The one of this week or year.
    This,
    /// The one of the week before this one.
    LastWeek,
}

/// A slot of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Count,
    Unit,
    Weekday(Sure),
    Month(Sure),
    Day,
    Year,
    Quarter,
    Week,
    Iso,
    When,
}

/// One part of a rule.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Words(Vec<&'static str>),
    Slot(Slot),
    Comma,
}

/// A rule with none of its parts missing or optional.
pub(super) struct Path {
    pub parts: Vec<Part>,
    pub means: Means,
    pub needs: Mark,
    /// Whether it is made of other phrases.
    pub compound: bool,
}

/// A language made ready.
pub(super) struct Grammar {
    pub language: &'static Language,
    pub paths: Vec<Path>,
}

impl Grammar {
    pub fn of(language: &'static Language) -> Self {
        let paths = language.rules.iter().flat_map(|rule| {
            expand(rule.says).into_iter().map(|parts| Path {
                compound: parts.iter().any(|part| matches!(part, Part::Slot(Slot::When))),
                parts,
                means: rule.means,
                needs: rule.needs,
            })
        });
        Self { language, paths: paths.collect() }
    }
}

/// Every way in which a rule can be said: with each optional part, and without.
fn expand(says: &'static str) -> Vec<Vec<Part>> {
    says.split(' ').fold(vec![Vec::new()], |ways, part| {
        let (part, without) = match part.strip_suffix('?') {
            Some(part) => (part, ways.clone()),
            None => (part, Vec::new()),
        };
        let with = ways.into_iter().map(|mut way| {
            way.push(part_of(part));
            way
        });
        with.chain(without).collect()
    })
}

fn part_of(part: &'static str) -> Part {
    Part::Slot(match part {
        "," => return Part::Comma,
        "{n}" => Slot::Count,
        "{unit}" => Slot::Unit,
        "{weekday}" => Slot::Weekday(Sure::No),
        "{weekday!}" => Slot::Weekday(Sure::Yes),
        "{month}" => Slot::Month(Sure::No),
        "{month!}" => Slot::Month(Sure::Yes),
        "{day}" => Slot::Day,
        "{year}" => Slot::Year,
        "{quarter}" => Slot::Quarter,
        "{week}" => Slot::Week,
        "{iso}" => Slot::Iso,
        "{when}" => Slot::When,
        words => return Part::Words(words.split('|').collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slot that is misspelt would be taken for a word that nobody ever writes.
    #[test]
    fn every_slot_of_every_rule_is_known() {
        for grammar in super::super::LANGUAGES.iter() {
            for part in grammar.paths.iter().flat_map(|path| &path.parts) {
                let Part::Words(words) = part else { continue };
                assert!(
                    words.iter().all(|word| !word.is_empty() && !word.contains(['{', '?', ',']))
                );
            }
        }
    }
}
