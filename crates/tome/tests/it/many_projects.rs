//! Recall over many projects with few file descriptors: complete, or with a report of what could
//! not be read.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tome_testkit::World;

use crate::scene::{daemon_gone, daemon_up, line_with, world};

const PROJECTS: usize = 48;

/// Starts the daemon with this hard limit of descriptors.
fn start_limited(world: &World, descriptors: usize) -> Child {
    let plain = world.command(&["daemon"]);
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -n {descriptors}; exec \"$0\" daemon"));
    command.arg(world.program());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn recall_reads_all_projects_with_few_descriptors() {
    let world = world();
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    let lines: String = (0..PROJECTS)
        .map(|n| {
            let text = format!("the zebra of herd{n} crossed the river");
            line_with(&json!({
                "id": format!("e{n}"), "cwd": format!("/p{n}"), "session_id": format!("s{n}"),
                "at": 1_000 + n, "text": text,
            }))
        })
        .collect();
    // Ten descriptors per store, and as many for its indexes, would exceed the limit.
    let mut daemon = start_limited(&world, 256);
    daemon_up(&world);
    world.ingest(&lines);
    // Twice: while indexes are built, and later.
    for _ in 0..2 {
        let all = ["recall", "zebra", "--all-projects", "--limit", "50", "--json"];
        let answer = world.tome(&all).json();
        let hits = answer["hits"].as_array().unwrap();
        assert_eq!(answer["unread"].as_array().map_or(0, Vec::len), 0, "{answer}");
        let projects: BTreeSet<&str> =
            hits.iter().filter_map(|hit| hit["project"].as_str()).collect();
        assert!(projects.len() >= 20, "hits of many projects: {projects:?}");
        for n in [0, 17, PROJECTS - 1] {
            let query = format!("herd{n}");
            let answer = world.tome(&["recall", &query, "--all-projects", "--json"]).json();
            assert_eq!(answer["hits"][0]["project"], format!("/p{n}"), "{answer}");
            assert_eq!(answer["unread"].as_array().map_or(0, Vec::len), 0, "{answer}");
        }
    }
    assert_eq!(world.events().len(), PROJECTS);
    assert_eq!(world.tome(&["stop"]).code, 0);
    daemon_gone(&world);
    daemon.wait().unwrap();
}
