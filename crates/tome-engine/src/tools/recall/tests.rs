//! Text answers: their format, and that they keep to their token budget.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use tome_finder::RecordKind;
use tome_model::Millis;
use tome_text::estimate_tokens;

use super::pack::{AnswerFormat, excerpt_around_match, pack_answer};
use super::pointers::render_pointers;
use super::timeline::pack_timeline;
use super::{TOKENS_DEFAULT, TOKENS_MIN};
use tome_recall::{Confidence, OtherProjectHits, RecallAnswer, RecallHit, Tier};

/// 2026-11-15T09:30:00Z.
const MORNING: Millis = Millis(1_794_735_000_000);

fn hit(source: RecordKind, citation: &str, text: &str) -> RecallHit {
    let (file, line) = citation.split_once("#L").unwrap_or((citation, ""));
    let is_file = matches!(source, RecordKind::Note | RecordKind::Detail | RecordKind::Lesson);
    RecallHit {
        id: citation.to_owned(),
        turn: tome_recall::HitTurn::default(),
        others: Vec::new(),
        source,
        citation: citation.to_owned(),
        file: is_file.then(|| file.to_owned()),
        line: line.parse().ok(),
        text: text.to_owned(),
        title: String::new(),
        at: None,
        project: "/app".to_owned(),
        session: None,
        agent: None,
        kind: String::new(),
        tool: None,
        score: 0.5,
        confidence: Confidence::Strong,
        ranks: Vec::new(),
        also: Vec::new(),
    }
}

fn answer(hits: Vec<RecallHit>) -> RecallAnswer {
    RecallAnswer {
        tier: Tier::Fused,
        behind: 0,
        unread: Vec::new(),
        confidence: hits.iter().map(|hit| hit.confidence).max(),
        hits,
        more: 0,
        other_projects: Vec::new(),
        time: None,
        stages: Vec::new(),
    }
}

fn format(query: &str, tokens_max: usize) -> AnswerFormat<'_> {
    AnswerFormat { query, topic: None, skip: 0, tokens_max, is_quoted: false }
}

fn check(answer: &RecallAnswer, query: &str, expected: &Expect) {
    let packed = pack_answer(answer, &[], &format(query, TOKENS_DEFAULT));
    assert_eq!(packed.hits, answer.hits.len());
    expected.assert_eq(&packed.text);
}

/// Exactly the documented format.
#[test]
fn hits_are_rendered_in_the_documented_format() {
    let hits = vec![
        hit(
            RecordKind::Detail,
            "detail/auth-design.md#L10",
            "Decided to use JWT tokens with refresh rotation...",
        ),
        hit(
            RecordKind::Event,
            "messages.jsonl#L45",
            "User asked about auth flow, discussed OAuth2 vs JWT...",
        ),
    ];
    let expected = "Found 2 result(s) for: \"authentication\"\n\
        \n\
        [1] Source: detail\n    \
            File: detail/auth-design.md:10\n    \
            Content: Decided to use JWT tokens with refresh rotation...\n    \
            Citation: detail/auth-design.md#L10\n\
        \n\
        [2] Source: messages\n    \
            Line: 45\n    \
            Content: User asked about auth flow, discussed OAuth2 vs JWT...\n    \
            Citation: messages.jsonl#L45";
    let packed = pack_answer(&answer(hits), &[], &format("authentication", TOKENS_DEFAULT));
    assert_eq!(packed.text, expected);
    let none = pack_answer(&answer(Vec::new()), &[], &format("authentication", TOKENS_DEFAULT));
    assert_eq!(none.text, "No results found for: \"authentication\"");
}

#[test]
fn every_source_shows_its_location() {
    let mut hits = vec![
        hit(RecordKind::Note, "memory/auth.md#L3", "JWT"),
        hit(RecordKind::Lesson, "coder/semantic/tokens.md#L7", "Rotate them."),
        hit(RecordKind::Node, "projects/--x--/toc:day:2026-11-14", "Auth"),
        hit(RecordKind::Grip, "grip:1794735000000:01M7F8NJE081NE5M6R663JJXQ2", "we rotate"),
        hit(RecordKind::Event, "sessions/s2/messages.jsonl#L9", "rotate"),
    ];
    hits[0].at = Some(MORNING);
    hits[4].at = Some(Millis(MORNING.0 + 60_000));
    hits[4].also = vec!["sessions/s2/messages.jsonl#L12".to_owned()];
    check(
        &answer(hits),
        "jwt\nrotation",
        &expect![[r#"
            Found 5 result(s) for: "jwt rotation"

            [1] Source: notes
                File: memory/auth.md:3
                Content: JWT
                Citation: memory/auth.md#L3

            [2] Source: coder
                File: coder/semantic/tokens.md:7
                Content: Rotate them.
                Citation: coder/semantic/tokens.md#L7

            [3] Source: contents
                Node: toc:day:2026-11-14
                Content: Auth
                Citation: projects/--x--/toc:day:2026-11-14

            [4] Source: grips
                Grip: grip:1794735000000:01M7F8NJE081NE5M6R663JJXQ2
                Content: we rotate
                Citation: grip:1794735000000:01M7F8NJE081NE5M6R663JJXQ2

            [5] Source: messages
                Line: 9
                Content: rotate
                Citation: sessions/s2/messages.jsonl#L9

            Dates (UTC): [1] 2026-11-15 09:30, [5] 2026-11-15 09:31"#]],
    );
}

#[test]
fn notes_about_the_answer_follow_the_list() {
    let mut known = answer(vec![hit(RecordKind::Event, "messages.jsonl#L45", "we chose JWT")]);
    known.more = 3;
    known.behind = 12;
    known.time = Some("last week".to_owned());
    check(
        &known,
        "jwt",
        &expect![[r#"
            Found 1 result(s) for: "jwt"

            [1] Source: messages
                Line: 45
                Content: we chose JWT
                Citation: messages.jsonl#L45

            (3 more; cursor 1 continues)
            (the index is 12 events behind; those were scanned directly)
            (preferred time: last week)"#]],
    );
    let mut unknown = answer(Vec::new());
    unknown.behind = 1;
    unknown.unread = vec!["/app: the store is in use elsewhere".to_owned()];
    unknown.other_projects = (1..=5)
        .map(|hits| OtherProjectHits { project: format!("/home/dev/app{hits}"), hits })
        .collect();
    check(
        &unknown,
        "jwt",
        &expect![[r#"
        No results found for: "jwt"
        (not searched: /app: the store is in use elsewhere)
        (other projects have hits: /home/dev/app1 has 1; /home/dev/app2 has 2; /home/dev/app3 has 3 and 2 more; call again with across all)
        (the index is 1 event behind)"#]],
    );
}

#[test]
fn a_cut_answer_explains_how_to_get_more() {
    let text = "we rotate refresh tokens ".repeat(12);
    let hits = (1..=30).map(|n| hit(RecordKind::Event, &format!("messages.jsonl#L{n}"), &text));
    let mut answer = answer(hits.collect());
    let shown = |answer: &RecallAnswer, format: &AnswerFormat<'_>| {
        let packed = pack_answer(answer, &[], format);
        let last = packed.text.lines().last().unwrap().to_owned();
        (packed.hits, last)
    };
    assert_eq!(
        shown(&answer, &format("refresh", 800)),
        (15, "(15 more; cursor 15 continues)".to_owned())
    );
    assert_eq!(
        shown(&answer, &format("refresh", 100)),
        (1, "(29 more; cursor 1 continues)".to_owned())
    );
    answer.more = 2;
    answer.hits.truncate(5);
    let second = AnswerFormat { skip: 5, ..format("refresh", 800) };
    assert_eq!(shown(&answer, &second), (5, "(2 more; cursor 10 continues)".to_owned()));
    assert!(pack_answer(&answer, &[], &second).text.contains("[6] Source"), "numbers go on");
}

#[test]
fn a_timeline_has_one_line_per_turn_and_drops_the_least_relevant() {
    let turn = |number: u64, day: u64, score: f64, text: &str| RecallHit {
        id: format!("#{number}"),
        at: Some(Millis(MORNING.0 + day * 86_400_000)),
        score,
        ..hit(RecordKind::Event, "messages.jsonl#L1", text)
    };
    let turn_of = |number: u64, text: &str| tome_recall::HitTurn {
        prompt: Some(tome_recall::TurnPart { number, text: text.to_owned() }),
        ..tome_recall::HitTurn::default()
    };
    let hits = vec![
        turn(12, 0, 0.9, "Which limits does the gateway have?"),
        RecallHit {
            turn: turn_of(12, "Which limits does the gateway have?"),
            ..turn(13, 0, 0.8, "600 requests per minute.")
        },
        turn(31, 0, 0.2, "Raise the limit"),
        turn(88, 3, 0.7, "Why are we throttled again?"),
    ];
    let answer = RecallAnswer { more: 2, ..answer(hits) };
    let text = |tokens_max: usize| {
        pack_timeline(&answer, &[], &format("limits", tokens_max)).map(|packed| packed.text)
    };
    expect![[r#"
        Timeline of "limits" (3 turns, oldest first)
        2026-11-15
          #12 Which limits does the gateway have?
          #31 Raise the limit
        2026-11-18
          #88 Why are we throttled again?
        (2 more; cursor 4 continues)"#]]
    .assert_eq(&text(400).unwrap());
    let short = (10..100).rev().filter_map(text).find(|text| !text.contains("#31")).unwrap();
    assert!(short.contains("#12") && short.contains("#88"), "{short}");
    assert_eq!(text(10), None);
}

#[test]
fn a_text_is_shortened_around_the_match() {
    let text = format!("{} the Lexer rejects it {}", "before ".repeat(30), "after ".repeat(30));
    expect!["…before before the Lexer rejects it…"].assert_eq(&excerpt_around_match(
        &text,
        "the lexer",
        40,
    ));
    assert_eq!(excerpt_around_match("short", "x", 40), "short");
    expect!["数据库一二三"].assert_eq(&excerpt_around_match(
        "一二三一二三数据库一二三一二三",
        "数据库",
        6,
    ));
    expect!["aaaa"].assert_eq(&excerpt_around_match(&"a".repeat(100), "zz", 4));
}

#[test]
fn pointers_have_previews_but_no_content() {
    let mut node = hit(RecordKind::Node, "toc:day:2026-11-14", &"unicode identifiers ".repeat(15));
    node.title = "Fix the lexer".to_owned();
    node.at = Some(MORNING);
    let grip =
        hit(RecordKind::Grip, "grip:1794735000000:01M7F8NJE081NE5M6R663JJXQ2", "we chose XID");
    let mut known = answer(vec![node, grip]);
    known.more = 4;
    known.behind = 2;
    let rendered = render_pointers(&known, "unicode");
    expect![[r#"
        Found 2 pointer(s) for: "unicode"
        [1] toc:day:2026-11-14 2026-11-15 09:30 Fix the lexer: unicode identifiers unicode identifiers unicode identifiers unicode identifiers unicode identifiers unicode…
        [2] grip:1794735000000:01M7F8NJE081NE5M6R663JJXQ2: we chose XID
        (open nodes with get_node, grips with expand_grip)
        (4 more; call again with a higher limit)
        (the index is 2 events behind; those were scanned directly)"#]].assert_eq(&rendered.text);
    expect![[r#"
        [
          {
            "id": "toc:day:2026-11-14",
            "kind": "node",
            "level": "day",
            "title": "Fix the lexer",
            "preview": "unicode identifiers unicode identifiers unicode identifiers unicode identifiers unicode identifiers unicode…",
            "at": "2026-11-15T09:30:00.000Z",
            "project": "/app",
            "score": 0.5
          },
          {
            "id": "grip:1794735000000:01M7F8NJE081NE5M6R663JJXQ2",
            "kind": "grip",
            "level": "grip",
            "title": "",
            "preview": "we chose XID",
            "at": null,
            "project": "/app",
            "score": 0.5
          }
        ]"#]].assert_eq(&serde_json::to_string_pretty(&rendered.json["hits"]).unwrap());
    for hit in rendered.json["hits"].as_array().unwrap() {
        assert!(hit["preview"].as_str().unwrap().chars().count() <= 120, "{hit}");
    }
    assert_eq!(render_pointers(&answer(Vec::new()), "x").text, "No results found for: \"x\"");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the hits and the query, the text keeps to its budget, and a list shows the first
    /// hits.
    #[test]
    fn an_answer_keeps_to_its_token_budget(
        texts in proptest::collection::vec("[a-z 数据я🦀]{0,300}", 0..12),
        folder in "[a-z/]{0,300}",
        query in "[a-z 数据🦀\n\"]{1,600}",
        tokens_max in TOKENS_MIN..1_200,
        (more, behind) in (0_usize..9, 0_u64..9),
        unread in proptest::collection::vec("[a-z数🦀]{0,300}", 0..4),
    ) {
        let hits = texts.iter().map(|text| {
            let mut hit = hit(RecordKind::Note, &format!("memory/{folder}/x.md#L3"), text);
            hit.at = Some(MORNING);
            hit.also = vec!["memory/y.md#L3".to_owned(); 3];
            hit
        });
        let mut answer = answer(hits.collect());
        answer.more = more;
        answer.behind = behind;
        answer.unread = unread;
        let packed = pack_answer(&answer, &[], &format(&query, tokens_max));
        prop_assert_eq!(packed.tokens, estimate_tokens(&packed.text));
        prop_assert!(packed.tokens <= tokens_max as u64, "{} of {}", packed.tokens, tokens_max);
        prop_assert!(packed.hits <= answer.hits.len());
        let listed = packed.text.lines().filter(|line| line.starts_with("    Citation: ")).count();
        prop_assert_eq!(listed, packed.hits);
        let head = format!("Found {} result(s) for: \"", packed.hits);
        prop_assert!(packed.hits == 0 || packed.text.starts_with(&head), "{}", packed.text);
    }
}
