//! An event as a line of JSON, for `tome ingest` and the spool.
//!
//! ```json
//! {"session_id": "s1", "agent": "codex", "cwd": "/home/dev/app", "kind": "user_message",
//!  "text": "fix the lexer", "at": "2026-11-15T09:30:00Z"}
//! ```
//!
//! Unknown fields are errors: a misspelt field would otherwise lose its content.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Agent, Draft, EventId, EventKind, Identity, InvalidInput, Millis, Role, SessionId, Tool, limits,
};

/// An event as a line of JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventLine {
    /// An id chosen by the writer; without one, it is derived from the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The key of words that may repeat; written by the spool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// When it happened: RFC 3339 or milliseconds since 1970.
    pub at: Millis,
    /// The session.
    pub session_id: String,
    /// The coding agent.
    pub agent: String,
    /// The agent's working directory, an absolute path.
    pub cwd: String,
    /// The project's root; resolved from `cwd` if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The kind of event.
    pub kind: String,
    /// The author of `text`; follows from the kind if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The message.
    #[serde(default)]
    pub text: String,
    /// The tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// Further fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
    /// Accepted so that the output of `tome events --json` can be ingested; ignored.
    #[serde(default, skip_serializing)]
    pub arrived: Option<Millis>,
}

impl EventLine {
    /// Parses a line.
    pub fn parse(line: &str) -> Result<Self, InvalidInput> {
        serde_json::from_str(line).map_err(|error| {
            let text = error.to_string();
            // serde_json counts columns within the line; the caller adds the line number.
            let what = text.split(" at line 1 column").next().unwrap_or(&text);
            InvalidInput::invalid("line", format!("is not an event: {what}"))
        })
    }

    /// Renders the line as JSON, without a newline.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Validates all fields and builds the draft.
    pub fn into_draft(self) -> Result<Draft, InvalidInput> {
        let agent = Agent::parse(&self.agent)?;
        let session = SessionId::parse(&self.session_id)?;
        let kind: EventKind = self.kind.parse()?;
        let role: Role = match &self.role {
            Some(role) => role.parse()?,
            None => kind.default_role(),
        };
        let cwd = check_absolute_path("cwd", self.cwd)?;
        let project = self.project.map(|root| check_absolute_path("project", root)).transpose()?;
        check_meta(&self.meta)?;
        let identity = match (self.id, self.key) {
            (Some(id), _) => Identity::Fixed(EventId::parse(&id)?),
            (None, Some(key)) => Identity::ByText(EventId::parse(&key)?.into()),
            (None, None) => Identity::Fixed(EventId::derive(&[
                "line",
                agent.as_str(),
                session.as_str(),
                &cwd,
                kind.as_str(),
                &self.at.0.to_string(),
                &self.text,
                &self.tool.as_ref().map_or_else(String::new, |tool| {
                    serde_json::to_string(tool).unwrap_or_default()
                }),
            ])),
        };
        Ok(Draft {
            identity,
            at: self.at,
            session,
            agent,
            cwd,
            project,
            kind,
            role,
            text: self.text,
            tool: self.tool,
            meta: self.meta,
        })
    }
}

impl From<Draft> for EventLine {
    fn from(draft: Draft) -> Self {
        let (id, key) = match draft.identity {
            Identity::Fixed(id) => (Some(id.into()), None),
            Identity::ByText(key) => (None, Some(key)),
        };
        Self {
            id,
            key,
            at: draft.at,
            session_id: draft.session.into(),
            agent: draft.agent.into(),
            cwd: draft.cwd,
            project: draft.project,
            kind: draft.kind.as_str().to_owned(),
            role: Some(draft.role.as_str().to_owned()),
            text: draft.text,
            tool: draft.tool,
            meta: draft.meta,
            arrived: None,
        }
    }
}

/// Validates an absolute path. Windows drives are accepted everywhere, so that a history can be
/// read on another machine.
fn check_absolute_path(field: &'static str, path: String) -> Result<String, InvalidInput> {
    let bytes = path.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
    if path.is_empty() {
        return Err(InvalidInput::Missing { field });
    }
    if !(path.starts_with(['/', '\\']) || drive) {
        return Err(InvalidInput::invalid(
            field,
            format!("{:?} has to be an absolute path", crate::truncate_to(&path, 80)),
        ));
    }
    if path.len() > limits::PATH_BYTES_MAX || path.contains('\0') {
        return Err(InvalidInput::invalid(
            field,
            format!("has to be at most {} bytes without NUL", limits::PATH_BYTES_MAX),
        ));
    }
    Ok(path)
}

fn check_meta(meta: &Map<String, Value>) -> Result<(), InvalidInput> {
    let size = serde_json::to_string(meta).map_or(usize::MAX, |text| text.len());
    if size > limits::META_BYTES_MAX {
        return Err(InvalidInput::invalid(
            "meta",
            format!(
                "is {size} bytes of JSON; at most {} are kept: put long text into text",
                limits::META_BYTES_MAX
            ),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"session_id":"s1","agent":"codex","cwd":"/app","kind":"user_message","text":"hi","at":1794702485884}"#;

    #[test]
    fn the_same_line_is_the_same_event() {
        let draft = |line: &str| EventLine::parse(line).unwrap().into_draft().unwrap();
        assert_eq!(draft(LINE), draft(LINE));
        assert_eq!(draft(LINE).role, Role::User);
        let later = LINE.replace("1794702485884", "\"2026-11-15T00:28:05.885Z\"");
        assert_ne!(draft(LINE).identity, draft(&later).identity);
        assert_eq!(draft(&later).at, Millis(1_794_702_485_885));
    }

    #[test]
    fn a_draft_survives_the_spool() {
        let mut draft = EventLine::parse(LINE).unwrap().into_draft().unwrap();
        draft.identity = Identity::from_words(&draft.agent, &draft.session, draft.role, "hi");
        draft.tool = Some(Tool {
            name: "Bash".into(),
            input: serde_json::json!({"command": "ls"}),
            output: Value::Null,
        });
        let line = EventLine::from(draft.clone()).to_json();
        assert!(!line.contains('\n'));
        assert_eq!(EventLine::parse(&line).unwrap().into_draft().unwrap(), draft);
    }

    #[test]
    fn bad_lines_say_what_to_do() {
        let problem = |line: &str| {
            EventLine::parse(line).and_then(EventLine::into_draft).unwrap_err().to_string()
        };
        assert!(problem("{").contains("line is not an event"));
        assert!(problem(r#"{"session_id":"s"}"#).contains("missing field"));
        assert!(problem(&LINE.replace("\"agent\"", "\"agnet\"")).contains("unknown field `agnet`"));
        assert!(
            problem(&LINE.replace("user_message", "shout"))
                .contains("use one of unknown, session_start")
        );
        assert!(problem(&LINE.replace("/app", "app")).contains("absolute path"));
        assert!(problem(&LINE.replace("1794702485884", "\"yesterday\"")).contains("RFC 3339"));
        assert!(problem(&LINE.replace("1794702485884", "-5")).contains("RFC 3339"));
        assert!(problem(&LINE.replace("\"s1\"", "\"a\\u0000b\"")).contains("control characters"));
    }
}
