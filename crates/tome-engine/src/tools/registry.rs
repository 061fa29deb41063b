//! The tools, one row each: name, toolset, description, schema, effect and function. Descriptions
//! and schemas are written by hand because every word goes into a prompt. A schema lists each
//! argument once; aliases are accepted but not listed.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::answer::insert_field;
use super::{ToolEffect, ToolFn, ToolSpec};
use super::{anthropic, coder, contents, notes, recall, show, topics};

static TOOLS: LazyLock<Vec<ToolSpec>> = LazyLock::new(build_specs);

/// All tools, in the order in which they are offered.
pub(super) fn all_tools() -> &'static [ToolSpec] {
    &TOOLS
}

pub(super) fn find_tool(name: &str) -> Option<&'static ToolSpec> {
    TOOLS.iter().find(|tool| tool.name == name)
}

fn build_specs() -> Vec<ToolSpec> {
    let mut all = recall_specs();
    all.extend(note_specs());
    all.extend(coder_specs());
    all.extend(contents_specs());
    all.extend(topic_specs());
    all.push(anthropic_spec());
    all
}

fn recall_specs() -> Vec<ToolSpec> {
    let tool = |name, run: ToolFn, description, needed, fields| ToolSpec {
        name,
        toolset: "recall",
        description,
        schema: object_schema(needed, fields),
        effect: ToolEffect::Reads,
        run,
    };
    vec![
        tool(
            "recall_memory",
            recall::recall_memory,
            "Search earlier sessions, notes and lessons. Use specific words: names, paths, error \
             codes, times (last week). Open the hit that matters with memory_show. \
             sort time: a line per turn. scope instructions: what the user always wants.",
            &["query"],
            json!({
                "query": string_schema(),
                "scope": {
                    "type": "string",
                    "enum": [
                        "all", "detail", "messages", "notes", "coder", "contents", "instructions",
                        "topics",
                    ],
                    "default": "all",
                },
                "sort": { "type": "string", "enum": ["relevance", "time"] },
                "limit": { "type": "integer" },
                "cursor": { "type": "integer" },
                "across": {
                    "type": "string",
                    "enum": ["session", "project", "all"],
                    "default": "project",
                },
                "since": described_string_schema("such as 2026-11-14, last week"),
                "until": string_schema(),
                "agent": string_schema(),
                "tokens": { "type": "integer", "default": 400 },
            }),
        ),
        tool(
            "memory_show",
            show::memory_show,
            "Open a citation from recall_memory, such as #123: a message with its turn, a note or \
             summary; a session by its id; a day, week or month: toc:day:2026-11-14. query finds the \
             part of a long text.",
            &["citation"],
            json!({
                "citation": string_schema(),
                "query": string_schema(),
                "around": { "type": "integer" },
                "whole": { "type": "boolean" },
            }),
        ),
        tool(
            "teleport_query",
            recall::teleport_query,
            "Search the table of contents, for get_node and expand_grip.",
            &["query"],
            json!({
                "query": string_schema(),
                "limit": { "type": "integer", "default": 10 },
                "level": {
                    "type": "string",
                    "enum": ["year", "month", "week", "day", "segment", "grip"],
                },
                "since": string_schema(),
                "until": string_schema(),
                "agent": string_schema(),
            }),
        ),
    ]
}

fn note_specs() -> Vec<ToolSpec> {
    let note = |name, run: ToolFn, effect, description, needed, fields| ToolSpec {
        name,
        toolset: "notes",
        description,
        schema: object_schema(needed, add_scope_fields(fields)),
        effect,
        run,
    };
    vec![
        note(
            "memory_list",
            notes::list,
            ToolEffect::Reads,
            "List all notes: path, summary, size in bytes.",
            &[],
            json!({}),
        ),
        note(
            "memory_view",
            notes::view,
            ToolEffect::Reads,
            "Show the notes index, or all files with type, description and date.",
            &[],
            json!({ "target": { "type": "string", "enum": ["index", "files"] } }),
        ),
        note(
            "memory_read",
            notes::read,
            ToolEffect::Reads,
            "Read a note, as Markdown.",
            &["path"],
            json!({ "path": described_string_schema("such as facts/user.md") }),
        ),
        note(
            "memory_write",
            notes::write,
            ToolEffect::ReplacesIdempotently,
            "Create or overwrite a note. Facts go to facts/, experience to episodes/YYYY-MM.md; a \
             typed note also needs name, description and type.",
            &["path", "content"],
            json!({
                "path": described_string_schema("ends in .md"),
                "content": described_string_schema("Markdown, without frontmatter"),
                "name": string_schema(),
                "description": described_string_schema("one line"),
                "type": {
                    "type": "string",
                    "enum": ["user", "feedback", "project", "reference"],
                },
                "if_version": if_version_schema(),
            }),
        ),
        note(
            "memory_append",
            notes::append,
            ToolEffect::Adds,
            "Append to a note, such as episodes/2026-03.md.",
            &["path", "entry"],
            json!({
                "path": string_schema(),
                "entry": described_string_schema("Markdown"),
                "summary": described_string_schema("the note's summary, under ten words; generated if omitted"),
                "if_version": if_version_schema(),
            }),
        ),
        note(
            "memory_patch",
            notes::patch,
            ToolEffect::Replaces,
            "Replace texts in a note, all or none; each old text must occur exactly once. Give \
             patches, or old_str and new_str.",
            &["path"],
            json!({
                "path": string_schema(),
                "patches": {
                    "type": "array",
                    "items": object_schema(
                        &["oldText", "newText"],
                        json!({ "oldText": string_schema(), "newText": string_schema() }),
                    ),
                },
                "old_str": string_schema(),
                "new_str": string_schema(),
                "if_version": if_version_schema(),
            }),
        ),
        note(
            "memory_update",
            notes::update,
            ToolEffect::Replaces,
            "Replace the first occurrence of a text in a note and update its date.",
            &["filename", "old_text", "new_text"],
            json!({
                "filename": string_schema(),
                "old_text": string_schema(),
                "new_text": string_schema(),
                "if_version": if_version_schema(),
            }),
        ),
        note(
            "memory_delete",
            notes::delete,
            ToolEffect::ReplacesIdempotently,
            "Delete a note that is no longer true or needed.",
            &["filename"],
            json!({ "filename": string_schema() }),
        ),
    ]
}

fn coder_specs() -> Vec<ToolSpec> {
    let types = || json!({ "type": "string", "enum": ["episodic", "procedural", "semantic"] });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let lesson = || {
        json!({
            "type": types(),
            "title": string_schema(),
            "description": string_schema(),
            "content": string_schema(),
            "tags": texts(),
            "topic": string_schema(),
        })
    };
    let needed = &["type", "title", "description", "content", "tags"];
    let mut one_or_more = lesson();
    insert_field(
        &mut one_or_more,
        "insights",
        json!({ "type": "array", "maxItems": 3, "items": object_schema(needed, lesson()) }),
    );
    vec![
        ToolSpec {
            name: "coder_memory_recall",
            toolset: "coder",
            description: "Find lessons from all projects before complex or unfamiliar work: the \
                          best 3 in full. Give a question or 3 to 8 keywords.",
            schema: object_schema(
                &[],
                json!({
                    "question": string_schema(),
                    "keywords": texts(),
                    "types": { "type": "array", "items": types() },
                }),
            ),
            effect: ToolEffect::Reads,
            run: coder::recall,
        },
        ToolSpec {
            name: "coder_memory_store",
            toolset: "coder",
            description: "Store a lesson that holds in any project: not obvious, general, \
                          actionable. episodic: an event; procedural: steps; semantic: a \
                          principle. description: 1 sentence; content: 3 to 5, no lists; tags \
                          with #success or #failure. One insight, or up to 3 as insights.",
            schema: object_schema(&[], one_or_more),
            effect: ToolEffect::Adds,
            run: coder::store,
        },
    ]
}

fn contents_specs() -> Vec<ToolSpec> {
    let tool = |name, run: ToolFn, description, needed, fields| ToolSpec {
        name,
        toolset: "contents",
        description,
        schema: object_schema(needed, fields),
        effect: ToolEffect::Reads,
        run,
    };
    vec![
        tool(
            "get_toc_root",
            contents::get_toc_root,
            "Contents of this project by year, month, week, day: titles and node ids. Then get_node.",
            &[],
            json!({}),
        ),
        tool(
            "get_node",
            contents::get_node,
            "Read a node: title, bullets with grip ids, keywords, children.",
            &["node_id"],
            json!({ "node_id": described_string_schema("such as toc:day:2026-11-14"), "version": integer_schema() }),
        ),
        tool(
            "browse_toc",
            contents::browse_toc,
            "List a node's children, or the nodes of a time.",
            &[],
            json!({
                "node_id": string_schema(),
                "time": described_string_schema("such as yesterday, last week, in March, 2026-11-14"),
                "limit": integer_schema(),
                "continuation": string_schema(),
            }),
        ),
        tool(
            "get_events",
            contents::get_events,
            "List events of a time or session: messages and actions, cut at 500 bytes.",
            &[],
            json!({
                "time": described_string_schema("such as yesterday"),
                "from": described_string_schema("RFC 3339"),
                "to": described_string_schema("RFC 3339"),
                "session_id": string_schema(),
                "limit": integer_schema(),
                "continuation": string_schema(),
            }),
        ),
        tool(
            "expand_grip",
            contents::expand_grip,
            "Show a bullet's source excerpt and the events around it.",
            &["grip_id"],
            json!({ "grip_id": string_schema(), "before": integer_schema(), "after": integer_schema() }),
        ),
    ]
}

fn topic_specs() -> Vec<ToolSpec> {
    let tool = |name, run: ToolFn, description, needed, fields| ToolSpec {
        name,
        toolset: "topics",
        description,
        schema: object_schema(needed, fields),
        effect: ToolEffect::Reads,
        run,
    };
    vec![
        tool(
            "topics",
            topics::topics,
            "Groups of work, files, branches and errors of this project; by words, or one page by id.",
            &[],
            json!({ "query": string_schema(), "id": string_schema() }),
        ),
        tool(
            "file_history",
            topics::file_history,
            "Who changed a file and why, decisions about it, what broke.",
            &["path"],
            json!({ "path": string_schema() }),
        ),
    ]
}

fn anthropic_spec() -> ToolSpec {
    ToolSpec {
        name: "memory",
        toolset: "anthropic",
        description: "The project's notes as Markdown files under /memories. view {path, \
                      view_range?}; create {path, file_text}; str_replace {path, old_str, \
                      new_str}; insert {path, insert_line, insert_text}; delete {path}; rename \
                      {old_path, new_path}.",
        schema: object_schema(
            &["command"],
            json!({
                "command": {
                    "type": "string",
                    "enum": ["view", "create", "str_replace", "insert", "delete", "rename"],
                },
                "path": string_schema(),
                "view_range": { "type": "array", "items": { "type": "integer" } },
                "file_text": string_schema(),
                "old_str": string_schema(),
                "new_str": string_schema(),
                "insert_line": { "type": "integer" },
                "insert_text": string_schema(),
                "old_path": string_schema(),
                "new_path": string_schema(),
            }),
        ),
        effect: ToolEffect::Replaces,
        run: anthropic::memory,
    }
}

fn object_schema(needed: &[&str], fields: Value) -> Value {
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    insert_field(&mut schema, "properties", fields);
    if !needed.is_empty() {
        insert_field(&mut schema, "required", needed.into());
    }
    schema
}

fn add_scope_fields(mut fields: Value) -> Value {
    let scope = json!({
        "type": "string",
        "enum": ["project", "session", "coder"],
        "default": "project",
    });
    insert_field(&mut fields, "scope", scope);
    insert_field(
        &mut fields,
        "session_id",
        described_string_schema("for scope session; default: current"),
    );
    fields
}

fn string_schema() -> Value {
    json!({ "type": "string" })
}

fn integer_schema() -> Value {
    json!({ "type": "integer" })
}

fn described_string_schema(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn if_version_schema() -> Value {
    described_string_schema("fail unless the note is at this version")
}
