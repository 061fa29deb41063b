//! A streaming response that can be cancelled at any time.
//!
//! A separate thread reads the bytes, because a blocking read cannot be cancelled; the caller polls the
//! token. Cancelling shuts the connection down, which ends the thread. Only a pending DNS lookup or
//! connect delays the thread, but never the caller.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use serde_json::Value;

use crate::http::HttpClient;
use crate::limits::{
    ERROR_BYTES_MAX, LAST_CHUNK_TIMEOUT, STREAM_BYTES_MAX, STREAM_POLL_INTERVAL, STREAM_TIMEOUT,
};
use crate::{CancelToken, ModelFailure, classify};

/// Chunks buffered between the thread and the caller.
const CHUNKS_MAX: usize = 16;
const CHUNK_BYTES_MAX: usize = 16 * 1024;

pub(crate) struct ResponseStream<'h> {
    http: &'h HttpClient,
    /// Used by this stream alone, so that shutting it down affects no other call.
    agent: Option<ureq::Agent>,
    pieces: Receiver<StreamChunk>,
    bytes: u64,
}

/// A message from the reader thread.
enum StreamChunk {
    Bytes(Vec<u8>),
    End,
    Status { status: u16, retry_after: Option<Duration>, body: Vec<u8> },
    Failed(ureq::Error),
}

impl HttpClient {
    /// Sends `body`; [`ResponseStream::next_bytes`] reads the response.
    pub(crate) fn start_stream(
        &self,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<ResponseStream<'_>, ModelFailure> {
        let agent = self.take_agent();
        let request = self.request(&agent, headers);
        let body = body.to_string().into_bytes();
        let (send, pieces) = sync_channel(CHUNKS_MAX);
        std::thread::Builder::new()
            .name("model reply".to_owned())
            .spawn(move || {
                if let Err(error) = read_response(request.send(&body), &send) {
                    // Sending fails if the stream was dropped; then the error is irrelevant.
                    let _ = send.send(StreamChunk::Failed(error));
                }
            })
            .map_err(|error| ModelFailure::Unreachable {
                message: format!("cannot start a thread: {error}"),
            })?;
        Ok(ResponseStream { http: self, agent: Some(agent), pieces, bytes: 0 })
    }
}

impl ResponseStream<'_> {
    /// Returns the next bytes, or `None` at the end of the response.
    pub(crate) fn next_bytes(
        &mut self,
        stop: &CancelToken,
    ) -> Result<Option<Vec<u8>>, ModelFailure> {
        loop {
            if stop.is_cancelled() {
                return Err(ModelFailure::Cancelled);
            }
            match self.pieces.recv_timeout(STREAM_POLL_INTERVAL) {
                Ok(piece) => return self.handle_chunk(piece),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ModelFailure::Unreachable {
                        message: "the reader thread has ended".to_owned(),
                    });
                }
            }
        }
    }

    /// Finishes after a complete reply. If the response ends in time, its connection is kept for reuse.
    pub(crate) fn finish(mut self) {
        if let Ok(StreamChunk::End) = self.pieces.recv_timeout(LAST_CHUNK_TIMEOUT) {
            self.return_agent();
        }
    }

    fn handle_chunk(&mut self, piece: StreamChunk) -> Result<Option<Vec<u8>>, ModelFailure> {
        match piece {
            StreamChunk::Bytes(bytes) => {
                self.bytes = self.bytes.saturating_add(bytes.len() as u64);
                if self.bytes > STREAM_BYTES_MAX {
                    let message = format!("longer than {STREAM_BYTES_MAX} bytes");
                    return Err(ModelFailure::Malformed { message });
                }
                Ok(Some(bytes))
            }
            StreamChunk::End => {
                self.return_agent();
                Ok(None)
            }
            StreamChunk::Status { status, retry_after, body } => {
                Err(self.http.redact_failure(classify::classify_status(status, retry_after, &body)))
            }
            StreamChunk::Failed(ureq::Error::Timeout(ureq::Timeout::Global)) => {
                Err(ModelFailure::TimedOut { after: STREAM_TIMEOUT })
            }
            StreamChunk::Failed(error) => Err(self.http.classify_error(error)),
        }
    }

    fn return_agent(&mut self) {
        if let Some(agent) = self.agent.take() {
            self.http.return_agent(agent);
        }
    }
}

impl Drop for ResponseStream<'_> {
    fn drop(&mut self) {
        if let Some(agent) = self.agent.take() {
            agent.shutdown();
        }
    }
}

fn read_response(
    response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    send: &SyncSender<StreamChunk>,
) -> Result<(), ureq::Error> {
    let mut response = response?;
    let status = response.status().as_u16();
    if !(200..300).contains(&status) {
        let retry_after = classify::parse_retry_after(response.headers());
        // Even if the error's body cannot be read, its status is known.
        let body = response.body_mut().with_config().limit(ERROR_BYTES_MAX).read_to_vec();
        let body = body.unwrap_or_default();
        let _ = send.send(StreamChunk::Status { status, retry_after, body });
        return Ok(());
    }
    let mut reader = response.into_body().into_reader();
    let mut buffer = vec![0; CHUNK_BYTES_MAX];
    loop {
        let count = reader.read(&mut buffer)?;
        let piece = match buffer.get(..count) {
            Some(bytes) if count > 0 => StreamChunk::Bytes(bytes.to_vec()),
            _ => StreamChunk::End,
        };
        let is_last = count == 0;
        if send.send(piece).is_err() || is_last {
            return Ok(());
        }
    }
}
