//! Looking at the bytes around a place in a text, without ever leaving it.
//!
//! All that matchers stop at is ASCII, so the ends they find are character boundaries.

/// A text under the eyes of the matchers.
#[derive(Clone, Copy)]
pub(super) struct Scan<'t>(pub(super) &'t str);

impl<'t> Scan<'t> {
    /// How long the text is.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// The byte at a place; 0 beyond the end.
    pub fn byte(self, at: usize) -> u8 {
        self.0.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// The byte before a place; 0 at the start.
    pub fn before(self, at: usize) -> u8 {
        at.checked_sub(1).map_or(0, |before| self.byte(before))
    }

    /// The text between two places; empty unless both are character boundaries in order.
    pub fn part(self, start: usize, end: usize) -> &'t str {
        self.0.get(start..end).unwrap_or_default()
    }

    /// The bytes from a place on.
    pub fn rest(self, at: usize) -> &'t [u8] {
        self.0.as_bytes().get(at..).unwrap_or_default()
    }

    /// Where the run of a class that starts here ends.
    pub fn run(self, from: usize, class: impl Fn(u8) -> bool) -> usize {
        let rest = self.rest(from);
        from + rest.iter().position(|b| !class(*b)).unwrap_or(rest.len())
    }

    /// Where the run of a class that starts here ends, looking ahead at most so far.
    pub fn run_within(self, from: usize, bytes_max: usize, class: impl Fn(u8) -> bool) -> usize {
        let run = self.rest(from).iter().take(bytes_max);
        from + run.take_while(|b| class(**b)).count()
    }

    /// Where the run of a class that ends here starts, looking back at most so far.
    pub fn run_back(self, to: usize, bytes_max: usize, class: impl Fn(u8) -> bool) -> usize {
        let floor = to.saturating_sub(bytes_max);
        let mut start = to;
        while start > floor && class(self.before(start)) {
            start -= 1;
        }
        start
    }

    /// Whether these very bytes stand here.
    pub fn starts(self, at: usize, literal: &str) -> bool {
        self.rest(at).starts_with(literal.as_bytes())
    }

    /// Whether this word stands here in any case.
    pub fn starts_caseless(self, at: usize, word: &str) -> bool {
        self.rest(at)
            .get(..word.len())
            .is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// The first place after spaces and tabs.
    pub fn skip_blanks(self, from: usize) -> usize {
        self.run(from, is_blank)
    }

    /// Whether this is behind a line break or tab as a text inside a text writes it.
    pub fn is_behind_escape(self, at: usize) -> bool {
        let slash = at.checked_sub(2).map_or(0, |place| self.byte(place));
        slash == b'\\' && matches!(self.before(at), b'n' | b'r' | b't')
    }

    /// Whether a word can begin here: what stands before is no letter or digit, or is the letter of
    /// an escaped line break in a text inside a text, or ends a percent escape.
    pub fn is_open(self, at: usize) -> bool {
        let before = self.before(at);
        if !before.is_ascii_alphanumeric() {
            return true;
        }
        let back = |n: usize| at.checked_sub(n).map_or(0, |place| self.byte(place));
        self.is_behind_escape(at)
            || (back(3) == b'%' && back(2).is_ascii_hexdigit() && before.is_ascii_hexdigit())
    }
}

pub(super) fn is_blank(b: u8) -> bool {
    b == b' ' || b == b'\t'
}

pub(super) fn is_quote(b: u8) -> bool {
    matches!(b, b'"' | b'\'' | b'`')
}

/// Bytes of names such as `api_key`, `x-api-key`, `spring.datasource.password`.
pub(super) fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
}

/// Letters, digits, `_` and `-`: what most tokens are made of.
pub(super) fn is_wordlike(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

/// Base64 of either alphabet, padding included.
pub(super) fn is_base64(b: u8) -> bool {
    is_wordlike(b) || matches!(b, b'+' | b'/' | b'=')
}
