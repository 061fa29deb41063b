//! Removes Codex's trust records of Tome's hooks on undo.
//!
//! When the user trusts hooks, Codex writes a table for each into the user's `config.toml` (see
//! `trust.rs`), also for a project's hooks. Without the hooks the records are meaningless, and a
//! later hook at the same position would be shown as changed. Records of other hooks stay.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::install_file::CommandWords;
use super::integration::codex_config_folder;
use super::trust::{compute_trust_hash, to_snake_case};
use super::{EditError, Environment, disk, json_text, toml_text};

/// Timeouts, in seconds, that current and earlier versions give Tome's hooks.
const TIMEOUTS_S: [u64; 3] = [3, 5, 10];

/// The hooks whose trust records are removed.
pub struct TrustCleanup {
    hooks: Vec<HooksFile>,
    /// Command lines of Tome's hooks.
    commands: BTreeSet<String>,
}

struct HooksFile {
    /// Paths under which Codex may refer to the file.
    names: BTreeSet<PathBuf>,
    /// `<event>:<group>:<hook>` of Tome's hooks; `None` if the file is gone, which makes all its
    /// records obsolete.
    positions: Option<BTreeSet<String>>,
}

impl TrustCleanup {
    /// Collects the hooks in files that the journal lists, and in the file that setup currently
    /// uses for the project or the user.
    pub fn collect<'p>(
        environment: &Environment<'_>,
        recorded: impl Iterator<Item = &'p Path>,
    ) -> Self {
        let mut commands = BTreeSet::from([environment.launch.shell_line(&["hook", "codex"])]);
        let recorded: BTreeSet<&Path> =
            recorded.filter(|path| path.ends_with("hooks.json")).collect();
        let mut hooks: Vec<HooksFile> =
            recorded.iter().map(|file| HooksFile::read(file, &mut commands)).collect();
        let own = environment
            .project_or_user(".codex", codex_config_folder(environment))
            .join("hooks.json");
        if !recorded.contains(own.as_path()) {
            let mut file = HooksFile::read(&own, &mut commands);
            // A file that is gone and was not Tome's may have left records of other hooks.
            file.positions.get_or_insert_default();
            hooks.push(file);
        }
        Self { hooks, commands }
    }

    /// Codex keeps all trust records in the user's config.
    pub fn config_file(environment: &Environment<'_>) -> PathBuf {
        codex_config_folder(environment).join("config.toml")
    }

    /// Removes the records from the text of `config.toml`; `before` is the text before setup.
    pub fn remove_from(&self, text: &str, before: Option<&str>) -> Result<String, EditError> {
        toml_text::remove_trust_records(text, before, &|key, hash| self.is_tome_record(key, hash))
    }

    fn is_tome_record(&self, key: &str, hash: Option<&str>) -> bool {
        self.hooks.iter().any(|file| {
            file.hook_position(key).is_some_and(|position| {
                file.positions.as_ref().is_none_or(|positions| positions.contains(position))
                    || self.matches_tome_hash(position, hash)
            })
        })
    }

    /// Whether a record matches a hook as Tome writes it, at any position.
    fn matches_tome_hash(&self, position: &str, hash: Option<&str>) -> bool {
        let event = position.split(':').next().unwrap_or_default();
        self.commands.iter().any(|command| {
            TIMEOUTS_S.iter().any(|timeout| {
                let handler = json!({ "command": command, "timeout": timeout });
                Some(compute_trust_hash(event, &Value::Null, &handler).as_str()) == hash
            })
        })
    }
}

impl HooksFile {
    fn read(file: &Path, commands: &mut BTreeSet<String>) -> Self {
        let positions = match disk::read(file) {
            Ok(None) => None,
            Ok(Some(bytes)) => {
                let text = String::from_utf8_lossy(&bytes);
                let hooks = json_text::parse(&text).ok().flatten().unwrap_or_default();
                Some(collect_hook_positions(&hooks, commands))
            }
            Err(_) => Some(BTreeSet::new()),
        };
        let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        Self { names: BTreeSet::from([file.to_owned(), real]), positions }
    }

    /// Extracts the position of the hook from a record's key, if it refers to this file.
    fn hook_position<'k>(&self, key: &'k str) -> Option<&'k str> {
        self.names
            .iter()
            .find_map(|name| key.strip_prefix(name.to_string_lossy().as_ref())?.strip_prefix(':'))
    }
}

/// Collects the positions and command lines of Tome's hooks in `hooks.json`.
fn collect_hook_positions(hooks: &Value, commands: &mut BTreeSet<String>) -> BTreeSet<String> {
    let mut positions = BTreeSet::new();
    let events = hooks.get("hooks").and_then(Value::as_object);
    for (event, groups) in events.into_iter().flatten() {
        for (at, group) in groups.as_array().into_iter().flatten().enumerate() {
            let handlers = group.get("hooks").and_then(Value::as_array);
            for (inner, handler) in handlers.into_iter().flatten().enumerate() {
                if CommandWords::from_settings(handler).is_hook() {
                    positions.insert(format!("{}:{at}:{inner}", to_snake_case(event)));
                    let command = handler.get("command").and_then(Value::as_str);
                    commands.extend(command.map(str::to_owned));
                }
            }
        }
    }
    positions
}
