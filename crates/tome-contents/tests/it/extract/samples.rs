//! Sixteen sample sessions, each with its expected summary next to it for review. `UPDATE_EXPECT=1
//! cargo test -p tome-engine --test it samples` rewrites them.

use std::path::PathBuf;

use expect_test::expect_file;

use tome_contents::Support;

use super::{check, events, rendered, summarize};

fn folder() -> PathBuf {
    std::path::absolute("tests/fixtures/sessions").unwrap()
}

pub fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| {
            entry.unwrap().file_name().to_str()?.strip_suffix(".jsonl").map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

pub fn lines_of(name: &str) -> String {
    std::fs::read_to_string(folder().join(format!("{name}.jsonl"))).unwrap()
}

#[test]
fn sample_summaries_match_the_recorded_ones() {
    assert!(names().len() >= 16);
    for name in names() {
        let events = events(&lines_of(&name));
        let summary = summarize(&events);
        check(&summary, &events);
        assert!(!summary.bullets.is_empty(), "{name} has no bullets");
        assert!(summary.keywords.len() >= 3, "{name} has too few keywords");
        expect_file![folder().join(format!("{name}.md"))].assert_eq(&rendered(&summary));
    }
}

#[test]
fn the_same_events_give_the_same_summary() {
    for name in names() {
        let events = events(&lines_of(&name));
        assert_eq!(summarize(&events), summarize(&events.clone()), "{name}");
    }
}

#[test]
fn every_prefix_and_suffix_of_a_session_has_a_summary() {
    for name in names() {
        let events = events(&lines_of(&name));
        for end in 1..=events.len() {
            check(&summarize(&events[..end]), &events[..end]);
        }
        for start in 1..events.len() {
            check(&summarize(&events[start..]), &events[start..]);
        }
    }
}

#[test]
fn excerpts_contain_most_words_of_their_bullet() {
    for name in names() {
        for bullet in summarize(&events(&lines_of(&name))).bullets {
            let Support::Excerpts(excerpts) = &bullet.support else {
                panic!("a segment has excerpts")
            };
            let (_, statement) = bullet.text.split_once(": ").unwrap_or(("", &bullet.text));
            let words = statement
                .split_whitespace()
                .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
            let fixed = |word: &&str| {
                [
                    "", "Changed", "created", "edits", "passed", "failed", "then", "and", "more",
                    "after", "changes", "to", "files",
                ]
                .contains(word)
            };
            let words: Vec<&str> = words.filter(|word| !fixed(word)).collect();
            let held = |word: &&&str| {
                excerpts.iter().any(|one| one.excerpt.to_lowercase().contains(&word.to_lowercase()))
            };
            let share = words.iter().filter(held).count() * 100 / words.len();
            // The rest are counts, and files and commands beyond the third excerpt.
            assert!(share >= 50, "{name}: {share} % of {:?} is in {excerpts:?}", bullet.text);
        }
    }
}
