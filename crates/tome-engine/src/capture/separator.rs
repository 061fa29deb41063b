//! What stands between a name and its value: `=`, `:`, quotes, escaped quotes, a flag's blank.

use super::name::Name;
use super::scan::{Scan, is_blank, is_quote};

/// How a value is bound to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bond {
    /// `name=value` with nothing between: settings, flags, query strings; keyword arguments too.
    Tight,
    /// `name: value`, `name = value`, `name => value`, `name := value`.
    Spaced,
    /// `"name": value` with the name in quotes of its own.
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
    Said,
    /// `| name | value |`.
    Cell,
}

/// Blanks that line values up in columns.
const BLANKS_MAX: usize = 40;

/// How the name is bound, and where its value starts.
pub(super) fn find(scan: Scan<'_>, name: &Name<'_>) -> Option<(Bond, usize)> {
    let first = scan.byte(name.end);
    match first {
        b'>' if scan.before(name.start) == b'<' => return Some((Bond::Element, name.end + 1)),
        // `.password("…")`
        b'(' if is_quote(scan.byte(name.end + 1)) => return Some((Bond::Listed, name.end + 1)),
        b'?' | b'!' | b'(' | b'.' | b';' => return None,
        _ => {}
    }
    if scan.before(name.start) == b'{' && scan.before(name.start.saturating_sub(1)) == b'$' {
        return fallback(scan, name.end);
    }
    let closed = skip_closing_quote(scan, name.end);
    let quoted = closed > name.end;
    if let Some(value) = paired_value(scan, closed, quoted) {
        return Some((Bond::Keyed, value));
    }
    let mut at = skip_brackets(scan, closed, quoted);
    at = scan.run(at, |b| b == b'*');
    let blank_end = scan.skip_blanks(at);
    if blank_end - at > BLANKS_MAX {
        return None;
    }
    // `getenv('PASSWORD') or '…'`: the word chooses only behind a call.
    let called = quoted && scan.before(at) == b')' || scan.byte(blank_end) != b'o';
    let (sign, value) = match sign_at(scan, blank_end) {
        Some(found) if called => found,
        _ => return unsigned(scan, name, quoted, at, blank_end),
    };
    // `show ? "password" : "text"` chooses; it binds nothing.
    if quoted && scan.byte(blank_end) == b':' && is_choice(scan, name.start) {
        return None;
    }
    let value = skip_stars(scan, value);
    let start = scan.skip_blanks(value);
    if start - value > BLANKS_MAX {
        return None;
    }
    let bond = match sign {
        Sign::Equal if !quoted && blank_end == at && start == value => Bond::Tight,
        Sign::Compare => Bond::Compared,
        Sign::Comma if quoted => Bond::Listed,
        Sign::Comma => return None,
        Sign::Bar if start > value => Bond::Cell,
        Sign::Bar => return None,
        _ if quoted => Bond::Keyed,
        _ => Bond::Spaced,
    };
    Some((bond, start))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Equal,
    Colon,
    Arrow,
    Compare,
    Comma,
    Bar,
}

fn sign_at(scan: Scan<'_>, at: usize) -> Option<(Sign, usize)> {
    let signs: &[(&str, Sign)] = &[
        ("===", Sign::Compare),
        ("!==", Sign::Compare),
        ("==", Sign::Compare),
        ("!=", Sign::Compare),
        ("=>", Sign::Arrow),
        (":=", Sign::Arrow),
        ("<-", Sign::Arrow),
        ("?=", Sign::Arrow),
        ("=~", Sign::Compare),
        ("=", Sign::Equal),
        (":", Sign::Colon),
        ("：", Sign::Colon),
        (",", Sign::Comma),
        ("||=", Sign::Arrow),
        ("||", Sign::Compare),
        ("??", Sign::Compare),
        ("or ", Sign::Compare),
        ("|", Sign::Bar),
    ];
    let may_sign =
        matches!(scan.byte(at), b'=' | b'!' | b':' | b'<' | b'?' | b',' | b'|' | b'o' | 0xEF);
    if !may_sign || scan.starts(at, "::") {
        return None;
    }
    signs
        .iter()
        .find(|(text, _)| scan.starts(at, text))
        .map(|(text, sign)| (*sign, at + text.len()))
}

/// A name whose value follows without a sign.
fn unsigned(
    scan: Scan<'_>,
    name: &Name<'_>,
    quoted: bool,
    at: usize,
    blank_end: usize,
) -> Option<(Bond, usize)> {
    if quoted || blank_end == at {
        return None;
    }
    let next = scan.byte(blank_end);
    if (name.is_flag() || follows_setter(scan, name)) && !matches!(next, b'-' | b'\n' | b'\r' | 0) {
        return Some((Bond::Flag, blank_end));
    }
    // What is left is prose or code, and `pass` is a verb there.
    if name.text == "pass" {
        return None;
    }
    if matches!(next, b'\'' | b'"' | b'`') {
        return Some((Bond::Said, blank_end));
    }
    if !next.is_ascii_alphanumeric() && !matches!(next, b'-' | b'/' | b'+') {
        return None;
    }
    if name.text == "sshpass" && scan.starts(blank_end, "-p") {
        return Some((Bond::Flag, scan.skip_blanks(blank_end + 2)));
    }
    let verb = ["is ", "was ", "is: "].iter().find(|verb| scan.starts_caseless(blank_end, verb));
    if let Some(verb) = verb {
        return Some((Bond::Said, scan.skip_blanks(blank_end + verb.len())));
    }
    (is_number_near(scan, blank_end) || follows_login(scan, name))
        .then_some((Bond::Said, blank_end))
}

/// The value beside a name that is itself a value: `name: DB_PASSWORD` and on the next line
/// `value: …`, `"key": "password", "value": …`, `name="password" value=…`.
fn paired_value(scan: Scan<'_>, at: usize, quoted: bool) -> Option<usize> {
    const GAP_BYTES_MAX: usize = 64;
    let gap = |b: u8| b.is_ascii_whitespace() || b == b',';
    let word = scan.run_within(at, GAP_BYTES_MAX, gap);
    let line_break = || scan.part(at, word).contains('\n');
    if word == at || !quoted && !line_break() {
        return None;
    }
    let slashes = scan.run_within(word, 8, |b| b == b'\\');
    let word = slashes + usize::from(is_quote(scan.byte(slashes)));
    if !scan.starts_caseless(word, "value") {
        return None;
    }
    let after = skip_closing_quote(scan, word + "value".len());
    let sign = scan.skip_blanks(after);
    matches!(scan.byte(sign), b':' | b'=').then(|| scan.skip_blanks(sign + 1))
}

/// `ENV NAME value` in a Dockerfile, `setx NAME value` in a shell of Windows.
fn follows_setter(scan: Scan<'_>, name: &Name<'_>) -> bool {
    let ends = |word: &str| name.start >= word.len() && scan.starts(name.start - word.len(), word);
    name.is_shouted() && (ends("ENV ") || ends("setx "))
}

/// Whether a long word with a number in it follows, which only a generated secret may be.
fn is_number_near(scan: Scan<'_>, at: usize) -> bool {
    let end = scan.run_within(at, 64, |b| b > b' ');
    end - at >= 16 && (at..end).any(|place| scan.byte(place).is_ascii_digit())
}

/// `machine x login y password z`.
pub(super) fn follows_login(scan: Scan<'_>, name: &Name<'_>) -> bool {
    let name_start = name.start;
    if name.text != "password" {
        return false;
    }
    let blank = scan.run_back(name_start, 8, |b| b.is_ascii_whitespace());
    let user = scan.run_back(blank, 128, |b| !b.is_ascii_whitespace());
    let login = scan.run_back(user, 8, |b| b.is_ascii_whitespace());
    if blank == name_start || login < 5 || !scan.starts(login - 5, "login") {
        return false;
    }
    let before = scan.run_back(login - 5, 256, |_| true);
    let line = scan.part(tome_model::floor_boundary(scan.0, before), login);
    line.contains("machine ") || line.contains("default ")
}

/// `${NAME:-value}` and its kin.
fn fallback(scan: Scan<'_>, at: usize) -> Option<(Bond, usize)> {
    [":-", ":=", "-", "="]
        .iter()
        .find(|sign| scan.starts(at, sign))
        .map(|sign| (Bond::Fallback, at + sign.len()))
}

/// The place behind a closing quote with any number of backslashes before it.
fn skip_closing_quote(scan: Scan<'_>, at: usize) -> usize {
    let slashes = scan.run(at, |b| b == b'\\');
    if is_quote(scan.byte(slashes)) { slashes + 1 } else { at }
}

/// `env["NAME"] = …` and `char name[64] = …`.
fn skip_brackets(scan: Scan<'_>, at: usize, quoted: bool) -> usize {
    match scan.byte(at) {
        b']' | b')' if quoted => at + 1,
        b'[' if !quoted => {
            let inside = scan.run(at + 1, |b| b.is_ascii_digit());
            if scan.byte(inside) == b']' { inside + 1 } else { at }
        }
        _ => at,
    }
}

/// `**Password:** value` in Markdown; a lone star is a pointer.
fn skip_stars(scan: Scan<'_>, at: usize) -> usize {
    if scan.starts(at, "**") { at + 2 } else { at }
}

fn is_choice(scan: Scan<'_>, name_start: usize) -> bool {
    let quote = scan.run_back(name_start, 4, |b| is_quote(b) || b == b'\\');
    let blank = scan.run_back(quote, 4, is_blank);
    scan.before(blank) == b'?'
}

/// `let password: &str = "…"`: where the value behind what may be a type starts.
pub(super) fn behind_type(scan: Scan<'_>, at: usize) -> Option<usize> {
    const TYPE_BYTES_MAX: usize = 48;
    let end = scan.run_within(at, TYPE_BYTES_MAX, |b| {
        b.is_ascii_alphanumeric() || b" _&<>[]'.,?|:*".contains(&b)
    });
    let typed = end > at && scan.byte(end) == b'=';
    (typed && !matches!(scan.byte(end + 1), b'=' | b'>')).then(|| scan.skip_blanks(end + 1))
}
