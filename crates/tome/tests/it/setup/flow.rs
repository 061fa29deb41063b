//! The steps of a setup: preview, question, installation, repetition.

use serde_json::{Value, json};
use tome_testkit::World;

use super::{
    AGENTS, actions, command, done, file, five, one, program, read, run, tree, world, write,
};
use crate::support::{daemon_up, strings};

#[test]
fn every_agent_is_installed_once_and_undone_without_a_trace() {
    let world = five();
    let before = tree(&world.folder("person"));
    let first = done(&world, &[]);
    assert_eq!(first["applied"], true);
    for (agent, _) in AGENTS {
        let agents = first["agents"].as_array().unwrap();
        assert!(agents.iter().any(|found| found["agent"] == agent), "{agent} in {agents:?}");
    }
    for path in [
        ".claude/settings.json",
        ".claude.json",
        ".claude/skills/tome-memory/SKILL.md",
        ".claude/agents/memory-navigator.md",
        ".claude/commands/memory-search.md",
        ".codex/hooks.json",
        ".codex/config.toml",
        ".agents/skills/tome-memory/SKILL.md",
        ".gemini/settings.json",
        ".gemini/commands/memory-recent.toml",
        ".copilot/hooks/tome.json",
        ".copilot/mcp-config.json",
        ".copilot/agents/memory-navigator.agent.md",
        ".config/opencode/plugins/tome.js",
        ".config/opencode/opencode.json",
        ".config/opencode/commands/memory-context.md",
    ] {
        assert!(file(&world, path).is_file(), "{path}");
    }
    let wired = tree(&world.folder("person"));
    let second = done(&world, &[]);
    assert_eq!(second["applied"], false);
    assert!(actions(&world, &second).values().all(|action| action == "keep"), "{second}");
    assert_eq!(tree(&world.folder("person")), wired);
    done(&world, &["--undo"]);
    assert_eq!(tree(&world.folder("person")), before);
    let again = run(&world, &["--undo", "--yes"]);
    assert_eq!(again.code, 0);
    assert!(again.stdout.contains("Nothing to undo"), "{}", again.stdout);
}

#[test]
fn each_agent_can_be_installed_alone() {
    for (agent, _) in AGENTS {
        let world = one(agent);
        let before = tree(&world.folder("person"));
        let report = done(&world, &[]);
        let agents: Vec<&Value> = report["agents"].as_array().unwrap().iter().collect();
        assert_eq!(agents.len(), 1, "{agent}: {report}");
        assert_ne!(tree(&world.folder("person")), before);
        done(&world, &["--undo", "--agent", agent]);
        assert_eq!(tree(&world.folder("person")), before, "{agent}");
    }
}

#[test]
fn only_agents_that_were_connected_are_said_to_be_recorded() {
    let world = five();
    write(&world, ".claude/settings.json", "{ broken");
    let agents = ["--agent", "claude-code", "--agent", "codex", "--yes"];
    let ran = run(&world, &agents);
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(said.contains("New sessions of Codex are recorded from now on."), "{said}");
    assert!(said.contains("Claude Code may not be recorded"), "{said}");
    assert!(said.contains("fail ~/.claude/settings.json was not touched"), "{said}");
    let ran = run(&world, &["--agent", "claude-code", "--yes"]);
    assert!(!ran.stdout.contains("from now on"), "{}", ran.stdout);
}

#[test]
fn a_dry_run_shows_the_plan_and_changes_nothing() {
    let world = one("claude-code");
    write(&world, ".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    let before = tree(&world.folder("person"));
    let ran = run(&world, &["--dry-run", "--diff"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for part in [
        "Claude Code",
        "change  ~/.claude/settings.json",
        "-   \"model\": \"opus\"\n",
        "+   \"model\": \"opus\",\n",
        "+     \"SessionStart\": [\n",
        "new     ~/.claude/commands/memory-search.md",
        "nothing was changed",
    ] {
        assert!(ran.stdout.contains(part), "{part} in {}", ran.stdout);
    }
    assert_eq!(tree(&world.folder("person")), before);
    assert!(!world.home().exists(), "nor is anything recorded");
}

#[test]
fn without_a_terminal_nothing_is_done_without_yes() {
    let world = one("gemini");
    let before = tree(&world.folder("person"));
    let ran = run(&world, &[]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--yes"), "{}", ran.stderr);
    assert!(ran.stdout.contains("Gemini CLI"), "{}", ran.stdout);
    assert_eq!(tree(&world.folder("person")), before);
    done(&world, &[]);
    let wired = tree(&world.folder("person"));
    assert_eq!(run(&world, &["--undo"]).code, 2);
    assert_eq!(run(&world, &["--undo", "--dry-run"]).code, 0);
    assert_eq!(tree(&world.folder("person")), wired);
}

#[test]
fn agents_are_selected_by_name() {
    let world = world();
    let ran = run(&world, &["--yes"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("No coding agent found"), "{}", ran.stdout);
    let ran = run(&world, &["--yes", "--agent", "cluade"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("claude-code"), "{}", ran.stderr);
    done(&world, &["--agent", "codex"]);
    assert!(file(&world, ".codex/hooks.json").is_file());
    assert!(!file(&world, ".gemini").exists());
}

/// A program on the PATH is sufficient.
#[test]
fn an_agent_never_started_is_found_by_its_program() {
    use std::os::unix::fs::PermissionsExt;
    let world = world();
    let program = world.write("bin/gemini", "#!/bin/sh\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let report = done(&world, &[]);
    assert_eq!(report["agents"][0]["agent"], "gemini");
    assert!(file(&world, ".gemini/settings.json").is_file());
}

/// The installed hooks record whatever the agent's environment is.
#[test]
fn the_installed_hooks_record() {
    let world = five();
    done(&world, &[]);
    let hook = |path: &str, event: &str, payload: Value| {
        let settings: Value = serde_json::from_str(&read(&world, path)).unwrap();
        let found = &settings["hooks"][event][0];
        let line = found["hooks"][0]["command"].as_str().or(found["bash"].as_str()).unwrap();
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", line]).env_clear().current_dir(world.folder("elsewhere"));
        command.env("HOME", world.folder("person")).env("TMPDIR", world.folder("tmp"));
        command.env("TOME_DAEMON_IDLE_EXIT", "2m");
        World::run_hook_command(&mut command, payload.to_string());
    };
    let prompt_payload = |prompt: &str| {
        json!({"session_id": "s1", "cwd": "/app", "hook_event_name": "UserPromptSubmit",
               "prompt": prompt})
    };
    hook(".claude/settings.json", "UserPromptSubmit", prompt_payload("for claude"));
    hook(".codex/hooks.json", "UserPromptSubmit", prompt_payload("for codex"));
    let gemini = json!({"session_id": "s1", "cwd": "/app", "hook_event_name": "BeforeAgent",
                        "timestamp": "2026-11-15T09:30:00Z", "prompt": "for gemini"});
    hook(".gemini/settings.json", "BeforeAgent", gemini);
    let copilot = json!({"sessionId": "s1", "timestamp": 1_794_735_000_000_u64, "cwd": "/app",
                         "prompt": "for copilot"});
    hook(".copilot/hooks/tome.json", "userPromptSubmitted", copilot);
    world.tome(&["start"]);
    daemon_up(&world);
    let events = world.events();
    let mut heard: Vec<(&str, &str)> =
        strings(&events, "agent").into_iter().zip(strings(&events, "text")).collect();
    heard.sort_unstable();
    let expected = [
        ("claude-code", "for claude"),
        ("codex", "for codex"),
        ("copilot", "for copilot"),
        ("gemini", "for gemini"),
    ];
    assert_eq!(heard, expected);
}

/// Every tool matches, and timeouts are in each agent's unit.
#[test]
fn all_events_and_tools_are_hooked() {
    let world = five();
    done(&world, &[]);
    let events = |path: &str| -> Value {
        serde_json::from_str::<Value>(&read(&world, path)).unwrap()["hooks"].clone()
    };
    let names = |hooks: &Value| {
        let mut names: Vec<String> = hooks.as_object().unwrap().keys().cloned().collect();
        names.sort_unstable();
        names.join(" ")
    };
    let claude = events(".claude/settings.json");
    assert_eq!(
        names(&claude),
        "PostCompact PostToolUse PostToolUseFailure PreToolUse SessionEnd SessionStart Stop \
         StopFailure SubagentStart SubagentStop UserPromptSubmit"
    );
    let line = format!("{} hook claude-code", program(&world));
    let hook = json!([{"hooks": [{"type": "command", "command": line, "timeout": 5}]}]);
    assert_eq!(claude["PostToolUse"], hook);
    assert_eq!(claude["PreToolUse"][0]["hooks"], hook[0]["hooks"]);
    assert_eq!(claude["PreToolUse"][0]["matcher"], "Edit|Write|MultiEdit|NotebookEdit|Agent|Task");
    let codex = events(".codex/hooks.json");
    assert_eq!(
        names(&codex),
        "PostCompact PostToolUse SessionEnd SessionStart Stop SubagentStart SubagentStop \
         UserPromptSubmit"
    );
    assert_eq!(codex["SessionEnd"][0]["hooks"][0]["timeout"], 3);
    assert_eq!(codex["PostToolUse"][0].get("matcher"), None);
    let gemini = events(".gemini/settings.json");
    assert_eq!(
        names(&gemini),
        "AfterAgent AfterTool BeforeAgent PreCompress SessionEnd SessionStart"
    );
    assert_eq!(gemini["AfterTool"][0].get("matcher"), None);
    assert_eq!(gemini["AfterTool"][0]["hooks"][0]["timeout"], 5_000);
    assert_eq!(gemini["PreCompress"][0]["matcher"], "manual");
    let copilot = events(".copilot/hooks/tome.json");
    let line = format!("{} hook copilot postToolUse", program(&world));
    assert_eq!(copilot["postToolUse"][0]["bash"], line);
    assert_eq!(copilot["postToolUse"][0].get("matcher"), None);
    assert_eq!(copilot["postToolUse"][0]["timeoutSec"], 5);
}

#[test]
fn every_agent_gets_the_mcp_server() {
    let world = five();
    done(&world, &[]);
    let (program, home) = (world.program().display().to_string(), world.home());
    let args = |agent: &str| json!(["--home", home, "mcp", "--agent", agent]);
    let settings = |path: &str| serde_json::from_str::<Value>(&read(&world, path)).unwrap();
    let claude = &settings(".claude.json")["mcpServers"]["tome"];
    assert_eq!(*claude, json!({"command": program, "args": args("claude-code")}));
    let gemini = &settings(".gemini/settings.json")["mcpServers"]["tome"];
    assert_eq!(*gemini, json!({"command": program, "args": args("gemini")}));
    let copilot = &settings(".copilot/mcp-config.json")["mcpServers"]["tome"];
    let expected =
        json!({"type": "local", "command": program, "args": args("copilot"), "tools": ["*"]});
    assert_eq!(*copilot, expected);
    let opencode = &settings(".config/opencode/opencode.json")["mcp"]["tome"];
    let words = json!([program, "--home", home, "mcp", "--agent", "opencode"]);
    assert_eq!(*opencode, json!({"type": "local", "command": words, "enabled": true}));
    let codex: toml::Table = read(&world, ".codex/config.toml").parse().unwrap();
    let codex = codex["mcp_servers"]["tome"].as_table().unwrap();
    assert_eq!(codex["command"].as_str(), Some(program.as_str()));
    assert_eq!(codex["args"].as_array().unwrap().len(), 5);
}

/// The default home is not part of the command, and a program on the PATH is called by that path,
/// which survives updates by a package manager.
#[test]
fn the_command_is_as_short_as_possible() {
    let world = one("codex");
    let bin = world.folder("bin");
    std::os::unix::fs::symlink(world.program(), bin.join("tome")).unwrap();
    let mut setup = command(&world, &["--yes"]);
    let ran = World::run(setup.env_remove("TOME_HOME"), b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let hooks: Value = serde_json::from_str(&read(&world, ".codex/hooks.json")).unwrap();
    let line = format!("{} hook codex", bin.join("tome").display());
    assert_eq!(hooks["hooks"]["Stop"][0]["hooks"][0]["command"], line);
}

#[test]
fn setup_explains_that_codex_needs_trust() {
    let ran = run(&one("codex"), &["--yes"]);
    assert!(ran.stdout.contains("type /hooks"), "{}", ran.stdout);
    let ran = run(&one("gemini"), &["--yes"]);
    assert!(!ran.stdout.contains("type /hooks"), "{}", ran.stdout);
}

#[test]
fn setup_can_install_into_a_project() {
    let world = world();
    let project = world.folder("app");
    world.write("app/.git/HEAD", "ref: refs/heads/main\n");
    let below = world.folder("app/src/deep");
    let before = tree(&project);
    let mut setup = command(&world, &["--project", "--yes"]);
    for (agent, _) in AGENTS {
        setup.args(["--agent", agent]);
    }
    let ran = World::run(setup.current_dir(&below), b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    for path in [
        ".claude/settings.local.json",
        ".mcp.json",
        ".codex/hooks.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".github/hooks/tome.json",
        ".github/mcp.json",
        ".opencode/plugins/tome.js",
        "opencode.json",
        ".agents/skills/tome-memory/SKILL.md",
    ] {
        assert!(project.join(path).is_file(), "{path}");
    }
    assert_eq!(tree(&world.folder("person")).len(), 0, "nothing of the person's");
    // Copilot CLI also reads this one.
    let shared = std::fs::read_to_string(project.join(".mcp.json")).unwrap();
    assert!(shared.contains("\"mcp\"") && !shared.contains("--agent"), "{shared}");
    done(&world, &["--undo"]);
    assert_eq!(tree(&project), before);
}
