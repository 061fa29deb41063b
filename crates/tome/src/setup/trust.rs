//! Determines from Codex's files whether it trusts Tome's hooks.
//!
//! When the user trusts a hook, Codex writes `[hooks.state."<hooks.json>:<event>:<group>:<hook>"]
//! trusted_hash = "sha256:…"` into its `config.toml`: the SHA-256 of the hook as compact JSON with
//! sorted keys. Tome only reads this; granting trust is up to the user.

use std::path::Path;

use ring::digest;
use serde_json::{Value, json};

use super::install_file::CommandWords;
use super::{disk, json_text, toml_text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookTrust {
    Trusted,
    /// Hooks of these events do not run until the user trusts them.
    Untrusted(Vec<String>),
    /// No hooks installed, or unreadable files.
    Unknown,
}

/// Codex's default timeout of a hook.
const TIMEOUT_DEFAULT_S: u64 = 600;

pub fn read_codex_trust(folder: &Path) -> HookTrust {
    let path = folder.join("hooks.json");
    let read = |path: &Path| {
        let bytes = disk::read(path).ok().flatten()?;
        String::from_utf8(bytes).ok()
    };
    let hooks = read(&path).and_then(|text| json_text::parse(&text).ok().flatten());
    let Some(hooks) = hooks else { return HookTrust::Unknown };
    let config = read(&folder.join("config.toml")).unwrap_or_default();
    let Ok(config) = toml_text::parse(&config) else { return HookTrust::Unknown };
    let state = config.get("hooks").and_then(|hooks| hooks.get("state"));
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let is_trusted = |position: &str, hash: &str| {
        let keys = [&path, &real].map(|path| format!("{}:{position}", path.display()));
        let trusted = keys.iter().find_map(|key| state?.get(key)?.get("trusted_hash")?.as_str());
        trusted == Some(hash)
    };
    let mut has_hooks = false;
    let mut untrusted = Vec::new();
    let events = hooks.get("hooks").and_then(Value::as_object);
    for (event, groups) in events.into_iter().flatten() {
        for (group_index, group) in groups.as_array().into_iter().flatten().enumerate() {
            let handlers = group.get("hooks").and_then(Value::as_array);
            for (hook_index, handler) in handlers.into_iter().flatten().enumerate() {
                if !CommandWords::from_settings(handler).is_hook() {
                    continue;
                }
                has_hooks = true;
                let snake = to_snake_case(event);
                let hash = compute_trust_hash(&snake, group, handler);
                if !is_trusted(&format!("{snake}:{group_index}:{hook_index}"), &hash) {
                    untrusted.push(event.clone());
                }
            }
        }
    }
    match (has_hooks, untrusted.is_empty()) {
        (false, _) => HookTrust::Unknown,
        (true, true) => HookTrust::Trusted,
        (true, false) => HookTrust::Untrusted(untrusted),
    }
}

/// `SessionStart` becomes `session_start`.
pub(super) fn to_snake_case(event: &str) -> String {
    let mut snake = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

pub(super) fn compute_trust_hash(event: &str, group: &Value, handler: &Value) -> String {
    let timeout = handler.get("timeout").and_then(Value::as_u64).unwrap_or(TIMEOUT_DEFAULT_S);
    let is_async = handler.get("async").and_then(Value::as_bool).unwrap_or(false);
    // Keys must be in alphabetical order.
    let mut hook = json!({
        "async": is_async, "command": handler.get("command"), "timeout": timeout, "type": "command",
    });
    if let (Some(message), Some(hook)) = (handler.get("statusMessage"), hook.as_object_mut()) {
        hook.shift_insert(2, "statusMessage".to_owned(), message.clone());
    }
    let mut hashed = json!({ "event_name": event, "hooks": [hook] });
    if let (Some(matcher), Some(hashed)) = (group.get("matcher"), hashed.as_object_mut()) {
        hashed.insert("matcher".to_owned(), matcher.clone());
    }
    let hash = digest::digest(&digest::SHA256, hashed.to_string().as_bytes());
    format!("sha256:{}", tome_model::to_hex(hash.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_names_are_converted_to_codexs_form() {
        assert_eq!(to_snake_case("SessionStart"), "session_start");
        assert_eq!(to_snake_case("Stop"), "stop");
    }

    /// The expected hash was computed independently from Codex's serialization.
    #[test]
    fn a_hook_is_trusted_only_with_the_hash_of_its_current_form() {
        let folder = tempfile::tempdir().unwrap();
        let hooks = |line: &str| {
            let hook = json!({"type": "command", "command": line, "timeout": 10});
            let hooks = json!({"hooks": {"SessionStart": [{"hooks": [hook]}]}});
            disk::write(&folder.path().join("hooks.json"), hooks.to_string().as_bytes()).unwrap();
        };
        assert_eq!(read_codex_trust(folder.path()), HookTrust::Unknown);
        hooks("tome hook codex");
        let untrusted = HookTrust::Untrusted(vec!["SessionStart".to_owned()]);
        assert_eq!(read_codex_trust(folder.path()), untrusted);
        let key = format!("{}:session_start:0:0", folder.path().join("hooks.json").display());
        let hash = "cc76eee78e37d06252f3bfe68d343ed5ced40ded278cc57b739dca011aac4ebe";
        let state = format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:{hash}\"\n");
        disk::write(&folder.path().join("config.toml"), state.as_bytes()).unwrap();
        assert_eq!(read_codex_trust(folder.path()), HookTrust::Trusted);
        hooks("/elsewhere/tome hook codex");
        assert_eq!(read_codex_trust(folder.path()), untrusted);
    }
}
