//! The MCP server: time to answer `initialize`, and the cost of a tool call.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tome_proto::{Client, v1};
use tome_testkit::World;

use crate::daemon::{BenchDaemon, time_command, true_command};
use crate::report::{Aim, FigureUnit, Row};
use crate::timing::Timings;
use crate::{Bench, bulk, world};

/// Clients wait for this before they show a prompt.
const AIM_MS: f64 = 50.0;

#[derive(Default)]
struct McpTimings {
    nothing: Timings,
    away: Timings,
    there: Timings,
    calls: Timings,
    direct: Timings,
}

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let events = bench.scale.pick(100_000, 5_000);
    let (rounds, calls) = (bench.scale.pick(30, 8), bench.scale.pick(500, 50));
    let mut opened = McpTimings::default();
    for _ in 0..rounds {
        let empty = world();
        opened.nothing.add(time_command(&mut true_command(&empty), b"")?.0);
        opened.away.add(McpProcess::start(&empty)?.1);
    }
    let filled = world();
    bench.block_on(measure_with_daemon(&filled, events, rounds, calls, &mut opened))?;
    Ok(mcp_rows(&opened, events))
}

async fn measure_with_daemon(
    world: &World,
    events: u64,
    rounds: u64,
    calls: u64,
    opened: &mut McpTimings,
) -> Result<()> {
    let (daemon, client) = BenchDaemon::start(world).await?;
    bulk::send_batches(&client, bulk::build_batches("p0", events, "/home/dev/project"), events)
        .await?;
    for _ in 0..rounds {
        opened.there.add(McpProcess::start(world)?.1);
    }
    let (mut server, _) = McpProcess::start(world)?;
    let note = json!({ "path": "a.md", "content": "Tokens rotate every hour.\n" });
    server.time_call("memory_write", &note)?;
    let cwd = world.folder("elsewhere").to_string_lossy().into_owned();
    for _ in 0..calls {
        opened.calls.add(server.time_call("memory_read", &json!({ "path": "a.md" }))?);
        opened.direct.add(time_direct_call(&client, &cwd).await?);
    }
    drop(server);
    daemon.stop(client).await
}

/// The same call over an open connection to the daemon.
async fn time_direct_call(client: &Client, cwd: &str) -> Result<Duration> {
    let request = v1::CallToolRequest {
        name: "memory_read".into(),
        arguments_json: json!({ "path": "a.md" }).to_string(),
        cwd: cwd.to_owned(),
        ..v1::CallToolRequest::default()
    };
    let start = Instant::now();
    let answer = client.call_tool(request).await?;
    let time = start.elapsed();
    ensure!(!answer.is_error, "{}", answer.text);
    Ok(time)
}

/// A running server; stopped on drop.
struct McpProcess {
    child: Child,
    pen: Option<ChildStdin>,
    out: BufReader<ChildStdout>,
}

impl McpProcess {
    /// Starts a server; returns the time until it has answered `initialize`.
    fn start(world: &World) -> Result<(Self, Duration)> {
        let mut command = world.command(&["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command.spawn()?;
        let pen = child.stdin.take();
        let out = BufReader::new(child.stdout.take().context("no output")?);
        let mut server = Self { child, pen, out };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        let answer = server.request("initialize", &hello)?;
        let time = start.elapsed();
        ensure!(answer.pointer("/serverInfo/name") == Some(&json!("tome")), "{answer}");
        Ok((server, time))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let pen = self.pen.as_mut().context("no input")?;
        writeln!(pen, "{request}")?;
        let mut line = String::new();
        self.out.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line)?;
        answer.get("result").cloned().with_context(|| answer.to_string())
    }

    fn time_call(&mut self, tool: &str, arguments: &Value) -> Result<Duration> {
        let start = Instant::now();
        let answer =
            self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let time = start.elapsed();
        ensure!(answer.get("isError") == Some(&json!(false)), "{answer}");
        Ok(time)
    }
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        drop(self.pen.take());
        let _ = self.child.wait();
    }
}

fn mcp_rows(opened: &McpTimings, events: u64) -> Vec<Row> {
    let hello = |what: &str, times: &Timings, percent: usize| {
        let what = format!("initialize, {what}, p{percent} of {}", times.len());
        Row::new(what, FigureUnit::Ms, times.percentile(percent))
            .against("/bin/true", opened.nothing.percentile(percent))
            .aim(Aim::Under(AIM_MS))
    };
    let call = |percent: usize| {
        let what = format!("memory_read, p{percent} of {}", opened.calls.len());
        Row::new(what, FigureUnit::Ms, opened.calls.percentile(percent))
            .against("CallTool over an open connection", opened.direct.percentile(percent))
    };
    let stored = format!("{events} events stored");
    vec![
        hello("new home, daemon away", &opened.away, 50),
        hello("new home, daemon away", &opened.away, 99),
        hello(&stored, &opened.there, 50),
        hello(&stored, &opened.there, 99),
        call(50),
        call(99),
    ]
}
