//! The separator between a name and its value: `=`, `:`, quotes, escaped quotes, or the blank after
//! a flag.

use super::haystack::{Haystack, is_blank, is_quote};
use super::name::SecretName;

/// How a value is bound to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    /// `name=value` without blanks: settings, flags, query strings and keyword arguments.
    Tight,
    /// `name: value`, `name = value`, `name => value`, `name := value`.
    Spaced,
    /// `"name": value` with a quoted name.
    Keyed,
    /// `name == value`.
    Compared,
    /// `"name", "value"` in a call.
    Listed,
    /// `--name value`.
    Flag,
    /// `<name>value</name>`.
    Element,
    /// `${NAME:-value}`.
    Fallback,
    /// `PASSWORD 'value'`, `login x password value`, `the password is value`.
    Spoken,
    /// `| name | value |`.
    Cell,
}

/// Longest run of blanks that aligns values in columns.
const BLANKS_MAX: usize = 40;

/// Finds the separator after a name and the start of the value.
pub(crate) fn find_binding(hay: Haystack<'_>, name: &SecretName<'_>) -> Option<(Binding, usize)> {
    let first = hay.byte_at(name.end);
    match first {
        b'>' if hay.byte_before(name.start) == b'<' => {
            return Some((Binding::Element, name.end + 1));
        }
        // `<Pass encoding="base64">…</Pass>`
        b' ' if hay.byte_before(name.start) == b'<' => {
            let end = hay.skip_while_within(name.end, 128, |b| !matches!(b, b'>' | b'<' | b'\n'));
            if hay.byte_at(end) == b'>' && hay.byte_before(end) != b'/' {
                return Some((Binding::Element, end + 1));
            }
        }
        // `.password("…")`
        b'(' if is_quote(hay.byte_at(name.end + 1)) => {
            return Some((Binding::Listed, name.end + 1));
        }
        b'?' | b'!' | b'(' | b'.' | b';' => return None,
        _ => {}
    }
    if hay.byte_before(name.start) == b'{' && hay.byte_before(name.start.saturating_sub(1)) == b'$'
    {
        return find_fallback_binding(hay, name.end);
    }
    let closed = skip_closing_quote(hay, name.end);
    let quoted = closed > name.end;
    if let Some(value) = find_paired_value(hay, closed, quoted) {
        return Some((Binding::Keyed, value));
    }
    let mut at = skip_brackets(hay, closed, quoted);
    at = skip_number(hay, at, quoted);
    at = hay.skip_while(at, |b| b == b'*');
    let blank_end = hay.skip_blanks(at);
    if blank_end - at > BLANKS_MAX {
        return None;
    }
    // `getenv('PASSWORD') or '…'`: `or` is a separator only after a call.
    let called = quoted && hay.byte_before(at) == b')' || hay.byte_at(blank_end) != b'o';
    let (sign, value) = match find_sign(hay, blank_end) {
        Some(found) if called => found,
        _ => return find_unsigned_binding(hay, name, quoted, at, blank_end),
    };
    // `show ? "password" : "text"` is a conditional expression, not a binding.
    if quoted && hay.byte_at(blank_end) == b':' && is_conditional(hay, name.start) {
        return None;
    }
    let value = skip_stars(hay, value);
    let start = hay.skip_blanks(value);
    if start - value > BLANKS_MAX {
        return None;
    }
    let binding = match sign {
        BindingSign::Equal if !quoted && blank_end == at && start == value => Binding::Tight,
        BindingSign::Compare => Binding::Compared,
        BindingSign::Comma if quoted => Binding::Listed,
        BindingSign::Comma => return None,
        BindingSign::Bar if start > value => Binding::Cell,
        BindingSign::Bar => return None,
        _ if quoted => Binding::Keyed,
        _ => Binding::Spaced,
    };
    Some((binding, start))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BindingSign {
    Equal,
    Colon,
    Arrow,
    Compare,
    Comma,
    Bar,
}

fn find_sign(hay: Haystack<'_>, at: usize) -> Option<(BindingSign, usize)> {
    let signs: &[(&str, BindingSign)] = &[
        ("===", BindingSign::Compare),
        ("!==", BindingSign::Compare),
        ("==", BindingSign::Compare),
        ("!=", BindingSign::Compare),
        ("=>", BindingSign::Arrow),
        (":=", BindingSign::Arrow),
        ("<-", BindingSign::Arrow),
        ("?=", BindingSign::Arrow),
        ("=~", BindingSign::Compare),
        ("=", BindingSign::Equal),
        (":", BindingSign::Colon),
        ("：", BindingSign::Colon),
        (",", BindingSign::Comma),
        ("||=", BindingSign::Arrow),
        ("||", BindingSign::Compare),
        ("??", BindingSign::Compare),
        ("or ", BindingSign::Compare),
        ("|", BindingSign::Bar),
    ];
    let may_sign =
        matches!(hay.byte_at(at), b'=' | b'!' | b':' | b'<' | b'?' | b',' | b'|' | b'o' | 0xEF);
    if !may_sign || hay.starts_with(at, "::") {
        return None;
    }
    signs
        .iter()
        .find(|(text, _)| hay.starts_with(at, text))
        .map(|(text, sign)| (*sign, at + text.len()))
}

/// Handles a name whose value follows without an operator.
fn find_unsigned_binding(
    hay: Haystack<'_>,
    name: &SecretName<'_>,
    quoted: bool,
    at: usize,
    blank_end: usize,
) -> Option<(Binding, usize)> {
    if quoted || blank_end == at {
        return None;
    }
    let next = hay.byte_at(blank_end);
    if (name.is_flag() || follows_setter(hay, name)) && !matches!(next, b'-' | b'\n' | b'\r' | 0) {
        return Some((Binding::Flag, blank_end));
    }
    // The rest is prose or code, where `pass` is a verb.
    if name.text == "pass" {
        return None;
    }
    if matches!(next, b'\'' | b'"' | b'`') || next == b'\\' && is_quote(hay.byte_at(blank_end + 1))
    {
        return Some((Binding::Spoken, blank_end));
    }
    if !next.is_ascii_alphanumeric() && !matches!(next, b'-' | b'/' | b'+') {
        return None;
    }
    // `password 7 0822455D`: the number is the encoding type in a router configuration.
    let encoded = next.is_ascii_digit() && hay.byte_at(blank_end + 1) == b' ';
    if encoded && matches!(name.text, "password" | "secret" | "key-string") {
        let value = hay.skip_blanks(blank_end + 1);
        let end = hay.skip_while_within(value, 64, |b| b > b' ');
        let digits = (value..end).filter(|at| hay.byte_at(*at).is_ascii_digit()).count();
        return (end - value >= 6 && digits >= 2).then_some((Binding::Flag, value));
    }
    let verb = ["is ", "was ", "is: ", "from ", "to ", "with ", "as ", "like "]
        .iter()
        .find(|verb| hay.starts_with_ignore_case(blank_end, verb));
    if let Some(verb) = verb {
        return Some((Binding::Spoken, hay.skip_blanks(blank_end + verb.len())));
    }
    (is_generated_word_next(hay, blank_end) || follows_login(hay, name))
        .then_some((Binding::Spoken, blank_end))
}

/// The value next to a name that is itself a value: `name: DB_PASSWORD` followed by a line `value:
/// …`, `"key": "password", "value": …`, `name="password" value=…`.
fn find_paired_value(hay: Haystack<'_>, at: usize, quoted: bool) -> Option<usize> {
    const BINDING_GAP_BYTES_MAX: usize = 64;
    let gap = |b: u8| b.is_ascii_whitespace() || b == b',';
    let mut word = hay.skip_while_within(at, BINDING_GAP_BYTES_MAX, gap);
    let mut written = false;
    while hay.starts_with(word, "\\n") && word - at < BINDING_GAP_BYTES_MAX {
        written = true;
        word = hay.skip_while_within(word + 2, BINDING_GAP_BYTES_MAX, gap);
    }
    let line_break = || written || hay.slice(at, word).contains('\n');
    if word == at || !quoted && !line_break() {
        return None;
    }
    let slashes = hay.skip_while_within(word, 8, |b| b == b'\\');
    let word = slashes + usize::from(is_quote(hay.byte_at(slashes)));
    if !hay.starts_with_ignore_case(word, "value") {
        return None;
    }
    let after = skip_closing_quote(hay, word + "value".len());
    let sign = hay.skip_blanks(after);
    matches!(hay.byte_at(sign), b':' | b'=').then(|| hay.skip_blanks(sign + 1))
}

/// `ENV NAME value` in a Dockerfile, `setx NAME value` in a Windows shell.
fn follows_setter(hay: Haystack<'_>, name: &SecretName<'_>) -> bool {
    let ends =
        |word: &str| name.start >= word.len() && hay.starts_with(name.start - word.len(), word);
    name.is_upper_case() && (ends("ENV ") || ends("setx "))
}

/// Whether a word of at least 16 bytes with a digit follows, which is probably generated.
fn is_generated_word_next(hay: Haystack<'_>, at: usize) -> bool {
    let end = hay.skip_while_within(at, 64, |b| b > b' ');
    end - at >= 16 && (at..end).any(|i| hay.byte_at(i).is_ascii_digit())
}

/// `machine x login y password z`.
pub(crate) fn follows_login(hay: Haystack<'_>, name: &SecretName<'_>) -> bool {
    let name_start = name.start;
    if name.text != "password" {
        return false;
    }
    let blank = hay.skip_back_while(name_start, 8, |b| b.is_ascii_whitespace());
    let user = hay.skip_back_while(blank, 128, |b| !b.is_ascii_whitespace());
    let login = hay.skip_back_while(user, 8, |b| b.is_ascii_whitespace());
    if blank == name_start || login < 5 || !hay.starts_with(login - 5, "login") {
        return false;
    }
    let before = hay.skip_back_while(login - 5, 256, |_| true);
    let line = hay.slice(hay.floor_boundary(before), login);
    line.contains("machine ") || line.contains("default ")
}

/// `${NAME:-value}` and its variants.
fn find_fallback_binding(hay: Haystack<'_>, at: usize) -> Option<(Binding, usize)> {
    [":-", ":=", "-", "="]
        .iter()
        .find(|sign| hay.starts_with(at, sign))
        .map(|sign| (Binding::Fallback, at + sign.len()))
}

/// Skips a closing quote and any backslashes before it.
fn skip_closing_quote(hay: Haystack<'_>, at: usize) -> usize {
    let slashes = hay.skip_while(at, |b| b == b'\\');
    if is_quote(hay.byte_at(slashes)) { slashes + 1 } else { at }
}

/// `Unseal Key 1: …`
fn skip_number(hay: Haystack<'_>, at: usize, quoted: bool) -> usize {
    let number = at + 1;
    let end = hay.skip_while_within(number, 2, |b| b.is_ascii_digit());
    let numbered = hay.byte_at(at) == b' ' && end > number && hay.byte_at(end) == b':';
    if !quoted && numbered { end } else { at }
}

/// `env["NAME"] = …` and `char name[64] = …`.
fn skip_brackets(hay: Haystack<'_>, at: usize, quoted: bool) -> usize {
    match hay.byte_at(at) {
        b']' | b')' if quoted => at + 1,
        b'[' if !quoted => {
            let inside = hay.skip_while(at + 1, |b| b.is_ascii_digit());
            if hay.byte_at(inside) == b']' { inside + 1 } else { at }
        }
        _ => at,
    }
}

/// `**Password:** value` in Markdown; a single star is a pointer.
fn skip_stars(hay: Haystack<'_>, at: usize) -> usize {
    if hay.starts_with(at, "**") { at + 2 } else { at }
}

fn is_conditional(hay: Haystack<'_>, name_start: usize) -> bool {
    let quote = hay.skip_back_while(name_start, 4, |b| is_quote(b) || b == b'\\');
    let blank = hay.skip_back_while(quote, 4, is_blank);
    hay.byte_before(blank) == b'?'
}

/// `let password: &str = "…"`: the start of the value after a possible type annotation.
pub(crate) fn find_value_after_type(hay: Haystack<'_>, at: usize) -> Option<usize> {
    const TYPE_BYTES_MAX: usize = 48;
    let end = hay.skip_while_within(at, TYPE_BYTES_MAX, |b| {
        b.is_ascii_alphanumeric() || b" _&<>[]'.,?|:*".contains(&b)
    });
    let typed = end > at && hay.byte_at(end) == b'=';
    (typed && !matches!(hay.byte_at(end + 1), b'=' | b'>')).then(|| hay.skip_blanks(end + 1))
}
