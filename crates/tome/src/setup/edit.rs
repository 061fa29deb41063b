//! Adds Tome's parts to the text of a config file and removes them again.
//!
//! Tome has one group of its own in each list of hooks. A group that contains only Tome's hooks is
//! updated in place. Tome's hooks in a mixed group, in a second group, or for an event that is no
//! longer used are removed; nothing else is.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::install_file::{CommandWords, InstallContent, McpServerEntry};
use super::json_text::{self, JsonPathStep};
use super::{EditError, toml_text};

const BOM: &str = "\u{feff}";
const TOME_KEY: &str = "tome";
/// Keys of MCP servers in JSON files: most agents', and OpenCode's.
const SERVER_KEYS: [&str; 2] = ["mcpServers", "mcp"];

/// Returns the text with Tome's parts added or updated.
pub fn install(form: &InstallContent, text: Option<&str>) -> Result<String, EditError> {
    if let InstallContent::Text { content, .. } = form {
        return Ok(content.clone());
    }
    let text = text.unwrap_or_default();
    let (bom, text) = split_bom(text);
    let after = match form {
        InstallContent::Json { hooks, server } => install_json(text, hooks, server.as_ref())?,
        InstallContent::Toml { program, args } => toml_text::set_server(text, program, args)?,
        InstallContent::Text { .. } => return Ok(text.to_owned()),
    };
    Ok(format!("{bom}{after}"))
}

/// Returns the text without Tome's parts. `before` is the original text, if known: containers that
/// Tome created (a `hooks` that is now empty) are removed too.
pub fn uninstall(
    form: &InstallContent,
    text: &str,
    before: Option<&str>,
) -> Result<String, EditError> {
    let (bom, text) = split_bom(text);
    let after = match form {
        InstallContent::Json { .. } => {
            uninstall_json(text, before.map(|before| split_bom(before).1))?
        }
        InstallContent::Toml { .. } => toml_text::remove_server(text)?,
        InstallContent::Text { .. } => String::new(),
    };
    Ok(format!("{bom}{after}"))
}

pub fn contains_tome(form: &InstallContent, text: &str) -> bool {
    match form {
        InstallContent::Text { mark, .. } => text.contains(mark),
        _ => uninstall(form, text, None).is_ok_and(|bare| bare != text),
    }
}

/// Whether a text is blank or an empty object.
pub fn is_blank(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    matches!(split_bom(&text).1.trim(), "" | "{}")
}

fn split_bom(text: &str) -> (&str, &str) {
    text.strip_prefix(BOM).map_or(("", text), |rest| (BOM, rest))
}

fn install_json(
    text: &str,
    hooks: &[(&'static str, Value)],
    server: Option<&McpServerEntry>,
) -> Result<String, EditError> {
    let before = parse_object(text)?;
    let mut after = text.to_owned();
    if !hooks.is_empty() {
        for event in stale_events(&before, hooks) {
            after = update_event_hooks(&after, &event, None)?;
        }
    }
    for (event, group) in hooks {
        after = update_event_hooks(&after, event, Some(group))?;
    }
    if let Some(server) = server {
        after = install_server(&after, server)?;
    }
    if remove_tome_parts(parse_object(&after)?) == remove_tome_parts(before) {
        Ok(after)
    } else {
        Err(EditError::Shape("its layout cannot be edited safely".to_owned()))
    }
}

/// Returns events that have an obsolete hook of Tome.
fn stale_events(document: &Value, hooks: &[(&'static str, Value)]) -> Vec<String> {
    let events = document.get("hooks").and_then(Value::as_object);
    let stale = events.into_iter().flatten().filter(|(event, groups)| {
        !hooks.iter().any(|(wired, _)| wired == event)
            && hook_groups(groups).iter().any(has_tome_hook)
    });
    stale.map(|(event, _)| event.clone()).collect()
}

/// Updates the hook list of one event; `wanted: None` removes Tome's hooks.
fn update_event_hooks(
    text: &str,
    event: &str,
    wanted: Option<&Value>,
) -> Result<String, EditError> {
    let document = parse_object(text)?;
    let listed = document.get("hooks").and_then(|hooks| hooks.get(event));
    let groups = listed.map(hook_groups).unwrap_or_default();
    let kept_index = groups.iter().position(is_tome_group).filter(|_| wanted.is_some());
    let mut text = text.to_owned();
    for (index, group) in groups.iter().enumerate().rev() {
        let path =
            [JsonPathStep::Key("hooks"), JsonPathStep::Key(event), JsonPathStep::Index(index)];
        if kept_index == Some(index) {
            if let Some(wanted) = wanted.filter(|wanted| !is_equivalent(group, wanted)) {
                text = json_text::replace_value(&text, &path, wanted)?;
            }
        } else if is_tome_group(group) {
            text = json_text::remove_value(&text, &path)?;
        } else {
            for inner in tome_handler_indices(group).into_iter().rev() {
                let path =
                    [path.as_slice(), &[JsonPathStep::Key("hooks"), JsonPathStep::Index(inner)]]
                        .concat();
                text = json_text::remove_value(&text, &path)?;
            }
        }
    }
    match wanted {
        Some(wanted) if kept_index.is_none() => {
            json_text::push_value(&text, &["hooks", event], wanted)
        }
        None if !groups.is_empty() && groups.iter().all(is_tome_group) => {
            json_text::remove_value(&text, &[JsonPathStep::Key("hooks"), JsonPathStep::Key(event)])
        }
        _ => Ok(text),
    }
}

fn hook_groups(groups: &Value) -> Vec<Value> {
    groups.as_array().cloned().unwrap_or_default()
}

fn hook_handlers(group: &Value) -> &[Value] {
    group.get("hooks").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn tome_handler_indices(group: &Value) -> Vec<usize> {
    let handlers = hook_handlers(group).iter().enumerate();
    handlers
        .filter(|(_, handler)| CommandWords::from_settings(handler).is_hook())
        .map(|(at, _)| at)
        .collect()
}

fn has_tome_hook(group: &Value) -> bool {
    !tome_handler_indices(group).is_empty()
}

fn is_tome_group(group: &Value) -> bool {
    has_tome_hook(group) && tome_handler_indices(group).len() == hook_handlers(group).len()
}

/// Whether a group is equivalent to the wanted one. Settings that the user may have added (a
/// timeout, a message) are ignored.
fn is_equivalent(group: &Value, wanted: &Value) -> bool {
    let matcher = |group: &Value| {
        let matcher = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
        if matcher == "*" { String::new() } else { matcher.to_owned() }
    };
    let (found, wanted_ones) = (hook_handlers(group), hook_handlers(wanted));
    let is_same = |(found, wanted): (&Value, &Value)| {
        ["type", "command", "args"].iter().all(|key| found.get(key) == wanted.get(key))
    };
    matcher(group) == matcher(wanted)
        && found.len() == wanted_ones.len()
        && found.iter().zip(wanted_ones).all(is_same)
}

fn install_server(text: &str, server: &McpServerEntry) -> Result<String, EditError> {
    let document = parse_object(text)?;
    let settings = Value::Object(server.settings.clone());
    let Some(installed) = document.get(server.holder).and_then(|holder| holder.get(TOME_KEY))
    else {
        return json_text::set_value(text, &[server.holder, TOME_KEY], &settings);
    };
    if !CommandWords::from_settings(installed).is_server() {
        return Err(EditError::Shape(format!(
            "`{}.{TOME_KEY}` is already used for another server; rename that one",
            server.holder
        )));
    }
    let mut text = text.to_owned();
    for key in ["command", "args"] {
        let wanted = settings.get(key);
        if let Some(wanted) = wanted.filter(|wanted| installed.get(key) != Some(wanted)) {
            text = json_text::set_value(&text, &[server.holder, TOME_KEY, key], wanted)?;
        }
    }
    Ok(text)
}

fn uninstall_json(text: &str, before: Option<&str>) -> Result<String, EditError> {
    let document = parse_object(text)?;
    let before = before.and_then(|before| parse_object(before).ok()).unwrap_or_default();
    let mut text = text.to_owned();
    let events = document.get("hooks").and_then(Value::as_object);
    for event in events.into_iter().flat_map(Map::keys) {
        text = update_event_hooks(&text, event, None)?;
    }
    for holder in SERVER_KEYS {
        let installed = document.get(holder).and_then(|holder| holder.get(TOME_KEY));
        if installed.is_some_and(|installed| CommandWords::from_settings(installed).is_server()) {
            text = json_text::remove_value(
                &text,
                &[JsonPathStep::Key(holder), JsonPathStep::Key(TOME_KEY)],
            )?;
        }
    }
    for name in SERVER_KEYS.into_iter().chain(["hooks"]) {
        let is_empty = |document: &Value| document.get(name).is_some_and(is_empty_object);
        let was_there = before.get(name).is_some();
        if is_empty(&parse_object(&text)?) && !is_empty(&document) && !was_there {
            text = json_text::remove_value(&text, &[JsonPathStep::Key(name)])?;
        }
    }
    Ok(text)
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

fn parse_object(text: &str) -> Result<Value, EditError> {
    match json_text::parse(text)? {
        None => Ok(Value::Object(Map::new())),
        Some(value @ Value::Object(_)) => Ok(value),
        Some(_) => Err(EditError::Shape("not a JSON object".to_owned())),
    }
}

/// Returns a document without Tome's parts, to verify that an edit changed nothing else.
fn remove_tome_parts(mut document: Value) -> Value {
    let Some(members) = document.as_object_mut() else { return document };
    if let Some(events) = members.get_mut("hooks").and_then(Value::as_object_mut) {
        let mut gone = BTreeSet::new();
        for (event, groups) in events.iter_mut() {
            let Some(groups) = groups.as_array_mut() else { continue };
            groups.retain(|group| !is_tome_group(group));
            for group in groups.iter_mut() {
                if let Some(handlers) = group.get_mut("hooks").and_then(Value::as_array_mut) {
                    handlers.retain(|handler| !CommandWords::from_settings(handler).is_hook());
                }
            }
            if groups.is_empty() {
                gone.insert(event.clone());
            }
        }
        events.retain(|event, _| !gone.contains(event));
    }
    for holder in SERVER_KEYS {
        if let Some(servers) = members.get_mut(holder).and_then(Value::as_object_mut)
            && servers
                .get(TOME_KEY)
                .is_some_and(|found| CommandWords::from_settings(found).is_server())
        {
            servers.shift_remove(TOME_KEY);
        }
    }
    members.retain(|name, value| {
        !(name == "hooks" || SERVER_KEYS.contains(&name.as_str())) || !is_empty_object(value)
    });
    document
}
