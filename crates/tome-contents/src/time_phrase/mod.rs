//! Parses time phrases: `last week`, `in March`, `3 days ago`, `between Monday and Wednesday`.
//!
//! A memory looks back, so an ambiguous phrase means the latest time that has begun: on a Tuesday,
//! `on Wednesday` is six days ago. Weeks are ISO weeks. `last week` is the one before this one;
//! `the past week` and `last 7 days` end today. Phrases with hours are exact, all others are whole
//! days in the zone.
//!
//! A language is a table ([`english`]): lists of words, and rules such as `{n} {unit} ago` with
//! their meaning. To add a language with spaces between words, write its table and add it to
//! [`LANGUAGES`]; no other code contains words. A language without spaces also needs word
//! segmentation in [`token`].

mod english;
mod language;
mod matcher;
mod resolve;
mod span;
mod token;

use std::ops::Range;
use std::sync::LazyLock;

use language::{Grammar, PhraseMeaning};
use matcher::{PhraseMatcher, TextContext};
use resolve::ReferenceTime;
use tome_model::{Millis, Zone, truncate_to};

pub use span::TimeSpan;

/// The supported languages, in the order they are tried.
static LANGUAGES: LazyLock<Vec<Grammar>> =
    LazyLock::new(|| vec![Grammar::compile(&english::ENGLISH)]);

/// A longer query is pasted text; only its start is searched.
const QUERY_BYTES_MAX: usize = 4 * 1024;

/// Parses a text that is nothing but a time: `last week`, `2026-11-14`, `2026-11-02..2026-11-14`.
pub fn parse_time_phrase(text: &str, now: Millis, zone: &Zone) -> Option<TimeSpan> {
    Some(parse_whole(text, now, zone)?.0)
}

/// Parses a text that names a time with a start, and returns that start: `last week`, `2026-11-14`. `None` for a
/// phrase with two ends of its own (`from Monday to Friday`) and for one that only has an end (`before May`).
pub fn parse_time_start(text: &str, now: Millis, zone: &Zone) -> Option<Millis> {
    use PhraseMeaning::{Before, Between, Dates, Until};
    let (span, meaning) = parse_whole(text, now, zone)?;
    (!matches!(meaning, Before | Between | Dates | Until)).then_some(span.from)
}

fn parse_whole(text: &str, now: Millis, zone: &Zone) -> Option<(TimeSpan, PhraseMeaning)> {
    let text = truncate_to(text, QUERY_BYTES_MAX);
    let as_words = text.split_once("..").map(|(from, to)| format!("{from} to {to}"));
    let text = as_words.as_deref().unwrap_or(text);
    let tokens = token::tokenize(text);
    let here = ReferenceTime::new(now, zone);
    LANGUAGES.iter().find_map(|grammar| {
        let reader = PhraseMatcher::new(grammar, &tokens, TextContext::Alone);
        let found = reader.find_phrases(0).into_iter().find(|found| found.end == tokens.len())?;
        let range = here.resolve(&found.phrase)?;
        let span = TimeSpan::from_range(range, zone, text.get(reader.byte_range(0, found.end)?)?)?;
        Some((span, found.phrase.meaning))
    })
}

/// Finds the first time phrase in a longer text, with its byte range: `last week` in `what did we
/// decide last week about auth?`. Ambiguous words (`may`, `2024`, `sat`) count only after a word
/// that marks a time (`in May`, `since 2024`).
pub fn find_time_phrase(text: &str, now: Millis, zone: &Zone) -> Option<(TimeSpan, Range<usize>)> {
    let text = truncate_to(text, QUERY_BYTES_MAX);
    let tokens = token::tokenize(text);
    let here = ReferenceTime::new(now, zone);
    LANGUAGES.iter().find_map(|grammar| {
        let reader =
            PhraseMatcher::new(grammar, &tokens, TextContext::Inside { this_year: here.year() });
        (0..tokens.len()).find_map(|start| {
            // Only the longest match counts: part of an invalid date is not a better one.
            let found = reader.find_phrases(start).into_iter().next()?;
            let range = reader.byte_range(start, found.end)?;
            let span =
                TimeSpan::from_range(here.resolve(&found.phrase)?, zone, text.get(range.clone())?)?;
            Some((span, range))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::language::{
        Language, PhraseMeaning, PhraseRule, TimeUnit, WhichPeriod, WordCertainty,
    };
    use super::*;

    /// Another language only needs another table, even with another word order.
    static GERMAN: Language = Language {
        weekdays: &[("montag", 1, WordCertainty::Yes)],
        months: &[("märz", 3, WordCertainty::Yes)],
        quarters: &[],
        units: &[("tagen", TimeUnit::Day), ("woche", TimeUnit::Week)],
        numbers: &[("drei", 3)],
        short: &[],
        ordinals: &[],
        articles: &["der"],
        prepositions: &["am", "im", "in"],
        counted: &[],
        rules: &[
            PhraseRule::any("gestern", PhraseMeaning::DaysBack(1)),
            PhraseRule::any("vor {n} {unit}", PhraseMeaning::Ago),
            PhraseRule::any("letzte|letzten {unit}", PhraseMeaning::Back(1)),
            PhraseRule::any("{weekday}", PhraseMeaning::Weekday(WhichPeriod::Latest)),
            PhraseRule::marked("{month}", PhraseMeaning::Month(WhichPeriod::Latest)),
            PhraseRule::any("seit {when}", PhraseMeaning::Since),
        ],
    };

    #[test]
    fn another_language_is_another_table() {
        let (now, zone) = (Millis(1_794_666_600_000), Zone::utc());
        let grammar = Grammar::compile(&GERMAN);
        let here = ReferenceTime::new(now, &zone);
        for (german, english) in [
            ("gestern", "yesterday"),
            ("vor drei Tagen", "3 days ago"),
            ("in der letzten Woche", "last week"),
            ("am Montag", "on Monday"),
            ("im März", "in March"),
            ("seit März", "since March"),
        ] {
            let tokens = token::tokenize(german);
            let reader = PhraseMatcher::new(&grammar, &tokens, TextContext::Alone);
            let found = reader.find_phrases(0).into_iter().next().unwrap();
            assert_eq!(found.end, tokens.len(), "{german}");
            let span = TimeSpan::from_range(here.resolve(&found.phrase).unwrap(), &zone, english);
            assert_eq!(span, parse_time_phrase(english, now, &zone), "{german}");
        }
    }
}
