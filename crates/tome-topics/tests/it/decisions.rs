//! The last decision about a file.

use tome_model::{FactKind, FileAction, Millis};
use tome_topics::{FactRecord, FileRecord, SegmentRecord, TopicMap};

use crate::generated::*;

/// A session that changed `src/lexer.rs` and `src/other.rs`, with one statement.
fn session(number: usize, kind: FactKind, weight: u32, text: &str) -> SegmentRecord {
    let mut one = segment(number, 3);
    let file = |path: &str| FileRecord {
        path: path.to_owned(),
        action: FileAction::Changed,
        times: 1,
        number: one.number + 1,
    };
    one.turns[0].files = vec![file("src/lexer.rs"), file("src/other.rs")];
    let (at, number) = (one.first_at, one.number + 2);
    one.facts = vec![FactRecord { kind, text: text.to_owned(), weight, number, at, turn: 0 }];
    one
}

fn decision(number: usize, weight: u32, text: &str) -> SegmentRecord {
    session(number, FactKind::Decision, weight, text)
}

fn last(segments: &[SegmentRecord], path: &str) -> Option<String> {
    build(segments).last_decision(path).map(|decision| decision.fact.text)
}

const TABLE: &str = "Use a table in lexer.rs instead of a match because it is faster";

#[test]
fn the_newest_decision_about_the_file_counts() {
    let other = "Keep error positions in lexer.rs as byte offsets, not as lines";
    let segments = [decision(1, 5, TABLE), decision(2, 8, other)];
    let found = build(&segments).last_decision("src/lexer.rs").unwrap();
    assert_eq!((found.fact.text.as_str(), found.is_by_user), (other, true));
    assert_eq!((found.path.as_str(), found.session.as_str()), ("src/lexer.rs", "s1"));
    let stem = "The lexer reads numbers by hand rather than with a crate, to avoid its tables";
    assert_eq!(last(&[decision(1, 5, stem)], "src/lexer.rs").as_deref(), Some(stem));
    // An agent's decision in a turn that changed two files is about neither, unless it names one.
    let unnamed = "Went with byte offsets because lines are ambiguous in pasted text";
    assert_eq!(last(&[decision(1, 5, unnamed)], "src/lexer.rs"), None);
    assert_eq!(last(&[decision(1, 8, unnamed)], "src/lexer.rs"), None);
    assert_eq!(last(&segments, "src/other.rs"), None);
    assert_eq!(last(&segments, "src/unknown.rs"), None);
    let mut alone = decision(1, 8, unnamed);
    alone.turns[0].files.truncate(1);
    assert_eq!(last(&[alone], "src/lexer.rs").as_deref(), Some(unnamed), "the user's, one file");
}

#[test]
fn a_decision_that_may_not_hold_is_left_out() {
    let replaced = session(
        9,
        FactKind::Convention,
        8,
        "Always use a match, never a table, in every lexer of ours",
    );
    let mut elsewhere = replaced.clone();
    elsewhere.turns[0].files.clear();
    for later in [replaced, elsewhere] {
        assert_eq!(last(&[decision(1, 5, TABLE), later], "src/lexer.rs"), None);
    }
    let corrected = session(9, FactKind::Correction, 8, "No, that breaks on Windows");
    assert_eq!(last(&[decision(1, 5, TABLE), corrected], "src/lexer.rs"), None);
    let mut deleted = session(9, FactKind::Outcome, 5, "Removed old code");
    deleted.turns[0].files[0].action = FileAction::Deleted;
    assert_eq!(last(&[decision(1, 5, TABLE), deleted], "src/lexer.rs"), None);
    // Earlier decisions, and those about something else, do not count.
    let before = session(0, FactKind::Correction, 8, "No, not like this");
    let unrelated = session(9, FactKind::Outcome, 5, "Documented the module");
    let segments = [before, decision(1, 5, TABLE), unrelated];
    assert_eq!(last(&segments, "src/lexer.rs").as_deref(), Some(TABLE));
    let map: TopicMap = build(&segments);
    assert!(map.last_decision("src/lexer.rs").unwrap().fact.at > Millis(0));
}

/// Later work of other sessions is named if it speaks of the subject, whatever files it changed.
#[test]
fn later_work_on_the_subject_is_named() {
    let text = "Let's go with bincode for the snapshot files in src/lexer.rs";
    let mut other = session(9, FactKind::Outcome, 5, "The snapshots are JSON now, without bincode");
    other.turns[0].files.clear();
    let mut elsewhere = session(12, FactKind::Outcome, 5, "The lexer is documented");
    elsewhere.turns[0].files.clear();
    let map = build(&[decision(1, 8, text), other.clone(), elsewhere]);
    let found = map.last_decision("src/lexer.rs").unwrap();
    assert_eq!(found.later_work, [(other.session, other.first_at, other.last_at)]);
}

/// A later prompt takes a decision back: no edit repeats it, and its page says so.
#[test]
fn a_decision_that_a_prompt_took_back_is_marked() {
    let text = "Use Redis for the sessions in src/lexer.rs because it expires keys";
    let mut later = session(9, FactKind::Outcome, 5, "Done");
    later.turns[0].second_thoughts = Some("Actually no Redis.\nUse the table.\n".to_owned());
    let holding = "Keep the offsets of src/lexer.rs in bytes, because pasted lines are ambiguous";
    let segments = [decision(1, 8, holding), decision(2, 8, text), later.clone()];
    assert_eq!(last(&segments[..2], "src/lexer.rs").as_deref(), Some(text));
    assert_eq!(last(&segments, "src/lexer.rs"), None);
    let map = build(&segments);
    let number = later.turns[0].number;
    let page = map.page("file:src/lexer.rs").unwrap();
    let decisions: Vec<&str> = page.decisions.iter().map(|fact| fact.text.as_str()).collect();
    assert_eq!(decisions, [holding, &format!("Taken back later (#{number}): {text}")]);
    let at = segments[1].facts[0].at;
    assert_eq!(map.find_reversal(text, at), Some(number));
    assert_eq!(map.find_reversal(holding, segments[0].facts[0].at), None);
    // The same statement, as a summary of a longer time has it.
    assert_eq!(map.find_reversal("Use Redis for the sessions", at), Some(number));
}

/// Events that were imported have numbers in the order of their arrival.
#[test]
fn a_file_that_was_deleted_later_has_no_decision() {
    let mut deleted = session(9, FactKind::Outcome, 5, "Removed old code");
    deleted.turns[0].files[0].action = FileAction::Deleted;
    deleted.turns[0].files[0].number = 1;
    assert_eq!(last(&[decision(1, 5, TABLE), deleted], "src/lexer.rs"), None);
    let mut before = session(0, FactKind::Outcome, 5, "Removed old code");
    before.turns[0].files[0].action = FileAction::Deleted;
    before.turns[0].files[0].number = 900;
    assert_eq!(last(&[before, decision(1, 5, TABLE)], "src/lexer.rs").as_deref(), Some(TABLE));
}
