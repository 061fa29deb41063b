//! Parsing frontmatter as people and programs write it, and composing it.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::block::{UnitKind, find_block};
use super::{Frontmatter, body, parse, render_note, set_updated};
use crate::{NoteHeader, NoteType};

const TODAY: &str = "2026-03-25";

fn typed(name: &str, description: &str) -> NoteHeader {
    NoteHeader { name: name.into(), description: description.into(), note_type: NoteType::User }
}

fn head(name: &str, description: &str) -> Frontmatter {
    Frontmatter {
        name: Some(name.into()),
        description: Some(description.into()),
        note_type: Some("user".into()),
        updated: Some(TODAY.into()),
    }
}

fn check_compose(previous: Option<&str>, content: &str, expected: &Expect) {
    let typed = typed("User Preferences", "Editor settings: all of them");
    let note = render_note(previous, &typed, TODAY, content);
    expected.assert_eq(&note);
    assert_eq!(parse(&note), head(&typed.name, &typed.description));
    assert_eq!(render_note(Some(&note), &typed, TODAY, content), note);
    assert_eq!(render_note(Some(&note), &typed, TODAY, body(&note)), note);
    assert_eq!(render_note(Some(&note), &typed, TODAY, &note), note);
}

fn check_name(value: &str, expected: Option<&str>) {
    for ending in ["\n", "\r\n"] {
        let text = format!("---\nname: {value}\ntags: a\n---\n").replace('\n', ending);
        assert_eq!(parse(&text).name.as_deref(), expected, "{value}");
    }
}

#[test]
fn a_simple_note_is_plain() {
    let typed = typed("User Preferences", "Editor settings and communication style");
    expect![[r#"
        ---
        name: User Preferences
        description: Editor settings and communication style
        type: user
        updated: 2026-03-25
        ---

        - Prefers concise answers
        - Timezone: UTC+8
    "#]]
    .assert_eq(&render_note(
        None,
        &typed,
        TODAY,
        "\n\n- Prefers concise answers\n- Timezone: UTC+8\n\n\n",
    ));
}

#[test]
fn other_keys_stay_with_their_lines_and_comments() {
    check_compose(
        Some(
            "---\n# by hand\nname: old\ndescription: >-\n  many\n\n  lines\ntags:\n- a\n# about b\n- b\n\nName: not ours\nmemory_type: user\nnested:\n  - x: |\n      deep\n\n      er\n  # end\n---\nold body",
        ),
        "new body",
        &expect![[r#"
            ---
            name: User Preferences
            description: "Editor settings: all of them"
            type: user
            updated: 2026-03-25
            # by hand
            tags:
            - a
            # about b
            - b

            Name: not ours
            nested:
              - x: |
                  deep

                  er
              # end
            ---

            new body
        "#]],
    );
}

#[test]
fn a_body_with_frontmatter_is_not_wrapped_twice() {
    check_compose(
        Some("---\ntags: [a]\nowner: me\n# c\n---\n"),
        "---\nname: theirs\nowner: you\n# c\nlevel: 3\n---\n---\nname: again\n---\nbody\n\n---\n\nmore",
        &expect![[r#"
            ---
            name: User Preferences
            description: "Editor settings: all of them"
            type: user
            updated: 2026-03-25
            tags: [a]
            owner: you
            # c
            level: 3
            ---

            body

            ---

            more
        "#]],
    );
}

#[test]
fn rules_around_prose_are_not_frontmatter() {
    for prose in ["---\nhello\n---\nyou", "---\n---\nyou", "---\nAs I said: no\nand no\n---\n"] {
        let note = render_note(None, &typed("a", "b"), TODAY, prose);
        assert_eq!(body(&note).trim_end(), prose.trim_end());
        assert_eq!(set_updated(prose, TODAY), prose);
    }
    assert_eq!(body("---\nname: never closed\n"), "---\nname: never closed\n");
    assert_eq!(parse("---\nname: never closed\n"), Frontmatter::default());
    assert_eq!(parse("text\n---\nname: late\n---\n"), Frontmatter::default());
}

#[test]
fn the_line_endings_of_the_body_are_kept() {
    let note = render_note(None, &typed("a", "b"), TODAY, "one\r\ntwo");
    assert_eq!(
        note,
        "---\r\nname: a\r\ndescription: b\r\ntype: user\r\nupdated: 2026-03-25\r\n---\r\n\r\none\r\ntwo\r\n"
    );
    assert_eq!(parse(&note), head("a", "b"));
    assert_eq!(body(&note), "one\r\ntwo\r\n");
    assert!(
        !render_note(None, &typed("a", "b"), TODAY, "one\r\ntwo\nthree").starts_with("---\r\n")
    );
}

#[test]
fn hand_written_values_are_parsed() {
    for (value, expected) in [
        ("Auth: the new way", "Auth: the new way"),
        ("Fix bug #42 in C#", "Fix bug #42 in C#"),
        ("user # one of four", "user"),
        ("  spaced out \t", "spaced out"),
        ("https://example.org/a:b", "https://example.org/a:b"),
        (
            r#""double \"quoted\" \\ \n \u00e9 \x41 \ud83d\ude00 \q" # why"#,
            "double \"quoted\" \\ \n é A 😀 \\q",
        ),
        ("'it''s # here'", "it's # here"),
        ("\"unclosed", "\"unclosed"),
        ("\"Foo\" and \"bar\"", "\"Foo\" and \"bar\""),
        ("''", ""),
        ("[WIP] auth", "[WIP] auth"),
        ("first\n  second\n\n  third", "first second\nthird"),
        ("\n  below", "below"),
        ("# why\n  \"below\"", "below"),
        ("\"a\n  b\\\n  \\ c\"", "a b c"),
        ("|\n  one\n   two\n\n  three\n", "one\n two\n\nthree"),
        (
            ">+ # folded\n  one\n  two\n\n  three\n    four\n  five\n\n",
            "one two\nthree\n  four\nfive",
        ),
        ("|2-\n    deep", "  deep"),
        (">= 5 items", ">= 5 items"),
    ] {
        check_name(value, Some(expected));
    }
    for nothing in
        ["", "~", "null", "[a, b]", "{a: b}", "\n  - a", "\n- a", "\n  a: b", "[\n  a\n]", "|"]
    {
        check_name(nothing, None);
    }
}

#[test]
fn keys_are_exact_and_the_first_wins() {
    let parse_lines = |lines: &str| parse(&format!("\u{feff}--- \t\n{lines}\n---  "));
    assert_eq!(parse_lines("Name: a\nNAME: b\n name: c\nx: d").name, None);
    assert_eq!(parse_lines("name: a\nname: b").name.as_deref(), Some("a"));
    assert_eq!(
        parse_lines("memory_type: user\ntype: project").note_type.as_deref(),
        Some("project")
    );
    assert_eq!(parse_lines("memory_type: user").note_type.as_deref(), Some("user"));
    assert_eq!(parse_lines("\"name\" : a").name.as_deref(), Some("a"));
    assert_eq!(parse_lines("name:a").name.as_deref(), Some("a"));
    assert_eq!(parse_lines("what is this\nname: a\n}{").name.as_deref(), Some("a"));
}

#[test]
fn values_that_could_be_misread_are_quoted() {
    for (value, written) in [
        ("a: b", r#""a: b""#),
        ("a:", r#""a:""#),
        ("a #b", r#""a #b""#),
        ("", r#""""#),
        (" a", r#"" a""#),
        ("- a", r#""- a""#),
        ("[a]", r#""[a]""#),
        ("Yes", r#""Yes""#),
        ("2026-03-25", r#""2026-03-25""#),
        ("1:30", r#""1:30""#),
        ("0x1F", r#""0x1F""#),
        ("a\u{7f}\u{2028}\0", r#""a\u007F\u2028\u0000""#),
        ("\"a\"", r#""\"a\"""#),
        ("it's 5 o'clock: \\n", r#""it's 5 o'clock: \\n""#),
        ("a:b, C# {x} \"y\" 日本", "a:b, C# {x} \"y\" 日本"),
        ("3 lessons", "3 lessons"),
    ] {
        assert_eq!(super::scalar::render(value), written);
        assert_eq!(super::scalar::parse(written).as_deref(), Some(value));
    }
}

#[test]
fn updated_is_set_in_the_frontmatter_only() {
    for (text, expected) in [
        (
            "---\r\nname: a\r\nupdated:   2020-01-01 # by hand\r\nx: 1\r\n---\r\nupdated: 2020-01-01\r\n",
            "---\r\nname: a\r\nupdated: 2026-03-25 # by hand\r\nx: 1\r\n---\r\nupdated: 2020-01-01\r\n",
        ),
        ("---\nname: >\n  a\n\nx: 1\n---", "---\nname: >\n  a\nupdated: 2026-03-25\n\nx: 1\n---"),
        ("---\nupdated:\n  - no date\n---\n", "---\nupdated: 2026-03-25\n---\n"),
        (
            "---\nupdated: # never\nname: b\n---\n",
            "---\nupdated: 2026-03-25 # never\nname: b\n---\n",
        ),
        ("---\nupdated: \"2026-03-25\"\n---\n", "---\nupdated: \"2026-03-25\"\n---\n"),
        ("---\nx: 1\n---\n", "---\nx: 1\n---\n"),
        ("updated: 2020-01-01", "updated: 2020-01-01"),
    ] {
        assert_eq!(set_updated(text, TODAY), expected);
        assert_eq!(set_updated(expected, TODAY), expected);
    }
}

/// Fragments of frontmatter syntax, combined at random.
fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("---"),
        Just("\n"),
        Just("\n"),
        Just("\r\n"),
        Just("name"),
        Just("updated"),
        Just(": "),
        Just(":"),
        Just("#"),
        Just(" "),
        Just("\t"),
        Just("\""),
        Just("'"),
        Just("\\"),
        Just("|"),
        Just(">"),
        Just("- "),
        Just("["),
        Just("]"),
        Just("a"),
        Just("é"),
        Just("😀"),
        Just("\u{feff}"),
        Just("\u{2028}"),
        Just("\\ud83d"),
        Just("\n---\n"),
        Just("\nname: "),
        Just("\n  "),
        Just("\nx: "),
        Just("\ntype: user\n"),
    ];
    let pieces = prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat());
    prop_oneof![3 => pieces.clone(), 3 => pieces.prop_map(|text| format!("---\n{text}")), 1 => any::<String>()]
}

/// Independent model of how `render_note` trims a body.
fn as_kept(content: &str) -> String {
    let mut lines: Vec<&str> = content.split('\n').collect();
    let is_blank = |line: &&str| line.trim().is_empty();
    while lines.last().is_some_and(is_blank) {
        lines.pop();
    }
    while lines.first().is_some_and(is_blank) {
        lines.remove(0);
    }
    let text = lines.join("\n");
    // The ending of the last line is replaced by `render_note`.
    if content.contains(&format!("{text}\n")) {
        text.strip_suffix('\r').unwrap_or(&text).into()
    } else {
        text
    }
}

fn opens_none(content: &str) -> bool {
    !content.trim_start().trim_start_matches('\u{feff}').starts_with("---")
}

fn is_broken(text: &str) -> bool {
    find_block(text)
        .is_some_and(|block| block.units.iter().any(|unit| unit.kind == UnitKind::Stray))
}

/// The lines of all units except known keys.
fn kept_lines(text: &str) -> Vec<&str> {
    let units = find_block(text).map(|block| block.units).unwrap_or_default();
    let kept = units.into_iter().filter(|unit| !unit.is_known());
    kept.flat_map(|unit| unit.text.lines()).collect()
}

proptest! {
    #[test]
    fn name_and_description_round_trip(
        name in any::<String>(),
        description in hostile_text(),
        previous in hostile_text(),
        content in hostile_text(),
    ) {
        let typed = typed(&name, &description);
        let note = render_note(Some(&previous), &typed, TODAY, &content);
        prop_assert_eq!(parse(&note), head(&name, &description));
        prop_assert_eq!(&set_updated(&note, TODAY), &note);
        prop_assert_eq!(&render_note(Some(&note), &typed, TODAY, body(&note)), &note);
        for line in kept_lines(&previous).into_iter().filter(|_| opens_none(&content)) {
            prop_assert!(note.contains(line), "{:?} is not in {:?}", line, note);
        }
        // Stray lines may move once, but then stay.
        if !is_broken(&previous) && !is_broken(content.trim_start()) {
            prop_assert_eq!(&render_note(Some(&note), &typed, TODAY, &content), &note);
            prop_assert_eq!(&render_note(Some(&note), &typed, TODAY, &note), &note);
        }
    }

    #[test]
    fn the_body_round_trips(content in hostile_text().prop_filter("opens no frontmatter", |content| opens_none(content))) {
        let note = render_note(None, &typed("a", "b"), TODAY, &content);
        let given = body(&note);
        let given = given.strip_suffix('\n').unwrap_or(given);
        let has_crlf = note.starts_with("---\r\n");
        let given = given.strip_suffix('\r').filter(|_| has_crlf).unwrap_or(given);
        prop_assert_eq!(given, as_kept(&content));
    }

    #[test]
    fn other_keys_survive(
        lines in prop::collection::vec(("[a-f]{1,3}", "[ -~é]{0,12}"), 1..6),
        content in hostile_text().prop_filter("opens no frontmatter", |content| opens_none(content)),
    ) {
        let kept: String = lines.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
        let previous = format!("---\n{kept}name: old\n---\nbody");
        let once = render_note(Some(&previous), &typed("a", "b"), TODAY, &content);
        let twice = render_note(Some(&once), &typed("c", "d"), "2026-03-26", &content);
        let lf = twice.replace("\r\n", "\n");
        prop_assert!(lf.contains(&format!("\nupdated: 2026-03-26\n{kept}---\n")), "{}", twice);
    }

    #[test]
    fn updated_changes_no_other_line(text in hostile_text()) {
        let after = set_updated(&text, TODAY);
        prop_assert_eq!(body(&after), body(&text));
        let (was, is) = (parse(&text), parse(&after));
        prop_assert_eq!((was.name, was.description, was.note_type), (is.name, is.description, is.note_type));
        let mut others = after.split_inclusive('\n').filter(|line| {
            !line.trim_start_matches(['\'', '"']).starts_with("updated")
        });
        if after != text {
            prop_assert_eq!(is.updated.as_deref(), Some(TODAY));
            prop_assert!(others.all(|line| text.contains(line)));
        }
    }

    #[test]
    fn broken_notes_never_fail(at in 0..400usize, with in any::<char>(), name in any::<String>()) {
        let note = render_note(Some("---\ntags:\n  - a\n---\n"), &typed(&name, "a: b"), TODAY, "body\n---\n");
        let mutated: String = note.chars().enumerate().map(|(nth, was)| if nth == at { with } else { was }).collect();
        let cut: String = note.chars().take(at).collect();
        for text in [&mutated, &cut, &mutated.replace('\n', "\r\n"), &cut.replace('\n', "\r\n")] {
            let again = render_note(Some(text), &typed(&name, "c"), TODAY, text);
            prop_assert_eq!(parse(&again), head(&name, "c"));
            prop_assert!(text.ends_with(body(text)));
            prop_assert_eq!(set_updated(&set_updated(text, TODAY), TODAY), set_updated(text, TODAY));
        }
    }
}
