//! A streaming response that can be cancelled at any time.
//!
//! A separate thread reads the bytes, because a blocking read cannot be cancelled; the caller polls the
//! token. Cancelling shuts the connection down, which ends the thread. Only a pending DNS lookup or
//! connect delays the thread, but never the caller.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use serde_json::Value;

use crate::http::Http;
use crate::limits::{
    ERROR_BYTES_MAX, LAST_CHUNK_MAX, STREAM_BYTES_MAX, STREAM_LOOK, STREAM_TIME_MAX,
};
use crate::{ModelFailure, Stop, sorting};

/// Chunks buffered between the thread and the caller.
const PIECES_MAX: usize = 16;
const PIECE_BYTES_MAX: usize = 16 * 1024;

pub(crate) struct Stream<'h> {
    http: &'h Http,
    /// Used by this stream alone, so that shutting it down affects no other call.
    agent: Option<ureq::Agent>,
    pieces: Receiver<Piece>,
    bytes: u64,
}

/// A message from the reader thread.
enum Piece {
    Bytes(Vec<u8>),
    End,
    Status { status: u16, retry_after: Option<Duration>, body: Vec<u8> },
    Failed(ureq::Error),
}

impl Http {
    /// Sends `body`; [`ResponseStream::next_bytes`] reads the response.
    pub(crate) fn stream(
        &self,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<Stream<'_>, ModelFailure> {
        let agent = self.spare_agent();
        let request = self.request(&agent, headers);
        let body = body.to_string().into_bytes();
        let (send, pieces) = sync_channel(PIECES_MAX);
        std::thread::Builder::new()
            .name("model reply".to_owned())
            .spawn(move || {
                if let Err(error) = read(request.send(&body), &send) {
                    // Sending fails if the stream was dropped; then the error is irrelevant.
                    let _ = send.send(Piece::Failed(error));
                }
            })
            .map_err(|error| ModelFailure::Down {
                said: format!("cannot start a thread: {error}"),
            })?;
        Ok(Stream { http: self, agent: Some(agent), pieces, bytes: 0 })
    }
}

impl Stream<'_> {
    /// Returns the next bytes, or `None` at the end of the response.
    pub(crate) fn next(&mut self, stop: &Stop) -> Result<Option<Vec<u8>>, ModelFailure> {
        loop {
            if stop.is_stopped() {
                return Err(ModelFailure::Stopped);
            }
            match self.pieces.recv_timeout(STREAM_LOOK) {
                Ok(piece) => return self.taken(piece),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ModelFailure::Down {
                        said: "the reader thread has ended".to_owned(),
                    });
                }
            }
        }
    }

    /// Finishes after a complete reply. If the response ends in time, its connection is kept for reuse.
    pub(crate) fn over(mut self) {
        if let Ok(Piece::End) = self.pieces.recv_timeout(LAST_CHUNK_MAX) {
            self.keep_agent();
        }
    }

    fn taken(&mut self, piece: Piece) -> Result<Option<Vec<u8>>, ModelFailure> {
        match piece {
            Piece::Bytes(bytes) => {
                self.bytes = self.bytes.saturating_add(bytes.len() as u64);
                if self.bytes > STREAM_BYTES_MAX {
                    let said = format!("longer than {STREAM_BYTES_MAX} bytes");
                    return Err(ModelFailure::Malformed { said });
                }
                Ok(Some(bytes))
            }
            Piece::End => {
                self.keep_agent();
                Ok(None)
            }
            Piece::Status { status, retry_after, body } => {
                Err(self.http.without_key(sorting::failure_of(status, retry_after, &body)))
            }
            Piece::Failed(ureq::Error::Timeout(ureq::Timeout::Global)) => {
                Err(ModelFailure::TimedOut { after: STREAM_TIME_MAX })
            }
            Piece::Failed(error) => Err(self.http.failed(error)),
        }
    }

    fn keep_agent(&mut self) {
        if let Some(agent) = self.agent.take() {
            self.http.keep_spare(agent);
        }
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        if let Some(agent) = self.agent.take() {
            agent.shutdown();
        }
    }
}

fn read(
    response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    send: &SyncSender<Piece>,
) -> Result<(), ureq::Error> {
    let mut response = response?;
    let status = response.status().as_u16();
    if !(200..300).contains(&status) {
        let retry_after = sorting::retry_after(response.headers());
        // Even if the error's body cannot be read, its status is known.
        let body = response.body_mut().with_config().limit(ERROR_BYTES_MAX).read_to_vec();
        let body = body.unwrap_or_default();
        let _ = send.send(Piece::Status { status, retry_after, body });
        return Ok(());
    }
    let mut reader = response.into_body().into_reader();
    let mut buffer = vec![0; PIECE_BYTES_MAX];
    loop {
        let count = reader.read(&mut buffer)?;
        let piece = match buffer.get(..count) {
            Some(bytes) if count > 0 => Piece::Bytes(bytes.to_vec()),
            _ => Piece::End,
        };
        let is_last = count == 0;
        if send.send(piece).is_err() || is_last {
            return Ok(());
        }
    }
}
