//! Client calls of the Tools service.

use crate::client::{AuthorizedChannel, Client, call_with_deadline};
use crate::v1::tools_client::ToolsClient;
use crate::{ClientError, limits, v1};

impl Client {
    /// Lists the tools, optionally of one toolset.
    pub async fn list_tools(&self, toolset: &str) -> Result<Vec<v1::ToolSpec>, ClientError> {
        let request = v1::ListToolsRequest { toolset: toolset.to_owned() };
        let listed =
            call_with_deadline(limits::CALL_TIMEOUT, self.tools_client().list_tools(request))
                .await?;
        Ok(listed.tools)
    }

    /// Calls a tool. The tool's own errors are in the response; `NotFound` means there is no such
    /// tool.
    pub async fn call_tool(
        &self,
        request: v1::CallToolRequest,
    ) -> Result<v1::CallToolResponse, ClientError> {
        call_with_deadline(limits::NOTE_CALL_TIMEOUT, self.tools_client().call_tool(request)).await
    }

    fn tools_client(&self) -> ToolsClient<AuthorizedChannel> {
        ToolsClient::new(self.wire.clone())
            .max_decoding_message_size(limits::NOTE_MESSAGE_BYTES_MAX)
            .max_encoding_message_size(limits::NOTE_MESSAGE_BYTES_MAX)
    }
}
