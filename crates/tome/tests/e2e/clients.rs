//! Where the agents lie that `scripts/e2e-clients.sh` fetched, and in which versions.

use std::path::PathBuf;

/// Name and version of each agent, as the script names its folder.
pub const CLAUDE: (&str, &str) = ("claude", "2.1.325");
pub const GEMINI: (&str, &str) = ("gemini", "0.61.0");
pub const CODEX: (&str, &str) = ("codex", "0.166.0");
pub const COPILOT: (&str, &str) = ("copilot", "1.0.102");
pub const OPENCODE: (&str, &str) = ("opencode", "1.18.33");

/// A file of an agent.
///
/// # Panics
/// With the command that fetches it, where it is missing.
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
fn the_script_fetches_what_is_driven_here() {
    let script = include_str!("../../../../scripts/e2e-clients.sh");
    for (name, version) in [CLAUDE, GEMINI, CODEX, COPILOT, OPENCODE] {
        assert!(script.contains(&format!("fetch {name} {version} ")), "{name} {version}");
    }
}
