//! Segment boundaries.

use proptest::prelude::*;
use tome_contents::{EventSegment, Extractive, cut_segments, cut_turns, weigh_event};
use tome_ledger::SegmentStartReason;
use tome_model::Period;

use super::memory::Memory;
use super::*;

fn event(n: usize, at: Millis, kind: EventKind, text: &str) -> Event {
    Event {
        id: EventId::parse(&format!("e{n}")).unwrap(),
        at,
        arrived: at,
        session: session("s1"),
        agent: Agent::parse("codex").unwrap(),
        project: PROJECT.into(),
        cwd: PROJECT.into(),
        kind,
        role: Role::User,
        text: text.into(),
        tool: None,
        meta: serde_json::Map::new(),
    }
}

fn random_events() -> impl Strategy<Value = Vec<Event>> {
    let pause = prop_oneof![5 => 0..120_000u64, 2 => 0..3_600_000u64, 1 => 0..90_000_000u64];
    let one = (pause, 0..12u8, 0..900usize);
    proptest::collection::vec(one, 0..80).prop_map(|all| {
        let mut now = at("2026-03-28T20:00:00Z").0;
        let mut events = Vec::new();
        for (n, (pause, kind, words)) in all.into_iter().enumerate() {
            now += pause;
            let kind = match kind {
                0 => EventKind::SessionEnd,
                1 => EventKind::Compaction,
                2..5 => EventKind::ToolResult,
                5..7 => EventKind::UserMessage,
                _ => EventKind::AssistantMessage,
            };
            events.push(event(n, Millis(now), kind, &"some words ".repeat(words)));
        }
        events
    })
}

fn is_prompt(event: &Event) -> bool {
    event.kind == EventKind::UserMessage
}

fn counted(events: &[Event]) -> u64 {
    events.iter().map(|event| weigh_event(event).capped_tokens).sum()
}

fn check_limits(events: &[Event], segment: &EventSegment, settings: &ContentsSettings) {
    let own = &events[segment.events.clone()];
    let (first, last) = (own.first().unwrap(), own.last().unwrap());
    assert!(counted(own) <= settings.tokens_max * 4 || own.len() == 1);
    // A prompt joins a segment only if it fits; the rest of its turn follows it.
    for (index, _) in own.iter().enumerate().skip(1).filter(|(_, event)| is_prompt(event)) {
        assert!(counted(&own[..=index]) <= settings.tokens_max);
    }
    assert!(own.windows(2).all(|two| two[0].at.distance_ms(two[1].at) <= settings.gap_ms));
    let day = |event: &Event| Period::day_containing(event.at, &settings.zone);
    assert_eq!(day(first), day(last));
    let ends = |event: &Event| matches!(event.kind, EventKind::SessionEnd | EventKind::Compaction);
    assert!(own[..own.len() - 1].iter().all(|event| !ends(event)));
    assert_eq!(segment.ended, ends(last));

    let overlap = &events[segment.overlap.clone()];
    assert_eq!(segment.overlap.end, segment.events.start);
    assert!(
        overlap.is_empty()
            || matches!(segment.began, SegmentStartReason::Full | SegmentStartReason::Midnight)
    );
    assert!(counted(overlap) <= settings.overlap_tokens_max);
    assert!(overlap.iter().all(|event| event.at.distance_ms(first.at) <= settings.overlap_ms));
}

/// Every cut has a reason, and the first applicable one is reported.
fn check_reason(events: &[Event], two: &[EventSegment], settings: &ContentsSettings) {
    let (before, next) = (&two[0], &two[1]);
    let own = &events[before.events.clone()];
    let (last, first) = (own.last().unwrap(), &events[next.events.start]);
    let expected = if before.ended {
        SegmentStartReason::Ended
    } else if last.at.distance_ms(first.at) > settings.gap_ms {
        SegmentStartReason::Gap
    } else if Period::day_containing(last.at, &settings.zone)
        != Period::day_containing(first.at, &settings.zone)
    {
        SegmentStartReason::Midnight
    } else {
        let most = settings.tokens_max * if is_prompt(first) { 1 } else { 4 };
        assert!(counted(own) + weigh_event(first).capped_tokens > most);
        SegmentStartReason::Full
    };
    assert_eq!(next.began, expected);
    assert_eq!(before.events.end, next.events.start);
    assert!(
        next.overlap.start >= before.events.start,
        "the overlap stays within the previous segment"
    );
    // As much as allowed: one more event would be too much.
    if matches!(expected, SegmentStartReason::Full | SegmentStartReason::Midnight)
        && next.overlap.start > before.events.start
    {
        let one_more = &events[next.overlap.start - 1];
        let too_long_ago = one_more.at.distance_ms(first.at) > settings.overlap_ms;
        let with = counted(&events[next.overlap.start - 1..next.overlap.end]);
        assert!(too_long_ago || with > settings.overlap_tokens_max);
    }
}

proptest! {
    #[test]
    fn every_event_is_in_one_segment_within_the_limits(events in random_events(), zone in 0..2usize) {
        let zone = Zone::parse(["UTC", "Europe/Berlin"][zone]).unwrap();
        let settings = ContentsSettings::in_zone(zone);
        let found = cut_segments(&events, &settings);
        let covered: usize = found.iter().map(|segment| segment.events.len()).sum();
        prop_assert_eq!(covered, events.len());
        prop_assert_eq!(found.first().map(|one| (one.began, one.events.start)),
            events.first().map(|_| (SegmentStartReason::Session, 0)));
        for segment in &found {
            check_limits(&events, segment, &settings);
        }
        for two in found.windows(2) {
            check_reason(&events, two, &settings);
        }
    }

    #[test]
    fn later_events_do_not_change_earlier_segments(events in random_events(), upto in 0..80usize) {
        let upto = upto.min(events.len());
        let (all, some) = (cut_segments(&events, &settings()), cut_segments(&events[..upto], &settings()));
        for (a, b) in all.iter().zip(&some) {
            let end = a.events.end.min(upto);
            prop_assert_eq!((a.began, a.events.start, end, &a.overlap), (b.began, b.events.start, b.events.end, &b.overlap));
        }
    }
}

#[test]
fn the_weight_of_a_tool_result_is_capped() {
    let quiet = event(1, Millis(1), EventKind::AssistantMessage, &"word ".repeat(3_000));
    let mut loud = event(2, Millis(1), EventKind::ToolResult, "");
    loud.tool = Some(tome_model::Tool {
        name: "Bash".into(),
        input: serde_json::json!({"command": "cat everything"}),
        output: serde_json::json!({"stdout": "line of output\n".repeat(20_000)}),
    });
    assert!(weigh_event(&quiet).capped_tokens > 2_500);
    assert!(weigh_event(&loud).tokens > 60_000 && weigh_event(&loud).capped_tokens < 300);
}

#[test]
fn every_event_is_in_exactly_one_turn() {
    let kinds = [
        EventKind::SessionStart,
        EventKind::UserMessage,
        EventKind::AssistantMessage,
        EventKind::ToolResult,
        EventKind::AssistantStop,
        EventKind::SessionStart,
        EventKind::UserMessage,
        EventKind::UserMessage,
        EventKind::SessionEnd,
    ];
    let all: Vec<Event> = kinds
        .into_iter()
        .enumerate()
        .map(|(n, kind)| event(n, Millis(n as u64), kind, "words"))
        .collect();
    assert_eq!(cut_turns(&all), [0..5, 5..7, 7..9]);
    assert!(cut_turns(&[]).is_empty());
}

proptest! {
    #[test]
    fn turns_cover_all_events_and_begin_with_prompts(events in random_events(), upto in 0..80usize) {
        let turns = cut_turns(&events);
        prop_assert_eq!(turns.first().map(|turn| turn.start), events.first().map(|_| 0));
        prop_assert_eq!(turns.last().map_or(0, |turn| turn.end), events.len());
        for two in turns.windows(2) {
            prop_assert_eq!(two[0].end, two[1].start);
            prop_assert!(is_prompt(&events[two[1].start]));
        }
        let prompts = events.iter().filter(|event| is_prompt(event)).count();
        prop_assert!(turns.len() == prompts || turns.len() == prompts + 1);
        let some = cut_turns(&events[..upto.min(events.len())]);
        prop_assert!(some.iter().zip(&turns).all(|(a, b)| a.start == b.start && a.end <= b.end));
    }
}

/// A long turn that is split goes on with its request, and a prompt after it with no earlier one.
#[test]
fn a_split_turn_has_the_title_of_its_own_request() {
    let memory = Memory::default();
    let ledger = memory.open();
    let mut settings = settings();
    settings.tokens_max = 200;
    let mut next = 0;
    let mut add = |kind: EventKind, text: &str| {
        next += 1;
        let when = Millis(at("2026-03-28T10:00:00Z").0 + next * 1_000);
        let mut draft = draft(&format!("e{next}"), "s1", when, text);
        draft.kind = kind;
        append(&ledger, PROJECT, draft);
    };
    let work = "The next file is read and compared with the one before it. ".repeat(20);
    for prompt in ["Move the session cache from Redis to Postgres", "/deploy", "Go on with step 9"]
    {
        add(EventKind::UserMessage, prompt);
        (0..12).for_each(|_| add(EventKind::AssistantMessage, &work));
    }
    catch_up_contents(&ledger, &settings, &Extractive, &Ticking::default()).unwrap();
    let heads = ledger.node_headers(PROJECT, "toc:segment:", None).map(Result::unwrap);
    let titles: Vec<String> = heads.map(|head| head.title).collect();
    let of_cache = titles.iter().filter(|title| title.contains("Redis")).count();
    let first_other = titles.iter().rposition(|title| title.contains("Redis")).unwrap() + 1;
    assert!(of_cache > 1 && of_cache == first_other, "{titles:?}");
    assert!(titles.len() > first_other + 2, "{titles:?}");
}
