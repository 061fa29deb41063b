//! The excerpts of sample texts.

// A range that splits a character must fail a test.
#![allow(clippy::string_slice)]

use expect_test::expect;
use proptest::prelude::*;

use super::*;

fn excerpt_line(text: &str, matched: &Range<usize>, chars_max: usize) -> String {
    excerpt_around(text, matched, chars_max, LineBreaks::Join)
}

#[test]
fn lists_tables_and_code_keep_their_lines() {
    let text = "Two causes\nwere found:\n\n- the cache\n  was stale\n- the port\n\n| a | b |\n|---|---|\n\nSo we\nrun:\n```sh\nmake\nmake test\n```\nDone\nnow.";
    let whole = excerpt_around(text, &(0..3), 300, LineBreaks::Structured);
    expect![[r#"
        Two causes were found:
        - the cache was stale
        - the port
        | a | b |
        So we run:
        ```sh
        make
        make test
        ```
        Done now."#]]
    .assert_eq(&whole);
    assert_eq!(excerpt_around(&whole, &(0..3), 300, LineBreaks::Keep), whole);
    let at = text.find("port").unwrap();
    let part = excerpt_around(text, &(at..at + 4), 40, LineBreaks::Structured);
    expect![[r#"
        …stale
        - the port
        | a | b |
        So we run:…"#]]
    .assert_eq(&part);
}

#[test]
fn a_short_text_is_shown_whole() {
    assert_eq!(excerpt_line("  one\n\ttwo \r\n three ", &(3..6), 300), "one two three");
    assert_eq!(excerpt_line("", &(0..0), 300), "");
    assert_eq!(excerpt_line("abc", &(7..9), 300), "abc");
    assert_eq!(excerpt_line("é", &(1..1), 300), "é");
}

#[test]
fn a_long_text_is_cut_between_words() {
    let text = "The quick brown fox jumps over the lazy dog and runs away from all the others";
    let at = text.find("lazy").unwrap();
    let range = at..at + 8;
    expect!["…over the lazy dog and runs away from all…"]
        .assert_eq(&excerpt_line(text, &range, 42));
    expect!["The quick brown…"].assert_eq(&excerpt_line(text, &(0..3), 20));
    expect!["…all the others"].assert_eq(&excerpt_line(text, &(text.len() - 6..text.len()), 20));
    expect!["…jumps over the lazy dog a…"].assert_eq(&excerpt_line(text, &(20..50), 27));
}

#[test]
fn graphemes_are_never_split() {
    let marks = "e\u{301}\u{302}".repeat(200);
    for at in [0, 300, 600] {
        let shown = excerpt_line(&marks, &(at..at + 5), 50);
        let inner = shown.trim_matches('…');
        assert!(inner.starts_with('e') && inner.ends_with('\u{302}'), "{inner}");
    }
    let family = "👩\u{200d}👩\u{200d}👧\u{200d}👦".repeat(60);
    let shown = excerpt_line(&family, &(1_000..1_004), 50);
    let inner = shown.trim_matches('…');
    assert!(inner.starts_with('👩') && !inner.ends_with('\u{200d}'), "{inner}");
    let shown = excerpt_line(&"汉字".repeat(500), &(1500..1506), 300);
    assert_eq!(shown.chars().count(), 300);
}

#[test]
fn a_text_is_truncated_by_characters() {
    assert_eq!(collapse_whitespace(" a\n\tb  c "), "a b c");
    assert_eq!(first_chars("héllo", 2), "hé");
    assert_eq!(truncate_chars("héllo", 5), "héllo");
    assert_eq!(truncate_chars("héllo", 4), "hél…");
    assert_eq!(truncate_chars("", 0), "");
}

#[test]
fn a_text_is_truncated_between_words() {
    for (text, chars_max, expected) in [
        ("short enough", 12, "short enough"),
        ("one two, three four", 12, "one two…"),
        ("call `parse_http_header` twice", 20, "call…"),
        ("the call of `parse_http_header`", 26, "the call of…"),
        ("`parse_http_header_and_body_too`", 12, "`parse_htt`…"),
        ("汉字汉字汉字", 5, "汉字汉…"),
    ] {
        assert_eq!(truncate_words(text, chars_max), expected);
    }
}

proptest! {
    #[test]
    fn an_excerpt_is_a_part_of_the_text_and_contains_the_match(
        text in "([a-zé中\u{301}👩\u{200d} \n\r\t.]{0,12}| {0,40}|[a-z]{60}){0,20}",
        from in 0usize..400, len in 0usize..500, max in 8usize..301,
    ) {
        let start = text.floor_char_boundary(from);
        let end = text.floor_char_boundary(start + len);
        let shown = excerpt_line(&text, &(start..end), max);
        prop_assert!(shown.chars().count() <= max);
        let inner = shown.strip_prefix('…').unwrap_or(&shown);
        let inner = inner.strip_suffix('…').unwrap_or(inner);
        prop_assert!(collapse_whitespace(&text).contains(inner), "{:?} in {:?}", inner, text);
        let matched = collapse_whitespace(&text[start..end]);
        if matched.chars().count() <= max - 2 {
            prop_assert!(inner.contains(&matched), "{:?} in {:?}", matched, shown);
        } else {
            let beginning: String = matched.chars().take((max - 2).saturating_sub(16)).collect();
            prop_assert!(inner.contains(beginning.trim_end()), "{:?} in {:?}", beginning, shown);
        }
    }
}

#[test]
fn a_line_and_a_number_of_bytes_end_with_an_ellipsis() {
    assert_eq!(shorten_line(" a\n b\tc ", 5), "a b c");
    assert_eq!(shorten_line("héllo\nwörld", 7), "héllo…");
    assert_eq!(truncate_bytes("héllo", 6), "héllo");
    assert_eq!(truncate_bytes("héllo", 2), "h…");
    assert_eq!(truncate_bytes("日本語", 0), "…");
}

#[test]
fn a_rule_of_a_table_has_no_text() {
    assert!(is_table_rule(" |---|:--| "));
    assert!(!is_table_rule("| a -- b |") && !is_table_rule("---") && !is_table_rule("| | |"));
}
