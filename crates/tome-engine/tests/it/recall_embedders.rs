//! A change of the embedder: the old vectors answer until the new ones are complete.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use tome_finder::{EmbedError, Embedder, StaticEmbedder};
use tome_recall::{Across, RecallAnswer, RecallQuery, RecallScope, Tier};

use super::engine_fixture::{EngineFixture, MINUTE_MS, MORNING_MS, ROOT, listed};

/// More than two batches of a remote embedder.
const EVENTS: u64 = 300;

/// The built-in vectors, turned by some components, so that those of two models do not match.
#[derive(Default)]
struct Model {
    name: &'static str,
    turned_by: usize,
    is_remote: bool,
    earlier: Option<Arc<Model>>,
    is_down: AtomicBool,
    embedded: AtomicUsize,
}

impl Embedder for Model {
    fn name(&self) -> &str {
        self.name
    }

    fn dimensions(&self) -> usize {
        StaticEmbedder.dimensions()
    }

    fn is_remote(&self) -> bool {
        self.is_remote
    }

    fn earlier_embedder(&self, name: &str) -> Option<Arc<dyn Embedder>> {
        let earlier = self.earlier.clone().filter(|earlier| earlier.name == name)?;
        Some(earlier)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if self.is_down.load(Ordering::SeqCst) {
            return Err(EmbedError { embedder: self.name.into(), problem: "is down".into() });
        }
        self.embedded.fetch_add(texts.len(), Ordering::SeqCst);
        let mut vectors = StaticEmbedder.embed(texts)?;
        vectors.iter_mut().for_each(|vector| vector.rotate_left(self.turned_by));
        Ok(vectors)
    }
}

fn first_model() -> Arc<Model> {
    Arc::new(Model { name: "model/1", ..Model::default() })
}

fn second_model(earlier: &Arc<Model>) -> Arc<Model> {
    Arc::new(Model {
        name: "model/2",
        turned_by: 7,
        is_remote: true,
        earlier: Some(Arc::clone(earlier)),
        ..Model::default()
    })
}

fn remember(fixture: &EngineFixture) {
    let topics = ["the cache of the build", "a retry of the upload", "the journal of the store"];
    fixture.ingest((0..EVENTS).zip(topics.iter().cycle()).map(|(n, topic)| {
        let at = MORNING_MS + n * MINUTE_MS / 4;
        json!({"id": format!("e{n}"), "at": at, "text": format!("message {n} is about {topic}")})
    }));
    fixture.search_indexed(&fixture.query("journal"));
}

fn search_vectors(fixture: &EngineFixture) -> RecallAnswer {
    let mut query = fixture.query("which message is about the journal of the store?");
    query.filter.scope = RecallScope::Messages;
    fixture.search(&RecallQuery { tier: Some(Tier::Vectors), ..query })
}

/// Computes vectors until `stop` or nothing is left.
fn catch_up_vectors(fixture: &EngineFixture, stop: &dyn Fn() -> bool) -> bool {
    let path = fixture.engine.stores().find_store_path(ROOT).unwrap();
    let store = fixture.engine.stores().open(&path).unwrap();
    fixture.engine.recall().catch_up_vectors(&store, stop).is_ok()
}

/// Writes one batch of new vectors.
fn begin_vectors(fixture: &EngineFixture) {
    let calls = Cell::new(0);
    assert!(catch_up_vectors(fixture, &|| calls.replace(calls.get() + 1) > 0));
}

fn folder(fixture: &EngineFixture, name: &str) -> PathBuf {
    fixture.project().join("finder/vectors").join(name)
}

#[test]
fn old_vectors_answer_until_the_new_ones_are_complete() {
    let first = first_model();
    let fixture = EngineFixture::with_embedder(first.clone());
    remember(&fixture);
    let before = search_vectors(&fixture);
    assert!(before.hits[0].text.contains("journal"), "{before:#?}");
    let check = |fixture: &EngineFixture, when: &str| {
        let answer = search_vectors(fixture);
        assert_eq!(listed(&answer), listed(&before), "{when}");
        assert!(answer.unread.is_empty() && answer.behind == 0, "{when}: {answer:#?}");
    };
    let second = second_model(&first);
    let fixture = fixture.reopen_with(second.clone());
    check(&fixture, "not begun");
    second.is_down.store(true, Ordering::SeqCst);
    assert!(!catch_up_vectors(&fixture, &|| false));
    check(&fixture, "the new model is down");
    assert!(!folder(&fixture, "events.previous").exists());
    second.is_down.store(false, Ordering::SeqCst);
    begin_vectors(&fixture);
    assert!(folder(&fixture, "events").join("head").exists());
    check(&fixture, "begun");
    // As after a kill.
    let fixture = fixture.reopen_with(second.clone());
    check(&fixture, "opened again");
    // Later messages have no old vector.
    fixture.ingest([json!({"id": "late", "text": "a comet passes at dawn"})]);
    fixture.catch_up();
    let answer = search_vectors(&fixture);
    assert_eq!(answer.unread, ["vectors of 1 event: model/2 is still embedding them"]);
    assert!(catch_up_vectors(&fixture, &|| false));
    let answer = search_vectors(&fixture);
    assert!(answer.hits[0].text.contains("journal") && answer.unread.is_empty(), "{answer:#?}");
    for name in ["events", "pages"] {
        assert!(folder(&fixture, name).exists(), "{name}");
        assert!(!folder(&fixture, &format!("{name}.previous")).exists(), "{name}");
    }
    let embedded = first.embedded.load(Ordering::SeqCst);
    search_vectors(&fixture);
    assert_eq!(first.embedded.load(Ordering::SeqCst), embedded, "the old model is not asked");
}

#[test]
fn going_back_to_the_old_embedder_computes_nothing_again() {
    let first = first_model();
    let fixture = EngineFixture::with_embedder(first.clone());
    remember(&fixture);
    let before = search_vectors(&fixture);
    let fixture = fixture.reopen_with(second_model(&first));
    begin_vectors(&fixture);
    let again = first_model();
    let fixture = fixture.reopen_with(again.clone());
    assert_eq!(listed(&search_vectors(&fixture)), listed(&before));
    fixture.catch_up();
    assert_eq!(listed(&search_vectors(&fixture)), listed(&before));
    assert!(!folder(&fixture, "events.previous").exists());
    // Only the queries.
    assert!(again.embedded.load(Ordering::SeqCst) < 10);
}

#[test]
fn a_half_removed_index_of_an_old_embedder_is_ignored() {
    let first = first_model();
    let fixture = EngineFixture::with_embedder(first.clone());
    remember(&fixture);
    let fixture = fixture.reopen_with(second_model(&first));
    begin_vectors(&fixture);
    fs::remove_file(folder(&fixture, "events.previous").join("head")).unwrap();
    let fixture = fixture.reopen_with(second_model(&first));
    let query = fixture.query("which message is about the journal?");
    assert!(fixture.search(&query).hits[0].text.contains("journal"));
    assert!(catch_up_vectors(&fixture, &|| false));
    assert!(search_vectors(&fixture).hits[0].text.contains("journal"));
    assert!(!folder(&fixture, "events.previous").exists());
}

#[test]
fn vectors_of_an_embedder_that_is_gone_are_reported_once() {
    let fixture = EngineFixture::with_embedder(first_model());
    let roots: Vec<String> = (0..6).map(|n| format!("/project-{n}")).collect();
    for root in &roots {
        fixture.ingest([json!({"id": root, "session_id": root, "cwd": root,
                               "text": "the journal of the store is kept"})]);
        fixture.engine.catch_up_project(root).unwrap();
    }
    let gone = Model { name: "model/3", is_remote: true, ..Model::default() };
    let fixture = fixture.reopen_with(Arc::new(gone));
    let mut query = fixture.query("journal of the store");
    query.filter.across = Across::All;
    for tier in [None, Some(Tier::Vectors)] {
        let answer = fixture.search(&RecallQuery { tier, ..query.clone() });
        assert_eq!(
            answer.unread,
            ["vectors of 6 events: model/1, which computed them, is not available any more; \
              model/3 is computing new ones"],
            "{tier:?}"
        );
    }
}
