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

use super::calls::Calls;
use super::instructions::instructions;
use super::who::{Surroundings, Who};
use super::{answer, offer, prompts, resources};

pub struct Server {
    pub calls: std::sync::Arc<Calls>,
    pub surroundings: Surroundings,
    pub tools: Vec<ToolSpec>,
    /// Whether the client's hooks inject the rules for using the memory.
    pub hooks_state_rules: bool,
}

type Asked = RequestContext<RoleServer>;
type Answer<T> = Result<T, ErrorData>;

impl Server {
    fn who(&self, asked: &Asked) -> Who {
        let client = asked.client_info();
        self.surroundings.caller(client.as_ref().map(|client| client.name.as_str()))
    }

    fn offered(&self, name: &str) -> Answer<&ToolSpec> {
        self.tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
            let (name, known) = (tome_model::truncate_to(name, 80), known.join(", "));
            let said = format!("Unknown tool: {name:?} is not offered; available: {known}");
            ErrorData::invalid_params(said, None)
        })
    }
}

/// Runs `work` unless the client cancels the request. The daemon may still complete a call that was
/// already sent.
async fn unless_cancelled<T>(asked: &Asked, work: impl Future<Output = Answer<T>>) -> Answer<T> {
    tokio::select! {
        answer = work => answer,
        () = asked.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts();
        let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
        let me = Implementation::new("tome", env!("CARGO_PKG_VERSION")).with_title("Tome");
        ServerConfig::new(capabilities.build())
            .with_server_info(me)
            .with_instructions(instructions(&names, self.hooks_state_rules))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _asked: Asked,
    ) -> Answer<ListToolsResult> {
        Ok(ListToolsResult::with_all_items(self.tools.iter().map(offer::tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        asked: Asked,
    ) -> Answer<CallToolResponse> {
        let tool = self.offered(&request.name)?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let who = self.who(&asked);
        unless_cancelled(&asked, async {
            let said = self.calls.tool(tool.name, tool.effect, &arguments, &who).await;
            Ok(answer::result(&said, tool.effect).into())
        })
        .await
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        asked: Asked,
    ) -> Answer<ListResourcesResult> {
        let cursor = page.and_then(|page| page.cursor);
        let who = self.who(&asked);
        unless_cancelled(&asked, resources::list(&self.calls, &who, cursor.as_deref())).await
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _asked: Asked,
    ) -> Answer<ListResourceTemplatesResult> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        asked: Asked,
    ) -> Answer<ReadResourceResponse> {
        let who = self.who(&asked);
        let read = unless_cancelled(&asked, resources::read(&self.calls, &who, &request.uri));
        read.await.map(Into::into)
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _asked: Asked,
    ) -> Answer<ListPromptsResult> {
        Ok(prompts::list())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        asked: Asked,
    ) -> Answer<GetPromptResponse> {
        let who = self.who(&asked);
        let arguments = request.arguments.as_ref();
        let got =
            unless_cancelled(&asked, prompts::get(&self.calls, &who, &request.name, arguments));
        got.await.map(Into::into)
    }

    /// Unsupported methods are rejected earlier, so the parameters must be invalid.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _asked: Asked,
    ) -> Answer<CustomResult> {
        let said = format!("invalid params for {}", request.method);
        Err(ErrorData::invalid_params(said, None))
    }
}
