//! Paths and versions of the agents that `scripts/e2e-clients.sh` installs.

use std::path::PathBuf;

/// Name and version of each agent, matching the script's folder names.
pub const CLAUDE: (&str, &str) = ("claude", "2.1.325");
pub const GEMINI: (&str, &str) = ("gemini", "0.61.0");
pub const CODEX: (&str, &str) = ("codex", "0.166.0");
pub const COPILOT: (&str, &str) = ("copilot", "1.0.102");
pub const OPENCODE: (&str, &str) = ("opencode", "1.18.33");

/// Path of an agent's file.
///
/// # Panics
/// If it is missing, with the command that installs it.
pub fn file((name, version): (&str, &str), path: &str) -> PathBuf {
    let file = folder().join(format!("{name}-{version}")).join(path);
    assert!(
        file.exists(),
        "{} is missing: fetch it with scripts/e2e-clients.sh {name} (TOME_E2E_CLIENTS names the \
         folder, for the script and for this test)",
        file.display()
    );
    file
}

fn folder() -> PathBuf {
    let named = std::env::var_os("TOME_E2E_CLIENTS").map(PathBuf::from);
    named.unwrap_or_else(|| std::env::temp_dir().join("tome-e2e-clients"))
}

#[test]
fn the_script_installs_the_agents_used_here() {
    let script = include_str!("../../../../scripts/e2e-clients.sh");
    for (name, version) in [CLAUDE, GEMINI, CODEX, COPILOT, OPENCODE] {
        assert!(script.contains(&format!("fetch {name} {version} ")), "{name} {version}");
    }
}
