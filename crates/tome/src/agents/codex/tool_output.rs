//! The output of a tool as the hooks report it: without the header that the harness writes before
//! it.

use serde_json::{Map, Value};

use crate::agents::fields::{PayloadFields, join_text_parts};

/// Maximum size of the header that the harness writes before a command's output.
const OUTPUT_HEADER_BYTES_MAX: usize = 400;
/// Begins the output of a patch that does not fit its files. It has no header.
const PATCH_FAILURE: &str = "apply_patch verification failed";

/// Returns the tool's output without the harness's header.
pub(super) fn parse_tool_output(output: Value, fields: &mut PayloadFields) -> Value {
    match output {
        Value::String(text) => match serde_json::from_str::<Map<String, Value>>(&text) {
            Ok(wrapped) if wrapped.contains_key("output") && wrapped.contains_key("metadata") => {
                let code = wrapped.get("metadata").and_then(|about| about.get("exit_code"));
                set_exit_code(code.and_then(Value::as_i64), fields);
                wrapped.get("output").cloned().unwrap_or_default()
            }
            _ => {
                if text.starts_with(PATCH_FAILURE) {
                    fields.mark_failed();
                }
                Value::String(tome_model::strip_injections(strip_output_header(&text, fields)))
            }
        },
        Value::Object(wrapped) if wrapped.contains_key("content") => {
            if wrapped.get("success") == Some(&Value::Bool(false)) {
                fields.mark_failed();
            }
            let content = wrapped.get("content").cloned().unwrap_or_default();
            parse_tool_output(content, fields)
        }
        Value::Array(parts) => {
            let texts: Option<Vec<&str>> =
                parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
            let text = texts.map(|texts| texts.join("\n"));
            text.map_or(Value::Array(parts), Value::String)
        }
        other => join_text_parts(&other).map_or(other, Value::String),
    }
}

/// Strips the header of a command's output, and notes the exit code that it reports.
pub(super) fn strip_output_header<'a>(text: &'a str, fields: &mut PayloadFields) -> &'a str {
    let begins = ["Chunk ID:", "Wall time:", "Exit code:", "Warning: truncated output"];
    let Some((head, output)) = split_output_header(text, &begins) else { return text };
    // A patch that Codex applied itself has two headers: the command's and the patch's.
    let inner = Some(output).filter(|_| head.starts_with("Wall time:"));
    let inner = inner.and_then(|output| split_output_header(output, &["Exit code:"]));
    let (head, output) = inner.unwrap_or((head, output));
    let code = head.lines().find_map(|line| {
        let code = line.strip_prefix("Process exited with code ");
        code.or_else(|| line.strip_prefix("Exit code: "))?.trim().parse().ok()
    });
    set_exit_code(code, fields);
    output
}

/// Splits the harness's header lines from the output.
fn split_output_header<'a>(text: &'a str, begins: &[&str]) -> Option<(&'a str, &'a str)> {
    let (head, output) = text.split_once("Output:\n")?;
    let is_head =
        head.len() <= OUTPUT_HEADER_BYTES_MAX && begins.iter().any(|mark| head.starts_with(mark));
    is_head.then_some((head, output))
}

pub(super) fn set_exit_code(code: Option<i64>, fields: &mut PayloadFields) {
    let Some(code) = code else { return };
    fields.set("exit_code", code);
    if code != 0 {
        fields.mark_failed();
    }
}
