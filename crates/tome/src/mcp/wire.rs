//! Standard input and output as MCP transport: one JSON message per line.
//!
//! Lines that are too long are skipped and answered with an error. The last line counts even
//! without a newline. A separate task writes whole lines, so that cancellation never leaves half a
//! line. When the client stops reading, the server stops reading too, because requests in flight
//! are limited (`in_flight.rs`).

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::batches::{Batches, Outgoing};
use super::in_flight::{InFlight, Share};
use super::limits::{LINE_BYTES_MAX, LINES_WAITING_MAX};
use super::message::{self, Heard, Message};

pub struct Wire<R> {
    input: BufReader<R>,
    /// The incomplete line, kept here because reading may be cancelled and resumed.
    line: Vec<u8>,
    /// The current line is too long; its rest is skipped.
    is_too_long: bool,
    is_open: bool,
    /// A response to send before the next line is read.
    refusal: Option<Line>,
    /// Parsed messages in order, with their size in bytes.
    rest: VecDeque<(Message, usize)>,
    batches: Arc<Batches>,
    in_flight: InFlight,
    /// `None` once closed.
    output: Option<mpsc::Sender<Line>>,
}

/// An output line, and the budget to release after it is written.
struct Line {
    bytes: Vec<u8>,
    _shares: Vec<Share>,
}

impl Line {
    fn of(message: &Value, shares: Vec<Share>) -> Self {
        Self { bytes: format!("{message}\n").into_bytes(), _shares: shares }
    }
}

impl From<Outgoing> for Line {
    fn from(outgoing: Outgoing) -> Self {
        Self::of(&outgoing.message, outgoing.shares)
    }
}

enum Read {
    Line(Vec<u8>),
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin + Send> Wire<R> {
    /// Returns the transport and its writer task, which ends when everything is written.
    pub fn new<W>(input: R, output: W) -> (Self, JoinHandle<()>)
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (lines, waiting) = mpsc::channel(LINES_WAITING_MAX);
        let writing = tokio::spawn(write(output, waiting));
        let wire = Self {
            input: BufReader::new(input),
            line: Vec::new(),
            is_too_long: false,
            is_open: false,
            refusal: None,
            rest: VecDeque::new(),
            batches: Arc::default(),
            in_flight: InFlight::new(),
            output: Some(lines),
        };
        (wire, writing)
    }

    async fn next(&mut self) -> Read {
        let Some(output) = self.output.clone() else { return Read::End };
        tokio::select! {
            () = output.closed() => Read::End,
            read = self.next_line() => read,
        }
    }

    /// Returns the next line without its newline. Cancel-safe.
    async fn next_line(&mut self) -> Read {
        loop {
            let Ok(bytes) = self.input.fill_buf().await else { return Read::End };
            let newline = bytes.iter().position(|byte| *byte == b'\n');
            let part = bytes.get(..newline.unwrap_or(bytes.len())).unwrap_or_default();
            if self.line.len() + part.len() > LINE_BYTES_MAX {
                self.is_too_long = true;
            }
            if self.is_too_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(part);
            }
            let is_end = bytes.is_empty();
            let taken = part.len() + usize::from(newline.is_some());
            self.input.consume(taken);
            if is_end && self.line.is_empty() && !self.is_too_long {
                return Read::End;
            }
            if is_end || newline.is_some() {
                let line = std::mem::take(&mut self.line);
                return match std::mem::take(&mut self.is_too_long) {
                    true => Read::TooLong,
                    false => Read::Line(line),
                };
            }
        }
    }

    /// Tracks session state and cancellations before the server gets a message.
    fn hand_on(&mut self, message: Message) -> Message {
        self.is_open = self.is_open || message::opens(&message);
        if let Some(id) = message::taken_back(&message) {
            // It will not be answered.
            self.in_flight.end(&id);
            self.refusal = self.batches.forget(&id).map(Line::from);
        }
        message
    }

    /// Queues the messages of a batch; their responses are sent together.
    fn take_apart(&mut self, several: Vec<Heard>, bytes: usize) {
        let (mut waiting, mut answers) = (Vec::new(), Vec::new());
        let bytes = bytes / several.len().max(1);
        for heard in several {
            match heard {
                Heard::Message(message) => {
                    waiting.extend(message::request_id(&message));
                    self.rest.push_back((*message, bytes));
                }
                Heard::Refused(answer) => answers.push(answer),
                // Nested batches are rejected by the parser.
                Heard::Nothing | Heard::Several(_) => {}
            }
        }
        let whole = self.batches.begin(waiting, answers);
        self.refusal = whole.map(|whole| Line::of(&whole, Vec::new()));
    }

    /// Returns the next queued message once there is budget for its response; `Some(None)` if there
    /// is none or it was rejected, `None` if the client stopped reading.
    async fn next_message(&mut self) -> Option<Option<Message>> {
        let Some((message, bytes)) = self.rest.front() else { return Some(None) };
        if let Some(id) = message::request_id(message) {
            if self.in_flight.has(&id) {
                self.rest.pop_front();
                let refusal = self.batches.answer(message::id_in_use(&id), None);
                self.refusal = refusal.map(Line::from);
                return Some(None);
            }
            let (output, bytes) = (self.output.clone()?, *bytes);
            let share = tokio::select! {
                () = output.closed() => return None,
                share = self.in_flight.reserve(bytes) => share?,
            };
            self.in_flight.begin(&id, share);
        }
        let (message, _) = self.rest.pop_front()?;
        Some(Some(self.hand_on(message)))
    }

    /// Sends the pending error response, if any. `None` if the client stopped reading.
    async fn refuse(&mut self) -> Option<()> {
        if self.refusal.is_some() {
            let room = self.output.as_ref()?.reserve().await.ok()?;
            if let Some(line) = self.refusal.take() {
                room.send(line);
            }
        }
        Some(())
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleServer> for Wire<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (output, batches) = (self.output.clone(), self.batches.clone());
        let in_flight = self.in_flight.clone();
        async move {
            let output = output.ok_or(io::ErrorKind::NotConnected)?;
            let message = serde_json::to_value(&message)?;
            let share = message.get("id").and_then(|id| in_flight.end(id));
            let Some(outgoing) = batches.answer(message, share) else {
                return Ok(());
            };
            let sent = output.send(Line::from(outgoing)).await;
            sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<Message> {
        loop {
            self.refuse().await?;
            if !self.rest.is_empty() {
                if let Some(message) = self.next_message().await? {
                    return Some(message);
                }
                continue;
            }
            let (heard, bytes) = match self.next().await {
                Read::Line(line) => (message::read(&line, self.is_open), line.len()),
                Read::TooLong => (Heard::Refused(message::too_long(LINE_BYTES_MAX)), 0),
                Read::End => return None,
            };
            match heard {
                Heard::Message(message) => self.rest.push_back((*message, bytes)),
                Heard::Refused(answer) => self.refusal = Some(Line::of(&answer, Vec::new())),
                Heard::Nothing => {}
                Heard::Several(several) => self.take_apart(several, bytes),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output = None;
        Ok(())
    }
}

/// Writes lines until the channel is closed or the client stops reading.
async fn write(mut output: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Line>) {
    while let Some(line) = lines.recv().await {
        if output.write_all(&line.bytes).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}
