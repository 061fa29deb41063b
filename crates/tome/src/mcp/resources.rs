//! MCP resources: the overview, the index, every note, every node of the contents. Each is read
//! through a tool, so that there is one code path.

use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};
use tome_engine::{Effect, neutralize};
use tome_model::Scope;
use tome_proto::v1::CallToolResponse;

use super::calls::Calls;
use super::limits::PAGE_RESOURCES;
use super::uri::{Address, NODE, NOTE};
use super::who::Who;

const MARKDOWN: &str = "text/markdown";

/// Lists a page of resources. The cursor is the number of preceding entries.
pub async fn list(
    calls: &Calls,
    who: &Who,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let before: usize = match cursor {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| {
            ErrorData::invalid_params("invalid cursor: it must come from resources/list", None)
        })?,
    };
    let mut all = fixed();
    // Without the daemon the list is short; reading a resource reports the error.
    all.extend(notes(&consult(calls, who, "memory_list", json!({})).await));
    nodes(&consult(calls, who, "get_toc_root", json!({})).await, &mut all);
    let next = before.saturating_add(PAGE_RESOURCES);
    let next = (next < all.len()).then(|| next.to_string());
    let page = all.into_iter().skip(before).take(PAGE_RESOURCES).collect();
    let mut listed = ListResourcesResult::with_all_items(page);
    listed.next_cursor = next;
    Ok(listed)
}

fn fixed() -> Vec<Resource> {
    vec![
        resource(&Address::Overview, "overview")
            .with_title("Overview")
            .with_description("The session's working notes and the project's recent history"),
        resource(&Address::Index, "index")
            .with_title("Index of the notes")
            .with_description("The project's notes, one line each"),
    ]
}

fn resource(address: &Address, name: &str) -> Resource {
    Resource::new(address.uri(), name).with_mime_type(MARKDOWN)
}

fn notes(listed: &Value) -> Vec<Resource> {
    let notes = listed.as_array().into_iter().flatten();
    let notes = notes.filter_map(|note| {
        let path = text(note, "path").filter(|path| !path.is_empty())?;
        let address = Address::Note(path.to_owned(), Scope::Project);
        let found = resource(&address, path).with_description(neutralize(text(note, "summary")?));
        Some(found.with_size(note.get("size")?.as_u64()?))
    });
    notes.collect()
}

/// Adds the nodes below this one, recursively.
fn nodes(above: &Value, all: &mut Vec<Resource>) {
    for entry in above.get("entries").and_then(Value::as_array).into_iter().flatten() {
        if let (Some(id), Some(title)) = (text(entry, "id"), text(entry, "title")) {
            all.push(
                resource(&Address::Node(id.to_owned()), id).with_description(neutralize(title)),
            );
        }
        nodes(entry, all);
    }
}

fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

pub fn templates() -> ListResourceTemplatesResult {
    let template = |uri: String, name: &str, description: &str| {
        ResourceTemplate::new(uri, name).with_description(description).with_mime_type(MARKDOWN)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template(
            format!("{NODE}{{id}}"),
            "node",
            "A node of the contents, such as tome://node/toc:day:2026-11-14",
        ),
        template(
            format!("{NOTE}{{+path}}{{?scope}}"),
            "note",
            "A note, such as tome://note/facts/user.md; scope is project, session or coder",
        ),
    ])
}

pub async fn read(calls: &Calls, who: &Who, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let address = Address::parse(uri).ok_or_else(|| {
        let said = format!("unknown resource {:?}", tome_model::truncate_to(uri, 200));
        ErrorData::resource_not_found(said, Some(json!({ "uri": uri })))
    })?;
    let ask = async |tool, arguments: Value| {
        answered(uri, &calls.tool(tool, Effect::Reads, &arguments, who).await)
    };
    let text = match &address {
        Address::Overview => overview(calls, who).await?,
        Address::Index => ask("memory_view", json!({ "target": "index" })).await?,
        Address::Node(id) => ask("get_node", json!({ "node_id": id })).await?,
        Address::Note(path, scope) => {
            ask("memory_read", json!({ "path": path, "scope": scope.as_str() })).await?
        }
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// The session's overview, if it exists, and the project's contents.
async fn overview(calls: &Calls, who: &Who) -> Result<String, ErrorData> {
    let own = json!({ "path": "overview.md", "scope": "session" });
    let own = calls.tool("memory_read", Effect::Reads, &own, who).await;
    let contents = calls.tool("get_toc_root", Effect::Reads, &json!({}), who).await;
    let contents = answered(super::uri::OVERVIEW, &contents)?;
    Ok(match own.is_error {
        // A session that is unknown or has not begun has no overview.
        true => format!("# This project\n\n{contents}\n"),
        false => format!("{}\n\n# This project\n\n{contents}\n", own.text.trim_end()),
    })
}

fn answered(uri: &str, answer: &CallToolResponse) -> Result<String, ErrorData> {
    let data = Some(json!({ "uri": uri }));
    match (answer.is_error, answer.error_kind.as_str()) {
        (false, _) => Ok(answer.text.clone()),
        (true, "not_found") => Err(ErrorData::resource_not_found(answer.text.clone(), data)),
        (true, "invalid") => Err(ErrorData::invalid_params(answer.text.clone(), data)),
        (true, _) => Err(ErrorData::internal_error(answer.text.clone(), data)),
    }
}

/// Returns a tool's result as JSON; null on error.
async fn consult(calls: &Calls, who: &Who, tool: &str, arguments: Value) -> Value {
    let answer = calls.tool(tool, Effect::Reads, &arguments, who).await;
    match answer.is_error {
        true => Value::Null,
        false => serde_json::from_str(&answer.result_json).unwrap_or_default(),
    }
}
