//! Parses JSON leniently, because a hook cannot ask its agent to send a payload again.
//!
//! Accepts, beyond the standard: invalid UTF-8 (replaced), a byte-order mark, NULs and whitespace
//! around the value, anything after the first value, raw control characters inside strings, lone
//! surrogates and invalid escapes. Anything else that is not an object is returned as text, in
//! full.

use serde_json::Value;

use super::fields::PayloadFields;

pub(super) enum ParsedPayload {
    Empty,
    /// Anything that is not a JSON object.
    Text(String),
    Object(PayloadFields),
}

pub(super) fn parse_payload(payload: &[u8]) -> ParsedPayload {
    let text = String::from_utf8_lossy(payload);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\0');
    if text.is_empty() {
        return ParsedPayload::Empty;
    }
    match parse_first_value(text).or_else(|| parse_first_value(&repair_strings(text))) {
        Some((Value::Object(map), rest)) => {
            let mut fields = PayloadFields::new(map);
            if !rest.is_empty() {
                fields.set("trailing", Value::String(rest));
            }
            ParsedPayload::Object(fields)
        }
        _ => ParsedPayload::Text(text.to_owned()),
    }
}

/// Returns the first JSON value and the text after it.
fn parse_first_value(text: &str) -> Option<(Value, String)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let rest = text.get(values.byte_offset()..).unwrap_or_default();
    Some((value, rest.trim().to_owned()))
}

/// Repairs the strings in a JSON text: escapes raw control characters, replaces lone surrogates,
/// doubles backslashes that escape nothing.
fn repair_strings(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars();
    let mut in_string = false;
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                in_string = !in_string;
                out.push(c);
            }
            '\\' if in_string => {
                let (escape, after) = repair_escape(rest.as_str());
                out.push_str(&escape);
                rest = after.chars();
            }
            c if in_string && c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Takes the text after a backslash; returns the repaired escape and the text after it.
fn repair_escape(after: &str) -> (String, &str) {
    let mut chars = after.chars();
    match chars.next() {
        Some('u') => match parse_hex4(chars.as_str()) {
            Some((unit, rest)) => repair_unicode_escape(unit, rest),
            None => ("\\\\".to_owned(), after),
        },
        Some(c) if "\"\\/bfnrt".contains(c) => (format!("\\{c}"), chars.as_str()),
        _ => ("\\\\".to_owned(), after),
    }
}

/// Keeps a surrogate pair together and replaces a lone surrogate.
fn repair_unicode_escape(unit: u32, rest: &str) -> (String, &str) {
    let replaced = || ("\\ufffd".to_owned(), rest);
    match unit {
        0xD800..=0xDBFF => match rest.strip_prefix("\\u").and_then(parse_hex4) {
            Some((low @ 0xDC00..=0xDFFF, rest)) => (format!("\\u{unit:04x}\\u{low:04x}"), rest),
            _ => replaced(),
        },
        0xDC00..=0xDFFF => replaced(),
        _ => (format!("\\u{unit:04x}"), rest),
    }
}

fn parse_hex4(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    let hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    let unit = u32::from_str_radix(digits, 16).ok().filter(|_| hex)?;
    Some((unit, rest))
}
