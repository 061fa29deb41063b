//! The `search_files` tool: finds lines that contain a text or match a regular expression.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};
use tome_agent::Tool;
use tome_llm::{OfferedTool, Stop};

use super::ignored::glob;
use super::private_key::PrivateKey;
use super::read::{is_binary, next_line};
use super::walk::{Going, Walked, walk};
use super::{Root, text};
use crate::render::{bytes, one_line};

/// Limits per result, per file and per line.
const FOUND_MAX: usize = 100;
const FOUND_IN_FILE_MAX: usize = 20;
const LINE_CHARS_MAX: usize = 200;
/// Read limits per file and for all files.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
const ALL_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Truncated files listed by name.
const PARTLY_NAMED_MAX: usize = 5;
const QUERY_BYTES_MAX: usize = 1_000;
const REGEX_BYTES_MAX: usize = 1024 * 1024;

pub struct SearchFiles(pub Arc<Root>);

impl Tool for SearchFiles {
    fn offered(&self) -> OfferedTool {
        OfferedTool {
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

    fn call(&self, arguments: &Value, stop: &Stop) -> Result<String, String> {
        let root = &self.0;
        let query = text(arguments, "query").ok_or("query is missing")?;
        let is_regex = arguments.get("regex").and_then(Value::as_bool).unwrap_or(false);
        let query = regex(query, is_regex)?;
        let from = root.place(text(arguments, "path").unwrap_or("."))?;
        let wanted = text(arguments, "pattern");
        let wanted =
            wanted.map(|text| glob(text).ok_or("pattern is not a valid file name pattern"));
        let wanted = wanted.transpose()?;
        let mut search = Search {
            root,
            query: &query,
            found: Vec::new(),
            partly: Vec::new(),
            left: ALL_BYTES_MAX,
        };
        if from.is_file() {
            search.file(&from, &root.name(&from));
            return Ok(search.told(Walked::Through));
        }
        let walked = walk(root, &from, stop, |path, name| {
            if wanted.as_ref().is_none_or(|wanted| wanted.is_match(name)) {
                search.file(path, name);
            }
            match search.left == 0 || search.found.len() >= FOUND_MAX {
                true => Going::Enough,
                false => Going::On,
            }
        });
        Ok(search.told(walked))
    }
}

fn regex(query: &str, is_regex: bool) -> Result<Regex, String> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(format!("query is too long: at most {QUERY_BYTES_MAX} bytes"));
    }
    let written = if is_regex { query.to_owned() } else { regex::escape(query) };
    let built =
        RegexBuilder::new(&written).case_insensitive(true).size_limit(REGEX_BYTES_MAX).build();
    built.map_err(|error| format!("query is not a valid regular expression: {error}"))
}

struct Search<'a> {
    root: &'a Root,
    query: &'a Regex,
    found: Vec<String>,
    /// Files longer than the limit per file.
    partly: Vec<String>,
    /// Remaining bytes of the total limit.
    left: u64,
}

impl Search<'_> {
    /// Searches one file; unreadable files are skipped.
    fn file(&mut self, path: &Path, name: &str) {
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
        let (mut number, mut here, mut key) = (0_usize, 0, PrivateKey::default());
        while let Ok(Some(line)) = next_line(&mut reader) {
            number += 1;
            let line = key.shown(line);
            if self.query.is_match(&line) {
                here += 1;
                if here > FOUND_IN_FILE_MAX {
                    self.found.push(format!("{name}: … and more in this file"));
                    return;
                }
                self.found.push(format!("{name}:{number}: {}", one_line(&line, LINE_CHARS_MAX)));
                if self.found.len() >= FOUND_MAX {
                    return;
                }
            }
        }
    }

    fn told(mut self, walked: Walked) -> String {
        if walked != Walked::Through {
            self.found.push("… incomplete: narrow it with a folder or a pattern".to_owned());
        }
        if !self.partly.is_empty() {
            let more = if self.partly.len() > PARTLY_NAMED_MAX { " and others" } else { "" };
            self.partly.truncate(PARTLY_NAMED_MAX);
            self.found.push(format!(
                "… only the first {} of {}{more} were searched; use read_file for the rest",
                bytes(FILE_BYTES_MAX),
                self.partly.join(", ")
            ));
        }
        match self.found.as_slice() {
            [] => "No matches.".to_owned(),
            found => self.root.fenced("lines of files", &found.join("\n")),
        }
    }
}
