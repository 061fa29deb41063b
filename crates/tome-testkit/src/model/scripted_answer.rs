//! Scripted responses: a model's reply in either protocol, or a misbehaving server.

use std::time::Duration;

use serde_json::Value;

/// A response. A reply has text and tool calls; the methods below change how it is sent.
#[derive(Debug, Clone)]
pub struct ScriptedAnswer {
    pub(super) kind: AnswerKind,
    pub(super) headers: Vec<(String, String)>,
    pub(super) way: SendOptions,
}

#[derive(Debug, Clone)]
pub(super) enum AnswerKind {
    Reply(ScriptedReply),
    Whole { status: u16, body: String },
    Chunks(Vec<String>),
    Raw(Vec<u8>),
    Silence,
    Drip,
    Flood,
}

#[derive(Debug, Clone)]
pub(super) struct ScriptedReply {
    pub parts: Vec<ReplyPart>,
    pub end: ReplyEnd,
    pub tokens: Option<ReplyUsage>,
}

#[derive(Debug, Clone)]
pub(super) enum ReplyPart {
    Text(String),
    Call { name: String, arguments: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyEnd {
    Done,
    Cut,
    Refused,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ReplyUsage {
    pub input: u64,
    pub cache_read: u64,
    pub cache_written: u64,
    pub output: u64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct SendOptions {
    pub whole: bool,
    pub piece_bytes: Option<usize>,
    pub pause: Option<Duration>,
    pub breaks: Option<(usize, StreamBreak)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamBreak {
    Off,
    Silent,
}

impl ScriptedAnswer {
    /// A text reply. Its usage is 100 input and 20 output tokens unless changed.
    pub fn text(text: impl Into<String>) -> Self {
        Self::from_parts(vec![ReplyPart::Text(text.into())])
    }

    /// A tool call without text.
    pub fn call(name: &str, arguments: &Value) -> Self {
        Self::from_parts(Vec::new()).and_call(name, arguments)
    }

    /// Adds a tool call.
    #[must_use]
    pub fn and_call(self, name: &str, arguments: &Value) -> Self {
        self.and_call_with(name, &arguments.to_string())
    }

    /// Adds a tool call with arguments that may be invalid JSON.
    #[must_use]
    pub fn and_call_with(mut self, name: &str, arguments: &str) -> Self {
        if let AnswerKind::Reply(reply) = &mut self.kind {
            let (name, arguments) = (name.to_owned(), arguments.to_owned());
            reply.parts.push(ReplyPart::Call { name, arguments });
        }
        self
    }

    /// Ends the reply at the output limit.
    #[must_use]
    pub fn cut_off(self) -> Self {
        self.with_end(ReplyEnd::Cut)
    }

    /// Ends the reply with a refusal.
    #[must_use]
    pub fn refused(self) -> Self {
        self.with_end(ReplyEnd::Refused)
    }

    /// Sets the usage: uncached input and output tokens.
    #[must_use]
    pub fn with_tokens(mut self, input: u64, output: u64) -> Self {
        if let AnswerKind::Reply(reply) = &mut self.kind {
            let known = reply.tokens.unwrap_or(DEFAULT_USAGE);
            reply.tokens = Some(ReplyUsage { input, output, ..known });
        }
        self
    }

    /// Sets the tokens read from and written to the cache.
    #[must_use]
    pub fn with_cached(mut self, read: u64, written: u64) -> Self {
        if let AnswerKind::Reply(reply) = &mut self.kind {
            let known = reply.tokens.unwrap_or(DEFAULT_USAGE);
            reply.tokens = Some(ReplyUsage { cache_read: read, cache_written: written, ..known });
        }
        self
    }

    /// Omits the usage.
    #[must_use]
    pub fn without_usage(mut self) -> Self {
        if let AnswerKind::Reply(reply) = &mut self.kind {
            reply.tokens = None;
        }
        self
    }

    /// Sends plain JSON even if the request asks for a stream.
    #[must_use]
    pub fn unstreamed(mut self) -> Self {
        self.way.whole = true;
        self
    }

    /// Sends the stream in pieces of `bytes` bytes, wherever that cuts it.
    #[must_use]
    pub fn in_pieces_of(mut self, bytes: usize) -> Self {
        self.way.piece_bytes = Some(bytes.max(1));
        self
    }

    /// Waits before each piece of the stream.
    #[must_use]
    pub fn slowly(mut self, pause: Duration) -> Self {
        self.way.pause = Some(pause);
        self
    }

    /// Closes the connection after some pieces of the stream.
    #[must_use]
    pub fn broken_off_after(mut self, pieces: usize) -> Self {
        self.way.breaks = Some((pieces, StreamBreak::Off));
        self
    }

    /// Stalls after some pieces of the stream, without closing the connection.
    #[must_use]
    pub fn silent_after(mut self, pieces: usize) -> Self {
        self.way.breaks = Some((pieces, StreamBreak::Silent));
        self
    }

    /// An error in a form that both protocols share.
    pub fn status(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"error": {"type": "scripted", "message": message}});
        Self::http(status, body.to_string())
    }

    /// A status and a body.
    pub fn http(status: u16, body: impl Into<String>) -> Self {
        Self::from_kind(AnswerKind::Whole { status, body: body.into() })
    }

    /// Adds a header, for responses with a head.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A successful head, and this body in chunks.
    pub fn chunks<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Self {
        Self::from_kind(AnswerKind::Chunks(parts.into_iter().map(Into::into).collect()))
    }

    /// Raw bytes, then the end of the connection.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::from_kind(AnswerKind::Raw(bytes.into()))
    }

    /// No response, until the server is dropped or the client leaves.
    pub fn silence() -> Self {
        Self::from_kind(AnswerKind::Silence)
    }

    /// A successful head, then a byte at a time.
    pub fn drip() -> Self {
        Self::from_kind(AnswerKind::Drip)
    }

    /// A successful head, then endless bytes.
    pub fn flood() -> Self {
        Self::from_kind(AnswerKind::Flood)
    }

    fn from_parts(parts: Vec<ReplyPart>) -> Self {
        Self::from_kind(AnswerKind::Reply(ScriptedReply {
            parts,
            end: ReplyEnd::Done,
            tokens: Some(DEFAULT_USAGE),
        }))
    }

    fn from_kind(kind: AnswerKind) -> Self {
        Self { kind, headers: Vec::new(), way: SendOptions::default() }
    }

    fn with_end(mut self, end: ReplyEnd) -> Self {
        if let AnswerKind::Reply(reply) = &mut self.kind {
            reply.end = end;
        }
        self
    }
}

const DEFAULT_USAGE: ReplyUsage =
    ReplyUsage { input: 100, cache_read: 0, cache_written: 0, output: 20 };

impl ScriptedReply {
    pub(super) fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, ReplyPart::Call { .. }))
    }
}

/// Splits text into the words of a stream.
pub(super) fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// Splits arguments into the two parts of a stream.
pub(super) fn split_in_half(text: &str) -> [String; 2] {
    let middle = text.chars().count() / 2;
    [text.chars().take(middle).collect(), text.chars().skip(middle).collect()]
}

pub(super) fn set_field(object: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(field.to_owned(), value.into());
    }
}
