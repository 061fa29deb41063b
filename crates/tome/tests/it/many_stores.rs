//! More projects than can be open at once need only few file descriptors.

use std::process::{Command, Stdio};

use serde_json::json;
use tome_testkit::{World, eventually};

use crate::scene::{daemon_gone, daemon_up, line_with, list, status, world};

const PROJECTS: usize = 60;

fn start_limited(world: &World) -> std::process::Child {
    let plain = world.command(&["daemon"]);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 256; exec \"$0\" daemon"]).arg(world.program());
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

#[test]
fn all_projects_are_read_with_few_file_descriptors() {
    let world = world();
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    let folder = world.home().join("spool");
    std::fs::create_dir_all(&folder).unwrap();
    let lines: String = (0..PROJECTS)
        .map(|n| {
            line_with(&json!({"id": format!("event{n}"), "cwd": format!("/p{n}"), "at": 1_000 + n}))
        })
        .collect();
    std::fs::write(folder.join("events.jsonl"), lines).unwrap();
    let mut daemon = start_limited(&world);
    daemon_up(&world);
    assert_eq!(list(&world, &["--all-projects", "--limit", "0"]).len(), PROJECTS);
    for id in ["event0", "event59"] {
        assert_eq!(world.tome(&["show", id]).code, 0);
    }
    let told = world.tome(&["--json"]).json();
    assert_eq!(told["projects"].as_array().unwrap().len(), PROJECTS);
    assert_eq!(world.tome(&["admin", "compact"]).code, 0);
    eventually("the surplus to be closed", || {
        let told = status(&world);
        (told["daemon"]["stores"].as_array()?.len() <= 12).then_some(())
    });
    assert_eq!(world.tome(&["stop"]).code, 0);
    daemon_gone(&world);
    daemon.wait().unwrap();
}
