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
use tome_recall::{
    Confidence, HitTurn, OtherProjectHits, OtherStatement, RecallAnswer, RecallHit,
    StatementRelation, Tier, TurnOutline, TurnPart,
};

/// 2026-11-15T09:30:00Z.
const MORNING: Millis = Millis(1_794_735_000_000);

fn hit(source: RecordKind, citation: &str, text: &str) -> RecallHit {
    let (file, line) = citation.split_once("#L").unwrap_or((citation, ""));
    let is_file = matches!(source, RecordKind::Note | RecordKind::Detail | RecordKind::Lesson);
    RecallHit {
        id: citation.to_owned(),
        turn: HitTurn::default(),
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
        coverage: 1.0,
        position: 0,
        ranks: Vec::new(),
        also: Vec::new(),
    }
}

fn answer(mut hits: Vec<RecallHit>) -> RecallAnswer {
    hits.iter_mut().enumerate().for_each(|(position, hit)| hit.position = position);
    RecallAnswer {
        next: hits.len(),
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
    assert_eq!(packed.turns, answer.turns().len());
    expected.assert_eq(&packed.text);
}

/// A message of a turn, with its number.
fn message(number: u64, prompt: u64, kind: &str, text: &str) -> RecallHit {
    RecallHit {
        id: format!("#{number}"),
        kind: kind.to_owned(),
        session: Some("s1".to_owned()),
        turn: HitTurn { prompt_number: Some(prompt), ..HitTurn::default() },
        ..hit(RecordKind::Event, "messages.jsonl#L1", text)
    }
}

fn with_answer(hit: RecallHit, number: u64, text: &str) -> RecallHit {
    let answer = Some(TurnPart { number, text: text.to_owned() });
    RecallHit { turn: HitTurn { answer, ..hit.turn }, ..hit }
}

/// Exactly the documented format.
#[test]
fn hits_are_rendered_in_the_documented_format() {
    let question = with_answer(
        message(45, 45, "user_message", "Which flow do we use, OAuth2 or JWT?"),
        48,
        "JWT, because no other service needs our tokens.",
    );
    let newer = OtherStatement {
        relation: StatementRelation::Newer,
        number: 90,
        at: MORNING,
        text: "OAuth2 from now on.".to_owned(),
    };
    let hits = vec![
        hit(
            RecordKind::Detail,
            "detail/auth-design.md#L10",
            "Decided to use JWT tokens with refresh rotation...",
        ),
        RecallHit {
            at: Some(MORNING),
            confidence: Confidence::Likely,
            others: vec![newer],
            turn: HitTurn { branch: Some("auth".to_owned()), ..question.turn.clone() },
            ..question
        },
    ];
    let expected = "Found 2 result(s) for: \"authentication\"\n\
        \n\
        [1] Source: detail (strong)\n    \
            File: detail/auth-design.md:10\n    \
            Content: Decided to use JWT tokens with refresh rotation...\n    \
            Citation: detail/auth-design.md#L10\n\
        \n\
        [2] #45 (user, likely, Sun 2026-11-15 09:30Z, branch auth)\n    \
            Which flow do we use, OAuth2 or JWT?\n    \
            Answered #48: JWT, because no other service needs our tokens.\n    \
            newer #90 (2026-11-15): OAuth2 from now on.";
    let packed = pack_answer(&answer(hits), &[], &format("authentication", TOKENS_DEFAULT));
    assert_eq!(packed.text, expected);
    let none = pack_answer(&answer(Vec::new()), &[], &format("authentication", TOKENS_DEFAULT));
    assert_eq!(none.text, "No results found for: \"authentication\"");
}

#[test]
fn the_hits_of_a_turn_are_one_result_with_its_answer_once() {
    let said = "The push setting was reset because enable writes the file anew.";
    let hits = vec![
        with_answer(message(12, 10, "assistant_message", "enable writes settings.json"), 14, said),
        message(20, 20, "user_message", "Does enable keep other settings?"),
        with_answer(message(10, 10, "user_message", "Why was my push setting lost?"), 14, said),
        message(14, 10, "assistant_stop", said),
    ];
    let elsewhere = |hits: &[RecallHit]| -> Vec<RecallHit> {
        let there = |hit: &RecallHit| RecallHit {
            id: format!("projects/--b--/{}", hit.id),
            project: "/b".to_owned(),
            ..hit.clone()
        };
        hits.iter().map(there).collect()
    };
    let far = elsewhere(&hits[..1]);
    check(
        &answer([hits, far].concat()),
        "push setting",
        &expect![[r#"
            Found 3 result(s) for: "push setting"

            [1] #12 (agent, strong)
                enable writes settings.json
                #10 user: Why was my push setting lost?
                Answered #14: The push setting was reset because enable writes the file anew.

            [2] #20 (user, strong)
                Does enable keep other settings?

            [3] projects/--b--/#12 (agent, strong)
                enable writes settings.json
                Answered projects/--b--/#14: The push setting was reset because enable writes the file anew."#]],
    );
}

#[test]
fn more_turns_fit_if_their_texts_are_shortened() {
    let text = "we rotate refresh tokens ".repeat(12);
    let hits = (1..=5).map(|n| with_answer(message(n, n, "user_message", &text), n + 50, &text));
    let packed = pack_answer(&answer(hits.collect()), &[], &format("refresh", TOKENS_DEFAULT));
    assert_eq!(packed.turns, 5, "{}", packed.text);
}

#[test]
fn an_answer_is_doubted_only_if_little_of_the_query_was_found() {
    let mut weak = answer(vec![hit(RecordKind::Event, "messages.jsonl#L45", "we chose JWT")]);
    weak.confidence = Some(Confidence::Weak);
    weak.hits[0].confidence = Confidence::Weak;
    let text = |answer: &RecallAnswer| pack_answer(answer, &[], &format("jwt", 400)).text;
    assert!(!text(&weak).contains("none stands out"), "{}", text(&weak));
    assert!(text(&weak).contains(", weak)"), "{}", text(&weak));
    weak.hits[0].coverage = 0.2;
    assert!(text(&weak).contains("none stands out"), "{}", text(&weak));
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

            [1] Source: notes (strong, Sun 2026-11-15 09:30Z)
                File: memory/auth.md:3
                Content: JWT
                Citation: memory/auth.md#L3

            [2] Source: coder (strong)
                File: coder/semantic/tokens.md:7
                Content: Rotate them.
                Citation: coder/semantic/tokens.md#L7

            [3] projects/--x--/toc:day:2026-11-14 (summary, strong)
                Auth

            [4] grip:1794735000000:01M7F8NJE081NE5M6R663JJXQ2 (summary, strong)
                we rotate

            [5] sessions/s2/messages.jsonl#L9 (session transcript, strong, Sun 2026-11-15 09:31Z)
                rotate"#]],
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

            [1] messages.jsonl#L45 (session transcript, strong)
                we chose JWT

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
        (packed.turns, last)
    };
    assert_eq!(
        shown(&answer, &format("refresh", 800)),
        (21, "(9 more; cursor 21 continues)".to_owned())
    );
    assert_eq!(
        shown(&answer, &format("refresh", 80)),
        (1, "(29 more; cursor 1 continues)".to_owned())
    );
    answer.more = 2;
    answer.hits.truncate(5);
    answer.hits.iter_mut().for_each(|hit| hit.position += 5);
    answer.next = 10;
    let second = AnswerFormat { skip: 5, ..format("refresh", 800) };
    assert_eq!(shown(&answer, &second), (5, "(2 more; cursor 10 continues)".to_owned()));
    assert!(
        pack_answer(&answer, &[], &second).text.contains("[6] messages.jsonl#L1 ("),
        "numbers go on"
    );
}

#[test]
fn a_timeline_has_a_line_per_turn_and_leaves_the_least_relevant_to_the_next_page() {
    let on_day = |day: u64, position: usize, hit: RecallHit| RecallHit {
        at: Some(Millis(MORNING.0 + day * 86_400_000)),
        position,
        ..hit
    };
    let outlined = |hit: RecallHit, number: u64, prompt: &str, answer: &str| {
        let part = |number, text: &str| Some(TurnPart { number, text: text.to_owned() });
        let outline =
            TurnOutline { prompt: part(number, prompt), answer: part(number + 2, answer) };
        RecallHit { turn: HitTurn { outline, prompt_number: Some(number), ..hit.turn }, ..hit }
    };
    let prompt = "Which limits does the gateway have?";
    // The matching passage may be an intermediate step, or code.
    let asked = message(12, 12, "user_message", "…limits does the gateway…");
    let asked = outlined(asked, 12, prompt, "600 requests per minute.");
    let reply = message(13, 12, "assistant_message", "```let limits = gateway.limits();```");
    let reply = outlined(reply, 12, prompt, "600 requests per minute.");
    let raised = message(31, 31, "user_message", "Raise the limit");
    let raised = outlined(raised, 31, "Raise the limit", "It is 900 now.");
    let elsewhere = RecallHit {
        id: "projects/--b--/#13".to_owned(),
        project: "/b".to_owned(),
        ..reply.clone()
    };
    let hits = vec![
        on_day(0, 0, asked),
        on_day(0, 0, reply),
        on_day(0, 3, raised),
        on_day(3, 1, message(88, 88, "user_message", "Why are we throttled again?")),
        on_day(4, 2, elsewhere),
    ];
    let positions: Vec<usize> = hits.iter().map(|hit| hit.position).collect();
    let mut answer = RecallAnswer { more: 2, ..answer(hits) };
    answer.hits.iter_mut().zip(positions).for_each(|(hit, position)| hit.position = position);
    answer.next = 4;
    let text = |tokens_max: usize| {
        pack_timeline(&answer, &[], &format("limits", tokens_max)).map(|packed| packed.text)
    };
    expect![[r#"
        Timeline of "limits" (4 turns, oldest first)
        Sun 2026-11-15
          #12 Which limits does the gateway have? → 600 requests per minute.
          #31 Raise the limit → It is 900 now.
        Wed 2026-11-18
          #88 Why are we throttled again?
        Thu 2026-11-19
          projects/--b--/#12 Which limits does the gateway have? → 600 requests per minute.
        (2 more; cursor 4 continues)"#]]
    .assert_eq(&text(400).unwrap());
    let short = (10..100).rev().filter_map(text).find(|text| !text.contains("#31")).unwrap();
    assert!(short.contains("#12") && short.contains("#88"), "{short}");
    assert!(short.ends_with("(3 more; cursor 3 continues)"), "{short}");
    assert_eq!(text(10), None);
}

#[test]
fn a_text_is_shortened_around_the_match() {
    let text = format!("{} the Lexer rejects it {}", "before ".repeat(30), "after ".repeat(30));
    expect!["…before the Lexer rejects it after…"].assert_eq(&excerpt_around_match(
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
        prop_assert!(packed.turns <= answer.hits.len());
        let listed = packed.text.lines().filter(|line| line.starts_with("    Citation: ")).count();
        prop_assert_eq!(listed, packed.turns);
        let head = format!("Found {} result(s) for: \"", packed.turns);
        prop_assert!(packed.turns == 0 || packed.text.starts_with(&head), "{}", packed.text);
    }
}
