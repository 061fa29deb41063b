//! `tome mcp`: offers tools, notes and contents to any MCP client over standard input and output.
//!
//! The server is a stateless, thin client of the daemon, so any number may run. It answers a
//! client's initial requests itself while the daemon starts. Standard output carries only protocol
//! messages. The server exits when its standard input ends.
//!
//! The tools themselves are in `tome-engine/src/tools`, one row per tool in `registry.rs`.

mod batches;
mod caller;
mod daemon_tools;
mod in_flight;
mod instructions;
mod limits;
mod message;
mod prompts;
mod resources;
mod server;
mod tool_listing;
mod tool_result;
mod transport;
mod uri;

use std::sync::Arc;

use anyhow::Result;
use rmcp::service::ServerInitializeError;
use tome_engine::Toolsets;
use tome_home::Home;

use crate::connect::DaemonConnector;

pub use caller::{AgentVariables, ServerEnvironment};

use daemon_tools::DaemonTools;
use server::McpServer;
use transport::StdioTransport;

/// Serves until the client closes its input.
pub fn serve(
    connector: DaemonConnector,
    home: Home,
    surroundings: ServerEnvironment,
    toolsets: &Toolsets,
    hooks_state_rules: bool,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let calls = Arc::new(DaemonTools::new(connector, home));
    let (calls_of_server, tools) = (calls.clone(), toolsets.tools());
    let server = McpServer { calls: calls_of_server, surroundings, tools, hooks_state_rules };
    let served = runtime.block_on(run_server(server, calls));
    // A client that keeps standard input open must not keep the process alive.
    runtime.shutdown_background();
    served
}

async fn run_server(server: McpServer, calls: Arc<DaemonTools>) -> Result<()> {
    let (wire, writing) = StdioTransport::new(tokio::io::stdin(), tokio::io::stdout());
    tokio::spawn(async move { calls.start_daemon().await });
    match rmcp::serve_server(server, wire).await {
        Ok(serving) => drop(serving.waiting().await?),
        // The client disconnected before initialization.
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let _ = tokio::time::timeout(limits::SHUTDOWN_TIMEOUT, writing).await;
    Ok(())
}
