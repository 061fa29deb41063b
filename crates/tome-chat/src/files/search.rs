//! The `search_files` tool: finds lines that contain a text or match a regular expression.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};
use tome_agent::CustomTool;
use tome_llm::{CancelToken, ToolDefinition};
use tome_terminal::{format_bytes, one_line};

use super::gitignore::NamePattern;
use super::private_key::PrivateKeyMask;
use super::read::{is_binary, next_line};
use super::walk::{WalkControl, WalkEnd, walk_files};
use super::{ProjectRoot, str_argument};

/// Limits per result, per file and per line.
const MATCHES_MAX: usize = 100;
const MATCHES_PER_FILE_MAX: usize = 20;
const LINE_CHARS_MAX: usize = 200;
/// Read limits per file and for all files.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
const ALL_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Truncated files listed by name.
const TRUNCATED_NAMES_MAX: usize = 5;
const QUERY_BYTES_MAX: usize = 1_000;
const REGEX_BYTES_MAX: usize = 1024 * 1024;

pub struct SearchFiles(pub Arc<ProjectRoot>);

impl CustomTool for SearchFiles {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "search_files".to_owned(),
            description: "Find lines in the files of the project: file, line number, line. \
                          Case-insensitive."
                .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string" },
                    "regex": { "type": "boolean", "default": false },
                    "path": { "type": "string", "description": "only in this folder" },
                    "pattern": { "type": "string", "description": "only matching files, e.g. *.rs" },
                },
                "required": ["query"],
            }),
        }
    }

    fn call(&self, arguments: &Value, stop: &CancelToken) -> Result<String, String> {
        let root = &self.0;
        let query = str_argument(arguments, "query").ok_or("query is missing")?;
        let is_regex = arguments.get("regex").and_then(Value::as_bool).unwrap_or(false);
        let query = build_regex(query, is_regex)?;
        let from = root.resolve_path(str_argument(arguments, "path").unwrap_or("."))?;
        let wanted = str_argument(arguments, "pattern").map(NamePattern::parse).transpose()?;
        let mut search = FileSearch {
            root,
            query: &query,
            found: Vec::new(),
            partly: Vec::new(),
            left: ALL_BYTES_MAX,
        };
        if from.is_file() {
            search.search_file(&from, &root.relative_name(&from));
            return Ok(search.render(WalkEnd::Complete));
        }
        let walked = walk_files(root, &from, stop, |path, name| {
            if wanted.as_ref().is_none_or(|wanted| wanted.matches(name)) {
                search.search_file(path, name);
            }
            if search.left == 0 || search.found.len() >= MATCHES_MAX {
                WalkControl::Stop
            } else {
                WalkControl::Continue
            }
        });
        Ok(search.render(walked))
    }
}

fn build_regex(query: &str, is_regex: bool) -> Result<Regex, String> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(format!("query is too long: at most {QUERY_BYTES_MAX} bytes"));
    }
    let written = if is_regex { query.to_owned() } else { regex::escape(query) };
    let built =
        RegexBuilder::new(&written).case_insensitive(true).size_limit(REGEX_BYTES_MAX).build();
    built.map_err(|error| format!("query is not a valid regular expression: {error}"))
}

struct FileSearch<'a> {
    root: &'a ProjectRoot,
    query: &'a Regex,
    found: Vec<String>,
    /// Files longer than the limit per file.
    partly: Vec<String>,
    /// Remaining bytes of the total limit.
    left: u64,
}

impl FileSearch<'_> {
    /// Searches one file; unreadable files are skipped.
    fn search_file(&mut self, path: &Path, name: &str) {
        let Ok(file) = self.root.open(path, name) else { return };
        let size = file.metadata().map_or(0, |meta| meta.len());
        self.left = self.left.saturating_sub(size.min(FILE_BYTES_MAX));
        let mut reader = BufReader::new(file.take(FILE_BYTES_MAX));
        if !reader.fill_buf().is_ok_and(|beginning| !is_binary(beginning)) {
            return;
        }
        if size > FILE_BYTES_MAX {
            self.partly.push(name.to_owned());
        }
        let (mut number, mut here, mut key) = (0_usize, 0, PrivateKeyMask::default());
        while let Ok(Some(line)) = next_line(&mut reader) {
            number += 1;
            let line = key.mask_line(line);
            if self.query.is_match(&line) {
                here += 1;
                if here > MATCHES_PER_FILE_MAX {
                    self.found.push(format!("{name}: … and more in this file"));
                    return;
                }
                self.found.push(format!("{name}:{number}: {}", one_line(&line, LINE_CHARS_MAX)));
                if self.found.len() >= MATCHES_MAX {
                    return;
                }
            }
        }
    }

    fn render(mut self, walked: WalkEnd) -> String {
        if walked != WalkEnd::Complete {
            self.found.push("… incomplete: narrow it with a folder or a pattern".to_owned());
        }
        if !self.partly.is_empty() {
            let more = if self.partly.len() > TRUNCATED_NAMES_MAX { " and others" } else { "" };
            self.partly.truncate(TRUNCATED_NAMES_MAX);
            self.found.push(format!(
                "… only the first {} of {}{more} were searched; use read_file for the rest",
                format_bytes(FILE_BYTES_MAX),
                self.partly.join(", ")
            ));
        }
        match self.found.as_slice() {
            [] => "No matches.".to_owned(),
            found => self.root.quote("lines of files", &found.join("\n")),
        }
    }
}
