//! The MCP server: its description, and the dispatch of requests.
//!
//! No initial request waits for the daemon: server info, tools, prompts and resource templates are
//! static.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tome_engine::ToolSpec;

use super::caller::{McpCaller, ServerEnvironment};
use super::daemon_tools::DaemonTools;
use super::instructions::render_instructions;
use super::{prompts, resources, tool_listing, tool_result};

pub struct McpServer {
    pub calls: std::sync::Arc<DaemonTools>,
    pub surroundings: ServerEnvironment,
    pub tools: Vec<ToolSpec>,
    /// Whether the client's hooks inject the rules for using the memory.
    pub hooks_state_rules: bool,
}

type McpRequestContext = RequestContext<RoleServer>;
type McpResult<T> = Result<T, ErrorData>;

impl McpServer {
    fn caller(&self, context: &McpRequestContext) -> McpCaller {
        let client = context.client_info();
        self.surroundings.identify_caller(client.as_ref().map(|client| client.name.as_str()))
    }

    fn find_tool(&self, name: &str) -> McpResult<&ToolSpec> {
        self.tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
            let (name, known) = (tome_model::truncate_to(name, 80), known.join(", "));
            let message = format!("Unknown tool: {name:?} is not offered; available: {known}");
            ErrorData::invalid_params(message, None)
        })
    }
}

/// Runs `work` unless the client cancels the request. The daemon may still complete a call that was
/// already sent.
async fn unless_cancelled<T>(
    context: &McpRequestContext,
    work: impl Future<Output = McpResult<T>>,
) -> McpResult<T> {
    tokio::select! {
        answer = work => answer,
        () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts();
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
        let me = Implementation::new("tome", env!("CARGO_PKG_VERSION")).with_title("Tome");
        ServerConfig::new(capabilities.build())
            .with_server_info(me)
            .with_instructions(render_instructions(&names, self.hooks_state_rules))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: McpRequestContext,
    ) -> McpResult<ListToolsResult> {
        Ok(ListToolsResult::with_all_items(
            self.tools.iter().map(tool_listing::describe_tool).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: McpRequestContext,
    ) -> McpResult<CallToolResponse> {
        let tool = self.find_tool(&request.name)?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let who = self.caller(&context);
        unless_cancelled(&context, async {
            let answer = self.calls.call_tool(tool.name, tool.effect, &arguments, &who).await;
            Ok(tool_result::build_tool_result(&answer, tool.effect).into())
        })
        .await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: McpRequestContext,
    ) -> McpResult<ListResourcesResult> {
        let cursor = page.and_then(|page| page.cursor);
        let who = self.caller(&context);
        unless_cancelled(&context, resources::list(&self.calls, &who, cursor.as_deref())).await
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: McpRequestContext,
    ) -> McpResult<ListResourceTemplatesResult> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: McpRequestContext,
    ) -> McpResult<ReadResourceResponse> {
        let who = self.caller(&context);
        let read = unless_cancelled(&context, resources::read(&self.calls, &who, &request.uri));
        read.await.map(Into::into)
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: McpRequestContext,
    ) -> McpResult<ListPromptsResult> {
        Ok(prompts::list())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: McpRequestContext,
    ) -> McpResult<GetPromptResponse> {
        let who = self.caller(&context);
        let arguments = request.arguments.as_ref();
        let got =
            unless_cancelled(&context, prompts::get(&self.calls, &who, &request.name, arguments));
        got.await.map(Into::into)
    }

    /// Unsupported methods are rejected earlier, so the parameters must be invalid.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: McpRequestContext,
    ) -> McpResult<CustomResult> {
        let message = format!("invalid params for {}", request.method);
        Err(ErrorData::invalid_params(message, None))
    }
}
