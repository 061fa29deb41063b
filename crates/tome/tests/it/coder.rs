//! The coder's lessons through the shipped program: the first lesson, lint and tidy, secrets.

use std::collections::BTreeSet;
use std::path::PathBuf;

use expect_test::expect;
use serde_json::{Value, json};
use tome_testkit::World;

use crate::acceptance::{refused, run_tool};
use crate::notes_safety::files_below;
use crate::support::world;

fn folder(world: &World) -> PathBuf {
    world.home().join("coder")
}

fn file(world: &World, path: &str) -> String {
    std::fs::read_to_string(folder(world).join(path)).unwrap()
}

/// A lesson that satisfies every rule.
fn bisect() -> Value {
    json!({
        "type": "procedural", "title": "Bisect a slow test suite", "tags": ["success", "testing"],
        "description": "Halve the suite until one slow test is left.",
        "content": "Run half of the tests and take the time. Keep the slower half and halve it again. \
                    Five rounds found the one test that slept in a suite of forty.",
    })
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
