//! One copy of the skill per agent, and the messages about OpenCode's plugin package.

use serde_json::Value;
use tome_testkit::World;

use super::{AGENTS, command, done, file, five, one, read, run, world, write};

const SKILL: &str = "tome-memory/SKILL.md";

/// Skill folders in the user's home that each agent reads.
const FOLDERS: [(&str, &[&str]); 5] = [
    ("claude-code", &[".claude/skills"]),
    ("codex", &[".agents/skills", ".codex/skills"]),
    ("gemini", &[".agents/skills", ".gemini/skills"]),
    ("copilot", &[".agents/skills", ".copilot/skills"]),
    ("opencode", &[".agents/skills", ".config/opencode/skills", ".config/opencode/skill"]),
];

fn copies(world: &World, folders: &[&str]) -> usize {
    folders.iter().filter(|folder| file(world, &format!("{folder}/{SKILL}")).exists()).count()
}

/// The doctor's warnings about agents.
fn warnings(world: &World) -> Vec<String> {
    let mut doctor = world.command(&["doctor", "--json"]);
    let ran = World::run(doctor.env("PATH", world.folder("bin")), b"");
    let checks = ran.json()["checks"].as_array().unwrap().clone();
    let part = |check: &Value, name: &str| check[name].as_str().unwrap_or_default().to_owned();
    checks
        .iter()
        .filter(|check| check["what"] == "agent" && check["verdict"] == "warning")
        .map(|check| format!("{} → {}", part(check, "found"), part(check, "advice")))
        .collect()
}

#[test]
fn every_agent_gets_the_skill_once() {
    let world = five();
    done(&world, &[]);
    for (agent, folders) in FOLDERS {
        assert_eq!(copies(&world, folders), 1, "{agent}");
    }
    for (agent, folders) in FOLDERS {
        let world = one(agent);
        done(&world, &[]);
        assert_eq!(copies(&world, folders), 1, "{agent} alone");
    }
}

/// OpenCode reads Claude Code's skills and gets no copy of its own, in whichever order they are set
/// up.
#[test]
fn opencode_shares_claude_codes_copy() {
    for first in [&["--agent", "claude-code"][..], &[]] {
        let world = one("claude-code");
        world.folder("person/.config/opencode");
        done(&world, first);
        done(&world, &["--agent", "claude-code", "--agent", "opencode"]);
        assert!(file(&world, &format!(".claude/skills/{SKILL}")).exists());
        assert!(!file(&world, ".agents").exists());
        // It stays for OpenCode when Claude Code no longer needs it.
        done(&world, &["--undo", "--agent", "claude-code"]);
        assert!(file(&world, &format!(".claude/skills/{SKILL}")).exists());
        done(&world, &["--undo"]);
        assert!(!file(&world, &format!(".claude/skills/{SKILL}")).exists());
    }
}

#[test]
fn a_project_gets_no_copy_beside_the_users() {
    let world = one("codex");
    let project = world.folder("app");
    world.write("app/.git/HEAD", "ref: refs/heads/main\n");
    done(&world, &[]);
    let mut setup = command(&world, &["--project", "--yes", "--agent", "codex"]);
    let ran = World::run(setup.current_dir(&project), b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(project.join(".codex/hooks.json").is_file());
    assert!(!project.join(".agents").exists());
}

/// An earlier version put a copy into OpenCode's own folder.
#[test]
fn the_doctor_reports_a_redundant_copy() {
    let world = one("opencode");
    world.folder("person/.config/opencode/node_modules/@opencode-ai/plugin");
    done(&world, &[]);
    assert_eq!(warnings(&world), Vec::<String>::new());
    let skill = read(&world, &format!(".agents/skills/{SKILL}"));
    let second = write(&world, &format!(".config/opencode/skills/{SKILL}"), &skill);
    let shown = warnings(&world);
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].contains("OpenCode finds several copies of Tome's skill"), "{shown:?}");
    assert!(shown[0].contains(&format!("delete ~/.config/opencode/skills/{SKILL}")), "{shown:?}");
    std::fs::remove_file(second).unwrap();
    assert_eq!(warnings(&world), Vec::<String>::new());
}

#[test]
fn setup_and_doctor_explain_opencodes_slow_start_without_a_network() {
    let world = one("opencode");
    let ran = run(&world, &["--yes"]);
    assert!(ran.stdout.contains("Start OpenCode once while online"), "{}", ran.stdout);
    assert!(ran.stdout.contains("@opencode-ai/plugin"), "{}", ran.stdout);
    let shown = warnings(&world);
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(
        shown[0].contains("@opencode-ai/plugin") && shown[0].contains("while online"),
        "{shown:?}"
    );
    world.folder("person/.config/opencode/node_modules/@opencode-ai/plugin");
    assert_eq!(warnings(&world), Vec::<String>::new());
}

#[test]
fn other_agents_get_no_message_about_the_package() {
    let world = world();
    for (agent, _) in AGENTS.iter().filter(|(agent, _)| *agent != "opencode") {
        let ran = run(&world, &["--yes", "--agent", agent]);
        assert!(!ran.stdout.contains("@opencode-ai"), "{agent}: {}", ran.stdout);
    }
}
