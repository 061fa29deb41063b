//! Periods partition time, in any zone.

use proptest::prelude::*;
use tome_model::{Level, Millis, Period, Zone};

/// Zones with half-hour offsets, skipped or repeated midnights, and skipped days.
pub const ZONES: &[&str] = &[
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Havana",
    "America/Goose_Bay",
    "Asia/Kathmandu",
    "Asia/Beirut",
    "Asia/Gaza",
    "Africa/Casablanca",
    "Africa/Monrovia",
    "Antarctica/Troll",
    "Antarctica/Casey",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Kwajalein",
    "Pacific/Kiritimati",
    "Pacific/Chatham",
    "-11:00",
    "+14:00",
];

const HOUR: u64 = 3_600_000;

pub fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap()
}

pub fn at(text: &str) -> Millis {
    Millis::parse("at", text).unwrap()
}

fn hours(day: Period, zone: &Zone) -> u64 {
    let (from, to) = day.range(zone);
    (to.0 - from.0) / HOUR
}

pub fn any_zone() -> impl Strategy<Value = Zone> {
    proptest::sample::select(ZONES).prop_map(zone)
}

/// Any valid moment, mostly in recent decades.
pub fn any_moment() -> impl Strategy<Value = Millis> {
    prop_oneof![
        6 => 0u64..2_000_000_000_000,
        2 => 0u64..=253_402_207_200_000,
        1 => Just(0u64),
        1 => Just(253_402_207_200_000),
    ]
    .prop_map(Millis)
}

proptest! {
    #[test]
    fn every_moment_is_in_one_day_and_one_week(at in any_moment(), zone in any_zone()) {
        let day = Period::day_containing(at, &zone);
        let week = day.parent().unwrap();
        for period in [day, week] {
            let (from, to) = period.range(&zone);
            prop_assert!(from <= at && at < to, "{at} {period:?} {from} {to}");
        }
        let (from, to) = day.range(&zone);
        // Adjacent days touch it without overlap.
        prop_assert_eq!(Period::day_containing(from, &zone), day);
        prop_assert_eq!(Period::day_containing(Millis(to.0 - 1), &zone), day);
        if from.0 > 0 {
            let before = Period::day_containing(Millis(from.0 - 1), &zone);
            prop_assert!(before < day);
            prop_assert_eq!(before.range(&zone).1, from);
        }
        if to.0 <= 253_402_207_200_000 {
            let after = Period::day_containing(to, &zone);
            prop_assert!(after > day);
            prop_assert_eq!(after.range(&zone).0, to);
        }
    }

    #[test]
    fn the_days_of_a_week_tile_it(at in any_moment(), zone in any_zone()) {
        let week = Period::day_containing(at, &zone).parent().unwrap();
        let (from, to) = week.range(&zone);
        let days = week.children();
        prop_assert!(days.len() == 7 || week == Period::Week(9999, 52));
        prop_assert_eq!(week.days().collect::<Vec<_>>(), days.clone());
        let mut reached = from;
        for day in days {
            prop_assert_eq!(day.parent(), Some(week));
            let (start, end) = day.range(&zone);
            prop_assert_eq!(start, reached);
            prop_assert!(end >= start);
            reached = end;
        }
        prop_assert_eq!(reached, to);
    }

    #[test]
    fn months_tile_their_year_and_days_their_month(year in 1970i16..=9999, zone in any_zone()) {
        let year = Period::Year(year);
        let months = year.children();
        prop_assert_eq!(months.len(), 12);
        let mut reached = year.range(&zone).0;
        for month in months {
            prop_assert_eq!(month.parent(), Some(year));
            prop_assert_eq!(month.range(&zone).0, reached);
            for day in month.days() {
                prop_assert_eq!(day.range(&zone).0, reached);
                reached = day.range(&zone).1;
            }
            prop_assert_eq!(month.range(&zone).1, reached);
        }
        prop_assert_eq!(year.range(&zone).1, reached);
    }

    #[test]
    fn the_parts_of_a_month_are_exactly_its_days(year in 1970i16..=9999, month in 1i8..=12) {
        let month = Period::Month(year, month);
        let parts = month.parts();
        let days: Vec<Period> = parts.iter().flat_map(Period::days).collect();
        prop_assert_eq!(days, month.days().collect::<Vec<_>>());
        for part in &parts {
            prop_assert!(part.part_of().contains(&month), "{part:?}");
        }
        // Its weeks are those of its days, whether or not they lie in it as a whole.
        let weeks = month.children();
        prop_assert!(matches!(weeks.len(), 4..=6));
        for day in month.days() {
            prop_assert!(weeks.contains(&day.parent().unwrap()));
        }
    }

    #[test]
    fn a_day_is_in_its_week_month_and_year(at in any_moment(), zone in any_zone()) {
        let day = Period::day_containing(at, &zone);
        let levels: Vec<Level> = day.ancestors().map(|period| period.level()).collect();
        prop_assert_eq!(levels, [Level::Week, Level::Month, Level::Year]);
        for above in day.ancestors() {
            prop_assert!(above.days().any(|one| one == day));
        }
        // It counts once in each of them.
        let mut reached = vec![day];
        let mut counted = Vec::new();
        while let Some(period) = reached.pop() {
            reached.extend(period.part_of());
            counted.extend(period.part_of());
        }
        counted.sort();
        let mut above: Vec<Period> = day.ancestors().collect();
        above.sort();
        prop_assert_eq!(counted, above);
    }

    /// The fields are public, so invalid values must be harmless.
    #[test]
    fn nonsense_does_not_panic(year: i16, part: i8, zone in any_zone()) {
        for period in [Period::Year(year), Period::Month(year, part), Period::Week(year, part)] {
            let (from, to) = period.range(&zone);
            prop_assert!(from <= to);
            let _ = (period.title(), period.id(), period.children(), period.ancestors().count());
        }
    }
}

#[test]
fn days_are_as_long_as_clocks_make_them() {
    let day = |year, month, day| Period::day(year, month, day).unwrap();
    let berlin = zone("Europe/Berlin");
    assert_eq!(hours(day(2026, 3, 29), &berlin), 23);
    assert_eq!(hours(day(2026, 10, 25), &berlin), 25);
    assert_eq!(hours(day(2026, 11, 14), &berlin), 24);
    let apia = zone("Pacific/Apia");
    assert_eq!(hours(day(2011, 12, 29), &apia), 24);
    assert_eq!(hours(day(2011, 12, 30), &apia), 0);
    assert_eq!(hours(day(2011, 12, 31), &apia), 24);
    assert_eq!(hours(Period::Week(2011, 52), &apia), 6 * 24);
    // 00:00 does not exist here: the day begins at 01:00.
    let sao_paulo = zone("America/Sao_Paulo");
    assert_eq!(day(2018, 11, 4).range(&sao_paulo).0, at("2018-11-04T01:00:00-02:00"));
    assert_eq!(hours(day(2018, 11, 4), &sao_paulo), 23);
    // 00:00 occurs twice here, both times on the new day.
    let havana = zone("America/Havana");
    assert_eq!(day(2026, 11, 1).range(&havana).0, at("2026-11-01T00:00:00-04:00"));
    assert_eq!(hours(day(2026, 11, 1), &havana), 25);
}

/// Clocks showed 00:00 to 00:01 of November 2, then 23:01 to 24:00 of November 1 again.
#[test]
fn a_clock_set_back_over_midnight_leaves_days_whole() {
    let zone = zone("America/St_Johns");
    let first = Period::day(2008, 11, 1).unwrap();
    let second = Period::day(2008, 11, 2).unwrap();
    for (moment, day) in [
        ("2008-11-01T23:59:59-02:30", first),
        ("2008-11-02T00:00:30-02:30", first),
        ("2008-11-01T23:30:00-03:30", first),
        ("2008-11-02T00:00:00-03:30", second),
    ] {
        assert_eq!(Period::day_containing(at(moment), &zone), day, "{moment}");
    }
    assert_eq!((hours(first, &zone), hours(second, &zone)), (25, 24));
}

#[test]
fn a_week_may_lie_in_two_months_and_years() {
    let chain = |year, month, day| -> Vec<String> {
        let day = Period::day(year, month, day).unwrap();
        day.ancestors().map(|period| period.id().to_string()).collect()
    };
    let w53 = ["toc:week:2020-W53", "toc:month:2021-01", "toc:year:2021"];
    assert_eq!(chain(2021, 1, 3), w53);
    let early = ["toc:week:2026-W01", "toc:month:2025-12", "toc:year:2025"];
    assert_eq!(chain(2025, 12, 29), early);
    let march = ["toc:week:2026-W14", "toc:month:2026-03", "toc:year:2026"];
    assert_eq!(chain(2026, 3, 31), march);
    let names = |periods: Vec<Period>| -> Vec<String> {
        periods.iter().map(|period| period.id().to_string().replace("toc:", "")).collect()
    };
    let august = Period::Month(2026, 8);
    let weeks = ["W31", "W32", "W33", "W34", "W35", "W36"].map(|week| format!("week:2026-{week}"));
    assert_eq!(names(august.children()), weeks);
    let parts = [
        "day:2026-08-01",
        "day:2026-08-02",
        "week:2026-W32",
        "week:2026-W33",
        "week:2026-W34",
        "week:2026-W35",
        "day:2026-08-31",
    ];
    assert_eq!(names(august.parts()), parts);
    assert_eq!(names(Period::Week(2026, 31).part_of()), [""; 0]);
    assert_eq!(names(Period::Week(2026, 32).part_of()), ["month:2026-08"]);
    let sunday = Period::day(2026, 8, 2).unwrap();
    assert_eq!(names(sunday.part_of()), ["week:2026-W31", "month:2026-08"]);
    // To go up from a week, there is one month: the one with most of its days.
    assert_eq!(Period::Week(2026, 31).parent(), Some(Period::Month(2026, 7)));
}

#[test]
fn titles_are_what_people_say() {
    let titles = [
        (Period::Year(2026), "2026"),
        (Period::Month(2026, 11), "November 2026"),
        (Period::Week(2026, 46), "Week 46 of 2026 (Nov 9 – 15)"),
        (Period::Week(2026, 5), "Week 5 of 2026 (Jan 26 – Feb 1)"),
        (Period::Week(2026, 1), "Week 1 of 2026 (Dec 29, 2025 – Jan 4, 2026)"),
        (Period::day(2026, 11, 14).unwrap(), "Saturday, November 14, 2026"),
    ];
    for (period, title) in titles {
        assert_eq!(period.title(), title);
    }
}

#[test]
fn zones_have_names_that_give_them_back() {
    for name in ZONES.iter().copied().chain(["europe/berlin", "+2", "-0330", "system", "utc"]) {
        let zone = zone(name);
        assert_eq!(Zone::parse(zone.name()).unwrap().name(), zone.name(), "{name}");
    }
    assert_eq!(zone("europe/BERLIN").name(), "Europe/Berlin");
    assert_eq!(zone("+2").name(), "+02:00");
    assert_eq!(zone("-0330").name(), "-03:30");
    assert_eq!(zone("+00:00"), Zone::utc());
    for bad in ["Mars/Olympus", "Etc/Unknown", "+99:00", "+1:2:3", "+é0", "../UTC", "EST5EDT4,x"] {
        let error = Zone::parse(bad).unwrap_err().to_string();
        assert!(error.contains("Europe/Berlin"), "{error}");
    }
    assert_eq!(Zone::parse(" ").unwrap_err().to_string(), "zone is missing");
}
