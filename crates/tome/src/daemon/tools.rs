//! The gRPC service for tools. A failing tool is a response, not a gRPC error: the caller is a
//! model that reads the reason.

use std::sync::Arc;

use tome_engine::{Caller, ToolAnswer, ToolFailure, ToolSpec, Tools as ToolRegistry};
use tome_proto::v1;
use tome_proto::v1::tools_server::Tools;
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::drain::drain;
use super::request_fields::non_empty_owned;
use super::state::Daemon;

pub struct ToolsService(pub Arc<Daemon>);

#[tonic::async_trait]
impl Tools for ToolsService {
    async fn list_tools(
        &self,
        request: Request<v1::ListToolsRequest>,
    ) -> Result<Response<v1::ListToolsResponse>, Status> {
        let toolset = request.into_inner().toolset;
        let tools = ToolRegistry::specs();
        if !toolset.is_empty() && !tools.iter().any(|tool| tool.toolset == toolset) {
            let mut toolsets: Vec<&str> = tools.iter().map(|tool| tool.toolset).collect();
            toolsets.sort_unstable();
            toolsets.dedup();
            let toolsets = toolsets.join(", ");
            return Err(Status::not_found(format!(
                "there is no toolset {toolset:?}; available: {toolsets}"
            )));
        }
        let wanted = |tool: &&ToolSpec| toolset.is_empty() || tool.toolset == toolset;
        let tools = tools.iter().filter(wanted).map(spec_to_wire).collect();
        Ok(Response::new(v1::ListToolsResponse { tools }))
    }

    async fn call_tool(
        &self,
        request: Request<v1::CallToolRequest>,
    ) -> Result<Response<v1::CallToolResponse>, Status> {
        let request = request.into_inner();
        let tool = ToolRegistry::specs().into_iter().find(|tool| tool.name == request.name);
        let toolset = tool.map_or("", |tool| tool.toolset);
        let call = move |daemon: &Arc<Daemon>| -> Result<ToolAnswer, Status> {
            let reads_events = matches!(toolset, "contents" | "recall" | "topics");
            let waiting = if reads_events { drain(daemon) } else { None };
            let tools =
                daemon.engine.tools().map_err(|error| Status::internal(error.to_string()))?;
            let arguments =
                if request.arguments_json.is_empty() { "{}" } else { &request.arguments_json };
            let caller = Caller {
                cwd: non_empty_owned(request.cwd),
                agent: non_empty_owned(request.agent),
                session: non_empty_owned(request.session_id),
                command: non_empty_owned(request.command),
            };
            let mut answer = tools
                .call(&request.name, arguments, &caller)
                .ok_or_else(|| no_such_tool(&request.name))?;
            if let Some(waiting) = waiting.filter(|_| answer.failure.is_none()) {
                add_notice(&mut answer, &waiting);
            }
            Ok(answer)
        };
        // Tools that read events must not wait behind a locked notebook.
        let called = match toolset {
            "contents" => self.0.run_blocking(CallKind::Ledger, call).await,
            "recall" | "topics" => self.0.run_blocking(CallKind::Recall, call).await,
            _ => self.0.run_blocking(CallKind::Notebook, call).await,
        };
        Ok(Response::new(answer_to_wire(called??)))
    }
}

/// Adds a notice about what the response does not include.
fn add_notice(answer: &mut ToolAnswer, missing: &str) {
    let json = answer.json.to_string();
    let is_json = answer.text == json;
    if let Some(fields) = answer.json.as_object_mut() {
        fields.insert("left_out".to_owned(), missing.into());
    }
    if is_json {
        answer.text = answer.json.to_string();
    } else {
        answer.text.push_str(&format!("\n\nNot included: {missing}\n"));
    }
}

fn no_such_tool(name: &str) -> Status {
    let known: Vec<&str> = ToolRegistry::specs().iter().map(|tool| tool.name).collect();
    Status::not_found(format!("there is no tool {name:?}; available: {}", known.join(", ")))
}

fn spec_to_wire(tool: &ToolSpec) -> v1::ToolSpec {
    v1::ToolSpec {
        name: tool.name.to_owned(),
        toolset: tool.toolset.to_owned(),
        description: tool.description.to_owned(),
        input_schema_json: tool.schema.to_string(),
    }
}

fn answer_to_wire(answer: ToolAnswer) -> v1::CallToolResponse {
    let kind = answer.failure.map(|failure| match failure {
        ToolFailure::Invalid => "invalid",
        ToolFailure::NotFound => "not_found",
        ToolFailure::Conflict => "conflict",
        ToolFailure::Failed => "failed",
    });
    v1::CallToolResponse {
        text: answer.text,
        result_json: answer.json.to_string(),
        is_error: kind.is_some(),
        error_kind: kind.unwrap_or_default().to_owned(),
        secrets_cut: u32::try_from(answer.secrets_cut).unwrap_or(u32::MAX),
    }
}
