//! What a request gets: a reply of the model in whichever protocol was asked, or something that a
//! server can do to a client.

use std::time::Duration;

use serde_json::Value;

/// One answer. A reply says text and calls tools; how it is sent can be bent afterwards.
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

/// What the model says.
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

/// How a reply is sent.
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
    /// The model says this and is done. It read 100 tokens and said 20, unless told otherwise.
    pub fn text(text: impl Into<String>) -> Self {
        Self::said(vec![SaidPart::Text(text.into())])
    }

    /// The model calls a tool, and says nothing before it.
    pub fn call(name: &str, arguments: &Value) -> Self {
        Self::said(Vec::new()).and_call(name, arguments)
    }

    /// The model calls one more tool.
    #[must_use]
    pub fn and_call(self, name: &str, arguments: &Value) -> Self {
        self.and_call_with(name, &arguments.to_string())
    }

    /// The model calls a tool with arguments that may be anything.
    #[must_use]
    pub fn and_call_with(mut self, name: &str, arguments: &str) -> Self {
        if let Kind::Said(said) = &mut self.kind {
            let (name, arguments) = (name.to_owned(), arguments.to_owned());
            said.parts.push(SaidPart::Call { name, arguments });
        }
        self
    }

    /// The model had no more room for what it wanted to say.
    #[must_use]
    pub fn cut(self) -> Self {
        self.ending(SaidEnd::Cut)
    }

    /// The model does not want to go on.
    #[must_use]
    pub fn refused(self) -> Self {
        self.ending(SaidEnd::Refused)
    }

    /// What it says it cost: tokens read afresh and said.
    #[must_use]
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        if let Kind::Said(said) = &mut self.kind {
            let known = said.tokens.unwrap_or(USUAL);
            said.tokens = Some(Tokens { input, output, ..known });
        }
        self
    }

    /// And what of it came from the cache, and went into it.
    #[must_use]
    pub fn cached(mut self, read: u64, written: u64) -> Self {
        if let Kind::Said(said) = &mut self.kind {
            let known = said.tokens.unwrap_or(USUAL);
            said.tokens = Some(Tokens { cache_read: read, cache_written: written, ..known });
        }
        self
    }

    /// It does not say what it cost.
    #[must_use]
    pub fn uncounted(mut self) -> Self {
        if let Kind::Said(said) = &mut self.kind {
            said.tokens = None;
        }
        self
    }

    /// Sent as plain JSON even if a stream was asked for.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.way.whole = true;
        self
    }

    /// The stream is sent in pieces of so many bytes, wherever that cuts it.
    #[must_use]
    pub fn in_pieces_of(mut self, bytes: usize) -> Self {
        self.way.piece_bytes = Some(bytes.max(1));
        self
    }

    /// So much time passes before each piece of the stream.
    #[must_use]
    pub fn slowly(mut self, pause: Duration) -> Self {
        self.way.pause = Some(pause);
        self
    }

    /// The connection is cut after so many pieces of the stream.
    #[must_use]
    pub fn broken_off_after(mut self, pieces: usize) -> Self {
        self.way.breaks = Some((pieces, Break::Off));
        self
    }

    /// Nothing more comes after so many pieces of the stream, and the connection stays.
    #[must_use]
    pub fn silent_after(mut self, pieces: usize) -> Self {
        self.way.breaks = Some((pieces, Break::Silent));
        self
    }

    /// An error, in a shape that both protocols share.
    pub fn status(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"error": {"type": "scripted", "message": message}});
        Self::http(status, body.to_string())
    }

    /// A status and a body.
    pub fn http(status: u16, body: impl Into<String>) -> Self {
        Self::of(Kind::Whole { status, body: body.into() })
    }

    /// With this header. On answers that have a head of their own making.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A good head, and this body in chunks.
    pub fn chunks<S: Into<String>>(parts: impl IntoIterator<Item = S>) -> Self {
        Self::of(Kind::Chunks(parts.into_iter().map(Into::into).collect()))
    }

    /// These bytes as they are, and then the end of the connection.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(Kind::Raw(bytes.into()))
    }

    /// Nothing at all, for as long as the server lives and the client waits.
    pub fn silence() -> Self {
        Self::of(Kind::Silence)
    }

    /// A good head, and then a byte now and then.
    pub fn drip() -> Self {
        Self::of(Kind::Drip)
    }

    /// A good head, and then bytes without end.
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

/// A text as a stream brings it: word by word.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// Arguments as a stream brings them: in two halves.
pub(super) fn halves(text: &str) -> [String; 2] {
    let middle = text.chars().count() / 2;
    [text.chars().take(middle).collect(), text.chars().skip(middle).collect()]
}

/// Sets a field of an object.
pub(super) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(field.to_owned(), value.into());
    }
}
