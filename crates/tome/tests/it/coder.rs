//! The coder's lessons through the shipped program: validation, storing, merging, recall, and no
//! losses.

use std::collections::BTreeSet;
use std::path::PathBuf;

use expect_test::expect;
use serde_json::{Value, json};
use tome_testkit::World;

use crate::acceptance::{agent, refused, run_tool, wire};
use crate::notes_cli::memory_json;
use crate::notes_safety::files_below;
use crate::support::{daemon_up, world};

fn folder(world: &World) -> PathBuf {
    world.home().join("coder")
}

fn file(world: &World, path: &str) -> String {
    std::fs::read_to_string(folder(world).join(path)).unwrap()
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

/// Stores lessons and returns the outcome of each.
fn store(world: &World, lesson: &Value) -> Vec<Value> {
    let args = ["tool", "coder_memory_store", "-", "--json"];
    let ran = world.tome_with(&args, lesson.to_string());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{lesson}");
    ran.json()["stored"].as_array().unwrap().clone()
}

fn recall(world: &World, arguments: &Value) -> Value {
    let ran =
        world.tome_with(&["tool", "coder_memory_recall", "-", "--json"], arguments.to_string());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments}");
    ran.json()
}

fn titles(recalled: &Value) -> Vec<&str> {
    let lessons = recalled["insights"].as_array().unwrap();
    lessons.iter().map(|lesson| lesson["title"].as_str().unwrap()).collect()
}

/// The coder's Markdown files, without those that Tome builds.
fn notes(world: &World) -> Vec<String> {
    let root = folder(world);
    let files = files_below(&root).into_keys().filter(|path| path.is_file());
    let paths = files.map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
    paths.filter(|path| path.ends_with(".md") && !path.ends_with("README.md")).collect()
}

/// Every title in any file.
fn all_titles(world: &World) -> BTreeSet<String> {
    let lessons = notes(world).into_iter().filter(|path| path.contains('/'));
    let texts = lessons.map(|path| file(world, &path)).collect::<String>();
    let lines = texts.lines().filter_map(|line| line.strip_prefix("**Title:** "));
    lines.map(str::to_owned).collect()
}

/// Checks that the READMEs list exactly the existing files and exist only where needed.
fn check_readmes(world: &World) {
    world.tome(&["coder", "list"]);
    let tree = file(world, "README.md");
    let named: BTreeSet<String> = tree
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|name| name.ends_with(".md"))
        .map(str::to_owned)
        .collect();
    let there: BTreeSet<String> = notes(world).into_iter().collect();
    assert_eq!(named, there, "{tree}");
    for path in &there {
        let Some((above, _)) = path.rsplit_once('/') else { continue };
        let readme = file(world, &format!("{above}/README.md"));
        assert!(readme.contains(&format!("`{path}`")), "{path} in {readme}");
        for title in file(world, path).lines().filter_map(|line| line.strip_prefix("**Title:** ")) {
            assert!(readme.contains(title), "{title} in {readme}");
        }
    }
}

#[test]
fn reading_creates_nothing_and_the_first_lesson_creates_the_tree() {
    let world = world();
    let found = recall(&world, &json!({"question": "how do I find a slow test?"}));
    assert_eq!(found["insights"], json!([]));
    for args in [
        &["coder", "recall", "anything", "at", "all"][..],
        &["coder", "lint"],
        &["coder", "tidy"],
        &["coder", "list"],
        &["coder", "guide", "store"],
        &["coder", "guide", "recall"],
    ] {
        let ran = world.tome(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        assert!(!folder(&world).exists(), "{args:?}");
    }
    assert_eq!(run_tool(&world, "coder_memory_store", &json!({"insights": []})).code, 0);
    assert!(!folder(&world).exists(), "nothing to store");
    refused(&world, "coder_memory_store", &with(bisect(), "tags", json!([])), 2);
    assert!(!folder(&world).exists(), "what is refused makes nothing");

    let guide = world.tome(&["coder", "guide", "store"]).stdout;
    store(&world, &bisect());
    assert_eq!(
        notes(&world),
        [
            "episodic/episodic.md",
            "memory-recall-guide.md",
            "memory-store-guide.md",
            "procedural/procedural.md",
            "semantic/semantic.md",
        ]
    );
    assert_eq!(file(&world, "memory-store-guide.md"), guide);
    expect![[r"
        # Procedural insights

        Steps that worked and can be repeated.

        **Title:** Bisect a slow test suite
        **Description:** Halve the suite until one slow test is left.

        **Content:** Run half of the tests and take the time. Keep the slower half and halve it again. Five rounds found the one test that slept in a suite of forty.

        **Tags:** #success #testing #procedural
    "]]
    .assert_eq(&file(&world, "procedural/procedural.md"));
    check_readmes(&world);
    // An existing lesson is not stored twice.
    let again = store(&world, &bisect());
    assert_eq!(again[0]["decision"], "MERGE");
    assert_eq!(file(&world, "procedural/procedural.md").matches("**Title:**").count(), 1);
}

#[test]
fn the_store_guide_is_enforced_with_reasons() {
    let world = world();
    store(&world, &bisect());
    daemon_up(&world);
    let before = files_below(&folder(&world));
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
        let complaint = refused(&world, "coder_memory_store", &lesson, 2);
        assert!(complaint.contains(words), "{words} in {complaint}");
        let answer = wire(&world, "coder_memory_store", &lesson);
        assert_eq!((answer.is_error, answer.error_kind.as_str()), (true, "invalid"), "{lesson}");
    }
    assert_eq!(files_below(&folder(&world)), before);
    // All violations are reported at once.
    let bad = json!({"type": "semantic", "title": "x", "description": "", "content": "One.",
                     "tags": []});
    let complaint = refused(&world, "coder_memory_store", &bad, 2);
    for word in ["title", "description", "content", "#success"] {
        assert!(complaint.contains(word), "{word} in {complaint}");
    }
}

#[test]
fn lessons_are_created_merged_updated_and_contradicted() {
    let world = world();
    assert_eq!(store(&world, &bisect())[0]["decision"], "CREATE");
    let same = with(
        bisect(),
        "content",
        json!(
            "Run half of the tests and take the time. Keep the slower half and halve it again. \
               Write the name of the culprit into the issue."
        ),
    );
    assert_eq!(store(&world, &same)[0]["decision"], "MERGE");
    let text = file(&world, "procedural/procedural.md");
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
    assert_eq!(store(&world, &related)[0]["decision"], "UPDATE");
    let text = file(&world, "procedural/procedural.md");
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
    let stored = &store(&world, &opposite)[0];
    assert_eq!(
        (&stored["decision"], &stored["contradicts"]),
        (&json!("UPDATE"), &json!(true)),
        "{stored}"
    );
    let text = file(&world, "procedural/procedural.md");
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
    assert_eq!(store(&world, &other)[0]["decision"], "CREATE");
    check_readmes(&world);
    assert_eq!(world.tome(&["coder", "lint"]).code, 0);
    // Each step can be restored.
    let log = memory_json(&world, &["log", "procedural/procedural.md", "--scope", "coder"]);
    assert_eq!(log.len(), 5, "{log:?}");
    assert!(log.iter().all(|version| version["tool"] == "tome tool coder_memory_store"));
}

#[test]
fn similar_episodes_are_generalized_to_a_principle() {
    let world = world();
    let report = lesson(
        "episodic",
        "Midnight broke the report test",
        "A flaky test of the report came from the real clock.",
        "The test of the monthly report read the wall clock and failed at midnight. Nobody saw it \
         by day. A fake clock handed in as an argument made it steady.",
    );
    let invoice = lesson(
        "episodic",
        "Midnight broke the invoice job",
        "A flaky test of the invoice came from the real clock.",
        "The nightly invoice job failed when the wall clock passed midnight in its middle. Half of \
         the customers got two letters. A fake clock in the test showed it at once.",
    );
    store(&world, &report);
    let second = &store(&world, &invoice)[0];
    assert_eq!(second["decision"], "CREATE", "{second}");
    assert!(second["hints"].to_string().contains("semantic"), "{second}");
    let principle = lesson(
        "semantic",
        "Hand the clock in",
        "Code that reads the wall clock cannot be tested steadily.",
        "Both Midnight broke the report test and Midnight broke the invoice job had one cause. \
         Take the time as an argument. Tests then choose the hour they need.",
    );
    store(&world, &principle);
    let episodes = file(&world, "episodic/episodic.md");
    assert_eq!(episodes.matches("**Related:** Hand the clock in").count(), 2, "{episodes}");
    let principles = file(&world, "semantic/semantic.md");
    for title in ["Midnight broke the report test", "Midnight broke the invoice job"] {
        assert!(principles.contains(&format!("**Related:** {title}")), "{principles}");
    }
    assert_eq!(world.tome(&["coder", "lint"]).code, 0);
}

#[test]
fn recall_finds_lessons_and_reports_when_there_are_none() {
    let world = world();
    store(&world, &bisect());
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
        let stored = store(&world, &lesson("semantic", title, description, content));
        assert_eq!(stored[0]["decision"], "CREATE", "{stored:?}");
    }
    let found = recall(&world, &json!({"question": "How do I find a slow test in a suite?"}));
    assert_eq!(titles(&found), ["Bisect a slow test suite"]);
    let first = &found["insights"][0];
    assert_eq!(
        (&first["type"], &first["path"]),
        (&json!("procedural"), &json!("procedural/procedural.md"))
    );
    let text = first["text"].as_str().unwrap();
    assert!(
        text.contains("Five rounds found the one test") && text.contains("**Tags:**"),
        "{text}"
    );
    assert!(!first["why"].as_str().unwrap().is_empty());
    // The cited line is correct.
    let line = usize::try_from(first["line"].as_u64().unwrap()).unwrap();
    let there = file(&world, "procedural/procedural.md");
    assert_eq!(there.lines().nth(line - 1).unwrap(), "**Title:** Bisect a slow test suite");

    let keywords = json!({"keywords": ["measure", "slow", "clock"], "types": ["semantic"]});
    let found = recall(&world, &keywords);
    assert_eq!(found["insights"].as_array().unwrap().len(), 3, "at most three: {found}");
    let narrowed = json!({"keywords": ["bisect", "slow", "suite"], "types": ["episodic"]});
    assert_eq!(titles(&recall(&world, &narrowed)), Vec::<&str>::new(), "the type is kept to");

    for question in
        ["best recipe for pancakes with maple syrup", "кубернетес настройка", "日本の首都"]
    {
        let found = recall(&world, &json!({"question": question}));
        assert_eq!(found["insights"], json!([]), "{question}");
        let none = world.tome(&["coder", "recall", question]);
        assert_eq!((none.code, none.stderr.as_str()), (0, ""));
        assert!(none.stdout.starts_with("no lesson matches "), "{}", none.stdout);
    }
    let before = files_below(&folder(&world));
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
        let complaint = refused(&world, "coder_memory_recall", &arguments, 2);
        assert!(complaint.contains(words), "{words} in {complaint}");
    }
    assert_eq!(files_below(&folder(&world)), before, "recall changes nothing");
}

/// Words that no two lessons share, so that they are not merged.
fn numbered(n: usize) -> Value {
    let word = |salt: usize| {
        let mut left = n * 7 + salt * 1_009 + 11;
        let mut word = String::new();
        for _ in 0..6 {
            word.push(char::from(b'a' + u8::try_from(left % 26).unwrap()));
            left = left / 3 + salt * 31 + n * 17;
        }
        word
    };
    let words = |from: usize| (from..from + 5).map(word).collect::<Vec<_>>().join(" ");
    let mut given = lesson(
        "semantic",
        &format!("Title {n} {}", words(1)),
        &format!("About {}.", words(10)),
        &format!("First {}. Second {}. Third {}.", words(20), words(30), words(40)),
    );
    given["tags"] = json!(["success", if n.is_multiple_of(2) { "even" } else { "odd" }]);
    given
}

#[test]
fn a_file_that_grows_too_long_is_split_without_loss() {
    let world = world();
    let mut expected = BTreeSet::new();
    for chunk in (0..60).collect::<Vec<_>>().chunks(3) {
        let lessons: Vec<Value> = chunk.iter().map(|n| numbered(*n)).collect();
        let stored = store(&world, &json!({"insights": lessons}));
        for (lesson, stored) in lessons.iter().zip(stored) {
            assert_eq!(stored["decision"], "CREATE", "{stored}");
            let text = file(&world, stored["path"].as_str().unwrap());
            let title = lesson["title"].as_str().unwrap();
            assert!(text.contains(title), "{title} in {stored}");
            expected.insert(title.to_owned());
        }
    }
    assert_eq!(all_titles(&world), expected);
    let semantic: Vec<String> =
        notes(&world).into_iter().filter(|path| path.starts_with("semantic/")).collect();
    assert!(semantic.len() > 1, "{semantic:?}");
    for path in &semantic {
        assert!(path.matches('/').count() <= 2, "{path}");
        assert!(file(&world, path).matches("**Title:**").count() <= 40, "{path}");
    }
    check_readmes(&world);
    assert_eq!(world.tome(&["coder", "lint"]).code, 0);
    let all: String = semantic.iter().map(|path| file(&world, path)).collect();
    for n in 0..60 {
        for part in ["description", "content"] {
            assert!(all.contains(numbered(n)[part].as_str().unwrap()), "{n} {part}");
        }
    }
}

#[test]
fn lint_finds_problems_and_tidy_loses_nothing() {
    let world = world();
    store(&world, &bisect());
    let by_hand = "# Semantic insights\n\nMy own words, to be kept.\n\n\
        **Title:** Short one\n**Content:** One. Two.\n**Tags:** #odd\n\n---\n\n\
        **Title:** Bisect a slow test suite\n**Description:** Another type may have the title.\n\n\
        **Content:** One thing. Another thing. A third thing.\n\n**Tags:** #success #x #semantic\n";
    let double = file(&world, "procedural/procedural.md");
    let (_, entry) = double.split_once("**Title:**").unwrap();
    std::fs::write(
        folder(&world).join("procedural/procedural.md"),
        format!("{double}\n---\n\n**Title:**{entry}"),
    )
    .unwrap();
    std::fs::write(folder(&world).join("semantic/semantic.md"), by_hand).unwrap();
    std::fs::create_dir_all(folder(&world).join("semantic/too/deep")).unwrap();
    let deep = "**Title:** Lies too deep\n**Description:** It lies too deep.\n\n\
        **Content:** One deep thing. Two deep things. Three deep things.\n\n\
        **Tags:** #success #depth #semantic\n";
    std::fs::write(folder(&world).join("semantic/too/deep/deep.md"), deep).unwrap();

    let ran = world.tome(&["coder", "lint"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    for words in [
        "semantic/semantic.md:5: there is no description",
        "semantic/semantic.md:6: the content has 2 sentences",
        "semantic/semantic.md:7: neither #success nor #failure",
        "semantic/too/deep/deep.md:",
        "procedural/procedural.md:",
    ] {
        assert!(ran.stdout.contains(words), "{words} in {}", ran.stdout);
    }
    for finding in world.tome(&["coder", "lint", "--json"]).json_lines() {
        let path = finding["path"].as_str().unwrap();
        assert!(folder(&world).join(path).is_file(), "{finding}");
    }
    let before = all_titles(&world);
    let ran = world.tome(&["coder", "tidy"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(all_titles(&world), before);
    let all: String = notes(&world).into_iter().map(|path| file(&world, &path)).collect();
    for kept in [
        "My own words, to be kept.",
        "One. Two.",
        "Three deep things.",
        "Five rounds found",
        "A third thing.",
        "#odd",
    ] {
        assert!(all.contains(kept), "{kept} in {all}");
    }
    assert_eq!(file(&world, "procedural/procedural.md").matches("**Title:**").count(), 1);
    assert!(!folder(&world).join("semantic/too/deep").exists());
    check_readmes(&world);
    let left = world.tome(&["coder", "lint"]).stdout;
    assert!(!left.contains("deep") && left.contains("no description"), "{left}");
    let settled = files_below(&folder(&world));
    let again = world.tome(&["coder", "tidy"]).stdout;
    assert!(again.contains("nothing to tidy"), "{again}");
    assert_eq!(files_below(&folder(&world)), settled, "tidying twice changes nothing more");
}

#[test]
fn secrets_are_redacted_in_lessons() {
    let world = world();
    let secret = "AKIAIOSFODNN7EXAMPLE";
    let mut leaky = with(bisect(), "description", json!(format!("The key {secret} leaked.")));
    leaky["content"] = json!(format!("It was {secret} in a log. We changed it. Logs are cut now."));
    let ran = run_tool(&world, "coder_memory_store", &leaky);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("secrets were redacted in 2 texts"), "{}", ran.stderr);
    for path in files_below(&world.home()).into_keys().filter(|path| path.is_file()) {
        let bytes = std::fs::read(&path).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{}", path.display());
    }
}

/// The coder's notebook may also be changed by hand and by other tools.
#[test]
fn the_tree_follows_manual_edits() {
    let world = world();
    store(&world, &bisect());
    let moved = folder(&world).join("procedural/testing");
    std::fs::create_dir(&moved).unwrap();
    std::fs::rename(folder(&world).join("procedural/procedural.md"), moved.join("testing.md"))
        .unwrap();
    check_readmes(&world);
    let found = recall(&world, &json!({"question": "slow test suite"}));
    assert_eq!(found["insights"][0]["path"], "procedural/testing/testing.md");
    for (path, code) in [("notes.md", 2), ("semantic/a/b/c.md", 2), ("README.md", 2)] {
        let write = json!({"path": path, "content": "x", "scope": "coder"});
        refused(&world, "memory_write", &write, code);
    }
    let note = json!({"path": "semantic/errors/errors.md", "content": "words\n", "scope": "coder"});
    agent(&world, "memory_write", &note);
    check_readmes(&world);
    std::fs::remove_dir_all(&moved).unwrap();
    check_readmes(&world);
    assert_eq!(recall(&world, &json!({"question": "slow test suite"}))["insights"], json!([]));
    assert_eq!(
        world
            .tome(&["memory", "restore", "procedural/testing/testing.md", "--scope", "coder"])
            .code,
        0
    );
    assert_eq!(titles(&recall(&world, &json!({"question": "slow test suite"}))).len(), 1);
}
