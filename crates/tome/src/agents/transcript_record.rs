//! The records of transcripts: what a reader knows before a record, and what it makes of it.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value};
use tome_model::{Agent, Draft, EventKind, Millis, NO_RESULT_META_KEY, Tool};

use super::fields::PayloadFields;
use super::hook_context::{HookContext, is_absolute_folder, parse_timestamp};
use super::prompt_text::{PromptAuthor, classify_prompt};

/// Tool calls awaiting a result. Agents have a handful at a time; interrupted sessions accumulate
/// more.
const PENDING_CALLS_MAX: usize = 10_000;

/// Why a record is not an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordSkipReason {
    /// Counters, settings, snapshots, thinking, repetitions of other records.
    Bookkeeping,
    /// Text that the harness, a hook or Tome inserted in place of the user's or the agent's.
    Injected,
    /// A tool call that may still get its result, or a reply still being written.
    Unfinished,
    /// History that a forked session copied from its parent.
    Copied,
    /// Messages that the user rewound.
    Rewound,
    /// Before the requested start time.
    Older,
    /// While recording was paused.
    Paused,
    /// In an ignored folder.
    Ignored,
}

impl RecordSkipReason {
    pub fn description(self) -> &'static str {
        match self {
            Self::Bookkeeping => "bookkeeping",
            Self::Injected => "injected text",
            Self::Unfinished => "unfinished",
            Self::Copied => "copied from another session",
            Self::Rewound => "rewound",
            Self::Older => "older",
            Self::Paused => "from a pause",
            Self::Ignored => "in ignored folders",
        }
    }
}

/// The outcome of reading one record.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordOutcome {
    Event(Box<Draft>),
    /// A tool call that has no result in the transcript: an event only if none can follow.
    Unanswered(Box<Draft>),
    Skipped(RecordSkipReason),
}

impl RecordOutcome {
    pub(super) fn from_draft(draft: Draft) -> Self {
        Self::Event(Box::new(draft))
    }
}

pub type RecordOutcomes = Vec<RecordOutcome>;

/// Reads a transcript record by record.
pub trait TranscriptReader {
    fn read_record(&mut self, record: Map<String, Value>, steps: &mut RecordOutcomes);

    /// Called after the last record; emits what is still pending.
    fn finish(&mut self, steps: &mut RecordOutcomes);
}

/// Known about a transcript before its first record.
#[derive(Debug, Clone)]
pub struct TranscriptOrigin {
    pub agent: Agent,
    pub path: String,
    /// From the file's name, where that contains it.
    pub session: String,
    /// Fallback where no record names a folder.
    pub cwd: String,
    /// Fallback where no record has a time.
    pub at: Millis,
}

/// Meta key of events that were read from a script: when the script began, in milliseconds. Their
/// calls ran at some time between that and the end of the script.
pub const SCRIPT_START_META_KEY: &str = "script_started_ms";

/// Agent, session, folder and time of the current record.
pub(super) struct RecordContext {
    pub(super) agent: Agent,
    pub(super) session: Value,
    pub(super) cwd: String,
    pub(super) at: Millis,
    /// The branch that the transcript names, if any.
    pub(super) branch: Option<String>,
}

impl RecordContext {
    pub(super) fn new(origin: &TranscriptOrigin) -> Self {
        Self {
            agent: origin.agent.clone(),
            session: Value::String(origin.session.clone()),
            cwd: origin.cwd.clone(),
            at: origin.at,
            branch: None,
        }
    }

    pub(super) fn hook_context(&self) -> Option<HookContext<'_>> {
        HookContext::from_record(&self.agent, &self.session, &self.cwd, self.at)
    }

    /// Sets the folder, if the value is an absolute path, also of Windows: transcripts may come from
    /// another machine.
    pub(super) fn update_cwd(&mut self, cwd: Option<&Value>) {
        if let Some(Value::String(cwd)) = cwd
            && is_absolute_folder(cwd)
        {
            self.cwd.clone_from(cwd);
        }
    }

    /// Sets the branch, if the value names one.
    pub(super) fn update_branch(&mut self, branch: Option<&Value>) {
        if let Some(branch) = branch.and_then(Value::as_str).filter(|name| !name.is_empty()) {
            self.branch = Some(branch.to_owned());
        }
    }

    /// Sets the time, if the value is one. A record without a time gets the previous record's.
    pub(super) fn update_time(&mut self, stamp: Option<&Value>) {
        if let Some(at) = stamp.and_then(parse_timestamp) {
            self.at = at;
        }
    }

    /// A prompt of the user, without text inserted by Tome and the harness.
    pub(super) fn prompt_event(
        &self,
        text: &str,
        native: Option<&str>,
        mut fields: PayloadFields,
    ) -> RecordOutcome {
        if let Some(branch) = &self.branch {
            fields.set("branch", branch.clone());
        }
        match (classify_prompt(text), self.hook_context()) {
            (PromptAuthor::User(text), Some(context)) => {
                let identity = context.identities().for_prompt(native, &text);
                RecordOutcome::from_draft(context.build_draft(
                    EventKind::UserMessage,
                    identity,
                    text,
                    fields,
                ))
            }
            _ => RecordOutcome::Skipped(RecordSkipReason::Injected),
        }
    }

    pub(super) fn reply_event(&self, text: String, fields: PayloadFields) -> RecordOutcome {
        match self.hook_context() {
            Some(context) if !text.trim().is_empty() => {
                let identity = context.identities().for_reply(&text, "");
                RecordOutcome::from_draft(context.build_draft(
                    EventKind::AssistantMessage,
                    identity,
                    text,
                    fields,
                ))
            }
            _ => RecordOutcome::Skipped(RecordSkipReason::Bookkeeping),
        }
    }

    pub(super) fn tool_result_event(
        &self,
        id: &str,
        tool: Tool,
        mut fields: PayloadFields,
    ) -> RecordOutcome {
        let Some(context) = self.hook_context() else {
            return RecordOutcome::Skipped(RecordSkipReason::Bookkeeping);
        };
        let id = Some(id).filter(|id| !id.is_empty());
        let identity =
            context.identities().for_tool_call(id, &tool.name, &tool.input, &tool.output);
        if let Some(id) = id {
            fields.set("tool_use_id", id);
        }
        RecordOutcome::from_draft(context.tool_draft(identity, tool, fields))
    }

    /// A tool call without a result. Its identity differs from that of the result, which is stored
    /// as an event of its own if it is written after all.
    pub(super) fn unanswered_call_event(
        &self,
        call: PendingToolCall,
        mut fields: PayloadFields,
    ) -> RecordOutcome {
        let PendingToolCall { id, at, name, input } = call;
        let context = HookContext::from_record(&self.agent, &self.session, &self.cwd, at);
        let Some(context) = context else {
            return RecordOutcome::Skipped(RecordSkipReason::Bookkeeping);
        };
        let identity = context.identities().for_unanswered_call(&id, &name, &input);
        fields.set(NO_RESULT_META_KEY, id);
        let tool = Tool { name, input, output: Value::Null };
        RecordOutcome::Unanswered(Box::new(context.tool_draft(identity, tool, fields)))
    }

    /// A start, an end, a compaction or a subagent. `why` distinguishes it from others of its kind.
    pub(super) fn lifecycle_event(
        &self,
        kind: EventKind,
        why: &[&str],
        text: String,
        fields: PayloadFields,
    ) -> RecordOutcome {
        match self.hook_context() {
            Some(context) => {
                RecordOutcome::from_draft(context.lifecycle_draft(kind, why, text, fields))
            }
            None => RecordOutcome::Skipped(RecordSkipReason::Bookkeeping),
        }
    }
}

impl RecordContext {
    /// The title that the agent gave the session.
    pub(super) fn title_event(&self, title: &str) -> Option<RecordOutcome> {
        let title = title.trim();
        let context = self.hook_context().filter(|_| !title.is_empty())?;
        Some(RecordOutcome::from_draft(context.title_draft(title)))
    }
}

/// A tool call awaiting its result.
pub(super) struct PendingToolCall {
    pub(super) id: String,
    pub(super) at: Millis,
    pub(super) name: String,
    pub(super) input: Value,
}

/// Tool calls awaiting their result, by id.
#[derive(Default)]
pub(super) struct PendingToolCalls(HashMap<String, PendingToolCall>);

impl PendingToolCalls {
    pub(super) fn insert(&mut self, id: &str, at: Millis, name: String, input: Value) {
        if self.0.len() >= PENDING_CALLS_MAX {
            self.0.clear();
        }
        let id = id.to_owned();
        self.0.insert(id.clone(), PendingToolCall { id, at, name, input });
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// Removes the call that a result belongs to. Its record may be damaged; the result is kept
    /// anyway.
    pub(super) fn take_call(&mut self, id: &str) -> (String, Value) {
        let call = self.0.remove(id).map(|call| (call.name, call.input));
        call.unwrap_or_else(|| ("unknown".to_owned(), Value::Null))
    }

    /// Removes the calls that have no result, in order of time.
    pub(super) fn take_unanswered(&mut self) -> Vec<PendingToolCall> {
        let mut calls: Vec<PendingToolCall> = self.0.drain().map(|(_, call)| call).collect();
        calls.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        calls
    }
}

/// Parses the complete lines at the end of a transcript. The first line may be cut off and the last
/// one may still be in progress.
pub(super) fn parse_complete_records(tail: &str) -> Vec<Map<String, Value>> {
    let lines = tail.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Strips the blocks with this tag at the beginning and end of a text.
pub(super) fn strip_outer_blocks(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut rest = super::prompt_text::strip_leading_blocks(text, &open, &close);
    while let Some(inside) = rest.trim_end().strip_suffix(&close)
        && let Some((before, _)) = inside.rsplit_once(&open)
    {
        rest = before.trim_end();
    }
    rest.to_owned()
}
