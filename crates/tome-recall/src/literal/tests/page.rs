//! Notes split into sections.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::super::{NoteSection, line_number, parse_note};

fn sections(markdown: &str) -> Vec<NoteSection> {
    parse_note(markdown).sections
}

fn check_sections(markdown: &str, expected: &Expect) {
    let page = parse_note(markdown);
    let lines: Vec<String> = page
        .sections
        .iter()
        .map(|section| {
            let text = &page.text[section.range.clone()];
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("L{} [{}] {text}", section.line, section.heading)
        })
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn a_note_is_cut_at_its_headings() {
    check_sections(
        "before\n\n# Auth\n\n## Decision\nUse JWT.\n\n### Why\r\nBecause.\r\n## Open\n# Empty\n",
        &expect![[r"
            L1 [] before
            L3 [Auth › Decision] # Auth ## Decision Use JWT.
            L8 [Auth › Decision › Why] ### Why Because.
            L10 [Auth › Open] ## Open
            L11 [Empty] # Empty"]],
    );
}

#[test]
fn frontmatter_and_metadata_are_not_searched_as_text() {
    let markdown = "---\nname: \"User: prefs\"\ndescription: How it should look\ntype: user\ntags: [a, 'b c']\n---\n\n# Title\n\n<!--\nMETA:\n- created: 2026-01-15T10:30:00Z\n- keywords: [\"jwt\", \"auth\"]\n-->\n\n<!-- a hint -->\nBody\n";
    let page = parse_note(markdown);
    assert_eq!(page.text.len(), markdown.len());
    assert_eq!(page.name.as_deref(), Some("User: prefs"));
    assert_eq!(page.description.as_deref(), Some("How it should look"));
    assert_eq!(page.keywords, ["a", "b c", "jwt", "auth"]);
    check_sections(markdown, &expect!["L8 [Title] # Title <!-- a hint --> Body"]);
    check_sections(
        "# A\n<!-- META: - created: 2026-01-15T10:30:00Z - keywords: [\"jwt\"] -->\ntext",
        &expect!["L1 [A] # A text"],
    );
    check_sections(
        "---\nno key here\n---\n<!-- META: unclosed\n# A\n",
        &expect!["L1 [] --- no key here --- <!-- META: unclosed # A"],
    );
}

#[test]
fn lines_in_code_blocks_are_not_headings() {
    check_sections(
        "# A\n```sh\n# not a heading\n```\n~~~~\n```\n# nor this\n~~~~\n- ```\n  # nor this\n  ```\n<!--\n# nor this\n-->\n    # nor this\n#tag\n## B\n",
        &expect![[r"
            L1 [A] # A ```sh # not a heading ``` ~~~~ ``` # nor this ~~~~ - ``` # nor this ``` <!-- # nor this --> # nor this #tag
            L17 [A › B] ## B"]],
    );
}

#[test]
fn a_long_section_is_cut_between_paragraphs() {
    let paragraph = "word ".repeat(90).trim().to_owned();
    let markdown = format!("# A\n\n{paragraph}\n\n{paragraph}\n\n{paragraph}\n");
    let found: Vec<(u32, usize)> = sections(&markdown)
        .iter()
        .map(|section| (section.line, markdown[section.range.clone()].split_whitespace().count()))
        .collect();
    assert_eq!(found, [(1, 182), (7, 90)]);
    assert!(sections(&markdown).iter().all(|section| section.heading == "A"));
    let lines = "one line of five words\n".repeat(100);
    let found: Vec<u32> = sections(&lines).iter().map(|section| section.line).collect();
    assert_eq!(found, [1, 41, 81]);
}

#[test]
fn one_long_line_is_cut_too() {
    for (text, most) in [
        ("word ".repeat(5_000), 1_100),
        ("汉字".repeat(5_000), 1_300),
        ("x".repeat(500_000), 3_500),
        ("e\u{301}".repeat(50_000), 5_500),
    ] {
        let found = sections(&text);
        assert!(found.len() > 5);
        for section in found {
            assert!(section.range.len() <= most, "{}", section.range.len());
            assert!(!text[section.range].starts_with('\u{301}'));
        }
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_and_lines_are_right(
        pieces in proptest::collection::vec(prop_oneof![
            Just("---\n"), Just("name: x\n"), Just("# A\n"), Just("## B é\r\n"), Just("```\n"), Just("<!--\n"), Just("META:\n"), Just("-->\n"),
            Just("\n"), Just("\r\n"), Just("\u{feff}"), Just("some words here\n"), Just("汉字"), Just("- ~~~\n"), Just("long "),
        ], 0..30),
        times in 1usize..12,
    ) {
        let markdown = pieces.concat().repeat(times);
        let page = parse_note(&markdown);
        prop_assert_eq!(page.text.len(), markdown.len());
        let mut at = 0;
        for section in &page.sections {
            let blank = page.text.get(at..section.range.start);
            prop_assert!(blank.is_some_and(|between| between.trim().is_empty()), "{:?}", blank);
            prop_assert_eq!(section.line, line_number(&markdown, section.range.start));
            prop_assert!(!page.text[section.range.clone()].trim().is_empty());
            at = section.range.end;
        }
        prop_assert!(page.text[at..].trim().is_empty());
        for (hidden, shown) in markdown.bytes().zip(page.text.bytes()) {
            prop_assert!(hidden == shown || shown == b' ');
        }
    }

    #[test]
    fn any_text_parses_as_a_note(text in "(?s).{0,400}") {
        for section in sections(&text) {
            prop_assert!(text.get(section.range).is_some());
        }
    }
}
