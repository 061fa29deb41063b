//! MCP resources: the overview, the index, every note, every node of the contents. Each is read
//! through a tool, so that there is one code path.

use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};
use tome_engine::{ToolEffect, neutralize_markers};
use tome_model::Scope;
use tome_proto::v1::CallToolResponse;

use super::caller::McpCaller;
use super::daemon_tools::DaemonTools;
use super::limits::PAGE_RESOURCES;
use super::uri::{NODE_PREFIX, NOTE_PREFIX, ResourceAddress};

const MARKDOWN: &str = "text/markdown";

/// Lists a page of resources. The cursor is the number of preceding entries.
pub async fn list(
    calls: &DaemonTools,
    who: &McpCaller,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let before: usize = match cursor {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| {
            ErrorData::invalid_params("invalid cursor: it must come from resources/list", None)
        })?,
    };
    let mut all = fixed_resources();
    // Without the daemon the list is short; reading a resource reports the error.
    all.extend(note_resources(&call_tool_json(calls, who, "memory_list", json!({})).await));
    collect_node_resources(&call_tool_json(calls, who, "get_toc_root", json!({})).await, &mut all);
    let next = before.saturating_add(PAGE_RESOURCES);
    let next = (next < all.len()).then(|| next.to_string());
    let page = all.into_iter().skip(before).take(PAGE_RESOURCES).collect();
    let mut listed = ListResourcesResult::with_all_items(page);
    listed.next_cursor = next;
    Ok(listed)
}

fn fixed_resources() -> Vec<Resource> {
    vec![
        build_resource(&ResourceAddress::Overview, "overview")
            .with_title("Overview")
            .with_description("The session's working notes and the project's recent history"),
        build_resource(&ResourceAddress::Index, "index")
            .with_title("Index of the notes")
            .with_description("The project's notes, one line each"),
    ]
}

fn build_resource(address: &ResourceAddress, name: &str) -> Resource {
    Resource::new(address.to_uri(), name).with_mime_type(MARKDOWN)
}

fn note_resources(listed: &Value) -> Vec<Resource> {
    let notes = listed.as_array().into_iter().flatten();
    let notes = notes.filter_map(|note| {
        let path = str_field(note, "path").filter(|path| !path.is_empty())?;
        let address = ResourceAddress::Note(path.to_owned(), Scope::Project);
        let found = build_resource(&address, path)
            .with_description(neutralize_markers(str_field(note, "summary")?));
        Some(found.with_size(note.get("size")?.as_u64()?))
    });
    notes.collect()
}

/// Adds the nodes below this one, recursively.
fn collect_node_resources(above: &Value, all: &mut Vec<Resource>) {
    for entry in above.get("entries").and_then(Value::as_array).into_iter().flatten() {
        if let (Some(id), Some(title)) = (str_field(entry, "id"), str_field(entry, "title")) {
            all.push(
                build_resource(&ResourceAddress::Node(id.to_owned()), id)
                    .with_description(neutralize_markers(title)),
            );
        }
        collect_node_resources(entry, all);
    }
}

fn str_field<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

pub fn templates() -> ListResourceTemplatesResult {
    let template = |uri: String, name: &str, description: &str| {
        ResourceTemplate::new(uri, name).with_description(description).with_mime_type(MARKDOWN)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template(
            format!("{NODE_PREFIX}{{id}}"),
            "node",
            "A node of the contents, such as tome://node/toc:day:2026-11-14",
        ),
        template(
            format!("{NOTE_PREFIX}{{+path}}{{?scope}}"),
            "note",
            "A note, such as tome://note/facts/user.md; scope is project, session or coder",
        ),
    ])
}

pub async fn read(
    calls: &DaemonTools,
    who: &McpCaller,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let address = ResourceAddress::parse(uri).ok_or_else(|| {
        let message = format!("unknown resource {:?}", tome_model::truncate_to(uri, 200));
        ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
    })?;
    let ask = async |tool, arguments: Value| {
        response_text(uri, &calls.call_tool(tool, ToolEffect::Reads, &arguments, who).await)
    };
    let text = match &address {
        ResourceAddress::Overview => render_overview(calls, who).await?,
        ResourceAddress::Index => ask("memory_view", json!({ "target": "index" })).await?,
        ResourceAddress::Node(id) => ask("get_node", json!({ "node_id": id })).await?,
        ResourceAddress::Note(path, scope) => {
            ask("memory_read", json!({ "path": path, "scope": scope.as_str() })).await?
        }
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// The session's overview, if it exists, and the project's contents.
async fn render_overview(calls: &DaemonTools, who: &McpCaller) -> Result<String, ErrorData> {
    let own = json!({ "path": "overview.md", "scope": "session" });
    let own = calls.call_tool("memory_read", ToolEffect::Reads, &own, who).await;
    let contents = calls.call_tool("get_toc_root", ToolEffect::Reads, &json!({}), who).await;
    let contents = response_text(super::uri::OVERVIEW_URI, &contents)?;
    Ok(if own.is_error {
        // A session that is unknown or has not begun has no overview.
        format!("# This project\n\n{contents}\n")
    } else {
        format!("{}\n\n# This project\n\n{contents}\n", own.text.trim_end())
    })
}

fn response_text(uri: &str, answer: &CallToolResponse) -> Result<String, ErrorData> {
    let data = Some(json!({ "uri": uri }));
    match (answer.is_error, answer.error_kind.as_str()) {
        (false, _) => Ok(answer.text.clone()),
        (true, "not_found") => Err(ErrorData::resource_not_found(answer.text.clone(), data)),
        (true, "invalid") => Err(ErrorData::invalid_params(answer.text.clone(), data)),
        (true, _) => Err(ErrorData::internal_error(answer.text.clone(), data)),
    }
}

/// Returns a tool's result as JSON; null on error.
async fn call_tool_json(
    calls: &DaemonTools,
    who: &McpCaller,
    tool: &str,
    arguments: Value,
) -> Value {
    let answer = calls.call_tool(tool, ToolEffect::Reads, &arguments, who).await;
    if answer.is_error {
        Value::Null
    } else {
        serde_json::from_str(&answer.result_json).unwrap_or_default()
    }
}
