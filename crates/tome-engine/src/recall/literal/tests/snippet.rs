//! What a snippet shows.

use expect_test::expect;
use proptest::prelude::*;

use super::super::{Needle, line_of, snippet};

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_short_text_is_shown_whole() {
    assert_eq!(snippet("  one\n\ttwo \r\n three ", &(3..6), 300), "one two three");
    assert_eq!(snippet("", &(0..0), 300), "");
    assert_eq!(snippet("abc", &(7..9), 300), "abc");
    assert_eq!(snippet("é", &(1..1), 300), "é");
}

#[test]
fn a_long_text_is_cut_between_words() {
    let text = "The quick brown fox jumps over the lazy dog and runs away from all the others";
    let place = Needle::new("lazy dog").look(text).unwrap().range;
    expect!["…over the lazy dog and runs away from all…"].assert_eq(&snippet(text, &place, 42));
    expect!["The quick brown…"].assert_eq(&snippet(text, &(0..3), 20));
    expect!["…all the others"].assert_eq(&snippet(text, &(text.len() - 6..text.len()), 20));
    expect!["…jumps over the lazy dog a…"].assert_eq(&snippet(text, &(20..50), 27));
}

#[test]
fn nothing_is_torn() {
    let marks = "e\u{301}\u{302}".repeat(200);
    for at in [0, 300, 600] {
        let shown = snippet(&marks, &(at..at + 5), 50);
        let inner = shown.trim_matches('…');
        assert!(inner.starts_with('e') && inner.ends_with('\u{302}'), "{inner}");
    }
    let family = "👩\u{200d}👩\u{200d}👧\u{200d}👦".repeat(60);
    let shown = snippet(&family, &(1_000..1_004), 50);
    let inner = shown.trim_matches('…');
    assert!(inner.starts_with('👩') && !inner.ends_with('\u{200d}'), "{inner}");
    let shown = snippet(&"汉字".repeat(500), &(1500..1506), 300);
    assert_eq!(shown.chars().count(), 300);
}

#[test]
fn lines_are_counted_from_one() {
    let text = "a\nb\r\nc";
    assert_eq!([0, 1, 2, 4, 5, 99].map(|at| line_of(text, at)), [1, 1, 2, 2, 3, 3]);
    assert_eq!(line_of("", 0), 1);
    assert_eq!(line_of("é\n", 1), 1);
}

proptest! {
    #[test]
    fn a_snippet_is_a_part_of_the_text_with_the_match_in_it(
        text in "([a-zé中\u{301}👩\u{200d} \n\r\t.]{0,12}| {0,40}|[a-z]{60}){0,20}",
        from in 0usize..400, len in 0usize..500, max in 8usize..301,
    ) {
        let start = tome_model::floor_boundary(&text, from);
        let end = tome_model::floor_boundary(&text, (start + len).min(text.len()));
        let shown = snippet(&text, &(start..end), max);
        prop_assert!(shown.chars().count() <= max);
        let inner = shown.strip_prefix('…').unwrap_or(&shown);
        let inner = inner.strip_suffix('…').unwrap_or(inner);
        prop_assert!(squeezed(&text).contains(inner), "{:?} in {:?}", inner, text);
        let matched = squeezed(&text[start..end]);
        if matched.chars().count() <= max - 2 {
            prop_assert!(inner.contains(&matched), "{:?} in {:?}", matched, shown);
        } else {
            let beginning: String = matched.chars().take((max - 2).saturating_sub(16)).collect();
            prop_assert!(inner.contains(beginning.trim_end()), "{:?} in {:?}", beginning, shown);
        }
    }

    #[test]
    fn the_snippet_of_a_look_holds_the_terms(filler in "([a-z]{0,9} ){0,90}", more in "([a-z]{0,9} ){0,90}") {
        let text = format!("{filler} Токен-42 {more}");
        let look = Needle::new("токен-42").look(&text).unwrap();
        let shown = snippet(&text, &look.range, 300);
        prop_assert!(shown.contains("Токен-42") && shown.chars().count() <= 300);
    }
}
