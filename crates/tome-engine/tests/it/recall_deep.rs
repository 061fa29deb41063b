//! Deep vectors: computed in the background, newest first, and used where they exist.

use std::cell::Cell;
use std::fs;

use serde_json::json;
use tome_model::Scope;
use tome_recall::{RecallQuery, Tier};

use super::scene::{MINUTE_MS, MORNING_MS, ROOT, Scene, listed};

const EVENTS: u64 = 150;

fn remembered() -> Scene {
    let scene = Scene::new();
    let topics = ["the cache of the build", "a retry of the upload", "the journal of the store"];
    scene.ingest((0..EVENTS).zip(topics.iter().cycle()).map(|(n, topic)| {
        let at = MORNING_MS + n * MINUTE_MS / 4;
        json!({"id": format!("e{n}"), "at": at, "text": format!("message {n} is about {topic}")})
    }));
    let output = json!({"name": "bash", "input": {}, "output": "the upload was tried again"});
    scene.ingest([json!({"id": "t1", "kind": "tool_result", "text": "", "tool": output})]);
    scene.write_note(Scope::Project, "facts/project.md", "# Facts\n\nThe journal is kept.\n");
    scene.search_indexed(&scene.query("journal"));
    scene
}

/// Computes deep vectors until `stop` or nothing is left.
fn catch_up_deep(scene: &Scene, stop: &dyn Fn() -> bool) -> u64 {
    let path = scene.engine.stores().find_store_path(ROOT).unwrap();
    let store = scene.engine.stores().open(&path).unwrap();
    scene.engine.recall().catch_up_deep(&store, stop).unwrap().events
}

/// Events done and still to do.
fn progress(scene: &Scene) -> (u64, u64) {
    let path = scene.engine.stores().find_store_path(ROOT).unwrap();
    let store = scene.engine.stores().open(&path).unwrap();
    let report = scene.engine.recall().index_report(&store).unwrap().unwrap();
    let index = report.indexes.iter().find(|index| index.name == "deep/events").unwrap();
    (index.cursor, index.behind)
}

fn vectors_query(scene: &Scene, text: &str) -> RecallQuery {
    RecallQuery { tier: Some(Tier::Vectors), ..scene.query(text) }
}

#[test]
fn the_newest_come_first_and_nothing_waits_for_the_rest() {
    let scene = remembered();
    assert_eq!(progress(&scene), (0, EVENTS + 1));
    // Stops after the first batch.
    let asked = Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) > 0;
    let done = catch_up_deep(&scene, &stop);
    assert!(done > 0 && done <= EVENTS, "{done}");
    assert_eq!(progress(&scene), (done, EVENTS + 1 - done));
    // Both speeds answer together.
    let answer = scene.search(&vectors_query(&scene, "which message is about the journal?"));
    assert!(!answer.hits.is_empty() && answer.behind == 0, "{answer:#?}");
    assert_eq!(catch_up_deep(&scene, &|| false), EVENTS + 1 - done);
    assert_eq!(progress(&scene), (EVENTS + 1, 0));
    assert_eq!(catch_up_deep(&scene, &|| false), 0);
    scene.ingest([json!({"id": "new", "at": MORNING_MS, "text": "one more"})]);
    assert_eq!((catch_up_deep(&scene, &|| false), progress(&scene)), (1, (EVENTS + 2, 0)));
}

#[test]
fn deep_vectors_rebuilt_in_another_order_give_the_same_results() {
    let scene = remembered();
    let asked = Cell::new(0);
    catch_up_deep(&scene, &|| asked.replace(asked.get() + 1) > 0);
    catch_up_deep(&scene, &|| false);
    let queries = ["which message is about the journal?", "upload tried once more", "message 12"];
    let queries = queries.map(|text| vectors_query(&scene, text));
    let before = queries.each_ref().map(|query| scene.search(query));
    assert!(!before[0].hits.is_empty());
    let folder = scene.project().join("finder/deep");
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
        assert!(!scene.search(&queries[0]).hits.is_empty(), "{damage}");
        for _ in 0..3 {
            catch_up_deep(&scene, &|| false);
        }
        assert_eq!(progress(&scene), (EVENTS + 1, 0), "{damage}");
        for (query, before) in queries.iter().zip(&before) {
            assert_eq!(listed(&scene.search(query)), listed(before), "{damage}: {query:?}");
        }
    }
}
