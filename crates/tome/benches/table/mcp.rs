//! The MCP server: time to answer `initialize`, and the cost of a tool call.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tome_proto::{Client, v1};
use tome_testkit::World;

use crate::daemon::{Daemon, time_command, true_command};
use crate::report::{Aim, Row, Unit};
use crate::timing::Times;
use crate::{Bench, bulk, world};

/// Clients wait for this before they show a prompt.
const AIM_MS: f64 = 50.0;

#[derive(Default)]
struct Opened {
    nothing: Times,
    away: Times,
    there: Times,
    calls: Times,
    direct: Times,
}

pub fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let events = bench.scale.of(100_000, 5_000);
    let (rounds, calls) = (bench.scale.of(30, 8), bench.scale.of(500, 50));
    let mut opened = Opened::default();
    for _ in 0..rounds {
        let empty = world();
        opened.nothing.add(time_command(&mut true_command(&empty), b"")?.0);
        opened.away.add(Server::start(&empty)?.1);
    }
    let filled = world();
    bench.block_on(with_daemon(&filled, events, rounds, calls, &mut opened))?;
    Ok(rows(&opened, events))
}

async fn with_daemon(
    world: &World,
    events: u64,
    rounds: u64,
    calls: u64,
    opened: &mut Opened,
) -> Result<()> {
    let (daemon, client) = Daemon::start(world).await?;
    bulk::send(&client, bulk::batches("p0", events, "/home/dev/project"), events).await?;
    for _ in 0..rounds {
        opened.there.add(Server::start(world)?.1);
    }
    let (mut server, _) = Server::start(world)?;
    let note = json!({ "path": "a.md", "content": "Tokens rotate every hour.\n" });
    server.call("memory_write", &note)?;
    let cwd = world.folder("elsewhere").to_string_lossy().into_owned();
    for _ in 0..calls {
        opened.calls.add(server.call("memory_read", &json!({ "path": "a.md" }))?);
        opened.direct.add(direct(&client, &cwd).await?);
    }
    drop(server);
    daemon.stop(client).await
}

/// The same call over an open connection to the daemon.
async fn direct(client: &Client, cwd: &str) -> Result<Duration> {
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
struct Server {
    child: Child,
    pen: Option<ChildStdin>,
    out: BufReader<ChildStdout>,
}

impl Server {
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
        let answer = server.ask("initialize", &hello)?;
        let time = start.elapsed();
        ensure!(answer.pointer("/serverInfo/name") == Some(&json!("tome")), "{answer}");
        Ok((server, time))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let pen = self.pen.as_mut().context("no input")?;
        writeln!(pen, "{request}")?;
        let mut line = String::new();
        self.out.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line)?;
        answer.get("result").cloned().with_context(|| answer.to_string())
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Duration> {
        let start = Instant::now();
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let time = start.elapsed();
        ensure!(answer.get("isError") == Some(&json!(false)), "{answer}");
        Ok(time)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.pen.take());
        let _ = self.child.wait();
    }
}

fn rows(opened: &Opened, events: u64) -> Vec<Row> {
    let hello = |what: &str, times: &Times, percent: usize| {
        let what = format!("initialize, {what}, p{percent} of {}", times.len());
        Row::new(what, Unit::Ms, times.percentile(percent))
            .against("/bin/true", opened.nothing.percentile(percent))
            .aim(Aim::Under(AIM_MS))
    };
    let call = |percent: usize| {
        let what = format!("memory_read, p{percent} of {}", opened.calls.len());
        Row::new(what, Unit::Ms, opened.calls.percentile(percent))
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
