//! All supported phrases at fixed times, with their spans.

use proptest::prelude::*;
use tome_contents::{TimeSpan, parse_time_phrase};
use tome_model::{Level, Millis, Period, Zone};

use super::{any_moment, any_zone, at, zone};

/// First and last day, and the covering periods: `2026-11-01..2026-11-30 30d`, `… 2d 51w 4d`.
pub fn told(span: &TimeSpan, zone: &Zone) -> String {
    let day = |at: u64| {
        let id = Period::day_containing(Millis(at), zone).id().to_string();
        id.trim_start_matches("toc:day:").to_owned()
    };
    let mut runs: Vec<(usize, Level)> = Vec::new();
    for period in &span.periods {
        match runs.last_mut() {
            Some((count, level)) if *level == period.level() => *count += 1,
            _ => runs.push((1, period.level())),
        }
    }
    let (first, last) = (day(span.from.0), day(span.to.0 - 1));
    let days = if first == last { first } else { format!("{first}..{last}") };
    let letter = |level| if level == Level::Week { 'w' } else { 'd' };
    runs.iter().fold(days, |days, (count, level)| format!("{days} {count}{}", letter(*level)))
}

/// Checks each line's phrase against the span after the colon.
fn check_when(now: &str, zone_name: &str, table: &str) {
    let zone = zone(zone_name);
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (phrase, wanted) = line.split_once(" : ").unwrap();
        let got = parse_time_phrase(phrase.trim(), at(now), &zone);
        let got = got.map_or("nothing".to_owned(), |span| told(&span, &zone));
        assert_eq!(got, wanted.trim(), "{phrase}");
    }
}

const SATURDAY: &str = "2026-11-14T15:30:00+01:00";

#[test]
fn days() {
    check_when(
        SATURDAY,
        "Europe/Berlin",
        "today                     : 2026-11-14 1d
         Tonight                   : 2026-11-14 1d
         this morning              : 2026-11-14 1d
         yesterday                 : 2026-11-13 1d
         Yesterday's               : 2026-11-13 1d
         yesterday evening         : 2026-11-13 1d
         last night                : 2026-11-13 1d
         day before yesterday      : 2026-11-12 1d
         the day before yesterday  : 2026-11-12 1d
         3 days ago                : 2026-11-11 1d
         a day ago                 : 2026-11-13 1d
         two days ago              : 2026-11-12 1d
         a couple of days ago      : 2026-11-11..2026-11-13 3d
         a few days ago            : 2026-11-07..2026-11-12 6d
         14 days ago               : 2026-10-31 1d
         last 3 days               : 2026-11-12..2026-11-14 3d
         in the last three days    : 2026-11-12..2026-11-14 3d
         the last few days         : 2026-11-11..2026-11-14 4d
         past 30 days              : 2026-10-16..2026-11-14 3d 3w 6d
         0 days ago                : nothing
         3 days                    : nothing
         tomorrow                  : nothing",
    );
}

#[test]
fn weeks_months_and_years() {
    check_when(
        SATURDAY,
        "Europe/Berlin",
        "this week         : 2026-11-09..2026-11-15 1w
         last week         : 2026-11-02..2026-11-08 1w
         previous week     : 2026-11-02..2026-11-08 1w
         the week before last : 2026-10-26..2026-11-01 1w
         past week         : 2026-11-08..2026-11-14 7d
         past 2 weeks      : 2026-11-01..2026-11-14 1d 1w 6d
         two weeks ago     : 2026-10-26..2026-11-01 1w
         over the weekend  : 2026-11-14..2026-11-15 2d
         a few weeks ago   : 2026-09-21..2026-11-01 6w
         last weekend      : 2026-11-07..2026-11-08 2d
         this weekend      : 2026-11-14..2026-11-15 2d
         this month        : 2026-11-01..2026-11-30 30d
         last month        : 2026-10-01..2026-10-31 31d
         2 months ago      : 2026-09-01..2026-09-30 30d
         past month        : 2026-10-15..2026-11-14 4d 3w 6d
         this year         : 2026-01-01..2026-12-31 4d 51w 4d
         last year         : 2025-01-01..2025-12-31 5d 51w 3d
         previous year     : 2025-01-01..2025-12-31 5d 51w 3d
         a year ago        : 2025-01-01..2025-12-31 5d 51w 3d
         past year         : 2025-11-15..2026-11-14 2d 51w 6d
         this quarter      : 2026-10-01..2026-12-31 4d 12w 4d
         last quarter      : 2026-07-01..2026-09-30 5d 12w 3d
         Q3 2026           : 2026-07-01..2026-09-30 5d 12w 3d
         q3 of 2025        : 2025-07-01..2025-09-30 6d 12w 2d
         in Q4             : 2026-10-01..2026-12-31 4d 12w 4d
         Q1                : 2026-01-01..2026-03-31 4d 12w 2d
         9999 years ago    : nothing",
    );
}

#[test]
fn names_of_days_and_months() {
    check_when(
        SATURDAY,
        "Europe/Berlin",
        "on Monday          : 2026-11-09 1d
         Monday             : 2026-11-09 1d
         on Sat             : 2026-11-14 1d
         on Saturday        : 2026-11-14 1d
         on Sunday          : 2026-11-08 1d
         friday morning     : 2026-11-13 1d
         last Tuesday       : 2026-11-10 1d
         last Saturday      : 2026-11-07 1d
         this past Monday   : 2026-11-09 1d
         Monday last week   : 2026-11-02 1d
         last week on Fri   : 2026-11-06 1d
         Tuesday of this week : 2026-11-10 1d
         in March last year : 2025-03-01..2025-03-31 31d
         this Sunday        : 2026-11-15 1d
         in March           : 2026-03-01..2026-03-31 31d
         march              : 2026-03-01..2026-03-31 31d
         in November        : 2026-11-01..2026-11-30 30d
         in December        : 2025-12-01..2025-12-31 31d
         in Feb             : 2026-02-01..2026-02-28 28d
         March 2025         : 2025-03-01..2025-03-31 31d
         March of 2025      : 2025-03-01..2025-03-31 31d
         last March         : 2026-03-01..2026-03-31 31d
         last November      : 2025-11-01..2025-11-30 30d
         last december      : 2025-12-01..2025-12-31 31d
         this March         : 2026-03-01..2026-03-31 31d
         May                : 2026-05-01..2026-05-31 31d
         in 2025            : 2025-01-01..2025-12-31 5d 51w 3d
         2025               : 2025-01-01..2025-12-31 5d 51w 3d
         in 1969            : nothing
         in 25              : nothing
         1066               : nothing",
    );
}

#[test]
fn dates() {
    check_when(
        SATURDAY,
        "Europe/Berlin",
        "2026-11-14                   : 2026-11-14 1d
         on 2024-02-29                : 2024-02-29 1d
         2026-02-29                   : nothing
         2026-11                      : 2026-11-01..2026-11-30 30d
         2026-13                      : nothing
         2026-W46                     : 2026-11-09..2026-11-15 1w
         2020-w53                     : 2020-12-28..2021-01-03 1w
         2021-W53                     : nothing
         2026-Q3                      : 2026-07-01..2026-09-30 5d 12w 3d
         week 46                      : 2026-11-09..2026-11-15 1w
         week 47                      : 2025-11-17..2025-11-23 1w
         week 53                      : 2020-12-28..2021-01-03 1w
         Week 46 of 2026              : 2026-11-09..2026-11-15 1w
         W46                          : 2026-11-09..2026-11-15 1w
         w07                          : 2026-02-09..2026-02-15 1w
         W07 2025                     : 2025-02-10..2025-02-16 1w
         w54                          : nothing
         the week of March            : nothing
         the week of November 3       : 2026-11-02..2026-11-08 1w
         Nov 14                       : 2026-11-14 1d
         Nov 15                       : 2025-11-15 1d
         on Nov. 14                   : 2026-11-14 1d
         today. 14                    : nothing
         Nov 14 last year             : 2025-11-14 1d
         10 to 20 March               : 2026-03-10..2026-03-20 11d
         2026-11-02..2026-11-08 : 2026-11-02..2026-11-08 1w
         between Nov 2 and 8          : 2026-11-02..2026-11-08 1w
         November 14th                : 2026-11-14 1d
         Nov 14, 2025                 : 2025-11-14 1d
         14 November 2026             : 2026-11-14 1d
         the 14th of November         : 2026-11-14 1d
         1 may                        : 2026-05-01 1d
         Feb 29                       : 2024-02-29 1d
         Nov 31                       : nothing
         Saturday, November 14, 2026  : 2026-11-14 1d
         Sat 14 Nov                   : 2026-11-14 1d
         Nov 2 – 8                    : 2026-11-02..2026-11-08 1w
         Nov 2–8, 2025                : 2025-11-02..2025-11-08 7d
         9999-12-30                   : 9999-12-30 1d
         9999-12-31                   : nothing",
    );
}

#[test]
fn stretches() {
    check_when(
        SATURDAY,
        "Europe/Berlin",
        "between Monday and Wednesday           : 2026-11-09..2026-11-11 3d
         between Friday and Monday              : 2026-11-06..2026-11-09 4d
         from Monday to Sunday                  : 2026-11-02..2026-11-08 1w
         Monday to Friday                       : 2026-11-09..2026-11-13 5d
         from yesterday until today             : 2026-11-13..2026-11-14 2d
         between today and yesterday            : 2026-11-13..2026-11-14 2d
         between 2026-03-01 and 2026-03-10      : 2026-03-01..2026-03-10 1d 1w 2d
         2026-03-01 to 2026-03-10               : 2026-03-01..2026-03-10 1d 1w 2d
         between March and May                  : 2026-03-01..2026-05-31 1d 13w
         from November to January               : 2025-11-01..2026-01-31 2d 12w 6d
         between December 2024 and February     : 2024-12-01..2026-02-28 1d 64w 6d
         from 2024 to 2025                      : 2024-01-01..2025-12-31 104w 3d
         between the 3rd of March and the 5th of March : 2026-03-03..2026-03-05 3d
         since Monday                           : 2026-11-09..2026-11-14 6d
         since last week                        : 2026-11-02..2026-11-14 1w 6d
         since March                            : 2026-03-01..2026-11-14 1d 36w 6d
         after March                            : 2026-04-01..2026-11-14 5d 31w 6d
         after today                            : nothing
         before March                           : 1970-01-01..2026-02-28 4d 2929w 6d
         until yesterday                        : 1970-01-01..2026-11-13 4d 2966w 5d
         between Monday                         : nothing
         between and                            : nothing
         since                                  : nothing
         since the flood                        : nothing",
    );
}

/// Short and long days, and years that do not begin with a week, in several zones.
#[test]
fn clock_changes_and_year_ends() {
    // Half an hour after clocks went from 02:00 to 03:00; in New York it is still the 28th.
    let spring = "2026-03-29T01:30:00Z";
    let table = "today       : 2026-03-29 1d
                 yesterday   : 2026-03-28 1d
                 last 2 days : 2026-03-28..2026-03-29 2d
                 last 24 hours : 2026-03-28..2026-03-29 2d
                 this week   : 2026-03-23..2026-03-29 1w
                 on sunday   : 2026-03-29 1d";
    check_when(spring, "Europe/Berlin", table);
    check_when(spring, "America/New_York", "today : 2026-03-28 1d\n on sunday : 2026-03-22 1d");
    check_when(
        "2021-01-02T12:00:00Z",
        "UTC",
        "this week    : 2020-12-28..2021-01-03 1w
         last week    : 2020-12-21..2020-12-27 1w
         this year    : 2021-01-01..2021-12-31 3d 51w 5d
         last year    : 2020-01-01..2020-12-31 5d 51w 4d
         last month   : 2020-12-01..2020-12-31 31d
         last quarter : 2020-10-01..2020-12-31 4d 12w 4d
         in January   : 2021-01-01..2021-01-31 31d
         in February  : 2020-02-01..2020-02-29 29d
         last friday  : 2021-01-01 1d
         on thursday  : 2020-12-31 1d
         2 days ago   : 2020-12-31 1d",
    );
    check_when(
        "2012-01-01T12:00:00+14:00",
        "Pacific/Apia",
        "yesterday  : 2011-12-31 1d
         3 days ago : 2011-12-29 1d
         2 days ago : nothing
         2011-12-30 : nothing
         this week  : 2011-12-26..2012-01-01 1w",
    );
    let berlin = zone("Europe/Berlin");
    let span = parse_time_phrase("2026-10-25", at(SATURDAY), &berlin).unwrap();
    assert_eq!(span.from, at("2026-10-25T00:00:00+02:00"));
    assert_eq!(span.to, at("2026-10-26T00:00:00+01:00"));
}

#[test]
fn hours_are_exact() {
    let (now, berlin) = (at(SATURDAY), zone("Europe/Berlin"));
    let hours = |phrase: &str| {
        let span = parse_time_phrase(phrase, now, &berlin).unwrap();
        let minutes = |at: Millis| (at.0 as i64 - now.0 as i64) / 60_000;
        (minutes(span.from), minutes(Millis(span.to.0 - 1)), span.periods.len())
    };
    assert_eq!(hours("last hour"), (-60, 0, 1));
    assert_eq!(hours("in the past 2 hours"), (-120, 0, 1));
    assert_eq!(hours("last 24 hours"), (-1440, 0, 2));
    assert_eq!(hours("last day"), (-1440, 0, 2));
    assert_eq!(hours("past 90 minutes"), (-90, 0, 1));
    assert_eq!(hours("since an hour ago"), (-60, 0, 1));
    assert_eq!(hours("an hour ago"), (-90, -30, 1));
    assert_eq!(hours("30 minutes ago"), (-45, -15, 1));
    assert_eq!(hours("a few hours ago"), (-420, -120, 1));
    assert_eq!(hours("16 hours ago"), (-1440, -480, 2));
    // Events of this moment are part of the last hour.
    assert!(parse_time_phrase("last hour", now, &berlin).unwrap().to > now);
    for vague in ["last minute", "this minute", "this hour"] {
        assert_eq!(parse_time_phrase(vague, now, &berlin), None);
    }
}

#[test]
fn titles_of_periods_are_understood() {
    let (now, utc) = (at(SATURDAY), Zone::utc());
    for period in [Period::Year(2026), Period::Month(2026, 3), Period::day(2026, 11, 14).unwrap()] {
        let span = parse_time_phrase(&period.title(), now, &utc).unwrap();
        assert_eq!((span.from, span.to), period.range(&utc), "{}", period.title());
    }
}

#[test]
fn an_open_start_can_be_cut_to_what_there_is() {
    let (now, utc) = (at(SATURDAY), Zone::utc());
    let span = parse_time_phrase("before March", now, &utc).unwrap();
    let cut = span.clone().clip_start(at("2026-02-11T10:00:00Z"), &utc).unwrap();
    assert_eq!(told(&cut, &utc), "2026-02-09..2026-02-28 2w 6d");
    assert_eq!(cut.phrase, "before March");
    assert_eq!(span.clip_start(now, &utc), None);
}

/// Words of phrases, to be combined in any order.
fn word_salad() -> impl Strategy<Value = String> {
    const WORDS: &str = "today yesterday last past this week days month year quarter hours ago between \
        and from to since before after until the in on of Monday sat March may 14 31 \
        2026 1999 9999 53 2026-02-30 2026-W53 2011-12-30 q3 few 3 , – weekend a night \
        minutes Nov 14th 1970";
    let words: Vec<&str> = WORDS.split(' ').collect();
    proptest::collection::vec(proptest::sample::select(words), 1..7)
        .prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_text_gives_a_span_or_nothing(
        text in prop_oneof![word_salad(), "\\PC{0,60}".prop_map(|text| text)],
        now in prop_oneof![4 => any_moment(), 1 => any::<u64>().prop_map(Millis)],
        zone in any_zone(),
    ) {
        if let Some(span) = parse_time_phrase(&text, now, &zone) {
            prop_assert!(span.from < span.to, "{span:?}");
            let ranges: Vec<_> = span.periods.iter().map(|period| period.range(&zone)).collect();
            let (first, last) = (ranges.first().unwrap().0, ranges.last().unwrap().1);
            // The periods are contiguous, contain the span, and equal it for whole days.
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 == pair[1].0));
            prop_assert!(first <= span.from && span.to <= last);
            if !text.contains("hours") && !text.contains("minutes") {
                prop_assert_eq!((first, last), (span.from, span.to));
            }
        }
    }
}
