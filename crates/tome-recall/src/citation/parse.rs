//! Parses citations and renders them; the two round-trip exactly.

use std::fmt;
use std::str::FromStr;

use tome_model::{GripId, InvalidInput, NodeId, truncate_to};

use super::{Citation, CitationTarget};
use tome_home::layout::MESSAGES;

const PROJECTS: &str = "projects/";
const SESSIONS: &str = "sessions/";
const MEMORY: &str = "memory/";
const CODER: &str = "coder/";
const DETAIL: &str = "detail/";
const OVERVIEW: &str = "overview.md";
const NODE: &str = "toc:";
const GRIP: &str = "grip:";

const CITATION_FORMS: &str = "#123, messages.jsonl#L45, detail/x.md#L10, overview.md, sessions/<session>/messages.jsonl#L45, \
                     memory/x.md#L3, coder/x.md#L3, toc:day:2026-11-14, grip:…, optionally prefixed with projects/<project>/";

impl Citation {
    /// Returns whether a text looks like a citation, valid or not, rather than an event id.
    pub fn looks_like_citation(text: &str) -> bool {
        let heads = [PROJECTS, SESSIONS, MEMORY, CODER, DETAIL, OVERVIEW, MESSAGES, NODE, GRIP];
        heads.iter().any(|head| text.starts_with(head)) || parse_event_number(text).is_some()
    }
}

impl FromStr for Citation {
    type Err = InvalidInput;

    fn from_str(text: &str) -> Result<Self, InvalidInput> {
        let Some(rest) = text.strip_prefix(PROJECTS) else {
            return Ok(Self { project: None, target: parse_target(text, text)? });
        };
        let (folder, rest) = split_folder(text, rest)?;
        let target = parse_target(text, rest)?;
        match &target {
            CitationTarget::Message { session: None, .. }
            | CitationTarget::Detail { session: None, .. } => {
                let problem =
                    format!("name the session: projects/{folder}/sessions/<session>/{rest}");
                Err(invalid_citation(text, &problem))
            }
            CitationTarget::Lesson { .. } => Err(invalid_citation(
                text,
                &format!("the coder's notebook belongs to no project: use {rest}"),
            )),
            _ => Ok(Self { project: Some(folder.to_owned()), target }),
        }
    }
}

/// Parses the part after the project. `text` is the whole citation, for error messages.
fn parse_target(text: &str, rest: &str) -> Result<CitationTarget, InvalidInput> {
    if let Some(number) = parse_event_number(rest) {
        return Ok(CitationTarget::Event(number));
    }
    if let Some(rest) = rest.strip_prefix(SESSIONS) {
        let (folder, rest) = split_folder(text, rest)?;
        let target = parse_session_target(text, rest, Some(folder))?;
        return target.ok_or_else(|| {
            invalid_citation(text, "a session has messages.jsonl#L…, overview.md and detail/….md")
        });
    }
    if let Some(target) = parse_session_target(text, rest, None)? {
        return Ok(target);
    }
    if let Some(rest) = rest.strip_prefix(MEMORY) {
        let (path, line) = parse_path_and_line(text, rest)?;
        return Ok(CitationTarget::Note { path, line });
    }
    if let Some(rest) = rest.strip_prefix(CODER) {
        let (path, line) = parse_path_and_line(text, rest)?;
        return Ok(CitationTarget::Lesson { path, line });
    }
    match rest {
        id if id.starts_with(NODE) => Ok(CitationTarget::Node(NodeId::parse(id)?)),
        id if id.starts_with(GRIP) => Ok(CitationTarget::Grip(GripId::parse(id)?)),
        _ => Err(invalid_citation(text, &format!("use one of {CITATION_FORMS}"))),
    }
}

/// Parses the number of an event: `#123`. Bare digits may be the id of an event.
fn parse_event_number(text: &str) -> Option<u64> {
    const DIGITS_MAX: usize = 12;
    let digits = text.strip_prefix('#')?;
    let is_number = (1..=DIGITS_MAX).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0');
    digits.parse().ok().filter(|_| is_number)
}

/// Parses the part after the session. `None` if no session has such a file.
fn parse_session_target(
    text: &str,
    rest: &str,
    session: Option<&str>,
) -> Result<Option<CitationTarget>, InvalidInput> {
    let session = session.map(str::to_owned);
    if rest.starts_with(DETAIL) || rest == OVERVIEW || rest.starts_with("overview.md#") {
        let (path, line) = parse_path_and_line(text, rest)?;
        if path != OVERVIEW && !path.starts_with(DETAIL) {
            return Ok(None);
        }
        return Ok(Some(CitationTarget::Detail { session, path, line }));
    }
    let Some(line) = rest.strip_prefix(MESSAGES) else { return Ok(None) };
    let line = line.strip_prefix("#L").and_then(parse_line_number);
    let line =
        line.ok_or_else(|| invalid_citation(text, "say which line, from 1: messages.jsonl#L45"))?;
    Ok(Some(CitationTarget::Message { session, line }))
}

/// Splits a note's path from the optional line number.
fn parse_path_and_line(text: &str, rest: &str) -> Result<(String, Option<u32>), InvalidInput> {
    let (path, line) = match rest.rsplit_once("#L") {
        Some((path, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            let line = parse_line_number(digits);
            (
                path,
                Some(line.ok_or_else(|| invalid_citation(text, "lines are counted from 1: #L10"))?),
            )
        }
        _ => (rest, None),
    };
    let is_plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.contains(is_forbidden_char);
    if !path.split('/').all(is_plain) {
        return Err(invalid_citation(text, "it has to name a note: memory/decisions.md#L3"));
    }
    Ok((path.to_owned(), line))
}

/// Splits off a folder name.
fn split_folder<'a>(text: &str, rest: &'a str) -> Result<(&'a str, &'a str), InvalidInput> {
    let found = rest.split_once('/');
    found
        .filter(|(folder, rest)| {
            !matches!(*folder, "" | "." | "..")
                && !folder.contains(is_forbidden_char)
                && !rest.is_empty()
        })
        .ok_or_else(|| invalid_citation(text, &format!("use one of {CITATION_FORMS}")))
}

fn is_forbidden_char(c: char) -> bool {
    c.is_control() || c == '\\'
}

/// Parses a line number in canonical form: no sign, no leading zeros.
fn parse_line_number(digits: &str) -> Option<u32> {
    let line: u32 = digits.parse().ok()?;
    (line > 0 && line.to_string() == digits).then_some(line)
}

fn invalid_citation(text: &str, problem: &str) -> InvalidInput {
    let citation = truncate_to(text, 200);
    InvalidInput::invalid("citation", format!("{citation:?} is not a citation: {problem}"))
}

impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(project) = &self.project {
            write!(f, "{PROJECTS}{project}/")?;
        }
        match &self.target {
            CitationTarget::Event(number) => write!(f, "#{number}"),
            CitationTarget::Message { session, line } => {
                write_session_prefix(f, session.as_deref())?;
                write!(f, "{MESSAGES}#L{line}")
            }
            CitationTarget::Detail { session, path, line } => {
                write_session_prefix(f, session.as_deref())?;
                write_note(f, "", path, *line)
            }
            CitationTarget::Note { path, line } => write_note(f, MEMORY, path, *line),
            CitationTarget::Lesson { path, line } => write_note(f, CODER, path, *line),
            CitationTarget::Node(id) => f.write_str(id.as_str()),
            CitationTarget::Grip(id) => f.write_str(id.as_str()),
        }
    }
}

fn write_session_prefix(f: &mut fmt::Formatter<'_>, session: Option<&str>) -> fmt::Result {
    session.map_or(Ok(()), |folder| write!(f, "{SESSIONS}{folder}/"))
}

fn write_note(
    f: &mut fmt::Formatter<'_>,
    head: &str,
    path: &str,
    line: Option<u32>,
) -> fmt::Result {
    write!(f, "{head}{path}")?;
    line.map_or(Ok(()), |line| write!(f, "#L{line}"))
}
