//! Renders the contents as JSON.

use serde_json::{Value, json};
use tome_model::Millis;
use tome_proto::v1;

use crate::command::json_fields::object_fields;

/// Renders an entry with its children.
pub fn entry_json(entry: &v1::TocEntry) -> Value {
    let mut line = object_fields(json!({
        "id": entry.id, "level": entry.level, "period": entry.period, "title": entry.title,
        "first_at": Millis(entry.first_at_ms), "last_at": Millis(entry.last_at_ms),
        "events": entry.events, "tokens": entry.tokens, "sessions": entry.sessions,
        "agents": entry.agents, "open": entry.open, "children": entry.children,
        "projects": entry.shares.iter().map(share_json).collect::<Vec<_>>(),
    }));
    if !entry.entries.is_empty() {
        let below: Vec<Value> = entry.entries.iter().map(entry_json).collect();
        line.insert("entries".to_owned(), below.into());
    }
    line.into()
}

fn share_json(share: &v1::Share) -> Value {
    json!({"project": share.project, "title": share.title, "events": share.events})
}

pub fn node_json(node: &v1::Node) -> Value {
    let bullets: Vec<Value> = node.bullets.iter().map(bullet_json).collect();
    let children: Vec<Value> = node.children.iter().map(entry_json).collect();
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    json!({
        "id": node.id, "project": node.project, "level": node.level, "period": node.period,
        "parent": given(&node.parent), "version": node.version, "open": node.open,
        "title": node.title, "title_numbers": node.title_numbers, "bullets": bullets, "keywords": node.keywords, "children": children,
        "first_at": Millis(node.first_at_ms), "last_at": Millis(node.last_at_ms),
        "events": node.events, "tokens": node.tokens, "agents": node.agents,
        "sessions": node.sessions, "session_count": node.session_count,
        "first_event": given(&node.first_event), "last_event": given(&node.last_event),
        "summarizer": node.summarizer, "made_at": Millis(node.made_at_ms),
    })
}

fn bullet_json(bullet: &v1::Bullet) -> Value {
    let mut fields = object_fields(json!({"text": bullet.text, "grips": bullet.grips}));
    if bullet.at_ms != 0 {
        fields.insert("at".to_owned(), json!(Millis(bullet.at_ms)));
    }
    if bullet.changed_by != 0 {
        fields.insert("changed_by".to_owned(), bullet.changed_by.into());
    }
    if bullet.unsupported {
        fields.insert("unsupported".to_owned(), true.into());
    }
    fields.into()
}

pub fn version_json(version: &v1::NodeVersion) -> Value {
    json!({
        "project": version.project, "version": version.version,
        "made_at": Millis(version.made_at_ms), "title": version.title,
        "summarizer": version.summarizer, "events": version.events, "open": version.open,
    })
}
