//! Answers and errors of tools, as text and JSON, bounded in size.

use serde_json::{Value, json};
use tome_model::truncate_to;
use tome_notebook::{NotebookError, WrittenNote};

pub(super) use tome_text::truncate_bytes;

use super::{ToolAnswer, ToolFailure};
use tome_home::HomeError;
use tome_recall::RecallError;

/// An error stays short, however long the path or text it mentions.
const ERROR_BYTES_MAX: usize = 4_000;

/// The result of a tool, or of a step of one.
pub(super) type Result<T> = std::result::Result<T, ToolError>;

#[derive(Debug)]
pub(super) struct ToolError {
    failure: ToolFailure,
    message: String,
    /// Text before the message.
    prefix: &'static str,
    /// Advice, on a line of its own.
    hint: Option<String>,
}

impl ToolError {
    /// An error that begins with `Error: `.
    pub(super) fn new(failure: ToolFailure, message: impl Into<String>) -> Self {
        Self { failure, message: message.into(), prefix: "Error: ", hint: None }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ToolFailure::Invalid, message)
    }

    pub(super) fn note_not_found(path: &str) -> Self {
        let path = truncate_to(path, 300);
        Self::new(ToolFailure::NotFound, format!("Memory file '{path}' not found."))
    }

    /// Drops the prefix, for messages whose exact wording is documented.
    pub(super) fn without_prefix(mut self) -> Self {
        self.prefix = "";
        self
    }

    pub(super) fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    pub(super) fn into_answer(self) -> ToolAnswer {
        let message = truncate_bytes(&self.message, ERROR_BYTES_MAX);
        let mut text = format!("{}{message}", self.prefix);
        let mut json = json!({ "error": message, "kind": self.failure.as_str() });
        if let Some(hint) = self.hint {
            let hint = truncate_bytes(&hint, ERROR_BYTES_MAX);
            text = format!("{text}\n{hint}");
            insert_field(&mut json, "hint", hint.into());
        }
        ToolAnswer { text, json, failure: Some(self.failure), secrets_cut: 0 }
    }
}

impl From<NotebookError> for ToolError {
    fn from(error: NotebookError) -> Self {
        use NotebookError as Error;
        let failure = match &error {
            Error::NotFound { path, hint } => {
                return Self::note_not_found(path).with_hint(hint.clone());
            }
            Error::TextNotFound { .. } => ToolFailure::NotFound,
            Error::AlreadyExists(_) | Error::VersionConflict { .. } => ToolFailure::Conflict,
            Error::Unreadable { .. } | Error::PartiallyCommitted { .. } | Error::Io { .. } => {
                ToolFailure::Failed
            }
            Error::PathEscapes(_)
            | Error::BadPath { .. }
            | Error::IndexReadOnly(_)
            | Error::TextAmbiguous { .. }
            | Error::FactsBudgetExceeded { .. }
            | Error::FactNotAllowed { .. }
            | Error::Invalid(_)
            | Error::GuideViolations(_) => ToolFailure::Invalid,
        };
        Self::new(failure, error.to_string())
    }
}

impl From<HomeError> for ToolError {
    fn from(error: HomeError) -> Self {
        let failure = match error {
            HomeError::Notebook(error) => return error.into(),
            HomeError::Invalid(_) | HomeError::Ambiguous { .. } => ToolFailure::Invalid,
            HomeError::NotFound(_) => ToolFailure::NotFound,
            _ => ToolFailure::Failed,
        };
        Self::new(failure, error.explained())
    }
}

impl From<RecallError> for ToolError {
    fn from(error: RecallError) -> Self {
        match error {
            RecallError::Home(error) => error.into(),
            error => Self::new(ToolFailure::Failed, error.explained()),
        }
    }
}

impl ToolAnswer {
    /// Text for a model, JSON for a program.
    pub(super) fn from_text(text: impl Into<String>, json: Value) -> Self {
        Self { text: text.into(), json, failure: None, secrets_cut: 0 }
    }

    /// The same JSON for both.
    pub(super) fn from_json(json: Value) -> Self {
        Self { text: json.to_string(), json, failure: None, secrets_cut: 0 }
    }

    /// Adds the number of redacted texts, if any.
    pub(super) fn with_secrets_cut(mut self, count: usize) -> Self {
        if count == 0 {
            return self;
        }
        let rendered = self.json.to_string();
        let was_json = self.text == rendered;
        insert_field(&mut self.json, "secrets_cut", count.into());
        self.text = if was_json {
            self.json.to_string()
        } else {
            format!("{}\n(secrets were redacted before writing)", self.text)
        };
        self.secrets_cut = count;
        self
    }
}

pub(super) fn written_json(written: &WrittenNote) -> Value {
    json!({
        "success": true,
        "path": written.path,
        "size": written.bytes,
        "version": written.version,
    })
}

/// Adds a field to a JSON object.
pub(super) fn insert_field(object: &mut Value, name: &str, value: Value) {
    if let Value::Object(fields) = object {
        fields.insert(name.to_owned(), value);
    }
}

/// Returns the first characters of a text and its length in characters.
pub(super) fn first_chars_and_count(text: &str, chars_max: usize) -> (&str, usize) {
    let chars = text.chars().count();
    (tome_text::first_chars(text, chars_max), chars)
}
