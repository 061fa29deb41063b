//! Vectors from an endpoint: what is sent, failures of the endpoint, and what users see.

use std::fs;

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

use crate::embeddings::{Embeddings, Mood};
use crate::recall_indexes::{finder, listed, recall, settled, status};
use crate::support::{MORNING_MS, in_parallel, line_with, world};

/// Name of the embedder for vectors of its length plus this much.
fn name(longer: usize) -> String {
    format!("openai/meanings/{}", Embeddings::DIMENSIONS + longer)
}

fn configured(settings: &str) -> World {
    let world = world();
    set(&world, settings);
    world
}

fn set(world: &World, settings: &str) {
    fs::write(world.config_file(), settings).unwrap();
}

/// Eighty turns, one of which mentions a car; and a note.
fn remember(world: &World) {
    let turn = |n: usize| {
        let text = match n {
            41 => "The automobile was repaired at last.".to_owned(),
            n => format!("Build {n} waits for check_{n} in src/module_{n}.rs."),
        };
        let (id, at) = (format!("e{n}"), MORNING_MS + n as u64 * 60_000);
        line_with(&json!({"id": id, "at": at, "session_id": "s1", "text": text}))
    };
    let lines: String = (0..80).map(turn).collect();
    let mut ingest = world.command(&["ingest"]);
    let ran = World::run(ingest.env("MY_KEY", "k-123"), lines.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let note = json!({"path": "facts/project.md", "content": "# Facts\n\nThe wading bird nests in March.\n"});
    let wrote = world.tome(&["tool", "memory_write", &note.to_string(), "--project", "/app"]);
    assert_eq!(wrote.code, 0, "{}", wrote.stderr);
}

fn index(world: &World, name: &str) -> Value {
    let finder = status(world);
    let indexes = finder["index_sets"][0]["indexes"].as_array().unwrap().clone();
    indexes.into_iter().find(|index| index["name"] == name).unwrap()
}

fn texts(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["text"].as_str().unwrap()).collect()
}

fn log(world: &World) -> String {
    fs::read_to_string(world.home().join("run/daemon.log")).unwrap()
}

#[test]
fn an_endpoint_computes_each_vector_once() {
    let endpoint = Embeddings::start(Mood::Well);
    let world = configured(&endpoint.settings());
    remember(&world);
    // Different words: only the vectors match.
    let found = settled(&world, "car");
    assert!(texts(&found)[0].contains("automobile"), "{found}");
    assert!(texts(&settled(&world, "heron"))[0].contains("wading bird"));
    // High similarity of everything is no reason to list it.
    assert_eq!(texts(&settled(&world, "xylophone")), [""; 0]);
    let requests = endpoint.requests();
    assert!(requests[0].head.starts_with("POST /v1/embeddings"), "{}", requests[0].head);
    assert!(requests.iter().all(|one| one.head.contains("Bearer k-123")));
    let most = requests.iter().map(|one| one.texts.len()).max();
    assert_eq!(most, Some(64), "texts are sent together");
    let sent = endpoint.texts();
    let times = sent.iter().filter(|text| text.as_str() == "The automobile was repaired at last.");
    assert_eq!(times.count(), 1, "{sent:?}");
    assert_eq!(status(&world)["embedder"], name(0));
    assert_eq!(index(&world, "vectors/events")["embedder"], name(0));
    // Without changes, the same query and a new daemon send no stored text again.
    let before = endpoint.requests().len();
    recall(&world, "car");
    assert_eq!(endpoint.requests().len(), before);
    assert_eq!(world.tome(&["stop"]).code, 0);
    settled(&world, "heron");
    let after: Vec<_> = endpoint.requests().split_off(before);
    assert!(after.iter().all(|one| one.texts[0] == "heron"), "{after:?}");
    assert!(!log(&world).contains("k-123"));
}

#[test]
fn another_embedder_rebuilds_the_vectors() {
    let endpoint = Embeddings::start(Mood::Well);
    let world = configured("");
    remember(&world);
    let query = "which build waits for check_17";
    let before = settled(&world, query);
    let of = |world: &World| index(world, "vectors/events")["embedder"].clone();
    let builtin = of(&world);
    let check_endpoint = || {
        assert_eq!(world.tome(&["stop"]).code, 0);
        set(&world, &endpoint.settings());
        let far = settled(&world, query);
        assert_eq!(
            (of(&world), &far["hits"][0]["text"]),
            (json!(name(0)), &before["hits"][0]["text"])
        );
        assert!(texts(&settled(&world, "car"))[0].contains("automobile"));
        assert_eq!(world.tome(&["stop"]).code, 0);
    };
    check_endpoint();
    set(&world, "");
    assert_eq!(listed(&settled(&world, query)), listed(&before));
    assert_eq!(of(&world), builtin);
    // And once more, over what is left of both.
    check_endpoint();
    // Other dimensions count as another embedder.
    endpoint.becomes(Mood::Longer);
    let longer = format!("dimensions = {}", Embeddings::DIMENSIONS + Embeddings::LONGER);
    let usual = format!("dimensions = {}", Embeddings::DIMENSIONS);
    set(&world, &endpoint.settings().replace(&usual, &longer));
    settled(&world, query);
    assert_eq!(of(&world), name(Embeddings::LONGER));
}

/// Whatever the endpoint does, BM25 still finds results, the missing vectors are reported with the
/// reason, and they are computed once the endpoint recovers.
#[test]
fn a_failing_endpoint_affects_only_its_vectors() {
    let cases = [
        (Mood::Refusing(500), "not today"),
        (Mood::Refusing(401), "rejected the API key"),
        (Mood::Longer, "embed.dimensions"),
    ];
    in_parallel(cases, |(mood, problem)| {
        let endpoint = Embeddings::start(mood);
        let world = configured(&endpoint.settings());
        remember(&world);
        let finder = eventually("a problem", || {
            let finder = status(&world);
            finder["endpoint"]["problem"].is_string().then_some(finder)
        });
        assert!(finder["endpoint"]["problem"].as_str().unwrap().contains(problem), "{finder}");
        let found = eventually("the words", || {
            let found = recall(&world, "check_17");
            (found["tier"] == "bm25").then_some(found)
        });
        assert!(texts(&found)[0].contains("check_17"), "{found}");
        assert!(found["behind"].as_u64().unwrap() > 0, "{found}");
        assert!(found["unread"][0].as_str().unwrap().contains("openai/meanings"), "{found}");
        let shown = world.tome(&["status"]).stdout;
        assert!(shown.contains("no new vectors:") && shown.contains(problem), "{shown}");
        let doctor = world.tome(&["doctor"]);
        assert_eq!(doctor.code, 0, "a warning: {}", doctor.stdout);
        assert!(doctor.stdout.contains(problem), "{}", doctor.stdout);
        assert_eq!(eventually("a line", || log(&world).contains(problem).then_some(1)), 1);
        endpoint.becomes(Mood::Well);
        assert!(texts(&settled(&world, "car"))[0].contains("automobile"));
        assert!(status(&world)["endpoint"]["problem"].is_null());
        assert_eq!(log(&world).matches("no vectors for now").count(), 1, "{}", log(&world));
    });
}

#[test]
fn a_query_does_not_wait_for_a_silent_endpoint() {
    let endpoint = Embeddings::start(Mood::Well);
    // With the timeout for stored text, there would be no answer at all.
    let patient = endpoint.settings() + "timeout = \"1h\"\n";
    let world = configured(&patient);
    remember(&world);
    settled(&world, "car");
    assert_eq!(world.tome(&["stop"]).code, 0);
    endpoint.becomes(Mood::Silent);
    set(&world, &patient.replace("question_timeout = \"20s\"", "question_timeout = \"200ms\""));
    let found = eventually("the words", || {
        let found = recall(&world, "check_17");
        (found["tier"] == "bm25").then_some(found)
    });
    assert!(texts(&found)[0].contains("check_17"), "{found}");
    assert!(found["unread"][0].as_str().unwrap().contains("no answer within 0.2 s"), "{found}");
    // Events stored meanwhile wait for the endpoint and are found by BM25.
    let at = MORNING_MS + 200 * 60_000;
    world.ingest(&line_with(&json!({"id": "late", "at": at, "text": "A comet passes at dawn."})));
    let found = eventually("the words of it", || {
        let found = recall(&world, "comet");
        (found["tier"] == "bm25" && !texts(&found).is_empty()).then_some(found)
    });
    assert!(texts(&found)[0].contains("comet"), "{found}");
    eventually("vectors that are behind", || {
        (index(&world, "vectors/events")["behind"] == 1
            && index(&world, "bm25/events")["behind"] == 0)
            .then_some(())
    });
    assert_eq!(world.tome(&["stop"]).code, 0);
}

#[test]
fn an_unconfigured_endpoint_leaves_the_vectors_alone() {
    let world = configured("");
    remember(&world);
    let query = "which build waits for check_17";
    let before = settled(&world, query);
    let head = finder(&world).join("vectors/events/head");
    let builtin = fs::read(&head).unwrap();
    let nobody = "base_url = \"http://127.0.0.1:1\"\nmodel = \"m\"\ndimensions = 4\n";
    for (settings, message) in [
        ("", "embed.model is not set"),
        ("model = \"m\"\n", "embed.dimensions is not set"),
        ("model = \"m\"\ndimensions = 4\nbase_url = \"nowhere\"\n", "base URL"),
        (nobody, "cannot be reached"),
    ] {
        assert_eq!(world.tome(&["stop"]).code, 0);
        set(&world, &format!("[embed]\nprovider = \"openai\"\n{settings}"));
        let found = recall(&world, "check_17");
        assert!(texts(&found)[0].contains("check_17"), "{found}");
        eventually("a problem", || {
            let problem = status(&world)["endpoint"]["problem"].clone();
            problem.as_str().is_some_and(|problem| problem.contains(message)).then_some(())
        });
        assert_eq!(fs::read(&head).unwrap(), builtin, "{message}");
    }
    assert_eq!(world.tome(&["stop"]).code, 0);
    set(&world, "");
    assert_eq!(listed(&settled(&world, query)), listed(&before));
}

#[test]
fn secrets_are_not_sent_to_the_endpoint() {
    let endpoint = Embeddings::start(Mood::Well);
    let world = configured(&endpoint.settings());
    remember(&world);
    settled(&world, "car");
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let note = finder(&world).with_file_name("memory").join("facts/project.md");
    fs::write(note, format!("# Facts\n\nThe soup is hot, the key is {secret}.\n")).unwrap();
    recall(&world, &format!("broth with {secret}"));
    eventually("the note at the endpoint", || {
        endpoint.texts().iter().any(|text| text.contains("The soup is hot")).then_some(())
    });
    assert!(endpoint.texts().iter().any(|text| text.contains("broth with")));
    let leaked: Vec<_> =
        endpoint.texts().into_iter().filter(|text| text.contains(&secret)).collect();
    assert!(leaked.is_empty(), "{leaked:?}");
}

#[test]
fn status_shows_the_projections() {
    let world = configured("");
    remember(&world);
    settled(&world, "which build waits for check_17");
    let store = world.tome(&["admin", "status", "--json"]).json();
    let projections = store["workers"].as_array().unwrap();
    let names: Vec<_> =
        projections.iter().map(|projection| projection["name"].as_str().unwrap()).collect();
    let expected = [
        "session-stats",
        "contents",
        "transcript-copies",
        "topics",
        "bm25/events",
        "bm25/pages",
        "vectors/events",
        "vectors/pages",
    ];
    assert_eq!(names[..8], expected);
    assert_eq!(names[8..], ["deep/events", "deep/pages"]);
    let of = |name: &str| projections.iter().find(|projection| projection["name"] == name).unwrap();
    // Topics follow the contents, after the indexes.
    for name in expected[2..].iter().filter(|name| **name != "topics") {
        let projection = of(name);
        assert_eq!(projection["behind"], 0, "{projection}");
        assert!(projection["disk_bytes"].as_u64().unwrap() > 0, "{projection}");
    }
    assert_eq!(
        (&of("transcript-copies")["cursor"], &of("bm25/events")["entries"]),
        (&json!(80), &json!(80))
    );
    assert!(of("vectors/pages")["embedder"].as_str().unwrap().starts_with("tome-static"));
    assert_eq!(store["finder"], finder(&world).display().to_string());
    let shown = world.tome(&["admin", "status"]).stdout;
    assert!(shown.contains("vectors/events") && shown.contains("tome-static"), "{shown}");
    let shown = world.tome(&["status"]).stdout;
    assert!(shown.contains("vectors by tome-static"), "{shown}");
    let doctor = world.tome(&["doctor"]).stdout;
    assert!(doctor.contains("indexes") && doctor.contains("vectors by tome-static"), "{doctor}");
}

/// If an index cannot be rebuilt, the message says what to delete.
#[test]
fn index_problems_are_reported_with_a_remedy() {
    let world = configured("");
    remember(&world);
    settled(&world, "which build waits for check_17");
    assert_eq!(world.tome(&["stop"]).code, 0);
    // Nothing can be created below a file.
    let folder = finder(&world);
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "in the way").unwrap();
    let found = recall(&world, "check_17");
    assert!(texts(&found)[0].contains("check_17"), "{found}");
    let doctor = eventually("a warning", || {
        let doctor = world.tome(&["doctor"]).stdout;
        doctor.contains("cannot be used").then_some(doctor)
    });
    assert!(doctor.contains(&format!("delete {}", folder.display())), "{doctor}");
    fs::remove_file(&folder).unwrap();
    assert_eq!(world.tome(&["stop"]).code, 0);
    settled(&world, "which build waits for check_17");
}
