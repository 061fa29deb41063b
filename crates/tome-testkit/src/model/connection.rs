//! A connection: reads requests and writes the scripted responses until the client leaves or a
//! response ends the connection.

use std::io::{BufReader, ErrorKind, Result, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::scripted_answer::{AnswerKind, ScriptedAnswer, ScriptedReply, SendOptions, StreamBreak};
use super::{ModelRequest, ServerState, anthropic, lock, openai};

/// Timeout of reads and writes.
const IO_TIMEOUT: Duration = Duration::from_secs(20);
/// Interval at which a waiting server checks whether the client is still connected.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

pub(super) fn serve_connection(stream: &TcpStream, shared: &ServerState) -> Result<()> {
    stream.set_read_timeout(Some(IO_TIMEOUT))?;
    stream.set_write_timeout(Some(IO_TIMEOUT))?;
    // Send every piece by itself, like a model that is still generating.
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while serve_request(stream, &mut reader, shared)? == ConnectionFate::Stays {}
    Ok(())
}

/// Whether the connection stays open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionFate {
    Stays,
    Ends,
}

fn serve_request(
    stream: &TcpStream,
    reader: &mut BufReader<&TcpStream>,
    shared: &ServerState,
) -> Result<ConnectionFate> {
    let request = ModelRequest::read_from(reader)?;
    let mut all = lock(&shared.requests);
    all.push(request.clone());
    let number = all.len();
    // Under the same lock, so that the script follows the order of the recorded requests.
    let answer = (lock(&shared.director))(&request);
    drop(all);
    let written = Connection { stream, shared }.write_answer(&answer, &request, number);
    if written.is_err() && !shared.is_over() {
        *lock(&shared.hung_up) += 1;
    }
    written
}

struct Connection<'a> {
    stream: &'a TcpStream,
    shared: &'a ServerState,
}

impl Connection<'_> {
    fn write_answer(
        &self,
        answer: &ScriptedAnswer,
        request: &ModelRequest,
        number: usize,
    ) -> Result<ConnectionFate> {
        match &answer.kind {
            AnswerKind::Reply(reply) => self.write_reply(reply, answer, request, number),
            AnswerKind::Whole { status, body } => self.write_whole(*status, &answer.headers, body),
            AnswerKind::Chunks(parts) => {
                self.write_head(200, &answer.headers, &[("transfer-encoding", "chunked")])?;
                self.write_pieces(parts.iter().map(String::as_bytes), &answer.way)
            }
            AnswerKind::Raw(bytes) => self.write(bytes).map(|()| ConnectionFate::Ends),
            AnswerKind::Silence => self.wait(Duration::MAX).map(|()| ConnectionFate::Ends),
            AnswerKind::Drip => {
                self.write_head(200, &answer.headers, &[("content-length", "100000")])?;
                while !self.shared.is_over() {
                    self.write(b" ")?;
                    self.wait(POLL_INTERVAL)?;
                }
                Ok(ConnectionFate::Ends)
            }
            AnswerKind::Flood => {
                self.write_head(200, &answer.headers, &[("connection", "close")])?;
                let part = [b' '; 64 * 1024];
                // Ends when the client disconnects, at 128 MiB at the latest.
                (0..2048).try_for_each(|_| self.write(&part))?;
                Ok(ConnectionFate::Ends)
            }
        }
    }

    fn write_reply(
        &self,
        reply: &ScriptedReply,
        answer: &ScriptedAnswer,
        request: &ModelRequest,
        number: usize,
    ) -> Result<ConnectionFate> {
        let model = request.body.get("model").cloned().unwrap_or_default();
        if answer.way.whole || !request.wants_stream() {
            let body = if request.is_anthropic() {
                anthropic::render_message(reply, &model, number)
            } else {
                openai::render_completion(reply, &model, number)
            };
            return self.write_whole(200, &answer.headers, &body.to_string());
        }
        let events = if request.is_anthropic() {
            anthropic::render_events(reply, &model, number)
        } else {
            openai::render_chunks(reply, &request.body, number)
        };
        let framing = [("content-type", "text/event-stream"), ("transfer-encoding", "chunked")];
        self.write_head(200, &answer.headers, &framing)?;
        let Some(bytes) = answer.way.piece_bytes else {
            return self.write_pieces(events.iter().map(String::as_bytes), &answer.way);
        };
        self.write_pieces(events.concat().as_bytes().chunks(bytes), &answer.way)
    }

    fn write_whole(
        &self,
        status: u16,
        headers: &[(String, String)],
        body: &str,
    ) -> Result<ConnectionFate> {
        let length = body.len().to_string();
        let framing = [("content-type", "application/json"), ("content-length", length.as_str())];
        self.write_head(status, headers, &framing)?;
        self.write(body.as_bytes()).map(|()| ConnectionFate::Stays)
    }

    fn write_head(
        &self,
        status: u16,
        own: &[(String, String)],
        framing: &[(&str, &str)],
    ) -> Result<()> {
        let mut head = format!("HTTP/1.1 {status} Said\r\n");
        let own = own.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in framing.iter().copied().chain(own) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        self.write(format!("{head}\r\n").as_bytes())
    }

    fn write_pieces<'p>(
        &self,
        pieces: impl Iterator<Item = &'p [u8]>,
        way: &SendOptions,
    ) -> Result<ConnectionFate> {
        let (breaks_after, breaks) = way.breaks.unzip();
        for (sent, piece) in pieces.enumerate() {
            if Some(sent) == breaks_after {
                if breaks == Some(StreamBreak::Silent) {
                    self.wait(Duration::MAX)?;
                }
                return Ok(ConnectionFate::Ends);
            }
            if let Some(pause) = way.pause {
                self.wait(pause)?;
            }
            let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(piece);
            chunk.extend_from_slice(b"\r\n");
            self.write(&chunk)?;
        }
        self.write(b"0\r\n\r\n").map(|()| ConnectionFate::Stays)
    }

    fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut stream = self.stream;
        stream.write_all(bytes)?;
        stream.flush()
    }

    /// Waits for `time` or until the server ends; fails if the client has disconnected.
    fn wait(&self, time: Duration) -> Result<()> {
        let mut left = time;
        while !left.is_zero() {
            let slice = left.min(POLL_INTERVAL);
            if self.shared.wait_until_over(slice) {
                return Ok(());
            }
            if self.is_disconnected()? {
                return Err(ErrorKind::ConnectionAborted.into());
            }
            left -= slice;
        }
        Ok(())
    }

    fn is_disconnected(&self) -> Result<bool> {
        self.stream.set_nonblocking(true)?;
        let seen = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false)?;
        Ok(match seen {
            Ok(bytes) => bytes == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        })
    }
}
