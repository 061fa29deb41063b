//! The tools over the coder's lessons.

use std::collections::BTreeSet;
use std::sync::Arc;

use expect_test::expect;
use serde_json::{Value, json};
use tome_engine::ToolFailure;
use tome_home::NotebookOwner;
use tome_model::Scope;
use tome_notebook::{Actor, Author, Notebook};

use super::fixture::{ToolsFixture, files_in, tools_fixture};

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

/// A lesson that satisfies every rule.
fn lesson(of: &str, title: &str, description: &str, content: &str) -> Value {
    json!({"type": of, "title": title, "description": description, "content": content,
           "tags": ["success", "testing"]})
}

fn bisect() -> Value {
    lesson(
        "procedural",
        "Bisect a slow test suite",
        "Halve the suite until one slow test is left.",
        "Run half of the tests and take the time. Keep the slower half and halve it again. \
         Five rounds found the one test that slept in a suite of forty.",
    )
}

/// The same lesson with one field changed.
fn with(mut lesson: Value, field: &str, value: Value) -> Value {
    lesson[field] = value;
    lesson
}

/// Stores a lesson; returns the outcome.
fn store(fixture: &ToolsFixture, lesson: &Value) -> Value {
    fixture.call_ok("coder_memory_store", lesson.clone()).json["stored"][0].clone()
}

/// The titles of the lessons that a question recalls.
fn recalled_titles(fixture: &ToolsFixture, question: &str) -> Vec<String> {
    let found = fixture.call_ok("coder_memory_recall", json!({"question": question})).json;
    let lessons = found["insights"].as_array().unwrap().iter();
    lessons.map(|lesson| lesson["title"].as_str().unwrap().to_owned()).collect()
}

fn coder_notebook(fixture: &ToolsFixture) -> Arc<Notebook> {
    let owner = NotebookOwner { scope: Scope::Coder, cwd: None, session: None };
    fixture.notebooks.open(&owner).unwrap()
}

fn coder_file(fixture: &ToolsFixture, path: &str) -> String {
    std::fs::read_to_string(fixture.home.join("coder").join(path)).unwrap()
}

/// Checks that the READMEs list exactly the existing files and their lessons.
fn check_readmes(fixture: &ToolsFixture) {
    coder_notebook(fixture).list_notes().unwrap();
    let tree = coder_file(fixture, "README.md");
    let named = tree.split('`').skip(1).step_by(2).filter(|name| name.ends_with(".md"));
    let named: BTreeSet<String> = named.map(str::to_owned).collect();
    let root = fixture.home.join("coder");
    let files = files_in(&root).into_iter().filter(|(_, bytes)| bytes.is_some());
    let paths =
        files.map(|(path, _)| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
    let there: BTreeSet<String> =
        paths.filter(|path| path.ends_with(".md") && !path.ends_with("README.md")).collect();
    assert_eq!(named, there, "{tree}");
    for path in &there {
        let Some((above, _)) = path.rsplit_once('/') else { continue };
        let readme = coder_file(fixture, &format!("{above}/README.md"));
        assert!(readme.contains(&format!("`{path}`")), "{path} in {readme}");
        let text = coder_file(fixture, path);
        for title in text.lines().filter_map(|line| line.strip_prefix("**Title:** ")) {
            assert!(readme.contains(title), "{title} in {readme}");
        }
    }
}

#[test]
fn every_rule_of_the_store_guide_is_enforced_with_its_reason() {
    let fixture = tools_fixture();
    store(&fixture, &bisect());
    for (lesson, words) in [
        (with(bisect(), "type", json!("diary")), "episodic, procedural, semantic"),
        (with(bisect(), "title", json!("")), "title"),
        (with(bisect(), "title", json!("Two\nlines")), "title"),
        (with(bisect(), "title", json!("t".repeat(101))), "title has 101"),
        (with(bisect(), "description", json!("")), "description"),
        (with(bisect(), "description", json!("One. And two.")), "description has 2 sentences"),
        (with(bisect(), "content", json!("Only one sentence.")), "content has 1 sentence"),
        (with(bisect(), "content", json!("One. Two.")), "content has 2 sentences"),
        (with(bisect(), "content", json!("A. B. C. D. E. F.")), "3 to 5"),
        (with(bisect(), "content", json!("One:\n- a\n- b\n- c")), "list"),
        (with(bisect(), "content", json!("One.\n\nTwo. Three.")), "paragraph"),
        (with(bisect(), "content", json!("One. Two. \u{7}Three.")), "control"),
        (with(bisect(), "tags", json!(["testing"])), "#success"),
        (with(bisect(), "tags", json!(["success"])), "tags"),
        (with(bisect(), "tags", json!(["success", "failure", "x"])), "both"),
        (with(bisect(), "tags", json!(["success", "two words"])), "two words"),
        (with(bisect(), "tags", json!(["success", "testing", "semantic"])), "semantic"),
        (with(bisect(), "topic", json!("a/b")), "two folders"),
        (with(bisect(), "topic", json!("../../out")), "two folders"),
        (with(bisect(), "topic", json!("README")), "README"),
        (with(bisect(), "topic", json!("con")), "con"),
        (with(bisect(), "colour", json!("red")), "colour"),
        (json!({"insights": [bisect(), bisect(), bisect(), bisect()]}), "limit is 3"),
        (json!({"insights": [bisect(), with(bisect(), "tags", json!([]))]}), "insight 2"),
        (json!({"insights": [{"title": "x"}]}), "type"),
        (json!({"insights": "x"}), "insights"),
        (json!({}), "type"),
    ] {
        let reason = fixture.call_rejected("coder_memory_store", lesson, ToolFailure::Invalid);
        assert!(reason.contains(words), "{words} in {reason}");
    }
    // All violations are reported at once.
    let bad = json!({"type": "semantic", "title": "x", "description": "", "content": "One.",
                     "tags": []});
    let reason = fixture.call_rejected("coder_memory_store", bad, ToolFailure::Invalid);
    for word in ["title", "description", "content", "#success"] {
        assert!(reason.contains(word), "{word} in {reason}");
    }
}

#[test]
fn invalid_questions_are_rejected() {
    let fixture = tools_fixture();
    store(&fixture, &bisect());
    for (arguments, words) in [
        (json!({}), "question or keywords"),
        (json!({"question": "  "}), "question or keywords"),
        (json!({"keywords": ["one", "two"]}), "3 to 8"),
        (json!({"keywords": ["a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8", "i9"]}), "3 to 8"),
        (json!({"keywords": ["one", "one", "one"]}), "3 to 8"),
        (json!({"question": "x", "types": ["diary"]}), "diary"),
        (json!({"question": 7}), "question"),
        (json!({"question": "x".repeat(20_000)}), "at most"),
    ] {
        let reason = fixture.call_rejected("coder_memory_recall", arguments, ToolFailure::Invalid);
        assert!(reason.contains(words), "{words} in {reason}");
    }
}

#[test]
fn questions_on_other_subjects_and_in_other_scripts_recall_nothing() {
    let fixture = tools_fixture();
    store(&fixture, &bisect());
    for question in
        ["best recipe for pancakes with maple syrup", "кубернетес настройка", "日本の首都"]
    {
        assert_eq!(recalled_titles(&fixture, question), Vec::<String>::new(), "{question}");
    }
}

/// At most three lessons are recalled.
#[test]
fn many_lessons_on_one_subject_give_three() {
    let fixture = tools_fixture();
    for (title, description, content) in [
        (
            "Measure before a cache",
            "A cache hides what is slow rather than mending it.",
            "Take the clock to the query first. An index was missing twice. The cache was then \
             never needed.",
        ),
        (
            "Parsers are slow at allocation",
            "Most of what a slow parser does is to ask for memory.",
            "Borrow from the input where it lives long enough. Measure with the real files. The \
             clock said four times as fast.",
        ),
        (
            "A socket waits for its slow reader",
            "Backpressure is what a reader does to a writer.",
            "Bound every queue and measure its depth. Drop nothing without counting it. The clock \
             of the writer shows the reader.",
        ),
        (
            "Slow starts come from eager work",
            "What is made at the start and never used is paid by all.",
            "Open files when they are asked for. Measure the start with a cold disk. Half a second \
             by the clock went to a table nobody read.",
        ),
    ] {
        let stored = store(&fixture, &lesson("semantic", title, description, content));
        assert_eq!(stored["decision"], "CREATE", "{stored:?}");
    }
    let keywords = json!({"keywords": ["measure", "slow", "clock"], "types": ["semantic"]});
    let found = fixture.call_ok("coder_memory_recall", keywords).json;
    assert_eq!(found["insights"].as_array().unwrap().len(), 3, "{found}");
}

#[test]
fn lessons_are_created_merged_updated_and_contradicted() {
    let fixture = tools_fixture();
    assert_eq!(store(&fixture, &bisect())["decision"], "CREATE");
    let same = with(
        bisect(),
        "content",
        json!(
            "Run half of the tests and take the time. Keep the slower half and halve it again. \
               Write the name of the culprit into the issue."
        ),
    );
    assert_eq!(store(&fixture, &same)["decision"], "MERGE");
    let text = coder_file(&fixture, "procedural/procedural.md");
    assert_eq!(text.matches("**Title:**").count(), 1, "{text}");
    for kept in ["Five rounds found", "name of the culprit"] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    let related = with(
        bisect(),
        "content",
        json!(
            "A report of the runner lists every test with its time. Sort it by the last column. \
               It needs no halving where the runner can write one."
        ),
    );
    let related = with(related, "description", json!("Let the runner report what takes long."));
    assert_eq!(store(&fixture, &related)["decision"], "UPDATE");
    let text = coder_file(&fixture, "procedural/procedural.md");
    assert_eq!(text.matches("**Title:**").count(), 1, "{text}");
    assert!(
        text.contains("**Updated [20") && text.contains("Sort it by the last column"),
        "{text}"
    );
    assert!(text.contains("Five rounds found"), "{text}");

    let opposite = with(bisect(), "tags", json!(["failure", "testing"]));
    let opposite = with(
        opposite,
        "content",
        json!(
            "Never run half of the tests and take the time. Do not keep the slower half. \
               Halving misses tests that are slow only together."
        ),
    );
    let stored = store(&fixture, &opposite);
    let outcome = (&stored["decision"], &stored["contradicts"]);
    assert_eq!(outcome, (&json!("UPDATE"), &json!(true)), "{stored}");
    let text = coder_file(&fixture, "procedural/procedural.md");
    for kept in ["**Previous Approach:**", "#reconsolidated", "Five rounds found", "Sort it by"] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    let other = lesson(
        "procedural",
        "Read the changelog before an upgrade",
        "An upgrade is cheap when its breaking changes are known.",
        "Open the changelog at the version in use. Search it for removed and renamed. \
         Two upgrades took an hour where blind ones took days.",
    );
    assert_eq!(store(&fixture, &other)["decision"], "CREATE");
    check_readmes(&fixture);
    let notebook = coder_notebook(&fixture);
    assert_eq!(notebook.lint_lessons().unwrap(), []);
    // Each step can be restored.
    let log = notebook.read_history(Some("procedural/procedural.md")).unwrap();
    assert_eq!(log.len(), 5, "{log:?}");
    assert!(log.iter().all(|version| version.by.tool == "coder_memory_store"), "{log:?}");
}

/// The notebook may also be changed by hand and by other tools.
#[test]
fn the_tree_follows_manual_edits() {
    const QUESTION: &str = "slow test suite";
    let fixture = tools_fixture();
    store(&fixture, &bisect());
    let root = fixture.home.join("coder");
    let moved = root.join("procedural/testing");
    std::fs::create_dir(&moved).unwrap();
    std::fs::rename(root.join("procedural/procedural.md"), moved.join("testing.md")).unwrap();
    check_readmes(&fixture);
    let found = fixture.call_ok("coder_memory_recall", json!({"question": QUESTION})).json;
    assert_eq!(found["insights"][0]["path"], "procedural/testing/testing.md");
    for path in ["notes.md", "semantic/a/b/c.md", "README.md"] {
        let write = json!({"path": path, "content": "x", "scope": "coder"});
        fixture.call_rejected("memory_write", write, ToolFailure::Invalid);
    }
    let note = json!({"path": "semantic/errors/errors.md", "content": "words\n", "scope": "coder"});
    fixture.call_ok("memory_write", note);
    check_readmes(&fixture);
    std::fs::remove_dir_all(&moved).unwrap();
    check_readmes(&fixture);
    assert_eq!(recalled_titles(&fixture, QUESTION), Vec::<String>::new());
    let person = Author { who: Actor::Person, tool: "tome memory restore".into() };
    let path = "procedural/testing/testing.md";
    coder_notebook(&fixture).restore_version(&person, path, None).unwrap();
    assert_eq!(recalled_titles(&fixture, QUESTION), ["Bisect a slow test suite"]);
}
