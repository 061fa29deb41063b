//! Recall of lessons: questions in the words of a lesson, in other words, and on other subjects.

use std::collections::BTreeMap;

use expect_test::expect;
use serde_json::{Value, json};
use tome_engine::{Caller, ToolAnswer};
use tome_model::Scope;

use crate::engine_fixture::EngineFixture;
use crate::lessons_data::{KnownLesson, LESSONS, PLANS, UNRELATED};

fn call(fixture: &EngineFixture, tool: &str, arguments: &Value) -> ToolAnswer {
    let caller = Caller::default();
    let answer =
        fixture.engine.tools().unwrap().call(tool, &arguments.to_string(), &caller).unwrap();
    assert_eq!(answer.failure, None, "{}", answer.text);
    answer
}

fn store(fixture: &EngineFixture, lesson: &KnownLesson) {
    let arguments = json!({
        "type": lesson.kind, "title": lesson.title, "description": lesson.description,
        "content": lesson.content, "tags": lesson.tags,
    });
    let stored = call(fixture, "coder_memory_store", &arguments);
    assert_eq!(stored.json["stored"][0]["decision"], "CREATE", "{}", stored.text);
}

fn fixture_with(lessons: &[KnownLesson]) -> EngineFixture {
    let fixture = EngineFixture::new();
    lessons.iter().for_each(|lesson| store(&fixture, lesson));
    fixture
}

fn recall(fixture: &EngineFixture, arguments: &Value) -> Value {
    call(fixture, "coder_memory_recall", arguments).json
}

fn titles(recalled: &Value) -> Vec<&str> {
    let lessons = recalled["insights"].as_array().unwrap().iter();
    lessons.map(|lesson| lesson["title"].as_str().unwrap()).collect()
}

fn ask(fixture: &EngineFixture, question: &str) -> Vec<String> {
    let found = recall(fixture, &json!({ "question": question }));
    titles(&found).into_iter().map(str::to_owned).collect()
}

/// Results of one kind of question.
#[derive(Default)]
struct Figures {
    count: usize,
    /// Questions whose lesson was recalled, and recalled first.
    found: usize,
    first: usize,
    /// Recalled lessons that do not answer the question.
    wrong: usize,
}

/// Asks questions with the titles of their lessons, and returns a line of figures per kind.
fn measure(fixture: &EngineFixture, questions: &[(&'static str, &str, Option<&str>)]) -> String {
    let mut all: BTreeMap<&str, Figures> = BTreeMap::new();
    for (kind, question, title) in questions {
        let found = ask(fixture, question);
        let figures = all.entry(kind).or_default();
        figures.count += 1;
        figures.found += usize::from(found.iter().any(|one| Some(one.as_str()) == *title));
        figures.first +=
            usize::from(title.is_some() && found.first().map(String::as_str) == *title);
        figures.wrong += found.iter().filter(|one| Some(one.as_str()) != *title).count();
    }
    let line = |(kind, Figures { count, found, first, wrong }): (&str, Figures)| {
        format!("{kind}: {count} asked, {found} found, {first} first, {wrong} wrong\n")
    };
    all.into_iter().map(line).collect()
}

#[test]
fn questions_find_their_lessons_and_hardly_any_others() {
    let mut questions = Vec::new();
    for KnownLesson { title, same_words, other_words, .. } in LESSONS {
        questions.push(("in the same words", *same_words, Some(*title)));
        questions.push(("in other words", *other_words, Some(*title)));
    }
    questions.extend(UNRELATED.iter().map(|question| ("unrelated", *question, None)));
    questions.extend(PLANS.iter().map(|(plan, title)| ("plan", *plan, *title)));
    expect![[r#"
        in other words: 28 asked, 11 found, 11 first, 0 wrong
        in the same words: 28 asked, 28 found, 28 first, 0 wrong
        plan: 6 asked, 4 found, 4 first, 0 wrong
        unrelated: 28 asked, 0 found, 0 first, 4 wrong
    "#]]
    .assert_eq(&measure(&fixture_with(LESSONS), &questions));
}

#[test]
fn few_lessons_answer_no_questions_about_others() {
    let (known, others) = LESSONS.split_at(5);
    let mut questions = Vec::new();
    for lesson in known {
        questions.push(("known", lesson.same_words, Some(lesson.title)));
    }
    for lesson in others {
        questions.push(("others", lesson.same_words, None));
        questions.push(("others", lesson.other_words, None));
    }
    questions.extend(UNRELATED.iter().map(|question| ("unrelated", *question, None)));
    expect![[r#"
        known: 5 asked, 5 found, 5 first, 0 wrong
        others: 46 asked, 0 found, 0 first, 3 wrong
        unrelated: 28 asked, 0 found, 0 first, 1 wrong
    "#]]
    .assert_eq(&measure(&fixture_with(known), &questions));
}

#[test]
fn an_answer_has_the_whole_lesson_its_location_and_the_reason() {
    let fixture = fixture_with(&LESSONS[..8]);
    let found =
        recall(&fixture, &json!({ "question": "How do I bisect a flaky test by its seed?" }));
    assert_eq!(titles(&found), ["Bisect a flaky test by its seed"]);
    assert_eq!(found["types"], json!(["procedural"]));
    assert_eq!(found["keywords"], json!(["bisect", "flaky", "test", "seed"]));
    assert_eq!((&found["files_read"], &found["hints"]), (&json!(1), &json!([])));
    let lesson = &found["insights"][0];
    let file = fixture.home().join("coder").join(lesson["path"].as_str().unwrap());
    let line = usize::try_from(lesson["line"].as_u64().unwrap()).unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    let there: Vec<&str> = text.lines().skip(line - 1).collect();
    let shown = lesson["text"].as_str().unwrap();
    assert!(there.join("\n").starts_with(shown), "{shown}");
    assert!(shown.starts_with("**Title:** Bisect a flaky") && shown.ends_with("#procedural"));
    assert_eq!(lesson["why"], r#"Strong match: it has "bisect", "flaky", "test", "seed"."#);
    // In other words, and of another type than the question suggests.
    let question = "How do I clean user input against scripts in HTML, a shell or a query?";
    let found = recall(&fixture, &json!({ "question": question }));
    assert_eq!(titles(&found), ["Escape output rather than input"]);
    assert_eq!(found["types"], json!(["episodic", "procedural", "semantic"]));
    assert_eq!(
        found["hints"],
        json!(["no better match in procedural, so all types were searched"])
    );
}

#[test]
fn keywords_and_types_are_kept_to() {
    let fixture = fixture_with(&LESSONS[..8]);
    let keywords = json!(["mutex", "await", "guard"]);
    let found = recall(&fixture, &json!({ "keywords": keywords }));
    assert_eq!(titles(&found), ["Hold no mutex across an await"]);
    let others = json!({ "keywords": keywords, "types": ["procedural", "episodic"] });
    let found = recall(&fixture, &others);
    assert_eq!(titles(&found), Vec::<&str>::new());
    assert_eq!(found["types"], json!(["episodic", "procedural"]));
    assert_eq!(
        found["hints"],
        json!([
            "try broader or other words than mutex, await, guard",
            "search all types: only episodic and procedural was searched",
            "continue without it; if you learn something non-obvious, store it with coder_memory_store",
        ])
    );
}

#[test]
fn lessons_written_changed_and_deleted_by_hand_are_seen_at_once() {
    let fixture = fixture_with(&LESSONS[..8]);
    let question = "a secret token was pasted into the chat";
    assert_eq!(ask(&fixture, question), Vec::<String>::new());
    let file = fixture.home().join("coder/episodic/secrets.md");
    let lesson = |title: &str, content: &str| {
        let text = format!("# Secrets\n\n**Title:** {title}\n\n**Content:** {content}\n");
        std::fs::write(&file, text).unwrap();
    };
    lesson(
        "A token was posted in a channel",
        "Somebody copied a secret into the messenger. Revoke it.",
    );
    assert_eq!(ask(&fixture, question), ["A token was posted in a channel"]);
    lesson("Tabs are wider", "Indent by four columns in the editor.");
    assert_eq!(ask(&fixture, question), Vec::<String>::new());
    assert_eq!(ask(&fixture, "how wide are tabs in the editor?"), ["Tabs are wider"]);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(ask(&fixture, "how wide are tabs in the editor?"), Vec::<String>::new());
}

#[test]
fn several_lessons_on_one_subject_are_an_answer_and_scattered_ones_advise_tidying() {
    let fixture = EngineFixture::new();
    for number in 0..7 {
        let text = format!(
            "**Title:** Zebra yak {number}\n\n**Content:** Gnu {}.\n",
            "n".repeat(number + 1)
        );
        fixture.write_note(Scope::Coder, &format!("semantic/t{number}/t{number}.md"), &text);
    }
    let found = recall(&fixture, &json!({ "question": "zebra yak gnu" }));
    assert_eq!((titles(&found).len(), &found["files_read"]), (3, &json!(7)));
    assert_eq!(
        found["hints"],
        json!(["the answer is spread over 7 files: run `tome coder tidy` to reorganize them"])
    );
    let fixture = EngineFixture::new();
    for path in ["semantic/a.md", "semantic/b.md"] {
        let text = "**Title:** Zebra yak\n\n**Content:** Gnu here.\n";
        fixture.write_note(Scope::Coder, path, text);
    }
    let found = recall(&fixture, &json!({ "question": "zebra yak gnu" }));
    assert_eq!(
        found["hints"],
        json!(["some of these say the same: run `tome coder tidy` to merge them"])
    );
}
