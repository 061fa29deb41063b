//! A scripted model over HTTP on loopback, in the protocol of the client: Anthropic's Messages,
//! OpenAI's Responses or Chat Completions, Gemini's streamGenerateContent, each as an event stream.
//! Keeps every request for the test.
//!
//! A request that offers tools takes one step of the script. Others (titles, token counts, model
//! lists) get generic answers. After the end of the script it only says `NOTHING_MORE`.

mod anthropic;
mod chat;
mod gemini;
mod http;
mod responses;
mod script;

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

pub use script::{Call, Step};

/// Reply after the end of the script.
pub const NOTHING_MORE: &str = "Nothing more to say.";

/// A scripted model. Runs until the test process ends.
pub struct Model {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    script: VecDeque<Step>,
    requests: Vec<ModelRequest>,
    /// All requests, for the output of a failing test.
    log: Vec<String>,
}

/// A request that took a step.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    wire: Wire,
    pub body: Value,
}

/// The supported protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    Anthropic,
    Chat,
    Responses,
    Gemini,
}

impl Wire {
    fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        match path {
            "/v1/messages" => Some(Self::Anthropic),
            "/v1/chat/completions" => Some(Self::Chat),
            "/v1/responses" => Some(Self::Responses),
            _ if path.ends_with(":streamGenerateContent") => Some(Self::Gemini),
            _ => None,
        }
    }
}

impl Model {
    /// Listens on a free port and answers until the process ends.
    pub fn new(script: Vec<Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(Mutex::new(State { script: script.into(), ..State::default() }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { address, state }
    }

    /// Base URL without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests that took a step, oldest first.
    pub fn requests(&self) -> Vec<ModelRequest> {
        locked(&self.state).requests.clone()
    }

    /// Steps not taken yet.
    pub fn steps_left(&self) -> usize {
        locked(&self.state).script.len()
    }

    /// The first line of every request.
    pub fn log(&self) -> String {
        locked(&self.state).log.join("\n")
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One connection, one request.
fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let Some(request) = http::read(&mut stream) else { return };
    let answer = answer(&request, state);
    http::write(&mut stream, &request.method, &answer);
}

fn answer(request: &http::Request, state: &Mutex<State>) -> http::HttpAnswer {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let wire = Wire::of(&request.path);
    let tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let mut state = locked(state);
    let line = format!("{} {} ({} bytes)", request.method, request.path, request.body.len());
    state.log.push(line);
    let number = state.log.len();
    let Some(wire) = wire else { return http::HttpAnswer::Json(aside(&request.path)) };
    let step = if tools {
        state.requests.push(ModelRequest { wire, body });
        state.script.pop_front().unwrap_or(Step::Say(NOTHING_MORE))
    } else {
        Step::Say("A title")
    };
    http::HttpAnswer::Events(match wire {
        Wire::Anthropic => anthropic::events(&step, number),
        Wire::Chat => chat::events(&step, number),
        Wire::Responses => responses::events(&step, number),
        Wire::Gemini => gemini::events(&step),
    })
}

/// Answers requests outside the conversation.
fn aside(path: &str) -> String {
    if path.contains("count_tokens") {
        r#"{"input_tokens":100}"#.to_owned()
    } else {
        "{}".to_owned()
    }
}

impl ModelRequest {
    /// All text that the model reads, without the JSON. Gemini CLI escapes angle brackets.
    pub fn text(&self) -> String {
        let mut texts = Vec::new();
        for part in ["system", "instructions", "messages", "input", "contents", "systemInstruction"]
        {
            strings(&self.body[part], &mut texts);
        }
        texts.join("\n").replace("&lt;", "<").replace("&gt;", ">")
    }

    /// Names of the offered tools and of their groups.
    pub fn offered(&self) -> Vec<String> {
        let mut names = Vec::new();
        named(&self.body["tools"], &mut names);
        names
    }

    /// All tool results so far, oldest first.
    pub fn results(&self) -> Vec<String> {
        let results = match self.wire {
            Wire::Anthropic => anthropic::results(&self.body),
            Wire::Chat => chat::results(&self.body),
            Wire::Responses => responses::results(&self.body),
            Wire::Gemini => gemini::results(&self.body),
        };
        let text = |value: &Value| {
            let mut texts = Vec::new();
            strings(value, &mut texts);
            texts.join("\n")
        };
        results.iter().map(text).collect()
    }
}

/// Collects every string in a value.
fn strings(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Collects the names in a list of tools, but not those of parameters.
fn named(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| named(item, into)),
        Value::Object(fields) => {
            into.extend(fields.get("name").and_then(Value::as_str).map(str::to_owned));
            for holder in ["tools", "function", "functionDeclarations"] {
                fields.get(holder).into_iter().for_each(|inner| named(inner, into));
            }
        }
        _ => {}
    }
}
