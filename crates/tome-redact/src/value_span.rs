//! Finds the end of a value: in quotes, in escaped quotes, or unquoted.

use super::cut::find_mark_end;
use super::haystack::{Haystack, is_quote};
use super::name::SecretName;

/// Bytes of a value that are examined; a secret is cut to its real end. Without the limit, a text
/// of names without blanks would be scanned once per name.
const VALUE_EXAMINED_BYTES_MAX: usize = 256;
/// The same for a quoted value, which may contain blanks.
const QUOTED_BYTES_MAX: usize = 4096;
/// Backslashes before a quote, enough for four levels of nesting.
const SLASHES_MAX: usize = 16;
/// Trailing full stops and brackets; more of them are part of the value.
const TRIMMED_BYTES_MAX: usize = 8;

#[derive(Clone, Copy)]
pub(crate) struct ValueSpan {
    pub start: usize,
    pub end: usize,
    pub quoted: bool,
}

impl ValueSpan {
    /// The real end of the value; `end` is limited to the examined bytes.
    pub fn find_real_end(self, hay: Haystack<'_>) -> usize {
        if self.quoted {
            if self.end - self.start + 4 < QUOTED_BYTES_MAX {
                return self.end;
            }
            let quote = hay.byte_before(self.start);
            return hay.skip_while(self.end, |b| b != quote && b != b'\n');
        }
        if self.end - self.start + 4 < VALUE_EXAMINED_BYTES_MAX {
            return self.end;
        }
        let mut at = self.end;
        while at < hay.len() && !is_unquoted_end(hay, at) {
            at += 1;
        }
        at
    }
}

/// The value that starts here, quoted or not; `None` if it is empty.
pub(crate) fn find_value(hay: Haystack<'_>, start: usize) -> Option<ValueSpan> {
    let after_marks = skip_marks(hay, start);
    if after_marks > start {
        return find_unquoted(hay, after_marks);
    }
    let string = skip_string_prefix(hay, start);
    let open = hay.skip_while_within(string, SLASHES_MAX, |b| b == b'\\');
    if is_quote(hay.byte_at(open)) { find_quoted(hay, string) } else { find_unquoted(hay, start) }
}

fn skip_marks(hay: Haystack<'_>, start: usize) -> usize {
    let mut at = start;
    while let Some(end) = find_mark_end(hay, at) {
        at = end;
    }
    at
}

/// `b"…"`, `r"…"`, `f'…'`, `@"…"`, `r#"…"#`, `"""…"""`.
fn skip_string_prefix(hay: Haystack<'_>, start: usize) -> usize {
    let letters = hay.skip_while_within(start, 3, |b| b"bBrRuUfF@L&#".contains(&b));
    let at = if is_quote(hay.byte_at(letters)) { letters } else { start };
    let quote = hay.byte_at(at);
    if is_quote(quote) && hay.byte_at(at + 1) == quote && hay.byte_at(at + 2) == quote {
        at + 2
    } else {
        at
    }
}

/// A quoted value; inside another string its quotes are escaped.
pub(crate) fn find_quoted(hay: Haystack<'_>, start: usize) -> Option<ValueSpan> {
    let open = hay.skip_while_within(start, SLASHES_MAX, |b| b == b'\\');
    let quote = hay.byte_at(open);
    if !is_quote(quote) {
        return None;
    }
    let slashes = open - start;
    let from = skip_marks(hay, open + 1);
    let mut at = from;
    let reach = hay.floor_boundary(from.saturating_add(QUOTED_BYTES_MAX));
    loop {
        at = hay.skip_while_within(at, reach.saturating_sub(at), |b| b != quote && b != b'\n');
        if at >= reach && reach < hay.len() {
            return non_empty_span(from, reach, true);
        }
        if hay.byte_at(at) != quote {
            // Not closed on this line: truncated, or an apostrophe. Use its first word.
            let end = hay.skip_while_within(from, QUOTED_BYTES_MAX, |b| !b.is_ascii_whitespace());
            let end = hay.floor_boundary(end);
            let starts = quote != b'\'' && !b"),;]}".contains(&hay.byte_at(from));
            return starts.then(|| non_empty_span(from, end, true)).flatten();
        }
        let before = at - hay.skip_back_while(at, at - from, |b| b == b'\\');
        let closes = if slashes == 0 { before.is_multiple_of(2) } else { before <= slashes };
        if closes {
            return non_empty_span(from, at - before.min(slashes), true);
        }
        at += 1;
    }
}

fn non_empty_span(start: usize, end: usize, quoted: bool) -> Option<ValueSpan> {
    (start < end).then_some(ValueSpan { start, end, quoted })
}

/// An unquoted value: up to whitespace or a delimiter.
fn find_unquoted(hay: Haystack<'_>, start: usize) -> Option<ValueSpan> {
    let reach = hay.floor_boundary(start + VALUE_EXAMINED_BYTES_MAX);
    let mut at = start;
    while at < reach && !is_unquoted_end(hay, at) {
        at += 1;
    }
    let end = if at < reach || at == hay.len() { trim_value_end(hay, start, at) } else { at };
    non_empty_span(start, end, false)
}

fn is_unquoted_end(hay: Haystack<'_>, at: usize) -> bool {
    let next = hay.byte_at(at + 1);
    match hay.byte_at(at) {
        b if b <= b' ' || b == 0x7F => true,
        b'"' | b'\'' | b'`' => {
            !(next.is_ascii_alphanumeric() && hay.byte_before(at).is_ascii_alphanumeric())
        }
        b'\\' => matches!(next, b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u'),
        b'<' => next == b'/',
        b',' | b';' | b'&' => ends_value(hay, at),
        _ => false,
    }
}

/// Whether a `,`, `;` or `&` ends the value.
fn ends_value(hay: Haystack<'_>, sign: usize) -> bool {
    let at = sign + 1;
    let name_end =
        hay.skip_while_within(at, 64, |b| b.is_ascii_alphanumeric() || b"_-.%[]".contains(&b));
    let ends = |b: u8| {
        b <= b' '
            || matches!(b, b'"' | b'\'' | b'`' | b')' | b']' | b'}' | b'&' | b'\\' | b'$' | b'<')
    };
    let binds = match hay.byte_at(name_end) {
        b'=' | b':' => true,
        // `&amp;`
        b';' => hay.byte_at(sign) == b'&',
        _ => false,
    };
    ends(hay.byte_at(at)) || name_end > at && binds
}

/// Strips trailing punctuation and unbalanced closing brackets.
fn trim_value_end(hay: Haystack<'_>, start: usize, end: usize) -> usize {
    let mut end = end;
    let floor = start.max(end.saturating_sub(TRIMMED_BYTES_MAX));
    while end > floor {
        let text = hay.slice(start, end);
        let unopened = |open: char, close: char| {
            text.ends_with(close) && text.matches(close).count() > text.matches(open).count()
        };
        let closes = unopened('(', ')') || unopened('[', ']') || unopened('{', '}');
        let stars = text.ends_with("**") && text.len() > 2 && !text.starts_with('*');
        match hay.byte_before(end) {
            b'.' | b',' | b';' | b':' => end -= 1,
            _ if closes => end -= 1,
            _ if stars => end -= 2,
            _ => return end,
        }
    }
    end
}

/// `Some("…")`, `String::from("…")`: the literal inside a wrapper.
pub(crate) fn find_wrapped_literal(hay: Haystack<'_>, start: usize) -> Option<ValueSpan> {
    const WRAPPERS: &[&str] = &[
        "from",
        "new",
        "some",
        "ok",
        "secret",
        "secretstr",
        "string",
        "bytes",
        "securestring",
        "str",
    ];
    let callee =
        hay.skip_while_within(start, 64, |b| b.is_ascii_alphanumeric() || b"_.:<> ".contains(&b));
    if hay.byte_at(callee) != b'(' {
        return None;
    }
    let word = hay.skip_back_while(callee, 32, |b| b.is_ascii_alphanumeric());
    let name = hay.slice(word, callee).to_ascii_lowercase();
    WRAPPERS
        .contains(&name.as_str())
        .then(|| find_quoted(hay, skip_string_prefix(hay, callee + 1)))
        .flatten()
}

/// `password: |`: the value is on the next line.
pub(crate) fn find_block_scalar(hay: Haystack<'_>, start: usize) -> Option<usize> {
    if !matches!(hay.byte_at(start), b'|' | b'>') {
        return None;
    }
    let sign = hay.skip_while(start, |b| b"|>-+".contains(&b));
    let line = hay.skip_while(sign, |b| b.is_ascii_whitespace());
    hay.slice(sign, line).contains('\n').then_some(line)
}

/// The value up to this byte on the same line.
pub(crate) fn find_until(hay: Haystack<'_>, start: usize, close: u8) -> Option<ValueSpan> {
    let end = hay.skip_while_within(start, VALUE_EXAMINED_BYTES_MAX, |b| b != close && b != b'\n');
    let closed = hay.byte_at(end) == close;
    closed.then(|| non_empty_span(start, end, false)).flatten()
}

/// `<password>value</password>`.
pub(crate) fn find_element_text(
    hay: Haystack<'_>,
    name: &SecretName<'_>,
    start: usize,
) -> Option<ValueSpan> {
    let value = find_until(hay, start, b'<')?;
    let closes = hay.starts_with(value.end, "</") && hay.starts_with(value.end + 2, name.text);
    closes.then_some(value)
}

/// The part of the value that is examined.
pub(crate) fn examined_text(hay: Haystack<'_>, value: ValueSpan) -> &str {
    let end = value.end.min(value.start + VALUE_EXAMINED_BYTES_MAX);
    hay.slice(value.start, hay.floor_boundary(end))
}
