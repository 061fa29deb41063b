//! A client of `tome mcp` that implements the protocol by hand, one JSON message per line.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

/// Timeout of the server.
const HANGS: Duration = Duration::from_secs(60);

/// Metadata that a request of the newest protocol carries.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test-client", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A server and its pipes; stopped on drop.
pub struct McpClient {
    child: Child,
    pen: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Responses received before the awaited one.
    early: VecDeque<Value>,
    next_id: i64,
}

#[expect(clippy::needless_pass_by_value, reason = "params are written where they are used")]
impl McpClient {
    pub fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().expect("the server starts");
        let (heard, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if heard.send(line).is_err() {
                    return;
                }
            }
        });
        let pen = child.stdin.take();
        Self { child, pen, lines, early: VecDeque::new(), next_id: 1 }
    }

    /// Starts a server in this world and opens a session with the usual handshake.
    pub fn open(world: &World, args: &[&str]) -> Self {
        Self::open_as(&mut world.command(&[&["mcp"], args].concat()), "test-client")
    }

    /// The same for a given command and client name.
    pub fn open_as(command: &mut Command, name: &str) -> Self {
        let mut client = Self::start(command);
        let answer = client.initialize("2025-06-18", name);
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
        client.notify("notifications/initialized", json!({}));
        client
    }

    /// Sends `initialize`.
    pub fn initialize(&mut self, version: &str, name: &str) -> Value {
        let hello = json!({
            "protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": name, "version": "1"},
        });
        self.ask("initialize", hello)
    }

    pub fn write(&mut self, line: &str) {
        let pen = self.pen.as_mut().expect("still talking");
        pen.write_all(line.as_bytes()).unwrap();
        pen.write_all(b"\n").unwrap();
        pen.flush().unwrap();
    }

    /// Sends the last message without a newline.
    pub fn write_last(&mut self, text: &str) {
        let mut pen = self.pen.take().expect("still talking");
        pen.write_all(text.as_bytes()).unwrap();
    }

    /// Sends a request and returns its id.
    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&line.to_string());
        id
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        let line = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.write(&line.to_string());
    }

    /// Returns the next message of any kind.
    pub fn hear(&mut self) -> Value {
        self.early.pop_front().unwrap_or_else(|| self.hear_line())
    }

    fn hear_line(&mut self) -> Value {
        let line = match self.lines.recv_timeout(HANGS) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing"),
            Err(RecvTimeoutError::Disconnected) => panic!("the server has ended"),
        };
        let message: Value = serde_json::from_str(&line).expect("nothing but JSON on stdout");
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// Returns the next line, which is a batch.
    pub fn hear_several(&mut self) -> Vec<Value> {
        let line = self.lines.recv_timeout(HANGS).expect("the server says something");
        serde_json::from_str(&line).expect("a list of messages")
    }

    pub fn answer(&mut self, id: i64) -> Value {
        if let Some(at) = self.early.iter().position(|message| message["id"] == id) {
            return self.early.remove(at).unwrap();
        }
        loop {
            let message = self.hear_line();
            if message["id"] == id {
                return message;
            }
            self.early.push_back(message);
        }
    }

    /// Sends a request and waits for its answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// The same, but it must succeed.
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params);
        assert_eq!(answer["error"], Value::Null, "{method}");
        answer["result"].take()
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool that must succeed; returns its text.
    pub fn call_text(&mut self, tool: &str, arguments: Value) -> String {
        let called = self.call(tool, arguments);
        assert!(!called["isError"].as_bool().unwrap_or_default(), "{tool}: {called}");
        words(&called)
    }

    pub fn tools(&mut self) -> Vec<String> {
        let listed = self.result("tools/list", json!({}));
        let tools = listed["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Closes the input and waits for the server to exit; returns its status, remaining messages
    /// and standard error.
    pub fn close(mut self) -> (ExitStatus, Vec<Value>, String) {
        drop(self.pen.take());
        let status = eventually("the server to end", || self.child.try_wait().unwrap());
        let mut complaints = String::new();
        let mut err = self.child.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut err, &mut complaints).unwrap();
        let mut rest: Vec<Value> = self.early.drain(..).collect();
        while let Ok(line) = self.lines.recv_timeout(HANGS) {
            rest.push(serde_json::from_str(&line).expect("nothing but JSON on stdout"));
        }
        (status, rest, complaints)
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a tool result.
pub fn words(called: &Value) -> String {
    let blocks = called["content"].as_array().unwrap();
    let texts: Vec<&str> = blocks.iter().map(|block| block["text"].as_str().unwrap()).collect();
    texts.join("\n")
}
