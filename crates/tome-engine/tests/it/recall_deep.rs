//! Deep vectors: computed in the background, newest first, and used where they exist.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::json;
use tome_finder::{EmbedError, Embedder, StaticEmbedder};
use tome_home::Stores;
use tome_model::{Millis, Scope};
use tome_recall::{DeepQueue, RecallQuery, Tier};

use super::engine_fixture::{EngineFixture, MINUTE_MS, MORNING_MS, ROOT, listed};

const EVENTS: u64 = 150;

fn remembered() -> EngineFixture {
    remember_with(EngineFixture::new())
}

fn remember_with(fixture: EngineFixture) -> EngineFixture {
    let topics = ["the cache of the build", "a retry of the upload", "the journal of the store"];
    fixture.ingest((0..EVENTS).zip(topics.iter().cycle()).map(|(n, topic)| {
        let at = MORNING_MS + n * MINUTE_MS / 4;
        json!({"id": format!("e{n}"), "at": at, "text": format!("message {n} is about {topic}")})
    }));
    let output = json!({"name": "bash", "input": {}, "output": "the upload was tried again"});
    fixture.ingest([json!({"id": "t1", "kind": "tool_result", "text": "", "tool": output})]);
    fixture.write_note(Scope::Project, "facts/project.md", "# Facts\n\nThe journal is kept.\n");
    fixture.search_indexed(&fixture.query("journal"));
    fixture
}

/// Computes deep vectors until `stop` or nothing is left.
fn catch_up_deep(fixture: &EngineFixture, stop: &dyn Fn() -> bool) -> u64 {
    let path = fixture.engine.stores().find_store_path(ROOT).unwrap();
    fixture.engine.recall().catch_up_deep(&path, Millis(0), stop).unwrap().events
}

/// Events done and still to do.
fn progress(fixture: &EngineFixture) -> (u64, u64) {
    let path = fixture.engine.stores().find_store_path(ROOT).unwrap();
    let store = fixture.engine.stores().open(&path).unwrap();
    let report = fixture.engine.recall().report_indexes(&store).unwrap().unwrap();
    let index = report.indexes.iter().find(|index| index.name == "deep/events").unwrap();
    (index.cursor, index.behind)
}

fn vectors_query(fixture: &EngineFixture, text: &str) -> RecallQuery {
    RecallQuery { tier: Some(Tier::Vectors), ..fixture.query(text) }
}

#[test]
fn the_newest_come_first_and_nothing_waits_for_the_rest() {
    let fixture = remembered();
    assert_eq!(progress(&fixture), (0, EVENTS + 1));
    // Stops after the first batch.
    let calls = Cell::new(0);
    let stop = || calls.replace(calls.get() + 1) > 0;
    let done = catch_up_deep(&fixture, &stop);
    assert!(done > 0 && done <= EVENTS, "{done}");
    assert_eq!(progress(&fixture), (done, EVENTS + 1 - done));
    // Both speeds answer together.
    let answer = fixture.search(&vectors_query(&fixture, "which message is about the journal?"));
    assert!(!answer.hits.is_empty() && answer.behind == 0, "{answer:#?}");
    assert_eq!(catch_up_deep(&fixture, &|| false), EVENTS + 1 - done);
    assert_eq!(progress(&fixture), (EVENTS + 1, 0));
    assert_eq!(catch_up_deep(&fixture, &|| false), 0);
    fixture.ingest([json!({"id": "new", "at": MORNING_MS, "text": "one more"})]);
    assert_eq!((catch_up_deep(&fixture, &|| false), progress(&fixture)), (1, (EVENTS + 2, 0)));
}

#[test]
fn the_newest_of_all_projects_come_first() {
    let fixture = EngineFixture::new();
    let message = |cwd: &str, minute: u64| {
        let at = MORNING_MS + minute * MINUTE_MS / 4;
        json!({"id": format!("{cwd}-{minute}"), "session_id": cwd, "cwd": cwd, "at": at,
               "text": format!("message {minute} is about the cache")})
    };
    fixture.ingest((0..100).chain(300..400).map(|minute| message(ROOT, minute)));
    fixture.ingest((200..250).map(|minute| message("/other", minute)));
    let (stores, recall) = (fixture.engine.stores(), fixture.engine.recall());
    let roots = [ROOT, "/other"];
    let mut queue = DeepQueue::default();
    let enqueue = |queue: &mut DeepQueue, path: &Path| {
        let newest = recall.newest_without_deep(&stores.open(path).unwrap()).unwrap();
        queue.set(path, newest);
    };
    for root in roots {
        fixture.engine.catch_up_project(root).unwrap();
        enqueue(&mut queue, &stores.find_store_path(root).unwrap());
    }
    let mut order = Vec::new();
    while let Some((path, since)) = queue.next() {
        assert!(order.len() < 9, "{order:?}");
        recall.catch_up_deep(&path, since, &|| false).unwrap();
        enqueue(&mut queue, &path);
        let at = roots.iter().find(|root| stores.find_store_path(root).as_ref() == Some(&path));
        order.push(*at.unwrap());
    }
    assert_eq!(order, [ROOT, "/other", ROOT]);
}

#[test]
fn deep_vectors_rebuilt_in_another_order_give_the_same_results() {
    let fixture = remembered();
    let calls = Cell::new(0);
    catch_up_deep(&fixture, &|| calls.replace(calls.get() + 1) > 0);
    catch_up_deep(&fixture, &|| false);
    let queries = ["which message is about the journal?", "upload tried once more", "message 12"];
    let queries = queries.map(|text| vectors_query(&fixture, text));
    let before = queries.each_ref().map(|query| fixture.search(query));
    assert!(!before[0].hits.is_empty());
    let folder = fixture.project().join("finder/deep");
    for damage in ["delete", "truncate", "foreign"] {
        match damage {
            "delete" => fs::remove_dir_all(&folder).unwrap(),
            "truncate" => {
                let levels =
                    fs::OpenOptions::new().write(true).open(folder.join("events/levels-1"));
                levels.unwrap().set_len(10).unwrap();
            }
            _ => {
                fs::copy(folder.join("pages/log-1"), folder.join("events/head")).map(drop).unwrap();
            }
        }
        // The static vectors answer meanwhile.
        assert!(!fixture.search(&queries[0]).hits.is_empty(), "{damage}");
        for _ in 0..3 {
            catch_up_deep(&fixture, &|| false);
        }
        assert_eq!(progress(&fixture), (EVENTS + 1, 0), "{damage}");
        for (query, before) in queries.iter().zip(&before) {
            assert_eq!(listed(&fixture.search(query)), listed(before), "{damage}: {query:?}");
        }
    }
}

/// The built-in embedder, whose deep vectors are computed by [`RepairingDeep`].
struct Repairing(Arc<RepairingDeep>);

/// Repairs the store while it computes its first vector.
#[derive(Default)]
struct RepairingDeep {
    stores: OnceLock<Arc<Stores>>,
    repair: OnceLock<Result<(), String>>,
}

impl Embedder for Repairing {
    fn name(&self) -> &str {
        StaticEmbedder.name()
    }

    fn dimensions(&self) -> usize {
        StaticEmbedder.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        StaticEmbedder.embed(texts)
    }

    fn deep_embedder(&self) -> Option<Arc<dyn Embedder>> {
        Some(self.0.clone())
    }
}

impl Embedder for RepairingDeep {
    fn name(&self) -> &'static str {
        "repairing"
    }

    fn dimensions(&self) -> usize {
        StaticEmbedder.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if let Some(stores) = self.stores.get().filter(|_| texts[0].starts_with("message")) {
            self.repair.get_or_init(|| {
                let path = stores.find_store_path(ROOT).unwrap();
                let repaired = stores.repair(&path).map_err(|error| error.explained());
                // As if it had found something to restore.
                fs::remove_dir_all(path.with_file_name("finder")).unwrap();
                repaired.map(drop)
            });
        }
        StaticEmbedder.embed(texts)
    }
}

#[test]
fn a_repair_does_not_wait_for_deep_vectors() {
    let deep = Arc::new(RepairingDeep::default());
    let fixture =
        remember_with(EngineFixture::with_embedder(Arc::new(Repairing(Arc::clone(&deep)))));
    assert!(deep.stores.set(Arc::clone(fixture.engine.stores())).is_ok());
    catch_up_deep(&fixture, &|| false);
    assert_eq!(deep.repair.get(), Some(&Ok(())));
    fixture.search_indexed(&fixture.query("journal"));
    catch_up_deep(&fixture, &|| false);
    assert_eq!(progress(&fixture), (EVENTS + 1, 0));
}
