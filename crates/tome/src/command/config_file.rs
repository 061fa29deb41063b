//! `tome config set` and `unset`: changes one setting in the config file. Keeps the rest of the file,
//! including comments, and replaces it atomically.

use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use tome_terminal::{DIM, RESET};
use toml_edit::{DocumentMut, Item, Table, value};

use super::{CommandContext, CommandError, Outcome};
use crate::cli::config::ConfigChange;
use crate::config::SETTING_KEYS;
use crate::setup::disk;

/// Settings that hooks and commands read each time, and the daemon too if it uses them.
const APPLIED_AT_ONCE: [&str; 5] =
    ["capture.ignore", "daemon.autostart", "daemon.endpoint", "inject.", "mcp.toolsets"];

pub fn run(context: &CommandContext, change: &ConfigChange) -> Result<Outcome> {
    let (name, value) = match change {
        ConfigChange::Set { key, value } => (key.as_str(), Some(value.trim())),
        ConfigChange::Unset { key } => (key.as_str(), None),
        ConfigChange::Get { key } => return print_value(context, key),
        ConfigChange::List => return super::config::run(context, true),
    };
    let Some(key) = SETTING_KEYS.iter().find(|key| key.name == name) else {
        return Err(unknown_setting(name));
    };
    if let Some(Err(problem)) = value.map(|value| key.value_type.check(value)) {
        return Err(CommandError::bad_input(format!("{name}: {problem}"))
            .with_hint(key.description)
            .into());
    }
    let Some(file) = &context.config.file else {
        let refusal = CommandError::failed("cannot determine where the config file is");
        return Err(refusal.with_hint("set --config FILE or TOME_CONFIG").into());
    };
    let mut document = read_document(file)?;
    change_setting(&mut document, name, value)?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    // Writes through a symbolic link, such as one into a dotfiles repository, instead of replacing it.
    disk::write(file, document.to_string().as_bytes())
        .with_context(|| format!("cannot write {}", file.display()))?;
    if context.json {
        context.print_json(&serde_json::json!({ "key": name, "value": value, "file": file }))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    let change_text = value.map_or_else(
        || format!("{name} reset to its default"),
        |value| format!("{name} = {value}"),
    );
    writeln!(out, "{change_text}  {DIM}{}{RESET}", context.shorten_path(file))?;
    let is_daemon_setting = !APPLIED_AT_ONCE.iter().any(|applied| name.starts_with(applied));
    if is_daemon_setting && context.connector.daemon_pid().is_some() {
        writeln!(out, "{DIM}takes effect when the daemon restarts: run `tome stop`{RESET}")?;
    }
    Ok(Outcome::Done)
}

/// Prints the value of a setting, and nothing else.
fn print_value(context: &CommandContext, name: &str) -> Result<Outcome> {
    if !SETTING_KEYS.iter().any(|key| key.name == name) {
        return Err(unknown_setting(name));
    }
    let found = context.config.values.get(name);
    let (value, source) = found.map_or((String::new(), String::new()), |(value, source)| {
        (value.clone(), source.to_string())
    });
    if context.json {
        let json = serde_json::json!({ "key": name, "value": value, "source": source });
        context.print_json(&json)?;
    } else {
        writeln!(tome_terminal::stdout(), "{value}")?;
    }
    Ok(Outcome::Done)
}

fn read_document(file: &Path) -> Result<DocumentMut> {
    let text = match std::fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        text => text.with_context(|| format!("cannot read {}", file.display()))?,
    };
    let parsed = text.parse::<DocumentMut>();
    parsed.map_err(|error| {
        CommandError::bad_input(format!("{} is not valid TOML: {error}", file.display()))
            .with_hint("fix it by hand first")
            .into()
    })
}

fn change_setting(document: &mut DocumentMut, name: &str, text: Option<&str>) -> Result<()> {
    let (section, key) = name.split_once('.').context("a key has a section")?;
    let Some(text) = text else {
        if let Some(table) = document.get_mut(section).and_then(Item::as_table_like_mut) {
            table.remove(key);
        }
        return Ok(());
    };
    let table = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
    let table = table.as_table_like_mut();
    let table = table.ok_or_else(|| {
        CommandError::bad_input(format!("{section} is not a section in this file"))
    })?;
    let typed = match (text.parse::<i64>(), text.parse::<bool>()) {
        (Ok(number), _) => value(number),
        (_, Ok(truth)) => value(truth),
        _ => value(text),
    };
    table.insert(key, typed);
    Ok(())
}

fn unknown_setting(name: &str) -> anyhow::Error {
    let section = name.split('.').next().unwrap_or(name);
    let near: Vec<&str> = SETTING_KEYS
        .iter()
        .map(|key| key.name)
        .filter(|known| known.split('.').next() == Some(section))
        .collect();
    let hint = if near.is_empty() {
        "`tome config --all` lists every setting".to_owned()
    } else {
        format!("settings in this section: {}", near.join(", "))
    };
    CommandError::bad_input(format!("unknown setting {name:?}")).with_hint(hint).into()
}
