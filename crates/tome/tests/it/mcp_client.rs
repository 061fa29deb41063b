//! A client of `tome mcp` that speaks the protocol by hand, a JSON message a line.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

/// A server that takes this long hangs.
const HANGS: Duration = Duration::from_secs(60);

/// What a request of the newest protocol says of itself.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test-client", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A server and the pipes to it. It is ended when this is dropped.
pub struct McpClient {
    child: Child,
    pen: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Answers that came before the one that was waited for.
    early: VecDeque<Value>,
    next_id: i64,
}

#[expect(clippy::needless_pass_by_value, reason = "params are written where they are used")]
impl McpClient {
    /// Starts a server.
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

    /// A server in this world, with a session opened the way most clients do it.
    pub fn open(world: &World, args: &[&str]) -> Self {
        Self::open_as(&mut world.command(&[&["mcp"], args].concat()), "test-client")
    }

    /// The same for a command of the test's own making and a client of this name.
    pub fn open_as(command: &mut Command, name: &str) -> Self {
        let mut client = Self::start(command);
        let answer = client.initialize("2025-06-18", name);
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
        client.notify("notifications/initialized", json!({}));
        client
    }

    /// Asks to be let in.
    pub fn initialize(&mut self, version: &str, name: &str) -> Value {
        let hello = json!({
            "protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": name, "version": "1"},
        });
        self.ask("initialize", hello)
    }

    /// Sends a line as it is.
    pub fn write(&mut self, line: &str) {
        let pen = self.pen.as_mut().expect("still talking");
        pen.write_all(line.as_bytes()).unwrap();
        pen.write_all(b"\n").unwrap();
        pen.flush().unwrap();
    }

    /// Sends the last of it, without an end of line.
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

    /// The next message, whatever it is.
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

    /// The next line, which holds several messages.
    pub fn hear_several(&mut self) -> Vec<Value> {
        let line = self.lines.recv_timeout(HANGS).expect("the server says something");
        serde_json::from_str(&line).expect("a list of messages")
    }

    /// The answer to a request.
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

    /// The same where it has to succeed.
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params);
        assert_eq!(answer["error"], Value::Null, "{method}");
        answer["result"].take()
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool that has to succeed; all its words.
    pub fn said(&mut self, tool: &str, arguments: Value) -> String {
        let called = self.call(tool, arguments);
        assert!(!called["isError"].as_bool().unwrap_or_default(), "{tool}: {called}");
        words(&called)
    }

    /// The names of the tools.
    pub fn tools(&mut self) -> Vec<String> {
        let listed = self.result("tools/list", json!({}));
        let tools = listed["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Says no more, and waits until the server has ended: how, what else it said, and what it
    /// complained of.
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

/// All words of a tool's answer.
pub fn words(called: &Value) -> String {
    let blocks = called["content"].as_array().unwrap();
    let texts: Vec<&str> = blocks.iter().map(|block| block["text"].as_str().unwrap()).collect();
    texts.join("\n")
}
