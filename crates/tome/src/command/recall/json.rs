//! Renders a recall response as JSON.

use serde_json::{Value, json};
use tome_model::Millis;
use tome_proto::v1;

use crate::command::instructions::instruction_json;
use crate::command::json_fields::object_fields;

pub fn response_json(query: &str, answer: &v1::RecallResponse, explain: bool) -> Value {
    let hits: Vec<Value> = answer.hits.iter().map(|found| hit_json(found, explain)).collect();
    let elsewhere = answer.elsewhere.iter();
    let elsewhere: Vec<Value> =
        elsewhere.map(|other| json!({"project": other.project, "hits": other.hits})).collect();
    let topic = if answer.topic_id.is_empty() {
        Value::Null
    } else {
        json!({ "id": answer.topic_id, "label": answer.topic_label })
    };
    let mut all = object_fields(json!({
        "query": query, "tier": answer.tier, "behind": answer.behind, "hits": hits,
        "more": answer.more, "elsewhere": elsewhere, "time": non_empty(&answer.time),
        "unread": answer.unread, "confidence": non_empty(&answer.confidence),
        "instructions": answer.instructions.iter().map(instruction_json).collect::<Vec<_>>(),
        "topic": topic,
    }));
    if explain {
        let stages = answer.stages.iter();
        let stages: Vec<Value> = stages
            .map(|one| json!({"name": one.name, "found": one.found, "took_us": one.took_us}))
            .collect();
        all.insert("stages".to_owned(), stages.into());
    }
    all.into()
}

fn hit_json(hit: &v1::RecallHit, explain: bool) -> Value {
    let line = Some(hit.line).filter(|line| *line > 0);
    let mut all = object_fields(json!({
        "source": hit.source, "citation": hit.citation, "text": hit.text,
        "at": hit.at_ms.map(Millis), "score": hit.score, "title": hit.title,
        "session": non_empty(&hit.session_id), "agent": non_empty(&hit.agent), "project": hit.project,
        "kind": hit.kind, "file": non_empty(&hit.file), "line": line, "also": hit.also,
        "confidence": non_empty(&hit.confidence),
        "id": hit.id, "turn": Some(hit.turn).filter(|number| *number > 0),
        "prompt": hit.prompt.as_ref().map(part_json), "answer": hit.answer.as_ref().map(part_json),
        "others": hit.others.iter().map(other_json).collect::<Vec<_>>(),
        "branch": non_empty(&hit.branch),
    }));
    if explain {
        let ranks = hit.ranks.iter();
        let ranks: Vec<Value> = ranks
            .map(|one| json!({"tier": one.tier, "rank": one.rank, "score": one.score}))
            .collect();
        all.insert("ranks".to_owned(), ranks.into());
    }
    all.into()
}

fn part_json(part: &v1::TurnPart) -> Value {
    json!({"number": part.number, "text": part.text})
}

fn other_json(other: &v1::OtherStatement) -> Value {
    json!({
        "relation": other.relation, "text": other.text, "at": Millis(other.at_ms),
        "number": other.number,
    })
}

fn non_empty(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
