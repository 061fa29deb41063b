//! A phrase in a text, with any white space between its words. Linear, whatever the two say.

use std::ops::Range;

/// A phrase that is looked for.
#[derive(Debug, Clone)]
pub(super) struct Phrase {
    /// Folded, in lower case, with single spaces.
    bytes: Vec<u8>,
    /// How much of the phrase still fits when the next byte does not: its longest beginning that is
    /// also an end of what has been seen.
    falls: Vec<usize>,
}

impl Phrase {
    /// A phrase, folded already, with single spaces.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes().to_vec();
        let mut falls = Vec::with_capacity(bytes.len());
        let mut fits = 0;
        for (at, byte) in bytes.iter().enumerate() {
            if at > 0 {
                fits = advance(&bytes, &falls, fits, *byte);
            }
            falls.push(fits);
        }
        Self { bytes, falls }
    }

    /// Where it is in a folded text, the first first.
    pub fn places<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut fits = 0;
        let mut was_space = false;
        let bytes = text.as_bytes();
        bytes.iter().enumerate().filter_map(move |(at, byte)| {
            let is_space = is_space(*byte);
            let skipped = is_space && was_space;
            was_space = is_space;
            if skipped || self.bytes.is_empty() {
                return None;
            }
            let byte = if is_space { b' ' } else { byte.to_ascii_lowercase() };
            fits = advance(&self.bytes, &self.falls, fits, byte);
            if fits < self.bytes.len() {
                return None;
            }
            let end = at + 1;
            Some(self.start(bytes, end)..end)
        })
    }

    /// Where it begins that ends here: back over the same bytes.
    fn start(&self, text: &[u8], end: usize) -> usize {
        let mut at = end;
        let before = |at: usize| at.checked_sub(1).and_then(|before| text.get(before));
        for byte in self.bytes.iter().rev() {
            at = at.saturating_sub(1);
            while *byte == b' ' && before(at).is_some_and(|byte| is_space(*byte)) {
                at -= 1;
            }
        }
        at
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// How much of the phrase fits after one more byte.
fn advance(bytes: &[u8], falls: &[usize], mut fits: usize, byte: u8) -> usize {
    // After a whole match the next may begin inside of it.
    loop {
        if bytes.get(fits) == Some(&byte) && fits < bytes.len() {
            return fits + 1;
        }
        match fits.checked_sub(1).and_then(|last| falls.get(last)) {
            Some(fall) => fits = *fall,
            None => return 0,
        }
    }
}
