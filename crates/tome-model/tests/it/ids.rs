//! Ids of nodes and grips round-trip, and malformed ones are rejected.

use proptest::prelude::*;
use tome_model::{EventId, GripId, Level, Millis, NodeId, Period, SessionId};

use crate::periods::{any_moment, any_zone};

proptest! {
    #[test]
    fn ids_of_periods_come_back(at in any_moment(), zone in any_zone()) {
        let day = Period::day_containing(at, &zone);
        for period in std::iter::once(day).chain(day.ancestors()) {
            let id = period.id();
            prop_assert_eq!(NodeId::parse(id.as_str()), Ok(id.clone()));
            prop_assert_eq!(id.period(), Some(period));
            prop_assert_eq!(id.level(), period.level());
            prop_assert_eq!(id.day(), (period == day).then_some(day));
            let json = serde_json::to_string(&id).unwrap();
            prop_assert_eq!(serde_json::from_str::<NodeId>(&json).unwrap(), id);
        }
    }

    #[test]
    fn ids_of_segments_and_grips_come_back(at in any_moment(), zone in any_zone(), event in "[!-~]{1,40}") {
        let day = Period::day_containing(at, &zone);
        let event = EventId::parse(&event).unwrap();
        let id = NodeId::for_segment(&day, at, &SessionId::parse("s1").unwrap(), &event);
        prop_assert_eq!(NodeId::parse(id.as_str()), Ok(id.clone()));
        prop_assert_eq!((id.level(), id.day(), id.period()), (Level::Segment, Some(day), Some(day)));
        let grip = GripId::from_excerpt(at, &event, "the lexer");
        prop_assert_eq!(GripId::parse(grip.as_str()), Ok(grip.clone()));
        prop_assert_eq!(grip.at(), at);
    }

    #[test]
    fn any_text_is_an_id_or_an_error(text in "(toc|grip|)[:a-zA-Z0-9é-]{0,50}|\\PC{0,40}") {
        if let Ok(id) = NodeId::parse(&text) {
            prop_assert_eq!(NodeId::parse(id.as_str()), Ok(id.clone()));
            prop_assert!(id.period().is_some());
        }
        if let Ok(id) = GripId::parse(&text) {
            prop_assert_eq!(GripId::parse(id.as_str()), Ok(id));
        }
    }
}

#[test]
fn segments_of_a_day_sort_by_their_start() {
    let day = Period::day(2026, 11, 14).unwrap();
    let id = |start: u64, session: &str, event: &str| {
        let session = SessionId::parse(session).unwrap();
        NodeId::for_segment(&day, Millis(start), &session, &EventId::parse(event).unwrap())
    };
    let start = 1_794_650_400_000;
    assert!(id(start, "s9", "e9") < id(start + 1, "s1", "e1"));
    assert_eq!(id(start, "s1", "e1"), id(start, "s1", "e1"));
    assert_ne!(id(start, "s1", "e1"), id(start, "s2", "e1"));
    assert_ne!(id(start, "s1", "e1"), id(start, "s1", "e2"));
    // On disk: these ids must never change.
    assert_eq!(id(start, "s1", "e1").as_str(), "toc:segment:2026-11-14:01M7CQZS805R0ZFFJQJP8DTQ5A");
    let event = EventId::parse("e1").unwrap();
    assert_eq!(
        GripId::from_excerpt(Millis(start), &event, "the lexer").as_str(),
        "grip:1794650400000:01M7CQZS80B7V18RT2Q0H5G8FW"
    );
    assert_ne!(
        GripId::from_excerpt(Millis(start), &event, "the lexer"),
        GripId::from_excerpt(Millis(start), &event, "the parser")
    );
}

#[test]
fn other_ways_to_write_an_id_are_read() {
    for (written, id) in [
        ("toc:month:2026:01", "toc:month:2026-01"),
        ("toc:week:2026:W05", "toc:week:2026-W05"),
        ("toc:week:2026-w05", "toc:week:2026-W05"),
        (" toc:year:2026\n", "toc:year:2026"),
        (
            "toc:segment:2026-01-29:01arz3ndektsv4rrffq69g5fav",
            "toc:segment:2026-01-29:01ARZ3NDEKTSV4RRFFQ69G5FAV",
        ),
    ] {
        assert_eq!(NodeId::parse(written).unwrap().as_str(), id);
    }
}

#[test]
fn what_is_no_id_is_refused_with_an_example() {
    let example = |id: &str| NodeId::parse(id).unwrap_err().to_string();
    for id in ["", "toc", "toc:", "toc:year", "toc:decade:202", "grip:1:x", "2026", "toc::2026"] {
        assert!(example(id).contains("is not known: use an id such as toc:year:2026"), "{id}");
    }
    for (id, like) in [
        ("toc:year:26", "toc:year:2026"),
        ("toc:year:1492", "toc:year:2026"),
        ("toc:year:+026", "toc:year:2026"),
        ("toc:month:2026-13", "toc:month:2026-11"),
        ("toc:month:2026-1", "toc:month:2026-11"),
        ("toc:month:2026-01-01", "toc:month:2026-11"),
        ("toc:week:2025-W53", "toc:week:2026-W46"),
        ("toc:week:2026-W00", "toc:week:2026-W46"),
        ("toc:week:2026-46", "toc:week:2026-W46"),
        ("toc:day:2026-02-29", "toc:day:2026-11-14"),
        ("toc:day:2026-11-14:", "toc:day:2026-11-14"),
        ("toc:day:2026-11-14T00", "toc:day:2026-11-14"),
        ("toc:segment:2026-11-14", "toc:segment:2026-11-14:01K"),
        ("toc:segment:2026-11-14:short", "toc:segment:2026-11-14:01K"),
        ("toc:segment:2026-11-14:ü1ARZ3NDEKTSV4RRFFQ69G5FA", "toc:segment:2026-11-14:01K"),
    ] {
        let error = example(id);
        assert!(error.contains("is malformed") && error.contains(like), "{error}");
    }
    for id in [
        "",
        "grip:",
        "grip:1",
        "grip:x:01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "grip:01:01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ] {
        assert!(
            GripId::parse(id).unwrap_err().to_string().contains("grip:1794702485884:01K"),
            "{id}"
        );
    }
    assert!(serde_json::from_str::<NodeId>("\"toc:year:26\"").is_err());
}
