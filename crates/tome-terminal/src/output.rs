//! All terminal output passes through here, and through `neutralize_controls`.
//!
//! Recorded text is untrusted: an escape sequence in a tool name, path or title could set the clipboard (OSC
//! 52), overwrite earlier output or hide text. Only the styles that Tome itself prints pass; every other
//! control character becomes `U+FFFD`.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Stderr, StderrLock, Stdout, StdoutLock, Write};
use std::sync::OnceLock;

use anstream::AutoStream;
use tome_text::is_display_control;

use crate::render::{BOLD, DIM, GREEN, RED, RESET, YELLOW};

/// The escape sequences that Tome itself prints.
const STYLES: [&str; 6] = [BOLD, DIM, GREEN, YELLOW, RED, RESET];

/// Narrower terminals get lines of this many columns.
const WIDTH_MIN: usize = 20;
const WIDTH_MAX: usize = 10_000;

/// Replacement for control characters.
const REPLACEMENT: &str = "\u{fffd}";

/// Standard output, for text.
#[expect(clippy::disallowed_methods, reason = "the one place that may write to the terminal")]
pub fn stdout() -> SafeWriter<AutoStream<Stdout>> {
    SafeWriter(anstream::stdout())
}

/// Makes a text safe for a program that shows it on this terminal; without styles if standard output
/// has none.
pub fn style_for_stdout(text: &str) -> String {
    let safe = neutralize_controls(text);
    if has_styles() { safe.into_owned() } else { anstream::adapter::strip_str(&safe).to_string() }
}

/// Whether text on standard output has styles.
#[expect(clippy::disallowed_methods, reason = "asks for the color choice only")]
pub fn has_styles() -> bool {
    anstream::stdout().current_choice() != anstream::ColorChoice::Never
}

/// Standard error, for text.
#[expect(clippy::disallowed_methods, reason = "the one place that may write to the terminal")]
pub fn stderr() -> SafeWriter<AutoStream<Stderr>> {
    SafeWriter(anstream::stderr())
}

/// Whether standard output is a terminal.
pub fn is_stdout_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether standard error is a terminal.
pub fn is_stderr_terminal() -> bool {
    io::stderr().is_terminal()
}

/// The width that overrides the terminal's.
static WIDTH: OnceLock<usize> = OnceLock::new();

/// Lays out everything for this many columns, whatever the terminal reports. Only the first call
/// counts.
pub fn set_width(columns: usize) {
    let _ = WIDTH.set(columns.clamp(WIDTH_MIN, WIDTH_MAX));
}

/// Terminal width in columns; `None` if the output does not go to a terminal.
pub fn known_width() -> Option<usize> {
    let reported = || {
        terminal_size::terminal_size()
            .map(|(terminal_size::Width(columns), _)| usize::from(columns).max(WIDTH_MIN))
    };
    WIDTH.get().copied().or_else(reported)
}

/// Terminal width in columns; 160 if unknown.
pub fn terminal_width() -> usize {
    known_width().unwrap_or(160)
}

/// Writes bytes to standard output unchanged, for programs or for output without recorded text.
pub fn write_raw(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Writes a JSON document and a newline to standard output. Control characters are written as `\u`
/// escapes, so that programs read the original text.
pub fn write_json(value: &impl serde::Serialize) -> io::Result<()> {
    write_raw(format!("{}\n", render_json(value)?).as_bytes())
}

/// Renders a JSON document as [`write_json`] writes it, without the newline.
pub fn render_json(value: &impl serde::Serialize) -> io::Result<String> {
    let text = serde_json::to_string(value)?;
    Ok(escape_json(&text).into_owned())
}

/// A writer that blocks all control sequences except Tome's own styles.
pub struct SafeWriter<W: Write>(W);

impl SafeWriter<AutoStream<Stdout>> {
    /// Locks standard output for several writes.
    pub fn lock(self) -> SafeWriter<AutoStream<StdoutLock<'static>>> {
        SafeWriter(self.0.lock())
    }
}

impl SafeWriter<AutoStream<Stderr>> {
    /// Locks standard error for several writes.
    pub fn lock(self) -> SafeWriter<AutoStream<StderrLock<'static>>> {
        SafeWriter(self.0.lock())
    }
}

impl<W: Write> Write for SafeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match neutralize_controls(&String::from_utf8_lossy(bytes)) {
            // Unchanged text is passed through, so that a partial write reports the right number of bytes.
            Cow::Borrowed(text) if text.as_bytes() == bytes => self.0.write(bytes),
            text => self.0.write_all(text.as_bytes()).map(|()| bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Replaces every character that could control a terminal, except in Tome's own styles.
pub fn neutralize_controls(text: &str) -> Cow<'_, str> {
    if !text.contains(is_display_control) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(is_display_control) {
        let (before, from) = rest.split_at(at);
        clean.push_str(before);
        let style = STYLES.into_iter().find(|style| from.starts_with(style));
        let is_line_end = from.starts_with("\r\n");
        let length = match style {
            Some(style) => style.len(),
            None => from.chars().next().map_or(1, char::len_utf8),
        };
        match style {
            Some(style) => clean.push_str(style),
            None if is_line_end => clean.push('\r'),
            None => clean.push_str(REPLACEMENT),
        }
        rest = from.get(length..).unwrap_or_default();
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

/// Escapes characters that could control a terminal. In JSON they occur only inside strings, and those
/// below `U+0020` are already escaped.
fn escape_json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_display_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_display_control(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colors_of_our_own_pass_and_nothing_else_does() {
        let own = format!("{BOLD}title{RESET}\n\t{RED}error{RESET}");
        assert_eq!(neutralize_controls(&own), own);
        let cases = [
            ("\u{1b}]52;c;aGk=\u{7}", "\u{fffd}]52;c;aGk=\u{fffd}"),
            ("\u{1b}[2J\u{1b}[1;1H", "\u{fffd}[2J\u{fffd}[1;1H"),
            ("\u{1b}[8mhidden", "\u{fffd}[8mhidden"),
            ("\u{9b}31mred", "\u{fffd}31mred"),
            ("over\rwritten\r\n", "over\u{fffd}written\r\n"),
            ("evil\u{202e}txt.exe", "evil\u{fffd}txt.exe"),
            ("a\u{e0041}b", "a\u{fffd}b"),
        ];
        for (text, wanted) in cases {
            assert_eq!(neutralize_controls(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn json_reads_the_same_and_holds_no_control_character() {
        let value = serde_json::json!({"text": "a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{e0041}é"});
        let text = value.to_string();
        let escaped = escape_json(&text);
        assert!(!escaped.contains(is_display_control), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }

    proptest! {
        #[test]
        fn whatever_is_written_in_whatever_pieces_no_sequence_gets_through(
            pieces in proptest::collection::vec("[\u{1b}\u{9b}\u{7}\r\n\\[\\]0-9;mJHa-c]{0,12}", 0..6)
        ) {
            let mut out = SafeWriter(Vec::new());
            for piece in &pieces {
                out.write_all(piece.as_bytes()).unwrap();
            }
            let mut text = String::from_utf8(out.0).unwrap();
            for style in STYLES {
                text = text.replace(style, "");
            }
            prop_assert!(!text.replace("\r\n", "\n").contains(is_display_control), "{text:?}");
        }
    }
}
