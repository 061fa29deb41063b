//! The tools over the coder's lessons.

use expect_test::expect;
use serde_json::json;
use tome_engine::ToolFailure;

use super::fixture::{files_in, tools_fixture};

/// A report without reasons and hints, which the notebook decides.
fn stable(text: &str) -> String {
    let line = |line: &str| match line.split_once("Why: ") {
        Some((before, _)) => format!("{before}Why: …"),
        None if line.starts_with("- ") => "- …".to_owned(),
        None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_stored_lesson_is_recalled() {
    let fixture = tools_fixture();
    let stored = fixture.call_ok(
        "coder_memory_store",
        json!({"type": "procedural", "title": "Bisect flaky tests by seed",
            "description": "Run a flaky test with a fixed seed before changing code.",
            "content": "A flaky test hides its cause in the order of things. Fix the seed first and run it until it fails. Only then change the code.",
            "tags": "#success #testing"}),
    );
    assert_eq!(stored.json["stored"][0]["decision"], "CREATE");
    expect![[r#"
        ✅ Coder Memory Storage Complete
        Insights stored: 1 (1 procedural)

        1. CREATE: Bisect flaky tests by seed (new in procedural/procedural.md)
           Why: …"#]]
    .assert_eq(&stable(&stored.text));
    let found = fixture.call_ok(
        "coder_memory_recall",
        json!({"question": "how do I find the cause of a flaky test?"}),
    );
    assert_eq!(found.json["insights"][0]["title"], "Bisect flaky tests by seed");
    expect![[r#"
        🔍 Coder Memory Recall Results
        Query: how do I find the cause of a flaky test?
        Memory Types Searched: procedural
        Results Found: 1

        1. Bisect flaky tests by seed
        Type: procedural
        Source: procedural/procedural.md:5

        **Title:** Bisect flaky tests by seed
        **Description:** Run a flaky test with a fixed seed before changing code.

        **Content:** A flaky test hides its cause in the order of things. Fix the seed first and run it until it fails. Only then change the code.

        **Tags:** #success #testing #procedural

        Why: …

        Check that the situation matches before you apply a lesson. Lessons may be outdated; the current code is authoritative."#]].assert_eq(&stable(&found.text));
}

#[test]
fn a_recall_without_results_reports_it_and_writes_nothing() {
    let fixture = tools_fixture();
    let before = files_in(&fixture.top());
    let found =
        fixture.call_ok("coder_memory_recall", json!({"keywords": "rust, async, deadlock"}));
    assert_eq!(found.json["insights"], json!([]));
    expect![[r#"
        🔍 Coder Memory Recall Results
        Query: rust, async, deadlock
        Memory Types Searched: episodic, procedural, semantic
        Results Found: 0

        No stored lesson matches.
        - …
        - …
        - …"#]]
    .assert_eq(&stable(&found.text));
    assert!(files_in(&fixture.top()) == before);
}

#[test]
fn lessons_that_break_the_guide_are_rejected() {
    let fixture = tools_fixture();
    let good = json!({"type": "semantic", "title": "Small steps win",
        "description": "Small steps are easy to check.",
        "content": "Take one step at a time. Check it at once. Go on only then.",
        "tags": ["#success", "#steps"]});
    for (field, value) in [
        ("content", json!("One sentence only.")),
        ("tags", json!(["#testing"])),
        ("tags", json!([])),
        ("title", json!("")),
        ("description", json!("Two. Sentences.")),
        ("type", json!("idea")),
        ("topic", json!("../up")),
        ("topic", json!("a/b")),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        fixture.call_rejected("coder_memory_store", bad.clone(), ToolFailure::Invalid);
        let mix = json!({"insights": [good, bad]});
        fixture.call_rejected("coder_memory_store", mix, ToolFailure::Invalid);
    }
    let none = fixture.call_ok("coder_memory_store", json!({"insights": []}));
    assert_eq!(none.text, "Insights stored: 0 (none given)");
    assert!(!fixture.home.exists());
    fixture.call_text("coder_memory_store", good);
}

#[test]
fn lessons_need_no_project() {
    let mut fixture = tools_fixture();
    fixture.caller.cwd = None;
    fixture.call_text("coder_memory_recall", json!({"question": "anything"}));
    fixture.call_text(
        "coder_memory_store",
        json!({"insights": [{"type": "semantic", "title": "Small steps win",
            "description": "Small steps are easy to check.",
            "content": "Take one step at a time. Check it at once. Go on only then.",
            "tags": ["success", "steps"]}]}),
    );
    assert!(!fixture.home.join("projects").exists());
}
