//! The `read_file` tool: returns a file with line numbers.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use serde_json::{Value, json};
use tome_agent::CustomTool;
use tome_llm::{CancelToken, ToolDefinition};
use tome_terminal::{format_bytes, format_count};

use super::private_key::PrivateKeyMask;
use super::{ProjectRoot, number_argument, str_argument};

/// Limits per result, and per line.
const LINES_MAX: usize = 2_000;
const SHOWN_BYTES_MAX: usize = 96 * 1024;
const LINE_BYTES_MAX: u64 = 2_000;
/// Lines are counted up to this offset.
const READ_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Bytes checked to detect binary files.
const BINARY_CHECK_BYTES: usize = 8 * 1024;

pub struct ReadFile(pub Arc<ProjectRoot>);

impl CustomTool for ReadFile {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "read_file".to_owned(),
            description: "Read a text file of the project with line numbers.".to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": "path in the project" },
                    "from_line": { "type": "integer", "default": 1 },
                    "lines": { "type": "integer", "default": LINES_MAX },
                },
                "required": ["path"],
            }),
        }
    }

    fn call(&self, arguments: &Value, stop: &CancelToken) -> Result<String, String> {
        let root = &self.0;
        let given = str_argument(arguments, "path").ok_or("path is missing")?;
        let real = root.resolve_path(given)?;
        if real.is_dir() {
            return Err(format!("{given} is a folder; use list_files"));
        }
        let name = root.relative_name(&real);
        let file = root.open(&real, &name)?;
        let size = file.metadata().map_or(0, |meta| meta.len());
        let mut reader = BufReader::with_capacity(BINARY_CHECK_BYTES, file.take(READ_BYTES_MAX));
        let cannot = |error: std::io::Error| format!("{name} cannot be read: {error}");
        if is_binary(reader.fill_buf().map_err(cannot)?) {
            return Ok(format!(
                "{name} is a binary file ({}) and is not shown.",
                format_bytes(size)
            ));
        }
        let from = number_argument(arguments, "from_line").unwrap_or(1).max(1);
        let lines = number_argument(arguments, "lines").unwrap_or(LINES_MAX).clamp(1, LINES_MAX);
        let mut shown = FileExcerpt::read_lines(&mut reader, from, lines, stop).map_err(cannot)?;
        shown.too_far = !shown.more && size > READ_BYTES_MAX;
        Ok(shown.render(root, &name, from))
    }
}

pub fn is_binary(beginning: &[u8]) -> bool {
    beginning.iter().take(BINARY_CHECK_BYTES).any(|byte| *byte == 0)
}

/// Returns the next line, truncated if too long; `None` at the end.
pub fn next_line(reader: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut line = Vec::new();
    if reader.take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let is_whole = line.last() == Some(&b'\n');
    if !is_whole && line.len() as u64 == LINE_BYTES_MAX {
        reader.skip_until(b'\n')?;
        line.extend_from_slice(" [cut]".as_bytes());
    }
    Ok(Some(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned()))
}

#[derive(Default)]
struct FileExcerpt {
    text: String,
    /// The last line shown, and whether more follow.
    last: usize,
    more: bool,
    /// Whether the file exceeds the read limit.
    too_far: bool,
}

impl FileExcerpt {
    fn read_lines(
        reader: &mut impl BufRead,
        from: usize,
        lines: usize,
        stop: &CancelToken,
    ) -> std::io::Result<Self> {
        let mut shown = Self::default();
        let (mut number, mut key) = (0, PrivateKeyMask::default());
        while let Some(line) = next_line(reader)? {
            number += 1;
            let line = key.mask_line(line);
            let is_full =
                number >= from.saturating_add(lines) || shown.text.len() > SHOWN_BYTES_MAX;
            if is_full || stop.is_cancelled() {
                shown.more = true;
                return Ok(shown);
            }
            shown.last = number;
            if number >= from {
                shown.text.push_str(&format!("{number:>5}  {line}\n"));
            }
        }
        Ok(shown)
    }

    fn render(&self, root: &ProjectRoot, name: &str, from: usize) -> String {
        let limit = format_bytes(READ_BYTES_MAX);
        if self.text.is_empty() {
            return match self.last {
                _ if self.more => "Stopped before that line.".to_owned(),
                last if self.too_far => format!(
                    "Line {from} is out of range: only the first {limit} of {name} can be read ({} lines).",
                    format_count(last as u64)
                ),
                0 => format!("{name} is empty."),
                last => format!("{name} has only {} lines.", format_count(last as u64)),
            };
        }
        let more = match (self.more, self.too_far) {
            (true, _) => format!("\nMore follows: continue with from_line {}.", self.last + 1),
            (false, true) => format!("\nOnly the first {limit} can be read."),
            (false, false) => String::new(),
        };
        format!("{}{more}", root.quote(name, self.text.trim_end_matches('\n')))
    }
}
