//! Statements that a later event contradicts are dropped: commits, results, titles of pull requests.

use serde_json::Value;
use tome_model::FactKind;

use super::edge_cases::{bash, edit, lines, message};
use super::facts::facts;
use tome_contents::{Extractive, SegmentInput, Summarizer};

fn commits(values: &[Value]) -> Vec<String> {
    facts(FactKind::Commit, values)
}

#[test]
fn a_commit_that_was_reset_is_not_told() {
    let one = bash("git commit -m 'Move the folder'", "[main 1a2b3c4] Move the folder");
    let two = bash("git commit -m 'Add the config'", "[main 2b3c4d5] Add the config");
    let prompt = message("user_message", "Move it back, please");
    assert_eq!(
        commits(&[one.clone(), two.clone(), prompt.clone(), bash("git reset --soft HEAD~2", "")]),
        [""; 0]
    );
    assert_eq!(
        commits(&[one.clone(), two.clone(), bash("git reset HEAD^", "")]),
        ["Move the folder (1a2b3c4)"]
    );
    assert_eq!(commits(&[one, two, bash("git reset --hard origin/main", "")]).len(), 2);
}

#[test]
fn an_amended_commit_of_an_earlier_turn_is_told_once() {
    let first = bash("git commit -m 'Add a cache'", "[main 1a2b3c4] Add a cache");
    let amended = bash("git commit --amend --no-edit", "[main 9f8e7d6] Add a cache");
    let prompt = message("user_message", "Put that into the same commit");
    assert_eq!(commits(&[first, prompt, amended]), ["Add a cache (9f8e7d6)"]);
}

#[test]
fn a_trailer_is_no_part_of_a_subject() {
    let output = "[main 1a2b3c4] Add a cache Signed-off-by: Dev <dev@example.org>";
    assert_eq!(commits(&[bash("git commit -F message", output)]), ["Add a cache (1a2b3c4)"]);
}

#[test]
fn a_quiet_commit_is_known_from_the_log() {
    let command = "git commit -q -F - <<'EOF'\nAdd the golden files\n\nWith a report.\nEOF\ngit log --oneline -2";
    let output = "5e8db22 Add the golden files\n7c0cbab Add the plan";
    assert_eq!(commits(&[bash(command, output)]), ["Add the golden files (5e8db22)"]);
    // The log of other commits proves nothing.
    assert_eq!(commits(&[bash(command, "7c0cbab Add the plan")]), [""; 0]);
}

fn fixed() -> Vec<Value> {
    vec![
        message("user_message", "The upload of large files hangs, fix the upload"),
        edit("/home/dev/app/src/upload.rs"),
        message(
            "assistant_stop",
            "The upload in `upload.rs` now sends the file in chunks, which fixes the hang of large files.",
        ),
    ]
}

fn outcomes(values: &[Value]) -> usize {
    facts(FactKind::Outcome, values).len()
}

#[test]
fn a_result_that_the_next_prompt_denies_is_not_told() {
    assert_eq!(outcomes(&fixed()), 1);
    for denial in [
        "the upload still hangs",
        "no, that is not what I meant",
        "it fails with a timeout now",
        "revert the upload change",
    ] {
        let mut events = fixed();
        events.push(message("user_message", denial));
        assert_eq!(outcomes(&events), 0, "{denial}");
    }
    for other in [
        "thanks! now add a progress bar",
        "and what does the chunk size depend on?",
        "Add a test for when the upload fails",
        "Add an undo button to the editor",
        "commit it, we can always revert later",
        "I didn't know that, thanks",
        "Don't forget the changelog",
    ] {
        let mut events = fixed();
        events.push(message("user_message", other));
        assert_eq!(outcomes(&events), 1, "{other}");
    }
}

#[test]
fn the_prompt_after_a_segment_counts_too() {
    let events = lines(&fixed());
    let after = lines(&[message("user_message", "The upload still hangs")]);
    let next_prompt = after.first();
    let input =
        SegmentInput { events: &events, next_prompt, is_followed: true, ..SegmentInput::default() };
    let summary = Extractive.summarize_segment(&input).unwrap();
    let told = summary.work.iter().flat_map(|work| &work.facts);
    assert_eq!(told.filter(|fact| fact.kind == FactKind::Outcome).count(), 0);
}

#[test]
fn a_pull_request_has_its_last_title() {
    let address = "https://forge.example/acme/app/pull/5";
    let opened = bash("gh pr create --title 'Package the app' --body x", address);
    let renamed = bash("gh pr edit 5 --title 'Package all crates'", address);
    assert_eq!(
        facts(FactKind::PullRequest, &[opened.clone(), renamed]),
        ["Opened PR #5: Package all crates"]
    );
    let viewed = bash("gh pr view 5", &format!("title:\tPackage the app\nurl:\t{address}"));
    assert_eq!(facts(FactKind::PullRequest, &[opened, viewed]), ["Opened PR #5: Package the app"]);
}
