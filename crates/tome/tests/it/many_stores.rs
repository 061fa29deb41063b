//! More projects than can be open at once are listed and searched with few file descriptors.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use serde_json::json;
use tome_testkit::{World, eventually};

use crate::support::{daemon_gone, daemon_up, line_with, list, status, world};

/// Ten descriptors per store, and as many for its indexes, would exceed the limit by far.
const PROJECTS: usize = 32;
const DESCRIPTORS_MAX: usize = 256;

fn start_limited(world: &World) -> std::process::Child {
    let plain = world.command(&["daemon"]);
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -n {DESCRIPTORS_MAX}; exec \"$0\" daemon"));
    command.arg(world.program());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(folder) = plain.get_current_dir() {
        command.current_dir(folder);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Searches all projects; the answer must be complete.
fn check_recall(world: &World) {
    let all = ["recall", "zebra", "--all-projects", "--limit", "50", "--json"];
    let answer = world.tome(&all).json();
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!(answer["unread"].as_array().map_or(0, Vec::len), 0, "{answer}");
    let projects: BTreeSet<&str> = hits.iter().filter_map(|hit| hit["project"].as_str()).collect();
    assert!(projects.len() >= 20, "hits of many projects: {projects:?}");
    for n in [0, PROJECTS / 2, PROJECTS - 1] {
        let query = format!("herd{n}");
        let answer = world.tome(&["recall", &query, "--all-projects", "--json"]).json();
        assert_eq!(answer["hits"][0]["project"], format!("/p{n}"), "{answer}");
        assert_eq!(answer["unread"].as_array().map_or(0, Vec::len), 0, "{answer}");
    }
}

#[test]
fn all_projects_are_read_and_searched_with_few_file_descriptors() {
    let world = world();
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    let folder = world.home().join("spool");
    std::fs::create_dir_all(&folder).unwrap();
    let lines: String = (0..PROJECTS)
        .map(|n| {
            let text = format!("the zebra of herd{n} crossed the river");
            line_with(&json!({
                "id": format!("event{n}"), "cwd": format!("/p{n}"), "session_id": format!("s{n}"),
                "at": 1_000 + n, "text": text,
            }))
        })
        .collect();
    std::fs::write(folder.join("events.jsonl"), lines).unwrap();
    let mut daemon = start_limited(&world);
    daemon_up(&world);
    assert_eq!(list(&world, &["--all-projects", "--limit", "0"]).len(), PROJECTS);
    // While indexes are built.
    check_recall(&world);
    for n in [0, PROJECTS - 1] {
        assert_eq!(world.tome(&["show", &format!("event{n}")]).code, 0);
    }
    let told = world.tome(&["--json"]).json();
    assert_eq!(told["projects"].as_array().unwrap().len(), PROJECTS);
    assert_eq!(world.tome(&["admin", "compact"]).code, 0);
    eventually("the surplus to be closed", || {
        let told = status(&world);
        let stores = told["daemon"]["stores"].as_array()?.iter();
        (stores.filter(|store| store["open"] == true).count() <= 12).then_some(())
    });
    // With most stores closed.
    check_recall(&world);
    assert_eq!(world.events().len(), PROJECTS);
    assert_eq!(world.tome(&["stop"]).code, 0);
    daemon_gone(&world);
    daemon.wait().unwrap();
}
