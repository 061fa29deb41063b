//! `tome mcp` with the official Python client, as an independent implementation of the protocol.
//!
//! Needs a Python with the package `mcp`, 1.x or 2.x: `python3`, or the one in `TOME_TEST_PYTHON`.

use std::process::Command;
use std::time::Duration;

use tome_testkit::World;

use crate::support::world;

const SCRIPT: &str = include_str!("mcp_python.py");

/// Python starts twice, possibly on a busy machine.
const HANGS: Duration = Duration::from_secs(180);

#[test]
fn the_official_client_can_use_the_server() {
    let python = std::env::var("TOME_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
    let version = ["-c", "from importlib.metadata import version; print(version('mcp'))"];
    let version = match Command::new(&python).args(version).output() {
        Ok(out) if out.status.success() => String::from_utf8_lossy(&out.stdout).trim().to_owned(),
        _ => {
            eprintln!(
                "skipped: {python} has no package mcp; `python3 -m venv DIR && DIR/bin/pip install mcp`, then TOME_TEST_PYTHON=DIR/bin/python"
            );
            return;
        }
    };
    let world = world();
    let script = world.write("client.py", SCRIPT);
    // Only the world's own variables, which the script passes to the server.
    let own = world.command(&[]);
    let mut command = Command::new(&python);
    command.arg("-I").arg(script).arg(world.program()).env_clear().current_dir(world.folder("app"));
    for (name, value) in own.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        command.env(name, value);
    }
    let ran = World::run_within(&mut command, b"", HANGS);
    assert_eq!(ran.code, 0, "mcp {version}\n{}\n{}", ran.stdout, ran.stderr);
    let ways = ran.stdout.lines().filter(|line| line.starts_with("done ")).count();
    let expected = if version.starts_with("1.") { 1 } else { 4 };
    assert_eq!(ways, expected, "mcp {version}\n{}", ran.stdout);
    eprintln!("mcp {version}: {}", ran.stdout.replace('\n', "; "));
}
