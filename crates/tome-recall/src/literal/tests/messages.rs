//! Scans of `messages.jsonl`, with lines of Tome and of others.

use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use tome_finder::{EntryFilter, EntryKey};
use tome_model::{Draft, EventKind, EventLine, Millis, Tool};
use tome_text::{LineBreaks, excerpt_around};

use super::super::line_text::LineText;
use super::super::{Matcher, Scan, ScanQuery, TranscriptOwner, scan_messages};
use super::{scan_with_filter, scan_with_limit, shown};

const OWNER: TranscriptOwner<'static> = TranscriptOwner { project: "/app", session: "s1" };

fn scan(lines: impl AsRef<[u8]>, query: &str) -> Scan {
    scan_with(lines, query, &EntryFilter::default())
}

fn scan_with(lines: impl AsRef<[u8]>, query: &str, filter: &EntryFilter) -> Scan {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.jsonl");
    #[allow(clippy::disallowed_methods)]
    std::fs::write(&path, lines).unwrap();
    scan_with_filter(query, 10, filter, |scan_query| {
        scan_messages(&path, OWNER, scan_query).unwrap()
    })
}

const FOREIGN: &str = r#"{"type":"session","version":1,"id":"abc","timestamp":"2026-01-15T10:30:00.123456789Z","cwd":"/app","gitCommit":"deadbeef"}
{"type":"message","id":"m1","parentId":"abc","timestamp":"2026-01-15T10:31:00Z","message":{"role":"user","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"second block"}]}}
{"type":"message","id":"m2","timestamp":"2026-01-15T10:32:00Z","message":{"role":"assistant","content":[],"toolCalls":[{"id":"call_9","name":"bash","arguments":{"command":"cargo test","id":"told","type":"kind of"}}]}}
{"type":"message","id":"m3","message":{"role":"tool","toolCallId":"call_9","content":[{"type":"text","text":"line one\nsays \"quoted\"\tand \u4e2d\u6587 \ud83d\ude00 \ud83d alone"},"bare words"]}}
{"type":"message","id":"m4","message":{"toolCalls":[{"arguments":"{\"path\":\"src/main.rs\",\"why\":\"a \\\"b\\\"\"}"}]}}
plain line, no JSON
[info] server started
{"type":"message","message":{"content":[{"type":"text","text":"torn in the mi"#;

#[test]
fn every_message_is_found_on_its_line() {
    for (query, line) in [
        ("second block", 2),
        ("hm", 2),
        ("cargo test", 3),
        ("bash", 3),
        ("told", 3),
        ("kind of", 3),
        ("says \"quoted\"", 4),
        ("line one says", 4),
        ("中文", 4),
        ("😀", 4),
        ("bare words", 4),
        ("src/main.rs", 5),
        ("a \"b\"", 5),
        ("plain line", 6),
        ("server started", 7),
        ("torn in the mi", 8),
    ] {
        let scan = scan(FOREIGN, query);
        assert_eq!(scan.matches.first().map(|matched| matched.line), Some(line), "{query}");
        assert_eq!(scan.scanned, 8);
    }
}

#[test]
fn field_names_ids_and_times_are_not_searched() {
    for query in [
        "role",
        "content",
        "type",
        "assistant",
        "toolCallId",
        "call_9",
        "abc",
        "m2",
        "deadbeef",
        "2026-01-15T10:31:00Z",
        "timestamp",
        "command",
        "u4e2d",
        "thinking",
    ] {
        assert_eq!(shown(&scan(FOREIGN, query)), [], "{query}");
    }
}

fn line_of(draft: impl FnOnce(&mut Draft)) -> String {
    let line = r#"{"id":"e1","session_id":"s1","agent":"codex","cwd":"/app","kind":"tool_result","at":1000}"#;
    let mut made = EventLine::parse(line).unwrap().into_draft().unwrap();
    draft(&mut made);
    EventLine::from(made).to_json() + "\n"
}

#[test]
fn transcript_lines_are_searched_like_their_events() {
    let tool = line_of(|draft| {
        draft.text = "ran it".into();
        draft.tool = Some(Tool {
            name: "Bash".into(),
            input: serde_json::json!({"command": "cargo build --release", "type": "shell"}),
            output: serde_json::json!(["warning: unused\n  --> src/lib.rs:3", {"id": "e0502"}]),
        });
    });
    let message = line_of(|draft| {
        draft.kind = EventKind::UserMessage;
        draft.text = "фикс: \"Токен\"\nдальше".into();
        draft.at = Millis(5_000);
    });
    let lines = format!("{tool}{message}");
    for (query, line) in [
        ("cargo build", 1),
        ("shell", 1),
        ("unused --> src", 1),
        ("E0502", 1),
        ("ran it cargo", 1),
        ("токен", 2),
        ("\"токен\" дальше", 2),
    ] {
        let scan = scan(&lines, query);
        assert_eq!(scan.matches.first().map(|matched| matched.line), Some(line), "{query}");
    }
    for query in ["tool_result", "codex", "command", "session_id", "/app"] {
        assert_eq!(shown(&scan(&lines, query)), [], "{query}");
    }
    let scan = scan(&lines, "ТОКЕН");
    let [matched] = scan.matches.as_slice() else { panic!("{scan:?}") };
    assert_eq!((&matched.key, matched.at), (&EntryKey::Named("e1".into()), Millis(5_000)));
    assert_eq!((matched.session.as_str(), matched.agent.as_str()), ("s1", "codex"));
    assert_eq!(matched.kind, "user_message");
    assert_eq!(matched.snippet, "фикс: \"Токен\" дальше");
}

#[test]
fn filters_hold_for_lines_too() {
    let lines = line_of(|draft| draft.text = "the needle".into());
    for (filter, kept) in [
        (EntryFilter { agents: vec!["codex".into()], ..EntryFilter::default() }, 1),
        (EntryFilter { agents: vec!["gemini".into()], ..EntryFilter::default() }, 0),
        (EntryFilter { kinds: vec!["tool_result".into()], ..EntryFilter::default() }, 1),
        (EntryFilter { kinds: vec!["user_message".into()], ..EntryFilter::default() }, 0),
        (EntryFilter { session: Some("s1".into()), ..EntryFilter::default() }, 1),
        (EntryFilter { session: Some("s2".into()), ..EntryFilter::default() }, 0),
        (EntryFilter { from: Some(Millis(1_000)), ..EntryFilter::default() }, 1),
        (EntryFilter { to: Some(Millis(1_000)), ..EntryFilter::default() }, 0),
    ] {
        assert_eq!(scan_with(&lines, "needle", &filter).matches.len(), kept, "{filter:?}");
    }
}

#[test]
fn a_new_line_is_found_by_the_next_scan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.jsonl");
    let found = || {
        let scan = scan_with_limit("needle", 5, |scan_query| {
            scan_messages(&path, OWNER, scan_query).unwrap()
        });
        scan.matches.iter().map(|matched| matched.line).collect::<Vec<_>>()
    };
    assert_eq!(found(), [] as [u32; 0], "no file is no error");
    let mut text = line_of(|draft| draft.text = "the needle".into());
    let mut save = |more: &str| {
        text.push_str(more);
        #[allow(clippy::disallowed_methods)]
        std::fs::write(&path, &text).unwrap();
    };
    save("");
    assert_eq!(found(), [1]);
    save(&line_of(|draft| (draft.text, draft.at) = ("a needle".into(), Millis(2_000))));
    assert_eq!(found(), [2, 1], "of equal ones the newest first");
    save("{\"text\":\"torn need");
    assert_eq!(found(), [2, 1]);
    save("le\"}");
    assert_eq!(found(), [2, 1, 3], "without a time it is the oldest");
    assert!(
        scan_messages(
            folder.path(),
            OWNER,
            ScanQuery {
                matcher: &Matcher::new("x"),
                filter: &EntryFilter::default(),
                limit: 5,
                stop: &|| false
            }
        )
        .is_err()
    );
}

#[test]
fn malformed_lines_do_not_stop_a_scan() {
    let long = format!("{{\"text\":\"{} needle\"}}", "x".repeat(1_000_000));
    let huge = format!("{{\"text\":\"needle {}\"}}", "é".repeat(2_100_000));
    let deep = format!("{}\"needle\"", "[".repeat(100_000));
    let mut lines = Vec::new();
    for line in [
        &long,
        &huge,
        &deep,
        "",
        "{",
        "\"needle",
        "{\"a\":\"\\",
        "{\"a\":\"needle\\u12\"}",
        "{\"a\":\"\\ud83d needle\"}",
        "{\"a\":\"\0needle\"}",
        "{\"a\":\"needle\"}\r",
    ] {
        lines.extend_from_slice(line.as_bytes());
        lines.push(b'\n');
    }
    lines.extend_from_slice(b"\xff\xfe needle \xf0\x9f\n");
    let scan = scan(lines, "needle");
    let mut found: Vec<u32> = scan.matches.iter().map(|matched| matched.line).collect();
    found.sort_unstable();
    assert_eq!(found, [1, 2, 3, 6, 8, 9, 10, 11, 12]);
    assert!(scan.matches.iter().all(|matched| matched.snippet.contains("needle")));
}

#[test]
fn a_stopped_scan_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("messages.jsonl");
    #[allow(clippy::disallowed_methods)]
    std::fs::write(&path, "the needle\n".repeat(10_000)).unwrap();
    let calls = AtomicU32::new(0);
    let stop = || calls.fetch_add(1, Ordering::Relaxed) >= 3;
    let matcher = Matcher::new("needle");
    let scan_query =
        ScanQuery { matcher: &matcher, filter: &EntryFilter::default(), limit: 5, stop: &stop };
    let scan = scan_messages(&path, OWNER, scan_query).unwrap();
    assert!(scan.was_stopped && scan.scanned > 100 && scan.scanned < 10_000, "{}", scan.scanned);
    assert_eq!(scan.matches.len(), 5);
}

proptest! {
    /// Strings are decoded, however they are escaped.
    #[test]
    fn strings_are_decoded(text in "(?s).{1,60}", all_escaped in any::<bool>()) {
        let written = if all_escaped {
            let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            format!("{{\"a\":[\"{units}\"]}}")
        } else {
            serde_json::json!({"a": [text.as_str()]}).to_string()
        };
        prop_assert_eq!(LineText::parse(&written).text, text);
    }

    /// The cheap check of the raw line has no false negatives.
    #[test]
    fn the_prefilter_drops_no_match(
        phrase in "[a-c中/\"\\\\\n\u{1}é]{1,12}", around in "[ a-c\n]{0,10}", escaped in any::<bool>(),
    ) {
        prop_assume!(!phrase.trim_matches(|c: char| c.is_whitespace() || c.is_control()).is_empty());
        let text = format!("{around} {phrase} {around}");
        let mut line = serde_json::json!({"text": text}).to_string();
        if escaped {
            line = line.replace('中', "\\u4e2d").replace('/', "\\/").replace('a', "\\u0061");
        }
        prop_assert_eq!(&LineText::parse(&line).text, &text);
        let found = Matcher::new(&phrase).match_text(&text).map(|text_match| excerpt_around(&text, &text_match.range, 300, LineBreaks::Join));
        let scan = scan(line, &phrase);
        prop_assert_eq!(scan.matches.first().map(|matched| matched.snippet.clone()), found);
    }

    #[test]
    fn any_line_parses_without_panic(line in "(?s)[\\[{]?[\"{}:,\\\\ua-f0-9 é]{0,80}.{0,20}") {
        let _ = LineText::parse(&line);
    }
}
