//! Arguments of a tool, taken one by one under their name or an alias and checked for type.
//! Arguments left over at the end are an error, so a misspelled one is never ignored.

use serde_json::{Map, Value};
use tome_model::{Scope, truncate_to};
use tome_notebook::limits::NOTE_BYTES_MAX;

use super::answer::ToolError;

/// Bytes shown of an unknown name.
const NAME_SHOWN_BYTES_MAX: usize = 80;

/// Below this, a float represents whole numbers exactly.
const NUMBER_MAX: f64 = 1e15;

/// The arguments of one call.
pub(super) struct ToolArgs {
    /// The tool, or the part of one, that error messages name.
    owner: String,
    fields: Map<String, Value>,
    /// Names of the known arguments, for the error about an unknown one.
    known_names: Vec<&'static str>,
}

impl ToolArgs {
    /// Parses a JSON object.
    pub(super) fn parse(tool: &str, arguments: &str) -> Result<Self, ToolError> {
        match serde_json::from_str(arguments) {
            Ok(Value::Object(fields)) => Ok(Self::from_fields(tool, fields)),
            Ok(other) => Err(ToolError::invalid(format!(
                "{tool} takes a JSON object such as {{\"path\": \"notes.md\"}}, not {}",
                json_type_name(&other)
            ))),
            Err(error) => Err(ToolError::invalid(format!(
                "the arguments of {tool} are not valid JSON ({error}): pass an object"
            ))),
        }
    }

    fn from_fields(of: impl Into<String>, fields: Map<String, Value>) -> Self {
        Self { owner: of.into(), fields, known_names: Vec::new() }
    }

    /// Whether an argument was given under exactly this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(|value| !value.is_null())
    }

    /// Makes error messages name a subcommand of the tool.
    pub(super) fn set_subcommand(&mut self, part: &str) {
        self.owner = format!("{} {part}", self.owner);
    }

    /// Takes a value under any of its names; `null` counts as missing.
    pub(super) fn take_value(
        &mut self,
        names: &'static [&'static str],
    ) -> Result<Option<Value>, ToolError> {
        self.known_names.extend(names.first());
        let mut found: Option<(&str, Value)> = None;
        for name in names {
            match (self.fields.shift_remove(*name), &found) {
                (None | Some(Value::Null), _) => {}
                (Some(value), None) => found = Some((name, value)),
                (Some(value), Some((_, first))) if *first == value => {}
                (Some(_), Some((first, _))) => {
                    return Err(ToolError::invalid(format!(
                        "{first} and {name} are aliases with different values: pass only {first}"
                    )));
                }
            }
        }
        Ok(found.map(|(_, value)| value))
    }

    /// Takes an optional text.
    pub(super) fn take_text(
        &mut self,
        names: &'static [&'static str],
    ) -> Result<Option<String>, ToolError> {
        match self.take_value(names)? {
            None => Ok(None),
            Some(Value::String(text)) if text.len() > NOTE_BYTES_MAX => {
                Err(ToolError::invalid(format!(
                    "{} has {} bytes: the limit is {NOTE_BYTES_MAX}",
                    primary_name(names),
                    text.len()
                )))
            }
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(type_error(names, "a string", &other)),
        }
    }

    /// Takes a required text.
    pub(super) fn require_text(
        &mut self,
        names: &'static [&'static str],
    ) -> Result<String, ToolError> {
        self.take_text(names)?.ok_or_else(|| self.missing_error(names))
    }

    /// Takes a required whole number.
    pub(super) fn require_number(
        &mut self,
        names: &'static [&'static str],
    ) -> Result<i64, ToolError> {
        let value = self.take_value(names)?.ok_or_else(|| self.missing_error(names))?;
        parse_whole_number(&value).ok_or_else(|| type_error(names, "a whole number", &value))
    }

    /// Takes an optional count, capped at `most`.
    pub(super) fn take_count(
        &mut self,
        names: &'static [&'static str],
        most: usize,
    ) -> Result<Option<usize>, ToolError> {
        let Some(value) = self.take_value(names)? else { return Ok(None) };
        if value.as_f64().is_some_and(|number| number >= NUMBER_MAX) {
            return Ok(Some(most));
        }
        let count = parse_whole_number(&value).and_then(|number| usize::try_from(number).ok());
        let count = count.ok_or_else(|| type_error(names, "a whole number from 0 up", &value))?;
        Ok(Some(count.min(most)))
    }

    /// Takes an optional switch; `false` if missing.
    pub(super) fn take_switch(
        &mut self,
        names: &'static [&'static str],
    ) -> Result<bool, ToolError> {
        match self.take_value(names)? {
            None => Ok(false),
            Some(Value::Bool(switch)) => Ok(switch),
            Some(Value::String(text)) if text == "true" => Ok(true),
            Some(Value::String(text)) if text == "false" => Ok(false),
            Some(other) => Err(type_error(names, "true or false", &other)),
        }
    }

    /// Takes an optional pair of whole numbers.
    pub(super) fn take_range(
        &mut self,
        names: &'static [&'static str],
    ) -> Result<Option<(i64, i64)>, ToolError> {
        let Some(value) = self.take_value(names)? else { return Ok(None) };
        match value.as_array().map(Vec::as_slice) {
            Some([start, end]) => parse_whole_number(start).zip(parse_whole_number(end)).map(Some),
            _ => None,
        }
        .ok_or_else(|| type_error(names, "two whole numbers, [start, end]", &value))
    }

    /// Takes an array of texts, or one text that `split` splits; empty if missing.
    pub(super) fn take_texts(
        &mut self,
        names: &'static [&'static str],
        split: fn(&str) -> Vec<String>,
    ) -> Result<Vec<String>, ToolError> {
        match self.take_value(names)? {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(split(&text)),
            Some(Value::Array(items)) => items
                .into_iter()
                .map(|item| match item {
                    Value::String(text) => Ok(text),
                    other => Err(type_error(names, "an array of strings", &other)),
                })
                .collect(),
            Some(other) => Err(type_error(names, "an array of strings", &other)),
        }
    }

    /// Takes an array of objects, each with its own arguments; `None` if missing.
    pub(super) fn take_objects(
        &mut self,
        names: &'static [&'static str],
        items_max: usize,
    ) -> Result<Option<Vec<Self>>, ToolError> {
        let items = match self.take_value(names)? {
            None => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(type_error(names, "an array of objects", &other)),
        };
        if items.len() > items_max {
            return Err(ToolError::invalid(format!(
                "{} has {} items: the limit is {items_max} per call",
                primary_name(names),
                items.len()
            )));
        }
        let each = |(at, item): (usize, Value)| match item {
            Value::Object(fields) => {
                Ok(Self::from_fields(format!("{}[{at}]", primary_name(names)), fields))
            }
            other => Err(type_error(names, "an array of objects", &other)),
        };
        items.into_iter().enumerate().map(each).collect::<Result<_, _>>().map(Some)
    }

    /// Takes the scope and, for a session's notebook, the session.
    pub(super) fn take_scope(&mut self) -> Result<(Scope, Option<String>), ToolError> {
        let scope = match self.take_text(&["scope"])? {
            None => Scope::default(),
            Some(name) => Scope::from_name(&name).ok_or_else(|| {
                let name = truncate_to(&name, NAME_SHOWN_BYTES_MAX);
                ToolError::invalid(format!("unknown scope {name:?}: use session, project or coder"))
            })?,
        };
        let session = self.take_text(&["session_id"])?;
        if session.is_some() && scope != Scope::Session {
            return Err(ToolError::invalid("session_id is only valid with scope session"));
        }
        Ok((scope, session))
    }

    /// Fails if unknown arguments are left.
    pub(super) fn reject_unknown(&mut self) -> Result<(), ToolError> {
        let Some(unknown) = self.fields.keys().next() else { return Ok(()) };
        Err(ToolError::invalid(format!(
            "unknown argument {:?}: {} takes {}",
            truncate_to(unknown, NAME_SHOWN_BYTES_MAX),
            self.owner,
            if self.known_names.is_empty() {
                "none".to_owned()
            } else {
                self.known_names.join(", ")
            }
        )))
    }

    pub(super) fn missing_error(&self, names: &[&'static str]) -> ToolError {
        ToolError::invalid(format!("{} needs {}", self.owner, primary_name(names)))
    }
}

fn primary_name(names: &[&'static str]) -> &'static str {
    names.first().copied().unwrap_or("an argument")
}

fn type_error(names: &[&'static str], wanted: &str, found: &Value) -> ToolError {
    let found = match found {
        Value::Number(number) if wanted.contains("number") => number.to_string(),
        found => json_type_name(found).to_owned(),
    };
    ToolError::invalid(format!("{} must be {wanted}, not {found}", primary_name(names)))
}

/// Parses a whole number, also one with a zero fraction.
/// A whole number; models also write it as `5.0` or `"5"`.
fn parse_whole_number(value: &Value) -> Option<i64> {
    if let Some(text) = value.as_str() {
        return text.trim().parse().ok();
    }
    value.as_i64().or_else(|| {
        let float = value.as_f64()?;
        #[allow(clippy::cast_possible_truncation, reason = "whole, and far below the limit")]
        (float.fract() == 0.0 && float.abs() < NUMBER_MAX).then_some(float as i64)
    })
}

fn json_type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
