//! The transcripts that agents leave on disk: records in, drafts of events out.
//!
//! Each agent's reader is a small state machine over records, with no disk, no clock and no
//! environment: whoever imports finds the files, reads them line by line and hands the records
//! over. Readers take anything and never panic. Identities are those that hooks give the same
//! things, wherever a transcript has what they are made of (identity.rs).
//!
//! What is in a transcript and is nobody's word or deed (bookkeeping, injected context, the
//! harness's own texts) is skipped and counted with the reason.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};
use tome_model::{Agent, Draft, EventKind, Millis, Tool};

use super::fields::Fields;
use super::lenient::{self, Reading};
use super::prompt::{Said, said};
use super::scene::{Scene, stamp_of};
use super::{claude_code, codex, copilot};

pub use super::codex::transcript::{Copies, fork_of, trace};
pub use super::gemini::transcript::{Chat, Header as ChatHeader, folder_in as chat_folder_in};
pub use super::opencode::transcript::Session as OpenCodeSession;

/// Calls that wait for their answer at the same time. An agent has a handful; those of a session
/// that was interrupted again and again pile up.
const CALLS_MAX: usize = 10_000;

/// Why something in a transcript is no event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// Counters, settings, snapshots, thoughts, echoes of other records.
    Bookkeeping,
    /// Texts that the harness, a hook or Tome put where the person's or the agent's words stand.
    Injected,
    /// A tool call without an answer, a reply that is still being written.
    Unfinished,
    /// History that a forked session copied from another one, where it is read.
    Copied,
    /// Messages that the person took back.
    Rewound,
    /// From before the time asked for.
    Older,
}

impl Skip {
    /// In words, for a list of counts.
    pub fn words(self) -> &'static str {
        match self {
            Self::Bookkeeping => "bookkeeping",
            Self::Injected => "injected text",
            Self::Unfinished => "unfinished",
            Self::Copied => "copied from another session",
            Self::Rewound => "taken back",
            Self::Older => "older",
        }
    }
}

/// What one record came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Something that happened.
    Event(Box<Draft>),
    /// Nothing that happened.
    Skipped(Skip),
}

/// What records of a transcript come to, in order.
pub type Steps = Vec<Step>;

/// A transcript that is read record by record.
pub trait Transcript {
    /// One record.
    fn record(&mut self, record: Map<String, Value>, steps: &mut Steps);

    /// There are no more.
    fn end(&mut self, steps: &mut Steps);
}

/// What is known of a transcript before its first record.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Whose it is.
    pub agent: Agent,
    /// The file.
    pub path: String,
    /// The session, where the file's name says it.
    pub session: String,
    /// The folder to fall back on, where no record says one.
    pub cwd: String,
    /// The time to fall back on, where no record says one.
    pub at: Millis,
}

/// The reader of a file of records, one a line. Only Codex has histories that are copied.
pub fn lines_of(origin: Origin, copies: Option<Copies>) -> Box<dyn Transcript> {
    match origin.agent.as_str() {
        "codex" => Box::new(codex::transcript::Rollout::new(origin, copies)),
        "copilot" => Box::new(copilot::transcript::Log::new(origin)),
        _ => Box::new(claude_code::transcript::Lines::new(origin)),
    }
}

/// The one name of a tool that an agent calls by several.
pub fn tool_called<'a>(agent: &Agent, name: &'a str) -> &'a str {
    match agent.as_str() {
        "copilot" => copilot::hook::called(name),
        _ => name,
    }
}

/// Which agent writes records like this one.
pub fn writer_of(record: &Map<String, Value>) -> Option<&'static str> {
    let has = |name: &str| record.contains_key(name);
    let is = |name: &str| record.get("type").and_then(Value::as_str) == Some(name);
    match () {
        () if has("projectHash") || has("$set") || has("$rewindTo") => Some("gemini"),
        () if has("payload") && has("type") || is("session_meta") => Some("codex"),
        () if has("data") && has("parentId") && has("type") => Some("copilot"),
        () if has("sessionId") || has("parentUuid") || has("leafUuid") => Some("claude-code"),
        _ => None,
    }
}

/// One line as a record, or why it is none. What a JSON parser refuses and can be mended (half a
/// character, raw control characters, bytes that are not UTF-8) is mended.
pub fn record_of(line: &[u8]) -> Result<Option<Map<String, Value>>, String> {
    let why = match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(record)) => return Ok(Some(record)),
        Ok(_) => return Err("is not a record: a JSON value that is no object".to_owned()),
        Err(why) => why,
    };
    match lenient::read(line) {
        Reading::Empty => Ok(None),
        Reading::Object(fields) if !fields.has("trailing") => Ok(Some(fields.into_map())),
        Reading::Object(_) | Reading::Text(_) => {
            let why = why.to_string();
            // serde_json counts lines within the line.
            let (what, place) = why.split_once(" at line 1 column ").unwrap_or((&why, "0"));
            Err(format!("is not JSON: {what} at byte {place}"))
        }
    }
}

/// The records in the end of a transcript. Its first line may be cut, and its last one may still be
/// being written: only lines that are whole count.
pub(super) fn complete_records(tail: &str) -> Vec<Map<String, Value>> {
    let lines = tail.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Where a reader stands: whose record it is, where and when.
pub(super) struct Here {
    pub(super) agent: Agent,
    pub(super) session: Value,
    pub(super) cwd: String,
    pub(super) at: Millis,
}

impl Here {
    pub(super) fn new(origin: &Origin) -> Self {
        Self {
            agent: origin.agent.clone(),
            session: Value::String(origin.session.clone()),
            cwd: origin.cwd.clone(),
            at: origin.at,
        }
    }

    pub(super) fn scene(&self) -> Option<Scene<'_>> {
        Scene::past(&self.agent, &self.session, &self.cwd, self.at)
    }

    /// Goes where this folder is, if it is one.
    pub(super) fn enter(&mut self, cwd: Option<&Value>) {
        if let Some(Value::String(cwd)) = cwd
            && Path::new(cwd).has_root()
        {
            self.cwd.clone_from(cwd);
        }
    }

    /// Moves to this time, if it is one. A record without a time happened when the one before did.
    pub(super) fn pass(&mut self, stamp: Option<&Value>) {
        if let Some(at) = stamp.and_then(stamp_of) {
            self.at = at;
        }
    }

    /// The person's words, without what Tome and the harness put there.
    pub(super) fn prompt(&self, text: &str, native: Option<&str>, fields: Fields) -> Step {
        match (said(text), self.scene()) {
            (Said::Person(text), Some(scene)) => {
                let identity = scene.whose().prompt(native, &text);
                Step::event(scene.draft(EventKind::UserMessage, identity, text, fields))
            }
            _ => Step::Skipped(Skip::Injected),
        }
    }

    /// The agent's words.
    pub(super) fn reply(&self, text: String, fields: Fields) -> Step {
        match self.scene() {
            Some(scene) if !text.trim().is_empty() => {
                let identity = scene.whose().reply(&text, "");
                Step::event(scene.draft(EventKind::AssistantMessage, identity, text, fields))
            }
            _ => Step::Skipped(Skip::Bookkeeping),
        }
    }

    /// A tool call and its answer.
    pub(super) fn tool(&self, id: &str, tool: Tool, mut fields: Fields) -> Step {
        let Some(scene) = self.scene() else {
            return Step::Skipped(Skip::Bookkeeping);
        };
        let id = Some(id).filter(|id| !id.is_empty());
        let identity = scene.whose().tool(id, &tool.name, &tool.input, &tool.output);
        if let Some(id) = id {
            fields.put("tool_use_id", id);
        }
        Step::event(scene.tool(identity, tool, fields))
    }

    /// A start, an end, a compaction, a subagent. `why` tells it apart from others of its kind.
    pub(super) fn moment(
        &self,
        kind: EventKind,
        why: &[&str],
        text: String,
        fields: Fields,
    ) -> Step {
        match self.scene() {
            Some(scene) => Step::event(scene.moment(kind, why, text, fields)),
            None => Step::Skipped(Skip::Bookkeeping),
        }
    }
}

impl Step {
    pub(super) fn event(draft: Draft) -> Self {
        Self::Event(Box::new(draft))
    }
}

/// Tool calls that wait for their answer.
#[derive(Default)]
pub(super) struct Calls(HashMap<String, (String, Value)>);

impl Calls {
    pub(super) fn made(&mut self, id: &str, name: String, input: Value) {
        if self.0.len() >= CALLS_MAX {
            self.0.clear();
        }
        self.0.insert(id.to_owned(), (name, input));
    }

    pub(super) fn is_known(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// The call that is answered. Its record may have been damaged; the answer stands all the same.
    pub(super) fn answered(&mut self, id: &str) -> (String, Value) {
        self.0.remove(id).unwrap_or_else(|| ("unknown".to_owned(), Value::Null))
    }

    /// Those that nobody answered.
    pub(super) fn end(&mut self, steps: &mut Steps) {
        steps.extend(self.0.drain().map(|_| Step::Skipped(Skip::Unfinished)));
    }
}

/// A text without the blocks of this tag at its beginning and at its end.
pub(super) fn without_outer_blocks(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut rest = super::prompt::without_leading_blocks(text, &open, &close);
    while let Some(inside) = rest.trim_end().strip_suffix(&close)
        && let Some((before, _)) = inside.rsplit_once(&open)
    {
        rest = before.trim_end();
    }
    rest.to_owned()
}
