//! `tome doctor` on the agents.

use serde_json::{Value, json};
use tome_testkit::World;

use super::{done, one, read, world, write};
use crate::support::daemon_up;

/// The doctor's results for agents: verdict, finding, advice.
fn doctor(world: &World) -> Vec<(String, String, String)> {
    let mut command = world.command(&["doctor", "--json"]);
    let ran = World::run(command.env("PATH", world.folder("bin")), b"");
    let checks = ran.json()["checks"].as_array().unwrap().clone();
    let part = |check: &Value, name: &str| check[name].as_str().unwrap_or_default().to_owned();
    let agents = checks.iter().filter(|check| check["what"] == "agent");
    agents
        .map(|check| (part(check, "verdict"), part(check, "found"), part(check, "advice")))
        .collect()
}

fn only(world: &World) -> (String, String, String) {
    let mut all = doctor(world);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn from_nothing_to_the_first_event() {
    assert_eq!(only(&world()).1, "no coding agent found");
    let world = one("claude-code");
    let (verdict, found, advice) = only(&world);
    assert_eq!(
        (verdict.as_str(), advice.as_str()),
        ("warning", "run `tome setup --agent claude-code`")
    );
    assert!(found.contains("not connected"), "{found}");
    done(&world, &[]);
    let (verdict, found, _) = only(&world);
    assert_eq!(verdict, "good");
    assert!(found.contains("unknown while the daemon is not running"), "{found}");
    world.tome(&["start"]);
    daemon_up(&world);
    assert!(only(&world).1.contains("no events yet"));
    world.hook(&["claude-code"], crate::support::prompt("hello"));
    assert_eq!(world.events().len(), 1);
    let (verdict, found, _) = only(&world);
    assert_eq!(verdict, "good");
    assert!(found.starts_with("Claude Code: connected; last event "), "{found}");
}

#[test]
fn problems_are_reported_with_a_remedy() {
    let world = one("gemini");
    done(&world, &[]);
    let wired = read(&world, ".gemini/settings.json");
    let own = world.program().display().to_string();
    write(&world, ".gemini/settings.json", &wired.replace(&own, "/old/tome"));
    let (verdict, found, advice) = only(&world);
    assert_eq!(verdict, "warning");
    assert!(found.contains("~/.gemini/settings.json"), "{found}");
    assert_eq!(advice, "run `tome setup --agent gemini`");
    let mut off: Value = serde_json::from_str(&wired).unwrap();
    off["hooksConfig"] = json!({"enabled": false});
    write(&world, ".gemini/settings.json", &off.to_string());
    let (verdict, found, advice) = only(&world);
    assert_eq!((verdict.as_str(), advice.as_str()), ("bad", "set it to true, or remove it"));
    assert!(found.contains("`hooksConfig.enabled`"), "{found}");
    write(&world, ".gemini/settings.json", "{,}");
    let (verdict, found, _) = only(&world);
    assert_eq!(verdict, "bad");
    assert!(found.contains("line 1"), "{found}");
}

/// Claude Code ignores a file that is not strict JSON, so the hooks in it have no effect.
#[test]
fn comments_in_strict_json_settings_are_reported() {
    let world = one("claude-code");
    write(&world, ".claude/settings.json", "{\n  \"model\": \"opus\", // best\n}\n");
    done(&world, &[]);
    let (verdict, found, _) = only(&world);
    assert_eq!(verdict, "bad");
    assert!(found.contains("comments or trailing commas"), "{found}");
}

/// Codex stores a hash of a trusted hook, which any change of the hook invalidates.
#[test]
fn missing_trust_of_codex_is_reported() {
    let world = one("codex");
    done(&world, &[]);
    let (verdict, found, advice) = only(&world);
    assert_eq!(verdict, "warning");
    assert!(found.contains("not trusted yet") && found.contains("SessionStart"), "{found}");
    assert!(advice.contains("type /hooks"), "{advice}");
    let path = super::file(&world, ".codex/hooks.json").display().to_string();
    let state = format!("\n[hooks.state.\"{path}:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n");
    write(&world, ".codex/config.toml", &(read(&world, ".codex/config.toml") + &state));
    assert!(only(&world).1.contains("Stop"), "a hash of something else is no trust");
}
