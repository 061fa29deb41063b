//! Codex's trust records for Tome's hooks, taken out when Tome is undone.
//!
//! When a person trusts hooks, Codex writes a table for each into the person's `config.toml`
//! (trust.rs), whether the hooks are the person's or a project's. Once the hooks are gone these mean
//! nothing, and a hook that is put in the same place later would be shown as changed. Records of
//! other people's hooks stay.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::part::Words;
use super::trust::{hash_of, snake};
use super::{EditError, Ground, disk, json_text, toml_text};

/// The time-outs, in seconds, that Tome gives or gave its hooks.
const TIMEOUTS_S: [u64; 3] = [3, 5, 10];

/// The hooks whose trust records go.
pub struct Untrust {
    hooks: Vec<HooksFile>,
    /// How Tome's hooks are run.
    commands: BTreeSet<String>,
}

/// One `hooks.json`.
struct HooksFile {
    /// The file as Codex may name it.
    names: BTreeSet<PathBuf>,
    /// `<event>:<group>:<hook>` of Tome's hooks; `None` where the file is gone, and every record of
    /// it is left over.
    places: Option<BTreeSet<String>>,
}

impl Untrust {
    /// The hooks in files that Tome is recorded to have changed, and those where it writes them now:
    /// in the project that is wired, or else in the person's folder.
    pub fn of<'p>(ground: &Ground<'_>, recorded: impl Iterator<Item = &'p Path>) -> Self {
        let mut commands = BTreeSet::from([ground.launch.line(&["hook", "codex"])]);
        let recorded: BTreeSet<&Path> =
            recorded.filter(|path| path.ends_with("hooks.json")).collect();
        let mut hooks: Vec<HooksFile> =
            recorded.iter().map(|file| HooksFile::read(file, &mut commands)).collect();
        let own = ground.either(".codex", codex_folder(ground)).join("hooks.json");
        if !recorded.contains(own.as_path()) {
            let mut file = HooksFile::read(&own, &mut commands);
            // A file that is gone and was not Tome's may have left records of other hooks.
            file.places.get_or_insert_default();
            hooks.push(file);
        }
        Self { hooks, commands }
    }

    /// Where Codex keeps its records, whichever hooks they are for.
    pub fn config_file(ground: &Ground<'_>) -> PathBuf {
        codex_folder(ground).join("config.toml")
    }

    /// The text of `config.toml` without the records; `before` is what it said before Tome was set up.
    pub fn remove_from(&self, text: &str, before: Option<&str>) -> Result<String, EditError> {
        toml_text::remove_trust(text, before, &|key, hash| self.is_ours(key, hash))
    }

    fn is_ours(&self, key: &str, hash: Option<&str>) -> bool {
        self.hooks.iter().any(|file| {
            file.place_of(key).is_some_and(|place| {
                file.places.as_ref().is_none_or(|places| places.contains(place))
                    || self.has_hash(place, hash)
            })
        })
    }

    /// Whether a record is that of a hook as Tome writes it: then it is Tome's wherever it stood.
    fn has_hash(&self, place: &str, hash: Option<&str>) -> bool {
        let event = place.split(':').next().unwrap_or_default();
        self.commands.iter().any(|command| {
            TIMEOUTS_S.iter().any(|timeout| {
                let handler = json!({ "command": command, "timeout": timeout });
                Some(hash_of(event, &Value::Null, &handler).as_str()) == hash
            })
        })
    }
}

impl HooksFile {
    fn read(file: &Path, commands: &mut BTreeSet<String>) -> Self {
        let places = match disk::read(file) {
            Ok(None) => None,
            Ok(Some(bytes)) => {
                let text = String::from_utf8_lossy(&bytes);
                let hooks = json_text::read(&text).ok().flatten().unwrap_or_default();
                Some(own_places(&hooks, commands))
            }
            Err(_) => Some(BTreeSet::new()),
        };
        let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        Self { names: BTreeSet::from([file.to_owned(), real]), places }
    }

    /// The place in this file that a record is about.
    fn place_of<'k>(&self, key: &'k str) -> Option<&'k str> {
        self.names
            .iter()
            .find_map(|name| key.strip_prefix(name.to_string_lossy().as_ref())?.strip_prefix(':'))
    }
}

fn codex_folder(ground: &Ground<'_>) -> PathBuf {
    ground.folder("CODEX_HOME", ".codex")
}

/// Where Tome's hooks stand in `hooks.json`, and how they are run.
fn own_places(hooks: &Value, commands: &mut BTreeSet<String>) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    let events = hooks.get("hooks").and_then(Value::as_object);
    for (event, groups) in events.into_iter().flatten() {
        for (at, group) in groups.as_array().into_iter().flatten().enumerate() {
            let handlers = group.get("hooks").and_then(Value::as_array);
            for (inner, handler) in handlers.into_iter().flatten().enumerate() {
                if Words::of(handler).is_hook() {
                    places.insert(format!("{}:{at}:{inner}", snake(event)));
                    let command = handler.get("command").and_then(Value::as_str);
                    commands.extend(command.map(str::to_owned));
                }
            }
        }
    }
    places
}
