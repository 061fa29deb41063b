//! Properties of any text: no panic, nothing lost outside the marks, idempotence, and unchanged
//! words and code.

use proptest::prelude::*;

use super::{redact_json, redactor};

/// Fragments of secrets, names, quotes and marks, in any order.
const PIECES: &[&str] = &[
    "password",
    "token",
    "secret",
    "api_key",
    "PASSWORD",
    "--password",
    "-u ",
    "curl ",
    "=",
    ": ",
    ":",
    " = ",
    "==",
    "\"",
    "'",
    "`",
    "\\\"",
    "\\n",
    "\n",
    " ",
    ",",
    ";",
    "&",
    "|",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "</",
    "${",
    ":-",
    "hunter2",
    "abc",
    "x",
    "A1b2C3d4E5f6G7h8I9j0",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "AKIA",
    "IOSFODNN7EXAMPLE",
    "sk-",
    "eyJ",
    "eyJhbGciOiJIUzI1NiJ9",
    ".",
    "://",
    "user",
    "@",
    "host",
    "<private>",
    "</private>",
    "<private >",
    "<private reason=\"",
    "\u{1b}[32m",
    "\u{1b}[0m",
    "\u{1b}[K",
    "\u{1b}]8;;",
    "\u{1b}[5C",
    "\u{1b}",
    "\u{7}",
    "\\u001b[1m",
    "\\u003c",
    "\\x1b[",
    "^[[0m",
    "[1;32m",
    "\u{200b}",
    "\u{ad}",
    "\u{feff}",
    "mysql -p",
    "sshpass -p ",
    "zip -P ",
    "Cookie: ",
    "Set-Cookie: ",
    "session=",
    "; ",
    "kind: Secret\n",
    "data:\n  ",
    "---\n",
    "\"kind\":\"Secret\"",
    "\"data\":{",
    "\"auth\":",
    "Ym9iOnMzY3JldA==",
    ":5432:",
    "identified by ",
    " -> ",
    "IBAAKC",
    "LS0tLS1CRUdJTi",
    "abandon ability able about above absent absorb abstract absurd abuse access accident ",
    "$2b$12$",
    "Q~",
    "[private]",
    "[redacted:",
    "[redacted:aws]",
    "[redacted:password]",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "MIIEpAIBAAKCAQEAx3Z1zYcPzlV5o9pFqkzKq9mQ",
    "Authorization",
    "Bearer ",
    "Basic ",
    "NAME",
    "value",
    "é",
    "…",
    "日本",
    "🦀",
    "\0",
    "\t",
    "\r\n",
    "**",
    "login ",
    "machine ",
    "is ",
    "key",
    "_auth",
    "pass",
    "0123456789",
    "$HOME",
    "%s",
    "/",
    "\\",
    "//",
    "- ",
    "#",
    "!",
    "?",
    "+",
];

pub(super) fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..40);
    prop_oneof![
        3 => pieces.prop_map(|pieces| pieces.concat()),
        1 => "\\PC{0,200}",
        1 => any::<String>(),
    ]
}

/// Removes all marks.
fn without_marks(text: &str) -> String {
    let mark = regex::Regex::new(r"\[redacted:[a-z0-9-]{1,32}\]|\[private\]").unwrap();
    mark.replace_all(text, "").into_owned()
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|c| rest.any(|other| other == c))
}

const WORDS: &[&str] = &[
    "the",
    "parser",
    "reads",
    "a",
    "token",
    "and",
    "returns",
    "it",
    "password",
    "is",
    "wrong",
    "secret",
    "key",
    "of",
    "success",
    "session",
    "ledger",
    "event",
    "stored",
    "twice",
    "fn",
    "let",
    "mut",
    "self",
    "match",
    "Some(x)",
    "=>",
    "None",
    "=",
    "==",
    "{",
    "}",
    "();",
    "->",
    "value",
    "user.name",
    "count: 3",
    "tokens",
    "// note",
    "api",
    "login",
    "bearer",
    "basic",
    "authorization",
    "private",
    "public",
    "README.md",
    "src/lib.rs:42",
    "v1.2.3",
    "#[test]",
    "日本語",
    "naïve",
    "don't",
    "\n",
    "\n    ",
    "-",
    "--verbose",
    "vec![1, 2]",
    "0x1F",
    "3.14",
    "map.get(&key)",
    "\"text\"",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn redacting_twice_changes_nothing(text in any_text()) {
        let redactor = redactor();
        let once = redactor.redact(&text).into_owned();
        prop_assert_eq!(redactor.redact(&once), once.as_str(), "of {:?}", text);
    }

    #[test]
    fn nothing_is_lost_outside_the_marks(text in any_text()) {
        let left = without_marks(&redactor().redact(&text));
        prop_assert!(is_subsequence(&left, &text), "{:?} of {:?}", left, text);
    }

    #[test]
    fn a_token_is_found_through_escape_sequences(
        before in "\\PC{0,20}",
        at in 1usize..39,
        code in prop::sample::select(vec!["\u{1b}[1m", "\u{1b}[01;31m\u{1b}[K", "\\u001b[0m", "\u{200b}", "\u{1b}]8;;x\u{7}"]),
    ) {
        const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        let (first, second) = TOKEN.split_at(at);
        let text = format!("{before} {first}{code}{second} x");
        let redacted = redactor().redact(&text).into_owned();
        prop_assert!(!redacted.contains("6C7e42") && !redacted.contains("38347Ae"), "{:?}", redacted);
    }

    #[test]
    fn words_and_code_are_unchanged(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..60),
    ) {
        let text = words.join(" ");
        prop_assert_eq!(redactor().redact(&text), text.as_str());
    }

    #[test]
    fn random_unicode_is_unchanged(text in "[^\\x00-\\x7F]{0,200}") {
        prop_assert_eq!(redactor().redact(&text), text.as_str());
    }

    #[test]
    fn a_token_is_found_at_any_position(before in "\\PC{0,40}", after in "[^A-Za-z0-9_]\\PC{0,40}") {
        const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
        let text = format!("{before}{TOKEN}{after}");
        prop_assert!(!redactor().redact(&text).contains("ghp_16C7"));
    }

    #[test]
    fn redacting_json_twice_changes_nothing(texts in prop::collection::vec((any_text(), any_text()), 0..6)) {
        let value: serde_json::Value = texts.into_iter().map(|(k, v)| (k, v.into())).collect::<serde_json::Map<_, _>>().into();
        let once = redact_json(&value);
        prop_assert_eq!(redact_json(&once), once);
    }
}
