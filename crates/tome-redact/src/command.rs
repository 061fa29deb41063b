//! Passwords in command-line arguments: `mysql -p…`, `sshpass -p …`, `curl -u user:…`.
//!
//! A line is parsed once, from the first known command to its end; later commands on the same line
//! (`sshpass … mysql …`) are recognized along the way.

use super::command_rules::{COMMANDS, CommandRule, SecretForm};
use super::cookie;
use super::cut::{CutCertainty, RedactionCut};
use super::haystack::{Haystack, is_name_byte, is_quote};
use super::value;
use super::value_span::{ValueSpan, find_value};

use SecretForm::{
    AfterColon, AfterComma, AfterName, AfterPass, AfterPercent, Attached, Cookies, Either, Next,
};

/// The names of all commands, as literals for the scanner.
pub(crate) fn command_names() -> impl Iterator<Item = &'static str> {
    let mut before = "";
    COMMANDS.iter().map(|one| one.name).filter(move |name| {
        let new = *name != before;
        before = name;
        new
    })
}

/// The table entries of a command, which are adjacent.
fn find_entries(name: &str) -> Option<&'static [CommandRule]> {
    let first = COMMANDS.iter().position(|one| one.name == name)?;
    let rest = COMMANDS.get(first..)?;
    let count = rest.iter().take_while(|one| one.name == name).count();
    rest.get(..count)
}

/// Whether a command name ends here, at a blank or a quote.
pub(crate) fn is_name_end(hay: Haystack<'_>, at: usize) -> bool {
    matches!(hay.byte_at(at), b' ' | b'\t' | b'"' | b'\'' | b',' | b'`' | b'.' | b'\\' | 0x1B)
}

/// Finds the secrets among the arguments from this command name on. Returns the end of the parsed
/// part.
pub(crate) fn find_arguments(
    hay: Haystack<'_>,
    start: usize,
    cuts: &mut Vec<RedactionCut<'static>>,
) -> usize {
    if !is_command_position(hay, start) {
        return start + 1;
    }
    let mut parser = CommandParser {
        hay,
        known: &[],
        subcommand: false,
        arguments: 0,
        batch: false,
        echoed: None,
        user_named: false,
    };
    let mut at = start - usize::from(is_list_item(hay, start));
    let first = at;
    loop {
        at = skip_gap(hay, at);
        if is_line_end(hay, at) {
            return at.max(start + 1);
        }
        let word = find_word(hay, at);
        if word.end <= at {
            return at + 1;
        }
        let next = parser.read_word(word, cuts);
        // Stop unless the line starts with a known command.
        if parser.known.is_empty() && at == first {
            return start + 1;
        }
        at = next.max(word.end);
    }
}

/// A command follows whitespace, a path separator, a quote or a shell operator.
fn is_command_position(hay: Haystack<'_>, at: usize) -> bool {
    let before = hay.byte_before(at);
    before <= b' '
        || is_quote(before)
        || matches!(before, b'/' | b'(' | b';' | b'|' | b'&' | b'$' | b'>' | b'[' | b',' | b':')
        || hay.is_after_escape(at)
}

/// `"mysql",` in an argument list: the quotes belong to the word.
fn is_list_item(hay: Haystack<'_>, start: usize) -> bool {
    let quote = hay.byte_before(start);
    let end = hay.skip_while_within(start, 32, is_name_byte);
    is_quote(quote) && hay.byte_at(end) == quote
}

fn is_line_end(hay: Haystack<'_>, at: usize) -> bool {
    at >= hay.len()
        || hay.byte_at(at) == b'\n'
        || hay.byte_at(at) == b'\\' && matches!(hay.byte_at(at + 1), b'n' | b'r')
}

/// Skips blanks and line continuations.
fn skip_gap(hay: Haystack<'_>, from: usize) -> usize {
    let mut at = from;
    loop {
        let next = match hay.byte_at(at) {
            b' ' | b'\t' => at + 1,
            b'\\' if hay.byte_at(at + 1) == b'\n' => at + 2,
            b'\\' if hay.starts_with(at, "\\\r\n") => at + 3,
            b'\\' if hay.starts_with(at, "\\\\\\n") => at + 4,
            _ => return at,
        };
        at = next;
    }
}

/// The next word, up to whitespace outside quotes.
fn find_word(hay: Haystack<'_>, at: usize) -> ValueSpan {
    let mut end = at;
    while end < hay.len() && hay.byte_at(end) > b' ' && !is_line_end(hay, end) {
        let quote = hay.byte_at(end);
        if is_quote(quote) {
            let close = hay.skip_while(end + 1, |b| b != quote && b != b'\n');
            // An unclosed quote ends the string that contains the command.
            if hay.byte_at(close) != quote {
                return ValueSpan { start: at, end: end.max(at + 1), quoted: false };
            }
            end = close + 1;
        } else {
            end += 1;
        }
    }
    ValueSpan { start: at, end, quoted: false }
}

/// Strips quotes and brackets around a word, such as `"-p…",` in an argument list.
fn strip_quotes(hay: Haystack<'_>, word: ValueSpan) -> ValueSpan {
    let length = word.end - word.start;
    let start = hay.skip_while_within(word.start, length, |b| {
        is_quote(b) || matches!(b, b'(' | b'$' | b'[' | b'{')
    });
    let end = if start > word.start {
        hay.skip_back_while(word.end, word.end - start, |b| {
            is_quote(b) || matches!(b, b',' | b']' | b')' | b'}' | b';')
        })
    } else {
        word.end
    };
    ValueSpan { start, end, quoted: start > word.start }
}

struct CommandParser<'t> {
    hay: Haystack<'t>,
    /// The table entries of the current command.
    known: &'static [CommandRule],
    subcommand: bool,
    /// Number of non-option arguments after the command or its subcommand.
    arguments: usize,
    /// Whether `htpasswd` takes the password from the command line.
    batch: bool,
    /// The text that `echo` pipes to the next command.
    echoed: Option<ValueSpan>,
    /// Whether `net` has named a user, whose password comes next.
    user_named: bool,
}

impl CommandParser<'_> {
    /// Reads one word. Returns the position to continue at.
    fn read_word(&mut self, word: ValueSpan, cuts: &mut Vec<RedactionCut<'static>>) -> usize {
        let hay = self.hay;
        let after = word.end;
        let word = strip_quotes(hay, word);
        let text = hay.slice(word.start, word.end);
        let name = text.rsplit('/').next().unwrap_or(text);
        let name = name.trim_end_matches(['"', '\'', ',', ']', ')', ';']).trim_end_matches(".exe");
        if !text.starts_with('-')
            && let Some(found) = find_entries(name)
        {
            if name == "chpasswd" {
                self.cut_echoed(AfterColon, cuts);
            }
            self.known = found;
            self.subcommand = false;
            self.user_named = false;
            self.arguments = 0;
            self.batch = false;
            return after;
        }
        if matches!(text, "|" | "||" | "&&" | ";" | "&") {
            self.known = &[];
            if text != "|" {
                self.echoed = None;
            }
            return after;
        }
        let Some(known) = self.known.first().map(|one| one.name) else { return after };
        let is_option =
            || self.known.iter().any(|one| one.options.iter().any(|(option, _)| *option == text));
        if text.starts_with(['-', '/']) && text.len() > 1 || is_option() {
            return self.read_option(known, word, cuts).max(after);
        }
        let subcommand =
            self.known.iter().any(|one| !one.subcommand.is_empty() && one.subcommand == text);
        if subcommand && !self.subcommand {
            self.subcommand = true;
            self.arguments = 0;
            return after;
        }
        let argument = self.arguments;
        self.arguments += 1;
        self.read_argument(known, argument, word, cuts);
        after
    }

    fn read_option(
        &mut self,
        known: &'static str,
        word: ValueSpan,
        cuts: &mut Vec<RedactionCut<'static>>,
    ) -> usize {
        let hay = self.hay;
        let text = hay.slice(word.start, word.end);
        if known == "htpasswd" && !text.starts_with("--") && text.contains('b') {
            self.batch = true;
            // Without a file argument, the user comes first.
            self.arguments = usize::from(text.contains('n'));
            return word.end;
        }
        if matches!(text, "-S" | "--stdin") || text.ends_with("-stdin") || text == "--with-token" {
            self.cut_echoed(Next, cuts);
            return word.end;
        }
        if known == "net" && text.starts_with("/user:") {
            self.user_named = true;
            return word.end;
        }
        let options = self
            .known
            .iter()
            .filter(|one| one.subcommand.is_empty() || self.subcommand)
            .flat_map(|one| one.options);
        for (option, form) in options {
            let Some(rest) = text.strip_prefix(option) else { continue };
            let long = option.starts_with("--") || option.len() > 3;
            let attached = rest.strip_prefix('=').or((!long).then_some(rest)).unwrap_or_default();
            if long && !rest.is_empty() && !rest.starts_with('=') {
                continue;
            }
            let (start, next) = if attached.is_empty() {
                let next = skip_gap(hay, word.end);
                if rest.starts_with('=') || is_line_end(hay, next) || *form == Attached {
                    return word.end;
                }
                (next, true)
            } else if *form == Next && !rest.starts_with('=') {
                continue;
            } else {
                (word.end - attached.len(), false)
            };
            let end = if next { find_word(hay, start).end } else { word.end };
            if *form == Cookies {
                let first = hay.skip_while_within(start, 4, |b| is_quote(b) || b == b'\\');
                cookie::find_cookie_pairs(hay, first, cuts);
                return end;
            }
            if let Some(cut) = find_secret(hay, start, end, *form) {
                cuts.push(cut);
            }
            return end;
        }
        word.end
    }

    /// Cuts the text that `echo` pipes into a command that reads a password from stdin.
    fn cut_echoed(&mut self, form: SecretForm, cuts: &mut Vec<RedactionCut<'static>>) {
        if let Some(echoed) = self.echoed.take() {
            let start = echoed.start - usize::from(echoed.quoted);
            cuts.extend(find_secret(self.hay, start, echoed.end, form));
        }
    }

    fn read_argument(
        &mut self,
        known: &'static str,
        argument: usize,
        word: ValueSpan,
        cuts: &mut Vec<RedactionCut<'static>>,
    ) {
        let hay = self.hay;
        let secret_argument = self
            .known
            .iter()
            .find(|one| one.subcommand.is_empty() || self.subcommand)
            .and_then(|one| one.argument);
        let secret = match known {
            "htpasswd" => self.batch && argument == 2,
            "echo" | "printf" => {
                self.echoed = Some(word);
                false
            }
            // `net use … /user:bob SECRET`, `net user bob SECRET`
            "net" if argument == 0 => {
                self.subcommand = hay.slice(word.start, word.end) == "user";
                false
            }
            "net" => self.user_named || self.subcommand && argument == 2,
            // `sqlplus user/password@database`
            "sqlplus" if argument == 0 => {
                let slash = hay.skip_while_within(word.start, 64, |b| b != b'/' && b > b' ');
                let end = hay.skip_while_within(slash, 128, |b| b != b'@' && b > b' ');
                if hay.byte_at(slash) == b'/' && slash > word.start {
                    cuts.extend(find_secret(hay, slash + 1, end.min(word.end), Next));
                }
                false
            }
            _ => secret_argument == Some(argument),
        };
        if secret {
            cuts.extend(find_secret(hay, word.start, word.end, Next));
        }
    }
}

/// Builds the cut for a value, without its quotes.
fn find_secret(
    hay: Haystack<'_>,
    start: usize,
    word_end: usize,
    form: SecretForm,
) -> Option<RedactionCut<'static>> {
    let value = find_value(hay, start)?;
    let (mut start, mut end) = (value.start, value.end);
    if !value.quoted {
        end = end.max(word_end.min(hay.skip_while(start, |b| b > b' ' && !is_quote(b))));
    }
    let separator = match form {
        AfterColon => Some(b':'),
        AfterPercent => Some(b'%'),
        AfterComma => Some(b','),
        AfterName => Some(b'='),
        AfterPass => {
            if !hay.starts_with(start, "pass:") {
                return None;
            }
            start += "pass:".len();
            None
        }
        Either | Attached | Next | Cookies => None,
    };
    if let Some(separator) = separator {
        let separator_at = hay.skip_while_within(start, end - start, |b| b != separator);
        if separator_at >= end {
            return None;
        }
        start = separator_at + 1;
        // `--from-literal=name='value'`
        if let Some(inner) = is_quote(hay.byte_at(start)).then(|| find_value(hay, start)).flatten()
        {
            (start, end) = (inner.start, inner.end);
        }
    }
    let secret = hay.slice(start, end);
    let option = secret.starts_with("--");
    let is_secret = !secret.is_empty()
        && !option
        && !value::is_placeholder(secret)
        && !value::is_placeholder_word(secret);
    is_secret.then(|| RedactionCut::secret(start, end, "password", CutCertainty::SecretPosition))
}
