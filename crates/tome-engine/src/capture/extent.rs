//! Where a value ends: in quotes, in escaped quotes, or without any.

use super::cut::mark_end;
use super::name::Name;
use super::scan::{Scan, is_quote};

/// A value is judged by so much of it. One that turns out to be a secret is cut to its real end;
/// without the limit, a text made of names and no blanks would be walked once for each name.
const JUDGED_BYTES_MAX: usize = 256;
/// Four texts inside each other: more is no quotation.
const SLASHES_MAX: usize = 16;
/// Full stops and brackets behind a value; more of them are part of it.
const TRIMMED_BYTES_MAX: usize = 8;

/// A value in the text.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub start: usize,
    pub end: usize,
    pub quoted: bool,
}

impl Extent {
    /// Where the value really ends, if it was only followed as far as it is judged.
    pub fn end_in(self, scan: Scan<'_>) -> usize {
        if self.quoted || self.end - self.start + 4 < JUDGED_BYTES_MAX {
            return self.end;
        }
        let mut at = self.end;
        while at < scan.len() && !ends_bare(scan, at) {
            at += 1;
        }
        at
    }
}

/// The value that starts here, in quotes or not. None if there is nothing.
pub(super) fn extent(scan: Scan<'_>, start: usize) -> Option<Extent> {
    let after_marks = skip_marks(scan, start);
    if after_marks > start {
        return bare(scan, after_marks);
    }
    let string = skip_string_prefix(scan, start);
    let open = scan.run_within(string, SLASHES_MAX, |b| b == b'\\');
    if is_quote(scan.byte(open)) { quoted(scan, string) } else { bare(scan, start) }
}

fn skip_marks(scan: Scan<'_>, start: usize) -> usize {
    let mut at = start;
    while let Some(end) = mark_end(scan, at) {
        at = end;
    }
    at
}

/// `b"…"`, `r"…"`, `f'…'`, `@"…"`, `r#"…"#`, `"""…"""`.
fn skip_string_prefix(scan: Scan<'_>, start: usize) -> usize {
    let letters = scan.run_within(start, 3, |b| b"bBrRuUfF@L&#".contains(&b));
    let at = if is_quote(scan.byte(letters)) { letters } else { start };
    let quote = scan.byte(at);
    if is_quote(quote) && scan.byte(at + 1) == quote && scan.byte(at + 2) == quote {
        at + 2
    } else {
        at
    }
}

/// A value in quotes, which a text inside a text writes with backslashes before them.
pub(super) fn quoted(scan: Scan<'_>, start: usize) -> Option<Extent> {
    let open = scan.run_within(start, SLASHES_MAX, |b| b == b'\\');
    let quote = scan.byte(open);
    if !is_quote(quote) {
        return None;
    }
    let slashes = open - start;
    let from = skip_marks(scan, open + 1);
    let mut at = from;
    loop {
        at = scan.run(at, |b| b != quote && b != b'\n');
        if scan.byte(at) != quote {
            // Never closed on this line: cut off, or an apostrophe. Its first word is what is left.
            let end = scan.run(from, |b| !b.is_ascii_whitespace());
            let starts = quote != b'\'' && !b"),;]}".contains(&scan.byte(from));
            return starts.then(|| some_extent(from, end, true)).flatten();
        }
        let before = at - scan.run_back(at, at - from, |b| b == b'\\');
        let closes = if slashes == 0 { before.is_multiple_of(2) } else { before <= slashes };
        if closes {
            return some_extent(from, at - before.min(slashes), true);
        }
        at += 1;
    }
}

fn some_extent(start: usize, end: usize, quoted: bool) -> Option<Extent> {
    (start < end).then_some(Extent { start, end, quoted })
}

/// A value without quotes: to the next blank, or to a sign that ends it.
fn bare(scan: Scan<'_>, start: usize) -> Option<Extent> {
    let reach = tome_model::floor_boundary(scan.0, start + JUDGED_BYTES_MAX);
    let mut at = start;
    while at < reach && !ends_bare(scan, at) {
        at += 1;
    }
    let end = if at < reach || at == scan.len() { trim_end(scan, start, at) } else { at };
    some_extent(start, end, false)
}

fn ends_bare(scan: Scan<'_>, at: usize) -> bool {
    let next = scan.byte(at + 1);
    match scan.byte(at) {
        b if b <= b' ' || b == 0x7F => true,
        b'"' | b'\'' | b'`' => {
            !(next.is_ascii_alphanumeric() && scan.before(at).is_ascii_alphanumeric())
        }
        b'\\' => matches!(next, b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u'),
        b'<' => next == b'/',
        b',' | b';' | b'&' => starts_another(scan, at),
        _ => false,
    }
}

/// Whether what follows a `,`, `;` or `&` is not part of the value any more.
fn starts_another(scan: Scan<'_>, sign: usize) -> bool {
    let at = sign + 1;
    let name_end = scan.run_within(at, 64, |b| b.is_ascii_alphanumeric() || b"_-.%[]".contains(&b));
    let ends = |b: u8| {
        b <= b' '
            || matches!(b, b'"' | b'\'' | b'`' | b')' | b']' | b'}' | b'&' | b'\\' | b'$' | b'<')
    };
    let binds = match scan.byte(name_end) {
        b'=' | b':' => true,
        // `&amp;`
        b';' => scan.byte(sign) == b'&',
        _ => false,
    };
    ends(scan.byte(at)) || name_end > at && binds
}

/// A full stop behind a value ends the sentence; a bracket that was not opened in it is not its own.
fn trim_end(scan: Scan<'_>, start: usize, end: usize) -> usize {
    let mut end = end;
    let floor = start.max(end.saturating_sub(TRIMMED_BYTES_MAX));
    while end > floor {
        let text = scan.part(start, end);
        let unopened = |open: char, close: char| {
            text.ends_with(close) && text.matches(close).count() > text.matches(open).count()
        };
        let closes = unopened('(', ')') || unopened('[', ']') || unopened('{', '}');
        let stars = text.ends_with("**") && text.len() > 2 && !text.starts_with('*');
        match scan.before(end) {
            b'.' | b',' | b';' | b':' => end -= 1,
            _ if closes => end -= 1,
            _ if stars => end -= 2,
            _ => return end,
        }
    }
    end
}

/// `Some("…")`, `String::from("…")`: the literal inside what only wraps it.
pub(super) fn wrapped(scan: Scan<'_>, start: usize) -> Option<Extent> {
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
        scan.run_within(start, 64, |b| b.is_ascii_alphanumeric() || b"_.:<> ".contains(&b));
    if scan.byte(callee) != b'(' {
        return None;
    }
    let word = scan.run_back(callee, 32, |b| b.is_ascii_alphanumeric());
    let name = scan.part(word, callee).to_ascii_lowercase();
    WRAPPERS
        .contains(&name.as_str())
        .then(|| quoted(scan, skip_string_prefix(scan, callee + 1)))
        .flatten()
}

/// `password: |` has its value on the next line.
pub(super) fn block_line(scan: Scan<'_>, start: usize) -> Option<usize> {
    if !matches!(scan.byte(start), b'|' | b'>') {
        return None;
    }
    let sign = scan.run(start, |b| b"|>-+".contains(&b));
    let line = scan.run(sign, |b| b.is_ascii_whitespace());
    scan.part(sign, line).contains('\n').then_some(line)
}

/// To this sign, if it stands on the same line.
pub(super) fn until(scan: Scan<'_>, start: usize, close: u8) -> Option<Extent> {
    let end = scan.run_within(start, JUDGED_BYTES_MAX, |b| b != close && b != b'\n');
    let closed = scan.byte(end) == close;
    closed.then(|| some_extent(start, end, false)).flatten()
}

/// `<password>value</password>`.
pub(super) fn element(scan: Scan<'_>, name: &Name<'_>, start: usize) -> Option<Extent> {
    let value = until(scan, start, b'<')?;
    let closes = scan.starts(value.end, "</") && scan.starts(value.end + 2, name.text);
    closes.then_some(value)
}

/// So much of the value as it is judged by.
pub(super) fn judged(scan: Scan<'_>, value: Extent) -> &str {
    let end = value.end.min(value.start + JUDGED_BYTES_MAX);
    scan.part(value.start, tome_model::floor_boundary(scan.0, end))
}
