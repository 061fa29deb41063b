//! The value of an event: everything except its id and time, which are in the key.
//!
//! Version 1 is the postcard encoding of `StoredEvent`, packed as in `codec.rs`. Kinds and roles are
//! stored as codes; tool input, tool output and `meta` as JSON text, where an empty text stands for
//! null or an empty map.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tome_model::{Agent, Draft, Event, EventKind, Millis, Role, SessionId, Tool, nests_at_most};

use crate::codec::{KvLocation, decode, pack, unpack};
use crate::limits::JSON_DEPTH_MAX;
use crate::{EventPosition, Family, LedgerError};

const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct StoredEvent<'a> {
    arrived: u64,
    session: &'a str,
    agent: &'a str,
    project: &'a str,
    cwd: &'a str,
    kind: u8,
    role: u8,
    text: &'a str,
    #[serde(borrow)]
    tool: Option<StoredTool<'a>>,
    meta: &'a str,
}

#[derive(Serialize, Deserialize)]
struct StoredTool<'a> {
    name: &'a str,
    input: &'a str,
    output: &'a str,
}

/// Encodes the value of an event. The error describes the problem with the event.
pub(crate) fn encode(draft: &Draft, project: &str, arrived: Millis) -> Result<Vec<u8>, String> {
    let (input, output) = match &draft.tool {
        Some(tool) => (encode_json(&tool.input)?, encode_json(&tool.output)?),
        None => Default::default(),
    };
    let meta = encode_meta(&draft.meta)?;
    let stored = StoredEvent {
        arrived: arrived.0,
        session: draft.session.as_str(),
        agent: draft.agent.as_str(),
        project,
        cwd: &draft.cwd,
        kind: draft.kind.code(),
        role: draft.role.code(),
        text: &draft.text,
        tool: draft.tool.as_ref().map(|tool| StoredTool {
            name: &tool.name,
            input: &input,
            output: &output,
        }),
        meta: &meta,
    };
    pack(VERSION, &stored)
}

/// A borrowed view of a stored event: nothing is copied or parsed as JSON. A search over many events
/// uses it to decide which ones to decode.
pub struct EventRef<'a> {
    /// The session's id.
    pub session: &'a str,
    /// The agent's name.
    pub agent: &'a str,
    /// The root of its project.
    pub project: &'a str,
    /// The kind of event.
    pub kind: EventKind,
    /// The text of the message.
    pub text: &'a str,
    /// The tool's input and output as compact JSON; an empty text stands for null.
    pub tool: Option<(&'a str, &'a str)>,
    key: &'a [u8],
    position: &'a EventPosition,
    body: &'a [u8],
}

impl EventRef<'_> {
    /// Decodes the event.
    pub fn to_event(&self) -> Result<Event, LedgerError> {
        let location = KvLocation { family: Family::Events, key: self.key };
        decode_body(location, self.position.clone(), self.body)
    }
}

/// Decodes a borrowed view of an event and passes it to `show`.
pub(crate) fn with_event_ref<T>(
    key: &[u8],
    position: &EventPosition,
    bytes: &[u8],
    show: impl FnOnce(&EventRef<'_>) -> T,
) -> Result<T, LedgerError> {
    let location = KvLocation { family: Family::Events, key };
    let (_, body) = unpack(location, &[VERSION], bytes)?;
    let stored: StoredEvent<'_> = decode(location, &body)?;
    Ok(show(&EventRef {
        session: stored.session,
        agent: stored.agent,
        project: stored.project,
        kind: decode_kind(location, stored.kind)?,
        text: stored.text,
        tool: stored.tool.as_ref().map(|tool| (tool.input, tool.output)),
        key,
        position,
        body: &body,
    }))
}

/// Decodes an event from its key and value.
pub(crate) fn decode_event(
    key: &[u8],
    position: EventPosition,
    bytes: &[u8],
) -> Result<Event, LedgerError> {
    let location = KvLocation { family: Family::Events, key };
    let (_, body) = unpack(location, &[VERSION], bytes)?;
    decode_body(location, position, &body)
}

fn decode_kind(location: KvLocation<'_>, code: u8) -> Result<EventKind, LedgerError> {
    EventKind::from_code(code).ok_or_else(|| location.corrupt(format!("unknown kind {code}")))
}

fn decode_body(
    location: KvLocation<'_>,
    position: EventPosition,
    body: &[u8],
) -> Result<Event, LedgerError> {
    let stored: StoredEvent<'_> = decode(location, body)?;
    Ok(Event {
        id: position.id,
        at: position.at,
        arrived: Millis(stored.arrived),
        session: SessionId::parse(stored.session).map_err(|error| location.corrupt(error))?,
        agent: Agent::parse(stored.agent).map_err(|error| location.corrupt(error))?,
        project: stored.project.to_owned(),
        cwd: stored.cwd.to_owned(),
        kind: decode_kind(location, stored.kind)?,
        role: Role::from_code(stored.role)
            .ok_or_else(|| location.corrupt(format!("unknown role {}", stored.role)))?,
        text: stored.text.to_owned(),
        tool: stored.tool.map(|tool| decode_tool(location, &tool)).transpose()?,
        meta: decode_meta(location, stored.meta)?,
    })
}

fn decode_tool(location: KvLocation<'_>, tool: &StoredTool<'_>) -> Result<Tool, LedgerError> {
    Ok(Tool {
        name: tool.name.to_owned(),
        input: decode_json(location, tool.input)?,
        output: decode_json(location, tool.output)?,
    })
}

fn encode_json(value: &Value) -> Result<String, String> {
    if value.is_null() {
        return Ok(String::new());
    }
    if !nests_at_most(value, JSON_DEPTH_MAX) {
        return Err(too_deep_error());
    }
    serde_json::to_string(value).map_err(|error| error.to_string())
}

fn encode_meta(meta: &Map<String, Value>) -> Result<String, String> {
    if meta.is_empty() {
        return Ok(String::new());
    }
    if !meta.values().all(|value| nests_at_most(value, JSON_DEPTH_MAX)) {
        return Err(too_deep_error());
    }
    serde_json::to_string(meta).map_err(|error| error.to_string())
}

fn too_deep_error() -> String {
    format!("its JSON is nested deeper than {JSON_DEPTH_MAX} levels: send it as text")
}

fn decode_json(location: KvLocation<'_>, text: &str) -> Result<Value, LedgerError> {
    if text.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).map_err(|error| location.corrupt(error))
}

fn decode_meta(location: KvLocation<'_>, text: &str) -> Result<Map<String, Value>, LedgerError> {
    if text.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str(text).map_err(|error| location.corrupt(error))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use tome_model::{EventId, Identity};

    use super::*;

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,30}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("\\PC{0,8}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn draft() -> impl Strategy<Value = Draft> {
        let tool = proptest::option::of(
            ("\\PC{1,12}", json(), json()).prop_map(|(name, input, output)| Tool {
                name,
                input,
                output,
            }),
        );
        let meta = proptest::collection::btree_map("\\PC{0,8}", json(), 0..3);
        let codes = (0u8..10, 1u8..5);
        // Short enough to stay uncompressed, or long enough to be compressed.
        let text = ("\\PC{0,300}", 1usize..40).prop_map(|(text, times)| text.repeat(times));
        (any::<u64>(), "[ -~]{1,40}", text, tool, meta, codes).prop_map(
            |(at, session, text, tool, meta, (kind, role))| Draft {
                identity: Identity::ByText("k".into()),
                at: Millis(at),
                session: SessionId::parse(&session).unwrap(),
                agent: Agent::parse("codex").unwrap(),
                cwd: "/home/dev/app/src".into(),
                project: None,
                kind: EventKind::from_code(kind).unwrap(),
                role: Role::from_code(role).unwrap(),
                text,
                tool,
                meta: meta.into_iter().collect(),
            },
        )
    }

    fn position(at: Millis) -> EventPosition {
        EventPosition { at, seq: 1, id: EventId::parse("e1").unwrap() }
    }

    proptest! {
        #[test]
        fn events_round_trip(draft in draft(), arrived in any::<u64>()) {
            let bytes = encode(&draft, "/home/dev/app", Millis(arrived)).unwrap();
            let event = decode_event(b"k", position(draft.at), &bytes).unwrap();
            prop_assert_eq!(event.arrived, Millis(arrived));
            prop_assert_eq!((event.at, event.kind, event.role), (draft.at, draft.kind, draft.role));
            prop_assert_eq!((event.session, event.agent), (draft.session, draft.agent));
            prop_assert_eq!((event.project.as_str(), event.cwd), ("/home/dev/app", draft.cwd));
            prop_assert_eq!((event.text, event.tool, event.meta), (draft.text, draft.tool, draft.meta));
        }

        #[test]
        fn a_damaged_event_is_an_error_or_another_event(draft in draft(), at in any::<proptest::sample::Index>(), bit in 0u8..8) {
            let mut bytes = encode(&draft, "/p", Millis(1)).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let _ = decode_event(b"k", position(draft.at), &bytes);
            let cut = decode_event(b"k", position(draft.at), &bytes[..at]);
            prop_assert!(cut.is_err());
        }
    }

    #[test]
    fn unreadable_json_is_rejected() {
        let mut draft = draft()
            .new_tree(&mut proptest::test_runner::TestRunner::deterministic())
            .unwrap()
            .current();
        let nested = |depth| (0..depth).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        draft.tool =
            Some(Tool { name: "t".into(), input: nested(JSON_DEPTH_MAX), output: Value::Null });
        let bytes = encode(&draft, "/p", Millis(1)).unwrap();
        assert_eq!(decode_event(b"k", position(draft.at), &bytes).unwrap().tool, draft.tool);
        draft.tool =
            Some(Tool { name: "t".into(), input: Value::Null, output: nested(JSON_DEPTH_MAX + 1) });
        assert!(encode(&draft, "/p", Millis(1)).unwrap_err().contains("nested deeper"));
    }
}
