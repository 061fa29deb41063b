//! A view of a text without terminal escape sequences and invisible characters.
//!
//! Colored output has escape sequences between names and values and inside values, which split a
//! secret in two. Matchers therefore also run on this view, and every cut is mapped back to the
//! original text, including the sequences inside the secret.
//!
//! Sequences are recognized as raw bytes (`ESC [ … m`), as JSON or shell escapes (`\u001b[…m`,
//! `\x1b[…m`, `\033[…m`, `\e[…m`), in caret notation (`^[[…m`), and without the escape byte
//! (`[1;32m`), which some tools strip. Sequences that move the cursor become a blank. JSON escapes
//! of printable characters (`\u003c`) become the character.

use super::cut::find_mark_end;
use super::haystack::Haystack;

/// Length limit of an operating system command (window titles, hyperlinks) that is skipped.
const OSC_BYTES_MAX: usize = 2048;
/// Length limit of a control sequence's parameters: `38;2;255;255;255` needs 16.
const PARAMETER_BYTES_MAX: usize = 48;

/// The text as a terminal would display it.
pub(crate) struct TextView {
    pub text: String,
    segments: Vec<ViewSegment>,
}

/// Bytes of the view and the original bytes they represent: the same number, or one character of
/// the view for a whole escape sequence.
#[derive(Clone, Copy)]
struct ViewSegment {
    view: usize,
    original: usize,
    original_end: usize,
}

/// A sequence that is not in the view.
enum SkippedSequence {
    /// Ends here and leaves nothing.
    Removed(usize),
    /// Ends here and is represented by one ASCII character.
    Replaced(usize, u8),
}

impl TextView {
    /// Builds the view of a text; `None` if it equals the text.
    pub fn build(text: &str) -> Option<Self> {
        let hay = Haystack(text);
        let mut view: Option<Self> = None;
        let mut copied = 0;
        let mut at = 0;
        let ascii = text.is_ascii();
        while let Some(mut next) = find_candidate(hay, at, ascii) {
            // Caret notation begins one byte earlier.
            if hay.byte_at(next) == b'[' && next > copied && hay.byte_before(next) == b'^' {
                next -= 1;
            }
            let Some(skipped) = skip_sequence(hay, next) else {
                let caret = usize::from(hay.byte_at(next) == b'^');
                at = hay.0.ceil_char_boundary(next + 1 + caret);
                continue;
            };
            let view =
                view.get_or_insert_with(|| Self { text: String::new(), segments: Vec::new() });
            view.push_text(hay, copied, next);
            let end = match skipped {
                SkippedSequence::Removed(end) => end,
                SkippedSequence::Replaced(end, byte) => {
                    view.segments.push(ViewSegment {
                        view: view.text.len(),
                        original: next,
                        original_end: end,
                    });
                    view.text.push(char::from(byte));
                    end
                }
            };
            copied = end;
            at = end;
        }
        let mut view = view?;
        view.push_text(hay, copied, text.len());
        Some(view)
    }

    fn push_text(&mut self, hay: Haystack<'_>, from: usize, to: usize) {
        if from < to {
            self.segments.push(ViewSegment {
                view: self.text.len(),
                original: from,
                original_end: to,
            });
            self.text.push_str(hay.slice(from, to));
        }
    }

    /// Maps a range of the view to the original.
    pub fn to_original(&self, start: usize, end: usize) -> (usize, usize) {
        let first = self.map_byte(start).0;
        let last = end.checked_sub(1).map_or(0, |last| self.map_byte(last).1);
        (first, last.max(first))
    }

    /// Maps one byte of the view to the original.
    fn map_byte(&self, at: usize) -> (usize, usize) {
        let number = self.segments.partition_point(|segment| segment.view <= at);
        let Some(segment) = number.checked_sub(1).and_then(|number| self.segments.get(number))
        else {
            return (0, 0);
        };
        let next = self.segments.get(number).map_or(self.text.len(), |next| next.view);
        if next - segment.view == segment.original_end - segment.original {
            let original = segment.original + (at - segment.view);
            (original, original + 1)
        } else {
            (segment.original, segment.original_end)
        }
    }
}

/// The next byte at which a sequence may begin. Most texts are ASCII, for which `memchr` is faster.
fn find_candidate(hay: Haystack<'_>, from: usize, ascii: bool) -> Option<usize> {
    let bytes = hay.bytes_from(from);
    let found = if ascii {
        memchr::memchr3(0x1B, b'\\', b'[', bytes)
    } else {
        bytes.iter().position(|b| matches!(b, 0x1B | b'\\' | b'[' | 0x80..))
    };
    found.map(|offset| from + offset)
}

fn skip_sequence(hay: Haystack<'_>, at: usize) -> Option<SkippedSequence> {
    match hay.byte_at(at) {
        0x1B => Some(skip_escape(hay, at + 1)),
        b'[' => skip_bare_color(hay, at).map(SkippedSequence::Removed),
        b'^' => (hay.byte_at(at + 1) == b'[').then(|| skip_control(hay, at + 2)).flatten(),
        b'\\' => skip_escaped_sequence(hay, at),
        _ => skip_invisible(hay, at).map(SkippedSequence::Removed),
    }
}

/// Skips the sequence after an escape byte, or only the escape byte if no known sequence follows.
fn skip_escape(hay: Haystack<'_>, at: usize) -> SkippedSequence {
    let known = match hay.byte_at(at) {
        // A mark after a lone escape byte is not a control sequence.
        _ if find_mark_end(hay, at).is_some() => None,
        b'[' | b']' | b'P' | b'X' | b'^' | b'_' => skip_control(hay, at),
        b'(' | b')' | b'#' => Some(SkippedSequence::Removed((at + 2).min(hay.len()))),
        b'7' | b'8' | b'=' | b'>' | b'\\' => Some(SkippedSequence::Removed(at + 1)),
        _ => None,
    };
    match known {
        Some(SkippedSequence::Removed(end)) if hay.0.is_char_boundary(end) => {
            SkippedSequence::Removed(end)
        }
        Some(replaced @ SkippedSequence::Replaced(..)) => replaced,
        _ => SkippedSequence::Removed(at),
    }
}

/// Skips a control sequence or command string, from the byte after the escape byte.
fn skip_control(hay: Haystack<'_>, at: usize) -> Option<SkippedSequence> {
    if hay.byte_at(at) == b'[' {
        let end = hay.skip_while_within(at + 1, PARAMETER_BYTES_MAX, |b| (0x20..0x40).contains(&b));
        return match hay.byte_at(end) {
            // Moves the cursor, so the following text is displayed elsewhere.
            b'A'..=b'H' | b'd' | b'f' | b'`' => Some(SkippedSequence::Replaced(end + 1, b' ')),
            0x40..=0x7E => Some(SkippedSequence::Removed(end + 1)),
            _ => None,
        };
    }
    if !matches!(hay.byte_at(at), b']' | b'P' | b'X' | b'^' | b'_') {
        return None;
    }
    let end = hay.skip_while_within(at + 1, OSC_BYTES_MAX, |b| {
        !matches!(b, 0x07 | 0x1B | b'\n' | b'\\' | b'"')
    });
    match hay.byte_at(end) {
        0x07 => Some(SkippedSequence::Removed(end + 1)),
        0x1B if hay.byte_at(end + 1) == b'\\' => Some(SkippedSequence::Removed(end + 2)),
        // The terminator is escaped like the start.
        b'\\' => find_escaped_escape_end(hay, end)
            .or_else(|| hay.starts_with(end, "\\a").then_some(end + 2))
            .or_else(|| hay.starts_with(end, "\\u0007").then_some(end + 6))
            .map(|end| {
                let slashes = hay.skip_while_within(end, 4, |b| b == b'\\');
                SkippedSequence::Removed(slashes)
            }),
        _ => None,
    }
}

/// `[1;32m` without an escape byte.
fn skip_bare_color(hay: Haystack<'_>, at: usize) -> Option<usize> {
    let end = hay.skip_while_within(at + 1, PARAMETER_BYTES_MAX, |b| {
        b.is_ascii_digit() || b == b';' || b == b':'
    });
    let fits = match hay.byte_at(end) {
        b'm' => end > at + 1,
        b'K' => end <= at + 2,
        _ => false,
    };
    // `[5m]` is a duration in a query language.
    (fits && hay.byte_at(end + 1) != b']').then_some(end + 1)
}

/// Skips `\u001b[…m` and similar, and JSON escapes of invisible and printable characters.
fn skip_escaped_sequence(hay: Haystack<'_>, at: usize) -> Option<SkippedSequence> {
    if let Some(end) = find_escaped_escape_end(hay, at) {
        return Some(skip_control(hay, end).unwrap_or(SkippedSequence::Removed(end)));
    }
    let letter = hay.skip_while_within(at, 8, |b| b == b'\\');
    if !matches!(hay.byte_at(letter), b'u' | b'U') {
        return None;
    }
    let digits = hay.slice(letter + 1, letter + 5);
    let code = u32::from_str_radix(digits, 16).ok()?;
    if digits.len() < 4 || digits.starts_with('+') {
        return None;
    }
    let character = char::from_u32(code)?;
    if is_invisible(character) {
        return Some(SkippedSequence::Removed(letter + 5));
    }
    // Quotes and backslashes stay escaped, because the escapes show the nesting depth.
    let plain = character.is_ascii_graphic() && !matches!(character, '"' | '\\');
    let byte = u8::try_from(code).ok()?;
    (plain && letter == at + 1).then_some(SkippedSequence::Replaced(letter + 5, byte))
}

/// The end of an escaped escape byte: `\u001b`, `\u{1b}`, `\x1b`, `\033`, `\e`.
fn find_escaped_escape_end(hay: Haystack<'_>, at: usize) -> Option<usize> {
    let letter = hay.skip_while_within(at, 8, |b| b == b'\\');
    if letter == at {
        return None;
    }
    ["u001b", "u{1b}", "x1b", "033", "e["]
        .iter()
        .find(|spelling| hay.starts_with_ignore_case(letter, spelling))
        .map(|spelling| letter + spelling.trim_end_matches('[').len())
}

fn skip_invisible(hay: Haystack<'_>, at: usize) -> Option<usize> {
    // The lead bytes of all characters below; most text in other scripts returns here.
    let may_begin = match hay.byte_at(at) {
        0xC2 | 0xCD | 0xD8 | 0xE1 | 0xE2 | 0xEF | 0xF3 => true,
        // Other characters of this lead byte are Japanese.
        0xE3 => hay.byte_at(at + 1) == 0x85,
        _ => false,
    };
    if !may_begin {
        return None;
    }
    let character = hay.slice(at, hay.len()).chars().next()?;
    is_invisible(character).then_some(at + character.len_utf8())
}

/// Characters that can hide a secret from a matcher. A test compares them with those of `tome-text`, on
/// which this crate does not depend.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{84}'
            | '\u{86}'..='\u{9F}'
            | '\u{AD}'
            | '\u{34F}'
            | '\u{61C}'
            | '\u{115F}'
            | '\u{1160}'
            | '\u{17B4}'
            | '\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A view needs what every other reader takes for invisible, and the C1 controls except NEL,
    /// which ends a line.
    #[test]
    fn invisible_characters_are_those_of_every_reader() {
        for character in (0..=u32::from(char::MAX)).filter_map(char::from_u32) {
            let is_c1 = ('\u{80}'..='\u{9F}').contains(&character) && character != '\u{85}';
            let wanted = tome_text::is_invisible(character) || is_c1;
            assert_eq!(is_invisible(character), wanted, "{character:?}");
            let text = character.to_string();
            assert_eq!(skip_invisible(Haystack(&text), 0).is_some(), wanted, "{character:?}");
        }
    }
}
