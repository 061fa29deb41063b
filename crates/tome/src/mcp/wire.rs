//! Standard input and output as MCP's transport: one JSON message a line, nothing else.
//!
//! A line has an end, however long it is; what follows the longest is skipped and answered. The last
//! line counts without its newline too. Output is written by a task of its own, one whole line at a
//! time, so that nothing that is given up halfway leaves half a line. When the client reads no more,
//! the server hears no more.

use std::io;

use rmcp::RoleServer;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::limits::{LINE_BYTES_MAX, LINES_WAITING_MAX};
use super::message::{self, Heard, Message};

/// The client's end of the line.
pub struct Wire<R> {
    input: BufReader<R>,
    /// The line so far. Kept here, because waiting for the rest may be given up and taken up again.
    line: Vec<u8>,
    /// The line has become too long: its rest is skipped.
    is_too_long: bool,
    is_open: bool,
    /// An answer that has to go out before the next line is read.
    refusal: Option<Vec<u8>>,
    /// `None` once it is closed.
    output: Option<mpsc::Sender<Vec<u8>>>,
}

/// What reading came to.
enum Read {
    Line(Vec<u8>),
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin + Send> Wire<R> {
    /// A wire over these, and the task that writes; it ends when everything is written.
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

    /// The next line without its end. Nothing is lost when this is given up while it waits.
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

    /// Sends the answer that waits, if one does. `None` when nobody takes it any more.
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
        let output = self.output.clone();
        async move {
            let output = output.ok_or(io::ErrorKind::NotConnected)?;
            let sent = output.send(as_line(&message)?).await;
            sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<Message> {
        loop {
            self.refuse().await?;
            let heard = match self.next().await {
                Read::Line(line) => message::read(&line, self.is_open),
                Read::TooLong => Heard::Refused(message::too_long(LINE_BYTES_MAX)),
                Read::End => return None,
            };
            match heard {
                Heard::Message(message) => {
                    self.is_open = self.is_open || message::opens(&message);
                    return Some(*message);
                }
                Heard::Refused(answer) => self.refusal = as_line(&answer).ok(),
                Heard::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output = None;
        Ok(())
    }
}

fn as_line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Writes what comes, until nothing can come any more or nobody reads.
async fn write(mut output: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}
