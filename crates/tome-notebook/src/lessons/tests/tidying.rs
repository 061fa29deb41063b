//! Tidying a tree that people have edited.

use expect_test::expect;

use super::*;

fn tidied(tree: &LessonTree) -> (LessonTree, TidyReport) {
    let (changes, tidied) = tidy_lessons(tree);
    let mut after = tree.clone();
    apply(&mut after, changes);
    assert_eq!(tidy_lessons(&after).0, [], "a second run changes nothing");
    (after, tidied)
}

#[test]
fn entries_get_one_layout_and_loose_text_stays() {
    let tree = tree_of(&[(
        "episodic/episodic.md",
        "---\nowner: me\n---\n# Head\n\n\n**title**: One\n**Tags:** #B, a\n#success\n**Content:** Text\nwrapped.\n\
         A heading\n---\n\n\nmy notes\n\n***\n\n**Title:** Two\n\n\n**Content:**\n- a\n- b\n\nmore\n**Note:** hm\n",
    )]);
    let (after, tidied) = tidied(&tree);
    assert_eq!((tidied.entries_before, tidied.entries_after), (2, 2));
    assert_eq!(tidied.steps, ["reformatted 1 files"]);
    expect![[r#"
        ---
        owner: me
        ---
        # Head

        **Title:** One

        **Content:** Text
        wrapped.
        A heading

        **Tags:** #b #a #success #episodic

        ---

        my notes

        ***

        **Title:** Two

        **Content:**
        - a
        - b

        more

        **Note:** hm

        **Tags:** #episodic
    "#]]
    .assert_eq(&after["episodic/episodic.md"]);
}

#[test]
fn duplicates_are_merged_without_losing_sentences() {
    let entry = |title: &str, more: &str, tags: &str| {
        format!(
            "**Title:** {title}\n**Description:** Retries need a pause.\n\n**Content:** The server drops bursts \
             of requests. Wait longer after each failure. {more}\n\n**Tags:** {tags} #semantic\n"
        )
    };
    let tree = tree_of(&[
        ("semantic/http/http.md", &entry("Retry with backoff", "Add jitter.", "#http #success")),
        ("semantic/net.md", &entry("Retry with a backoff", "Cap the pause.", "#net #success")),
        ("semantic/old.md", &entry("Retry with backoff", "Cap the pause.", "#net #failure")),
    ]);
    let (after, tidied) = tidied(&tree);
    assert_eq!((tidied.entries_before, tidied.entries_after), (3, 2), "{:?}", tidied.steps);
    assert_eq!(after.keys().collect::<Vec<_>>(), ["semantic/http/http.md", "semantic/old.md"]);
    expect![[r#"
        **Title:** Retry with backoff
        **Description:** Retries need a pause.

        **Content:** The server drops bursts of requests. Wait longer after each failure. Add jitter. Cap the pause.

        **Also:** Retry with a backoff.

        **Tags:** #http #success #semantic #net
    "#]]
    .assert_eq(&after["semantic/http/http.md"]);
}

#[test]
fn deep_files_move_up_and_overlong_files_are_split() {
    let entry = |number: usize| {
        format!("**Title:** T{number}\n\n**Content:** C{number}.\n\n**Tags:** #t{}\n\n", number % 4)
    };
    let long: String = (0..100).map(entry).collect();
    let tree = tree_of(&[
        ("procedural/a/b/c/d.md", "**Title:** Deep\n"),
        ("procedural/a/b-c-d.md", "in the way"),
        ("procedural/long.md", &format!("my head\n\n{long}")),
        ("procedural/a/long.md", &long.replace(" C", " D").replace(" T", " U")),
    ]);
    let (after, tidied) = tidied(&tree);
    assert_eq!((tidied.entries_before, tidied.entries_after), (201, 201), "{:?}", tidied.steps);
    assert_eq!(
        after.keys().collect::<Vec<_>>(),
        [
            "procedural/a/b-c-d-2.md",
            "procedural/a/b-c-d.md",
            "procedural/a/long-2.md",
            "procedural/a/long-3.md",
            "procedural/a/long.md",
            "procedural/long.md",
            "procedural/t0/t0.md",
            "procedural/t1/t1.md",
            "procedural/t2/t2.md"
        ]
    );
    assert!(after["procedural/long.md"].starts_with("my head\n\n**Title:** T3\n"));
}

#[test]
fn an_unclosed_code_block_swallows_no_entries() {
    let odd = "**Title:** One\n```\n**Title:** Example\n```\n**Content:** Text.\n```\n";
    let other = "**Title:** Two\n**Content:** Else.\n\n```\ncode\n```\n\n**Tags:** #x\n";
    let tree = tree_of(&[("semantic/a.md", odd), ("semantic/b.md", other)]);
    let (after, tidied) = tidied(&tree);
    assert_eq!((tidied.entries_before, tidied.entries_after), (2, 2));
    assert_eq!((after["semantic/a.md"].as_str(), after["semantic/b.md"].as_str()), (odd, other));
}
