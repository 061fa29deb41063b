//! A writer that wraps long lines at their spaces, with a hanging indent.

use std::io::{self, Write};

use crate::layout::display_width;
use crate::output::known_width;

/// Columns before a word that is too long for a line, if lines are indented.
const INDENT_MIN: usize = 2;

/// Wraps every line that is wider than the terminal; the lines that continue it are indented. Styles take
/// no columns. A word that is longer than a line stays whole, so that paths can be copied.
pub struct WrappedWriter<W: Write> {
    out: W,
    indent: usize,
    width: Option<usize>,
    line: Vec<u8>,
}

impl<W: Write> WrappedWriter<W> {
    /// Wraps for the terminal; leaves lines as they are if the output goes elsewhere.
    pub fn new(out: W, indent: usize) -> Self {
        Self::within(out, indent, known_width())
    }

    /// Wraps for this many columns, if they are known.
    pub fn within(out: W, indent: usize, width: Option<usize>) -> Self {
        Self { out, indent, width, line: Vec::new() }
    }

    fn write_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        match (self.width, std::str::from_utf8(&line)) {
            (Some(width), Ok(text)) => {
                self.out.write_all(wrap_styled(text, self.indent, width).as_bytes())
            }
            _ => self.out.write_all(&line),
        }
    }
}

impl<W: Write> Write for WrappedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_line()?;
        self.out.flush()
    }
}

impl<W: Write> Drop for WrappedWriter<W> {
    fn drop(&mut self) {
        // Only an unfinished line is left, and errors were returned before.
        let _ = self.write_line();
    }
}

fn wrap_styled(line: &str, indent: usize, width: usize) -> String {
    let indent = indent.min(width / 2);
    let (mut text, mut used, mut has_word) = (String::new(), 0, false);
    for (i, word) in line.split(' ').enumerate() {
        let columns = styled_width(word);
        // A word that a line of its own would not move to the left stays.
        let gains = has_word && used + 1 > indent;
        if gains && columns > 0 && used + 1 + columns > width {
            // A long path begins further to the left rather than not to fit.
            let indent = indent.min(width.saturating_sub(columns).max(INDENT_MIN));
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            used = indent;
        } else if i > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += columns;
        has_word |= columns > 0;
    }
    text
}

/// Columns of a text without its styles and its newline.
fn styled_width(text: &str) -> usize {
    let mut parts = text.trim_end_matches('\n').split('\u{1b}');
    let first = parts.next().map_or(0, display_width);
    let after_style = |part: &str| part.split_once('m').map_or(0, |(_, rest)| display_width(rest));
    first + parts.map(after_style).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{GREEN, RESET};

    fn wrap(text: &str, width: Option<usize>) -> String {
        let mut out = Vec::new();
        let mut writer = WrappedWriter::within(&mut out, 9, width);
        write!(writer, "{text}").unwrap();
        drop(writer);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn long_lines_hang_below_their_label() {
        let text = format!(
            "daemon   {GREEN}running{RESET} (version 0.1.0, pid 12)\nlast     1 min ago\nrest"
        );
        assert_eq!(wrap(&text, None), text);
        assert_eq!(wrap(&text, Some(80)), text);
        let narrow = format!(
            "daemon   {GREEN}running{RESET} (version\n         0.1.0, pid 12)\nlast     1 min ago\nrest"
        );
        assert_eq!(wrap(&text, Some(30)), narrow);
        assert_eq!(
            wrap("home     /a/path/that/is/long and\n", Some(20)),
            "home     /a/path/that/is/long\n         and\n"
        );
        // A path begins further to the left if it fits there.
        assert_eq!(
            wrap("notes    in Tome's home /a/path/that/is/long\n", Some(26)),
            "notes    in Tome's home\n      /a/path/that/is/long\n"
        );
    }
}
