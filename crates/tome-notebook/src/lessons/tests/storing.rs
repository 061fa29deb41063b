//! Storing lessons: the decisions and the resulting files.

use std::slice::from_ref;

use expect_test::expect;

use super::*;
use LessonKind::{Episodic, Procedural, Semantic};

const LOCKS: &str = "A standard mutex guard held across an await blocks the whole worker thread. Other \
                     tasks then wait for a thread that waits for them. Drop the guard before awaiting.";

fn locks() -> LessonDraft {
    draft(Semantic, "Hold no mutex across an await", LOCKS, &["rust", "async", "failure"])
}

#[test]
fn the_first_lesson_creates_its_file() {
    let mut tree = LessonTree::new();
    let stored = put(&mut tree, &[locks()]);
    assert_eq!(stored[0].decision, StoreDecision::Create);
    assert_eq!(stored[0].path, "semantic/semantic.md");
    assert_eq!(tree.len(), 1);
    expect![[r#"
        # Semantic insights

        Principles that hold across projects.

        **Title:** Hold no mutex across an await
        **Description:** What to know about Hold no mutex across an await.

        **Content:** A standard mutex guard held across an await blocks the whole worker thread. Other tasks then wait for a thread that waits for them. Drop the guard before awaiting.

        **Tags:** #rust #async #failure #semantic
    "#]]
    .assert_eq(&tree["semantic/semantic.md"]);
}

#[test]
fn an_invalid_lesson_rejects_the_whole_call() {
    let mut bad = locks();
    bad.tags = vec!["rust".into(), "async".into()];
    let refused = store_lessons(&LessonTree::new(), &[locks(), bad], "2026-11-15").unwrap_err();
    assert_eq!(refused.len(), 1);
    assert!(refused[0].starts_with("insight 2: neither #success nor #failure"), "{refused:?}");
}

#[test]
fn storing_the_same_lesson_twice_changes_nothing() {
    let mut tree = LessonTree::new();
    put(&mut tree, &[locks()]);
    let (changes, stored) = store_lessons(&tree, &[locks()], "2026-12-01").unwrap();
    assert_eq!(changes, []);
    assert_eq!(stored[0].decision, StoreDecision::Merge);
    assert!(stored[0].why.contains("already stored"), "{}", stored[0].why);
    let stored = put(&mut LessonTree::new(), &[locks(), locks()]);
    assert_eq!(stored[1].decision, StoreDecision::Merge);
}

#[test]
fn a_very_similar_lesson_strengthens_the_entry() {
    let mut tree = LessonTree::new();
    put(&mut tree, &[locks()]);
    let mut again = locks();
    again.title = "Do not hold a mutex across await".into();
    again.content = format!("{LOCKS} Clippy has a lint for it.");
    again.tags.push("clippy".into());
    let stored = put(&mut tree, &[again.clone()]);
    assert_eq!((stored[0].decision, stored[0].contradicts), (StoreDecision::Merge, false));
    let known = all_entries(&tree);
    assert_eq!(known.len(), 1);
    assert!(known[0].entry.content.ends_with("Clippy has a lint for it."));
    assert!(known[0].entry.has_tag("clippy"));
    assert!(known[0].entry.render().contains("**Updated [2026-11-15]:** Do not hold a mutex"));
    assert_eq!(store_lessons(&tree, &[again], "2026-11-16").unwrap().0, []);
}

#[test]
fn a_related_lesson_is_added_with_its_date() {
    let mut tree = LessonTree::new();
    put(&mut tree, &[locks()]);
    let related = draft(
        Semantic,
        "Hold no mutex across an await",
        "The async mutex of the runtime may be held there. It costs more than a plain one. Measure \
         before choosing it.",
        &["rust", "failure"],
    );
    let stored = put(&mut tree, from_ref(&related));
    assert_eq!(stored[0].decision, StoreDecision::Update);
    expect![[r#"
        **Title:** Hold no mutex across an await
        **Description:** What to know about Hold no mutex across an await.

        **Content:** A standard mutex guard held across an await blocks the whole worker thread. Other tasks then wait for a thread that waits for them. Drop the guard before awaiting.

        **Updated [2026-11-15]:** The async mutex of the runtime may be held there. It costs more than a plain one. Measure before choosing it.

        **Tags:** #rust #async #failure #semantic
    "#]]
    .assert_eq(&all_entries(&tree)[0].entry.render());
    assert_eq!(store_lessons(&tree, &[related], "2026-11-16").unwrap().0, []);
}

#[test]
fn a_contradiction_keeps_the_previous_approach() {
    let mut tree = LessonTree::new();
    let squash = |title: &str, outcome: &str| {
        draft(
            Procedural,
            title,
            "Squash the commits of a branch before merging it. The history of main gets short. Reverting \
             takes one commit.",
            &["git", outcome],
        )
    };
    put(&mut tree, &[squash("Always squash commits before merging", "success")]);
    let other = squash("Never squash commits before merging", "failure");
    let stored = put(&mut tree, from_ref(&other));
    assert!(stored[0].contradicts);
    assert_eq!(stored[0].decision, StoreDecision::Update);
    assert_eq!(stored[0].title, "Never squash commits before merging");
    expect![[r#"
        **Title:** Never squash commits before merging
        **Description:** What to know about Never squash commits before merging.

        **Content:** Squash the commits of a branch before merging it. The history of main gets short. Reverting takes one commit.

        **Updated [2026-11-15]:** This replaces the previous approach.

        **Previous Approach:** Always squash commits before merging. What to know about Always squash commits before merging. Squash the commits of a branch before merging it. The history of main gets short. Reverting takes one commit. It was tagged #success.

        **Tags:** #git #failure #procedural #reconsolidated
    "#]]
    .assert_eq(&all_entries(&tree)[0].entry.render());
    assert_eq!(store_lessons(&tree, &[other], "2026-11-16").unwrap().0, []);
}

#[test]
fn another_type_or_subject_is_another_entry() {
    let mut tree = LessonTree::new();
    put(&mut tree, &[locks()]);
    let mut other_kind = locks();
    other_kind.kind = Procedural;
    let other = draft(
        Semantic,
        "Name branches after the issue",
        "A name is typed often. Short ones are typed right. Numbers say little.",
        &["git", "success"],
    );
    let stored = put(&mut tree, &[other_kind, other]);
    assert!(stored.iter().all(|stored| stored.decision == StoreDecision::Create), "{stored:?}");
    assert_eq!(all_entries(&tree).len(), 3);
}

fn flaky(title: &str, which: &str, cause: &str) -> LessonDraft {
    let mut made = draft(
        Episodic,
        title,
        &format!("The {which} suite failed on every third run. {cause} Port zero solved it."),
        &["testing", "failure"],
    );
    made.description = format!("Why {which} was red now and then.");
    made
}

#[test]
fn similar_episodes_are_generalized_and_linked_both_ways() {
    let mut tree = LessonTree::new();
    let (one, other) = ("Upload tests shared a port", "Login tests raced for a port");
    let upload = flaky(one, "upload", "Another program on the build server had taken the number.");
    assert_eq!(put(&mut tree, &[upload])[0].hints, Vec::<String>::new());
    let login = flaky(other, "login", "Both workers of the runner were given one address.");
    let second = put(&mut tree, &[login]);
    assert_eq!(second[0].decision, StoreDecision::Create, "{}", second[0].why);
    let hint = &second[0].hints[0];
    assert!(hint.contains("semantic insight"), "{hint}");
    assert!(hint.contains(one) && hint.contains(other), "{hint}");
    let principle = draft(
        Semantic,
        "Let the system choose numbers",
        &format!(
            "Fixed ones collide as soon as two run. It was so in {one} and {other}. Ask for zero."
        ),
        &["testing", "success"],
    );
    let stored = put(&mut tree, from_ref(&principle));
    assert!(stored[0].hints[0].contains("linked both ways"), "{:?}", stored[0].hints);
    for known in placement::collect_entries(&tree, Episodic) {
        let text = known.entry.render();
        assert!(text.contains("**Related:** Let the system choose numbers"), "{text}");
    }
    let text = &tree["semantic/semantic.md"];
    assert!(text.contains(&format!("**Related:** {one}\n\n**Related:** {other}\n")), "{text}");
    assert_eq!(store_lessons(&tree, &[principle], "2026-11-16").unwrap().0, []);
    assert_eq!(lint(&tree, &right_readmes(&tree)), []);
}

/// A lesson that is similar to no other.
fn unlike(number: usize, tag: &str) -> LessonDraft {
    let word = |salt: usize| {
        let letters = "bcdfghjklmnprtvwz".as_bytes();
        let pick =
            |divisor: usize| char::from(letters[(number * 7 + salt * 5 + number / divisor) % 17]);
        format!("{}o{}a{}u{number}x{salt}", pick(1), pick(3), pick(11))
    };
    let sentence =
        |salt: usize| format!("The {} {} the {}.", word(salt), word(salt + 1), word(salt + 2));
    let content = format!("{} {} {}", sentence(1), sentence(4), sentence(7));
    let mut made =
        draft(Procedural, &format!("{} {}", word(20), word(21)), &content, &[tag, "success"]);
    made.description = format!("About {} and {}.", word(22), word(23));
    made
}

#[test]
fn a_full_file_is_split_into_topics_and_numbered_files_without_loss() {
    for tags in [&["alone"][..], &["git", "rust", "shell"]] {
        let mut tree = LessonTree::new();
        for number in 0..130 {
            let stored = put(&mut tree, &[unlike(number, tags[number % tags.len()])]);
            assert_eq!(stored[0].decision, StoreDecision::Create, "{}", stored[0].why);
            let there = placement::collect_file_entries(&stored[0].path, &tree[&stored[0].path]);
            assert!(there.iter().any(|known| known.entry.title == stored[0].title));
        }
        let mut titles: Vec<_> =
            all_entries(&tree).into_iter().map(|known| known.entry.title).collect();
        titles.sort();
        let mut expected: Vec<_> = (0..130).map(|number| unlike(number, "x").title).collect();
        expected.sort();
        assert_eq!(titles, expected);
        assert!(tree.len() > 3, "{:?}", tree.keys());
        assert!(tree.keys().all(|path| path.matches('/').count() <= 2), "{:?}", tree.keys());
        assert_eq!(lint(&tree, &right_readmes(&tree)), []);
    }
}

#[test]
fn a_topic_has_a_folder_of_its_own() {
    let mut tree = LessonTree::new();
    let mut made = locks();
    made.topic = Some("async".into());
    assert_eq!(put(&mut tree, &[made])[0].path, "semantic/async/async.md");
    assert!(tree["semantic/async/async.md"].starts_with("# async\n\n**Title:** "));
}

#[test]
fn a_hand_edited_file_keeps_every_other_byte() {
    let junk = "notes of mine\r\n\r\n**Tags:** lost\r\n\r\n**Title:** Mine\r\nno fields\r\n\r\n```\r\n**Title:** \
                example\r\n```\r\nend";
    let mut tree = tree_of(&[("semantic/semantic.md", junk)]);
    put(&mut tree, &[locks()]);
    let text = &tree["semantic/semantic.md"];
    assert!(text.starts_with(junk), "{text}");
    assert!(
        text.ends_with("#semantic\r\n") && !text.replace("\r\n", "").contains('\n'),
        "{text:?}"
    );
    assert_eq!(all_entries(&tree).last().unwrap().entry.title, locks().title);
}
