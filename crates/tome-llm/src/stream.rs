//! A response as it comes in, piece by piece, and given up at once when it is to stop.
//!
//! The bytes are read on a thread of their own, because a read cannot be told to stop; who waits for
//! the bytes looks at the switch. A reply that is given up has its connection shut, which ends the
//! thread; only a look-up of a name or a connect under way is waited out, by the thread alone.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use serde_json::Value;

use crate::http::Http;
use crate::limits::{
    ERROR_BYTES_MAX, LAST_CHUNK_MAX, STREAM_BYTES_MAX, STREAM_LOOK, STREAM_TIME_MAX,
};
use crate::{ModelFailure, Stop, sorting};

/// Pieces that may wait to be taken.
const PIECES_MAX: usize = 16;
const PIECE_BYTES_MAX: usize = 16 * 1024;

/// One response.
pub(crate) struct Stream<'h> {
    http: &'h Http,
    /// Nobody else uses it, so that shutting it ends this call and no other.
    agent: Option<ureq::Agent>,
    pieces: Receiver<Piece>,
    bytes: u64,
}

/// What the thread reports.
enum Piece {
    Bytes(Vec<u8>),
    End,
    Status { status: u16, retry_after: Option<Duration>, body: Vec<u8> },
    Failed(ureq::Error),
}

impl Http {
    /// Sends `body`; what comes back is read by [`Stream::next`].
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
                    // Nobody waits any more: then nobody wants to know.
                    let _ = send.send(Piece::Failed(error));
                }
            })
            .map_err(|error| ModelFailure::Down { said: format!("no thread: {error}") })?;
        Ok(Stream { http: self, agent: Some(agent), pieces, bytes: 0 })
    }
}

impl Stream<'_> {
    /// The next bytes; none when the response is over.
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
                        said: "the reading thread is gone".to_owned(),
                    });
                }
            }
        }
    }

    /// All that is needed has come. The end of the response usually comes with it; if so, the next
    /// call goes over the same connection.
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
        // Whatever became of the body of an error, its status says enough.
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
