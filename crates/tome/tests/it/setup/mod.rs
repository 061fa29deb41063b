//! `tome setup` on a user's home: detection, plan, installation, repair and undo.

mod codex_trust;
mod doctor;
mod files;
mod flow;
pub mod plugins;
mod properties;
mod repair;
mod skills;
mod terminal;
mod undo;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tome_testkit::{CommandResult, World};

pub use crate::support::world;

/// Every agent, and a path that exists where it has been used.
pub const AGENTS: [(&str, &str); 5] = [
    ("claude-code", ".claude"),
    ("codex", ".codex"),
    ("gemini", ".gemini"),
    ("copilot", ".copilot"),
    ("opencode", ".config/opencode"),
];

/// A user with all five agents.
pub fn five() -> World {
    let world = world();
    for (_, folder) in AGENTS {
        world.folder(&format!("person/{folder}"));
    }
    world
}

/// A user with one agent.
pub fn one(agent: &str) -> World {
    let world = world();
    let (_, folder) = AGENTS.iter().find(|(name, _)| *name == agent).unwrap();
    world.folder(&format!("person/{folder}"));
    world
}

/// `tome setup` without any agent's program on the PATH.
pub fn command(world: &World, args: &[&str]) -> Command {
    let mut command = world.command(&[&["setup"], args].concat());
    command.env("PATH", world.folder("bin"));
    command
}

pub fn run(world: &World, args: &[&str]) -> CommandResult {
    World::run(&mut command(world, args), b"")
}

/// Runs setup or undo, which must succeed; returns its JSON.
pub fn done(world: &World, args: &[&str]) -> Value {
    let ran = run(world, &[args, &["--yes", "--json"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}: {}", ran.stdout);
    ran.json()
}

/// The actions on files, by path in the user's home.
pub fn actions(world: &World, report: &Value) -> BTreeMap<String, String> {
    let person = world.folder("person");
    let files = report["files"].as_array().unwrap().iter();
    files
        .map(|file| {
            let path = Path::new(file["path"].as_str().unwrap());
            let path = path.strip_prefix(&person).unwrap_or(path);
            (path.display().to_string(), file["action"].as_str().unwrap().to_owned())
        })
        .collect()
}

/// Everything in a folder: files with mode and content, links with targets, folders.
pub fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut tree = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            let mode = meta.permissions().mode();
            let description = if meta.is_symlink() {
                format!("link {}", std::fs::read_link(&path).unwrap().display())
            } else if meta.is_dir() {
                folders.push(path.clone());
                "folder".to_owned()
            } else {
                let content = std::fs::read(&path).unwrap();
                format!("{mode:o} {}", String::from_utf8_lossy(&content))
            };
            tree.insert(path, description);
        }
    }
    tree
}

pub fn file(world: &World, path: &str) -> PathBuf {
    world.folder("person").join(path)
}

pub fn read(world: &World, path: &str) -> String {
    let path = file(world, path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn write(world: &World, path: &str, text: &str) -> PathBuf {
    world.write(&format!("person/{path}"), text)
}

/// The command of this world's program.
pub fn program(world: &World) -> String {
    format!("{} --home {}", world.program().display(), world.home().display())
}
