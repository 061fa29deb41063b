//! Edits JSON text while preserving everything else: order, comments, trailing commas, indentation,
//! line endings.
//!
//! Parses the text for the positions of its values and splices new text in. Added values get a line
//! each; in a single-line file they are added to that line.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::EditError;

/// One step of a path into a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonPathStep<'a> {
    Key(&'a str),
    Index(usize),
}

/// A value and its byte range.
#[derive(Debug)]
struct JsonNode {
    at: Range<usize>,
    kind: JsonNodeKind,
}

#[derive(Debug)]
enum JsonNodeKind {
    Object(Vec<JsonMember>),
    Array(Vec<JsonMember>),
    Leaf,
}

/// An object member with its name, or an array element.
#[derive(Debug)]
struct JsonMember {
    name: String,
    at: Range<usize>,
    value: JsonNode,
}

/// Parses a text; `None` if it contains only whitespace and comments.
pub fn parse(text: &str) -> Result<Option<Value>, EditError> {
    let parsed =
        parse_to_ast(text, &CollectOptions::default(), &parse_options()).map_err(parse_error)?;
    Ok(parsed.value.map(Value::from))
}

/// Sets the value at a path of keys, creating missing objects.
pub fn set_value(text: &str, keys: &[&str], value: &Value) -> Result<String, EditError> {
    let Some((last, parents)) = keys.split_last() else { return Ok(text.to_owned()) };
    let text = create_objects(text, parents)?;
    let page = ParsedJson::parse(&text)?;
    let steps: Vec<JsonPathStep<'_>> = parents.iter().map(|key| JsonPathStep::Key(key)).collect();
    let object = page.find(&steps).filter(|node| matches!(node.kind, JsonNodeKind::Object(_)));
    let object = object.ok_or_else(|| not_an_object(parents))?;
    match object.find_member(JsonPathStep::Key(last)) {
        Some(member) => Ok(page.splice(member.value.at.clone(), &page.render_value(value))),
        None => page.insert_member(object, Some(last), value).ok_or_else(|| not_an_object(parents)),
    }
}

/// Appends a value to the array at a path of keys, creating the array and missing objects.
pub fn push_value(text: &str, keys: &[&str], value: &Value) -> Result<String, EditError> {
    let (last, parents) = keys.split_last().ok_or_else(|| not_an_object(keys))?;
    let mut text = create_objects(text, parents)?;
    let steps: Vec<JsonPathStep<'_>> = keys.iter().map(|key| JsonPathStep::Key(key)).collect();
    if ParsedJson::parse(&text)?.find(&steps).is_none() {
        text = set_value(&text, &[parents, &[last]].concat(), &Value::Array(Vec::new()))?;
    }
    let page = ParsedJson::parse(&text)?;
    let array = page.find(&steps).filter(|node| matches!(node.kind, JsonNodeKind::Array(_)));
    let array =
        array.ok_or_else(|| EditError::Shape(format!("`{}` is not a list", keys.join("."))))?;
    page.insert_member(array, None, value).ok_or_else(|| not_an_object(keys))
}

/// Renders a new document: members, then lists under `hooks`, one value per line.
pub fn render_hooks_json(members: &[(&str, Value)], hooks: &[(&'static str, Value)]) -> String {
    let mut text = "{}\n".to_owned();
    // Edits of an empty object cannot fail.
    for (name, value) in members {
        text = set_value(&text, &[name], value).unwrap_or(text);
    }
    for (event, value) in hooks {
        text = push_value(&text, &["hooks", event], value).unwrap_or(text);
    }
    text
}

/// Replaces the value at a path, if it exists.
pub fn replace_value(
    text: &str,
    steps: &[JsonPathStep<'_>],
    value: &Value,
) -> Result<String, EditError> {
    let page = ParsedJson::parse(text)?;
    Ok(match page.find(steps) {
        Some(node) => page.splice(node.at.clone(), &page.render_value(value)),
        None => text.to_owned(),
    })
}

/// Removes a member or element with its comma and, if nothing else is on them, its lines.
pub fn remove_value(text: &str, steps: &[JsonPathStep<'_>]) -> Result<String, EditError> {
    let page = ParsedJson::parse(text)?;
    let Some((last, parents)) = steps.split_last() else { return Ok(text.to_owned()) };
    let Some(holder) = page.find(parents) else { return Ok(text.to_owned()) };
    Ok(page.remove_member(holder, *last).unwrap_or_else(|| text.to_owned()))
}

/// Creates the missing objects along a path of keys.
fn create_objects(text: &str, keys: &[&str]) -> Result<String, EditError> {
    let mut text = text.to_owned();
    if ParsedJson::parse(&text)?.root.is_none() {
        text = append_empty_object(&text);
    }
    let mut parents: Vec<JsonPathStep<'_>> = Vec::new();
    for key in keys {
        let page = ParsedJson::parse(&text)?;
        let holder =
            page.find(&parents).filter(|node| matches!(node.kind, JsonNodeKind::Object(_)));
        let holder = holder.ok_or_else(|| not_an_object(keys))?;
        let empty = Value::Object(serde_json::Map::new());
        if holder.find_member(JsonPathStep::Key(key)).is_none() {
            let inserted = page.insert_member(holder, Some(key), &empty);
            text = inserted.ok_or_else(|| not_an_object(keys))?;
        }
        parents.push(JsonPathStep::Key(key));
    }
    Ok(text)
}

/// Appends an empty object after the comments of a text without a value.
fn append_empty_object(text: &str) -> String {
    let newline = detect_newline(text);
    let lead = text.trim_end();
    if lead.is_empty() { format!("{{}}{newline}") } else { format!("{lead}{newline}{{}}{newline}") }
}

struct ParsedJson<'t> {
    text: &'t str,
    root: Option<JsonNode>,
    commas: Vec<usize>,
    newline: &'static str,
    unit: String,
    is_one_line: bool,
}

impl<'t> ParsedJson<'t> {
    fn parse(text: &'t str) -> Result<Self, EditError> {
        let collect = CollectOptions { tokens: true, ..CollectOptions::default() };
        let parsed = parse_to_ast(text, &collect, &parse_options()).map_err(parse_error)?;
        let tokens = parsed.tokens.unwrap_or_default();
        let commas = tokens.iter().filter(|found| found.token == Token::Comma);
        let commas = commas.map(|found| found.range.start).collect();
        let root = parsed.value.as_ref().map(build_node);
        let has_members = root.as_ref().is_some_and(|root| !root.members().is_empty());
        let is_one_line = has_members && !text.trim().contains('\n');
        let newline = detect_newline(text);
        let mut page = Self { text, root, commas, newline, unit: "  ".to_owned(), is_one_line };
        page.unit = page.detect_indent_unit().unwrap_or_else(|| "  ".to_owned());
        Ok(page)
    }

    /// Detects one level of indentation.
    fn detect_indent_unit(&self) -> Option<String> {
        let root = self.root.as_ref()?;
        let starts = root.members().iter().map(|member| member.at.start);
        let indent = starts.filter_map(|at| self.indent_before(at)).next()?;
        let outer = self.line_indent(root.at.start);
        indent.strip_prefix(outer).filter(|unit| !unit.is_empty()).map(str::to_owned)
    }

    fn find(&self, steps: &[JsonPathStep<'_>]) -> Option<&JsonNode> {
        let mut node = self.root.as_ref()?;
        for step in steps {
            node = &node.find_member(*step)?.value;
        }
        Some(node)
    }

    fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    fn splice(&self, range: Range<usize>, by: &str) -> String {
        let (start, end) = (range.start, range.end);
        [self.slice(0..start), by, self.slice(end..self.text.len())].concat()
    }

    fn render_value(&self, value: &Value) -> String {
        if self.is_one_line { value.to_string() } else { render_spaced(value) }
    }

    /// Adds a named member or an element at the end of a container.
    fn insert_member(
        &self,
        holder: &JsonNode,
        name: Option<&str>,
        value: &Value,
    ) -> Option<String> {
        let named = |colon: &str| {
            let name = name.map(|name| Value::String(name.to_owned()).to_string() + colon);
            name.unwrap_or_default() + &self.render_value(value)
        };
        let close = holder.at.end.checked_sub(1)?;
        let inside = self.slice(holder.at.start + 1..close);
        let tail = self.skip_trailing_blanks(holder.at.start + 1 + inside.trim_end().len());
        let outer = self.line_indent(holder.at.start);
        let Some(last) = holder.members().last() else {
            return Some(if self.is_one_line {
                self.splice(tail..close, &named(":"))
            } else {
                let (newline, unit) = (self.newline, &self.unit);
                let member = named(": ");
                self.splice(tail..close, &format!("{newline}{outer}{unit}{member}{newline}{outer}"))
            });
        };
        let comma = self.find_comma(last.at.end..close);
        if !inside.contains('\n') {
            let (colon, space) = if self.is_one_line { (":", "") } else { (": ", " ") };
            let at = comma.map_or(last.at.end, |comma| comma + 1);
            let lead = if comma.is_some() { "" } else { "," };
            return Some(self.splice(at..at, &format!("{lead}{space}{}", named(colon))));
        }
        let own = self.indent_before(last.at.start);
        let indent = own.map_or_else(|| format!("{outer}{}", self.unit), str::to_owned);
        let (lead, trail) = if comma.is_some() { ("", ",") } else { (",", "") };
        let between = self.slice(last.at.end..tail);
        let rest = self.slice(tail..self.text.len());
        let (newline, member) = (self.newline, named(": "));
        let head = self.slice(0..last.at.end);
        Some(format!("{head}{lead}{between}{newline}{indent}{member}{trail}{rest}"))
    }

    fn remove_member(&self, holder: &JsonNode, step: JsonPathStep<'_>) -> Option<String> {
        let members = holder.members();
        let index = members.iter().rposition(|member| member.matches_step(step, members))?;
        let member = members.get(index)?;
        let close = holder.at.end.checked_sub(1)?;
        let next = members.get(index + 1).map_or(close, |next| next.at.start);
        let after = self.find_comma(member.at.end..next);
        let end = after.map_or(member.at.end, |comma| comma + 1);
        let cut = self.expand_to_lines(member.at.start..end);
        if members.len() == 1 {
            let rest = [self.slice(holder.at.start + 1..cut.start), self.slice(cut.end..close)];
            if rest.iter().all(|part| part.trim().is_empty()) {
                return Some(self.splice(holder.at.start + 1..close, ""));
            }
        }
        let before = index.checked_sub(1).and_then(|before| members.get(before));
        let comma = before.and_then(|before| self.find_comma(before.at.end..member.at.start));
        match comma {
            // The last member has no comma of its own; remove the preceding one.
            Some(comma) if after.is_none() => {
                let middle = self.slice(comma + 1..cut.start);
                let tail = self.slice(cut.end..self.text.len());
                Some([self.slice(0..comma), middle, tail].concat())
            }
            _ => Some(self.splice(cut, "")),
        }
    }

    /// Expands a range to whole lines if nothing else is on them, otherwise to the blanks before
    /// it.
    fn expand_to_lines(&self, range: Range<usize>) -> Range<usize> {
        let rest = self.slice(range.end..self.text.len());
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        let ends_line = rest.get(blank..).is_some_and(|rest| rest.starts_with('\n'));
        let head = self.slice(0..range.start);
        let lead = head.trim_end_matches([' ', '\t']);
        match (lead.ends_with('\n'), ends_line) {
            (true, true) => lead.len()..range.end + blank + 1,
            (false, _) => lead.len()..range.end,
            (true, false) => range,
        }
    }

    /// Skips blanks after a position if they end the line.
    fn skip_trailing_blanks(&self, at: usize) -> usize {
        let rest = self.slice(at..self.text.len());
        let bare = rest.trim_start_matches([' ', '\t']);
        let ends = bare.starts_with('\n') || bare.starts_with("\r\n");
        if ends { at + rest.len() - bare.len() } else { at }
    }

    fn find_comma(&self, range: Range<usize>) -> Option<usize> {
        self.commas.iter().copied().find(|comma| range.contains(comma))
    }

    /// Returns the indentation of the line at a position.
    fn line_indent(&self, at: usize) -> &'t str {
        let head = self.slice(0..at);
        let line = head.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.slice(line..self.text.len());
        self.leading_blanks(line)
    }

    fn leading_blanks(&self, line: &'t str) -> &'t str {
        let rest = line.trim_start_matches([' ', '\t']);
        line.get(..line.len() - rest.len()).unwrap_or_default()
    }

    /// Returns the text before a position on its line, if it is only indentation.
    fn indent_before(&self, at: usize) -> Option<&'t str> {
        let head = self.slice(0..at);
        let line = head.rfind('\n')? + 1;
        let lead = self.slice(line..at);
        lead.trim().is_empty().then_some(lead)
    }
}

impl JsonNode {
    fn members(&self) -> &[JsonMember] {
        match &self.kind {
            JsonNodeKind::Object(members) | JsonNodeKind::Array(members) => members,
            JsonNodeKind::Leaf => &[],
        }
    }

    /// The last of several members with the same name wins, as in JSON parsers.
    fn find_member(&self, step: JsonPathStep<'_>) -> Option<&JsonMember> {
        match (&self.kind, step) {
            (JsonNodeKind::Object(members), JsonPathStep::Key(key)) => {
                members.iter().rfind(|member| member.name == key)
            }
            (JsonNodeKind::Array(members), JsonPathStep::Index(index)) => members.get(index),
            _ => None,
        }
    }
}

impl JsonMember {
    fn matches_step(&self, step: JsonPathStep<'_>, all: &[Self]) -> bool {
        match step {
            JsonPathStep::Key(key) => self.name == key,
            JsonPathStep::Index(index) => all.get(index).is_some_and(|found| found.at == self.at),
        }
    }
}

fn build_node(value: &ast::Value<'_>) -> JsonNode {
    let range = value.range();
    let kind = match value {
        ast::Value::Object(object) => JsonNodeKind::Object(
            object
                .properties
                .iter()
                .map(|prop| JsonMember {
                    name: prop.name.as_str().to_owned(),
                    at: prop.range.start..prop.range.end,
                    value: build_node(&prop.value),
                })
                .collect(),
        ),
        ast::Value::Array(array) => JsonNodeKind::Array(
            array
                .elements
                .iter()
                .map(|element| {
                    let value = build_node(element);
                    JsonMember { name: String::new(), at: value.at.clone(), value }
                })
                .collect(),
        ),
        _ => JsonNodeKind::Leaf,
    };
    JsonNode { at: range.start..range.end, kind }
}

/// Renders a value on one line with conventional spacing.
pub fn render_spaced(value: &Value) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let quoted = |name: &String| Value::String(name.clone()).to_string();
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| quoted(name) + ": " + &render_spaced(value))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(render_spaced).collect();
            format!("[{}]", elements.join(", "))
        }
        other => other.to_string(),
    }
}

/// Detects the line ending of a text.
pub fn detect_newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text.get(..at).is_some_and(|head| head.ends_with('\r')) => "\r\n",
        _ => "\n",
    }
}

/// Allows comments and trailing commas, nothing else.
fn parse_options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "signature required by map_err")]
fn parse_error(error: jsonc_parser::errors::ParseError) -> EditError {
    EditError::Broken { line: error.line_display(), problem: error.kind().to_string() }
}

fn not_an_object(keys: &[&str]) -> EditError {
    EditError::Shape(match keys {
        [] => "not a JSON object".to_owned(),
        keys => format!("`{}` is not an object", keys.join(".")),
    })
}
