//! Conversations over HTTP, independent of the protocol. Replies are streamed or complete.

mod anthropic;
mod draft;
mod openai;
mod sse;
mod wording;

use serde_json::Value;

use self::draft::Draft;
use self::sse::Events;
use crate::http::Http;
use crate::limits::REPLY_BYTES_MAX;
use crate::{ModelFailure, Reply, Stop, Talk};

/// Parses the replies of one protocol.
trait Reader {
    /// Processes the data of one server-sent event.
    fn event(&mut self, data: &[u8], draft: &mut Draft<'_>) -> Result<Flow, ModelFailure>;

    /// Processes a reply that was not streamed.
    fn whole(&mut self, answer: &Value, draft: &mut Draft<'_>) -> Result<(), ModelFailure>;

    /// Whether the endpoint has reported why the reply ended, so that nothing can be missing.
    fn has_end(&self) -> bool;

    /// Builds the response.
    fn reply(self, talk: &Talk, draft: Draft<'_>) -> Result<Reply, ModelFailure>;
}

/// Whether the reply is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    More,
    Over,
}

/// The response body. Its first byte decides: `{` starts a complete reply, anything else a stream.
enum Intake {
    Fresh,
    Streamed(Events),
    Whole(Vec<u8>),
}

fn converse(
    http: &Http,
    sent: (&[(&str, &str)], &Value),
    reader: &mut impl Reader,
    draft: &mut Draft<'_>,
    stop: &Stop,
) -> Result<(), ModelFailure> {
    if stop.is_stopped() {
        return Err(ModelFailure::Stopped);
    }
    let mut stream = http.stream(sent.0, sent.1)?;
    let mut intake = Intake::Fresh;
    loop {
        let bytes = match stream.next(stop) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return intake.end(http, reader, draft),
            // After the end of the reply, a failure no longer matters.
            Err(failure) if failure != ModelFailure::Stopped && reader.has_end() => return Ok(()),
            Err(ModelFailure::Down { said }) if !matches!(intake, Intake::Fresh) => {
                return Err(ModelFailure::BrokenOff { said });
            }
            Err(failure) => return Err(failure),
        };
        if intake.take(&bytes, reader, draft).map_err(|failure| http.without_key(failure))?
            == Flow::Over
        {
            stream.over();
            return Ok(());
        }
    }
}

impl Intake {
    fn take(
        &mut self,
        bytes: &[u8],
        reader: &mut impl Reader,
        draft: &mut Draft<'_>,
    ) -> Result<Flow, ModelFailure> {
        let mut bytes = bytes;
        if matches!(self, Self::Fresh) {
            // Skip leading whitespace and a byte order mark.
            while let [b' ' | b'\r' | b'\n' | b'\t' | 0xEF | 0xBB | 0xBF, rest @ ..] = bytes {
                bytes = rest;
            }
            *self = match bytes.first() {
                None => return Ok(Flow::More),
                Some(b'{') => Self::Whole(Vec::new()),
                Some(_) => Self::Streamed(Events::default()),
            };
        }
        let mut flow = Flow::More;
        match self {
            Self::Fresh => {}
            Self::Whole(whole) if whole.len() + bytes.len() > REPLY_BYTES_MAX => {
                let said = format!("longer than {REPLY_BYTES_MAX} bytes");
                return Err(ModelFailure::Malformed { said });
            }
            Self::Whole(whole) => whole.extend_from_slice(bytes),
            Self::Streamed(events) => events.feed(bytes, &mut |data| {
                if flow == Flow::More {
                    flow = reader.event(data, draft)?;
                }
                Ok(())
            })?,
        }
        Ok(flow)
    }

    /// Processes the end of the body.
    fn end(
        self,
        http: &Http,
        reader: &mut impl Reader,
        draft: &mut Draft<'_>,
    ) -> Result<(), ModelFailure> {
        match self {
            Self::Fresh => Err(ModelFailure::Malformed { said: "it is empty".to_owned() }),
            Self::Whole(whole) => {
                let not_json =
                    |error| ModelFailure::Malformed { said: format!("not JSON: {error}") };
                let answer: Value = serde_json::from_slice(&whole).map_err(not_json)?;
                let read = match crate::sorting::failure_in(&answer) {
                    Some(failure) => Err(failure),
                    None => reader.whole(&answer, draft),
                };
                read.map_err(|failure| http.without_key(failure))
            }
            Self::Streamed(events) => {
                if let Some(rest) = events.rest()
                    && !reader.has_end()
                {
                    // An incomplete event is ignored; the missing end is detected later.
                    let _ = reader.event(&rest, draft);
                }
                Ok(())
            }
        }
    }
}

/// Parses an event's JSON, and returns its error if it contains one.
fn parsed(data: &[u8]) -> Result<Value, ModelFailure> {
    let event: Value = serde_json::from_slice(data).map_err(|error| ModelFailure::Malformed {
        said: format!("an event is not JSON: {error}"),
    })?;
    match crate::sorting::failure_in(&event) {
        Some(failure) => Err(failure),
        None => Ok(event),
    }
}

/// The failure for a stream without an end: the connection was closed, so a retry may help.
fn broken_off() -> ModelFailure {
    ModelFailure::BrokenOff { said: "the connection closed before the end".to_owned() }
}

fn text_at<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or("")
}

#[cfg(test)]
mod splits;
