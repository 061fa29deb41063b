//! The tokens of sample texts.

use expect_test::{Expect, expect};

use super::*;

fn shown(text: &str) -> String {
    let mut lists = [vec![], vec![], vec![], vec![]];
    tokenize(text, &mut |kind, term| {
        let at = match kind {
            TokenKind::Word => 0,
            TokenKind::Character => 1,
            TokenKind::Identifier => 2,
            TokenKind::Path => 3,
        };
        lists[at].push(term.to_owned());
    });
    let mut shown = String::new();
    for (name, list) in ["words", "characters", "identifiers", "paths"].iter().zip(lists) {
        if !list.is_empty() {
            shown.push_str(&format!("{name}: {}\n", list.join(" ")));
        }
    }
    shown
}

#[expect(clippy::needless_pass_by_value, reason = "written in place")]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&shown(text));
}

#[test]
fn identifiers_are_equal_in_every_case_style() {
    for text in [
        "parse_http_header",
        "parseHttpHeader",
        "ParseHTTPHeader",
        "PARSE_HTTP_HEADER",
        "parse-http-header",
    ] {
        assert_eq!(
            shown(text),
            "words: parse http header\nidentifiers: parsehttpheader\n",
            "{text}"
        );
    }
}

#[test]
fn every_kind_of_compound_yields_its_words_and_itself() {
    check(
        "E0308 HTTP 404 sha256 x86_64 utf-8",
        expect![[r#"
            words: e0308 http 404 sha 256 x86 64 utf 8
            identifiers: e0308 sha256 x86.64 utf8
        "#]],
    );
    check(
        "src/daemon/reading.rs:45:10",
        expect![[r#"
        words: src daemon reading rs 45 10
        identifiers: readingrs
        paths: reading.rs src/daemon/reading.rs daemon/reading.rs
    "#]],
    );
    check(
        "C:\\Users\\me\\a.txt ~/.config/tome https://example.com/a/b?q=1",
        expect![[r#"
            words: c users me a txt config tome https example com a b q 1
            identifiers: atxt examplecom
            paths: a.txt c:/users/me/a.txt me/a.txt config/tome example.com example.com/a/b a/b
        "#]],
    );
    check(
        "tome_finder::Words::open() foo.bar.baz",
        expect![[r#"
        words: tome finder words open foo bar baz
        identifiers: tomefinderwordsopen wordsopen tomefinder foobarbaz barbaz
        paths: foo.bar.baz
    "#]],
    );
    check(
        "v1.2.3 1.2.3-rc1 192.168.0.1 3.14 2026-11-15 10:30",
        expect![[r#"
        words: 1.2.3 1.2.3 rc 1 192.168.0.1 3.14 2026 11 15 10 30
        identifiers: 1.2.3 1.2.3rc1 1.2.3 rc1 192.168.0.1 3.14 2026.11.15
    "#]],
    );
    check(
        "3f9a2b1c4d5e6f708192 3f9a2b1 550e8400-e29b-41d4-a716-446655440000",
        expect![[r#"
        words: 3f9a2b1 3f9a2b1 550e840 e29b 41d4 a716 446655440000
        identifiers: 3f9a2b1c4d5e6f708192 3f9a2b1 3f9a2b1c 3f9a2b1 550e8400e29b41d4a716.446655440000 550e8400 550e840 e29b 41d4 a716
    "#]],
    );
    check(
        "don't it's they’ve o'clock URLs HTTPServer2 iPhone C++ c#",
        expect![[r#"
        words: dont it they oclock urls http server 2 i phone c c
        identifiers: httpserver2 iphone c++ c#
    "#]],
    );
    check(
        "我们使用Rust编写 字 カタカナ 한국어",
        expect![[r#"
        words: 我们 们使 使用 rust 编写 字 カタ タカ カナ 한국 국어
        characters: 我 们 使 用 编 写 カ タ カ ナ 한 국 어
    "#]],
    );
    check(
        "Straße ÉCOLE Ångström ΣΟΦΟΣ σοφος й",
        expect![[r#"
        words: straße ecole angstrom σοφοσ σοφοσ й
    "#]],
    );
}

#[test]
fn identifiers_are_split_into_subwords() {
    for (identifier, expected) in [
        ("getHTTPBody", "get HTTP Body"),
        ("snake_case", "snake case"),
        ("fileLock2", "file Lock2"),
        ("sha256", "sha256"),
        ("E0308", "E0308"),
        ("URLs", "URLs"),
        ("__init__", "init"),
        ("word", "word"),
        ("", ""),
    ] {
        assert_eq!(subwords(identifier).collect::<Vec<_>>().join(" "), expected);
    }
}

#[test]
fn terms_are_distinct_stems() {
    assert_eq!(
        stemmed_terms("Tokens, token: HTTPServer 峰会"),
        ["token", "http", "server", "峰会"]
    );
    let words: Vec<String> = plain_words("It's v1.2 — «Größe»").collect();
    assert_eq!(words, ["it", "s", "v1", "2", "größe"]);
    assert_eq!(count_words("- one, two: 解析器修复 한국어 !"), 5);
}
