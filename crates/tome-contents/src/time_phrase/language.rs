//! The tables of a language, and the compilation of its rules.
//!
//! ```text
//! last|past {n} {unit}        words, or alternatives of a word; slots that take a value
//! {month} {day} , {year}?     a comma is allowed here; a part with ? is optional
//! ```
//!
//! | slot | takes |
//! | --- | --- |
//! | `{n}` | a count, in digits or as a word |
//! | `{unit}` | minute, hour, day, week, weekend, month, quarter, year |
//! | `{weekday}`, `{weekday!}` | a weekday; with `!` only unambiguous names |
//! | `{month}`, `{month!}` | a month; with `!` only unambiguous names |
//! | `{day}` | a day of a month: `14`, `14th` |
//! | `{year}`, `{quarter}`, `{week}` | `2026`, `Q3`, `46` |
//! | `{week!}` | a week as in a listing: `W46` |
//! | `{iso}` | `2026-11-14`, `2026-11`, `2026-W46`, `2026-Q3` |
//! | `{when}` | another phrase, without nested phrases |

/// The words and rules of a language.
pub(super) struct Language {
    /// Monday is 1.
    pub weekdays: &'static [(&'static str, i8, WordCertainty)],
    /// January is 1.
    pub months: &'static [(&'static str, i8, WordCertainty)],
    /// From 1.
    pub quarters: &'static [(&'static str, i8)],
    /// In all forms.
    pub units: &'static [(&'static str, TimeUnit)],
    /// Numbers as words.
    pub numbers: &'static [(&'static str, i64)],
    /// Suffixes of a day: `14th`.
    pub ordinals: &'static [&'static str],
    /// Abbreviations that may have a full stop: `Nov.`
    pub short: &'static [&'static str],
    /// Words before a phrase without meaning.
    pub articles: &'static [&'static str],
    /// Words before a phrase that suggest a time.
    pub prepositions: &'static [&'static str],
    /// Words after a number that mark it as a count and not a date: `in 2000 lines`.
    pub counted: &'static [&'static str],
    /// If two rules match the same words, the first wins.
    pub rules: &'static [PhraseRule],
}

/// Whether a word is unambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordCertainty {
    Yes,
    /// It has other meanings: `may`, `sat`.
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Minute,
    Hour,
    Day,
    Week,
    Weekend,
    Month,
    Quarter,
    Year,
}

/// A rule: a pattern and its meaning.
pub(super) struct PhraseRule {
    pub pattern: &'static str,
    pub meaning: PhraseMeaning,
    /// The evidence needed, inside a longer text, that the words mean a time.
    pub needs: TimeCue,
}

/// Evidence that ambiguous words mean a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TimeCue {
    None,
    /// A preposition before them.
    Preposition,
    /// A time word before them, or the text consists of nothing else.
    Time,
}

impl PhraseRule {
    /// Matches anywhere.
    pub const fn any(pattern: &'static str, meaning: PhraseMeaning) -> Self {
        Self { pattern, meaning, needs: TimeCue::None }
    }

    /// Matches alone, after a preposition, or after a word such as `since`.
    pub const fn marked(pattern: &'static str, meaning: PhraseMeaning) -> Self {
        Self { pattern, meaning, needs: TimeCue::Preposition }
    }

    /// Matches alone, or after a word such as `since`.
    pub const fn alone(pattern: &'static str, meaning: PhraseMeaning) -> Self {
        Self { pattern, meaning, needs: TimeCue::Time }
    }
}

/// The meaning of a rule; the values come from its slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PhraseMeaning {
    /// The day that many days ago.
    DaysBack(i64),
    /// The unit that many units ago; 0 is the current one.
    Back(i64),
    /// That many hours, up to now.
    Hours(i64),
    /// That many units (default 1), up to today or now.
    Rolling,
    /// The unit that many units ago.
    Ago,
    /// From that many units ago to that many.
    AgoBetween(i64, i64),
    /// The latest weekend that has begun.
    Weekend,
    /// A weekday.
    Weekday(WhichPeriod),
    /// A month of the given year.
    Month(WhichPeriod),
    /// A day of a month.
    Date,
    /// Two days of a month and those between.
    Dates,
    /// A month, or a day of it, in the year that many years ago.
    YearBack(i16),
    /// A year.
    Year,
    /// A quarter.
    Quarter,
    /// A week of a year.
    Week,
    /// The week in which the nested phrase begins.
    WeekOf,
    /// An ISO 8601 date.
    Iso,
    /// From the start of one phrase to the end of another.
    Between,
    /// From the start of the nested phrase to today.
    Since,
    /// From its end to today.
    After,
    /// Up to its start.
    Before,
    /// Up to its end.
    Until,
}

/// Chooses between periods of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhichPeriod {
    /// The latest that has begun.
    Latest,
    /// The latest before the current one.
    Last,
    /// The one in this week or year.
    This,
    /// The one in last week.
    LastWeek,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleSlot {
    Count,
    Unit,
    Weekday(WordCertainty),
    Month(WordCertainty),
    Day,
    Year,
    Quarter,
    Week,
    WeekLabel,
    Iso,
    When,
}

#[derive(Debug, Clone)]
pub(super) enum RulePart {
    Words(Vec<&'static str>),
    Slot(RuleSlot),
    Comma,
}

/// A rule with its optional parts resolved.
pub(super) struct RuleVariant {
    pub parts: Vec<RulePart>,
    pub meaning: PhraseMeaning,
    pub needs: TimeCue,
    /// Whether it has nested phrases.
    pub compound: bool,
}

/// A language with its compiled rules.
pub(super) struct Grammar {
    pub language: &'static Language,
    pub paths: Vec<RuleVariant>,
}

impl Grammar {
    pub fn compile(language: &'static Language) -> Self {
        let paths = language.rules.iter().flat_map(|rule| {
            expand_rule(rule.pattern).into_iter().map(|parts| RuleVariant {
                compound: parts.iter().any(|part| matches!(part, RulePart::Slot(RuleSlot::When))),
                parts,
                meaning: rule.meaning,
                needs: rule.needs,
            })
        });
        Self { language, paths: paths.collect() }
    }
}

/// Expands a rule into all variants, with and without each optional part.
fn expand_rule(pattern: &'static str) -> Vec<Vec<RulePart>> {
    pattern.split(' ').fold(vec![Vec::new()], |ways, part| {
        let (part, without) = match part.strip_suffix('?') {
            Some(part) => (part, ways.clone()),
            None => (part, Vec::new()),
        };
        let with = ways.into_iter().map(|mut way| {
            way.push(parse_part(part));
            way
        });
        with.chain(without).collect()
    })
}

fn parse_part(part: &'static str) -> RulePart {
    RulePart::Slot(match part {
        "," => return RulePart::Comma,
        "{n}" => RuleSlot::Count,
        "{unit}" => RuleSlot::Unit,
        "{weekday}" => RuleSlot::Weekday(WordCertainty::No),
        "{weekday!}" => RuleSlot::Weekday(WordCertainty::Yes),
        "{month}" => RuleSlot::Month(WordCertainty::No),
        "{month!}" => RuleSlot::Month(WordCertainty::Yes),
        "{day}" => RuleSlot::Day,
        "{year}" => RuleSlot::Year,
        "{quarter}" => RuleSlot::Quarter,
        "{week}" => RuleSlot::Week,
        "{week!}" => RuleSlot::WeekLabel,
        "{iso}" => RuleSlot::Iso,
        "{when}" => RuleSlot::When,
        words => return RulePart::Words(words.split('|').collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A misspelt slot would be treated as a word that never matches.
    #[test]
    fn every_slot_of_every_rule_is_known() {
        for grammar in super::super::LANGUAGES.iter() {
            for part in grammar.paths.iter().flat_map(|path| &path.parts) {
                let RulePart::Words(words) = part else { continue };
                assert!(
                    words.iter().all(|word| !word.is_empty() && !word.contains(['{', '?', ',']))
                );
            }
        }
    }
}
