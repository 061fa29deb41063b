//! `list_files`: what files there are.

use std::sync::Arc;

use serde_json::{Value, json};
use tome_agent::Tool;
use tome_llm::{OfferedTool, Stop};

use super::ignored::glob;
use super::walk::{Going, Walked, walk};
use super::{Root, text};

/// Names in one answer.
const LISTED_MAX: usize = 400;

pub struct ListFiles(pub Arc<Root>);

impl Tool for ListFiles {
    fn offered(&self) -> OfferedTool {
        OfferedTool {
            name: "list_files".to_owned(),
            description:
                "List the files of the project, the upper folders first, without what git \
                          ignores."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": "a folder below the project; all of it if left out" },
                    "pattern": { "type": "string", "description": "such as *.rs or src/**/*.md" },
                },
            }),
        }
    }

    fn call(&self, arguments: &Value, stop: &Stop) -> Result<String, String> {
        let root = &self.0;
        let from = root.place(text(arguments, "path").unwrap_or("."))?;
        if !from.is_dir() {
            return Err("path has to name a folder; read_file reads a file".to_owned());
        }
        let wanted = text(arguments, "pattern");
        let wanted = wanted.map(|text| glob(text).ok_or("pattern is no pattern of file names"));
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
        if listed.is_empty() {
            return Ok("There are no such files.".to_owned());
        }
        if more > 0 || walked == Walked::Bounded {
            listed.push(format!("… and {more} more: name a folder or a pattern"));
        }
        Ok(root.fenced("file names", &listed.join("\n")))
    }
}
