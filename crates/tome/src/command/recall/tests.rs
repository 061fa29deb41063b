//! Tests of the text and JSON output.

use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tome_model::Millis;
use tome_proto::v1;
use tome_terminal::{BOLD, DIM, GREEN, RESET, YELLOW};

use super::print::ResponsePrinter;
use super::{explain, json, render_command};
use crate::command::project_name::ProjectNames;
use crate::command::time_labels::TimeLabels;

/// 2026-11-20T00:00:00Z.
const NOW: Millis = Millis(1_795_132_800_000);

/// 2026-11-15T09:30:00Z.
const MORNING_MS: u64 = 1_794_735_000_000;
const DAY_MS: u64 = 86_400_000;

fn message() -> v1::RecallHit {
    v1::RecallHit {
        source: "messages".into(),
        citation: "sessions/s1/messages.jsonl#L2".into(),
        line: 2,
        text: "Please make the lexer accept unicode identifiers such as café, and keep spans as they are in the source.".into(),
        at_ms: Some(MORNING_MS),
        project: "/app".into(),
        session_id: "s1".into(),
        agent: "codex".into(),
        kind: "user_message".into(),
        score: 0.0325,
        ranks: vec![
            v1::TierRank { tier: "bm25".into(), rank: 1, score: 12.25 },
            v1::TierRank { tier: "vectors".into(), rank: 4, score: 0.5 },
        ],
        also: vec!["sessions/s1/messages.jsonl#L4".into()],
        id: "#12".into(),
        turn: 12,
        answer: Some(v1::TurnPart { number: 17, text: "Identifiers follow the XID rules.".into() }),
        others: vec![v1::OtherStatement {
            relation: "newer".into(),
            text: "Accept emoji in identifiers, too.".into(),
            at_ms: MORNING_MS + 2 * DAY_MS,
            number: 40,
        }],
        branch: "lexer-unicode".into(),
        ..v1::RecallHit::default()
    }
}

fn note() -> v1::RecallHit {
    v1::RecallHit {
        source: "notes".into(),
        citation: "memory/lexer rules.md#L3".into(),
        file: "memory/lexer rules.md".into(),
        line: 3,
        text: "Identifiers follow the XID rules.".into(),
        title: "Lexer rules".into(),
        at_ms: Some(MORNING_MS + DAY_MS),
        project: "/other".into(),
        score: 0.016,
        id: "memory/lexer rules.md#L3".into(),
        confidence: "likely".into(),
        ..v1::RecallHit::default()
    }
}

fn answer() -> v1::RecallResponse {
    v1::RecallResponse {
        tier: "fused".into(),
        hits: vec![message(), note()],
        ..v1::RecallResponse::default()
    }
}

fn request() -> v1::RecallRequest {
    v1::RecallRequest {
        query: "unicode identifiers".into(),
        project: "/app".into(),
        limit: Some(5),
        ..v1::RecallRequest::default()
    }
}

/// The codes of colors as letters: b bold, d dim, g green, y yellow, and `>` for their end.
fn plain(bytes: Vec<u8>) -> String {
    let codes = [(BOLD, "<b:"), (DIM, "<d:"), (GREEN, "<g:"), (YELLOW, "<y:"), (RESET, ">")];
    let text = String::from_utf8(bytes).unwrap();
    codes.iter().fold(text, |text, (code, letter)| text.replace(code, letter))
}

fn check(
    request: &v1::RecallRequest,
    answer: &v1::RecallResponse,
    explain: bool,
    expected: &Expect,
) {
    let labels = TimeLabels::utc();
    let projects = &ProjectNames::default();
    let show_project = Some("/app".to_owned());
    let shown = ResponsePrinter {
        request,
        labels: &labels,
        now: NOW,
        projects,
        show_project,
        repeat: vec!["--regex".to_owned()],
        filters: Vec::new(),
        unfiltered: None,
        width: 60,
        explain,
    };
    let mut out = Vec::new();
    if answer.hits.is_empty() {
        shown.print_no_hits(&mut out, answer).unwrap();
    } else {
        shown.print(&mut out, answer).unwrap();
    }
    expected.assert_eq(&plain(out));
}

#[test]
fn hits_for_a_person() {
    check(
        &request(),
        &answer(),
        false,
        &expect![[r#"
            <b:2 hits> for unicode identifiers

            <b: 1>  <g:#12>  <d:Nov 15, 09:30  user  lexer-unicode>
                Please make the lexer accept <b:unicode> <b:identifiers> such as
                café, and keep spans as they are in the source.
                <d:answered #17: ><b:Identifiers> follow the XID rules.
                <d:newer #40 (Nov 17): >Accept emoji in <b:identifiers>, too.

            <b: 2>  <g:memory/lexer rules.md#L3>  <b:Lexer rules>  <d:Nov 16, 09:30  likely  other>
                <b:Identifiers> follow the XID rules.

            <d:tome show 12 'unicode identifiers' --project /app opens #12>
            <d:with the turn around it>
        "#]],
    );
}

#[test]
fn what_there_is_to_know_of_an_answer() {
    let mut answer = answer();
    answer.hits.truncate(1);
    answer.instructions = vec![v1::Instruction {
        number: 3,
        at_ms: MORNING_MS,
        text: "Always keep spans.".into(),
        ..v1::Instruction::default()
    }];
    answer.more = 7;
    answer.next = 1;
    answer.behind = 120;
    answer.time = "last week".into();
    check(
        &request(),
        &answer,
        true,
        &expect![[r#"
            <b:1 hit> for unicode identifiers

            <b: 1>  <g:#12>  <d:Nov 15, 09:30  user  lexer-unicode>
                Please make the lexer accept <b:unicode> <b:identifiers> such as
                café, and keep spans as they are in the source.
                <d:answered #17: ><b:Identifiers> follow the XID rules.
                <d:newer #40 (Nov 17): >Accept emoji in <b:identifiers>, too.
                <d:bm25 #1 (12.250) · vectors #4 (0.500) · score 0.0325>

            <y:Standing instruction> #3 (Nov 15): Always keep spans.
            7 more: tome recall --skip 1 --regex 'unicode identifiers'
            <d:Time in the query: last week>
            <y:The index is 120 events behind; those events were scanned directly>
            <d:Matched by keywords and meaning>
            <d:tome show 12 'unicode identifiers' --project /app opens #12>
            <d:with the turn around it>
        "#]],
    );
    answer.unread = vec!["/app: the store is in use elsewhere".into()];
    answer.behind = 1;
    let request = v1::RecallRequest { tokens_max: 100, ..request() };
    check(
        &request,
        &answer,
        false,
        &expect![[r#"
            <b:1 hit> for unicode identifiers

            <b: 1>  <g:#12>  <d:Nov 15, 09:30  user  lexer-unicode>
                Please make the lexer accept <b:unicode> <b:identifiers> such as
                café, and keep spans as they are in the source.
                <d:answered #17: ><b:Identifiers> follow the XID rules.
                <d:newer #40 (Nov 17): >Accept emoji in <b:identifiers>, too.

            <y:Standing instruction> #3 (Nov 15): Always keep spans.
            7 more: tome recall --skip 1 --regex 'unicode identifiers'
            <d:Time in the query: last week>
            <y:The index is 1 event behind>
            <d:tome show 12 'unicode identifiers' --project /app opens #12>
            <d:with the turn around it>
        "#]],
    );
}

#[test]
fn hits_of_one_turn_stand_together() {
    let reply = v1::RecallHit {
        id: "#14".into(),
        kind: "assistant_message".into(),
        text: "The lexer reads bytes.".into(),
        prompt: Some(v1::TurnPart { number: 12, text: "Please …".into() }),
        others: vec![
            v1::OtherStatement {
                relation: "contradicted by".into(),
                text: "It reads characters.".into(),
                at_ms: MORNING_MS + DAY_MS,
                number: 20,
            },
            message().others.remove(0),
        ],
        ..message()
    };
    let answer = v1::RecallResponse { hits: vec![message(), note(), reply], ..answer() };
    check(
        &request(),
        &answer,
        false,
        &expect![[r#"
            <b:2 hits> for unicode identifiers

            <b: 1>  <g:#12>  <d:Nov 15, 09:30  user  lexer-unicode>
                Please make the lexer accept <b:unicode> <b:identifiers> such as
                café, and keep spans as they are in the source.
                <d:#14 codex: >The lexer reads bytes.
                <d:answered #17: ><b:Identifiers> follow the XID rules.
                <d:newer #40 (Nov 17): >Accept emoji in <b:identifiers>, too.
                <d:contradicted by #20 (Nov 16): >It reads characters.

            <b: 2>  <g:memory/lexer rules.md#L3>  <b:Lexer rules>  <d:Nov 16, 09:30  likely  other>
                <b:Identifiers> follow the XID rules.

            <d:tome show 12 'unicode identifiers' --project /app opens #12>
            <d:with the turn around it>
        "#]],
    );
    let timeline = v1::RecallRequest { sort: "time".into(), ..request() };
    check(
        &timeline,
        &answer,
        false,
        &expect![[r#"
            <b:2 hits> for unicode identifiers
            <b: 1>  <g:#12>  <d:Nov 15, 09:30  user  lexer-unicode>
                Please make the lexer accept <b:unicode> <b:identifiers> such as
                café, and keep spans as they are in the source.
                <d:#14 codex: >The lexer reads bytes.
                <d:answered #17: ><b:Identifiers> follow the XID rules.
            <b: 2>  <g:memory/lexer rules.md#L3>  <b:Lexer rules>  <d:Nov 16, 09:30  likely  other>
                <b:Identifiers> follow the XID rules.

            <d:tome show 12 --project /app opens #12 with the turn around>
            <d:it>
        "#]],
    );
}

#[test]
fn no_hits_are_reported_plainly() {
    let mut answer = v1::RecallResponse { tier: "fused".into(), ..v1::RecallResponse::default() };
    check(
        &request(),
        &answer,
        false,
        &expect![[r#"
            No results: nothing relevant to unicode identifiers in app
            --all-projects searches all projects
        "#]],
    );
    let past = v1::RecallRequest { skip: 40, ..request() };
    check(
        &past,
        &answer,
        false,
        &expect![[r#"
        No more hits for unicode identifiers
    "#]],
    );
    let none = v1::RecallRequest { limit: Some(0), ..request() };
    check(
        &none,
        &answer,
        false,
        &expect![[r#"
        No results: --limit is 0
    "#]],
    );
    answer.elsewhere = vec![v1::Elsewhere { project: "/x y".into(), hits: 3 }];
    check(
        &request(),
        &answer,
        false,
        &expect![[r#"
            No results: nothing relevant to unicode identifiers in app
            project x y has 3 hits: tome recall --project '/x y' 'unicode identifiers'
        "#]],
    );
    let all = v1::RecallRequest { across: "all".into(), ..request() };
    let answer = v1::RecallResponse { behind: 2, ..v1::RecallResponse::default() };
    check(
        &all,
        &answer,
        false,
        &expect![[r#"
            No results: nothing relevant to unicode identifiers
        "#]],
    );
}

#[test]
fn no_hit_steers_a_terminal() {
    let mut answer = answer();
    for hit in &mut answer.hits {
        hit.text = "\u{1b}[2J".into();
        hit.title = "\u{1b}[31m".into();
        hit.citation = "memory/\u{1b}.md#L1".into();
        hit.id.clone_from(&hit.citation);
        hit.agent = "\u{7}".into();
        hit.also = vec!["\u{1b}".into()];
    }
    let labels = TimeLabels::utc();
    let shown = ResponsePrinter {
        repeat: Vec::new(),
        filters: Vec::new(),
        unfiltered: None,
        request: &request(),
        labels: &labels,
        now: NOW,
        projects: &ProjectNames::default(),
        show_project: None,
        width: 60,
        explain: true,
    };
    let mut out = Vec::new();
    shown.print(&mut out, &answer).unwrap();
    let text = plain(out);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text:?}");
}

#[test]
fn stages_for_a_person() {
    let stage = |name: &str, found: &str, took_us| v1::RecallStage {
        name: name.into(),
        found: found.into(),
        took_us,
    };
    let stages = [
        stage("understand", "2 words", 12),
        stage("bm25", "40 entries", 1_250),
        stage("fuse", "9", 0),
    ];
    let mut out = Vec::new();
    explain::print_stages(&mut out, &stages, Duration::from_millis(2_500)).unwrap();
    expect![[r#"

        <d:  stage         time  found>
          understand   12 µs  2 words
          bm25        1.2 ms  40 entries
          fuse          0 µs  9
          total        2.5 s  including the round trip to the daemon
    "#]]
    .assert_eq(&plain(out));
}

#[test]
fn an_answer_for_a_program() {
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let short = json::response_json("unicode", &answer(), false);
    assert_eq!(
        keys(&short),
        [
            "query",
            "tier",
            "behind",
            "hits",
            "more",
            "elsewhere",
            "time",
            "unread",
            "confidence",
            "instructions",
            "topic"
        ]
    );
    assert_eq!(
        short["hits"][1],
        json!({
            "source": "notes", "citation": "memory/lexer rules.md#L3",
            "text": "Identifiers follow the XID rules.", "at": "2026-11-16T09:30:00.000Z",
            "score": 0.016, "title": "Lexer rules", "session": null, "agent": null,
            "project": "/other", "kind": "", "file": "memory/lexer rules.md", "line": 3,
            "also": [], "id": "memory/lexer rules.md#L3", "turn": null, "prompt": null,
            "answer": null, "others": [], "confidence": "likely", "branch": null,
        })
    );
    let long = json::response_json("unicode", &answer(), true);
    assert_eq!(long["stages"], json!([]));
    assert_eq!(long["hits"][0]["ranks"][1], json!({"tier": "vectors", "rank": 4, "score": 0.5}));
    let unknown = v1::RecallHit { source: "contents".into(), ..v1::RecallHit::default() };
    let answer = v1::RecallResponse { hits: vec![unknown], ..v1::RecallResponse::default() };
    let hit = &json::response_json("x", &answer, false)["hits"][0];
    assert_eq!(
        (&hit["at"], &hit["line"], &hit["file"]),
        (&json!(null), &json!(null), &json!(null))
    );
}

#[test]
fn the_same_question_again() {
    assert_eq!(render_command("lexer", "--limit 9"), "tome recall --limit 9 lexer");
    assert_eq!(render_command("it's late", "--limit 9"), r"tome recall --limit 9 'it'\''s late'");
    assert_eq!(
        render_command(&"x".repeat(500), "--limit 9"),
        "tome recall --limit 9 and the same query"
    );
}

#[test]
fn ids_of_periods_and_sources_are_short() {
    let hit = |id: &str| v1::RecallHit {
        id: id.to_owned(),
        text: "Identifiers follow the XID rules.".to_owned(),
        project: "/app".to_owned(),
        at_ms: Some(MORNING_MS),
        ..v1::RecallHit::default()
    };
    let hits = vec![
        hit("toc:day:2026-11-14"),
        hit("toc:segment:2026-11-14:01KH559NJR58S6EB2JK2SJ44MM"),
        hit("grip:1766671449372:01KDAX5Z8W79HX3N58QKANFRWK"),
    ];
    let answer = v1::RecallResponse { hits, more: 4, next: 3, ..v1::RecallResponse::default() };
    check(
        &request(),
        &answer,
        false,
        &expect![[r#"
        <b:3 hits> for unicode identifiers

        <b: 1>  <g:2026-11-14>  <d:Nov 15, 09:30>
            <b:Identifiers> follow the XID rules.

        <b: 2>  <g:01KH559NJR58>  <d:Nov 15, 09:30>
            <b:Identifiers> follow the XID rules.

        <b: 3>  <g:grip:1766671449372>  <d:Nov 15, 09:30>
            <b:Identifiers> follow the XID rules.

        4 more: tome recall --skip 3 --regex 'unicode identifiers'
        <d:tome toc 2026-11-14 --project /app opens the first>
    "#]],
    );
}
