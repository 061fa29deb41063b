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
                          ignores and without folders that tools leave behind (target, \
                          node_modules, venv and the like)."
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
        match (walked, listed.is_empty()) {
            (Walked::Through, true) => return Ok("There are no such files.".to_owned()),
            (Walked::Bounded | Walked::Ended, true) => {
                return Ok("No such file was met, but not everything was looked at: name a \
                           folder."
                    .to_owned());
            }
            (_, false) => {}
        }
        if more > 0 {
            listed.push(format!("… and {more} more: name a folder or a pattern"));
        }
        if walked != Walked::Through {
            listed.push("… not everything was looked at: name a folder".to_owned());
        }
        Ok(root.fenced("file names", &listed.join("\n")))
    }
}
