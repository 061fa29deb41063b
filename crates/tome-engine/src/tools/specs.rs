//! Names, descriptions and schemas of the tools, written by hand because every word goes into a
//! prompt. A schema lists each argument once; aliases are accepted but not listed.

use serde_json::{Value, json};

use super::answer::put;
use super::{Effect, ToolSpec};

/// All tools, in the order in which they are offered.
pub(super) fn all() -> Vec<ToolSpec> {
    let mut all = recall();
    all.extend(notes());
    all.extend(coder());
    all.extend(contents());
    all.push(anthropic());
    all
}

fn recall() -> Vec<ToolSpec> {
    let tool = |name, description, fields| ToolSpec {
        name,
        toolset: "recall",
        description,
        schema: object(&["query"], fields),
        effect: Effect::Reads,
    };
    vec![
        tool(
            "recall_memory",
            "Search earlier sessions, notes and lessons; returns cited excerpts. Use specific \
             words: names, paths, error codes. Times (last week) work too.",
            json!({
                "query": plain(),
                "scope": {
                    "type": "string",
                    "enum": ["all", "detail", "messages", "notes", "coder", "contents"],
                    "default": "all",
                },
                "limit": { "type": "integer", "default": 5 },
                "across": {
                    "type": "string",
                    "enum": ["session", "project", "all"],
                    "default": "project",
                },
                "since": text("such as 2026-11-14, last week"),
                "until": text("exclusive"),
                "agent": plain(),
                "tokens": { "type": "integer", "default": 800 },
            }),
        ),
        ToolSpec {
            name: "memory_show",
            toolset: "recall",
            description: "Open a citation from recall_memory in full: a message, note, summary \
                          or excerpt. Also a day, week or month: toc:day:2026-11-14.",
            schema: object(&["citation"], json!({ "citation": plain() })),
            effect: Effect::Reads,
        },
        tool(
            "teleport_query",
            "Search the table of contents: returns node and grip ids with previews, for \
             get_node and expand_grip.",
            json!({
                "query": plain(),
                "limit": { "type": "integer", "default": 10 },
                "level": {
                    "type": "string",
                    "enum": ["year", "month", "week", "day", "segment", "grip"],
                },
                "since": plain(),
                "until": plain(),
                "agent": plain(),
            }),
        ),
    ]
}

fn notes() -> Vec<ToolSpec> {
    let note = |name, description, needed, fields| ToolSpec {
        name,
        toolset: "notes",
        description,
        schema: object(needed, with_scope(fields)),
        effect: match name {
            "memory_append" => Effect::Adds,
            "memory_patch" | "memory_update" => Effect::Replaces,
            "memory_write" | "memory_delete" => Effect::Settles,
            _ => Effect::Reads,
        },
    };
    vec![
        note("memory_list", "List all notes: path, summary, size in bytes.", &[], json!({})),
        note(
            "memory_view",
            "Show the notes index, or all files with type, description and date.",
            &[],
            json!({ "target": { "type": "string", "enum": ["index", "files"] } }),
        ),
        note(
            "memory_read",
            "Read a note, as Markdown.",
            &["path"],
            json!({ "path": text("such as facts/user.md") }),
        ),
        note(
            "memory_write",
            "Create or overwrite a note. Facts go to facts/, experience to episodes/YYYY-MM.md; a \
             typed note also needs name, description and type.",
            &["path", "content"],
            json!({
                "path": text("ends in .md"),
                "content": text("Markdown, without frontmatter"),
                "name": plain(),
                "description": text("one line"),
                "type": {
                    "type": "string",
                    "enum": ["user", "feedback", "project", "reference"],
                },
                "if_version": if_version(),
            }),
        ),
        note(
            "memory_append",
            "Append an entry to a note, such as episodes/2026-03.md.",
            &["path", "entry"],
            json!({
                "path": plain(),
                "entry": text("Markdown"),
                "summary": text("the note's summary, under ten words; generated if omitted"),
                "if_version": if_version(),
            }),
        ),
        note(
            "memory_patch",
            "Replace texts in a note, all or none; each old text must occur exactly once. Give \
             patches, or old_str and new_str.",
            &["path"],
            json!({
                "path": plain(),
                "patches": {
                    "type": "array",
                    "items": object(
                        &["oldText", "newText"],
                        json!({ "oldText": plain(), "newText": plain() }),
                    ),
                },
                "old_str": plain(),
                "new_str": plain(),
                "if_version": if_version(),
            }),
        ),
        note(
            "memory_update",
            "Replace the first occurrence of a text in a note and update its date.",
            &["filename", "old_text", "new_text"],
            json!({
                "filename": plain(),
                "old_text": plain(),
                "new_text": plain(),
                "if_version": if_version(),
            }),
        ),
        note(
            "memory_delete",
            "Delete a note that is no longer true or needed.",
            &["filename"],
            json!({ "filename": plain() }),
        ),
    ]
}

fn coder() -> Vec<ToolSpec> {
    let types = || json!({ "type": "string", "enum": ["episodic", "procedural", "semantic"] });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let insight = || {
        json!({
            "type": types(),
            "title": plain(),
            "description": plain(),
            "content": plain(),
            "tags": texts(),
            "topic": plain(),
        })
    };
    let needed = &["type", "title", "description", "content", "tags"];
    let mut one_or_more = insight();
    put(
        &mut one_or_more,
        "insights",
        json!({ "type": "array", "maxItems": 3, "items": object(needed, insight()) }),
    );
    vec![
        ToolSpec {
            name: "coder_memory_recall",
            toolset: "coder",
            description: "Find lessons from all projects before complex or unfamiliar work: the \
                          best 3 in full. Give a question or 3 to 8 keywords.",
            schema: object(
                &[],
                json!({
                    "question": plain(),
                    "keywords": texts(),
                    "types": { "type": "array", "items": types() },
                }),
            ),
            effect: Effect::Reads,
        },
        ToolSpec {
            name: "coder_memory_store",
            toolset: "coder",
            description: "Store a lesson that holds in any project: not obvious, general, \
                          actionable. episodic: an event; procedural: steps; semantic: a \
                          principle. description: 1 sentence; content: 3 to 5, no lists; tags \
                          with #success or #failure. One insight, or up to 3 as insights.",
            schema: object(&[], one_or_more),
            effect: Effect::Adds,
        },
    ]
}

fn contents() -> Vec<ToolSpec> {
    let tool = |name, description, needed, fields| ToolSpec {
        name,
        toolset: "contents",
        description,
        schema: object(needed, fields),
        effect: Effect::Reads,
    };
    vec![
        tool(
            "get_toc_root",
            "Contents of this project by year, month, week, day: titles and node ids. Start here, \
             then get_node, then expand_grip.",
            &[],
            json!({}),
        ),
        tool(
            "get_node",
            "Read a node: title, bullets with grip ids, keywords, children.",
            &["node_id"],
            json!({ "node_id": text("such as toc:day:2026-11-14"), "version": integer() }),
        ),
        tool(
            "browse_toc",
            "List a node's children, or the nodes of a time.",
            &[],
            json!({
                "node_id": plain(),
                "time": text("such as yesterday, last week, in March, 2026-11-14"),
                "limit": integer(),
                "continuation": plain(),
            }),
        ),
        tool(
            "get_events",
            "List the events of a time or a session: messages and actions, cut at 500 bytes.",
            &[],
            json!({
                "time": text("such as yesterday"),
                "from": text("RFC 3339"),
                "to": text("RFC 3339"),
                "session_id": plain(),
                "limit": integer(),
                "continuation": plain(),
            }),
        ),
        tool(
            "expand_grip",
            "Show a bullet's source excerpt and the events around it.",
            &["grip_id"],
            json!({ "grip_id": plain(), "before": integer(), "after": integer() }),
        ),
    ]
}

fn anthropic() -> ToolSpec {
    ToolSpec {
        name: "memory",
        toolset: "anthropic",
        description: "The project's notes as Markdown files under /memories. view {path, \
                      view_range?}; create {path, file_text}; str_replace {path, old_str, \
                      new_str}; insert {path, insert_line, insert_text}; delete {path}; rename \
                      {old_path, new_path}.",
        schema: object(
            &["command"],
            json!({
                "command": {
                    "type": "string",
                    "enum": ["view", "create", "str_replace", "insert", "delete", "rename"],
                },
                "path": plain(),
                "view_range": { "type": "array", "items": { "type": "integer" } },
                "file_text": plain(),
                "old_str": plain(),
                "new_str": plain(),
                "insert_line": { "type": "integer" },
                "insert_text": plain(),
                "old_path": plain(),
                "new_path": plain(),
            }),
        ),
        effect: Effect::Replaces,
    }
}

fn object(needed: &[&str], fields: Value) -> Value {
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    put(&mut schema, "properties", fields);
    if !needed.is_empty() {
        put(&mut schema, "required", needed.into());
    }
    schema
}

fn with_scope(mut fields: Value) -> Value {
    let scope = json!({
        "type": "string",
        "enum": ["project", "session", "coder"],
        "default": "project",
    });
    put(&mut fields, "scope", scope);
    put(&mut fields, "session_id", text("for scope session; default: current"));
    fields
}

fn plain() -> Value {
    json!({ "type": "string" })
}

fn integer() -> Value {
    json!({ "type": "integer" })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn if_version() -> Value {
    text("fail unless the note is at this version")
}
