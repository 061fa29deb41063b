//! Assignments: a name that says a secret follows, and the value that follows it.
//!
//! The name stays, the value goes. `separator` finds how the two are bound, `extent` finds where
//! the value ends, `value` decides whether what it is made of is a secret; this file weighs them.

use super::cut::{Cut, Sure};
use super::extent::{self, Extent, extent};
use super::name::{Name, Weight};
use super::randomness::is_random;
use super::scan::{Scan, is_quote};
use super::separator::{self, Bond};
use super::value::{self, Setting};

/// The secret behind the name around this stem.
pub(super) fn at_stem(scan: Scan<'_>, stem: usize) -> Option<Cut<'static>> {
    let name = Name::around(scan, stem)?;
    let (bond, start) = separator::find(scan, &name)?;
    // Last, because it costs most and most names bind nothing.
    let weight = name.weigh()?;
    let bound = Bound { name, bond, weight };
    let typed = bond == Bond::Spaced && scan.part(bound.name.end, start).starts_with(':');
    let behind = typed.then(|| separator::behind_type(scan, start)).flatten();
    bound
        .secret_at(scan, start)
        .or_else(|| bound.literal_at(scan, behind?))
        .or_else(|| bound.secret_at(scan, extent::block_line(scan, start)?))
}

/// The literal that starts here with its quote, behind words that leave no doubt.
pub(super) fn at_literal(scan: Scan<'_>, start: usize) -> Option<Cut<'static>> {
    let value = extent::quoted(scan, start)?;
    value::is_secret(extent::judged(scan, value), Setting::Quoted, Weight::Firm)
        .then(|| Cut::secret(value.start, value.end, "password", Sure::Placed))
}

/// A name and how its value is bound to it.
struct Bound<'t> {
    name: Name<'t>,
    bond: Bond,
    weight: Weight,
}

impl Bound<'_> {
    fn secret_at(&self, scan: Scan<'_>, start: usize) -> Option<Cut<'static>> {
        if is_closing_quote(scan, &self.name, start) {
            return None;
        }
        let value = match self.bond {
            Bond::Fallback => extent::until(scan, start, b'}')?,
            Bond::Element => extent::element(scan, &self.name, start)?,
            _ => extent(scan, start)?,
        };
        let cut = |value: Extent| {
            let kind = self.name.kind();
            Cut::secret(value.start, value.end_in(scan), kind, Sure::Placed)
        };
        let text = extent::judged(scan, value);
        if self.binds(scan, value, text)
            && value::is_secret(text, self.setting(scan, value), self.weight)
        {
            return Some(cut(value));
        }
        let inner = extent::wrapped(scan, start)?;
        value::is_secret(extent::judged(scan, inner), Setting::Quoted, self.weight)
            .then(|| cut(inner))
    }

    /// Behind a type only a literal is a secret.
    fn literal_at(&self, scan: Scan<'_>, start: usize) -> Option<Cut<'static>> {
        (extent(scan, start).is_some_and(|value| value.quoted)
            || extent::wrapped(scan, start).is_some())
        .then(|| self.secret_at(scan, start))
        .flatten()
    }

    /// Some bonds also bind what is no value; there it has to look like one.
    fn binds(&self, scan: Scan<'_>, value: Extent, text: &str) -> bool {
        let mixed = text.len() >= 6
            && text.bytes().any(|b| b.is_ascii_digit())
            && text.bytes().any(|b| b.is_ascii_alphabetic());
        match self.bond {
            Bond::Compared => value.quoted,
            Bond::Listed => {
                value.quoted && mixed && self.weight == Weight::Firm && !value::is_wordy(text)
            }
            Bond::Said if !is_password(&self.name) => {
                is_random(text) || text.len() == 40 && self.name.kind() == "aws"
            }
            Bond::Said if value.quoted => mixed || self.name.is_shouted(),
            Bond::Said if is_said(scan, &self.name, value) => mixed,
            Bond::Said => is_random(text) || is_login(scan, &self.name, value),
            Bond::Cell => self.weight == Weight::Firm,
            Bond::Flag => !is_prose(scan, value, text),
            _ => true,
        }
    }

    fn setting(&self, scan: Scan<'_>, value: Extent) -> Setting {
        if value.quoted {
            return Setting::Quoted;
        }
        let shouted = self.name.is_shouted();
        let argument = matches!(scan.byte(value.end), b',' | b')');
        let alone = scan.skip_blanks(value.end);
        let ends_line = matches!(scan.byte(alone), b'\n' | b'\r' | b'#' | 0);
        match self.bond {
            Bond::Tight if argument && !shouted => Setting::Loose,
            Bond::Tight | Bond::Flag | Bond::Fallback | Bond::Element => Setting::Bare,
            Bond::Spaced | Bond::Keyed if shouted && ends_line => Setting::Bare,
            Bond::Spaced if ends_line && is_yaml(scan, &self.name, value) => Setting::Bare,
            Bond::Said if is_login(scan, &self.name, value) => Setting::Bare,
            _ => Setting::Loose,
        }
    }
}

/// `print("password: " + x)`: the quote behind the name closes the string that the name is in.
fn is_closing_quote(scan: Scan<'_>, name: &Name<'_>, start: usize) -> bool {
    const LINE_BYTES_MAX: usize = 256;
    let quote = scan.byte(start);
    if !is_quote(quote) || is_quote(scan.byte(name.end)) {
        return false;
    }
    let line = scan.run_back(name.start, LINE_BYTES_MAX, |b| b != b'\n');
    let opens = (line..name.start).filter(|at| {
        let apostrophe =
            scan.before(*at).is_ascii_alphanumeric() && scan.byte(at + 1).is_ascii_alphanumeric();
        scan.byte(*at) == quote && scan.before(*at) != b'\\' && !apostrophe
    });
    opens.count() % 2 == 1
}

fn is_password(name: &Name<'_>) -> bool {
    let lower = name.text.to_ascii_lowercase();
    lower.contains("pass") || lower.contains("pwd")
}

/// `the password is …`: a word stands between.
fn is_said(scan: Scan<'_>, name: &Name<'_>, value: Extent) -> bool {
    scan.skip_blanks(name.end) != value.start
}

/// In a `.netrc` the value follows the name after one blank.
fn is_login(scan: Scan<'_>, name: &Name<'_>, value: Extent) -> bool {
    !value.quoted && !is_said(scan, name, value) && separator::follows_login(scan, name)
}

/// `the --password flag to`: a word with another word behind it.
fn is_prose(scan: Scan<'_>, value: Extent, text: &str) -> bool {
    let next = scan.skip_blanks(value.end);
    !value.quoted
        && text.bytes().all(|b| b.is_ascii_alphabetic())
        && next > value.end
        && scan.byte(next).is_ascii_lowercase()
}

/// `  password: postgres` alone on its line, and what follows closes no object of a program.
fn is_yaml(scan: Scan<'_>, name: &Name<'_>, value: Extent) -> bool {
    let indent = scan.run_back(name.start, 64, |b| matches!(b, b' ' | b'-'));
    let next = scan.run(value.end, |b| b.is_ascii_whitespace());
    let word = scan.part(value.start, value.end);
    matches!(scan.before(indent), b'\n' | 0)
        && scan.byte(name.end) == b':'
        && is_password(name)
        && name.text.bytes().next().is_some_and(|b| b.is_ascii_lowercase())
        && !word.starts_with(|c: char| c.is_ascii_uppercase())
        && !matches!(scan.byte(next), b'}' | b')' | b']')
}
