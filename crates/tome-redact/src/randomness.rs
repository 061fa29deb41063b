//! Distinguishes generated text from text written by a person.
//!
//! People write words: letters of one case in a row, digits at the end, a capital at the start.
//! Generated text switches between lower case, upper case and digits nearly every other character.
//! The measure is therefore how often the class changes between neighboring characters; a change
//! from upper to lower case is not counted, because names are capitalized.

/// Shorter texts cannot be classified.
const BYTES_MIN: usize = 16;

/// Whether a text looks generated.
pub(crate) fn is_random(text: &str) -> bool {
    if text.len() < BYTES_MIN || !text.is_ascii() {
        return false;
    }
    let mut letters = ClassCounts::default();
    let mut before = ByteClass::Other;
    for b in text.bytes() {
        let kind = ByteClass::from_byte(b);
        letters.count(kind);
        let named = before == ByteClass::Upper && kind == ByteClass::Lower;
        if kind != before && !named && kind != ByteClass::Other && before != ByteClass::Other {
            letters.changes += 1;
        }
        before = kind;
    }
    letters.is_random()
}

/// Whether a text consists of 8-4-4-4-12 hexadecimal digits.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => b == b'-' || b == b'_',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Whether a text consists of hexadecimal digits only.
pub(crate) fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Lower,
    Upper,
    Digit,
    Other,
}

impl ByteClass {
    fn from_byte(b: u8) -> Self {
        match b {
            b'a'..=b'z' => Self::Lower,
            b'A'..=b'Z' => Self::Upper,
            b'0'..=b'9' => Self::Digit,
            _ => Self::Other,
        }
    }
}

#[derive(Default)]
struct ClassCounts {
    lower: usize,
    upper: usize,
    digit: usize,
    changes: usize,
}

impl ClassCounts {
    fn count(&mut self, kind: ByteClass) {
        match kind {
            ByteClass::Lower => self.lower += 1,
            ByteClass::Upper => self.upper += 1,
            ByteClass::Digit => self.digit += 1,
            ByteClass::Other => {}
        }
    }

    fn is_random(&self) -> bool {
        let all = self.lower + self.upper + self.digit;
        if all < BYTES_MIN || self.digit == 0 || self.lower + self.upper == 0 {
            return false;
        }
        // For two random characters the probability of a class change is 47 % in hexadecimal, 30 %
        // in base32 and 45 % in base64; hyphenated words with a trailing number stay below 15 %.
        let percent = self.changes * 100 / all;
        percent >= if self.lower == 0 || self.upper == 0 { 18 } else { 24 }
    }
}
