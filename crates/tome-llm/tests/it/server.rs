//! A server on loopback that answers one connection after the other from a script.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tome_llm::{ApiKey, Endpoint, Prompt};

/// A key that must never be seen again.
pub const KEY: &str = "sk-very-secret-0123456789";

/// What one connection gets.
pub enum Reply {
    /// Status, headers, body.
    Answer(u16, Vec<(&'static str, &'static str)>, String),
    /// The same body, in chunks.
    Chunked(Vec<String>),
    /// These bytes as they are, and then the end.
    Raw(Vec<u8>),
    /// Nothing at all, for as long as the server lives.
    Silence,
    /// A good head, and then a byte now and then.
    Drip,
    /// A good head, and then bytes without end.
    Flood,
}

/// What a client sent.
#[derive(Debug, Clone)]
pub struct Request {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

pub struct Server {
    pub base_url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    alive: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    address: std::net::SocketAddr,
}

impl Server {
    pub fn start(script: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (alive, gone) = channel();
        let seen = requests.clone();
        let thread = std::thread::spawn(move || {
            for reply in script {
                let Ok((stream, _)) = listener.accept() else { return };
                if gone.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected) {
                    return;
                }
                // A client that hangs up is part of the script.
                let _ = answer(stream, &reply, &seen, &gone);
            }
        });
        Self {
            base_url: format!("http://{address}"),
            requests,
            alive: Some(alive),
            thread: Some(thread),
            address,
        }
    }

    pub fn answering(status: u16, body: impl Into<String>) -> Self {
        Self::start(vec![Reply::Answer(status, Vec::new(), body.into())])
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Where it is, with a key and five seconds.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint {
            base_url: self.base_url.clone(),
            key: Some(ApiKey::new(KEY).unwrap()),
            timeout: Duration::from_secs(5),
            proxy: None,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.alive.take());
        // Ends an `accept` that nobody came for.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn answer(
    stream: TcpStream,
    reply: &Reply,
    seen: &Mutex<Vec<Request>>,
    gone: &Receiver<()>,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let request = read_request(&mut reader)?;
    seen.lock().unwrap().push(request);
    let mut stream = stream;
    match reply {
        Reply::Answer(status, headers, body) => {
            let mut head = format!("HTTP/1.1 {status} Said\r\ncontent-length: {}\r\n", body.len());
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes())
        }
        Reply::Chunked(parts) => {
            let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
            stream.write_all(head.as_bytes())?;
            for part in parts {
                stream.write_all(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes())?;
                stream.flush()?;
            }
            stream.write_all(b"0\r\n\r\n")
        }
        Reply::Raw(bytes) => stream.write_all(bytes),
        Reply::Silence => {
            let _ = gone.recv();
            Ok(())
        }
        Reply::Drip => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")?;
            while gone.recv_timeout(Duration::from_millis(10)) == Err(RecvTimeoutError::Timeout) {
                stream.write_all(b" ")?;
            }
            Ok(())
        }
        Reply::Flood => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
            let part = [b' '; 64 * 1024];
            // Ends when the client hangs up, and at 64 MiB in any case.
            (0..1024).try_for_each(|_| stream.write_all(&part))
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> std::io::Result<Request> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        let (name, value) = header.trim().split_once(": ").unwrap_or((header.trim(), ""));
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Request { line: line.trim().to_owned(), headers, body })
}

/// A prompt to ask.
pub fn prompt() -> Prompt {
    Prompt {
        system: "Summarise.".to_owned(),
        user: "We fixed the parser.".to_owned(),
        tokens_max: 64,
        json: true,
    }
}
