//! Atoms: `parse_http_header`, `HTTPServer2`, `v1.2.3`, `3f9a2b1c`, `don't`.
//!
//! An atom gives its words (the humps and the pieces between underscores), and where it is more than
//! one word, or more than letters, an identifier: all of it in lower case without the joints, so that
//! `parseHttpHeader`, `parse-http-header` and `PARSE_HTTP_HEADER` are the same. Between two digits the
//! joint stays, as a dot: `1.23` is not `12.3`.

use super::fold::push_folded;
use super::{Piece, Take, capped};

/// Hexadecimal digits make a hash from here on, if there are letters and figures among them.
const HASH_MIN: usize = 7;

/// The beginnings of a hash that people write instead of all of it.
const SHORT_HASHES: [usize; 2] = [7, 8];

/// Hands pieces over, folded and capped.
pub(super) struct Emit<'a> {
    take: Take<'a>,
    term: String,
}

impl<'a> Emit<'a> {
    pub(super) fn new(take: Take<'a>) -> Self {
        Self { take, term: String::new() }
    }

    /// One piece, folded.
    pub(super) fn folded(&mut self, text: &str, piece: Piece) {
        self.term.clear();
        for letter in text.chars() {
            if self.term.len() >= super::TERM_BYTES_MAX {
                break;
            }
            push_folded(if letter == '\\' { '/' } else { letter }, &mut self.term);
        }
        let term = capped(&self.term);
        if !term.is_empty() {
            (self.take)(piece, term);
        }
    }

    /// Atoms, as one identifier.
    pub(super) fn joined(&mut self, atoms: &[&str]) {
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
                if is_joint && letter.is_ascii_digit() && ends_in_figure(&self.term) {
                    self.term.push('.');
                }
                is_joint = false;
                push_folded(letter, &mut self.term);
            }
        }
        let term = capped(&self.term);
        if !term.is_empty() {
            (self.take)(Piece::Identifier, term);
        }
    }
}

fn ends_in_figure(term: &str) -> bool {
    term.bytes().next_back().is_some_and(|byte| byte.is_ascii_digit())
}

/// The atoms of a lump: parted by joints, except a dot between figures and an apostrophe between letters.
pub(super) fn atoms(lump: &str) -> impl Iterator<Item = &str> {
    let mut rest = lump;
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

/// The words of an atom, and what it is as a whole.
pub(super) fn words(atom: &str, emit: &mut Emit<'_>) {
    let plain;
    let atom = if atom.contains(['\'', '\u{2019}']) {
        plain = without_apostrophe(atom);
        plain.as_str()
    } else {
        atom
    };
    let atom = atom.trim_matches('_');
    if atom.contains('.') {
        version(atom, emit);
    } else if is_hash(atom) {
        hash(atom, emit);
    } else if !atom.is_empty() {
        parts(atom, emit);
    }
}

/// `don't` is one word, `it's` is `it`, `they've` is `they`, `o'clock` is `oclock`.
fn without_apostrophe(atom: &str) -> String {
    let mut pieces = atom.split(['\'', '\u{2019}']);
    let mut word = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        if !matches!(piece.to_ascii_lowercase().as_str(), "s" | "m" | "re" | "ve" | "d" | "ll") {
            word.push_str(piece);
        }
    }
    word
}

/// `1.2.3`, `v1.2.3`, `1.2.3rc1`, `192.168.0.1`, `3.14`: not taken apart, the figures mean nothing alone.
fn version(atom: &str, emit: &mut Emit<'_>) {
    let number = match atom.strip_prefix(['v', 'V']) {
        Some(number) if number.starts_with(|first: char| first.is_ascii_digit()) => number,
        _ => atom,
    };
    emit.folded(number, Piece::Word);
    emit.folded(number, Piece::Identifier);
    let end = number.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let core = end.and_then(|end| number.get(..end)).map(|core| core.trim_end_matches('.'));
    if let Some(core) = core.filter(|core| core.contains('.')) {
        emit.folded(core, Piece::Word);
        emit.folded(core, Piece::Identifier);
    }
}

fn is_hash(atom: &str) -> bool {
    atom.len() >= HASH_MIN
        && atom.bytes().all(|byte| byte.is_ascii_hexdigit())
        && atom.bytes().any(|byte| byte.is_ascii_digit())
        && atom.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// All of it, and its beginnings; among the words only the shortest.
fn hash(atom: &str, emit: &mut Emit<'_>) {
    emit.folded(atom.get(..HASH_MIN).unwrap_or(atom), Piece::Word);
    emit.folded(atom, Piece::Identifier);
    for short in SHORT_HASHES.into_iter().filter(|short| *short < atom.len()) {
        emit.folded(atom.get(..short).unwrap_or(atom), Piece::Identifier);
    }
}

fn parts(atom: &str, emit: &mut Emit<'_>) {
    let figures_apart = has_figures_apart(atom);
    let mut count = 0_usize;
    for piece in atom.split('_').filter(|piece| !piece.is_empty()) {
        let mut rest = piece;
        while !rest.is_empty() {
            let end = hump_end(rest, figures_apart);
            let (part, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            emit.folded(part, Piece::Word);
            rest = after;
            count += 1;
        }
    }
    let is_mixed =
        || atom.bytes().any(|byte| byte.is_ascii_digit()) && atom.chars().any(char::is_alphabetic);
    if count > 1 || is_mixed() {
        emit.joined(&[atom]);
    }
}

/// Whether figures are words of their own: in `sha256` and `10ms`, not in `e0308`, `x86` or `b2c4`.
fn has_figures_apart(atom: &str) -> bool {
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

/// Where the first hump ends: `parse|Http`, `HTTP|Server`, `URLs`, `sha|256`.
fn hump_end(rest: &str, figures_apart: bool) -> usize {
    let mut letters = rest.char_indices().peekable();
    let Some((_, mut before)) = letters.next() else { return 0 };
    while let Some((at, letter)) = letters.next() {
        let after = letters.peek().map(|(_, after)| *after);
        let is_edge = if letter.is_ascii_digit() != before.is_ascii_digit() {
            figures_apart || (before.is_ascii_digit() && letter.is_uppercase())
        } else {
            is_hump(before, letter, after, rest.get(at..).unwrap_or_default())
        };
        if is_edge {
            return at;
        }
        before = letter;
    }
    rest.len()
}

fn is_hump(before: char, letter: char, after: Option<char>, from_here: &str) -> bool {
    if !letter.is_uppercase() {
        return false;
    }
    if before.is_lowercase() {
        return true;
    }
    // The last capital of a row begins the next word, unless only a plural s follows.
    before.is_uppercase()
        && after.is_some_and(char::is_lowercase)
        && !(after == Some('s') && from_here.chars().count() == 2)
}
