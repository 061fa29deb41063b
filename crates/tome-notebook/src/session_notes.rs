//! The working memory of a session: `overview.md`, which is injected, and `detail/*.md`, which is
//! searched.
//!
//! A detail note records when it was created and its keywords:
//!
//! ```text
//! # Authentication Design
//!
//! <!--
//! META:
//! - created: 2026-01-15T10:30:00Z
//! - keywords: ["authentication", "jwt"]
//! -->
//! ```
//!
//! Keywords consist of letters, digits, `_` and single `-`, so that none of them can end the
//! comment.

use std::collections::HashMap;

use serde_json::Value;
use tome_text::{StopClass, is_stop_word, is_unspaced};

use crate::lines::{detect_line_ending, insert_block};
use crate::markdown_line::{LineContext, split_lines};
use crate::{frontmatter, title as titles};

/// Template of a session's overview. Recall skips files that equal it byte for byte, so changing it
/// would make the unedited overviews of earlier versions searchable.
pub const OVERVIEW_TEMPLATE: &str = "\
# Working Memory

## Current Task
<!-- The goal at the moment, and how to tell that it is reached -->

## Key Decisions
<!-- What was settled, and for which reason -->

## Known Context
<!-- What has been learned of the code: layout, tools, files that matter -->

## Pending Issues
<!-- What is in the way, and what nobody has answered yet -->

## Recent Operations
<!-- The last few steps, in a line each -->
";

pub(crate) fn find_title(text: &str) -> Option<String> {
    titles::find_first_heading(text)
}

/// The META comment of a detail note.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DetailMeta {
    /// Creation time, as written in the note.
    pub created: Option<String>,
    pub keywords: Vec<String>,
}

/// Parses the META comment of a note, if it has one.
pub(crate) fn parse_meta(text: &str) -> Option<DetailMeta> {
    let mut comment = String::new();
    for line in split_lines(text).filter(|line| line.context == LineContext::Comment) {
        let text = line.text.trim();
        let text =
            if comment.is_empty() { text.strip_prefix("<!--").unwrap_or(text) } else { text };
        let (text, is_over) =
            text.split_once("-->").map_or((text, false), |(text, _)| (text, true));
        comment.push_str(text);
        comment.push('\n');
        if is_over {
            if let Some(fields) = comment.trim().strip_prefix("META:") {
                return Some(DetailMeta::parse(fields));
            }
            comment.clear();
        }
    }
    None
}

impl DetailMeta {
    /// Parses one key per line, with or without a bullet, or all on one line, separated by bullets.
    fn parse(text: &str) -> Self {
        let mut meta = Self::default();
        let text = text.trim();
        let parts: Vec<&str> =
            if text.contains('\n') { text.lines().collect() } else { text.split(" - ").collect() };
        for part in parts {
            let part = part.trim();
            let part = part.strip_prefix("- ").unwrap_or(part).trim();
            if let Some(created) = part.strip_prefix("created:") {
                meta.created =
                    Some(created.trim().to_owned()).filter(|created| !created.is_empty());
            } else if let Some(keywords) = part.strip_prefix("keywords:") {
                meta.keywords = parse_keyword_list(keywords.trim());
            }
        }
        meta
    }
}

fn parse_keyword_list(keywords: &str) -> Vec<String> {
    serde_json::from_str(keywords).unwrap_or_else(|_| {
        let bare = keywords.trim_matches(['[', ']']).split(',');
        let words = bare.map(|word| word.trim().trim_matches(['"', '\'']).to_owned());
        words.filter(|word| !word.is_empty()).collect()
    })
}

/// Inserts a META comment below the heading, adding a heading if there is none. A note that already
/// has the comment stays unchanged.
pub(crate) fn ensure_meta(text: &str, path: &str, now: &str) -> String {
    if parse_meta(text).is_some() {
        return text.to_owned();
    }
    let ending = detect_line_ending(text);
    let keywords: Vec<String> = extract_keywords(text, path)
        .into_iter()
        .map(|word| Value::from(word).to_string())
        .collect();
    let keywords = keywords.join(", ");
    let comment = [
        "<!--",
        "META:",
        &format!("- created: {now}"),
        &format!("- keywords: [{keywords}]"),
        "-->",
        "",
    ]
    .join(ending);
    let below_heading = find_heading_end(text).map(|at| insert_block(text, at, &comment));
    // Between two rules at the top, the comment would turn the lines between them into frontmatter.
    if let Some(note) = below_heading.filter(|note| parse_meta(note).is_some()) {
        return note;
    }
    let heading = format!("# {}{ending}{ending}", titles::from_path(path));
    insert_block(text, frontmatter::byte_len(text), &(heading + &comment))
}

fn find_heading_end(text: &str) -> Option<usize> {
    let mut at = 0;
    split_lines(text).find_map(|line| {
        at += line.raw.len();
        line.parse_heading().map(|_| at)
    })
}

const KEYWORDS_MAX: usize = 7;
/// Longer ones are hashes or encoded bytes.
const KEYWORD_CHARS_MAX: usize = 32;
/// A script without spaces has no word boundaries; the beginning of a phrase has to do.
const PHRASE_CHARS_MAX: usize = 8;

/// Extracts the most frequent words, weighting headings higher.
fn extract_keywords(text: &str, path: &str) -> Vec<String> {
    let mut scores: HashMap<String, (usize, usize)> = HashMap::new();
    let mut count = |text: &str, weight: usize| {
        for word in split_words(text) {
            let order = scores.len();
            scores.entry(word).or_insert((0, order)).0 += weight;
        }
    };
    count(&titles::from_path(path), 2);
    for line in split_lines(text) {
        match line.parse_heading() {
            Some((1, title)) => count(title, 4),
            Some((_, title)) => count(title, 2),
            None if line.context == LineContext::Text => count(line.text, 1),
            None => {}
        }
    }
    let mut ranked: Vec<(String, (usize, usize))> = scores.into_iter().collect();
    ranked.sort_by_key(|(_, (score, order))| (std::cmp::Reverse(*score), *order));
    ranked.into_iter().take(KEYWORDS_MAX).map(|(word, _)| word).collect()
}

fn split_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|part: char| !(part.is_alphanumeric() || part == '_' || part == '-'))
        .flat_map(|word| word.split("--"))
        .map(|word| word.trim_matches(['-', '_']))
        .filter_map(normalize_keyword)
}

fn normalize_keyword(word: &str) -> Option<String> {
    let chars = word.chars().take(KEYWORD_CHARS_MAX + 1).count();
    if word.chars().any(is_unspaced) {
        return (chars >= 2).then(|| word.chars().take(PHRASE_CHARS_MAX).collect());
    }
    let is_telling = (3..=KEYWORD_CHARS_MAX).contains(&chars)
        && !word.chars().all(|part| part.is_numeric() || part == '-');
    let word = word.to_lowercase();
    (is_telling && !is_stop_word(&word, StopClass::FUNCTION | StopClass::GENERIC)).then_some(word)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    const NOW: &str = "2026-01-15T10:30:00Z";

    #[test]
    fn a_detail_note_records_its_time_and_subject() {
        let text = "# Authentication Design\n\n## Decision\n\nUsing JWT for authentication, with rotation of the JWT.\n";
        expect![[r##"
            # Authentication Design

            <!--
            META:
            - created: 2026-01-15T10:30:00Z
            - keywords: ["authentication", "design", "auth", "decision", "jwt", "rotation"]
            -->

            ## Decision

            Using JWT for authentication, with rotation of the JWT.
        "##]]
        .assert_eq(&ensure_meta(text, "detail/auth.md", NOW));
    }

    #[test]
    fn a_note_without_a_heading_is_given_one() {
        expect![[r#"
            ---
            name: x
            ---

            # Build log

            <!--
            META:
            - created: 2026-01-15T10:30:00Z
            - keywords: ["build", "log", "slow"]
            -->

            slow
        "#]]
        .assert_eq(&ensure_meta("---\nname: x\n---\nslow\n", "detail/build-log.md", NOW));
    }

    #[test]
    fn nothing_in_a_note_ends_the_comment() {
        let text = "# a --> \"quoted\" b-->c\r\n--> x--y <!-- 使用认证令牌来登录系统 -->\r\n";
        let note = ensure_meta(text, "detail/-->.md", NOW);
        expect![[r#"["quoted", "使用认证令牌来登"]"#]]
            .assert_eq(&format!("{:?}", parse_meta(&note).unwrap().keywords));
        assert_eq!(note.matches('\n').count(), note.matches("\r\n").count());
        assert!(note.ends_with("-->\r\n\r\n--> x--y <!-- 使用认证令牌来登录系统 -->\r\n"));
    }

    #[test]
    fn both_forms_of_meta_are_parsed() {
        let full = DetailMeta {
            created: Some("2024-01-15T10:30:00Z".into()),
            keywords: vec!["authentication".into(), "jwt".into()],
        };
        for text in [
            "# A\n\n<!--\nMETA:\n- created: 2024-01-15T10:30:00Z\n- keywords: [\"authentication\", \"jwt\"]\n-->\n",
            "# A\r\n<!-- hint -->\r\n<!--\r\nMETA:\r\ncreated: 2024-01-15T10:30:00Z\r\nkeywords: [authentication, 'jwt']\r\n-->\r\n",
            "<!-- META: - created: 2024-01-15T10:30:00Z - keywords: [\"authentication\", \"jwt\"] -->\n",
        ] {
            assert_eq!(parse_meta(text).as_ref(), Some(&full));
            assert_eq!(ensure_meta(text, "detail/a.md", NOW), text);
        }
        assert_eq!(
            parse_meta("```\n<!--\nMETA:\ncreated: x\n-->\n```\n<!-- META -->\n<!--\nMETA:\n"),
            None
        );
    }

    #[test]
    fn the_overview_has_five_sections() {
        let headings: Vec<&str> =
            OVERVIEW_TEMPLATE.lines().filter(|line| line.starts_with('#')).collect();
        assert_eq!(
            headings,
            [
                "# Working Memory",
                "## Current Task",
                "## Key Decisions",
                "## Known Context",
                "## Pending Issues",
                "## Recent Operations"
            ]
        );
        assert_eq!(OVERVIEW_TEMPLATE.matches("<!--").count(), 5);
    }

    proptest! {
        #[test]
        fn a_note_gets_one_meta_and_keeps_its_lines(
            pieces in prop::collection::vec(prop_oneof![
                Just("# A -->"), Just("<!--"), Just("META:"), Just("-->"), Just("```"), Just("\n"), Just("\n"), Just("---\n"),
                Just("name: x\n"), Just("\r\n"), Just("word "), Just("é"), Just("\u{feff}"),
            ], 0..25),
            path in any::<String>(),
        ) {
            let text = pieces.concat();
            let note = ensure_meta(&text, &path, NOW);
            if parse_meta(&text).is_none() {
                let meta = parse_meta(&note).unwrap();
                prop_assert_eq!(meta.created.as_deref(), Some(NOW));
                prop_assert!(meta.keywords.len() <= 7);
                prop_assert!(find_title(&note).is_some() || text.contains('#'));
            }
            prop_assert_eq!(&ensure_meta(&note, &path, NOW), &note);
            let mut after = note.lines();
            for line in text.lines() {
                let line = line.trim_matches(['\u{feff}', '\r']);
                prop_assert!(after.any(|it| it.trim_matches(['\u{feff}', '\r']) == line), "{:?}", line);
            }
        }
    }
}
