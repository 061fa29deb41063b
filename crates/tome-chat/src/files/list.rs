//! The `list_files` tool.

use std::sync::Arc;

use serde_json::{Value, json};
use tome_agent::CustomTool;
use tome_llm::{CancelToken, ToolDefinition};

use super::gitignore::NamePattern;
use super::walk::{WalkControl, WalkEnd, walk_files};
use super::{ProjectRoot, str_argument};

/// Names per result.
const LISTED_MAX: usize = 400;

pub struct ListFiles(pub Arc<ProjectRoot>);

impl CustomTool for ListFiles {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "list_files".to_owned(),
            description:
                "List the project's files, top-level folders first, without files that git \
                          ignores and without folders created by tools (target, \
                          node_modules, venv, …)."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": "a folder in the project (default: all)" },
                    "pattern": { "type": "string", "description": "e.g. *.rs or src/**/*.md" },
                },
            }),
        }
    }

    fn call(&self, arguments: &Value, stop: &CancelToken) -> Result<String, String> {
        let root = &self.0;
        let from = root.resolve_path(str_argument(arguments, "path").unwrap_or("."))?;
        if !from.is_dir() {
            return Err("path must be a folder; use read_file for files".to_owned());
        }
        let wanted = str_argument(arguments, "pattern").map(NamePattern::parse).transpose()?;
        let (mut listed, mut more) = (Vec::new(), 0_usize);
        let walked = walk_files(root, &from, stop, |_, name| {
            if wanted.as_ref().is_none_or(|wanted| wanted.matches(name)) {
                if listed.len() < LISTED_MAX { listed.push(name.to_owned()) } else { more += 1 }
            }
            WalkControl::Continue
        });
        match (walked, listed.is_empty()) {
            (WalkEnd::Complete, true) => return Ok("No matching files.".to_owned()),
            (WalkEnd::LimitReached | WalkEnd::Stopped, true) => {
                return Ok("No matching files so far, but the search was incomplete: name a \
                           folder."
                    .to_owned());
            }
            (_, false) => {}
        }
        if more > 0 {
            listed.push(format!("… and {more} more: narrow it with a folder or a pattern"));
        }
        if walked != WalkEnd::Complete {
            listed.push("… incomplete: name a folder".to_owned());
        }
        Ok(root.quote("file names", &listed.join("\n")))
    }
}
