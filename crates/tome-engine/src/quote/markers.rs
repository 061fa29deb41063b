//! Breaks markers: tags and tokens that clients and models interpret (`<system-reminder>`,
//! `<|im_start|>`, `[INST]`, `Human:` at the start of a line), escape sequences, and characters
//! that change how surrounding text is read.
//!
//! A broken marker stays readable: `[quoted: system-reminder]`. Markers are recognized as a reader
//! would: in any case, with look-alike letters and brackets, with invisible characters in between,
//! or written as entities. The result holds no marker, so quoting is idempotent.

use std::borrow::Cow;

use tome_text::{is_display_control, is_invisible};

/// Tags to break, `_` written as `-`, in addition to everything that begins with one of
/// [`TAG_PREFIXES`].
const TAGS: [&str; 34] = [
    "assistant",
    "bash-input",
    "bash-stderr",
    "bash-stdout",
    "command-args",
    "command-contents",
    "command-message",
    "command-name",
    "end-of-turn",
    "environment-context",
    "function-call",
    "function-calls",
    "function-result",
    "function-results",
    "hook-prompt",
    "human",
    "im-end",
    "im-start",
    "invoke",
    "local-command-caveat",
    "local-command-stderr",
    "local-command-stdout",
    "start-of-turn",
    "system",
    "task-notification",
    "tool-call",
    "tool-calls",
    "tool-response",
    "tool-result",
    "tool-results",
    "tool-use",
    "untrusted-context",
    "user-instructions",
    "user-prompt-submit-hook",
];

/// Prefixes of tags to break.
const TAG_PREFIXES: [&str; 6] =
    ["antml:", "system-", "tome-", "user-prompt-", "session-start-hook", "persisted-output"];

/// Words in square brackets to break.
const BRACKET_WORDS: [&str; 5] =
    ["inst", "system-prompt", "available-tools", "tool-calls", "tool-results"];

/// Names that begin a chat turn when followed by a colon at the start of a line.
const SPEAKERS: [&str; 3] = ["human", "assistant", "system"];

/// Characters of a tag or token name that are recognized.
const NAME_CHARS_MAX: usize = 48;
/// Characters from a tag's name to its closing bracket.
const TAG_CHARS_MAX: usize = 240;
/// Markdown and whitespace characters allowed before a speaker.
const LEAD_CHARS_MAX: usize = 12;

/// Breaks every marker, removes escape sequences, and replaces characters that control a terminal
/// or the direction of text.
pub fn neutralize_markers(text: &str) -> Cow<'_, str> {
    let text = strip_controls(text);
    match break_markers(&text) {
        Some(broken) => Cow::Owned(broken),
        None => text,
    }
}

/// Removes escape sequences and replaces other control characters.
fn strip_controls(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_display_control) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let escape = if c == '\u{1b}' { escape_len(rest) } else { 0 };
        let taken = if escape > 0 { escape } else { c.len_utf8() };
        let after = rest.get(taken..).unwrap_or_default();
        match c {
            _ if escape > 0 => {}
            '\r' if after.starts_with('\n') => {}
            '\r' => kept.push('\n'),
            c if is_display_control(c) => kept.push('\u{fffd}'),
            c => kept.push(c),
        }
        rest = after;
    }
    Cow::Owned(kept)
}

/// Length in bytes of the complete escape sequence at the start of a text, or 0.
fn escape_len(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let end = |found: Option<(usize, char)>| found.map_or(0, |(at, c)| at + c.len_utf8());
    match chars.next() {
        // CSI: parameters, then a final letter.
        Some((_, '[')) => end(chars
            .take(64)
            .find(|(_, c)| !matches!(c, '0'..='9' | ';' | ':' | '?' | '<'..='>' | ' '..='/'))
            .filter(|(_, c)| matches!(c, '@'..='~'))),
        // OSC, DCS and others: up to BEL or ESC \.
        Some((_, ']' | 'P' | '^' | '_' | 'X')) => {
            let mut escaped = false;
            for (at, c) in chars {
                match c {
                    '\u{7}' => return at + 1,
                    '\\' if escaped => return at + 1,
                    '\n' => return 0,
                    c => escaped = c == '\u{1b}',
                }
            }
            0
        }
        Some((at, c @ ('(' | ')'))) => chars.next().map_or(at + c.len_utf8(), |(at, _)| at + 1),
        _ => 0,
    }
}

/// Breaks markers; `None` if there are none.
fn break_markers(text: &str) -> Option<String> {
    let mut broken: Option<String> = None;
    let (mut at, mut copied) = (0, 0);
    // Characters left in which a broken tag may still be closed.
    let mut open = 0_usize;
    let mut is_line_start = true;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if std::mem::take(&mut is_line_start)
            && let Some(lead) = find_speaker(rest)
        {
            let out = broken.get_or_insert_default();
            out.push_str(text.get(copied..at + lead).unwrap_or_default());
            out.push_str("[quoted] ");
            (at, copied) = (at + lead, at + lead);
            continue;
        }
        let Some((sign, bytes)) = next_visible_char(rest) else { break };
        let marker = matches!(sign, '<' | '[').then(|| parse_marker(rest)).flatten();
        let replaced = match &marker {
            Some(marker) => Some((marker.bytes, format!("[quoted: {}", marker.words))),
            None if sign == '>' && open > 0 => Some((bytes, "]".to_owned())),
            None => None,
        };
        open = match (&marker, sign) {
            (Some(marker), _) if marker.may_close => TAG_CHARS_MAX,
            (Some(_), _) | (None, '>' | '<' | '\n') => 0,
            _ => open.saturating_sub(1),
        };
        let taken = match replaced {
            None => bytes,
            Some((taken, words)) => {
                let out = broken.get_or_insert_default();
                out.push_str(text.get(copied..at).unwrap_or_default());
                out.push_str(&words);
                copied = at + taken;
                taken
            }
        };
        is_line_start = sign == '\n' && marker.is_none();
        at += taken;
    }
    let mut broken = broken?;
    broken.push_str(text.get(copied..).unwrap_or_default());
    Some(broken)
}

/// A marker at the start of a text.
struct Marker {
    /// Length in bytes of the replaced text.
    bytes: usize,
    /// Its words without the brackets.
    words: String,
    /// Whether a following `>` belongs to it.
    may_close: bool,
}

/// Parses the marker at the start of a text.
fn parse_marker(text: &str) -> Option<Marker> {
    let mut signs = VisibleChars { text, at: 0 };
    let opening = signs.next()?;
    if opening == '[' {
        let slash = signs.skip_to_name();
        let name = signs.read_name(&[]);
        signs.skip_space();
        let is_known = BRACKET_WORDS.contains(&name.as_str()) && signs.next() == Some(']');
        return is_known.then(|| Marker {
            bytes: signs.at,
            words: format!("{slash}{name}]"),
            may_close: false,
        });
    }
    match signs.peek() {
        Some('|') => {
            signs.next();
            let name = signs.read_name(&['/', '▁']);
            let is_closed = signs.next() == Some('|') && signs.next() == Some('>');
            (is_closed && !name.is_empty()).then(|| Marker {
                bytes: signs.at,
                words: format!("{name}]"),
                may_close: false,
            })
        }
        Some('<') => {
            signs.next();
            let slash = signs.skip_to_name();
            let name = signs.read_name(&[]);
            let is_closed = signs.next() == Some('>') && signs.next() == Some('>');
            (is_closed && name == "sys").then(|| Marker {
                bytes: signs.at,
                words: format!("{slash}{name}]"),
                may_close: false,
            })
        }
        _ => {
            let slash = signs.skip_to_name();
            let name = signs.read_name(&[':']);
            let name = name.trim_end_matches(['-', ':']);
            // A reader takes `<human: …` for the tag as well.
            let first = name.split(':').next().unwrap_or(name).trim_end_matches('-');
            let is_known = [name, first].iter().any(|name| TAGS.contains(name))
                || TAG_PREFIXES.iter().any(|family| name.starts_with(family));
            is_known.then(|| Marker {
                bytes: signs.at,
                words: format!("{slash}{name}"),
                may_close: true,
            })
        }
    }
}

/// Byte offset of a speaker's name that begins a line and is followed by a colon.
fn find_speaker(line: &str) -> Option<usize> {
    let mut signs = VisibleChars { text: line, at: 0 };
    for _ in 0..LEAD_CHARS_MAX {
        match signs.peek()? {
            ' ' | '\t' | '#' | '*' | '_' => signs.next(),
            _ => break,
        };
    }
    let lead = signs.at;
    let is_capital = line.get(lead..)?.chars().find(|c| !is_invisible(*c))?.is_uppercase();
    let name = signs.read_name(&[]);
    let emphasis = signs.peek().filter(|sign| *sign == '*');
    if emphasis.is_some() {
        signs.next();
        signs.next();
    }
    let is_speaker = is_capital && SPEAKERS.contains(&name.trim_end_matches('-'));
    (is_speaker && signs.peek() == Some(':')).then_some(lead)
}

/// Iterates over a text as a reader sees it.
struct VisibleChars<'t> {
    text: &'t str,
    at: usize,
}

impl VisibleChars<'_> {
    fn peek(&self) -> Option<char> {
        next_visible_char(self.text.get(self.at..)?).map(|(sign, _)| sign)
    }

    fn next(&mut self) -> Option<char> {
        let (sign, bytes) = next_visible_char(self.text.get(self.at..)?)?;
        self.at += bytes;
        Some(sign)
    }

    fn skip_space(&mut self) {
        for _ in 0..LEAD_CHARS_MAX {
            match self.peek() {
                Some(' ' | '\t' | '\n') => self.next(),
                _ => return,
            };
        }
    }

    /// Skips to where a name may begin. Returns the slash of a closing tag, if any.
    fn skip_to_name(&mut self) -> &'static str {
        self.skip_space();
        let mut slash = "";
        while let Some('/' | '\\' | '!' | '?') = self.peek() {
            slash = "/";
            self.next();
            self.skip_space();
        }
        slash
    }

    /// Reads a name, with `_` as `-`.
    fn read_name(&mut self, more: &[char]) -> String {
        let mut name = String::new();
        while let Some(sign) = self.peek().filter(|_| name.len() < NAME_CHARS_MAX) {
            match sign {
                '_' | '-' => name.push('-'),
                c if c.is_ascii_alphanumeric() || more.contains(&c) => name.push(c),
                _ => break,
            }
            self.next();
        }
        name
    }
}

/// Returns the next visible character, folded, and its length in bytes including invisible
/// characters before it.
fn next_visible_char(text: &str) -> Option<(char, usize)> {
    let mut bytes = 0;
    for c in text.chars() {
        if is_invisible(c) {
            bytes += c.len_utf8();
            continue;
        }
        if let '&' | '\\' = c
            && let Some((sign, length)) =
                parse_escaped_bracket(text.get(bytes..).unwrap_or_default())
        {
            return Some((sign, bytes + length));
        }
        return Some((fold_lookalike(c), bytes + c.len_utf8()));
    }
    // Only invisible characters are left.
    (bytes > 0).then_some((' ', bytes))
}

/// Parses a bracket written as an entity or an escape; returns it with its length in bytes.
fn parse_escaped_bracket(text: &str) -> Option<(char, usize)> {
    const WRITTEN: [(&str, char); 10] = [
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&#60;", '<'),
        ("&#62;", '>'),
        ("&#x3c;", '<'),
        ("&#x3e;", '>'),
        ("\\u003c", '<'),
        ("\\u003e", '>'),
        ("\\x3c", '<'),
        ("\\x3e", '>'),
    ];
    let is_there = |written: &str| {
        text.get(..written.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(written))
    };
    WRITTEN
        .into_iter()
        .find(|(written, _)| is_there(written))
        .map(|(written, sign)| (sign, written.len()))
}

/// Maps a look-alike to its ASCII character, in lower case; other characters are unchanged.
fn fold_lookalike(c: char) -> char {
    let ascii = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '‹' | '〈' | '⟨' | '\u{2329}' | '˂' | '﹤' | '❮' | '❬' => '<',
        '›' | '〉' | '⟩' | '\u{232a}' | '˃' | '﹥' | '❯' | '❭' => '>',
        '【' | '〔' | '⟦' => '[',
        '】' | '〕' | '⟧' => ']',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2043}' | '﹘' | '﹣' => '-',
        '│' | '∣' | 'ǀ' | '￨' => '|',
        '∕' | '⁄' | '⧸' => '/',
        '﹕' | '∶' | '꞉' => ':',
        'а' | 'А' | 'α' | 'Α' => 'a',
        'В' | 'Β' => 'b',
        'с' | 'С' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'Е' | 'Ε' => 'e',
        'н' | 'Н' | 'Η' => 'h',
        'і' | 'І' | 'ι' | 'Ι' | 'ı' => 'i',
        'ј' | 'Ј' => 'j',
        'К' | 'Κ' => 'k',
        'ӏ' | 'Ӏ' => 'l',
        'М' | 'Μ' => 'm',
        'ո' | 'Ν' => 'n',
        'о' | 'О' | 'ο' | 'Ο' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'ѕ' | 'Ѕ' => 's',
        'Т' | 'Τ' => 't',
        'ս' | 'υ' => 'u',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'γ' | 'Υ' => 'y',
        other if other.is_whitespace() && other != '\n' => ' ',
        other => other,
    };
    ascii.to_ascii_lowercase()
}
