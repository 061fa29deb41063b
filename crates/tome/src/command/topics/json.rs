//! Topics and their pages as JSON.

use serde_json::{Value, json};
use tome_model::Millis;
use tome_proto::v1;

pub fn topic_json(topic: &v1::Topic) -> Value {
    json!({
        "id": topic.id, "kind": topic.kind, "label": topic.label, "title": topic.title,
        "days": topic.days, "first_day": topic.first_day, "last_day": topic.last_day,
        "first_at": Millis(topic.first_at_ms), "last_at": Millis(topic.last_at_ms),
        "segments": topic.segments, "sessions": topic.sessions, "agents": topic.agents,
    })
}

/// How much work is in no topic of several segments.
pub fn status_json(project: &str, status: &v1::GetTopicGraphStatusResponse) -> Value {
    json!({
        "kind": "status", "project": project, "segments": status.segments,
        "segments_in_no_topic": status.ungrouped, "sessions": status.sessions,
    })
}

pub fn page_json(page: &v1::GetTopicPageResponse) -> Value {
    let facts = |facts: &[v1::TopicFact]| -> Vec<Value> {
        let facts = facts.iter().map(|fact| {
            let mut shown = json!({
                "kind": fact.kind, "text": fact.text, "at": Millis(fact.at_ms),
                "event_number": fact.number,
            });
            if let (false, Some(map)) = (fact.state.is_empty(), shown.as_object_mut()) {
                map.insert("state".to_owned(), fact.state.clone().into());
            }
            shown
        });
        facts.collect()
    };
    let entries: Vec<Value> = page
        .entries
        .iter()
        .map(|entry| {
            json!({
                "at": Millis(entry.at_ms), "agent": entry.agent, "session_id": entry.session,
                "why": entry.why, "detail": entry.detail, "event_number": entry.number,
            })
        })
        .collect();
    let sessions: Vec<Value> = page
        .sessions
        .iter()
        .map(|session| {
            json!({
                "session_id": session.id, "agent": session.agent,
                "last_at": Millis(session.last_at_ms), "title": session.title,
                "segments": session.segments, "event_number": session.number,
            })
        })
        .collect();
    let related: Vec<Value> = page
        .related
        .iter()
        .map(|related| {
            let topic = related.topic.clone().unwrap_or_default();
            json!({"id": topic.id, "label": topic.label, "reason": related.reason})
        })
        .collect();
    let weeks: Vec<Value> = page
        .weeks
        .iter()
        .map(|week| json!({"monday": week.monday, "segments": week.segments}))
        .collect();
    let files: Vec<Value> = page
        .files
        .iter()
        .map(|file| json!({"path": file.path, "segments": file.segments}))
        .collect();
    json!({
        "topic": page.topic.as_ref().map(topic_json), "forwarded_from": page.forwarded_from,
        "former_names": page.former_names, "weeks": weeks, "entries": entries,
        "entries_total": page.entries_total, "sessions": sessions, "commits": facts(&page.commits),
        "sessions_total": page.sessions_total, "files": files, "files_total": page.files_total,
        "decisions": facts(&page.decisions), "problems": facts(&page.problems),
        "statements": facts(&page.statements), "related": related, "only_read": page.only_read,
    })
}
