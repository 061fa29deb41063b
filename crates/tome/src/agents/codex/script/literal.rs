//! Evaluates literals: strings, templates, numbers, lists, objects, and names of constants.
//!
//! Nothing is executed. A value that depends on anything else has no literal value.

use std::collections::HashMap;

use serde_json::{Map, Number, Value};

use super::lexer::{ScriptToken, ScriptTokenKind};

/// Nesting of a value.
const DEPTH_MAX: usize = 24;
/// Bytes that all values of a script may have together, with every copy of a constant: names can
/// double a text with every line.
const VALUE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Counted for every value beside its text.
const NODE_BYTES: usize = 16;

/// Constants of a script, and the bytes that its values may still have.
pub(super) struct Literals<'s> {
    constants: HashMap<&'s str, (Value, usize)>,
    bytes_left: usize,
}

impl<'s> Literals<'s> {
    pub(super) fn new() -> Self {
        Self { constants: HashMap::new(), bytes_left: VALUE_BYTES_MAX }
    }

    pub(super) fn define(&mut self, name: &'s str, value: Value) {
        let bytes = count_bytes(&value);
        self.constants.insert(name, (value, bytes));
    }

    /// Forgets a name that may have another value from now on.
    pub(super) fn forget(&mut self, name: &str) {
        self.constants.remove(name);
    }

    /// Whether a member of the constant may be changed.
    pub(super) fn has_members(&self, name: &str) -> bool {
        self.constants.get(name).is_some_and(|(value, _)| value.is_object() || value.is_array())
    }

    /// Evaluates the value that begins at a token; returns it with the index after it.
    pub(super) fn read_value(
        &mut self,
        tokens: &[ScriptToken<'s>],
        from: usize,
    ) -> Option<(Value, usize)> {
        let mut reader = ValueReader { literals: self, tokens, at: from };
        let value = reader.read_sum(0)?;
        Some((value, reader.at))
    }

    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.bytes_left = self.bytes_left.checked_sub(bytes + NODE_BYTES)?;
        Some(())
    }

    fn copy(&mut self, name: &str) -> Option<Value> {
        let bytes = self.constants.get(name)?.1;
        self.spend(bytes)?;
        self.constants.get(name).map(|(value, _)| value.clone())
    }
}

fn count_bytes(value: &Value) -> usize {
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(count_bytes).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + count_bytes(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    inner + NODE_BYTES
}

struct ValueReader<'r, 's> {
    literals: &'r mut Literals<'s>,
    tokens: &'r [ScriptToken<'s>],
    at: usize,
}

impl<'s> ValueReader<'_, 's> {
    fn peek(&self) -> Option<&ScriptToken<'s>> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<ScriptToken<'s>> {
        let token = self.tokens.get(self.at).copied()?;
        self.at += 1;
        Some(token)
    }

    fn skip_symbol(&mut self, text: &str) -> bool {
        let is_next = self.peek().is_some_and(|token| token.is_symbol(text));
        self.at += usize::from(is_next);
        is_next
    }

    /// A value, or texts joined by `+`.
    fn read_sum(&mut self, depth: usize) -> Option<Value> {
        let mut sum = self.read_joined(depth)?;
        while self.skip_symbol("+") {
            let right = to_text(&self.read_joined(depth)?)?;
            let Value::String(mut left) = sum else { return None };
            self.literals.spend(right.len())?;
            left.push_str(&right);
            sum = Value::String(left);
        }
        Some(sum)
    }

    /// A value, or a list of texts with `.join("…")`.
    fn read_joined(&mut self, depth: usize) -> Option<Value> {
        let value = self.read_single(depth)?;
        let is_join = matches!(
            self.tokens.get(self.at..self.at + 3),
            Some([dot, join, open])
                if dot.is_symbol(".") && join.is_word("join") && open.is_symbol("(")
        );
        if !is_join {
            return Some(value);
        }
        self.at += 3;
        let between = to_text(&self.read_sum(depth + 1)?)?;
        self.skip_symbol(")").then_some(())?;
        let Value::Array(items) = value else { return None };
        let parts: Vec<String> = items.iter().map(to_text).collect::<Option<_>>()?;
        self.literals.spend(between.len().checked_mul(parts.len())?)?;
        self.literals.spend(parts.iter().map(String::len).sum())?;
        Some(Value::String(parts.join(&between)))
    }

    fn read_single(&mut self, depth: usize) -> Option<Value> {
        if depth > DEPTH_MAX {
            return None;
        }
        let token = self.next()?;
        match (token.kind, token.text) {
            (ScriptTokenKind::Text, raw) => self.read_text(raw).map(Value::String),
            (ScriptTokenKind::TemplateOpen, _) => self.read_template(depth, false),
            (ScriptTokenKind::Number, raw) => self.number(raw, false),
            (ScriptTokenKind::Symbol, "-") => {
                let raw = self.next().filter(|token| token.kind == ScriptTokenKind::Number)?;
                self.number(raw.text, true)
            }
            (ScriptTokenKind::Symbol, "(") => {
                let value = self.read_sum(depth + 1)?;
                self.skip_symbol(")").then_some(value)
            }
            (ScriptTokenKind::Symbol, "[") => self.read_list(depth),
            (ScriptTokenKind::Symbol, "{") => self.read_object(depth),
            (ScriptTokenKind::Word, "true") => Some(Value::Bool(true)),
            (ScriptTokenKind::Word, "false") => Some(Value::Bool(false)),
            (ScriptTokenKind::Word, "null" | "undefined") => Some(Value::Null),
            (ScriptTokenKind::Word, "String") => {
                let is_raw = self.skip_symbol(".") && self.next()?.is_word("raw");
                let open = self.next()?;
                (is_raw && open.kind == ScriptTokenKind::TemplateOpen).then_some(())?;
                self.read_template(depth, true)
            }
            (ScriptTokenKind::Word, name) => self.literals.copy(name),
            _ => None,
        }
    }

    fn read_text(&mut self, raw: &str) -> Option<String> {
        self.literals.spend(raw.len())?;
        decode_escapes(raw)
    }

    fn read_template(&mut self, depth: usize, is_raw: bool) -> Option<Value> {
        let mut text = String::new();
        loop {
            let token = self.next()?;
            match token.kind {
                ScriptTokenKind::TemplateClose => return Some(Value::String(text)),
                ScriptTokenKind::TemplateText if is_raw => {
                    self.literals.spend(token.text.len())?;
                    text.push_str(token.text);
                }
                ScriptTokenKind::TemplateText => text.push_str(&self.read_text(token.text)?),
                ScriptTokenKind::Symbol if token.text == "${" => {
                    text.push_str(&to_text(&self.read_sum(depth + 1)?)?);
                    self.skip_symbol("}").then_some(())?;
                }
                _ => return None,
            }
        }
    }

    fn number(&mut self, raw: &str, is_negative: bool) -> Option<Value> {
        self.literals.spend(0)?;
        let digits = raw.replace('_', "");
        let number = match digits.parse::<i64>() {
            Ok(whole) => Number::from(if is_negative { -whole } else { whole }),
            Err(_) => {
                let number: f64 = digits.parse().ok()?;
                Number::from_f64(if is_negative { -number } else { number })?
            }
        };
        Some(Value::Number(number))
    }

    fn read_list(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        while !self.skip_symbol("]") {
            if self.skip_symbol("...") {
                let Value::Array(more) = self.read_sum(depth + 1)? else { return None };
                items.extend(more);
            } else {
                items.push(self.read_sum(depth + 1)?);
            }
            self.literals.spend(0)?;
            self.end_item("]")?;
        }
        Some(Value::Array(items))
    }

    fn read_object(&mut self, depth: usize) -> Option<Value> {
        let mut fields = Map::new();
        while !self.skip_symbol("}") {
            if self.skip_symbol("...") {
                let Value::Object(more) = self.read_sum(depth + 1)? else { return None };
                fields.extend(more);
            } else {
                let key = self.next()?;
                let name = match key.kind {
                    ScriptTokenKind::Text => self.read_text(key.text)?,
                    ScriptTokenKind::Word | ScriptTokenKind::Number => key.text.to_owned(),
                    _ => return None,
                };
                let value = if self.skip_symbol(":") {
                    self.read_sum(depth + 1)?
                } else {
                    (key.kind == ScriptTokenKind::Word).then_some(())?;
                    self.literals.copy(key.text)?
                };
                fields.insert(name, value);
            }
            self.literals.spend(0)?;
            self.end_item("}")?;
        }
        Some(Value::Object(fields))
    }

    /// Skips the comma after an item; the last one needs none.
    fn end_item(&mut self, close: &str) -> Option<()> {
        let is_last = self.peek().is_some_and(|token| token.is_symbol(close));
        (is_last || self.skip_symbol(",")).then_some(())
    }
}

fn to_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Decodes the escapes of a string or template; `None` if one is malformed.
pub(super) fn decode_escapes(raw: &str) -> Option<String> {
    if !raw.contains(['\\', '\r']) {
        return Some(raw.to_owned());
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw.chars();
    while let Some(c) = rest.next() {
        match c {
            // Line ends of a template are always `\n`.
            '\r' => {
                if !rest.as_str().starts_with('\n') {
                    text.push('\n');
                }
            }
            '\\' => match rest.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                'b' => text.push('\u{8}'),
                'f' => text.push('\u{c}'),
                'v' => text.push('\u{b}'),
                '0' if !rest.as_str().starts_with(|c: char| c.is_ascii_digit()) => text.push('\0'),
                // The line continues.
                '\n' => {}
                '\r' => {
                    if rest.as_str().starts_with('\n') {
                        rest.next();
                    }
                }
                'x' => text.push(char::from_u32(read_hex(&mut rest, 2)?)?),
                'u' => text.push(read_unicode_escape(&mut rest)?),
                c => text.push(c),
            },
            c => text.push(c),
        }
    }
    Some(text)
}

fn read_hex(rest: &mut std::str::Chars<'_>, digits: usize) -> Option<u32> {
    (0..digits).try_fold(0, |number: u32, _| Some(number * 16 + rest.next()?.to_digit(16)?))
}

/// Reads `\u{1f600}`, `\u00e9`, or two escapes that form one character.
fn read_unicode_escape(rest: &mut std::str::Chars<'_>) -> Option<char> {
    if let Some(inner) = rest.as_str().strip_prefix('{') {
        let (digits, after) = inner.split_once('}')?;
        let number = u32::from_str_radix(digits, 16).ok()?;
        *rest = after.chars();
        return char::from_u32(number);
    }
    let first = read_hex(rest, 4)?;
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first);
    }
    let mut ahead = rest.clone();
    let is_pair = ahead.next() == Some('\\') && ahead.next() == Some('u');
    let second = read_hex(&mut ahead, 4).filter(|code| (0xDC00..0xE000).contains(code));
    let second = second.filter(|_| is_pair)?;
    *rest = ahead;
    char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
}
