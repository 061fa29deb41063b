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
        b'?' | b'!' | b'(' | b'.' | b';' => return None,
        _ => {}
    }
    if scan.before(name.start) == b'{' && scan.before(name.start.saturating_sub(1)) == b'$' {
        return fallback(scan, name.end);
    }
    let closed = skip_closing_quote(scan, name.end);
    let quoted = closed > name.end;
    let mut at = skip_brackets(scan, closed, quoted);
    at = scan.run(at, |b| b == b'*');
    let blank_end = scan.skip_blanks(at);
    if blank_end - at > BLANKS_MAX {
        return None;
    }
    let (sign, value) = match sign_at(scan, blank_end) {
        Some(found) => found,
        None => return unsigned(scan, name, quoted, at, blank_end),
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
        ("|", Sign::Bar),
    ];
    if scan.starts(at, "::") || scan.starts(at, "||") && !scan.starts(at, "||=") {
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
    if let Some(value) = paired_value(scan, at) {
        return Some((Bond::Keyed, value));
    }
    if quoted || blank_end == at {
        return None;
    }
    if name.is_flag() && !matches!(scan.byte(blank_end), b'-' | b'\n' | b'\r' | 0) {
        return Some((Bond::Flag, blank_end));
    }
    if scan.starts_caseless(at - 4.min(at), "pass") && scan.starts(blank_end, "-p") {
        return sshpass(scan, name, blank_end);
    }
    let said = match scan.byte(blank_end) {
        b'\'' | b'"' => Some(blank_end),
        _ => ["is ", "was ", "is: ", "= "]
            .iter()
            .find(|verb| scan.starts_caseless(blank_end, verb))
            .map(|verb| scan.skip_blanks(blank_end + verb.len()))
            .or_else(|| follows_login(scan, name.start).then_some(blank_end)),
    };
    said.map(|value| (Bond::Said, value))
}

/// `- name: DB_PASSWORD` and on the next line `value: …`, in YAML or JSON.
fn paired_value(scan: Scan<'_>, at: usize) -> Option<usize> {
    let comma = scan.run(at, |b| b == b',');
    let line = scan.run(comma, |b| b.is_ascii_whitespace());
    if line == at || comma == at && !scan.part(comma, line).contains('\n') {
        return None;
    }
    let word = line + usize::from(is_quote(scan.byte(line)));
    if !scan.starts_caseless(word, "value") {
        return None;
    }
    let after = skip_closing_quote(scan, word + "value".len());
    let colon = scan.skip_blanks(after);
    (scan.byte(colon) == b':').then(|| scan.skip_blanks(colon + 1))
}

fn sshpass(scan: Scan<'_>, name: &Name<'_>, at: usize) -> Option<(Bond, usize)> {
    let ends = scan.part(name.start, name.end).ends_with("sshpass");
    ends.then(|| (Bond::Flag, scan.skip_blanks(at + 2)))
}

/// `machine x login y password z`.
fn follows_login(scan: Scan<'_>, name_start: usize) -> bool {
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
    if is_quote(scan.byte(slashes)) {
        slashes + 1
    } else {
        at
    }
}

/// `env["NAME"] = …` and `char name[64] = …`.
fn skip_brackets(scan: Scan<'_>, at: usize, quoted: bool) -> usize {
    match scan.byte(at) {
        b']' | b')' if quoted => at + 1,
        b'[' if !quoted => {
            let inside = scan.run(at + 1, |b| b.is_ascii_digit());
            if scan.byte(inside) == b']' {
                inside + 1
            } else {
                at
            }
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
