//! Requests of a client: request line, headers and JSON body.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

use serde_json::Value;

/// Limits of a request.
const BODY_BYTES_MAX: u64 = 32 * 1024 * 1024;
const HEAD_BYTES_MAX: u64 = 64 * 1024;

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// `POST /v1/messages HTTP/1.1`.
    pub line: String,
    /// Lowercase names.
    pub headers: Vec<(String, String)>,
    /// The body; null if it is not JSON.
    pub body: Value,
}

impl ModelRequest {
    /// Returns a header by its lowercase name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether the client asks for a stream.
    pub fn wants_stream(&self) -> bool {
        self.body.get("stream").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Whether the path belongs to Anthropic's protocol.
    pub fn is_anthropic(&self) -> bool {
        self.line.split(' ').nth(1).is_some_and(|path| path.ends_with("/messages"))
    }

    pub(super) fn read_from(reader: &mut impl BufRead) -> Result<Self> {
        let mut head = reader.take(HEAD_BYTES_MAX);
        let mut line = String::new();
        if head.read_line(&mut line)? == 0 {
            return Err(Error::from(ErrorKind::UnexpectedEof));
        }
        let mut headers = Vec::new();
        loop {
            let mut header = String::new();
            if head.read_line(&mut header)? == 0 || header.trim().is_empty() {
                break;
            }
            let (name, value) = header.trim().split_once(':').unwrap_or((header.trim(), ""));
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let request = Self { line: line.trim().to_owned(), headers, body: Value::Null };
        let length: u64 =
            request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
        let mut body = Vec::new();
        reader.take(length.min(BODY_BYTES_MAX)).read_to_end(&mut body)?;
        Ok(Self { body: serde_json::from_slice(&body).unwrap_or_default(), ..request })
    }
}
