//! Scripts that Codex runs with its tool `exec`, as the calls that they make.
//!
//! Hooks report every call of a script like a call of the model, and never the script. A transcript
//! has only the script and the texts that it printed, so its calls are read from its source. Each
//! becomes an event of its own with the name and input that hooks report: readers need not know of
//! scripts, and an import recognizes the events of the hooks.
//!
//! The printed texts belong to a call if it is the only one, or if each call has one and the script
//! prints them in the order of its calls. Otherwise the script stays as an event with its whole output, and its calls follow without one. A script that
//! cannot be read stays as it is.
//!
//! "Script completed" says nothing about the exit codes of commands; only the printed texts do.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::{Map, Value};
use tome_model::{Millis, Tool, cap_json, cut_mark, limits};

use super::script::{CodexScript, ScriptCall, outline_script, parse_script};
use super::tool_call::HookCall;
use super::tool_output::{set_exit_code, strip_output_header};
use crate::agents::fields::PayloadFields;
use crate::agents::transcript_record::SCRIPT_START_META_KEY;

/// The tool that runs scripts.
pub(super) const SCRIPT_TOOL: &str = "exec";
/// Maximum size of the header before a script's output.
const HEADER_BYTES_MAX: usize = 200;
/// Scripts that run at the same time. A session has a handful.
const RUNNING_MAX: usize = 64;
/// Output that is kept of a script while it runs. No more of it can be stored.
const KEPT_BYTES_MAX: usize = limits::TEXT_BYTES_CEILING;
/// Memory of an item besides its text.
const ITEM_BYTES: usize = 32;
/// Precedes the error that ended a script.
const ERROR_MARK: &str = "Script error:\n";

/// How a script ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScriptStatus {
    Completed,
    Failed,
    /// Ended by the user or by the model.
    Stopped,
    /// It goes on in a cell with this id.
    Running(String),
}

/// The output of a script: how it ended, and the texts and images that it printed.
pub(super) struct ScriptOutput {
    pub(super) status: ScriptStatus,
    pub(super) items: Vec<Value>,
}

/// Parses the output of a script, or returns it if it has no header.
pub(super) fn parse_script_output(output: Value) -> Result<ScriptOutput, Value> {
    let items = match &output {
        Value::String(_) => std::slice::from_ref(&output),
        Value::Array(items) => items.as_slice(),
        _ => return Err(output),
    };
    let mut items = items.iter().map(|item| match item.get("text") {
        Some(Value::String(text)) => Value::String(text.clone()),
        _ => item.clone(),
    });
    let Some(Value::String(first)) = items.next() else { return Err(output) };
    if first.starts_with("aborted by user") {
        return Ok(ScriptOutput { status: ScriptStatus::Stopped, items: vec![first.into()] });
    }
    let header = first.split_once("Output:\n").filter(|(head, _)| head.len() <= HEADER_BYTES_MAX);
    let status = header.and_then(|(head, _)| parse_status(head.lines().next()?));
    let (Some((_, text)), Some(status)) = (header, status) else { return Err(output) };
    let text = Some(Value::from(text)).filter(|_| !text.is_empty());
    let items = text.into_iter().chain(items).collect();
    Ok(ScriptOutput { status, items })
}

fn parse_status(line: &str) -> Option<ScriptStatus> {
    match line {
        "Script completed" => Some(ScriptStatus::Completed),
        "Script failed" => Some(ScriptStatus::Failed),
        "Script terminated" => Some(ScriptStatus::Stopped),
        line => {
            let cell = line.strip_prefix("Script running with cell ID ")?;
            Some(ScriptStatus::Running(cell.trim().to_owned()))
        }
    }
}

/// A script with its output so far.
#[derive(Clone, Default)]
pub(super) struct ScriptRun {
    pub(super) call_id: String,
    source: String,
    items: Vec<Value>,
    items_bytes: usize,
    /// Bytes of the output that were not kept.
    cut_bytes: usize,
    started_at: Millis,
    /// When it last printed something.
    pub(super) at: Millis,
}

impl ScriptRun {
    pub(super) fn add_items(&mut self, items: Vec<Value>) {
        self.items_bytes += items.iter().map(item_bytes).sum::<usize>();
        self.items.extend(items);
    }

    /// Removes the oldest output of a script that goes on, where there is too much of it: the exit
    /// codes are at the end.
    pub(super) fn cap_items(&mut self) {
        if self.items_bytes <= KEPT_BYTES_MAX {
            return;
        }
        for item in &mut self.items {
            let bytes = item_bytes(item);
            if bytes > KEPT_BYTES_MAX {
                let (capped, cut_bytes) = cap_json(item.take(), KEPT_BYTES_MAX / 2);
                self.items_bytes = self.items_bytes - bytes + item_bytes(&capped);
                self.cut_bytes += cut_bytes;
                *item = capped;
            }
        }
        let mut removed = 0;
        for item in &self.items {
            if self.items_bytes <= KEPT_BYTES_MAX {
                break;
            }
            let bytes = item_bytes(item);
            self.items_bytes -= bytes;
            self.cut_bytes += bytes - ITEM_BYTES;
            removed += 1;
        }
        self.items.drain(..removed);
    }
}

fn item_bytes(item: &Value) -> usize {
    ITEM_BYTES + item.as_str().map_or_else(|| item.to_string().len(), str::len)
}

/// Scripts that go on after their call. A `wait` returns the rest of their output.
#[derive(Default)]
pub(super) struct RunningScripts {
    runs: HashMap<String, ScriptRun>,
    /// When scripts without an output began, by the id of their call.
    starts: HashMap<String, Millis>,
}

impl RunningScripts {
    pub(super) fn insert_start(&mut self, call_id: &str, at: Millis) {
        if self.starts.len() >= RUNNING_MAX {
            self.starts.clear();
        }
        self.starts.insert(call_id.to_owned(), at);
    }

    /// Creates a run for the first output of a script.
    pub(super) fn begin(&mut self, call_id: String, source: String, at: Millis) -> ScriptRun {
        let started_at = self.starts.remove(&call_id).unwrap_or(at).min(at);
        ScriptRun { call_id, source, started_at, at, ..ScriptRun::default() }
    }

    /// Keeps a script until it ends; returns those that are not awaited any longer.
    pub(super) fn insert(&mut self, cell: String, run: ScriptRun) -> Vec<ScriptRun> {
        let mut dropped = if self.runs.len() >= RUNNING_MAX { self.drain() } else { Vec::new() };
        // Cells are numbered from one again when a session is resumed.
        dropped.extend(self.runs.insert(cell, run));
        dropped
    }

    /// Whether a `wait` is for one of these scripts.
    pub(super) fn contains(&self, wait: &Value) -> bool {
        cell_id(wait).is_some_and(|cell| self.runs.contains_key(&cell))
    }

    /// Removes the script that a `wait` is for.
    pub(super) fn take(&mut self, wait: &Value) -> Option<ScriptRun> {
        self.runs.remove(&cell_id(wait)?)
    }

    pub(super) fn drain(&mut self) -> Vec<ScriptRun> {
        let mut runs: Vec<ScriptRun> = self.runs.drain().map(|(_, run)| run).collect();
        runs.sort_by(|a, b| (a.at, &a.call_id).cmp(&(b.at, &b.call_id)));
        runs
    }
}

fn cell_id(wait: &Value) -> Option<String> {
    match wait.get("cell_id")? {
        Value::String(cell) => Some(cell.clone()),
        cell => Some(cell.to_string()),
    }
}

/// A tool call that becomes an event.
pub(super) struct CallRecord {
    pub(super) id: String,
    pub(super) tool: Tool,
    pub(super) fields: PayloadFields,
}

/// Converts a script to its calls, or to the script itself where they are not known.
pub(super) fn expand_script(
    mut run: ScriptRun,
    status: &ScriptStatus,
    cwd: &str,
) -> Vec<CallRecord> {
    let started_at = run.started_at;
    if run.cut_bytes > 0 {
        run.items.insert(0, cut_mark(run.cut_bytes).trim().into());
    }
    let script = parse_script(&run.source);
    let expanded = script.and_then(|script| match script.calls.len() {
        1 if script.unread_calls == 0 => expand_single(&run, script, status, cwd),
        _ if *status == ScriptStatus::Completed => expand_several(&run, script, cwd),
        // The calls after the one that failed did not run.
        _ => None,
    });
    let mut records = expanded.unwrap_or_else(|| vec![script_record(run, status)]);
    let status = match status {
        ScriptStatus::Completed => "",
        ScriptStatus::Failed => "failed",
        ScriptStatus::Stopped => "stopped",
        ScriptStatus::Running(_) => "running",
    };
    if let Some(first) = records.first_mut() {
        first.fields.set("script_status", status);
    }
    for record in &mut records {
        record.fields.set(SCRIPT_START_META_KEY, started_at.0);
    }
    records
}

/// The script itself, with its whole output.
fn script_record(run: ScriptRun, status: &ScriptStatus) -> CallRecord {
    let mut fields = PayloadFields::default();
    if *status == ScriptStatus::Failed {
        fields.mark_failed();
    }
    let output = join_items(run.items);
    let tool = Tool { name: SCRIPT_TOOL.to_owned(), input: run.source.into(), output };
    CallRecord { id: run.call_id, tool, fields }
}

fn expand_single(
    run: &ScriptRun,
    script: CodexScript,
    status: &ScriptStatus,
    cwd: &str,
) -> Option<Vec<CallRecord>> {
    let is_sure_of_patches = !script.catches_errors;
    let has_polls = script.unread_polls > 0;
    let written = script.calls.into_iter().next()?;
    let written_name = written.name.clone();
    let mut record = call_record(run.call_id.clone(), written, cwd);
    let is_shell = record.is_shell();
    if has_polls && !is_shell || is_patch(&record.tool.name) && !is_sure_of_patches {
        return None;
    }
    let mut items = run.items.clone();
    if *status == ScriptStatus::Failed {
        let error = items.last_mut().and_then(strip_error_mark);
        let first = error.as_deref().and_then(|error| error.lines().next()).unwrap_or_default();
        if !first.contains(&written_name) {
            // The error is the script's. The call may have succeeded before it, or not been made.
            return None;
        }
        record.fields.mark_failed();
    }
    record.set_output(items);
    let outline = outline_script(&run.source, &[&record.tool.input]);
    record.fields.set("script", outline);
    Some(vec![record])
}

/// Strips the mark of the error that ended a script, and returns the error.
fn strip_error_mark(item: &mut Value) -> Option<String> {
    let error = item.as_str()?.strip_prefix(ERROR_MARK)?.to_owned();
    *item = Value::String(error.clone());
    Some(error)
}

fn expand_several(run: &ScriptRun, script: CodexScript, cwd: &str) -> Option<Vec<CallRecord>> {
    let has_patches = script.calls.iter().any(|call| is_patch(&call.name));
    if has_patches && script.catches_errors {
        return None;
    }
    let is_read = script.unread_calls == 0 && script.unread_polls == 0;
    let is_in_order = is_read && script.prints_in_order && run.cut_bytes == 0;
    let is_alternating = script.is_alternating();
    let mut records: Vec<CallRecord> =
        script.calls.into_iter().map(|call| call_record(String::new(), call, cwd)).collect();
    // The id of the script is reserved for the script itself.
    for (index, record) in records.iter_mut().enumerate() {
        record.id = format!("{}#{}", run.call_id, index + 1);
    }
    let shares = is_in_order.then(|| share_items(&run.items, &records, is_alternating)).flatten();
    let Some(shares) = shares else {
        records.insert(0, script_record(run.clone(), &ScriptStatus::Completed));
        return Some(records);
    };
    for (record, items) in records.iter_mut().zip(shares) {
        record.set_output(items);
    }
    let known: Vec<&Value> = records.iter().map(|record| &record.tool.input).collect();
    let outline = outline_script(&run.source, &known);
    if let Some(first) = records.first_mut() {
        first.fields.set("script", outline);
    }
    Some(records)
}

/// Assigns the items, printed in the order of the calls; `None` if it is not certain whose they are.
fn share_items(
    items: &[Value],
    records: &[CallRecord],
    is_alternating: bool,
) -> Option<Vec<Vec<Value>>> {
    let is_result = |item: &Value| item.as_str().is_some_and(is_command_result);
    let results = items.iter().filter(|item| is_result(item)).count();
    if results == records.len() && records.iter().all(CallRecord::is_shell) {
        // Headings belong to the result after them, and whatever follows the last one to the last.
        let mut shares = vec![Vec::new()];
        for item in items {
            let is_full = shares.last().is_some_and(|share| share.iter().any(is_result));
            if is_full && shares.len() < records.len() {
                shares.push(Vec::new());
            }
            if let Some(share) = shares.last_mut() {
                share.push(item.clone());
            }
        }
        return Some(shares);
    }
    let is_one_each = items.len() == records.len() && is_alternating;
    is_one_each.then(|| items.iter().map(|item| vec![item.clone()]).collect())
}

/// Whether a text is the whole result of a command, with its exit code.
fn is_command_result(text: &str) -> bool {
    let mut fields = PayloadFields::default();
    parse_command_result(text, &mut fields);
    fields.has("exit_code")
}

/// Returns the output in a printed result, and notes its exit code.
fn parse_command_result(text: &str, fields: &mut PayloadFields) -> String {
    let object = Some(text).filter(|text| text.trim_start().starts_with('{'));
    let object = object.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
    if let Some(result) = object
        && let Some(output) = result.get("output").and_then(Value::as_str)
        && result.contains_key("wall_time_seconds")
    {
        set_exit_code(result.get("exit_code").and_then(Value::as_i64), fields);
        return output.to_owned();
    }
    strip_output_header(text, fields).to_owned()
}

fn is_patch(name: &str) -> bool {
    name == "apply_patch"
}

fn call_record(id: String, call: ScriptCall, cwd: &str) -> CallRecord {
    let call = HookCall::from_script(call.name, call.input);
    let mut fields = PayloadFields::default();
    if let Some(workdir) = call.workdir.filter(|workdir| workdir != cwd) {
        fields.set("workdir", workdir);
    }
    let tool = Tool { name: call.name, input: call.input, output: Value::Null };
    CallRecord { id, tool, fields }
}

impl CallRecord {
    fn is_shell(&self) -> bool {
        self.tool.name == "Bash"
    }

    fn set_output(&mut self, items: Vec<Value>) {
        let is_shell = self.is_shell();
        let items = items.into_iter().map(|item| match item {
            Value::String(text) if is_shell => {
                Value::String(parse_command_result(&text, &mut self.fields))
            }
            item => item,
        });
        self.tool.output = join_items(items.collect());
    }
}

/// Joins texts; a list with images stays one.
fn join_items(items: Vec<Value>) -> Value {
    let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    match texts {
        Some(texts) => Value::String(tome_model::strip_injections(&texts.join("\n"))),
        None => Value::Array(items),
    }
}
