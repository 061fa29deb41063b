//! Properties that hold for arbitrary file contents.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use lesson_file::LessonFile;
use sentence::normalized_sentences;

/// Lines as people and programs write them, many of them nearly valid.
fn line() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "",
        "",
        "",
        "---",
        "-----",
        "***",
        "# Head",
        "## Sub",
        "```",
        "```rust",
        "~~~",
        "<!--",
        "<!-- x",
        "-->",
        "**Title:** One",
        "**Title:** Two",
        "**Title:** Retry with backoff",
        "**Title:**",
        "**title**: Odd",
        "**Description:** Short.",
        "**Description:**",
        "**Content:** First one. Second one. Third one.",
        "**Content:** Retry slowly. Never hurry. Cap the pause.",
        "**Content:**",
        "**Content:** ```x",
        "**Content:** <!-- y",
        "- item",
        "1. item",
        "prose here.",
        "   **Tags:** #a #b",
        "**Tags:** #success #rust",
        "**Tags:** failure, #Rust",
        "#more #tags",
        "**Updated [2026-01-02]:** Later news.",
        "**Related:** One",
        "**Previous Approach:** Was so.",
        "**Note:** hm",
        "    indented",
        "> quote",
        "中文句子。另一句。",
        "\u{feff}**Title:** Bom",
        "**bold** text",
        "|a|b|",
        "tail…",
    ])
    .prop_map(str::to_owned);
    prop_oneof![9 => fixed, 1 => "[ -~]{0,30}", 1 => "\\PC{0,12}"]
}

fn junk() -> impl Strategy<Value = String> {
    let end = prop::sample::select(vec!["\n", "\n", "\n", "\r\n"]);
    (prop::collection::vec(line(), 0..40), end, any::<bool>())
        .prop_map(|(lines, end, last)| lines.join(end) + if last { end } else { "" })
}

/// An entry in the guide's layout, built from few words so that some are similar.
fn entry() -> impl Strategy<Value = String> {
    let word =
        || prop::sample::select(vec!["lock", "file", "retry", "cache", "never", "token", "锁"]);
    let sentence = || (word(), word(), word()).prop_map(|(a, b, c)| format!("The {a} {b} is {c}."));
    let tags = prop::sample::subsequence(vec!["success", "failure", "rust", "git", "ops"], 1..4);
    (word(), word(), sentence(), prop::collection::vec(sentence(), 1..7), tags).prop_map(
        |(a, b, description, content, tags)| {
            let content = content.join(" ");
            let tags = tags.join(" #");
            format!(
                "**Title:** {a} {b}\n**Description:** {description}\n\n**Content:** {content}\n\n**Tags:** #{tags}\n"
            )
        },
    )
}

fn file() -> impl Strategy<Value = String> {
    let entries =
        || prop::collection::vec(entry(), 0..6).prop_map(|entries| entries.join("\n---\n\n"));
    prop_oneof![
        2 => entries(),
        2 => junk(),
        1 => (entries(), junk()).prop_map(|(entries, junk)| format!("{entries}\n---\n\n{junk}")),
        1 => (junk(), 38usize..60).prop_map(|(junk, count)| {
            let many = (0..count).map(|n| format!("**Title:** N{n}\n\n**Content:** C{n}.\n\n**Tags:** #t{}\n\n", n % 9));
            format!("{junk}\n\n---\n\n{}", many.collect::<String>())
        }),
    ]
}

fn tree() -> impl Strategy<Value = LessonTree> {
    let path = prop::sample::select(vec![
        "semantic/semantic.md",
        "semantic/a.md",
        "semantic/A.md",
        "semantic/rust/rust.md",
        "semantic/rust/x/y.md",
        "semantic/rust/x/z/y.md",
        "semantic/rust/x-y.md",
        "episodic/episodic.md",
        "procedural/t1/t1.md",
        "misc.md",
        "misc/a/b/c.md",
        "memory-store-guide.md",
        "procedural/a-2.md",
        "procedural/a.md",
    ])
    .prop_map(str::to_owned);
    prop::collection::btree_map(path, file(), 0..6)
}

fn draft() -> impl Strategy<Value = LessonDraft> {
    let kind = prop::sample::select(LessonKind::ALL.to_vec());
    let word = || {
        prop::sample::select(vec![
            "lock", "file", "retry", "cache", "token", "queue", "never", "锁",
        ])
    };
    let sentence = || (word(), word(), word()).prop_map(|(a, b, c)| format!("The {a} {b} is {c}."));
    let topic = prop::option::of(prop::sample::select(vec!["rust", "a", "x-y"]));
    let outcome = prop::sample::select(vec!["success", "failure"]);
    let title = prop_oneof![
        3 => (word(), word()).prop_map(|(a, b)| format!("{a} the {b}")),
        1 => "[a-zA-Z]{3}[ -~]{0,30}[a-z]",
        1 => Just("Use locks, e.g.".to_owned()),
    ];
    (kind, title, sentence(), prop::collection::vec(sentence(), 3..=5), word(), outcome, topic)
        .prop_map(|(kind, title, description, content, tag, outcome, topic)| LessonDraft {
            kind,
            title,
            description,
            content: content.join(" "),
            tags: vec![tag.to_owned(), outcome.to_owned()],
            topic: topic.map(str::to_owned),
        })
}

/// Lines of loose text that are not layout; these must never be lost.
fn loose_lines(tree: &LessonTree) -> Vec<String> {
    let pages = tree.values().map(|text| LessonFile::parse(text));
    let loose =
        pages.flat_map(|page| page.blocks.into_iter().filter(|block| block.entry.is_none()));
    let text: Vec<String> = loose.map(|block| block.raw).collect();
    let mut lines: Vec<String> = text
        .iter()
        .flat_map(|raw| raw.lines())
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty() && !lesson_file::is_separator(line))
        .collect();
    lines.sort();
    lines
}

/// Every sentence and every tag of every entry.
fn statements(tree: &LessonTree) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for known in all_entries(tree) {
        let entry = known.entry;
        let texts = [entry.title, entry.description, entry.content];
        let texts = texts.into_iter().chain(entry.remarks.into_iter().map(|remark| remark.text));
        all.extend(texts.flat_map(|text| normalized_sentences(&text)));
        all.extend(entry.tags.into_iter().map(|tag| format!("#{tag}")));
    }
    all
}

fn after(tree: &LessonTree, changes: &[LessonFileChange]) -> LessonTree {
    let mut tree = tree.clone();
    apply(&mut tree, changes.to_vec());
    tree
}

/// Trees are large: a third of the default number of cases keeps the run short.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases / 3, failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn blocks_add_up_to_the_file(text in prop_oneof![file(), ".{0,200}", "[\\s\\S]{0,200}"]) {
        let page = LessonFile::parse(&text);
        prop_assert_eq!(page.render(), text.clone());
        let mut line = 1;
        for block in &page.blocks {
            prop_assert_eq!(block.line, line);
            line += block.raw.matches('\n').count();
        }
    }

    #[test]
    fn entries_round_trip(text in file()) {
        let entries = placement::collect_file_entries("semantic/x.md", &text).into_iter();
        for known in entries.filter(|known| !known.entry.has_multiline_block()) {
            let again = known.entry.render();
            let page = LessonFile::parse(&again);
            prop_assert_eq!(page.entries().count(), 1);
            prop_assert_eq!(page.blocks[0].entry.as_ref().unwrap().render(), again);
        }
    }

    #[test]
    fn arranging_is_idempotent(text in file()) {
        let once = LessonFile::parse(&text).render_arranged();
        prop_assert_eq!(LessonFile::parse(&once).render_arranged(), once);
    }

    #[test]
    fn tidying_loses_nothing_and_is_idempotent(before in tree()) {
        let (changes, tidied) = tidy_lessons(&before);
        let tidy_tree = after(&before, &changes);
        prop_assert_eq!(tidied.entries_before, all_entries(&before).len());
        prop_assert_eq!(tidied.entries_after, all_entries(&tidy_tree).len());
        let (lost, now) = (statements(&before), statements(&tidy_tree));
        let lost: Vec<_> = lost.difference(&now).collect();
        prop_assert!(lost.is_empty(), "lost {:?}\n{:#?}\n{:#?}", lost, before, tidy_tree);
        let headings: Vec<String> = loose_lines(&tidy_tree);
        for line in loose_lines(&before) {
            prop_assert!(headings.contains(&line), "lost {:?}\n{:#?}\n{:#?}", line, before, tidy_tree);
        }
        let again = tidy_lessons(&tidy_tree).0;
        prop_assert!(again.is_empty(), "{:#?}\n{:#?}", tidy_tree, again);
        let deep = |path: &&String| LessonKind::from_path(path).is_some() && path.matches('/').count() > 2;
        prop_assert_eq!(tidy_tree.keys().find(deep), None);
    }

    #[test]
    fn storing_loses_nothing_and_is_idempotent(
        before in tree(),
        drafts in prop::collection::vec(draft(), 1..=3),
    ) {
        let (changes, stored) = store_lessons(&before, &drafts, "2026-11-15").unwrap();
        let stored_tree = after(&before, &changes);
        let now = statements(&stored_tree);
        // A contradicted outcome is mentioned in the previous approach instead.
        let outcome = |statement: &&String| matches!(statement.as_str(), "#success" | "#failure");
        let known = statements(&before);
        let lost: Vec<_> = known.difference(&now).filter(|statement| !outcome(statement)).collect();
        prop_assert!(lost.is_empty(), "lost {:?}\n{:#?}\n{:#?}", lost, before, stored_tree);
        prop_assert!(loose_lines(&before).iter().all(|line| loose_lines(&stored_tree).contains(line)));
        for (draft, stored) in drafts.iter().zip(&stored) {
            let texts = [&draft.title, &draft.description, &draft.content];
            let mut sentences = texts.iter().flat_map(|text| normalized_sentences(text));
            let missing = sentences.find(|sentence| !now.contains(sentence));
            prop_assert_eq!(missing, None, "{:#?}", stored_tree);
            let there = placement::collect_file_entries(&stored.path, &stored_tree[&stored.path]);
            // A later draft of the call may have replaced it under another title.
            prop_assert!(drafts.len() > 1 || there.iter().any(|known| known.entry.title == stored.title));
        }
        if let [draft] = drafts.as_slice() {
            let (changes, stored) = store_lessons(&stored_tree, std::slice::from_ref(draft), "2026-12-01").unwrap();
            prop_assert!(changes.is_empty(), "{:#?}\n{:#?}", stored_tree, changes);
            prop_assert_eq!(stored[0].decision, StoreDecision::Merge);
        }
    }

    #[test]
    fn stored_lessons_break_no_layout_rule(drafts in prop::collection::vec(draft(), 1..12)) {
        let mut tree = LessonTree::new();
        for draft in drafts {
            put(&mut tree, &[draft]);
        }
        let found = lint(&tree, &right_readmes(&tree));
        prop_assert!(found.iter().all(|found| found.problem.contains("says the same")), "{:#?}\n{:#?}", found, tree);
    }

    #[test]
    fn every_duplicate_pair_is_found(texts in prop::collection::vec(entry(), 2..30)) {
        let text = texts.join("\n---\n\n");
        let profiles: Vec<_> = placement::collect_file_entries("semantic/x.md", &text)
            .iter()
            .map(|known| similarity::LessonProfile::from_entry(&known.entry))
            .collect();
        let mut neighbors = similarity::SimilarityIndex::new(&profiles);
        for (number, profile) in profiles.iter().enumerate() {
            let similar = neighbors.find_same(profile, &profiles);
            for (other, earlier) in profiles.iter().enumerate().take(number) {
                let same = profile.similarity(earlier) > limits::SAME_SIMILARITY;
                prop_assert_eq!(same, similar.contains(&other), "{} and {} of\n{}", number, other, text);
            }
            neighbors.insert(number, profile);
        }
    }

    #[test]
    fn readmes_list_exactly_the_files(tree in tree()) {
        let made = right_readmes(&tree);
        for (readme, text) in &made {
            let folder = readme.strip_suffix("README.md").unwrap();
            let listed: Vec<&str> = text
                .lines()
                .filter_map(|line| line.trim_start().strip_prefix("- `")?.split_once('`'))
                .map(|(path, _)| path)
                .filter(|path| path.ends_with(".md"))
                .collect();
            let there: BTreeSet<&str> =
                tree.keys().filter(|path| path.starts_with(folder)).map(String::as_str).collect();
            prop_assert_eq!(listed.len(), there.len());
            prop_assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), there);
        }
        prop_assert_eq!(made.contains_key("README.md"), !tree.is_empty());
    }

    #[test]
    fn sections_match_their_lines(tree in tree()) {
        for text in tree.values() {
            let mut end = 0;
            for section in split_lessons(text) {
                prop_assert!(section.range.start >= end && section.range.end <= text.len());
                end = section.range.end;
                let rest: Vec<&str> = text.split_inclusive('\n').skip(section.line - 1).collect();
                prop_assert!(rest.concat().starts_with(text.get(section.range.clone()).unwrap()));
                for markup in &section.markup {
                    prop_assert!(section.range.start <= markup.start && markup.end <= end);
                    prop_assert!(text.get(markup.clone()).unwrap().contains("**"));
                }
            }
            prop_assert!(text.get(end..).unwrap().trim().is_empty());
        }
    }

    #[test]
    fn any_text_is_handled_without_panic(text in "\\PC{0,300}", more in "[\\s\\S]{0,300}") {
        let tree = tree_of(&[("semantic/a.md", &text), ("x", &more), ("semantic/b/c/d/e.md", &more)]);
        lint(&tree, &BTreeMap::new());
        for section in split_lessons(&text).into_iter().chain(split_lessons(&more)) {
            prop_assert!(section.markup.iter().all(|markup| markup.end <= section.range.end));
        }
        prop_assert_eq!(is_same_lesson(&text, &more), is_same_lesson(&more, &text));
        let odd = LessonDraft {
            kind: LessonKind::Semantic,
            title: text.clone(),
            description: more.clone(),
            content: text.clone(),
            tags: vec![more.clone(), text],
            topic: Some(more),
        };
        drop(store_lessons(&tree, &[odd], ""));
    }
}
