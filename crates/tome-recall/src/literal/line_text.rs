//! Extracts the searchable text of a line in a session's `messages.jsonl`.
//!
//! Tome's own lines are events. Of other JSON, all decoded string values count, except field names
//! and metadata (`role`, `type`, ids, times). Arguments and results of tools count completely. A
//! truncated or malformed line is read as far as possible; a line that is not JSON is plain text.

use std::borrow::Cow;

use tome_model::{Agent, Event, EventId, EventLine, Millis, SessionId};

use tome_contents::{authored_kind, event_texts, find_rejection_words};

/// Text and metadata of a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LineText {
    /// Its texts, separated by newlines.
    pub text: String,
    pub id: String,
    /// 0 if unknown.
    pub at: Millis,
    pub session: String,
    pub agent: String,
    pub kind: String,
}

impl LineText {
    pub fn parse(line: &str) -> Self {
        match EventLine::parse(line).ok().and_then(to_event) {
            Some(event) => Self::from_event(&event),
            None if looks_like_json(line) => Self::from_json(line),
            None => Self { text: line.to_owned(), ..Self::default() },
        }
    }

    fn from_event(event: &Event) -> Self {
        let mut text = String::new();
        join_event_text(event, &mut text);
        Self {
            text,
            id: event.id.as_str().to_owned(),
            at: event.at,
            session: event.session.as_str().to_owned(),
            agent: event.agent.as_str().to_owned(),
            kind: authored_kind(event).as_str().to_owned(),
        }
    }

    fn from_json(line: &str) -> Self {
        let mut parsed = Self::default();
        parsed.collect_strings(line, 0);
        parsed
    }

    fn collect_strings(&mut self, json: &str, depth: usize) {
        visit_strings(json, &mut |name, sort, value| match sort {
            JsonValueClass::Metadata => self.record_metadata(name, &value),
            // Some agents encode tool arguments as JSON in a string.
            JsonValueClass::ToolData
                if depth == 0 && name == "arguments" && value.starts_with('{') =>
            {
                self.collect_strings(&value, 1);
            }
            JsonValueClass::Text | JsonValueClass::ToolData if value.is_empty() => {}
            JsonValueClass::Text | JsonValueClass::ToolData => {
                self.text.push_str(if self.text.is_empty() { "" } else { "\n" });
                self.text.push_str(&value);
            }
        });
    }

    fn record_metadata(&mut self, name: &str, value: &str) {
        match name {
            "id" | "uuid" if self.id.is_empty() => value.clone_into(&mut self.id),
            "timestamp" | "at" if self.at == Millis(0) => {
                self.at = Millis::parse("at", value).unwrap_or_default();
            }
            "session_id" | "sessionId" => value.clone_into(&mut self.session),
            "agent" => value.clone_into(&mut self.agent),
            "kind" => value.clone_into(&mut self.kind),
            _ => {}
        }
    }
}

/// Joins all texts of an event with newlines.
pub(super) fn join_event_text(event: &Event, text: &mut String) {
    text.clear();
    if let Some(words) = find_rejection_words(event) {
        text.push_str(words);
        return;
    }
    for (nth, one) in event_texts(event).enumerate() {
        text.push_str(if nth > 0 { "\n" } else { "" });
        text.push_str(&one);
    }
}

/// Converts a line written by Tome into its event.
fn to_event(line: EventLine) -> Option<Event> {
    let kind = line.kind.parse().ok()?;
    Some(Event {
        id: EventId::parse(line.id.as_deref()?).ok()?,
        at: line.at,
        arrived: line.arrived.unwrap_or(line.at),
        session: SessionId::parse(&line.session_id).ok()?,
        agent: Agent::parse(&line.agent).ok()?,
        project: line.project.unwrap_or_default(),
        cwd: line.cwd,
        kind,
        role: kind.default_role(),
        text: line.text,
        tool: line.tool,
        meta: line.meta,
    })
}

/// Returns whether a line starts like JSON. A bracketed prefix of a log line does not count.
fn looks_like_json(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| !c.is_whitespace());
    match marks.next() {
        Some('{') => marks.next().is_none_or(|next| matches!(next, '"' | '}')),
        Some('[') => marks.next().is_none_or(|next| matches!(next, '"' | '{' | '[' | ']')),
        _ => false,
    }
}

/// Meaning of the values under a field name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonValueClass {
    /// Text of a message.
    Text,
    /// An id, a type or a time.
    Metadata,
    /// Arguments or result of a tool: everything counts, whatever its name.
    ToolData,
}

#[rustfmt::skip]
const METADATA_NAMES: &[&str] = &[
    "agent", "api", "arrived", "at", "cwd", "data", "gitBranch", "gitCommit", "gitVersion", "id", "kind", "media_type", "mimeType", "model",
    "parentSession", "project", "provider", "role", "signature", "stopReason", "stop_reason", "timestamp", "type", "uuid", "version",
];
const TOOL_DATA_NAMES: &[&str] = &["arguments", "input", "output", "result", "toolUseResult"];

impl JsonValueClass {
    fn from_name(name: &str) -> Self {
        let is_id = ["Id", "_id", "Uuid", "_uuid", "ID"].iter().any(|end| name.ends_with(end));
        match name {
            name if TOOL_DATA_NAMES.contains(&name) => Self::ToolData,
            name if is_id || METADATA_NAMES.contains(&name) => Self::Metadata,
            _ => Self::Text,
        }
    }
}

/// Visits the strings of possibly malformed JSON: the field name, its class, and the decoded value.
fn visit_strings<'a>(json: &'a str, search: &mut dyn FnMut(&str, JsonValueClass, Cow<'a, str>)) {
    let mut around: Vec<JsonValueClass> = Vec::new();
    let (mut name, mut sort) = (Cow::Borrowed(""), JsonValueClass::Text);
    let mut rest = json;
    while let Some(quote) = memchr::memchr(b'"', rest.as_bytes()) {
        let (between, from) = rest.split_at_checked(quote).unwrap_or((rest, ""));
        for byte in between.bytes() {
            match byte {
                b'{' | b'[' => around.push(sort),
                b'}' | b']' => sort = around.pop().unwrap_or(JsonValueClass::Text),
                _ => {}
            }
        }
        let (value, after) = split_string(from.get(1..).unwrap_or_default());
        rest = after;
        if after.trim_start().starts_with(':') {
            let is_free = around.last() == Some(&JsonValueClass::ToolData);
            sort =
                if is_free { JsonValueClass::ToolData } else { JsonValueClass::from_name(&value) };
            name = value;
        } else {
            search(&name, sort, value);
        }
    }
}

/// Splits off a string at its closing quote; takes everything if it is not closed.
fn split_string(from: &str) -> (Cow<'_, str>, &str) {
    let bytes = from.as_bytes();
    let mut at = 0;
    let mut escaped = false;
    while let Some(next) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += next;
        if bytes.get(at) == Some(&b'"') {
            break;
        }
        escaped = true;
        // The escaped character may be a quote.
        at += 2;
    }
    let is_open = bytes.get(at) != Some(&b'"');
    let end = if is_open { from.len() } else { at };
    let (raw, after) = from.split_at_checked(end).unwrap_or((from, ""));
    let content = if escaped { Cow::Owned(decode_escapes(raw)) } else { Cow::Borrowed(raw) };
    (content, after.get(1..).unwrap_or_default())
}

/// Decodes the escapes of a JSON string. Lone surrogates become replacement characters; invalid
/// escapes stay unchanged.
fn decode_escapes(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = escape.chars();
        rest = match chars.next() {
            Some('u') => decode_unicode_escape(chars.as_str(), &mut out),
            Some(c) => {
                out.push(match c {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    other => other,
                });
                chars.as_str()
            }
            None => "",
        };
    }
    out.push_str(rest);
    out
}

/// Decodes the digits of `\u4e2d`, or of a surrogate pair, and returns the rest.
fn decode_unicode_escape<'a>(from: &'a str, out: &mut String) -> &'a str {
    let unit = |text: &'a str| {
        let (digits, after) = text.split_at_checked(4)?;
        // `from_str_radix` would accept a sign.
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
        Some((value, after))
    };
    let Some((first, after)) = unit(from) else {
        out.push_str("\\u");
        return from;
    };
    if let Some(c) = char::from_u32(first) {
        out.push(c);
        return after;
    }
    let second = after.strip_prefix("\\u").and_then(unit);
    if let Some((second, behind)) = second.filter(|(second, _)| {
        (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(second)
    }) {
        let joined = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        out.push(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
        return behind;
    }
    out.push(char::REPLACEMENT_CHARACTER);
    after
}
