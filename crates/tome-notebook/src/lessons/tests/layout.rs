//! READMEs, guides and lint.

use expect_test::expect;

use super::*;

const GOOD: &str = "**Title:** A title\n**Description:** One sentence.\n\n**Content:** One. Two. Three.\n\n\
                    **Tags:** #rust #success #semantic\n";

fn problems(path: &str, text: &str) -> String {
    let tree = tree_of(&[(path, text)]);
    let found = lint(&tree, &right_readmes(&tree));
    found.iter().map(|found| format!("{}: {}\n", found.line, found.problem)).collect()
}

#[test]
fn valid_layout_passes_lint() {
    assert_eq!(problems("semantic/semantic.md", GOOD), "");
    assert_eq!(problems("semantic/topic/topic.md", &format!("# Head\n\n{GOOD}")), "");
    let seeded: LessonTree =
        initial_files().into_iter().map(|(path, text)| (path.into(), text.into())).collect();
    assert_eq!(lint(&seeded, &right_readmes(&seeded)), []);
}

#[test]
fn every_rule_is_checked_with_its_line() {
    let bad = "# Head\n\n**Title:** X\n\n**Description:** One. Two.\n**Content:** One.\n- two\n**Tags:** #rust \
               #C++\n**Title:** A title\n**Description:** One sentence.\n\n**Content:** One. Two. Three.\n\n\
               **Tags:** #failure #success #procedural\n\nprose\n\n**Tags:** #stray\n";
    expect![[r#"
        3: the title has 1 characters: it needs 3 to 100
        5: the description has 2 sentences: it needs exactly one; move the rest into the content
        5: the description must be on the line below the title
        6: the content has a list, heading, table, quote or code block: write plain sentences
        6: the content has 2 sentences: it needs 3 to 5
        6: there is no blank line above **content:**
        8: neither #success nor #failure is among the tags: add the one that applies
        8: the tag of its type is missing: add #semantic
        8: the tag "c++" is invalid: use letters, digits, - and _, at most 40
        8: there is no blank line above **tags:**
        9: it is not separated from the previous entry: add a --- line between blank lines
        14: both #success and #failure are among the tags: keep one
        14: the tag of its type is missing: add #semantic
        14: the tag #procedural names another type than semantic: remove it or change the type
        18: **Tags:** is outside an entry: an entry begins with **Title:** and a title, and has only its fields between that and **Tags:**
    "#]]
    .assert_eq(&problems("semantic/semantic.md", bad));
}

#[test]
fn locations_duplicates_and_readmes_are_checked() {
    let other = GOOD.replace("One. Two. Three.", "Zebras graze. Yaks climb. Gnus run.");
    let tree = tree_of(&[
        ("misc/x.md", "text"),
        ("memory-store-guide.md", "guide"),
        ("semantic/a.md", &format!("{GOOD}\n---\n\n{other}")),
        ("semantic/a/b/deep.md", GOOD),
    ]);
    let mut readmes = right_readmes(&tree);
    readmes.insert("README.md".into(), "old".into());
    readmes.remove("semantic/README.md");
    readmes.insert("procedural/README.md".into(), "stray".into());
    let found: String = lint(&tree, &readmes)
        .iter()
        .map(|found| format!("{}:{} {}\n", found.path, found.line, found.problem))
        .collect();
    expect![[r#"
        README.md:0 it is out of date: the next write rebuilds it
        misc/x.md:0 it is outside episodic/, procedural/ and semantic/, where recall does not find it: move it into one of them
        procedural/README.md:0 its folder has no lessons: delete it
        semantic/README.md:0 it is missing: the next write creates it
        semantic/a.md:10 it has the same title as "A title" (semantic/a.md, line 1): give it a different title
        semantic/a/b/deep.md:0 it is more than 2 folders deep: move it up, or run `tome coder tidy`
        semantic/a/b/deep.md:1 it says the same as "A title" (semantic/a.md, line 1): run `tome coder tidy`
    "#]]
    .assert_eq(&found);
}

#[test]
fn readmes_list_the_tree() {
    let mut tree: LessonTree =
        initial_files().into_iter().map(|(path, text)| (path.into(), text.into())).collect();
    tree.insert("semantic/rust/rust.md".into(), GOOD.into());
    let made = right_readmes(&tree);
    assert_eq!(
        made.keys().collect::<Vec<_>>(),
        [
            "README.md",
            "episodic/README.md",
            "procedural/README.md",
            "semantic/README.md",
            "semantic/rust/README.md"
        ]
    );
    expect![[r#"
        # The coder's memory

        Lessons across projects. Generated from the files below: edit those, not this one. `memory-recall-guide.md` explains how to look something up, `memory-store-guide.md` how to add to it.

        - `memory-recall-guide.md`
        - `memory-store-guide.md`
        - `episodic/` (0 insights): concrete events and what they taught
          - `episodic/episodic.md` (0 insights)
        - `procedural/` (0 insights): steps that worked and can be repeated
          - `procedural/procedural.md` (0 insights)
        - `semantic/` (1 insight): principles that hold across projects
          - `semantic/rust/rust.md` (1 insight): A title
          - `semantic/semantic.md` (0 insights)
    "#]]
    .assert_eq(&made["README.md"]);
    expect![[r#"
        # semantic/rust

        Generated from the files below: edit those.

        - `semantic/rust/rust.md` (1 insight)
          - A title: One sentence.
    "#]]
    .assert_eq(&made["semantic/rust/README.md"]);
    assert_eq!(right_readmes(&LessonTree::new()), BTreeMap::new());
}

#[test]
fn the_examples_of_the_guides_match_stored_entries() {
    for (name, text) in guides() {
        let lines = text.lines().count();
        assert!((80..=160).contains(&lines), "{name} has {lines} lines");
        assert_eq!(extract_head(text), FileHead::default(), "examples are fenced in {name}");
        for word in ["coder_memory_store", "coder_memory_recall", "tome coder", "README.md"] {
            assert!(text.contains(word), "{name} does not mention {word}");
        }
    }
    let (_, guide) = guides()[1];
    let example = guide.split("```markdown\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(problems("procedural/procedural.md", example), "");
    let entry = &placement::collect_file_entries("procedural/procedural.md", example)[0].entry;
    assert_eq!(entry.render(), example, "the example has the layout that Tome writes");
}
