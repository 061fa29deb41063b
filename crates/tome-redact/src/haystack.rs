//! Bounds-checked access to the bytes around a position.
//!
//! Matchers stop at ASCII bytes only, so the positions they return are character boundaries.

/// The text being searched.
#[derive(Clone, Copy)]
pub(crate) struct Haystack<'t>(pub(crate) &'t str);

impl<'t> Haystack<'t> {
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// The byte at a position; 0 beyond the end.
    pub fn byte_at(self, at: usize) -> u8 {
        work::count(1);
        self.0.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// The byte before a position; 0 at the start.
    pub fn byte_before(self, at: usize) -> u8 {
        at.checked_sub(1).map_or(0, |before| self.byte_at(before))
    }

    /// The text between two positions; empty unless both are character boundaries in order.
    pub fn slice(self, start: usize, end: usize) -> &'t str {
        self.0.get(start..end).unwrap_or_default()
    }

    /// The bytes from a position to the end.
    pub fn bytes_from(self, at: usize) -> &'t [u8] {
        self.0.as_bytes().get(at..).unwrap_or_default()
    }

    /// The last character boundary at or before a position.
    pub fn floor_boundary(self, at: usize) -> usize {
        self.0.floor_char_boundary(at)
    }

    /// The end of the run of bytes of a class that starts here.
    pub fn skip_while(self, from: usize, class: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes_from(from);
        let length = rest.iter().position(|b| !class(*b)).unwrap_or(rest.len());
        work::count(length);
        from + length
    }

    /// The end of the run of bytes of a class that starts here, at most `bytes_max` long.
    pub fn skip_while_within(
        self,
        from: usize,
        bytes_max: usize,
        class: impl Fn(u8) -> bool,
    ) -> usize {
        let run = self.bytes_from(from).iter().take(bytes_max);
        let length = run.take_while(|b| class(**b)).count();
        work::count(length);
        from + length
    }

    /// The start of the run of bytes of a class that ends here, at most `bytes_max` long.
    pub fn skip_back_while(self, to: usize, bytes_max: usize, class: impl Fn(u8) -> bool) -> usize {
        let floor = to.saturating_sub(bytes_max);
        let mut start = to;
        while start > floor && class(self.byte_before(start)) {
            start -= 1;
        }
        start
    }

    /// Whether the text continues with exactly these bytes.
    pub fn starts_with(self, at: usize, literal: &str) -> bool {
        work::count(1);
        self.bytes_from(at).starts_with(literal.as_bytes())
    }

    /// Whether the text continues with these bytes, ignoring ASCII case.
    pub fn starts_with_ignore_case(self, at: usize, word: &str) -> bool {
        work::count(1);
        self.bytes_from(at)
            .get(..word.len())
            .is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Skips spaces and tabs.
    pub fn skip_blanks(self, from: usize) -> usize {
        self.skip_while(from, is_blank)
    }

    /// The end of the line at this position: a line break, real or escaped.
    pub fn find_line_end(self, at: usize) -> usize {
        let mut end = at;
        loop {
            end = self.skip_while(end, |b| b != b'\n' && b != b'\\');
            let escape = matches!(self.byte_at(end + 1), b'n' | b'r');
            if self.byte_at(end) != b'\\' || escape || end >= self.len() {
                return end;
            }
            end += 1;
        }
    }

    /// Whether an escaped line break or tab, such as `\n` in a quoted text, ends here.
    pub fn is_after_escape(self, at: usize) -> bool {
        let slash = at.checked_sub(2).map_or(0, |before| self.byte_at(before));
        slash == b'\\' && matches!(self.byte_before(at), b'n' | b'r' | b't')
    }

    /// Whether a word can begin here: no letter or digit precedes, or the preceding one is part of
    /// an escaped line break or a percent escape.
    pub fn is_word_start(self, at: usize) -> bool {
        let before = self.byte_before(at);
        if !before.is_ascii_alphanumeric() {
            return true;
        }
        let back = |n: usize| at.checked_sub(n).map_or(0, |before| self.byte_at(before));
        self.is_after_escape(at)
            || (back(3) == b'%' && back(2).is_ascii_hexdigit() && before.is_ascii_hexdigit())
    }
}

pub(crate) fn is_blank(b: u8) -> bool {
    b == b' ' || b == b'\t'
}

pub(crate) fn is_quote(b: u8) -> bool {
    matches!(b, b'"' | b'\'' | b'`')
}

/// Bytes of names such as `api_key`, `x-api-key` and `spring.datasource.password`.
pub(crate) fn is_name_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
}

/// Letters, digits, `_` and `-`: the alphabet of most tokens.
pub(crate) fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

/// Base64 of either alphabet, including padding.
pub(crate) fn is_base64_byte(b: u8) -> bool {
    is_word_byte(b) || matches!(b, b'+' | b'/' | b'=')
}

/// Counts the bytes that matchers examine, so that tests can verify linear complexity. A no-op
/// outside tests.
pub(crate) mod work {
    #[cfg(test)]
    thread_local! {
        static BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    #[cfg(test)]
    pub fn count(bytes: usize) {
        BYTES.with(|total| total.set(total.get() + bytes + 1));
    }

    #[cfg(not(test))]
    #[inline]
    pub fn count(_bytes: usize) {}

    /// Returns the count and resets it.
    #[cfg(test)]
    pub fn take() -> usize {
        BYTES.with(|total| total.replace(0))
    }
}
