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

use super::batches::{OutgoingMessage, RequestBatches};
use super::in_flight::{BudgetPermit, InFlight};
use super::limits::{LINE_BYTES_MAX, QUEUED_LINES_MAX};
use super::message::{self, ClientMessage, ParsedLine};

pub struct StdioTransport<R> {
    input: BufReader<R>,
    /// The incomplete line, kept here because reading may be cancelled and resumed.
    line: Vec<u8>,
    /// The current line is too long; its rest is skipped.
    is_too_long: bool,
    is_open: bool,
    /// A response to send before the next line is read.
    refusal: Option<OutputLine>,
    /// Parsed messages in order, with their size in bytes.
    rest: VecDeque<(ClientMessage, usize)>,
    batches: Arc<RequestBatches>,
    in_flight: InFlight,
    /// `None` once closed.
    output: Option<mpsc::Sender<OutputLine>>,
}

/// An output line, and the budget to release after it is written.
struct OutputLine {
    bytes: Vec<u8>,
    _shares: Vec<BudgetPermit>,
}

impl OutputLine {
    fn new(message: &Value, shares: Vec<BudgetPermit>) -> Self {
        Self { bytes: format!("{message}\n").into_bytes(), _shares: shares }
    }
}

impl From<OutgoingMessage> for OutputLine {
    fn from(outgoing: OutgoingMessage) -> Self {
        Self::new(&outgoing.message, outgoing.shares)
    }
}

enum InputLine {
    Line(Vec<u8>),
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin + Send> StdioTransport<R> {
    /// Returns the transport and its writer task, which ends when everything is written.
    pub fn new<W>(input: R, output: W) -> (Self, JoinHandle<()>)
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (lines, waiting) = mpsc::channel(QUEUED_LINES_MAX);
        let writing = tokio::spawn(write_lines(output, waiting));
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

    async fn next_input(&mut self) -> InputLine {
        let Some(output) = self.output.clone() else { return InputLine::End };
        tokio::select! {
            () = output.closed() => InputLine::End,
            read = self.next_line() => read,
        }
    }

    /// Returns the next line without its newline. Cancel-safe.
    async fn next_line(&mut self) -> InputLine {
        loop {
            let Ok(bytes) = self.input.fill_buf().await else { return InputLine::End };
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
                return InputLine::End;
            }
            if is_end || newline.is_some() {
                let line = std::mem::take(&mut self.line);
                return if std::mem::take(&mut self.is_too_long) {
                    InputLine::TooLong
                } else {
                    InputLine::Line(line)
                };
            }
        }
    }

    /// Tracks session state and cancellations before the server gets a message.
    fn track_message(&mut self, message: ClientMessage) -> ClientMessage {
        self.is_open = self.is_open || message::opens_session(&message);
        if let Some(id) = message::cancelled_request_id(&message) {
            // It will not be answered.
            self.in_flight.remove(&id);
            self.refusal = self.batches.cancel_request(&id).map(OutputLine::from);
        }
        message
    }

    /// Queues the messages of a batch; their responses are sent together.
    fn split_batch(&mut self, lines: Vec<ParsedLine>, bytes: usize) {
        let (mut waiting, mut answers) = (Vec::new(), Vec::new());
        let bytes = bytes / lines.len().max(1);
        for parsed in lines {
            match parsed {
                ParsedLine::Message(message) => {
                    waiting.extend(message::request_id(&message));
                    self.rest.push_back((*message, bytes));
                }
                ParsedLine::Rejected(answer) => answers.push(answer),
                // Nested batches are rejected by the parser.
                ParsedLine::Ignored | ParsedLine::Batch(_) => {}
            }
        }
        let batch = self.batches.begin_batch(waiting, answers);
        self.refusal = batch.map(|batch| OutputLine::new(&batch, Vec::new()));
    }

    /// Returns the next queued message once there is budget for its response; `Some(None)` if there
    /// is none or it was rejected, `None` if the client stopped reading.
    async fn next_message(&mut self) -> Option<Option<ClientMessage>> {
        let Some((message, bytes)) = self.rest.front() else { return Some(None) };
        if let Some(id) = message::request_id(message) {
            if self.in_flight.contains(&id) {
                self.rest.pop_front();
                let refusal = self.batches.add_response(message::duplicate_id_error(&id), None);
                self.refusal = refusal.map(OutputLine::from);
                return Some(None);
            }
            let (output, bytes) = (self.output.clone()?, *bytes);
            let share = tokio::select! {
                () = output.closed() => return None,
                share = self.in_flight.reserve(bytes) => share?,
            };
            self.in_flight.insert(&id, share);
        }
        let (message, _) = self.rest.pop_front()?;
        Some(Some(self.track_message(message)))
    }

    /// Sends the pending error response, if any. `None` if the client stopped reading.
    async fn send_rejection(&mut self) -> Option<()> {
        if self.refusal.is_some() {
            let slot = self.output.as_ref()?.reserve().await.ok()?;
            if let Some(line) = self.refusal.take() {
                slot.send(line);
            }
        }
        Some(())
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleServer> for StdioTransport<R> {
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
            let share = message.get("id").and_then(|id| in_flight.remove(id));
            let Some(outgoing) = batches.add_response(message, share) else {
                return Ok(());
            };
            let sent = output.send(OutputLine::from(outgoing)).await;
            sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<ClientMessage> {
        loop {
            self.send_rejection().await?;
            if !self.rest.is_empty() {
                if let Some(message) = self.next_message().await? {
                    return Some(message);
                }
                continue;
            }
            let (parsed, bytes) = match self.next_input().await {
                InputLine::Line(line) => (message::parse_line(&line, self.is_open), line.len()),
                InputLine::TooLong => {
                    (ParsedLine::Rejected(message::line_too_long_error(LINE_BYTES_MAX)), 0)
                }
                InputLine::End => return None,
            };
            match parsed {
                ParsedLine::Message(message) => self.rest.push_back((*message, bytes)),
                ParsedLine::Rejected(answer) => {
                    self.refusal = Some(OutputLine::new(&answer, Vec::new()));
                }
                ParsedLine::Ignored => {}
                ParsedLine::Batch(lines) => self.split_batch(lines, bytes),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output = None;
        Ok(())
    }
}

/// Writes lines until the channel is closed or the client stops reading.
async fn write_lines(mut output: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<OutputLine>) {
    while let Some(line) = lines.recv().await {
        if output.write_all(&line.bytes).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}
