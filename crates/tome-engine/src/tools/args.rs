//! Arguments of a tool, taken one by one under their name or an alias and checked for type.
//! Arguments left over at the end are an error, so a misspelled one is never ignored.

use serde_json::{Map, Value};
use tome_model::{Scope, truncate_to};
use tome_notebook::limits::NOTE_BYTES_MAX;

use super::answer::Refusal;

/// Bytes shown of an unknown name.
const NAME_SHOWN_BYTES_MAX: usize = 80;

/// Below this, a float represents whole numbers exactly.
const NUMBER_MAX: f64 = 1e15;

/// The arguments of one call.
pub(super) struct Args {
    /// The tool, or the part of one, that error messages name.
    of: String,
    fields: Map<String, Value>,
    /// Names of the known arguments, for the error about an unknown one.
    takes: Vec<&'static str>,
}

impl Args {
    /// Parses a JSON object.
    pub(super) fn parse(tool: &str, arguments: &str) -> Result<Self, Refusal> {
        match serde_json::from_str(arguments) {
            Ok(Value::Object(fields)) => Ok(Self::of(tool, fields)),
            Ok(other) => Err(Refusal::invalid(format!(
                "{tool} takes a JSON object such as {{\"path\": \"notes.md\"}}, not {}",
                type_of(&other)
            ))),
            Err(error) => Err(Refusal::invalid(format!(
                "the arguments of {tool} are not valid JSON ({error}): pass an object"
            ))),
        }
    }

    fn of(of: impl Into<String>, fields: Map<String, Value>) -> Self {
        Self { of: of.into(), fields, takes: Vec::new() }
    }

    /// Whether an argument was given under exactly this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(|value| !value.is_null())
    }

    /// Makes error messages name a subcommand of the tool.
    pub(super) fn speak_of(&mut self, part: &str) {
        self.of = format!("{} {part}", self.of);
    }

    /// Takes a value under any of its names; `null` counts as missing.
    pub(super) fn value(
        &mut self,
        names: &'static [&'static str],
    ) -> Result<Option<Value>, Refusal> {
        self.takes.extend(names.first());
        let mut found: Option<(&str, Value)> = None;
        for name in names {
            match (self.fields.shift_remove(*name), &found) {
                (None | Some(Value::Null), _) => {}
                (Some(value), None) => found = Some((name, value)),
                (Some(value), Some((_, first))) if *first == value => {}
                (Some(_), Some((first, _))) => {
                    return Err(Refusal::invalid(format!(
                        "{first} and {name} are aliases with different values: pass only {first}"
                    )));
                }
            }
        }
        Ok(found.map(|(_, value)| value))
    }

    /// Takes an optional text.
    pub(super) fn text(
        &mut self,
        names: &'static [&'static str],
    ) -> Result<Option<String>, Refusal> {
        match self.value(names)? {
            None => Ok(None),
            Some(Value::String(text)) if text.len() > NOTE_BYTES_MAX => Err(Refusal::invalid(
                format!("{} has {} bytes: the limit is {NOTE_BYTES_MAX}", said(names), text.len()),
            )),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(names, "a string", &other)),
        }
    }

    /// Takes a required text.
    pub(super) fn need(&mut self, names: &'static [&'static str]) -> Result<String, Refusal> {
        self.text(names)?.ok_or_else(|| self.missing(names))
    }

    /// Takes a required whole number.
    pub(super) fn need_number(&mut self, names: &'static [&'static str]) -> Result<i64, Refusal> {
        let value = self.value(names)?.ok_or_else(|| self.missing(names))?;
        number(&value).ok_or_else(|| wrong_type(names, "a whole number", &value))
    }

    /// Takes an optional count, capped at `most`.
    pub(super) fn count(
        &mut self,
        names: &'static [&'static str],
        most: usize,
    ) -> Result<Option<usize>, Refusal> {
        let Some(value) = self.value(names)? else { return Ok(None) };
        if value.as_f64().is_some_and(|number| number >= NUMBER_MAX) {
            return Ok(Some(most));
        }
        let count = number(&value).and_then(|number| usize::try_from(number).ok());
        let count = count.ok_or_else(|| wrong_type(names, "a whole number from 0 up", &value))?;
        Ok(Some(count.min(most)))
    }

    /// Takes an optional pair of whole numbers.
    pub(super) fn range(
        &mut self,
        names: &'static [&'static str],
    ) -> Result<Option<(i64, i64)>, Refusal> {
        let Some(value) = self.value(names)? else { return Ok(None) };
        match value.as_array().map(Vec::as_slice) {
            Some([start, end]) => number(start).zip(number(end)).map(Some),
            _ => None,
        }
        .ok_or_else(|| wrong_type(names, "two whole numbers, [start, end]", &value))
    }

    /// Takes an array of texts, or one text that `split` splits; empty if missing.
    pub(super) fn texts(
        &mut self,
        names: &'static [&'static str],
        split: fn(&str) -> Vec<String>,
    ) -> Result<Vec<String>, Refusal> {
        match self.value(names)? {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(split(&text)),
            Some(Value::Array(items)) => items
                .into_iter()
                .map(|item| match item {
                    Value::String(text) => Ok(text),
                    other => Err(wrong_type(names, "an array of strings", &other)),
                })
                .collect(),
            Some(other) => Err(wrong_type(names, "an array of strings", &other)),
        }
    }

    /// Takes an array of objects, each with its own arguments; `None` if missing.
    pub(super) fn objects(
        &mut self,
        names: &'static [&'static str],
        items_max: usize,
    ) -> Result<Option<Vec<Self>>, Refusal> {
        let items = match self.value(names)? {
            None => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(wrong_type(names, "an array of objects", &other)),
        };
        if items.len() > items_max {
            return Err(Refusal::invalid(format!(
                "{} has {} items: the limit is {items_max} per call",
                said(names),
                items.len()
            )));
        }
        let each = |(at, item): (usize, Value)| match item {
            Value::Object(fields) => Ok(Self::of(format!("{}[{at}]", said(names)), fields)),
            other => Err(wrong_type(names, "an array of objects", &other)),
        };
        items.into_iter().enumerate().map(each).collect::<Result<_, _>>().map(Some)
    }

    /// Takes the scope and, for a session's notebook, the session.
    pub(super) fn scope(&mut self) -> Result<(Scope, Option<String>), Refusal> {
        let scope = match self.text(&["scope"])? {
            None => Scope::default(),
            Some(name) => Scope::named(&name).ok_or_else(|| {
                let name = truncate_to(&name, NAME_SHOWN_BYTES_MAX);
                Refusal::invalid(format!("unknown scope {name:?}: use session, project or coder"))
            })?,
        };
        let session = self.text(&["session_id"])?;
        if session.is_some() && scope != Scope::Session {
            return Err(Refusal::invalid("session_id is only valid with scope session"));
        }
        Ok((scope, session))
    }

    /// Fails if unknown arguments are left.
    pub(super) fn finish(&mut self) -> Result<(), Refusal> {
        let Some(unknown) = self.fields.keys().next() else { return Ok(()) };
        Err(Refusal::invalid(format!(
            "unknown argument {:?}: {} takes {}",
            truncate_to(unknown, NAME_SHOWN_BYTES_MAX),
            self.of,
            match self.takes.is_empty() {
                true => "none".to_owned(),
                false => self.takes.join(", "),
            }
        )))
    }

    pub(super) fn missing(&self, names: &[&'static str]) -> Refusal {
        Refusal::invalid(format!("{} needs {}", self.of, said(names)))
    }
}

fn said(names: &[&'static str]) -> &'static str {
    names.first().copied().unwrap_or("an argument")
}

fn wrong_type(names: &[&'static str], wanted: &str, found: &Value) -> Refusal {
    let found = match found {
        Value::Number(number) if wanted.contains("number") => number.to_string(),
        found => type_of(found).to_owned(),
    };
    Refusal::invalid(format!("{} must be {wanted}, not {found}", said(names)))
}

/// Parses a whole number, also one with a zero fraction.
fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| {
        let float = value.as_f64()?;
        #[allow(clippy::cast_possible_truncation, reason = "whole, and far below the limit")]
        (float.fract() == 0.0 && float.abs() < NUMBER_MAX).then_some(float as i64)
    })
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
