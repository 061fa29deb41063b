//! Scans of events.

use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use serde_json::{Value, json};
use tome_finder::{EntryFilter, EntryKey, RecordKind};
use tome_ledger::{EventRange, Ledger, NewEvent};
use tome_model::{Agent, Draft, Event, EventId, EventKind, Millis, Tool};
use tome_testkit::prompt_draft;

use super::super::line_text::join_event_text;
use super::super::text_match::MatchResult;
use super::super::{Matcher, Scan, ScanQuery, scan_events};
use super::{scan_with_filter, scan_with_limit};

fn draft(number: u64, text: &str) -> Draft {
    let session = if number.is_multiple_of(2) { "even" } else { "odd" };
    let agent = Agent::parse(if number.is_multiple_of(3) { "codex" } else { "gemini" }).unwrap();
    let at = Millis(10_000_000 - number * 1_000);
    Draft { agent, ..prompt_draft(&format!("e{number}"), session, at, text) }
}

/// Events 1 to `count`; later arrivals have earlier times.
fn ledger(folder: &tempfile::TempDir, count: u64) -> Ledger {
    let ledger = Ledger::open(folder.path()).unwrap();
    let mut drafts: Vec<Draft> = (1..=count).map(|n| draft(n, &format!("needle {n}"))).collect();
    if let Some(tool) = drafts.get_mut(6) {
        tool.kind = EventKind::ToolResult;
        let (input, output) = (json!({"command": "grep ÑANDÚ"}), json!("found the\nhay"));
        tool.tool = Some(Tool { name: "Bash".into(), input, output });
    }
    let events = drafts.into_iter().map(|draft| NewEvent::encode(draft, "/app".into(), Millis(1)));
    ledger.append(events.collect()).unwrap();
    ledger
}

/// Reference implementation: decodes and matches all events one by one.
fn read_one_by_one(ledger: &Ledger, matcher: &Matcher) -> Vec<u64> {
    let mut found = Vec::new();
    for event in ledger.events(&EventRange::default()) {
        let (position, event) = event.unwrap();
        let mut text = String::new();
        join_event_text(&event, &mut text);
        if let Some(text_match) = matcher.match_text(&text) {
            found.push((text_match.score(), position.at, position.seq));
        }
    }
    // Best first; ties newest first, then last arrived first.
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(b.2.cmp(&a.2)));
    found.into_iter().map(|(_, _, seq)| seq).collect()
}

/// Words of several scripts and cases, between characters that JSON escapes.
fn any_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-cA-C]{1,5}",
        "(?i)(straße|ÑANDÚ|όΔΟΣ|İstanbul|ſtate|µm|don’t|“so”|e‑mail)",
        "[缓存过期]{1,4}",
        "[\"\\\\/\t\n ,;]{1,2}",
        "\\PC{1,3}",
        "[a-c]{1,2}[_.:/-][A-C]{1,2}",
        "[0-9]{1,2}",
    ];
    proptest::collection::vec((word, "[ \n]?"), 1..8)
        .prop_map(|words| words.into_iter().map(|(word, gap)| word + &gap).collect())
}

fn tool() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any_text().prop_map(Value::from),
        (-50i64..50).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map("[a-c]{1,2}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// The check of the stored form has no false negatives.
    #[test]
    fn the_prefilter_of_stored_events_drops_no_match(
        text in any_text(), input in tool(), output in tool(), query in any_text(), least in 0f32..3.5,
    ) {
        let matcher = Matcher::new(&query);
        let stored = |value: &Value| match value {
            Value::Null => String::new(),
            value => value.to_string(),
        };
        let json = [stored(&input), stored(&output)];
        let event = Draft {
            tool: Some(Tool { name: "Bash".into(), input, output }),
            ..draft(1, &text)
        };
        let mut all = String::new();
        join_event_text(&as_event(event), &mut all);
        let text_match = matcher.match_text(&all);
        let may = matcher.contains_any(&text) || json.iter().any(|json| matcher.may_match_json(json));
        prop_assert!(may || text_match.is_none(), "{query:?} in {all:?}");
        match (matcher.match_above(&all, least), text_match) {
            (MatchResult::NoMatch, None) => {}
            (MatchResult::BelowMinimum, Some(text_match)) => prop_assert!(text_match.score() < least),
            (MatchResult::Match(matched), Some(text_match)) => prop_assert_eq!(matched, text_match),
            (matched, text_match) => prop_assert!(false, "{matched:?} {text_match:?}"),
        }
    }
}

fn as_event(draft: Draft) -> Event {
    let at = draft.at;
    draft.into_event(EventId::parse("e1").unwrap(), "/app".into(), at)
}

#[test]
fn a_parallel_scan_finds_the_same_as_a_sequential_one() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(folder.path()).unwrap();
    let words = ["alpha", "Beta", "GAMMA", "Öl", "缓存过期", "\"quoted\"", "a\\b", "x\ny"];
    let drafts = (1..=3_000u64).map(|n| {
        let word = |by: u64| words[usize::try_from(n.wrapping_mul(by) >> 3).unwrap() % words.len()];
        let text = format!("{} {} number {n}", word(7), word(31));
        // Several events at the same time, and most of them late: time ranges are uneven.
        let at = Millis(if n % 9 == 0 { n } else { 1_000_000 + n / 4 });
        let mut draft = Draft { at, ..draft(n, &text) };
        if n % 2 == 0 {
            let output = json!({"stdout": std::mem::take(&mut draft.text), "lines": [word(13), n]});
            draft.tool = Some(Tool { name: "Bash".into(), input: json!({"q": word(3)}), output });
        }
        NewEvent::encode(draft, "/app".into(), Millis(1))
    });
    ledger.append(drafts.collect()).unwrap();
    let mut matchers: Vec<Matcher> = [
        "alpha",
        "beta gamma",
        "öl",
        "缓存",
        "\"quoted\" alpha",
        "a\\b",
        "x y",
        "number 2321",
        "absent",
    ]
    .map(Matcher::new)
    .into();
    matchers.push(Matcher::from_regex("g.mma.*alpha").unwrap());
    for matcher in &matchers {
        let one_by_one = read_one_by_one(&ledger, matcher);
        for limit in [1, 40, 1_000] {
            let scan_query =
                ScanQuery { matcher, filter: &EntryFilter::default(), limit, stop: &|| false };
            let scan = scan_events(&ledger, 0, scan_query).unwrap();
            let best = one_by_one.get(..limit).unwrap_or(&one_by_one);
            assert_eq!(seqs(&scan), best, "{matcher:?}");
            assert_eq!(scan.matched, one_by_one.len() as u64, "{matcher:?}");
            assert_eq!((scan.scanned, scan.was_stopped), (3_000, false));
        }
    }
}

fn seqs(scan: &Scan) -> Vec<u64> {
    let number = |key: &EntryKey| match key {
        EntryKey::Event(seq) => *seq,
        EntryKey::Named(name) => panic!("{name}"),
    };
    scan.matches.iter().map(|matched| number(&matched.key)).collect()
}

#[test]
fn a_scan_starts_after_the_given_event() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder, 600);
    let scan = |query: &str, after, limit| {
        scan_with_limit(query, limit, |scan_query| scan_events(&ledger, after, scan_query).unwrap())
    };
    let all = scan("needle", 0, 3);
    assert_eq!((seqs(&all), all.matched, all.scanned), (vec![1, 2, 3], 600, 600));
    let late = scan("needle", 590, 100);
    assert_eq!((seqs(&late), late.scanned), ((591..=600).collect::<Vec<_>>(), 10));
    assert_eq!(scan("needle", 1, 1_000).matched, 599);
    assert_eq!(seqs(&scan("needle", 600, 5)), [] as [u64; 0]);
    assert_eq!(seqs(&scan("needle 77", 0, 1)), [77]);
    let scan = scan("ñandú found", 0, 5);
    assert_eq!(seqs(&scan), [7]);
    let matched = &scan.matches[0];
    let text = "needle 7\ngrep ÑANDÚ\nfound the\nhay";
    assert_eq!(&text[matched.range.from as usize..matched.range.to as usize], "ÑANDÚ\nfound");
    assert_eq!((matched.at, matched.kind.as_str()), (Millis(9_993_000), "tool_result"));
    assert_eq!((matched.project.as_str(), matched.session.as_str()), ("/app", "odd"));
}

#[test]
fn filters_hold_whichever_way_events_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder, 30);
    for (filter, kept) in [
        (EntryFilter { project: Some("/app".into()), ..EntryFilter::default() }, 30),
        (EntryFilter { project: Some("/other".into()), ..EntryFilter::default() }, 0),
        (EntryFilter { session: Some("even".into()), ..EntryFilter::default() }, 15),
        (EntryFilter { session: Some(String::new()), ..EntryFilter::default() }, 0),
        (EntryFilter { agents: vec!["codex".into()], ..EntryFilter::default() }, 10),
        (
            EntryFilter { agents: vec!["codex".into(), "gemini".into()], ..EntryFilter::default() },
            30,
        ),
        (EntryFilter { kinds: vec!["tool_result".into()], ..EntryFilter::default() }, 1),
        (
            EntryFilter {
                from: Some(Millis(9_990_000)),
                to: Some(Millis(9_995_000)),
                ..EntryFilter::default()
            },
            5,
        ),
        (EntryFilter { sources: vec![RecordKind::Note], ..EntryFilter::default() }, 0),
    ] {
        let scans = [0, 1].map(|after| {
            scan_with_filter("needle", 100, &filter, |scan_query| {
                scan_events(&ledger, after, scan_query).unwrap()
            })
        });
        assert_eq!(scans[0].matches.len(), kept, "{filter:?}");
        let first = seqs(&scans[0]).contains(&1);
        assert_eq!(scans[1].matches.len(), kept - usize::from(first), "{filter:?}");
    }
}

#[test]
fn a_scan_of_events_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder, 2_000);
    let matcher = Matcher::new("needle");
    for after in [0, 1] {
        let calls = AtomicU32::new(0);
        let stop = || calls.fetch_add(1, Ordering::Relaxed) > 1;
        let scan_query =
            ScanQuery { matcher: &matcher, filter: &EntryFilter::default(), limit: 5, stop: &stop };
        let scan = scan_events(&ledger, after, scan_query).unwrap();
        assert!(scan.was_stopped && scan.scanned > 0 && scan.scanned < 1_999, "{}", scan.scanned);
    }
}
