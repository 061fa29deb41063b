//! Conversions between the model and the wire. Values from the wire are validated here.

use serde_json::{Map, Value};
use tome_model::{
    Agent, DeliveredDraft, DeliveryPart, Draft, Event, EventId, EventLine, Identity, InvalidInput,
    Millis, SessionId, Tool,
};

use crate::v1;

/// Parses and validates a draft.
pub fn draft_from_wire(draft: v1::Draft) -> Result<Draft, InvalidInput> {
    let given = |text: String| Some(text).filter(|text| !text.is_empty());
    let line = EventLine {
        id: given(draft.id),
        key: given(draft.key),
        at: Millis::from_ms("at", draft.at_ms)?,
        session_id: draft.session_id,
        agent: draft.agent,
        cwd: draft.cwd,
        project: given(draft.project),
        kind: draft.kind,
        role: given(draft.role),
        text: draft.text,
        tool: draft.tool.map(tool_from_wire).transpose()?,
        meta: meta_from_wire(&draft.meta_json)?,
        ..EventLine::default()
    };
    line.into_draft()
}

/// Parses and validates a draft with its delivery. `None` if the request has no event.
pub fn delivered_from_wire(
    request: v1::IngestEventRequest,
) -> Result<Option<DeliveredDraft>, InvalidInput> {
    let Some(event) = request.event else { return Ok(None) };
    let delivery = Some(request.delivery).filter(|text| !text.is_empty());
    let delivery = delivery.map(|text| DeliveryPart::parse(&text)).transpose()?;
    Ok(Some(DeliveredDraft { draft: draft_from_wire(event)?, delivery }))
}

/// Converts a draft.
pub fn draft_to_wire(draft: Draft) -> v1::Draft {
    let (id, key) = match draft.identity {
        Identity::Fixed(id) => (id.into(), String::new()),
        Identity::ByText(key) => (String::new(), key),
    };
    v1::Draft {
        id,
        key,
        at_ms: draft.at.0,
        session_id: draft.session.into(),
        agent: draft.agent.into(),
        cwd: draft.cwd,
        project: draft.project.unwrap_or_default(),
        kind: draft.kind.as_str().to_owned(),
        role: draft.role.as_str().to_owned(),
        text: draft.text,
        tool: draft.tool.map(tool_to_wire),
        meta_json: meta_to_wire(&draft.meta),
    }
}

/// Parses and validates an event.
pub fn event_from_wire(event: v1::Event) -> Result<Event, InvalidInput> {
    Ok(Event {
        id: EventId::parse(&event.id)?,
        at: Millis(event.at_ms),
        arrived: Millis(event.arrived_ms),
        session: SessionId::parse(&event.session_id)?,
        agent: Agent::parse(&event.agent)?,
        project: event.project,
        cwd: event.cwd,
        kind: event.kind.parse()?,
        role: event.role.parse()?,
        text: event.text,
        tool: event.tool.map(tool_from_wire).transpose()?,
        meta: meta_from_wire(&event.meta_json)?,
    })
}

/// Converts an event.
pub fn event_to_wire(event: Event) -> v1::Event {
    v1::Event {
        id: event.id.into(),
        at_ms: event.at.0,
        arrived_ms: event.arrived.0,
        session_id: event.session.into(),
        agent: event.agent.into(),
        project: event.project,
        cwd: event.cwd,
        kind: event.kind.as_str().to_owned(),
        role: event.role.as_str().to_owned(),
        text: event.text,
        tool: event.tool.map(tool_to_wire),
        meta_json: meta_to_wire(&event.meta),
    }
}

fn tool_from_wire(tool: v1::Tool) -> Result<Tool, InvalidInput> {
    Ok(Tool {
        name: tool.name,
        input: parse_json("tool.input", &tool.input_json)?,
        output: parse_json("tool.output", &tool.output_json)?,
    })
}

fn tool_to_wire(tool: Tool) -> v1::Tool {
    let text = |value: Value| {
        if value.is_null() { String::new() } else { value.to_string() }
    };
    v1::Tool { name: tool.name, input_json: text(tool.input), output_json: text(tool.output) }
}

fn meta_from_wire(text: &str) -> Result<Map<String, Value>, InvalidInput> {
    match parse_json("meta", text)? {
        Value::Null => Ok(Map::new()),
        Value::Object(map) => Ok(map),
        _ => Err(InvalidInput::invalid("meta", "has to be a JSON object")),
    }
}

fn meta_to_wire(meta: &Map<String, Value>) -> String {
    if meta.is_empty() { String::new() } else { serde_json::to_string(meta).unwrap_or_default() }
}

fn parse_json(field: &'static str, text: &str) -> Result<Value, InvalidInput> {
    if text.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text)
        .map_err(|error| InvalidInput::invalid(field, format!("is not JSON: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_survives_the_wire() {
        let line = r#"{"session_id":"s1","agent":"codex","cwd":"/app","kind":"tool_result","at":1794702485884,
            "tool":{"name":"Bash","input":{"command":"ls"},"output":"a\nb"},"meta":{"turn":7}}"#;
        let draft = EventLine::parse(line).unwrap().into_draft().unwrap();
        assert_eq!(draft_from_wire(draft_to_wire(draft.clone())).unwrap(), draft);
    }

    #[test]
    fn bad_json_in_a_field_is_named() {
        let wire = v1::Draft { meta_json: "[1]".into(), ..v1::Draft::default() };
        assert_eq!(draft_from_wire(wire).unwrap_err().to_string(), "meta has to be a JSON object");
    }
}
