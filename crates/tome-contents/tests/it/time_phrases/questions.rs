//! Time phrases inside queries: which are found, and which are not.

use proptest::prelude::*;
use tome_contents::{find_time_phrase, parse_time_phrase};

use super::phrases::told;
use super::{any_moment, any_zone, at, zone};

const NOW: &str = "2026-11-14T15:30:00+01:00";

/// Each line marks the time phrase with brackets and gives its span.
fn check_find(table: &str) {
    let (now, zone) = (at(NOW), zone("Europe/Berlin"));
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (marked, wanted) = line.split_once(" : ").unwrap();
        let question = marked.trim().replace(['<', '>'], "");
        let (span, range) =
            find_time_phrase(&question, now, &zone).unwrap_or_else(|| panic!("{line}"));
        let found = format!(
            "{}<{}>{}",
            &question[..range.start],
            &question[range.clone()],
            &question[range.end..]
        );
        assert_eq!(found, marked.trim());
        assert_eq!(told(&span, &zone), wanted.trim(), "{line}");
        assert_eq!(span.phrase, question[range]);
    }
}

#[test]
fn times_are_found_in_questions() {
    check_find(
        "what did we decide <last week> about auth?                : 2026-11-02..2026-11-08 1w
         What were we talking about <yesterday>?                   : 2026-11-13 1d
         show me everything <from the last 3 days>, please         : 2026-11-12..2026-11-14 3d
         <yesterday's> deploy                                      : 2026-11-13 1d
         (<last week>) the lexer                                   : 2026-11-02..2026-11-08 1w
         what broke <on Monday> and why                            : 2026-11-09 1d
         what did I do <Tuesday>? and then?                         : 2026-11-10 1d
         the migration we planned <in March 2025>                  : 2025-03-01..2025-03-31 31d
         which tests failed <between Monday and Wednesday>?        : 2026-11-09..2026-11-11 3d
         what changed <since Nov 9>?                               : 2026-11-09..2026-11-14 6d
         what happened <on 2026-11-12>: the crash                  : 2026-11-12 1d
         what did we ship <in 2025>                                : 2025-01-01..2025-12-31 5d 51w 3d
         the notes <from March> on auth                            : 2026-03-01..2026-03-31 31d
         what did we do <in Nov. 2025> with it                     : 2025-11-01..2025-11-30 30d
         what about <between 10 and 20 March> then                 : 2026-03-10..2026-03-20 11d
         in the first week <of March> we                           : 2026-03-01..2026-03-31 31d
         what did we say <last week on Monday>?                    : 2026-11-02 1d
         did I say <in May> that it may fail                       : 2026-05-01..2026-05-31 31d
         what have we done <over the past 2 weeks> on the parser?  : 2026-11-01..2026-11-14 1d 1w 6d
         was hatten wir <today> vor                                : 2026-11-14 1d
         我们 <yesterday> 说了什么                                  : 2026-11-13 1d
         the parser in rust, <on Saturday, November 14, 2026>.     : 2026-11-14 1d
         the week is over; <this week> was fine                    : 2026-11-09..2026-11-15 1w
         it may be that <last month> was better                    : 2026-10-01..2026-10-31 31d",
    );
}

#[test]
fn what_is_no_time_is_left_alone() {
    let (now, zone) = (at(NOW), zone("Europe/Berlin"));
    for question in [
        "why does it fail",
        "may I march on?",
        "this may break; the last may be wrong",
        "the sun sat by mon repos",
        "update to version 2026.11.14",
        "pin claude-sonnet-2025-05-14 and v2026-11-14",
        "open notes-2026-11-14.md or 2026-11-14.md",
        "run `today` and today() and $today and --today and today.rs and src/today",
        "todays yesterdays mondayish",
        "https://example.org/2026-11-14",
        "it took 2025 ms in 2024 requests",
        "it failed in 2000 lines",
        "port 2024, error 2025, id 2026",
        "rust 2024, the 2021 edition",
        "moved from 2021 to 2024 edition",
        "the one from 2021, of 2022, for 2023",
        "at 09:30:00 or 12:00",
        "commit 20261114 and 2026111",
        "last minute changes, second thoughts",
        "last, week",
        "last. Week",
        "the next week, tomorrow, in 3 days, for 2 weeks",
        "a week of work",
        "Q3 is the third question",
        "2026-11-31 2026-02-30 2026-13-01 12026-11-14",
        "1.2.3-2026",
        "x=today, today=x, @monday #friday",
        "昨天说了什么today我",
        "",
    ] {
        let found = find_time_phrase(question, now, &zone);
        assert_eq!(found, None, "{question}");
    }
}

proptest! {
    #[test]
    fn any_text_can_be_searched(text in "\\PC{0,80}", now in any_moment(), zone in any_zone()) {
        if let Some((span, range)) = find_time_phrase(&text, now, &zone) {
            prop_assert!(span.from < span.to);
            prop_assert_eq!(text.get(range), Some(span.phrase.as_str()));
        }
    }

    /// A phrase found in a query has the same meaning as alone.
    #[test]
    fn a_phrase_means_the_same_in_a_question(
        before in "[b-z]{3,8}( [b-z]{4,8}){0,3}",
        phrase in proptest::sample::select(&[
            "yesterday", "last week", "in March", "3 days ago", "between Monday and Friday",
            "2026-11-12", "on Nov 14, 2025", "since last month", "14 November 2026", "Q3 2026",
        ][..]),
        mark in proptest::sample::select(&["", "?", ".", ",", ")", "…", "？"][..]),
        now in any_moment(),
        zone in any_zone(),
    ) {
        let question = format!("zz{before}; {phrase}{mark} zzz");
        let meant = parse_time_phrase(phrase, now, &zone);
        let start = question.find(phrase).unwrap();
        let range = start..start + phrase.len();
        prop_assert_eq!(find_time_phrase(&question, now, &zone), meant.map(|span| (span, range)));
    }
}
