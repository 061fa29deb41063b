//! Minimal HTTP/1.1: a request with a fixed-length or chunked body, and a response that ends with
//! its connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

pub struct Request {
    pub method: String,
    pub path: String,
    pub body: Vec<u8>,
}

/// A response; the status is always 200.
pub enum HttpAnswer {
    Json(String),
    Events(String),
}

/// Reads one request; `None` if the client only connected.
pub fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "transfer-encoding" => chunked = value.to_ascii_lowercase().contains("chunked"),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    if chunked {
        body = chunks(&mut reader)?;
    } else {
        reader.read_exact(&mut body).ok()?;
    }
    Some(Request { method, path, body })
}

fn chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()?;
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk).ok()?;
        if length == 0 {
            return Some(body);
        }
        body.extend(&chunk[..length]);
    }
}

/// Writes a response. Errors are ignored, because the agent may be gone.
pub fn write(stream: &mut TcpStream, method: &str, answer: &HttpAnswer) {
    let (kind, body) = match answer {
        HttpAnswer::Json(body) => ("application/json", body),
        HttpAnswer::Events(body) => ("text/event-stream", body),
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes());
    if method != "HEAD" {
        let _ = stream.write_all(body.as_bytes());
    }
    let _ = stream.flush();
}
