//! Property tests: for any text in any script, every citation opens at its place, and its snippet
//! is there.

use std::fs;

use proptest::prelude::*;
use serde_json::json;
use tome_proto::v1;
use tome_proto::v1::open_response::Place;
use tome_testkit::{World, eventually};

use crate::scene::{MORNING_MS, line_with, world};
use crate::session_copy::session_folder;

/// One word of any script or none.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z]{2,9}",
        1 => "[A-Z][a-z]{2,5}[A-Z][a-z]{2,5}",
        1 => "[a-z]{2,5}_[a-z]{2,5}_[0-9]{1,3}",
        1 => "src/[a-z]{2,6}/[a-z]{2,6}\\.rs:[0-9]{1,3}",
        1 => "E[0-9]{4}|v[0-9]\\.[0-9]{1,2}\\.0|[0-9a-f]{12}",
        1 => "[ぁ-ゖ一-鿕]{1,12}[。、]?",
        1 => "[а-яё]{2,9}|[Α-Ω]{2,8}|[ا-ي]{2,8}|[א-ת]{2,8}|[가-힣]{1,5}|[ก-ฮ]{2,9}",
        1 => "👩‍👩‍👧‍👦|🇫🇷🚀|é́́|İstanbul|Straße|ﬁn",
        1 => "[(){}\\[\\].*+?^$|\\\\\"'`<>#&;%-]{1,5}",
        1 => "fn [a-z]{2,6}\\(\\) \\{ [a-z]{2,6}\\(\\)\\?; \\}",
    ]
}

/// Words with separators; some texts are longer than one chunk of an index.
fn text() -> impl Strategy<Value = String> {
    let gap =
        prop_oneof![8 => Just(" "), 1 => Just("\n"), 1 => Just("\n\n"), 1 => Just("\t\u{a0} ")];
    let words = |count| prop::collection::vec((word(), gap.clone()), count);
    let said = |words: Vec<(String, &str)>| {
        words.iter().map(|(word, gap)| format!("{word}{gap}")).collect::<String>()
    };
    prop_oneof![4 => words(1..30).prop_map(said), 1 => words(300..900).prop_map(said)]
}

#[derive(Debug, Clone)]
struct Memory {
    said: Vec<String>,
    done: Vec<String>,
    notes: Vec<String>,
    details: Vec<String>,
    insights: Vec<String>,
    /// Text, first word and number of words of each query.
    asked: Vec<(prop::sample::Index, prop::sample::Index, usize)>,
}

fn memory() -> impl Strategy<Value = Memory> {
    let texts = |count| prop::collection::vec(text(), count);
    let asked = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..5_usize);
    (
        texts(4..12),
        texts(0..3),
        texts(1..4),
        texts(1..4),
        texts(1..3),
        prop::collection::vec(asked, 6),
    )
        .prop_map(|(said, done, notes, details, insights, asked)| Memory {
            said,
            done,
            notes,
            details,
            insights,
            asked,
        })
}

impl Memory {
    fn texts(&self) -> Vec<&String> {
        [&self.said, &self.done, &self.notes, &self.details, &self.insights]
            .into_iter()
            .flatten()
            .collect()
    }

    fn questions(&self) -> Vec<String> {
        let texts = self.texts();
        let question = |(text, from, count): &(prop::sample::Index, prop::sample::Index, usize)| {
            let words: Vec<&str> = texts[text.index(texts.len())].split_whitespace().collect();
            let from = from.index(words.len().max(1));
            words.iter().skip(from).take(*count).copied().collect::<Vec<_>>().join(" ")
        };
        self.asked.iter().map(question).filter(|question| !question.is_empty()).collect()
    }

    fn remembered(&self) -> World {
        let world = world();
        let mut lines = String::new();
        for (n, text) in self.said.iter().enumerate() {
            lines += &line_with(&json!({
                "id": format!("s{n}"), "at": MORNING_MS + n as u64 * 60_000, "text": text,
                "session_id": format!("s{}", n % 2),
                "kind": if n % 3 == 0 { "user_message" } else { "assistant_message" },
            }));
        }
        for (n, text) in self.done.iter().enumerate() {
            lines += &line_with(&json!({
                "id": format!("d{n}"), "at": MORNING_MS + 50 + n as u64 * 60_000, "text": "",
                "session_id": "s1", "kind": "tool_result",
                "tool": {"name": "Bash", "input": {"command": text}, "output": {"stdout": text}},
            }));
        }
        world.ingest(&lines);
        // Written by hand, without the tools' size limits.
        let note = |path: String, content: String| {
            let file = world.home().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, content).unwrap();
        };
        for (n, text) in self.notes.iter().enumerate() {
            let content = format!("# Note {n}\n\n{text}\n\n## Further\n\n{text}\n");
            note(format!("projects/--app--/memory/n{n}.md"), content);
        }
        for (n, text) in self.insights.iter().enumerate() {
            note(format!("coder/semantic/i{n}.md"), format!("# Insight {n}\n\n{text}\n"));
        }
        for (n, text) in self.details.iter().enumerate() {
            let at = eventually("the session's folder", || {
                let folder = session_folder(&world, "s1").join("working-memory/detail");
                folder.is_dir().then_some(folder)
            });
            fs::write(at.join(format!("d{n}.md")), format!("# Detail\n{text}\n")).unwrap();
        }
        world
    }
}

/// Collapses whitespace.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// All strings in a JSON value.
fn strings_of(json: &str) -> String {
    fn walk(value: &serde_json::Value, all: &mut String) {
        match value {
            serde_json::Value::String(text) => {
                all.push_str(text);
                all.push('\n');
            }
            serde_json::Value::Array(list) => list.iter().for_each(|one| walk(one, all)),
            serde_json::Value::Object(fields) => fields.values().for_each(|one| walk(one, all)),
            _ => {}
        }
    }
    let mut all = String::new();
    walk(&serde_json::from_str(json).unwrap_or_default(), &mut all);
    all
}

/// The text at a citation, with the range that belongs to the cited line of a file.
fn standing(opened: &v1::OpenResponse) -> (String, Option<(usize, usize)>) {
    match opened.place.as_ref().unwrap() {
        Place::Event(event) => {
            let tool = event.tool.clone().unwrap_or_default();
            let (input, output) = (strings_of(&tool.input_json), strings_of(&tool.output_json));
            (folded(&[event.text.as_str(), &tool.name, &input, &output].join("\n")), None)
        }
        Place::Foreign(line) => (folded(line), None),
        Place::Lines(_) => {
            let text = fs::read_to_string(&opened.file).unwrap();
            let before: String =
                text.split_inclusive('\n').take(opened.line as usize - 1).collect();
            let upto: String = text.split_inclusive('\n').take(opened.line as usize).collect();
            (folded(&text), Some((folded(&before).len(), folded(&upto).len())))
        }
        Place::Nodes(nodes) => {
            let bullets = nodes.nodes.iter().flat_map(|node| &node.bullets);
            let bullets = bullets.map(|bullet| bullet.text.as_str());
            (folded(&bullets.collect::<Vec<_>>().join("\n")), None)
        }
        Place::Grip(found) => (folded(&found.grip.as_ref().unwrap().excerpt), None),
    }
}

fn check_hit(hit: &v1::RecallHit, opened: &v1::OpenResponse, asked: &str) {
    let shown = hit.text.strip_prefix('…').unwrap_or(&hit.text);
    let shown = folded(shown.strip_suffix('…').unwrap_or(shown));
    let (text, line) = standing(opened);
    assert!(hit.text.chars().count() <= 300 && !shown.is_empty(), "{asked}: {hit:?}");
    assert!(text.contains(&shown), "{asked}: {hit:#?}\nstands not in\n{text}");
    if let Some((from, to)) = line {
        let overlaps = |(at, _): (usize, &str)| at <= to && from <= at + shown.len();
        assert!(text.match_indices(&shown).any(overlaps), "{asked}: {hit:#?} {from}..{to}");
    }
}

/// Runs each query in two ways, all of them in every tier and scope, and opens every result.
fn check_all(world: &World, questions: &[String]) -> usize {
    let ways = [
        ("all", "", "project"),
        ("all", "literal", "project"),
        ("messages", "bm25", "project"),
        ("notes", "", "project"),
        ("detail", "literal", "project"),
        ("coder", "vectors", "project"),
        ("contents", "", "project"),
        ("all", "", "session"),
        ("all", "", "all"),
    ];
    world.with_client(async |client| {
        let mut hits = 0;
        for (asked, (scope, tier, across)) in
            questions.iter().flat_map(|asked| [asked, asked]).zip(ways.iter().cycle())
        {
            let request = v1::RecallRequest {
                query: asked.clone(),
                scope: (*scope).to_owned(),
                tier: (*tier).to_owned(),
                across: (*across).to_owned(),
                project: "/app".to_owned(),
                session_id: "s1".to_owned(),
                limit: Some(6),
                no_floor: true,
                ..v1::RecallRequest::default()
            };
            let answer = match client.recall(request).await {
                Ok(answer) => answer,
                // Punctuation alone may be an empty query.
                Err(refused) => {
                    assert!(refused.to_string().contains("nothing to look for"), "{refused}");
                    continue;
                }
            };
            for hit in &answer.hits {
                hits += 1;
                for (n, citation) in std::iter::once(&hit.citation).chain(&hit.also).enumerate() {
                    let request = v1::OpenRequest {
                        citation: citation.clone(),
                        project: "/app".to_owned(),
                        session_id: "s1".to_owned(),
                    };
                    let opened = client.open_citation(request).await;
                    let opened = opened.unwrap_or_else(|error| panic!("{citation}: {error}"));
                    assert!(opened.place.is_some(), "{citation}");
                    if n == 0 {
                        check_hit(hit, &opened, asked);
                    }
                }
            }
        }
        hits
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn every_citation_opens_where_its_snippet_is(memory in memory()) {
        let world = memory.remembered();
        let questions = memory.questions();
        // At once, without indexes, and after they have read everything.
        let early = check_all(&world, &questions);
        eventually("the indexes", || {
            let asked = ["recall", "anything at all", "--project", "/app", "--json"];
            let answer = world.tome(&asked).json();
            (answer["tier"] == "fused" && answer["behind"] == 0).then_some(())
        });
        let settled = check_all(&world, &questions);
        prop_assert!(early > 0 && settled > 0, "{early} and then {settled} hits for {questions:?}");
        // And through the command line.
        let ran = world.tome(&["recall", &questions[0], "--project", "/app", "--json"]);
        if ran.code == 0 {
            for hit in ran.json()["hits"].as_array().unwrap() {
                let citation = hit["citation"].as_str().unwrap();
                let shown = world.tome(&["show", citation, "--project", "/app"]);
                prop_assert_eq!(shown.code, 0, "{}: {}", citation, shown.stderr);
            }
        }
    }
}
