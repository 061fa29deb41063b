//! Statements that a later event contradicts are dropped: commits, results, titles of pull requests.

use serde_json::Value;
use tome_model::FactKind;

use super::edge_cases::{bash, bash_failed, edit, lines, message};
use super::facts::facts;
use super::summarize;
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
fn an_amended_commit_may_get_another_subject() {
    let first = bash("git commit -m 'Add a cache'", "[main 1a2b3c4] Add a cache");
    let prompt = message("user_message", "Call it a table");
    let amend = |folder: &str, branch: &str| {
        let command = format!("git -C {folder} commit --amend -m 'Add a table'");
        bash(&command, &format!("[{branch} 9f8e7d6] Add a table"))
    };
    let told = |amended: Value| commits(&[first.clone(), prompt.clone(), amended]).len();
    assert_eq!(told(amend(".", "main")), 1);
    assert_eq!(told(amend("web", "main")), 1);
    // The commit of another branch or repository is another one.
    assert_eq!(told(amend(".", "tables")), 2);
    assert_eq!(told(amend("/home/dev/lib", "main")), 2);
}

#[test]
fn a_commit_that_was_reverted_or_reset_to_an_earlier_one_is_not_told() {
    let one = bash("git commit -m 'Move the folder'", "[main 1a2b3c4] Move the folder");
    let two = bash("git commit -m 'Add the config'", "[main 2b3c4d5] Add the config");
    let reverted = "[main 3c4d5e6] Revert \"Move the folder\"";
    assert_eq!(
        commits(&[one.clone(), two.clone(), bash("git revert HEAD~1", reverted)]),
        ["Add the config (2b3c4d5)", "Revert \"Move the folder\" (3c4d5e6)"]
    );
    let reset = |target: &str| bash(&format!("git reset --hard {target}"), "HEAD is now there");
    let told = |target: &str| commits(&[one.clone(), two.clone(), reset(target)]).len();
    let counts = ["1a2b3c4", "1a2b3c4^", "2b3c4d5", "0a1b2c3", "0a1b2c3^"].map(told);
    assert_eq!(counts, [1, 0, 2, 2, 2]);
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

fn pulls(values: &[Value]) -> Vec<String> {
    facts(FactKind::PullRequest, values)
}

#[test]
fn a_merged_pull_request_is_told() {
    let printed = "✓ Squashed and merged pull request acme/app#7 (Package the app)";
    assert_eq!(pulls(&[bash("gh pr merge --squash", printed)]), ["Merged PR #7: Package the app"]);
    // Without a terminal it prints nothing.
    assert_eq!(pulls(&[bash("gh pr merge 7 --squash --delete-branch", "")]), ["Merged PR #7"]);
    assert_eq!(pulls(&[bash("gh pr merge 7 --squash 2>&1 | tail -3", "")]), ["Merged PR #7"]);
    let address = "https://forge.example/acme/app/pull/7";
    let viewed = bash("gh pr view 7", &format!("title:\tPackage the app\nurl:\t{address}"));
    let merged = bash("gh pr merge 7 --merge && git pull", "Already up to date.");
    assert_eq!(pulls(&[viewed, merged.clone()]), ["Merged PR #7: Package the app"]);
    let opened = bash("gh pr create --title 'Package the app' --body x", address);
    assert_eq!(pulls(&[opened, merged]), ["Opened PR #7: Package the app (merged)"]);
}

/// Codex reads the rest of the output of a long command with another tool.
#[test]
fn what_a_command_prints_later_is_read() {
    let poll = |command: &str, output: &str| {
        let input = serde_json::json!({"session_id": 5, "chars": "", "command": command});
        let tool = serde_json::json!({"name": "write_stdin", "input": input, "output": output});
        serde_json::json!({"kind": "tool_result", "agent": "codex", "meta": {"exit_code": 0}, "tool": tool})
    };
    let commit = poll("git commit -m 'Add a cache'", "checks pass\n[main 1a2b3c4] Add a cache");
    assert_eq!(commits(&[commit]), ["Add a cache (1a2b3c4)"]);
    let address = "https://forge.example/acme/app/pull/7";
    let opened = poll("git push && gh pr create --title 'Add a cache' --body x", address);
    assert_eq!(pulls(&[opened]), ["Opened PR #7: Add a cache"]);
}

#[test]
fn a_pull_request_that_may_not_have_been_merged_is_not_told_so() {
    for (command, output) in [
        ("gh pr merge 7 --auto --squash", ""),
        ("gh pr merge 7", "! Pull request acme/app#7 was already merged"),
        ("gh pr merge 7 | tail -1", ""),
        ("gh pr merge 7; git pull", "Already up to date."),
        ("gh pr merge --squash", ""),
        ("echo 'gh pr merge 7'", "gh pr merge 7"),
    ] {
        assert_eq!(pulls(&[bash(command, output)]), [""; 0], "{command}");
    }
    let refused = "Pull request acme/app#7 is not mergeable: the base branch policy prohibits it";
    assert_eq!(pulls(&[bash_failed("gh pr merge 7", refused)]), [""; 0]);
}

#[test]
fn a_pull_request_is_told_once_for_each_repository() {
    let view = |repository: &str| {
        let address = format!("https://forge.example/{repository}/pull/7");
        bash("gh pr view 7", &format!("title:\tPackage it\nurl:\t{address}"))
    };
    assert_eq!(pulls(&[view("acme/app"), view("Acme/App")]), ["PR #7: Package it"]);
    assert_eq!(pulls(&[view("acme/app"), view("acme/lib")]).len(), 2);
}

/// An edit of a file that replaces one text by another.
fn replace(old: &str, new: &str) -> Value {
    let mut line = edit("/home/dev/app/src/upload.rs");
    line["tool"]["input"]["old_string"] = old.into();
    line["tool"]["input"]["new_string"] = new.into();
    line
}

fn turn(prompt: &str, change: Value, answer: &str) -> Vec<Value> {
    vec![message("user_message", prompt), change, message("assistant_stop", answer)]
}

#[test]
fn a_result_whose_lines_were_replaced_is_not_told() {
    const OLD: &str = "send(file.read_all());";
    const CHUNKS: &str = "send_chunks(file, CHUNK_BYTES);";
    let first = turn(
        "Make the upload of large files faster",
        replace(OLD, CHUNKS),
        "Changed `upload.rs`, which now sends large files in chunks of 8 KB to the server.",
    );
    let second = |change: Value| {
        let answer = "Changed `upload.rs` to stream large files with one open connection instead.";
        let mut all = first.clone();
        all.extend(turn("Use a stream for the upload", change, answer));
        all
    };
    assert_eq!(outcomes(&first), 1);
    assert_eq!(outcomes(&second(replace("use std::io;", "use std::io::BufReader;"))), 2);
    let replaced = second(replace(CHUNKS, "stream(file, &connection);"));
    assert_eq!(outcomes(&replaced), 1);
    assert!(!summarize(&lines(&replaced)).title.contains("chunks"));
    // A result is told again once its lines are restored.
    let mut restored = replaced;
    restored.extend(turn(
        "Back to the chunks",
        replace("stream(file, &connection);", CHUNKS),
        "Changed `upload.rs` back: large files are sent in chunks again.",
    ));
    assert!(facts(FactKind::Outcome, &restored).iter().any(|text| text.contains("8 KB")));
    // Of a file that was written in a way that does not show its lines, nothing is known.
    let mut unclear = first.clone();
    unclear.insert(2, edit("/home/dev/app/src/other.rs"));
    unclear[2]["tool"]["input"] = serde_json::json!({"file_path": "/home/dev/app/src/other.rs"});
    unclear.extend(turn("Use a stream", replace(CHUNKS, "stream(file, &connection);"), "Done."));
    assert_eq!(outcomes(&unclear), 1);
}

#[test]
fn a_proposal_is_no_result() {
    let asked = message("user_message", "Make the importer faster");
    let plan = "I'd read the files of the importer in parallel with `rayon`. Should I proceed?";
    assert_eq!(outcomes(&[asked, message("assistant_stop", plan)]), 0);
}
