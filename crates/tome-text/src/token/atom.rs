//! Atoms: `parse_http_header`, `HTTPServer2`, `v1.2.3`, `3f9a2b1c`, `don't`.
//!
//! An atom yields its subwords, and an identifier if it has several of them or mixes letters and
//! digits: the whole atom in lower case without joints, so that `parseHttpHeader`,
//! `parse-http-header` and `PARSE_HTTP_HEADER` are equal. Between two digits the joint stays, as a
//! dot: `1.23` is not `12.3`.

use super::{EmitToken, TokenKind, truncate_term};
use crate::fold::push_folded;

/// Shortest run of hexadecimal digits that counts as a hash, if it has letters and digits.
const HASH_MIN: usize = 7;

/// Common lengths of abbreviated hashes.
const SHORT_HASHES: [usize; 2] = [7, 8];

/// Emits terms, folded and truncated.
pub(super) struct TermSink<'a> {
    emit: EmitToken<'a>,
    term: String,
}

impl<'a> TermSink<'a> {
    pub(super) fn new(emit: EmitToken<'a>) -> Self {
        Self { emit, term: String::new() }
    }

    /// Emits one text as a term.
    pub(super) fn push(&mut self, text: &str, kind: TokenKind) {
        self.term.clear();
        for letter in text.chars() {
            if self.term.len() >= super::TERM_BYTES_MAX {
                break;
            }
            push_folded(if letter == '\\' { '/' } else { letter }, &mut self.term);
        }
        let term = truncate_term(&self.term);
        if !term.is_empty() {
            (self.emit)(kind, term);
        }
    }

    /// Emits atoms as one identifier.
    pub(super) fn push_joined(&mut self, atoms: &[&str]) {
        self.term.clear();
        for atom in atoms {
            let mut is_joint = true;
            for letter in atom.chars().filter(|letter| !matches!(letter, '\'' | '\u{2019}')) {
                if self.term.len() >= super::TERM_BYTES_MAX {
                    break;
                }
                if letter == '_' {
                    is_joint = true;
                    continue;
                }
                if is_joint && letter.is_ascii_digit() && ends_in_digit(&self.term) {
                    self.term.push('.');
                }
                is_joint = false;
                push_folded(letter, &mut self.term);
            }
        }
        let term = truncate_term(&self.term);
        if !term.is_empty() {
            (self.emit)(TokenKind::Identifier, term);
        }
    }
}

fn ends_in_digit(term: &str) -> bool {
    term.bytes().next_back().is_some_and(|byte| byte.is_ascii_digit())
}

/// Splits a run into atoms at joints, except at a dot between digits or an apostrophe between
/// letters.
pub(super) fn split_atoms(run: &str) -> impl Iterator<Item = &str> {
    let mut rest = run;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(is_joint);
        let end = atom_end(rest)?;
        let (atom, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(atom)
    })
}

fn is_joint(letter: char) -> bool {
    matches!(letter, '.' | '/' | '\\' | ':' | '-' | '\'' | '\u{2019}')
}

fn atom_end(rest: &str) -> Option<usize> {
    let mut letters = rest.char_indices().peekable();
    let mut before = letters.next()?.1;
    while let Some((at, letter)) = letters.next() {
        if is_joint(letter) {
            let after = letters.peek().map_or(' ', |(_, after)| *after);
            let stays = match letter {
                '.' => before.is_ascii_digit() && after.is_ascii_digit(),
                '\'' | '\u{2019}' => before.is_alphabetic() && after.is_alphabetic(),
                _ => false,
            };
            if !stays {
                return Some(at);
            }
        }
        before = letter;
    }
    Some(rest.len())
}

/// Emits the words of an atom, and the whole atom if it is more than a word.
pub(super) fn emit_atom(atom: &str, sink: &mut TermSink<'_>) {
    let plain;
    let atom = if atom.contains(['\'', '\u{2019}']) {
        plain = strip_apostrophe(atom);
        plain.as_str()
    } else {
        atom
    };
    let atom = atom.trim_matches('_');
    if atom.contains('.') {
        emit_version(atom, sink);
    } else if is_hash(atom) {
        emit_hash(atom, sink);
    } else if !atom.is_empty() {
        emit_subwords(atom, sink);
    }
}

/// `don't` becomes `dont`, `it's` becomes `it`, `they've` becomes `they`, `o'clock` becomes
/// `oclock`.
fn strip_apostrophe(atom: &str) -> String {
    let mut pieces = atom.split(['\'', '\u{2019}']);
    let mut word = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        if !matches!(piece.to_ascii_lowercase().as_str(), "s" | "m" | "re" | "ve" | "d" | "ll") {
            word.push_str(piece);
        }
    }
    word
}

/// `1.2.3`, `v1.2.3`, `1.2.3rc1`, `192.168.0.1`, `3.14`: not split, since their numbers mean
/// nothing alone.
fn emit_version(atom: &str, sink: &mut TermSink<'_>) {
    let number = match atom.strip_prefix(['v', 'V']) {
        Some(number) if number.starts_with(|first: char| first.is_ascii_digit()) => number,
        _ => atom,
    };
    sink.push(number, TokenKind::Word);
    sink.push(number, TokenKind::Identifier);
    let end = number.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let core = end.and_then(|end| number.get(..end)).map(|core| core.trim_end_matches('.'));
    if let Some(core) = core.filter(|core| core.contains('.')) {
        sink.push(core, TokenKind::Word);
        sink.push(core, TokenKind::Identifier);
    }
}

fn is_hash(atom: &str) -> bool {
    atom.len() >= HASH_MIN
        && atom.bytes().all(|byte| byte.is_ascii_hexdigit())
        && atom.bytes().any(|byte| byte.is_ascii_digit())
        && atom.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Emits the hash and its usual abbreviations; only the shortest one as a word.
fn emit_hash(atom: &str, sink: &mut TermSink<'_>) {
    sink.push(atom.get(..HASH_MIN).unwrap_or(atom), TokenKind::Word);
    sink.push(atom, TokenKind::Identifier);
    for short in SHORT_HASHES.into_iter().filter(|short| *short < atom.len()) {
        sink.push(atom.get(..short).unwrap_or(atom), TokenKind::Identifier);
    }
}

fn emit_subwords(atom: &str, sink: &mut TermSink<'_>) {
    let mut count = 0_usize;
    for subword in split_subwords(atom, splits_digits(atom)) {
        sink.push(subword, TokenKind::Word);
        count += 1;
    }
    let is_mixed =
        || atom.bytes().any(|byte| byte.is_ascii_digit()) && atom.chars().any(char::is_alphabetic);
    if count > 1 || is_mixed() {
        sink.push_joined(&[atom]);
    }
}

/// Splits an identifier into words: `parse_HTTPHeader2` into `parse`, `HTTP` and `Header2`.
pub fn subwords(identifier: &str) -> impl Iterator<Item = &str> {
    split_subwords(identifier, false)
}

fn split_subwords(identifier: &str, splits_digits: bool) -> impl Iterator<Item = &str> {
    identifier.split('_').flat_map(move |part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let (subword, after) = rest.split_at_checked(subword_end(rest, splits_digits))?;
            rest = after;
            (!subword.is_empty()).then_some(subword)
        })
    })
}

/// Whether digits are separate words: in `sha256` and `10ms`, but not in `e0308`, `x86` or `b2c4`.
fn splits_digits(atom: &str) -> bool {
    let mut run = 0_usize;
    let mut has_short = false;
    for letter in atom.chars() {
        if letter.is_alphabetic() {
            run += 1;
        } else {
            has_short |= run == 1;
            run = 0;
        }
    }
    !(has_short || run == 1)
}

/// End of the first subword: `parse|Http`, `HTTP|Server`, `URLs`, `sha|256`.
fn subword_end(rest: &str, splits_digits: bool) -> usize {
    let mut letters = rest.char_indices().peekable();
    let Some((_, mut before)) = letters.next() else { return 0 };
    while let Some((at, letter)) = letters.next() {
        let after = letters.peek().map(|(_, after)| *after);
        let is_edge = if letter.is_ascii_digit() != before.is_ascii_digit() {
            splits_digits || (before.is_ascii_digit() && letter.is_uppercase())
        } else {
            starts_subword(before, letter, after, rest.get(at..).unwrap_or_default())
        };
        if is_edge {
            return at;
        }
        before = letter;
    }
    rest.len()
}

fn starts_subword(before: char, letter: char, after: Option<char>, from_here: &str) -> bool {
    if !letter.is_uppercase() {
        return false;
    }
    if before.is_lowercase() {
        return true;
    }
    // The last of several capitals starts the next subword, unless only a plural s follows.
    before.is_uppercase()
        && after.is_some_and(char::is_lowercase)
        && !(after == Some('s') && from_here.chars().count() == 2)
}
