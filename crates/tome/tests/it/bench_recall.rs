//! `tome bench recall` with a fixture of known scores.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use tome_testkit::{Signal, World, eventually, is_alive, send_signal};

use crate::support::world;

/// The programs run in another folder.
fn set() -> String {
    let folder = std::path::absolute("tests/fixtures/recall").unwrap();
    folder.to_str().unwrap().to_owned()
}

/// Measures a data set; returns one JSON object per set.
fn measure(world: &World, data: &str, more: &[&str]) -> Vec<Value> {
    let args = [&["bench", "recall", "--data", data, "--json"], more].concat();
    let ran = world.tome(&args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the error of the bench.
fn complaint(world: &World, data: &Path) -> String {
    let ran = world.tome(&["bench", "recall", "--data", data.to_str().unwrap()]);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "");
    ran.stderr
}

/// A copy of the data set with one file changed or removed.
fn spoilt(world: &World, name: &str, file: &str, text: Option<&str>) -> PathBuf {
    for one in ["docs.jsonl", "queries.jsonl", "qrels.tsv"] {
        let path = world.write(
            &format!("{name}/{one}"),
            &std::fs::read_to_string(Path::new(&set()).join(one)).unwrap(),
        );
        match text {
            _ if one != file => {}
            Some(text) => std::fs::write(path, text).unwrap(),
            None => std::fs::remove_file(path).unwrap(),
        }
    }
    world.folder(name)
}

fn scores<'a>(measured: &'a Value, tier: &str) -> &'a Value {
    let tiers = measured["tiers"].as_array().unwrap();
    &tiers.iter().find(|one| one["tier"] == tier).unwrap()["scores"]
}

#[test]
fn the_fixture_has_the_expected_scores() {
    let world = world();
    let rows = world.path().join("rows.jsonl");
    let [measured] = &measure(&world, &set(), &["--rows", rows.to_str().unwrap()])[..] else {
        panic!("one data set")
    };
    assert_eq!((&measured["documents"], &measured["projects"]), (&10.into(), &2.into()));
    // The baseline has the words of every query, and says nothing of confidence.
    let baseline = scores(measured, "fts5");
    assert!(baseline["r5"].as_f64().unwrap() > 0.5, "{baseline}");
    assert_eq!(baseline["strong_relevant"], Value::Null);
    for tier in ["literal", "bm25", "fused"] {
        let scores = scores(measured, tier);
        let whole: Vec<&Value> =
            ["r5", "recall_all5", "hit5"].iter().map(|name| &scores[*name]).collect();
        assert_eq!(whole, [1.0, 1.0, 1.0], "{tier} {scores}");
        assert_eq!((&scores["queries"], &scores["answerable"]), (&6.into(), &5.into()));
        assert_eq!(scores["false_refusals"], 0.0, "{tier} {scores}");
        assert!(scores["mrr10"].as_f64().unwrap() > 0.7, "{tier} {scores}");
        assert!(scores["tokens"].as_f64().unwrap() > 5.0, "{tier} {scores}");
    }
    for tier in ["literal", "bm25"] {
        assert_eq!(scores(measured, tier)["abstention_accuracy"], 1.0);
    }
    let types = &measured["tiers"][1]["types"];
    assert_eq!((&types["code"]["queries"], &types["code"]["r5"]), (&2.into(), &1.0.into()));
    // One time that cannot be parsed, and one that is missing.
    let warnings = measured["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].as_str().unwrap().starts_with("2 documents without a readable time"));
    check_rows(&rows);
}

fn check_rows(path: &Path) {
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 6 * 5);
    let row = rows.iter().find(|row| row["id"] == "q5" && row["tier"] == "bm25").unwrap();
    assert_eq!(row["gold"], serde_json::json!(["a/1", "a/2"]));
    assert_eq!((&row["type"], row["ranks"].as_array().unwrap().len()), (&"words".into(), 2));
    let hits = row["hits"].as_array().unwrap();
    assert!(hits.iter().any(|hit| hit["documents"] == serde_json::json!(["a/1"])), "{row}");
    assert!(row["latency_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_kept_home_reproduces_the_results() {
    let world = world();
    let home = world.path().join("kept");
    let home = home.to_str().unwrap();
    let answers = |name: &str| {
        let rows = world.path().join(name);
        measure(&world, &set(), &["--home", home, "--rows", rows.to_str().unwrap()]);
        let text = std::fs::read_to_string(rows).unwrap();
        let rows = text.lines().map(|line| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            row["latency_ms"].take();
            row
        });
        rows.collect::<Vec<Value>>()
    };
    assert_eq!(answers("first"), answers("second"));
    // The home that the environment names was not touched.
    assert!(!world.home().exists());
}

#[test]
fn an_empty_store_scores_zero() {
    let world = world();
    let empty = spoilt(&world, "sets/empty", "docs.jsonl", Some(""));
    let data = empty.parent().unwrap().to_str().unwrap();
    let [measured] = &measure(&world, data, &[])[..] else { panic!("one data set") };
    assert_eq!((&measured["set"], &measured["documents"]), (&"empty".into(), &0.into()));
    for tier in ["literal", "bm25", "vectors", "fused"] {
        let scores = scores(measured, tier);
        for name in
            ["r1", "r5", "r10", "recall_all5", "recall_all10", "hit5", "ndcg10", "mrr10", "tokens"]
        {
            assert_eq!(scores[name], 0.0, "{tier} {name}");
        }
        assert_eq!(
            (&scores["abstention_accuracy"], &scores["false_refusals"]),
            (&1.0.into(), &1.0.into())
        );
    }
}

#[test]
fn several_sets_can_be_measured_on_one_tier() {
    let world = world();
    spoilt(&world, "sets/b", "", None);
    spoilt(&world, "sets/a", "", None);
    let data = world.folder("sets");
    let args =
        ["bench", "recall", "--data", data.to_str().unwrap(), "--tier", "bm25", "--limit", "3"];
    let ran = world.tome(&args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let heads: Vec<&str> =
        ran.stdout.lines().filter(|line| line.contains("10 documents in 2 projects")).collect();
    assert_eq!(heads.len(), 2, "{}", ran.stdout);
    assert!(heads[0].starts_with("a ") && heads[1].starts_with("b "), "{heads:?}");
    assert!(heads[0].contains("6 queries (5 with an answer), limit 3"), "{heads:?}");
    let tiers: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("  bm25 ")).collect();
    assert_eq!(tiers.len(), 2, "{}", ran.stdout);
    assert!(!ran.stdout.contains("  fused "), "{}", ran.stdout);
}

#[test]
fn bad_data_is_reported_with_file_and_line() {
    let world = world();
    let cases = [
        ("docs.jsonl", None, "docs.jsonl: "),
        ("queries.jsonl", None, "queries.jsonl: "),
        ("qrels.tsv", None, "qrels.tsv: "),
        (
            "docs.jsonl",
            Some("{\"id\":1,\"text\":\"a\"}\n\n{\"id\": 2}\n"),
            "docs.jsonl:3: missing field `text`",
        ),
        ("queries.jsonl", Some("nonsense\n"), "queries.jsonl:1: expected"),
        ("qrels.tsv", Some("q1\th/1\t1\nq2 h/2 1\n"), "qrels.tsv:2: expected query id"),
        ("qrels.tsv", Some("q1\th/1\tyes\n"), "qrels.tsv:1: the relevance \"yes\" is not a number"),
        ("qrels.tsv", Some("q9\th/1\t1\n"), "qrels.tsv:1: unknown query \"q9\""),
    ];
    for (number, (file, text, wanted)) in cases.into_iter().enumerate() {
        let data = spoilt(&world, &format!("case{number}"), file, text);
        let message = complaint(&world, &data);
        assert!(message.contains(wanted), "{wanted}: {message}");
    }
    assert!(complaint(&world, &world.folder("nothing")).contains("no data set in"));
    assert!(complaint(&world, &world.path().join("nowhere")).contains("cannot read"));
}

#[test]
fn a_home_with_user_data_is_refused() {
    let world = world();
    world.write("mine/coder/README.md", "a memory\n");
    let mine = world.folder("mine");
    let ran = world.tome(&["bench", "recall", "--data", &set(), "--home", mine.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("was not created by a benchmark"), "{}", ran.stderr);
    assert_eq!(std::fs::read_dir(&mine).unwrap().count(), 1);
}

#[test]
fn an_interrupted_bench_leaves_nothing_behind() {
    let world = world();
    let mut bench = world.command(&["bench", "recall", "--data", &set()]);
    let mut bench = bench.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let daemon = eventually("the bench's daemon", || {
        let home = std::fs::read_dir(world.folder("tmp")).ok()?.flatten().next()?.path();
        let lock = std::fs::read_to_string(home.join("home/run/daemon.lock")).ok()?;
        lock.split_whitespace().next()?.parse::<u32>().ok()
    });
    send_signal(bench.id(), Signal::Term);
    assert_eq!(bench.wait().unwrap().code(), Some(1));
    // The daemon has closed everything; its process may take a moment to exit.
    eventually("the daemon to be gone", || (!is_alive(daemon)).then_some(()));
    assert_eq!(std::fs::read_dir(world.folder("tmp")).unwrap().count(), 0);
}
