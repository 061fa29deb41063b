//! Parses and renders one YAML value. Parsing never fails: anything that is not valid YAML is taken
//! literally. Rendering yields one line that every YAML parser reads back as the same text.
//!
//! One deliberate deviation from YAML: `#` begins a comment only if a space follows, so that `Fix
//! bug #42` keeps its number. Rendered values are never ambiguous in this way.

use super::block::split_key;

const BLANKS: [char; 2] = [' ', '\t'];

/// Parses a value; `None` if it is empty, a list or a map.
pub(super) fn parse(value: &str) -> Option<String> {
    let mut lines = value.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let first = lines.next().unwrap_or_default().trim_matches(BLANKS);
    let more: Vec<&str> = lines.collect();
    if let Some(style) = BlockScalar::parse_header(first) {
        return Some(style.parse_lines(&more)).filter(|text| !text.is_empty());
    }
    let begins = find_first_line(first, &more)?;
    let first = if strip_comment(first).is_empty() { "" } else { first };
    match begins.chars().next() {
        Some('"') => {
            let folded = fold_lines(first, &more, FoldStyle::Escaped);
            parse_double_quoted(&folded).or_else(|| parse_plain(&folded))
        }
        Some('\'') => {
            let folded = fold_lines(first, &more, FoldStyle::Verbatim);
            parse_single_quoted(&folded).or_else(|| parse_plain(&folded))
        }
        _ => parse_plain(&fold_lines(first, &more, FoldStyle::Uncommented)),
    }
}

/// The first line of the value, which may be below its key.
fn find_first_line<'a>(first: &'a str, more: &[&'a str]) -> Option<&'a str> {
    if !strip_comment(first).is_empty() {
        return Some(first);
    }
    let below = more
        .iter()
        .map(|line| line.trim_matches(BLANKS))
        .find(|line| !strip_comment(line).is_empty())?;
    let is_collection = below == "-" || below.starts_with("- ") || split_key(below).is_some();
    (!is_collection).then_some(below)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FoldStyle {
    /// A backslash at the end of a line joins it to the next (double quotes).
    Escaped,
    Verbatim,
    /// Comments are removed (plain values).
    Uncommented,
}

/// Folds several lines into one: a line break becomes a space, an empty line a line break.
fn fold_lines(first: &str, more: &[&str], how: FoldStyle) -> String {
    let mut out = String::new();
    let mut breaks = 0;
    let mut joined = true;
    for line in std::iter::once(&first).chain(more) {
        let mut line = line.trim_matches(BLANKS);
        if how == FoldStyle::Uncommented {
            line = strip_comment(line);
        }
        if line.is_empty() {
            breaks += usize::from(!out.is_empty());
            continue;
        }
        if breaks > 0 {
            out.extend(std::iter::repeat_n('\n', breaks));
        } else if !joined {
            out.push(' ');
        }
        let backslashes = line.len() - line.trim_end_matches('\\').len();
        joined = how == FoldStyle::Escaped && backslashes % 2 == 1;
        out.push_str(if joined { line.strip_suffix('\\').unwrap_or(line) } else { line });
        breaks = 0;
    }
    out
}

fn strip_comment(line: &str) -> &str {
    let is_comment = |at: usize| {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + 1..).unwrap_or_default();
        (before.is_empty() || before.ends_with(BLANKS))
            && (after.is_empty() || after.starts_with(BLANKS))
    };
    let end = line.match_indices('#').map(|(at, _)| at).find(|at| is_comment(*at));
    end.and_then(|end| line.get(..end)).unwrap_or(line).trim_matches(BLANKS)
}

/// The comment after the value on its first line, including `#`.
pub(super) fn find_comment(line: &str) -> Option<&str> {
    let value = line.trim_start_matches(BLANKS);
    let rest = value.get(strip_comment(value).len()..)?.trim_start_matches(BLANKS);
    (rest.starts_with('#') && !value.starts_with(['"', '\''])).then_some(rest)
}

fn parse_plain(folded: &str) -> Option<String> {
    let text = folded.trim_matches(BLANKS);
    let is_collection = (text.starts_with('[') && text.ends_with(']'))
        || (text.starts_with('{') && text.ends_with('}'));
    let is_null = matches!(text, "" | "~" | "null" | "Null" | "NULL");
    (!is_collection && !is_null).then(|| text.to_owned())
}

/// `None` if the quote is not closed, or anything but a comment follows it.
fn parse_double_quoted(folded: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = folded.strip_prefix('"')?.chars();
    loop {
        match chars.next()? {
            '"' => return is_end_or_comment(chars.as_str()).then_some(out),
            '\\' => decode_escape(&mut chars, &mut out),
            other => out.push(other),
        }
    }
}

fn parse_single_quoted(folded: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = folded.strip_prefix('\'')?.chars();
    loop {
        match chars.next()? {
            '\'' if chars.as_str().starts_with('\'') => {
                chars.next();
                out.push('\'');
            }
            '\'' => return is_end_or_comment(chars.as_str()).then_some(out),
            other => out.push(other),
        }
    }
}

fn is_end_or_comment(rest: &str) -> bool {
    let comment = rest.trim_start_matches(BLANKS);
    comment.is_empty() || (comment.len() < rest.len() && comment.starts_with('#'))
}

/// Decodes one escape sequence; an unknown one is kept literally.
fn decode_escape(chars: &mut std::str::Chars<'_>, out: &mut String) {
    let Some(name) = chars.next() else { return out.push('\\') };
    let digits = match name {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    if digits > 0 {
        return match parse_hex(chars, digits) {
            Some(code) => out.push(decode_char(code, chars)),
            None => out.extend(['\\', name]),
        };
    }
    out.push(match name {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        ' ' | '"' | '/' | '\\' => name,
        _ => return out.extend(['\\', name]),
    });
}

fn parse_hex(chars: &mut std::str::Chars<'_>, digits: usize) -> Option<u32> {
    let (code, rest) = chars.as_str().split_at_checked(digits)?;
    let is_number = code.chars().all(|digit| digit.is_ascii_hexdigit());
    let code = u32::from_str_radix(code, 16).ok().filter(|_| is_number)?;
    *chars = rest.chars();
    Some(code)
}

/// Decodes a code point; JSON encoders write those beyond 16 bits as a surrogate pair.
fn decode_char(code: u32, chars: &mut std::str::Chars<'_>) -> char {
    if (0xd800..0xdc00).contains(&code)
        && let Some(rest) = chars.as_str().strip_prefix("\\u")
    {
        let mut rest = rest.chars();
        if let Some(low) = parse_hex(&mut rest, 4).filter(|low| (0xdc00..0xe000).contains(low)) {
            *chars = rest;
            let both = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            return char::from_u32(both).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
    }
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// A block scalar: `|` keeps line breaks, `>` folds them.
struct BlockScalar {
    folds: bool,
    indent: Option<usize>,
}

impl BlockScalar {
    fn parse_header(first: &str) -> Option<Self> {
        let header = strip_comment(first);
        let folds = header.starts_with('>');
        let signs = header.strip_prefix(['|', '>'])?;
        let is_header = signs.len() <= 2 && signs.chars().all(|sign| "+-123456789".contains(sign));
        let digit = signs.chars().find_map(|sign| sign.to_digit(10));
        is_header.then(|| Self { folds, indent: digit.and_then(|digit| digit.try_into().ok()) })
    }

    /// Trailing line breaks are dropped even with `+`: they mean nothing in a name.
    fn parse_lines(&self, lines: &[&str]) -> String {
        let lead = |line: &&str| line.len() - line.trim_start_matches(' ').len();
        let indent = self
            .indent
            .or_else(|| lines.iter().find(|line| !line.trim_matches(BLANKS).is_empty()).map(lead));
        let indent = indent.unwrap_or_default();
        let mut out = String::new();
        let mut breaks = 0;
        let mut was_deeper = true;
        for line in lines {
            let text = line.get(indent.min(lead(line))..).unwrap_or_default();
            if text.trim_matches(BLANKS).is_empty() {
                breaks += 1;
                continue;
            }
            let is_deeper = text.starts_with(BLANKS);
            let keeps_break = !self.folds || is_deeper || was_deeper;
            if !out.is_empty() && !keeps_break && breaks == 0 {
                out.push(' ');
            } else {
                let own = usize::from(keeps_break && !out.is_empty());
                out.extend(std::iter::repeat_n('\n', breaks + own));
            }
            out.push_str(text);
            breaks = 0;
            was_deeper = is_deeper;
        }
        out
    }
}

/// Renders a value on one line, unquoted if that is unambiguous.
pub(super) fn render(value: &str) -> String {
    if is_plain(value) {
        return value.to_owned();
    }
    let mut out = String::from('"');
    for part in value.chars() {
        match part {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            part if is_printable(part) => out.push(part),
            part => out.push_str(&format!("\\u{:04X}", u32::from(part))),
        }
    }
    out.push('"');
    out
}

/// False for characters that some parsers treat as line breaks or reject.
fn is_printable(part: char) -> bool {
    !part.is_control()
        && !matches!(part, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn is_plain(value: &str) -> bool {
    value.trim() == value
        && value.chars().all(is_printable)
        && !value.starts_with(|first: char| "-?:,[]{}#&*!|>'\"%@`~=<".contains(first))
        && !value.ends_with(':')
        && !value.contains(": ")
        && !value.contains(" #")
        && !is_ambiguous(value)
}

/// Whether a parser could read it as null, a boolean, a number or a date.
fn is_ambiguous(value: &str) -> bool {
    const WORDS: [&str; 13] =
        ["", "null", "true", "false", "yes", "no", "on", "off", "y", "n", ".nan", ".inf", "+.inf"];
    let is_number = value.starts_with(|first: char| first.is_ascii_digit() || "+.".contains(first))
        && value.chars().all(|part| part.is_ascii_hexdigit() || "xXoO_+-.:TtZz ".contains(part));
    is_number || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
}
