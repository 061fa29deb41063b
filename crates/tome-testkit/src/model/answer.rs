//! Scripted responses: a model's reply in either protocol, or a misbehaving server.

use std::time::Duration;

use serde_json::Value;

/// A response. A reply has text and tool calls; the methods below change how it is sent.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(super) kind: Kind,
    pub(super) headers: Vec<(String, String)>,
    pub(super) way: Way,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Said(Said),
    Whole { status: u16, body: String },
    Chunks(Vec<String>),
    Raw(Vec<u8>),
    Silence,
    Drip,
    Flood,
}

#[derive(Debug, Clone)]
pub(super) struct Said {
    pub parts: Vec<SaidPart>,
    pub end: SaidEnd,
    pub tokens: Option<Tokens>,
}

#[derive(Debug, Clone)]
pub(super) enum SaidPart {
    Text(String),
    Call { name: String, arguments: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SaidEnd {
    Done,
    Cut,
    Refused,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Tokens {
    pub input: u64,
    pub cache_read: u64,
    pub cache_written: u64,
    pub output: u64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Way {
    pub whole: bool,
    pub piece_bytes: Option<usize>,
    pub pause: Option<Duration>,
    pub breaks: Option<(usize, Break)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    Off,
    Silent,
}

impl Answer {
    /// A text reply. Its usage is 100 input and 20 output tokens unless changed.
    pub fn text(text: impl Into<String>) -> Self {
        Self::said(vec![SaidPart::Text(text.into())])
    }

    /// A tool call without text.
    pub fn call(name: &str, arguments: &Value) -> Self {
        Self::said(Vec::new()).and_call(name, arguments)
    }

    /// Adds a tool call.
    #[must_use]
    pub fn and_call(self, name: &str, arguments: &Value) -> Self {
        self.and_call_with(name, &arguments.to_string())
    }

    /// Adds a tool call with arguments that may be invalid JSON.
    #[must_use]
    pub fn and_call_with(mut self, name: &str, arguments: &str) -> Self {
        if let Kind::Said(said) = &mut self.kind {
            let (name, arguments) = (name.to_owned(), arguments.to_owned());
            said.parts.push(SaidPart::Call { name, arguments });
        }
        self
    }

    /// Ends the reply at the output limit.
    #[must_use]
    pub fn cut(self) -> Self {
        self.ending(SaidEnd::Cut)
    }

    /// Ends the reply with a refusal.
    #[must_use]
    pub fn refused(self) -> Self {
        self.ending(SaidEnd::Refused)
    }

    /// Sets the usage: uncached input and output tokens.
    #[must_use]
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        if let Kind::Said(said) = &mut self.kind {
            let known = said.tokens.unwrap_or(USUAL);
            said.tokens = Some(Tokens { input, output, ..known });
        }
        self
    }

    /// Sets the tokens read from and written to the cache.
    #[must_use]
    pub fn cached(mut self, read: u64, written: u64) -> Self {
        if let Kind::Said(said) = &mut self.kind {
            let known = said.tokens.unwrap_or(USUAL);
            said.tokens = Some(Tokens { cache_read: read, cache_written: written, ..known });
        }
        self
    }

    /// Omits the usage.
    #[must_use]
    pub fn uncounted(mut self) -> Self {
        if let Kind::Said(said) = &mut self.kind {
            said.tokens = None;
        }
        self
    }

    /// Sends plain JSON even if the request asks for a stream.
    #[must_use]
    pub fn whole(mut self) -> Self {
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
        self.way.breaks = Some((pieces, Break::Off));
        self
    }

    /// Stalls after some pieces of the stream, without closing the connection.
    #[must_use]
    pub fn silent_after(mut self, pieces: usize) -> Self {
        self.way.breaks = Some((pieces, Break::Silent));
        self
    }

    /// An error in a form that both protocols share.
    pub fn status(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"error": {"type": "scripted", "message": message}});
        Self::http(status, body.to_string())
    }

    /// A status and a body.
    pub fn http(status: u16, body: impl Into<String>) -> Self {
        Self::of(Kind::Whole { status, body: body.into() })
    }

    /// Adds a header, for responses with a head.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A successful head, and this body in chunks.
    pub fn chunks<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Self {
        Self::of(Kind::Chunks(parts.into_iter().map(Into::into).collect()))
    }

    /// Raw bytes, then the end of the connection.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(Kind::Raw(bytes.into()))
    }

    /// No response, until the server is dropped or the client leaves.
    pub fn silence() -> Self {
        Self::of(Kind::Silence)
    }

    /// A successful head, then a byte at a time.
    pub fn drip() -> Self {
        Self::of(Kind::Drip)
    }

    /// A successful head, then endless bytes.
    pub fn flood() -> Self {
        Self::of(Kind::Flood)
    }

    fn said(parts: Vec<SaidPart>) -> Self {
        Self::of(Kind::Said(Said { parts, end: SaidEnd::Done, tokens: Some(USUAL) }))
    }

    fn of(kind: Kind) -> Self {
        Self { kind, headers: Vec::new(), way: Way::default() }
    }

    fn ending(mut self, end: SaidEnd) -> Self {
        if let Kind::Said(said) = &mut self.kind {
            said.end = end;
        }
        self
    }
}

const USUAL: Tokens = Tokens { input: 100, cache_read: 0, cache_written: 0, output: 20 };

impl Said {
    pub(super) fn calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, SaidPart::Call { .. }))
    }
}

/// Splits text into the words of a stream.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// Splits arguments into the two parts of a stream.
pub(super) fn halves(text: &str) -> [String; 2] {
    let middle = text.chars().count() / 2;
    [text.chars().take(middle).collect(), text.chars().skip(middle).collect()]
}

pub(super) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(field.to_owned(), value.into());
    }
}
