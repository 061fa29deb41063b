//! Property tests: for any text in any script, every citation opens at its place, and its snippet
//! is there.

use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};
use tome_finder::RecordKind;
use tome_home::Projection;
use tome_recall::{
    Across, CitedContent, OpenedCitation, RecallHit, RecallScope, ThresholdPolicy, Tier, Viewpoint,
};

use crate::engine_fixture::{EngineFixture, MINUTE_MS, MORNING_MS, ROOT};

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
    let join = |words: Vec<(String, &str)>| {
        words.iter().map(|(word, gap)| format!("{word}{gap}")).collect::<String>()
    };
    prop_oneof![4 => words(1..30).prop_map(join), 1 => words(300..900).prop_map(join)]
}

#[derive(Debug, Clone)]
struct Memory {
    messages: Vec<String>,
    done: Vec<String>,
    notes: Vec<String>,
    details: Vec<String>,
    lessons: Vec<String>,
    /// Text, first word and number of words of each query.
    queries: Vec<(prop::sample::Index, prop::sample::Index, usize)>,
}

fn memory() -> impl Strategy<Value = Memory> {
    let texts = |count| prop::collection::vec(text(), count);
    let query = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..5_usize);
    (
        texts(4..12),
        texts(0..3),
        texts(1..4),
        texts(1..4),
        texts(1..3),
        prop::collection::vec(query, 6),
    )
        .prop_map(|(messages, done, notes, details, lessons, queries)| Memory {
            messages,
            done,
            notes,
            details,
            lessons,
            queries,
        })
}

impl Memory {
    fn questions(&self) -> Vec<String> {
        let texts = [&self.messages, &self.done, &self.notes, &self.details, &self.lessons];
        let texts: Vec<&String> = texts.into_iter().flatten().collect();
        let question = |(text, from, count): &(prop::sample::Index, prop::sample::Index, usize)| {
            let words: Vec<&str> = texts[text.index(texts.len())].split_whitespace().collect();
            let from = from.index(words.len().max(1));
            words.iter().skip(from).take(*count).copied().collect::<Vec<_>>().join(" ")
        };
        self.queries.iter().map(question).filter(|question| !question.is_empty()).collect()
    }

    /// A home with these memories, in which only transcripts are up to date.
    fn remembered(&self) -> EngineFixture {
        let fixture = EngineFixture::new();
        fixture.ingest(self.messages.iter().enumerate().map(|(n, text)| {
            json!({
                "id": format!("s{n}"), "at": MORNING_MS + n as u64 * MINUTE_MS, "text": text,
                "session_id": format!("s{}", n % 2),
                "kind": if n % 3 == 0 { "user_message" } else { "assistant_message" },
            })
        }));
        fixture.ingest(self.done.iter().enumerate().map(|(n, text)| {
            json!({
                "id": format!("d{n}"), "at": MORNING_MS + 50 + n as u64 * MINUTE_MS, "text": "",
                "session_id": "s1", "kind": "tool_result",
                "tool": {"name": "Bash", "input": {"command": text}, "output": {"stdout": text}},
            })
        }));
        let store = fixture.engine.stores().open_project(ROOT).unwrap();
        fixture.engine.transcripts().catch_up(&store, &|| false).unwrap();
        // Written by hand, without the tools' size limits.
        let write = |path: String, content: String| {
            let file = fixture.home().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, content).unwrap();
        };
        for (n, text) in self.notes.iter().enumerate() {
            let content = format!("# Note {n}\n\n{text}\n\n## Further\n\n{text}\n");
            write(format!("projects/--app--/memory/n{n}.md"), content);
        }
        for (n, text) in self.lessons.iter().enumerate() {
            write(format!("coder/semantic/i{n}.md"), format!("# Insight {n}\n\n{text}\n"));
        }
        let details = fixture.project().join("sessions/s1/working-memory/detail");
        assert!(details.is_dir());
        for (n, text) in self.details.iter().enumerate() {
            fs::write(details.join(format!("d{n}.md")), format!("# Detail\n{text}\n")).unwrap();
        }
        fixture
    }
}

/// Collapses whitespace.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Adds all strings in a JSON value.
fn add_strings(value: &Value, all: &mut String) {
    match value {
        Value::String(text) => {
            all.push_str(text);
            all.push('\n');
        }
        Value::Array(list) => list.iter().for_each(|one| add_strings(one, all)),
        Value::Object(fields) => fields.values().for_each(|one| add_strings(one, all)),
        _ => {}
    }
}

/// The text at a citation, with the range that belongs to the cited line of a file.
fn cited_text(opened: &OpenedCitation) -> (String, Option<(usize, usize)>) {
    match &opened.content {
        CitedContent::Event(event) => {
            let mut all = format!("{}\n", event.text);
            if let Some(tool) = &event.tool {
                all.push_str(&format!("{}\n", tool.name));
                add_strings(&tool.input, &mut all);
                add_strings(&tool.output, &mut all);
            }
            (folded(&all), None)
        }
        CitedContent::ForeignLine(line) => (folded(line), None),
        CitedContent::Lines { .. } => {
            let text = fs::read_to_string(opened.file.as_ref().unwrap()).unwrap();
            let line = opened.line.unwrap_or(1) as usize;
            let upto = |lines| text.split_inclusive('\n').take(lines).collect::<String>();
            let range = (folded(&upto(line - 1)).len(), folded(&upto(line)).len());
            (folded(&text), Some(range))
        }
        CitedContent::Nodes(nodes) => {
            // A node without bullets is shown by its title.
            let lines = nodes.iter().flat_map(|one| {
                let bullets = one.node.bullets.iter().map(|bullet| bullet.text.as_str());
                std::iter::once(one.node.title.as_str()).chain(bullets)
            });
            (folded(&lines.collect::<Vec<_>>().join("\n")), None)
        }
        CitedContent::Grip(found) => (folded(&found.grip.excerpt), None),
    }
}

fn check_hit(hit: &RecallHit, opened: &OpenedCitation, question: &str) {
    // Before the passage of a tool call stands the call in one line.
    let passage = match &hit.tool {
        Some(_) => hit.text.split_once('\n').map_or("", |(_, passage)| passage),
        None => hit.text.as_str(),
    };
    // The lines of a page are marked as bullets.
    let passage = match hit.source {
        RecordKind::Node => {
            let lines = passage.lines().map(|line| line.strip_prefix("- ").unwrap_or(line));
            lines.collect::<Vec<_>>().join("\n")
        }
        _ => passage.to_owned(),
    };
    let shown = passage.strip_prefix('…').unwrap_or(&passage);
    let shown = folded(shown.strip_suffix('…').unwrap_or(shown));
    let (text, line) = cited_text(opened);
    assert!(hit.text.chars().count() <= 400 && !hit.text.is_empty(), "{question}: {hit:?}");
    assert!(text.contains(&shown), "{question}: {hit:#?}\nis not in\n{text}");
    if let Some((from, to)) = line {
        let overlaps = |(at, _): (usize, &str)| at <= to && from <= at + shown.len();
        assert!(text.match_indices(&shown).any(overlaps), "{question}: {hit:#?} {from}..{to}");
    }
}

const WAYS: [(RecallScope, Option<Tier>, Across); 9] = [
    (RecallScope::All, None, Across::Project),
    (RecallScope::All, Some(Tier::Literal), Across::Project),
    (RecallScope::Messages, Some(Tier::Bm25), Across::Project),
    (RecallScope::Notes, None, Across::Project),
    (RecallScope::Detail, Some(Tier::Literal), Across::Project),
    (RecallScope::Coder, Some(Tier::Vectors), Across::Project),
    (RecallScope::Contents, None, Across::Project),
    (RecallScope::All, None, Across::Session),
    (RecallScope::All, None, Across::All),
];

/// Runs each query in two ways, all of them in every tier and scope, and opens every result.
/// Returns the number of hits.
fn check_all(fixture: &EngineFixture, questions: &[String]) -> usize {
    let from = Viewpoint { project: Some(ROOT.to_owned()), session: Some("s1".to_owned()) };
    let citations = fixture.engine.recall().citations();
    let mut hits = 0;
    for (question, (scope, tier, across)) in
        questions.iter().flat_map(|question| [question, question]).zip(WAYS.iter().cycle())
    {
        let mut query = fixture.query(question);
        query.filter.scope = *scope;
        query.filter.across = *across;
        query.filter.session = Some("s1".to_owned());
        query.limits.hits = 6;
        query.threshold = ThresholdPolicy::Ignore;
        query.tier = *tier;
        let answer = match fixture.engine.recall().search(&query) {
            Ok(answer) => answer,
            // Punctuation alone may be an empty query.
            Err(error) => {
                assert!(error.explained().contains("nothing to look for"), "{error}");
                continue;
            }
        };
        for hit in &answer.hits {
            hits += 1;
            for (n, citation) in std::iter::once(&hit.citation).chain(&hit.also).enumerate() {
                let opened = citations.open(&citation.parse().unwrap(), &from);
                let opened = opened.unwrap_or_else(|error| panic!("{citation}: {error}"));
                if n == 0 {
                    check_hit(hit, &opened, question);
                }
            }
        }
    }
    hits
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn every_citation_opens_where_its_snippet_is(memory in memory()) {
        let fixture = memory.remembered();
        let questions = memory.questions();
        // At once, without indexes, and after they have read everything.
        let early = check_all(&fixture, &questions);
        fixture.search_indexed(&fixture.query("anything at all"));
        let settled = check_all(&fixture, &questions);
        prop_assert!(early > 0 && settled > 0, "{early} and then {settled} hits for {questions:?}");
    }
}
