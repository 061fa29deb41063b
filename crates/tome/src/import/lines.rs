//! Reads a file line by line. Lines longer than any record are skipped and reported, so that memory
//! stays bounded.

use std::io::{self, BufRead, BufReader, Read};

/// A longer line is not a record.
pub const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

const READ_BUFFER_BYTES: usize = 256 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub struct TranscriptLine<'a> {
    /// One-based.
    pub number: u64,
    /// Byte offset in the file.
    pub offset: u64,
    /// Without the newline; empty if too long.
    pub bytes: &'a [u8],
    /// With the newline.
    pub length: u64,
    /// Whether a newline ends it. The last line of a file in progress may have none.
    pub is_ended: bool,
    pub is_too_long: bool,
}

pub struct LineReader<R> {
    input: BufReader<R>,
    buffer: Vec<u8>,
    number: u64,
    offset: u64,
}

impl<R: Read> LineReader<R> {
    pub fn new(input: R) -> Self {
        let input = BufReader::with_capacity(READ_BUFFER_BYTES, input);
        Self { input, buffer: Vec::new(), number: 0, offset: 0 }
    }

    /// Returns the next line that is not blank.
    pub fn next_line(&mut self) -> io::Result<Option<TranscriptLine<'_>>> {
        loop {
            let (offset, length, is_too_long) = match self.read_line()? {
                0 => return Ok(None),
                length if length > LINE_BYTES_MAX => (self.offset, length, true),
                length => (self.offset, length, false),
            };
            self.number += 1;
            self.offset += length;
            let is_blank = self.buffer.trim_ascii().is_empty();
            if is_blank && !is_too_long {
                continue;
            }
            let is_ended = is_too_long || self.buffer.last() == Some(&b'\n');
            if is_too_long {
                self.buffer = Vec::new();
            }
            let bytes = self.buffer.trim_ascii();
            let number = self.number;
            return Ok(Some(TranscriptLine {
                number,
                offset,
                bytes,
                length,
                is_ended,
                is_too_long,
            }));
        }
    }

    /// Reads up to the next newline. Returns the number of bytes read, which may exceed the number
    /// kept.
    fn read_line(&mut self) -> io::Result<u64> {
        self.buffer.clear();
        let mut length =
            (&mut self.input).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut self.buffer)? as u64;
        if length <= LINE_BYTES_MAX {
            return Ok(length);
        }
        while self.buffer.last() != Some(&b'\n') {
            self.buffer.clear();
            let more = (&mut self.input)
                .take(READ_BUFFER_BYTES as u64)
                .read_until(b'\n', &mut self.buffer)? as u64;
            if more == 0 {
                break;
            }
            length += more;
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<(u64, u64, String, bool)> {
        let mut lines = LineReader::new(text);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            let text = String::from_utf8_lossy(line.bytes).into_owned();
            found.push((line.number, line.offset, text, line.is_ended));
        }
        found
    }

    #[test]
    fn lines_are_numbered_and_blank_lines_skipped() {
        let found = lines(b"a\r\n\n  \nbc\nd");
        let expected = [(1, 0, "a", true), (4, 7, "bc", true), (5, 10, "d", false)];
        assert_eq!(found, expected.map(|(n, at, text, ended)| (n, at, text.to_owned(), ended)));
        assert_eq!(lines(b""), []);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let long = io::repeat(b'x').take(LINE_BYTES_MAX + 5_000_000);
        let mut lines = LineReader::new(long.chain(&b"\nnext\n"[..]));
        let first = lines.next_line().unwrap().unwrap();
        assert!(first.is_too_long && first.bytes.is_empty());
        let next = lines.next_line().unwrap().unwrap();
        assert_eq!((next.number, next.bytes), (2, &b"next"[..]));
    }
}
