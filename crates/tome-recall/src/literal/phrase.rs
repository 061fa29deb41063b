//! Finds a phrase with any white space between its words, in linear time (Knuth-Morris-Pratt).

use std::ops::Range;

#[derive(Debug, Clone)]
pub(super) struct PhrasePattern {
    /// Folded, lower case, with single spaces.
    bytes: Vec<u8>,
    /// KMP failure function: per prefix, the length of its longest proper prefix that is also a
    /// suffix.
    failures: Vec<usize>,
}

impl PhrasePattern {
    /// Creates a matcher. The text must be folded, with single spaces.
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
        Self { bytes, failures: falls }
    }

    /// Finds all occurrences in a folded text, from the start.
    pub fn find_occurrences<'a>(
        &'a self,
        text: &'a str,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
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
            fits = advance(&self.bytes, &self.failures, fits, byte);
            if fits < self.bytes.len() {
                return None;
            }
            let end = at + 1;
            Some(self.find_start(bytes, end)..end)
        })
    }

    /// Start of the occurrence that ends at `end`.
    fn find_start(&self, text: &[u8], end: usize) -> usize {
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

/// Length of the matched prefix after one more byte.
fn advance(bytes: &[u8], falls: &[usize], mut fits: usize, byte: u8) -> usize {
    // Occurrences may overlap.
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
