//! Parses citations and renders them; the two round-trip exactly.

use std::fmt;
use std::str::FromStr;

use tome_model::{GripId, ModelError, NodeId, truncate_to};

use super::{Citation, CitedPlace};
use tome_home::layout::MESSAGES;

const PROJECTS: &str = "projects/";
const SESSIONS: &str = "sessions/";
const MEMORY: &str = "memory/";
const CODER: &str = "coder/";
const DETAIL: &str = "detail/";
const OVERVIEW: &str = "overview.md";
const NODE: &str = "toc:";
const GRIP: &str = "grip:";

const FORMS: &str = "messages.jsonl#L45, detail/x.md#L10, overview.md, sessions/<session>/messages.jsonl#L45, \
                     memory/x.md#L3, coder/x.md#L3, toc:day:2026-11-14, grip:…, optionally prefixed with projects/<project>/";

impl Citation {
    /// Returns whether a text looks like a citation, valid or not, rather than an event id.
    pub fn is_meant(text: &str) -> bool {
        let heads = [PROJECTS, SESSIONS, MEMORY, CODER, DETAIL, OVERVIEW, MESSAGES, NODE, GRIP];
        heads.iter().any(|head| text.starts_with(head))
    }
}

impl FromStr for Citation {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Self, ModelError> {
        let Some(rest) = text.strip_prefix(PROJECTS) else {
            return Ok(Self { project: None, place: place(text, text)? });
        };
        let (folder, rest) = split_folder(text, rest)?;
        let place = place(text, rest)?;
        match &place {
            CitedPlace::Message { session: None, .. }
            | CitedPlace::Detail { session: None, .. } => {
                let problem =
                    format!("name the session: projects/{folder}/sessions/<session>/{rest}");
                Err(wrong(text, &problem))
            }
            CitedPlace::Insight { .. } => {
                Err(wrong(text, &format!("the coder's notebook belongs to no project: use {rest}")))
            }
            _ => Ok(Self { project: Some(folder.to_owned()), place }),
        }
    }
}

/// Parses the part after the project. `text` is the whole citation, for error messages.
fn place(text: &str, rest: &str) -> Result<CitedPlace, ModelError> {
    if let Some(rest) = rest.strip_prefix(SESSIONS) {
        let (folder, rest) = split_folder(text, rest)?;
        let place = of_session(text, rest, Some(folder))?;
        return place.ok_or_else(|| {
            wrong(text, "a session has messages.jsonl#L…, overview.md and detail/….md")
        });
    }
    if let Some(place) = of_session(text, rest, None)? {
        return Ok(place);
    }
    if let Some(rest) = rest.strip_prefix(MEMORY) {
        let (path, line) = path_and_line(text, rest)?;
        return Ok(CitedPlace::Note { path, line });
    }
    if let Some(rest) = rest.strip_prefix(CODER) {
        let (path, line) = path_and_line(text, rest)?;
        return Ok(CitedPlace::Insight { path, line });
    }
    match rest {
        id if id.starts_with(NODE) => Ok(CitedPlace::Node(NodeId::parse(id)?)),
        id if id.starts_with(GRIP) => Ok(CitedPlace::Grip(GripId::parse(id)?)),
        _ => Err(wrong(text, &format!("use one of {FORMS}"))),
    }
}

/// Parses the part after the session. `None` if no session has such a file.
fn of_session(
    text: &str,
    rest: &str,
    session: Option<&str>,
) -> Result<Option<CitedPlace>, ModelError> {
    let session = session.map(str::to_owned);
    if rest.starts_with(DETAIL) || rest == OVERVIEW || rest.starts_with("overview.md#") {
        let (path, line) = path_and_line(text, rest)?;
        if path != OVERVIEW && !path.starts_with(DETAIL) {
            return Ok(None);
        }
        return Ok(Some(CitedPlace::Detail { session, path, line }));
    }
    let Some(line) = rest.strip_prefix(MESSAGES) else { return Ok(None) };
    let line = line.strip_prefix("#L").and_then(number);
    let line = line.ok_or_else(|| wrong(text, "say which line, from 1: messages.jsonl#L45"))?;
    Ok(Some(CitedPlace::Message { session, line }))
}

/// Splits a note's path from the optional line number.
fn path_and_line(text: &str, rest: &str) -> Result<(String, Option<u32>), ModelError> {
    let (path, line) = match rest.rsplit_once("#L") {
        Some((path, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            let line = number(digits);
            (path, Some(line.ok_or_else(|| wrong(text, "lines are counted from 1: #L10"))?))
        }
        _ => (rest, None),
    };
    let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(is_odd);
    if !path.split('/').all(is_plain) {
        return Err(wrong(text, "it has to name a note: memory/decisions.md#L3"));
    }
    Ok((path.to_owned(), line))
}

/// Splits off a folder name.
fn split_folder<'a>(text: &str, rest: &'a str) -> Result<(&'a str, &'a str), ModelError> {
    let found = rest.split_once('/');
    found
        .filter(|(folder, rest)| {
            !matches!(*folder, "" | "." | "..") && !folder.contains(is_odd) && !rest.is_empty()
        })
        .ok_or_else(|| wrong(text, &format!("use one of {FORMS}")))
}

fn is_odd(c: char) -> bool {
    c.is_control() || c == '\\'
}

/// Parses a line number in canonical form: no sign, no leading zeros.
fn number(digits: &str) -> Option<u32> {
    let line: u32 = digits.parse().ok()?;
    (line > 0 && line.to_string() == digits).then_some(line)
}

fn wrong(text: &str, problem: &str) -> ModelError {
    let said = truncate_to(text, 200);
    ModelError::invalid("citation", format!("{said:?} is not a citation: {problem}"))
}

impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(project) = &self.project {
            write!(f, "{PROJECTS}{project}/")?;
        }
        match &self.place {
            CitedPlace::Message { session, line } => {
                in_session(f, session.as_deref())?;
                write!(f, "{MESSAGES}#L{line}")
            }
            CitedPlace::Detail { session, path, line } => {
                in_session(f, session.as_deref())?;
                note(f, "", path, *line)
            }
            CitedPlace::Note { path, line } => note(f, MEMORY, path, *line),
            CitedPlace::Insight { path, line } => note(f, CODER, path, *line),
            CitedPlace::Node(id) => f.write_str(id.as_str()),
            CitedPlace::Grip(id) => f.write_str(id.as_str()),
        }
    }
}

fn in_session(f: &mut fmt::Formatter<'_>, session: Option<&str>) -> fmt::Result {
    session.map_or(Ok(()), |folder| write!(f, "{SESSIONS}{folder}/"))
}

fn note(f: &mut fmt::Formatter<'_>, head: &str, path: &str, line: Option<u32>) -> fmt::Result {
    write!(f, "{head}{path}")?;
    line.map_or(Ok(()), |line| write!(f, "#L{line}"))
}
