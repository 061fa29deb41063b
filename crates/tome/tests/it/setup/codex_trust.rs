//! Codex records which hooks the user trusts. Undo removes Tome's records, and no others.

use tome_testkit::World;

use super::{command, done, file, one, read, write};

/// Trusts every hook in a file as Codex 0.166 does: a table of tables at the end of the user's
/// config.
fn trust(config: &str, hooks_file: &str, positions: &[&str]) -> String {
    let mut config = config.to_owned();
    if !config.contains("[hooks.state]") {
        config += "\n[hooks.state]\n";
    }
    for position in positions {
        config += &format!(
            "\n[hooks.state.\"{hooks_file}:{position}\"]\ntrusted_hash = \"sha256:{}\"\n",
            "0".repeat(64)
        );
    }
    config
}

const HOOK_POSITIONS: [&str; 8] = [
    "session_start:0:0",
    "user_prompt_submit:0:0",
    "post_tool_use:0:0",
    "stop:0:0",
    "subagent_start:0:0",
    "subagent_stop:0:0",
    "post_compact:0:0",
    "session_end:0:0",
];

#[test]
fn trust_records_are_removed_with_the_hooks() {
    let world = one("codex");
    let before = "# mine\nmodel = \"a\"\n\n[mcp_servers.other]\ncommand = \"x\"\n";
    write(&world, ".codex/config.toml", before);
    done(&world, &["--agent", "codex"]);
    let hooks = file(&world, ".codex/hooks.json").display().to_string();
    let trusted = trust(&read(&world, ".codex/config.toml"), &hooks, &HOOK_POSITIONS);
    write(&world, ".codex/config.toml", &trusted);
    done(&world, &["--undo", "--agent", "codex"]);
    assert_eq!(read(&world, ".codex/config.toml"), before);
    assert!(!file(&world, ".codex/hooks.json").exists());
}

/// Other content written by Codex stays byte for byte.
#[test]
fn other_content_of_codexs_config_stays() {
    let world = one("codex");
    write(&world, ".codex/config.toml", "model = \"a\"\n");
    done(&world, &["--agent", "codex"]);
    let hooks = file(&world, ".codex/hooks.json").display().to_string();
    let own = read(&world, ".codex/config.toml") + "\n[tui]\nscreen_reader_detection_done = true\n";
    let other = "\n[hooks.state.\"/elsewhere/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n";
    write(&world, ".codex/config.toml", &(trust(&own, &hooks, &HOOK_POSITIONS) + other));
    done(&world, &["--undo", "--agent", "codex"]);
    let left = "model = \"a\"\n\n[tui]\nscreen_reader_detection_done = true\n\n[hooks.state]\n";
    assert_eq!(read(&world, ".codex/config.toml"), format!("{left}{other}"));
}

/// A user's own hook in the same file keeps its record.
#[test]
fn records_of_other_hooks_in_the_file_stay() {
    let world = one("codex");
    let own = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"beep\"}]}]}}\n";
    write(&world, ".codex/hooks.json", own);
    let hooks = file(&world, ".codex/hooks.json").display().to_string();
    let before = trust("model = \"a\"\n", &hooks, &["stop:0:0"]);
    write(&world, ".codex/config.toml", &before);
    done(&world, &["--agent", "codex"]);
    let config = read(&world, ".codex/config.toml");
    write(
        &world,
        ".codex/config.toml",
        &trust(&config, &hooks, &["session_start:0:0", "stop:1:0"]),
    );
    done(&world, &["--undo", "--agent", "codex"]);
    assert_eq!(read(&world, ".codex/config.toml"), before);
    assert_eq!(read(&world, ".codex/hooks.json"), own);
}

/// The trust of a project's hooks is in the user's config.
#[test]
fn records_of_a_projects_hooks_are_removed_with_them() {
    let world = one("codex");
    write(&world, ".codex/config.toml", "model = \"a\"\n");
    let project = world.folder("app");
    let in_project = |args: &[&str]| {
        let args = [args, &["--agent", "codex", "--project", "--yes"]].concat();
        let ran = World::run(command(&world, &args).current_dir(&project), b"");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    };
    in_project(&[]);
    let hooks = project.join(".codex/hooks.json").display().to_string();
    let trusted = trust("model = \"a\"\n", &hooks, &HOOK_POSITIONS);
    write(&world, ".codex/config.toml", &trusted);
    in_project(&["--undo"]);
    assert_eq!(read(&world, ".codex/config.toml"), "model = \"a\"\n");
}

/// An undo interrupted between the two files is finished by the next one: the hooks and their trust
/// records are gone.
#[test]
fn an_interrupted_undo_is_finished_by_the_next() {
    let world = one("codex");
    write(&world, ".codex/config.toml", "model = \"a\"\n");
    done(&world, &["--agent", "codex"]);
    let hooks = file(&world, ".codex/hooks.json");
    let trusted =
        trust(&read(&world, ".codex/config.toml"), hooks.to_str().unwrap(), &HOOK_POSITIONS);
    write(&world, ".codex/config.toml", &trusted);
    std::fs::remove_file(&hooks).unwrap();
    done(&world, &["--undo", "--agent", "codex"]);
    assert_eq!(read(&world, ".codex/config.toml"), "model = \"a\"\n");
}
