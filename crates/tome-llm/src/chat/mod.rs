//! Conversations over HTTP, independent of the protocol. Replies are streamed or complete.

mod anthropic;
mod builder;
mod openai;
mod sanitize;
mod sse;

use serde_json::Value;

use self::builder::ResponseBuilder;
use self::sse::SseDecoder;
use crate::http::HttpClient;
use crate::limits::REPLY_BYTES_MAX;
use crate::{CancelToken, ChatRequest, ChatResponse, ModelFailure};

/// Parses the replies of one protocol.
trait ResponseParser {
    /// Processes the data of one server-sent event.
    fn process_event(
        &mut self,
        data: &[u8],
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<ReplyState, ModelFailure>;

    /// Processes a reply that was not streamed.
    fn process_body(
        &mut self,
        answer: &Value,
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<(), ModelFailure>;

    /// Whether the endpoint has reported why the reply ended, so that nothing can be missing.
    fn has_ended(&self) -> bool;

    fn into_response(
        self,
        request: &ChatRequest,
        draft: ResponseBuilder<'_>,
    ) -> Result<ChatResponse, ModelFailure>;
}

/// Whether the reply is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyState {
    More,
    Complete,
}

/// The response body. Its first byte decides: `{` starts a complete reply, anything else a stream.
enum ResponseBody {
    Empty,
    Events(SseDecoder),
    Json(Vec<u8>),
}

fn exchange(
    http: &HttpClient,
    sent: (&[(&str, &str)], &Value),
    reader: &mut impl ResponseParser,
    draft: &mut ResponseBuilder<'_>,
    stop: &CancelToken,
) -> Result<(), ModelFailure> {
    if stop.is_cancelled() {
        return Err(ModelFailure::Cancelled);
    }
    let mut stream = http.start_stream(sent.0, sent.1)?;
    let mut intake = ResponseBody::Empty;
    loop {
        let bytes = match stream.next_bytes(stop) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return intake.finish(http, reader, draft),
            // After the end of the reply, a failure no longer matters.
            Err(failure) if failure != ModelFailure::Cancelled && reader.has_ended() => {
                return Ok(());
            }
            Err(ModelFailure::Unreachable { message })
                if !matches!(intake, ResponseBody::Empty) =>
            {
                return Err(ModelFailure::Interrupted { message });
            }
            Err(failure) => return Err(failure),
        };
        if intake.feed(&bytes, reader, draft).map_err(|failure| http.redact_failure(failure))?
            == ReplyState::Complete
        {
            stream.finish();
            return Ok(());
        }
    }
}

impl ResponseBody {
    fn feed(
        &mut self,
        bytes: &[u8],
        reader: &mut impl ResponseParser,
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<ReplyState, ModelFailure> {
        let mut bytes = bytes;
        if matches!(self, Self::Empty) {
            // Skip leading whitespace and a byte order mark.
            while let [b' ' | b'\r' | b'\n' | b'\t' | 0xEF | 0xBB | 0xBF, rest @ ..] = bytes {
                bytes = rest;
            }
            *self = match bytes.first() {
                None => return Ok(ReplyState::More),
                Some(b'{') => Self::Json(Vec::new()),
                Some(_) => Self::Events(SseDecoder::default()),
            };
        }
        let mut flow = ReplyState::More;
        match self {
            Self::Empty => {}
            Self::Json(whole) if whole.len() + bytes.len() > REPLY_BYTES_MAX => {
                let message = format!("longer than {REPLY_BYTES_MAX} bytes");
                return Err(ModelFailure::Malformed { message });
            }
            Self::Json(whole) => whole.extend_from_slice(bytes),
            Self::Events(events) => events.feed(bytes, &mut |data| {
                if flow == ReplyState::More {
                    flow = reader.process_event(data, draft)?;
                }
                Ok(())
            })?,
        }
        Ok(flow)
    }

    /// Processes the end of the body.
    fn finish(
        self,
        http: &HttpClient,
        reader: &mut impl ResponseParser,
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<(), ModelFailure> {
        match self {
            Self::Empty => Err(ModelFailure::Malformed { message: "it is empty".to_owned() }),
            Self::Json(whole) => {
                let not_json =
                    |error| ModelFailure::Malformed { message: format!("not JSON: {error}") };
                let answer: Value = serde_json::from_slice(&whole).map_err(not_json)?;
                let read = match crate::classify::find_failure(&answer) {
                    Some(failure) => Err(failure),
                    None => reader.process_body(&answer, draft),
                };
                read.map_err(|failure| http.redact_failure(failure))
            }
            Self::Events(events) => {
                if let Some(rest) = events.finish()
                    && !reader.has_ended()
                {
                    // An incomplete event is ignored; the missing end is detected later.
                    let _ = reader.process_event(&rest, draft);
                }
                Ok(())
            }
        }
    }
}

/// Parses an event's JSON, and returns its error if it contains one.
fn parse_event(data: &[u8]) -> Result<Value, ModelFailure> {
    let event: Value = serde_json::from_slice(data).map_err(|error| ModelFailure::Malformed {
        message: format!("an event is not JSON: {error}"),
    })?;
    match crate::classify::find_failure(&event) {
        Some(failure) => Err(failure),
        None => Ok(event),
    }
}

/// The failure for a stream without an end: the connection was closed, so a retry may help.
fn interrupted_failure() -> ModelFailure {
    ModelFailure::Interrupted { message: "the connection closed before the end".to_owned() }
}

fn text_at<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or("")
}

#[cfg(test)]
mod splits;
