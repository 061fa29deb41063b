//! Describes the tools for MCP: schemas, and annotations about their effects.

use std::sync::Arc;

use rmcp::model::{MetaObject, Tool, ToolAnnotations};
use serde_json::Value;
use tome_engine::{CORE_TOOLS, ToolEffect, ToolSpec};

pub fn describe_tool(spec: &ToolSpec) -> Tool {
    let schema = match &spec.schema {
        Value::Object(fields) => fields.clone(),
        _ => serde_json::Map::new(),
    };
    let mut tool = Tool::new(spec.name, spec.description, Arc::new(schema))
        .with_annotations(tool_annotations(spec.effect));
    // Claude Code shows these to its model from the start; the others must be searched for.
    if CORE_TOOLS.contains(&spec.name) {
        let mut meta = MetaObject::default();
        meta.insert("anthropic/alwaysLoad".to_owned(), true.into());
        tool.meta = Some(meta);
    }
    tool
}

/// No tool reaches beyond the notes and records on this machine.
fn tool_annotations(effect: ToolEffect) -> ToolAnnotations {
    let (reads, destroys, repeats) = match effect {
        ToolEffect::Reads => (true, false, true),
        ToolEffect::Adds => (false, false, false),
        ToolEffect::Replaces => (false, true, false),
        ToolEffect::ReplacesIdempotently => (false, true, true),
    };
    ToolAnnotations::new()
        .read_only(reads)
        .destructive(destroys)
        .idempotent(repeats)
        .open_world(false)
}
