//! Renders nodes as lines for a model: id, number of events, title.

use serde_json::{Value, json};
use tome_model::{Level, Millis};

use crate::tools::answer::{insert_field, truncate_bytes};
use tome_contents::ContentsEntry;

/// Bytes shown of a title.
pub(super) const TITLE_BYTES_MAX: usize = 120;

/// Renders a time to the minute.
pub(in crate::tools) fn render_minute(at: Millis) -> String {
    let written = at.to_string();
    format!("{}Z", written.get(..16).unwrap_or(&written))
}

/// Renders when something of a node of this level happened; what a year says is told by month.
pub(super) fn render_bullet_time(level: Level, at: Millis) -> Option<String> {
    let written = at.to_string();
    match level {
        Level::Segment | Level::Day => Some(format!("{}Z", written.get(11..16)?)),
        Level::Week | Level::Month => Some(written.get(..10)?.to_owned()),
        Level::Year => None,
    }
}

/// Renders entries with their children, indented.
pub(super) fn render_tree(entries: &[ContentsEntry], depth: usize, lines: &mut Vec<String>) {
    for entry in entries {
        lines.push(render_entry(entry, depth));
        render_tree(&entry.entries, depth + 1, lines);
    }
}

pub(super) fn render_entry(entry: &ContentsEntry, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let at = match entry.id.level() {
        Level::Segment => format!(" {}", render_minute(entry.first_at)),
        _ => String::new(),
    };
    let title = truncate_bytes(&entry.title, TITLE_BYTES_MAX);
    format!("{indent}{}{at} ({}) {title}", entry.id, entry.events)
}

pub(super) fn entry_json(entry: &ContentsEntry) -> Value {
    let mut line = json!({
        "id": entry.id, "title": truncate_bytes(&entry.title, TITLE_BYTES_MAX), "events": entry.events,
    });
    if entry.id.level() == Level::Segment {
        insert_field(&mut line, "at", render_minute(entry.first_at).into());
    }
    if !entry.entries.is_empty() {
        let below: Vec<Value> = entry.entries.iter().map(entry_json).collect();
        insert_field(&mut line, "entries", below.into());
    }
    line
}
