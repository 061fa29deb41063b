//! Recalling insights: matches, ranking, and empty answers.

use super::*;
use InsightKind::{Episodic, Procedural, Semantic};

fn library() -> InsightTree {
    let mut tree = InsightTree::new();
    let insights = [
        draft(
            Semantic,
            "Hold no mutex across an await",
            "A guard held across an await blocks the worker thread. Tasks then wait for ever. Drop it \
             first.",
            &["rust", "async", "failure"],
        ),
        draft(
            Procedural,
            "Release a crate",
            "Bump the version in the manifest. Run cargo publish with the dry run flag. Tag the commit \
             afterwards.",
            &["rust", "release", "success"],
        ),
        draft(
            Episodic,
            "Deploy failed on a full disk",
            "The image could not be unpacked on the server. Old logs had filled the disk. Rotating them \
             solved it.",
            &["ops", "failure"],
        ),
        draft(
            Semantic,
            "Escape output rather than input",
            "Escaping input corrupts what is stored. The right escape depends on where text goes. So it \
             is done on output.",
            &["security", "success"],
        ),
    ];
    for insight in insights {
        put(&mut tree, &[insight]);
    }
    tree
}

fn asked(question: &str) -> InsightQuery {
    InsightQuery { question: Some(question.to_owned()), ..InsightQuery::default() }
}

fn titles(recalled: &InsightRecall) -> Vec<&str> {
    recalled.insights.iter().map(|insight| insight.title.as_str()).collect()
}

#[test]
fn a_question_finds_its_insight_with_text_place_and_reason() {
    let tree = library();
    let found = recall_insights(&tree, &asked("How do I publish a crate release?")).unwrap();
    assert_eq!(titles(&found), ["Release a crate"]);
    assert_eq!(found.kinds, [Procedural]);
    assert_eq!(found.keywords, ["publish", "crate", "release"]);
    let insight = &found.insights[0];
    let lines: Vec<_> = tree[&insight.path].lines().skip(insight.line - 1).collect();
    assert!(lines.join("\n").starts_with(&insight.text), "{}", insight.text);
    assert!(insight.text.starts_with("**Title:** Release a crate\n"));
    assert!(insight.text.contains("#procedural"));
    assert_eq!(
        insight.why,
        "It has 3 of 3 keywords: \"publish\" in its content, \"crate\" in its title, \"release\" in its \
         title."
    );
    assert_eq!(found.hints, Vec::<String>::new());
}

#[test]
fn keywords_and_types_are_taken_as_given() {
    let tree = library();
    let mut ask = InsightQuery {
        keywords: vec!["mutex".into(), "await".into(), "deadlock".into()],
        ..InsightQuery::default()
    };
    assert_eq!(titles(&recall_insights(&tree, &ask).unwrap()), ["Hold no mutex across an await"]);
    ask.kinds = vec![Procedural, Episodic];
    let found = recall_insights(&tree, &ask).unwrap();
    assert_eq!((titles(&found), &found.kinds), (vec![], &vec![Episodic, Procedural]));
    assert!(found.hints[1].contains("only episodic and procedural"), "{:?}", found.hints);
    for count in [1, 2, 9] {
        let keywords = (0..count).map(|number| format!("word{number}")).collect();
        assert!(
            recall_insights(&tree, &InsightQuery { keywords, ..InsightQuery::default() }).is_err()
        );
    }
    assert!(recall_insights(&tree, &InsightQuery::default()).unwrap_err().contains("empty query"));
}

#[test]
fn nothing_relevant_is_said_to_be_nothing() {
    for tree in [library(), InsightTree::new()] {
        for question in [
            "Which kubernetes ingress terminates websocket connections?",
            "What about elephants?",
            "What is it?",
            "The server of the quarterly marketing newsletter campaign",
        ] {
            let found = recall_insights(&tree, &asked(question)).unwrap();
            assert_eq!(titles(&found), Vec::<&str>::new(), "{question}");
            assert_eq!(found.hints.len(), 3, "{question}");
        }
    }
}

#[test]
fn a_misread_question_is_asked_of_all_types() {
    let found =
        recall_insights(&library(), &asked("How can a mutex guard block an await?")).unwrap();
    assert_eq!(titles(&found), ["Hold no mutex across an await"]);
    assert_eq!(found.kinds, InsightKind::ALL);
    assert!(found.hints[0].contains("nothing in procedural"), "{:?}", found.hints);
}

#[test]
fn a_title_counts_more_than_a_tag_more_than_a_description_more_than_content() {
    let entry = |title: &str, description: &str, content: &str, tag: &str| {
        format!(
            "**Title:** {title}\n**Description:** {description}\n\n**Content:** {content}\n\n\
             **Tags:** #{tag} #success #semantic\n\n---\n\n"
        )
    };
    let text = entry("One", "Plain.", "All of zebra and yak.", "x")
        + &entry("Two", "About zebra and yak.", "Plain.", "x")
        + &entry("Three", "Plain.", "Plain.", "zebra #yak")
        + &entry("Zebra and yak", "Plain.", "Plain.", "x");
    let tree = tree_of(&[("semantic/semantic.md", &text)]);
    let found = recall_insights(&tree, &asked("zebra yak")).unwrap();
    assert_eq!(titles(&found), ["Zebra and yak", "Three", "Two"]);
}

#[test]
fn chinese_is_found_without_spaces() {
    let mut tree = library();
    put(
        &mut tree,
        &[draft(
            Semantic,
            "避免数据库死锁",
            "两个事务互相等待。按固定顺序加锁。事务要短。",
            &["数据库", "failure"],
        )],
    );
    let found = recall_insights(&tree, &asked("为什么数据库会死锁?")).unwrap();
    assert_eq!(titles(&found), ["避免数据库死锁"]);
}

#[test]
fn scattered_and_double_answers_advise_tidying() {
    let mut tree = InsightTree::new();
    for number in 0..7 {
        let text = format!(
            "**Title:** Zebra yak {number}\n\n**Content:** Gnu {}.",
            "n".repeat(number + 1)
        );
        tree.insert(format!("semantic/t{number}/t{number}.md"), text);
    }
    let found = recall_insights(&tree, &asked("zebra yak gnu")).unwrap();
    assert_eq!((found.insights.len(), found.files_read), (3, 7));
    assert!(
        found.hints.iter().any(|hint| hint.contains("7 files") && hint.contains("tome coder tidy"))
    );
    let twice = tree_of(&[
        ("semantic/a.md", "**Title:** Zebra yak\n\n**Content:** Gnu here."),
        ("semantic/b.md", "**Title:** Zebra yak\n\n**Content:** Gnu here."),
    ]);
    let found = recall_insights(&twice, &asked("zebra yak gnu")).unwrap();
    assert!(found.hints.iter().any(|hint| hint.contains("say the same")), "{:?}", found.hints);
}
