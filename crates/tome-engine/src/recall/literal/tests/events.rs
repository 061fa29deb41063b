//! Events, straight from a ledger.

use serde_json::{Map, json};
use tome_finder::{Filter, Key, Source};
use tome_ledger::{Ledger, NewEvent};
use tome_model::{Agent, Draft, EventId, EventKind, Identity, Millis, Role, SessionId, Tool};

use super::super::{Hunt, Needle, Scan, scan_events};
use super::{filtered, hunted};

fn draft(number: u64, text: &str) -> Draft {
    Draft {
        identity: Identity::Fixed(EventId::parse(&format!("e{number}")).unwrap()),
        at: Millis(10_000_000 - number * 1_000),
        session: SessionId::parse(if number.is_multiple_of(2) { "even" } else { "odd" }).unwrap(),
        agent: Agent::parse(if number.is_multiple_of(3) { "codex" } else { "gemini" }).unwrap(),
        cwd: "/app".into(),
        project: None,
        kind: EventKind::UserMessage,
        role: Role::User,
        text: text.into(),
        tool: None,
        meta: Map::new(),
    }
}

/// Events 1 to `count`; the later they arrived, the earlier they happened.
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

fn seqs(scan: &Scan) -> Vec<u64> {
    let number = |key: &Key| match key {
        Key::Event(seq) => *seq,
        Key::Named(name) => panic!("{name}"),
    };
    scan.seen.iter().map(|seen| number(&seen.key)).collect()
}

#[test]
fn all_events_or_those_that_arrived_later() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder, 600);
    let scan = |query: &str, after, limit| {
        hunted(query, limit, |hunt| scan_events(&ledger, after, hunt).unwrap())
    };
    let all = scan("needle", 0, 3);
    assert_eq!((seqs(&all), all.matched, all.looked), (vec![1, 2, 3], 600, 600));
    let late = scan("needle", 590, 100);
    assert_eq!((seqs(&late), late.looked), ((591..=600).collect::<Vec<_>>(), 10));
    assert_eq!(scan("needle", 1, 1_000).matched, 599);
    assert_eq!(seqs(&scan("needle", 600, 5)), [] as [u64; 0]);
    assert_eq!(seqs(&scan("needle 77", 0, 1)), [77]);
    let scan = scan("ñandú found", 0, 5);
    assert_eq!(seqs(&scan), [7]);
    let seen = &scan.seen[0];
    assert_eq!(seen.snippet, "needle 7 grep ÑANDÚ found the hay");
    let text = "needle 7\ngrep ÑANDÚ\nfound the\nhay";
    assert_eq!(&text[seen.part.from as usize..seen.part.to as usize], "ÑANDÚ\nfound");
    assert_eq!((seen.at, seen.kind.as_str()), (Millis(9_993_000), "tool_result"));
    assert_eq!((seen.project.as_str(), seen.session.as_str()), ("/app", "odd"));
}

#[test]
fn filters_hold_whichever_way_events_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder, 30);
    for (filter, kept) in [
        (Filter { project: Some("/app".into()), ..Filter::default() }, 30),
        (Filter { project: Some("/other".into()), ..Filter::default() }, 0),
        (Filter { session: Some("even".into()), ..Filter::default() }, 15),
        (Filter { session: Some(String::new()), ..Filter::default() }, 0),
        (Filter { agents: vec!["codex".into()], ..Filter::default() }, 10),
        (Filter { agents: vec!["codex".into(), "gemini".into()], ..Filter::default() }, 30),
        (Filter { kinds: vec!["tool_result".into()], ..Filter::default() }, 1),
        (
            Filter {
                since: Some(Millis(9_990_000)),
                until: Some(Millis(9_995_000)),
                ..Filter::default()
            },
            5,
        ),
        (Filter { sources: vec![Source::Note], ..Filter::default() }, 0),
    ] {
        let scans = [0, 1].map(|after| {
            filtered("needle", 100, &filter, |hunt| scan_events(&ledger, after, hunt).unwrap())
        });
        assert_eq!(scans[0].seen.len(), kept, "{filter:?}");
        let first = seqs(&scans[0]).contains(&1);
        assert_eq!(scans[1].seen.len(), kept - usize::from(first), "{filter:?}");
    }
}

#[test]
fn a_scan_of_events_can_be_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder, 2_000);
    let needle = Needle::new("needle");
    for after in [0, 1] {
        let asked = std::cell::Cell::new(0);
        let stop = || asked.replace(asked.get() + 1) > 1;
        let hunt = Hunt { needle: &needle, filter: &Filter::default(), limit: 5, stop: &stop };
        let scan = scan_events(&ledger, after, hunt).unwrap();
        assert!(scan.cut && scan.looked > 0 && scan.looked < 1_999, "{}", scan.looked);
    }
}
