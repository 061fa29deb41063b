//! Tests of `Sealer` through its public API: size caps, and that no partial secret survives at a cut.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tome_model::{Draft, Identity, Millis, Tool, limits, truncate_to};
use tome_redact::Redactor;
use tome_testkit::prompt_draft;

use crate::Sealer;

fn redactor() -> Redactor {
    Redactor::new(&[]).unwrap()
}

/// Fragments of secrets, names, quotes, marks and private tags, to be combined in any order.
const PIECES: &[&str] = &[
    "password",
    "token",
    "api_key",
    "=",
    ": ",
    " = ",
    "\"",
    "'",
    "\\\"",
    "\\n",
    "\n",
    " ",
    ",",
    ";",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "hunter2",
    "abc",
    "A1b2C3d4E5f6G7h8I9j0",
    "AKIA",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "IOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9",
    ".",
    "://",
    "user",
    "@",
    "host",
    "<private>",
    "<private reason=\"x\">",
    "</private>",
    "[private]",
    "[redacted:",
    "[redacted:aws]",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "MIIEpAIBAAKCAQEAx3Z1zYcPzlV5o9pFqkzKq9mQ",
    "Authorization",
    "Bearer ",
    "é",
    "…",
    "日本",
    "🦀",
    "\0",
    "\t",
    "\r\n",
    "\u{1b}[32m",
    "\u{1b}[0m",
    "\\u001b[1m",
    "\u{200b}",
    "curl -u ",
    "mysql -p",
    "Cookie: ",
    "session=",
    "kind: Secret\n",
    "data:\n  ",
];

fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..40);
    prop_oneof![
        3 => pieces.prop_map(|pieces| pieces.concat()),
        1 => "\\PC{0,200}",
        1 => any::<String>(),
    ]
}

const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

fn sealer(text_bytes_max: usize) -> Sealer {
    Sealer::new(redactor(), text_bytes_max)
}

fn draft(text: &str) -> Draft {
    let path = format!("/home/dev/{TOKEN}");
    Draft {
        identity: Identity::ByText("key".to_owned()),
        cwd: path.clone(),
        project: Some(path),
        ..prompt_draft("unused", "s1", Millis(1_794_646_800_000), text)
    }
}

/// Seals a draft and checks that sealing is idempotent.
fn seal(sealer: &Sealer, draft: Draft) -> Draft {
    let once = sealer.seal(draft);
    assert_eq!(sealer.seal(once.clone()), once);
    once
}

#[test]
fn a_short_draft_without_secrets_is_unchanged() {
    let draft = Draft {
        tool: Some(Tool {
            name: "Bash".to_owned(),
            input: json!({"command": "cargo test", "n": 1}),
            output: json!("ok"),
        }),
        meta: Map::from_iter([("reason".to_owned(), json!("clear"))]),
        ..draft("fix the lexer")
    };
    assert_eq!(seal(&sealer(4096), draft.clone()), draft);
}

#[test]
fn secrets_are_cut_from_text_tool_and_meta_but_not_from_paths() {
    let sealed = seal(
        &sealer(4096),
        Draft {
            tool: Some(Tool {
                name: "Bash".to_owned(),
                input: json!({"command": format!("curl -H 'Authorization: token {TOKEN}'")}),
                output: json!({"stdout": format!("TOKEN={TOKEN}\n"), "file": format!("/x/{TOKEN}.txt")}),
            }),
            meta: Map::from_iter([("why".to_owned(), json!(TOKEN)), (TOKEN.to_owned(), json!(1))]),
            ..draft(&format!("use {TOKEN} please"))
        },
    );
    assert_eq!(sealed.text, "use [redacted:github] please");
    let tool = sealed.tool.unwrap();
    assert_eq!(tool.input, json!({"command": "curl -H 'Authorization: token [redacted:github]'"}));
    assert_eq!(
        tool.output,
        json!({"stdout": "TOKEN=[redacted:github]\n", "file": "/x/[redacted:github].txt"})
    );
    assert_eq!(
        Value::Object(sealed.meta),
        json!({"why": "[redacted:github]", "[redacted:github]": 1})
    );
    assert_eq!(sealed.cwd, format!("/home/dev/{TOKEN}"));
    assert_eq!(sealed.project, Some(format!("/home/dev/{TOKEN}")));
}

#[test]
fn a_long_text_keeps_head_and_tail_and_marks_the_cut() {
    let text = format!("start {} end", "é middle ".repeat(20_000));
    let sealed = seal(&sealer(1000), draft(&text));
    assert!(sealed.text.len() <= 1000, "{}", sealed.text.len());
    let (head, rest) = sealed.text.split_once("\n[… ").unwrap();
    let (cut, tail) = rest.split_once(" bytes cut …]\n").unwrap();
    assert!(text.starts_with(head) && head.len() > 400, "{head}");
    assert!(text.ends_with(tail) && tail.len() > 400, "{tail}");
    let cut: usize = cut.parse().unwrap();
    assert_eq!(head.len() + cut + tail.len(), text.len());
    assert_eq!(sealed.meta.get("cut_bytes"), Some(&json!(cut)));
}

#[test]
fn redaction_alone_leaves_no_trace_in_meta() {
    assert!(seal(&sealer(4096), draft(TOKEN)).meta.is_empty());
}

#[test]
fn text_that_grows_over_the_cap_by_its_marks_is_cut() {
    let text = "pwd=a1b2 ".repeat(100);
    let sealed = seal(&sealer(text.len()), draft(&text));
    assert!(sealed.text.len() <= text.len());
    assert!(!sealed.text.contains("a1b2"));
    assert!(sealed.meta.contains_key("cut_bytes"));
}

#[test]
fn private_parts_across_a_cut_are_cut() {
    let filler = "words and words ".repeat(10_000);
    for text in [
        format!("open <private>hush {filler}</private> done"),
        format!("{filler}<private>{filler} hush</private> done"),
        format!("open <private>hush {filler}{filler} hush</private> done"),
    ] {
        let sealed = seal(&sealer(2000), draft(&text));
        assert!(!sealed.text.contains("hush"), "{}", sealed.text);
        assert!(sealed.text.ends_with("[private] done"), "{}", sealed.text);
    }
}

#[test]
fn an_unclosed_private_part_reaches_to_the_end_of_a_long_text() {
    let filler = "words and words ".repeat(10_000);
    for text in [
        format!("open <private>hush {filler} hush"),
        format!("open {filler} <private reason=\"x\">{filler} hush"),
        format!("open <private>hush {filler}<private>hush</private> {filler} hush"),
    ] {
        let sealed = seal(&sealer(2000), draft(&text));
        assert!(!sealed.text.contains("hush"), "{}", sealed.text);
        assert!(sealed.text.starts_with("open ") && sealed.text.ends_with("[private]"));
    }
}

#[test]
fn secrets_with_colors_in_them_are_cut_near_the_edges_of_a_long_text() {
    let filler = "words and words ".repeat(10_000);
    let colored = "ghp_16C7e42F292c\u{1b}[1m6912E7710c838347Ae178B4a";
    for text in [format!("{colored} {filler}"), format!("{filler} {colored}")] {
        let sealed = seal(&sealer(2000), draft(&text));
        assert!(
            !sealed.text.contains("16C7") && !sealed.text.contains("8347Ae"),
            "{}",
            sealed.text
        );
        assert!(sealed.text.contains("[redacted:github]"), "{}", sealed.text);
    }
}

#[test]
fn large_json_is_capped_string_by_string_and_then_as_text() {
    let long = |n: usize| format!("{}{TOKEN}{}", "a b ".repeat(n), " c d".repeat(n));
    let tool = |output: Value| Draft {
        tool: Some(Tool { name: "Read".to_owned(), input: Value::Null, output }),
        ..draft("")
    };
    let output = |draft: Draft| draft.tool.unwrap().output;

    let one = seal(&sealer(4096), tool(json!({"file": long(30_000), "lines": 3})));
    assert!(one.meta["cut_bytes"].as_u64().unwrap() > 200_000);
    let one = output(one);
    assert_eq!(one["lines"], 3);
    assert!(one["file"].as_str().unwrap().contains(" bytes cut …]"));
    assert!(one.to_string().len() <= 4096);

    let many: Vec<String> = (0..2000).map(|n| format!("row {n} {TOKEN} \"quoted\"")).collect();
    let many = output(seal(&sealer(4096), tool(json!({"rows": many}))));
    let text = many.as_str().unwrap();
    assert!(text.starts_with(r#"{"rows":["row 0 [redacted:github]"#), "{text}");
    assert!(many.to_string().len() <= 4096 && text.contains(" bytes cut …]"));
}

#[test]
fn meta_is_capped_and_the_count_of_cut_bytes_is_kept() {
    let big: Map<String, Value> = (0..20_000).map(|n| (format!("k{n}"), json!(n))).collect();
    let mut input = draft("x");
    input.meta = big;
    let sealed = seal(&sealer(4096), input);
    assert!(Value::Object(sealed.meta.clone()).to_string().len() <= limits::META_BYTES_MAX);
    assert!(sealed.meta["cut_bytes"].as_u64().unwrap() > 0);

    let mut again = draft(&"word ".repeat(10_000));
    again.meta.insert("cut_bytes".to_owned(), json!(7));
    let sealed = seal(&sealer(4096), again);
    assert!(sealed.meta["cut_bytes"].as_u64().unwrap() > 45_000);
}

/// Length of the longest common substring in bytes.
fn longest_common(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut row = vec![0usize; b.len() + 1];
    let mut best = 0;
    for x in a {
        let mut diagonal = 0;
        for (at, y) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if x == y { diagonal + 1 } else { 0 };
            best = best.max(row[at + 1]);
            diagonal = above;
        }
    }
    best
}

const PEM_BODY: &str = "MIIEpAIBAAKCAQEAx3Z1zYcPzlV5o9pFqkzKq9mQ0nGxkYw8cV7kqLr5Hk1Zq2Xw\nq2FvR1pKc3Z1zYcPzlV5o9pFqkzKq9mQ0nGxkYw8cV7kqLr5Hk1Zq2XwAbCdEfGh";

fn secrets() -> impl Strategy<Value = (String, String)> {
    let pair = |text: &str, secret: &str| (text.to_owned(), secret.to_owned());
    prop::sample::select(vec![
        pair(TOKEN, TOKEN),
        pair("password=\"correct9horse7battery5staple\"", "correct9horse7battery5staple"),
        pair("https://bob:hunter2hunter3hunter4@host/x", "hunter2hunter3hunter4"),
        pair(
            &format!("-----BEGIN PRIVATE KEY-----\n{PEM_BODY}\n-----END PRIVATE KEY-----"),
            PEM_BODY,
        ),
        pair("<private>QQQQ ZZZZ QQQQ ZZZZ QQQQ ZZZZ</private>", "QQQQ ZZZZ QQQQ ZZZZ QQQQ ZZZZ"),
        pair(
            "Authorization: Bearer mF_9.B5f-4.1JqMmF_9.B5f-4.1JqM",
            "mF_9.B5f-4.1JqMmF_9.B5f-4.1JqM",
        ),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Offsets near the edges of the kept part and the margins, and anywhere: for a text of 80 KB
    /// capped at 2 KB the head ends near 1,000 and its margin near 17,400.
    #[test]
    fn no_part_of_a_secret_survives_near_a_cut(
        (text, secret) in secrets(),
        near in prop::sample::select(vec![900usize, 1_000, 17_300, 17_400, 40_000, 62_600, 63_700, 79_000]),
        offset in 0usize..400,
        max in 1_900usize..2_100,
        filler in prop::sample::select(vec!["lorem ipsum ", "x\n", "let n = 1; ", "é "]),
    ) {
        let filler_text = filler.repeat(80_000 / filler.len());
        let before = truncate_to(&filler_text, near + offset);
        let after = filler_text.strip_prefix(before).unwrap();
        let whole = format!("{before}\n{text}\n{after}");
        let sealed = seal(&sealer(max), draft(&whole));
        prop_assert!(sealed.text.len() <= max);
        prop_assert!(longest_common(&sealed.text, &secret) < 8, "{}", sealed.text);
    }

    /// The same for a text short enough to be redacted whole.
    #[test]
    fn no_part_of_a_secret_survives_a_short_cut(
        (text, secret) in secrets(),
        before in 0usize..700,
        after in 0usize..700,
        max in 64usize..500,
    ) {
        let filler = "lorem ipsum ".repeat(100);
        let (before, after) = (truncate_to(&filler, before), truncate_to(&filler, after));
        let whole = format!("{before}\n{text}\n{after}");
        let sealed = seal(&sealer(max), draft(&whole));
        prop_assert!(sealed.text.len() <= max);
        prop_assert!(longest_common(&sealed.text, &secret) < 8, "{}", sealed.text);
    }

    #[test]
    fn sealing_any_tool_fits_the_cap_and_is_idempotent(
        rows in prop::collection::vec((any_text(), any_text()), 0..8),
        max in 64usize..2_000,
    ) {
        let output: Map<String, Value> = rows.into_iter().map(|(key, text)| (key, json!([text, 1]))).collect();
        let meta = output.clone();
        let tool = Tool { name: "x".to_owned(), input: Value::Null, output: output.into() };
        let sealed = seal(&sealer(max), Draft { tool: Some(tool), meta, ..draft("") });
        prop_assert!(sealed.tool.unwrap().output.to_string().len() <= max.max(256));
    }

    #[test]
    fn sealing_any_text_fits_the_cap_and_is_idempotent(text in any_text(), max in 64usize..300) {
        let sealed = seal(&sealer(max), draft(&text));
        prop_assert!(sealed.text.len() <= max);
    }
}
