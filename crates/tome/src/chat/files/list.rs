//! The `list_files` tool.

use std::sync::Arc;

use serde_json::{Value, json};
use tome_agent::Tool;
use tome_llm::{OfferedTool, Stop};

use super::ignored::glob;
use super::walk::{Going, Walked, walk};
use super::{Root, text};

/// Names per result.
const LISTED_MAX: usize = 400;

pub struct ListFiles(pub Arc<Root>);

impl Tool for ListFiles {
    fn offered(&self) -> OfferedTool {
        OfferedTool {
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

    fn call(&self, arguments: &Value, stop: &Stop) -> Result<String, String> {
        let root = &self.0;
        let from = root.place(text(arguments, "path").unwrap_or("."))?;
        if !from.is_dir() {
            return Err("path must be a folder; use read_file for files".to_owned());
        }
        let wanted = text(arguments, "pattern");
        let wanted =
            wanted.map(|text| glob(text).ok_or("pattern is not a valid file name pattern"));
        let wanted = wanted.transpose()?;
        let (mut listed, mut more) = (Vec::new(), 0_usize);
        let walked = walk(root, &from, stop, |_, name| {
            if wanted.as_ref().is_none_or(|wanted| wanted.is_match(name)) {
                match listed.len() < LISTED_MAX {
                    true => listed.push(name.to_owned()),
                    false => more += 1,
                }
            }
            Going::On
        });
        match (walked, listed.is_empty()) {
            (Walked::Through, true) => return Ok("No matching files.".to_owned()),
            (Walked::Bounded | Walked::Ended, true) => {
                return Ok("No matching files so far, but the search was incomplete: name a \
                           folder."
                    .to_owned());
            }
            (_, false) => {}
        }
        if more > 0 {
            listed.push(format!("… and {more} more: narrow it with a folder or a pattern"));
        }
        if walked != Walked::Through {
            listed.push("… incomplete: name a folder".to_owned());
        }
        Ok(root.fenced("file names", &listed.join("\n")))
    }
}
