//! Adds Tome's parts to the text of a config file and removes them again.
//!
//! Tome has one group of its own in each list of hooks. A group that contains only Tome's hooks is
//! updated in place. Tome's hooks in a mixed group, in a second group, or for an event that is no
//! longer used are removed; nothing else is.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::json_text::{self, Step};
use super::part::{Form, Server, Words};
use super::{EditError, toml_text};

const BOM: &str = "\u{feff}";
const OURS: &str = "tome";
/// Keys of MCP servers in JSON files: most agents', and OpenCode's.
const HOLDERS: [&str; 2] = ["mcpServers", "mcp"];

/// Returns the text with Tome's parts added or updated.
pub fn wire(form: &Form, text: Option<&str>) -> Result<String, EditError> {
    if let Form::Text { content, .. } = form {
        return Ok(content.clone());
    }
    let text = text.unwrap_or_default();
    let (bom, text) = without_bom(text);
    let after = match form {
        Form::Json { hooks, server } => wire_json(text, hooks, server.as_ref())?,
        Form::Toml { program, args } => toml_text::set(text, program, args)?,
        Form::Text { .. } => return Ok(text.to_owned()),
    };
    Ok(format!("{bom}{after}"))
}

/// Returns the text without Tome's parts. `before` is the original text, if known: containers that
/// Tome created (a `hooks` that is now empty) are removed too.
pub fn unwire(form: &Form, text: &str, before: Option<&str>) -> Result<String, EditError> {
    let (bom, text) = without_bom(text);
    let after = match form {
        Form::Json { .. } => unwire_json(text, before.map(|before| without_bom(before).1))?,
        Form::Toml { .. } => toml_text::remove(text)?,
        Form::Text { .. } => String::new(),
    };
    Ok(format!("{bom}{after}"))
}

pub fn holds_ours(form: &Form, text: &str) -> bool {
    match form {
        Form::Text { mark, .. } => text.contains(mark),
        _ => unwire(form, text, None).is_ok_and(|bare| bare != text),
    }
}

/// Whether a text is blank or an empty object.
pub fn is_nothing(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    matches!(without_bom(&text).1.trim(), "" | "{}")
}

fn without_bom(text: &str) -> (&str, &str) {
    text.strip_prefix(BOM).map_or(("", text), |rest| (BOM, rest))
}

fn wire_json(
    text: &str,
    hooks: &[(&'static str, Value)],
    server: Option<&Server>,
) -> Result<String, EditError> {
    let before = object(text)?;
    let mut after = text.to_owned();
    if !hooks.is_empty() {
        for event in stale_events(&before, hooks) {
            after = settle(&after, &event, None)?;
        }
    }
    for (event, group) in hooks {
        after = settle(&after, event, Some(group))?;
    }
    if let Some(server) = server {
        after = wire_server(&after, server)?;
    }
    if bare(object(&after)?) == bare(before) {
        Ok(after)
    } else {
        Err(EditError::Shape("its layout cannot be edited safely".to_owned()))
    }
}

/// Returns events that have an obsolete hook of Tome.
fn stale_events(document: &Value, hooks: &[(&'static str, Value)]) -> Vec<String> {
    let events = document.get("hooks").and_then(Value::as_object);
    let stale = events.into_iter().flatten().filter(|(event, groups)| {
        !hooks.iter().any(|(wired, _)| wired == event) && groups_of(groups).iter().any(has_ours)
    });
    stale.map(|(event, _)| event.clone()).collect()
}

/// Updates the hook list of one event; `wanted: None` removes Tome's hooks.
fn settle(text: &str, event: &str, wanted: Option<&Value>) -> Result<String, EditError> {
    let document = object(text)?;
    let listed = document.get("hooks").and_then(|hooks| hooks.get(event));
    let groups = listed.map(groups_of).unwrap_or_default();
    let place = groups.iter().position(is_wholly_ours).filter(|_| wanted.is_some());
    let mut text = text.to_owned();
    for (index, group) in groups.iter().enumerate().rev() {
        let way = [Step::Key("hooks"), Step::Key(event), Step::At(index)];
        if place == Some(index) {
            if let Some(wanted) = wanted.filter(|wanted| !suffices(group, wanted)) {
                text = json_text::replace(&text, &way, wanted)?;
            }
        } else if is_wholly_ours(group) {
            text = json_text::remove(&text, &way)?;
        } else {
            for inner in ours_in(group).into_iter().rev() {
                let way = [way.as_slice(), &[Step::Key("hooks"), Step::At(inner)]].concat();
                text = json_text::remove(&text, &way)?;
            }
        }
    }
    match wanted {
        Some(wanted) if place.is_none() => json_text::push(&text, &["hooks", event], wanted),
        None if !groups.is_empty() && groups.iter().all(is_wholly_ours) => {
            json_text::remove(&text, &[Step::Key("hooks"), Step::Key(event)])
        }
        _ => Ok(text),
    }
}

fn groups_of(groups: &Value) -> Vec<Value> {
    groups.as_array().cloned().unwrap_or_default()
}

fn handlers_of(group: &Value) -> &[Value] {
    group.get("hooks").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn ours_in(group: &Value) -> Vec<usize> {
    let handlers = handlers_of(group).iter().enumerate();
    handlers.filter(|(_, handler)| Words::of(handler).is_hook()).map(|(at, _)| at).collect()
}

fn has_ours(group: &Value) -> bool {
    !ours_in(group).is_empty()
}

fn is_wholly_ours(group: &Value) -> bool {
    has_ours(group) && ours_in(group).len() == handlers_of(group).len()
}

/// Whether a group is equivalent to the wanted one. Settings that the user may have added (a
/// timeout, a message) are ignored.
fn suffices(group: &Value, wanted: &Value) -> bool {
    let matcher = |group: &Value| {
        let matcher = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
        if matcher == "*" { String::new() } else { matcher.to_owned() }
    };
    let (found, wanted_ones) = (handlers_of(group), handlers_of(wanted));
    let is_same = |(found, wanted): (&Value, &Value)| {
        ["type", "command", "args"].iter().all(|key| found.get(key) == wanted.get(key))
    };
    matcher(group) == matcher(wanted)
        && found.len() == wanted_ones.len()
        && found.iter().zip(wanted_ones).all(is_same)
}

fn wire_server(text: &str, server: &Server) -> Result<String, EditError> {
    let document = object(text)?;
    let settings = Value::Object(server.settings.clone());
    let Some(found) = document.get(server.holder).and_then(|holder| holder.get(OURS)) else {
        return json_text::set(text, &[server.holder, OURS], &settings);
    };
    if !Words::of(found).is_server() {
        return Err(EditError::Shape(format!(
            "`{}.{OURS}` is already used for another server; rename that one",
            server.holder
        )));
    }
    let mut text = text.to_owned();
    for key in ["command", "args"] {
        let wanted = settings.get(key);
        if let Some(wanted) = wanted.filter(|wanted| found.get(key) != Some(wanted)) {
            text = json_text::set(&text, &[server.holder, OURS, key], wanted)?;
        }
    }
    Ok(text)
}

fn unwire_json(text: &str, before: Option<&str>) -> Result<String, EditError> {
    let document = object(text)?;
    let before = before.and_then(|before| object(before).ok()).unwrap_or_default();
    let mut text = text.to_owned();
    let events = document.get("hooks").and_then(Value::as_object);
    for event in events.into_iter().flat_map(Map::keys) {
        text = settle(&text, event, None)?;
    }
    for holder in HOLDERS {
        let found = document.get(holder).and_then(|holder| holder.get(OURS));
        if found.is_some_and(|found| Words::of(found).is_server()) {
            text = json_text::remove(&text, &[Step::Key(holder), Step::Key(OURS)])?;
        }
    }
    for name in HOLDERS.into_iter().chain(["hooks"]) {
        let is_empty = |document: &Value| document.get(name).is_some_and(is_empty_object);
        let was_there = before.get(name).is_some();
        if is_empty(&object(&text)?) && !is_empty(&document) && !was_there {
            text = json_text::remove(&text, &[Step::Key(name)])?;
        }
    }
    Ok(text)
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

fn object(text: &str) -> Result<Value, EditError> {
    match json_text::read(text)? {
        None => Ok(Value::Object(Map::new())),
        Some(value @ Value::Object(_)) => Ok(value),
        Some(_) => Err(EditError::Shape("not a JSON object".to_owned())),
    }
}

/// Returns a document without Tome's parts, to verify that an edit changed nothing else.
fn bare(mut document: Value) -> Value {
    let Some(members) = document.as_object_mut() else { return document };
    if let Some(events) = members.get_mut("hooks").and_then(Value::as_object_mut) {
        let mut gone = BTreeSet::new();
        for (event, groups) in events.iter_mut() {
            let Some(groups) = groups.as_array_mut() else { continue };
            groups.retain(|group| !is_wholly_ours(group));
            for group in groups.iter_mut() {
                if let Some(handlers) = group.get_mut("hooks").and_then(Value::as_array_mut) {
                    handlers.retain(|handler| !Words::of(handler).is_hook());
                }
            }
            if groups.is_empty() {
                gone.insert(event.clone());
            }
        }
        events.retain(|event, _| !gone.contains(event));
    }
    for holder in HOLDERS {
        if let Some(servers) = members.get_mut(holder).and_then(Value::as_object_mut)
            && servers.get(OURS).is_some_and(|found| Words::of(found).is_server())
        {
            servers.shift_remove(OURS);
        }
    }
    members.retain(|name, value| {
        !(name == "hooks" || HOLDERS.contains(&name.as_str())) || !is_empty_object(value)
    });
    document
}
