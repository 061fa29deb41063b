//! Scans of the contents.

use tome_finder::{EntryFilter, EntryKey, RecordKind};
use tome_ledger::{Ledger, NewEvent};
use tome_model::{Agent, Draft, EventKind, Millis, Zone};
use tome_testkit::prompt_draft;

use super::super::{Scan, scan_contents};
use super::{Still, scan_with_filter};
use tome_contents::{ContentsSettings, Extractive, catch_up_contents};

const DAY_MS: u64 = 24 * 3_600_000;

fn ledger(folder: &tempfile::TempDir) -> Ledger {
    let ledger = Ledger::open(folder.path()).unwrap();
    let messages = [
        (
            "s1",
            0,
            EventKind::UserMessage,
            "Add a retry to the upload of invoices in billing/upload.rs",
        ),
        (
            "s1",
            1,
            EventKind::AssistantStop,
            "Added a retry with backoff to upload_invoice in billing/upload.rs.",
        ),
        ("s2", DAY_MS, EventKind::UserMessage, "Fix the parser for unicode identifiers"),
        (
            "s2",
            DAY_MS + 5,
            EventKind::AssistantStop,
            "Fixed the parser: parse_ident now takes unicode identifiers.",
        ),
    ];
    let events = messages.into_iter().enumerate().map(|(n, (session, at, kind, text))| {
        let at = Millis(1_794_000_000_000 + at);
        let agent = Agent::parse(if session == "s1" { "codex" } else { "gemini" }).unwrap();
        let draft = Draft { agent, kind, ..prompt_draft(&format!("e{n}"), session, at, text) };
        NewEvent::encode(draft, "/app".into(), Millis(1))
    });
    ledger.append(events.collect()).unwrap();
    catch_up_contents(&ledger, &ContentsSettings::in_zone(Zone::utc()), &Extractive, &Still)
        .unwrap();
    ledger
}

fn scan(ledger: &Ledger, query: &str, filter: &EntryFilter) -> Scan {
    scan_with_filter(query, 50, filter, |scan_query| {
        scan_contents(ledger, "/app", scan_query).unwrap()
    })
}

#[test]
fn nodes_and_grips_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    let all = scan(&ledger, "upload invoice retry", &EntryFilter::default());
    let ids: Vec<&str> = all
        .matches
        .iter()
        .map(|matched| match &matched.key {
            EntryKey::Named(id) => id.as_str(),
            EntryKey::Event(seq) => panic!("{seq}"),
        })
        .collect();
    assert!(ids.iter().any(|id| id.starts_with("toc:segment:")), "{ids:?}");
    assert!(ids.iter().any(|id| id.starts_with("toc:day:")), "{ids:?}");
    assert!(ids.iter().any(|id| id.starts_with("grip:")), "{ids:?}");
    let mut once = ids.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ids.len(), "each once");
    for matched in &all.matches {
        let snippet = matched.snippet.to_lowercase();
        assert!(
            ["upload", "invoice", "retry"].iter().any(|word| snippet.contains(word)),
            "{matched:?}"
        );
        assert!(!matched.title.is_empty() && matched.project == "/app");
        assert_eq!(
            matched.source == RecordKind::Grip,
            matches!(&matched.key, EntryKey::Named(id) if id.starts_with("grip:"))
        );
    }
    assert_eq!(scan(&ledger, "zebra", &EntryFilter::default()).matches, []);
    let none = scan_with_filter("retry", 5, &EntryFilter::default(), |scan_query| {
        scan_contents(&ledger, "/other", scan_query).unwrap()
    });
    assert_eq!(none, Scan::default());
}

#[test]
fn filters_hold_for_contents() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&folder);
    let query = "retry parser";
    let both = scan(&ledger, query, &EntryFilter::default());
    let only = |source| EntryFilter { sources: vec![source], ..EntryFilter::default() };
    let nodes = scan(&ledger, query, &only(RecordKind::Node));
    let grips = scan(&ledger, query, &only(RecordKind::Grip));
    assert!(!nodes.matches.is_empty() && !grips.matches.is_empty());
    assert_eq!(nodes.matches.len() + grips.matches.len(), both.matches.len());
    assert_eq!(scan(&ledger, query, &only(RecordKind::Event)).matches, []);
    let of_session = EntryFilter { session: Some("s2".into()), ..EntryFilter::default() };
    let matched = scan(&ledger, query, &of_session).matches;
    assert!(
        !matched.is_empty()
            && matched.iter().all(|matched| matched.session == "s2" && matched.agent == "gemini")
    );
    let of_agent = EntryFilter {
        agents: vec!["codex".into()],
        from: Some(Millis(1_794_000_000_000 + DAY_MS)),
        ..EntryFilter::default()
    };
    let matched = scan(&ledger, query, &of_agent).matches;
    assert!(matched.iter().all(|matched| matched.session.is_empty()), "only periods of both days");
    let kinds = EntryFilter { kinds: vec!["user_message".into()], ..EntryFilter::default() };
    assert_eq!(scan(&ledger, query, &kinds).matches, []);
}
