//! Lumps: what stands together without a gap. `src/daemon/reading.rs:45`, `a::b::c`, `well-known`.
//!
//! A lump gives its atoms' words, and as a whole an identifier or a path.

use super::atom::{self, Emit};
use super::script::{Role, role};
use super::{Piece, Take, capped};

/// A longer lump is no identifier and no path: only its words are taken.
const LUMP_BYTES_MAX: usize = 512;

/// More atoms than this are no identifier.
const ATOMS_MAX: usize = 12;

/// A file's ending has at most so many letters.
const ENDING_BYTES_MAX: usize = 6;

/// Hands over every piece of a folded text.
pub(super) fn each(text: &str, take: Take<'_>) {
    let mut emit = Emit::new(take);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let of = kind(first);
        let end = rest.find(|letter| kind(letter) != of).unwrap_or(rest.len());
        let (run, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        match of {
            Kind::Lump => lump(run, after, &mut emit),
            Kind::Dense => dense(run, &mut emit),
            Kind::Gap => {}
        }
        rest = after;
    }
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Kind {
    Lump,
    Dense,
    Gap,
}

fn kind(letter: char) -> Kind {
    match role(letter) {
        Role::Word | Role::Joint => Kind::Lump,
        Role::Dense => Kind::Dense,
        Role::Gap => Kind::Gap,
    }
}

/// Pairs of neighbours, and each on its own: pairs are what is meant, single ones what is left of it.
fn dense(run: &str, emit: &mut Emit<'_>) {
    let mut before: Option<(usize, char)> = None;
    let mut alone = true;
    for (at, letter) in run.char_indices() {
        let end = at + letter.len_utf8();
        if let Some((from, _)) = before {
            alone = false;
            emit.folded(run.get(from..end).unwrap_or_default(), Piece::Word);
        }
        before = Some((at, letter));
    }
    if alone {
        emit.folded(run, Piece::Word);
        return;
    }
    for (at, letter) in run.char_indices() {
        emit.folded(run.get(at..at + letter.len_utf8()).unwrap_or_default(), Piece::Single);
    }
}

fn lump(run: &str, after: &str, emit: &mut Emit<'_>) {
    let lump = run.trim_matches(|letter| role(letter) == Role::Joint);
    if lump.is_empty() {
        return;
    }
    if lump.len() <= LUMP_BYTES_MAX {
        if lump.contains(['/', '\\']) {
            path(lump, emit);
        } else {
            compound(lump, emit);
        }
    }
    for atom in atom::atoms(lump) {
        atom::words(atom, emit);
    }
    sign(lump, after, emit);
}

/// `c++` and `c#`: languages whose names are mostly punctuation.
fn sign(lump: &str, after: &str, emit: &mut Emit<'_>) {
    let of = ["++", "#"].into_iter().find(|sign| after.starts_with(sign));
    if let (Some(sign), 1) = (of, lump.len()) {
        emit.folded(&format!("{lump}{sign}"), Piece::Identifier);
    }
}

/// The whole path, its last two names, and the name of the file.
fn path(lump: &str, emit: &mut Emit<'_>) {
    let lump = lump.split_once("://").map_or(lump, |(_, place)| place);
    let lump = without_place(lump);
    let names: Vec<&str> = lump.split(['/', '\\']).filter(|name| !name.is_empty()).collect();
    for name in &names {
        compound(name, emit);
    }
    if names.len() < 2 {
        return;
    }
    emit.folded(&ending_of(&names), Piece::Path);
    if let [.., _, folder, file] = names.as_slice() {
        emit.folded(&format!("{folder}/{file}"), Piece::Path);
    }
}

/// As much of a path's end as a term holds, in whole names.
fn ending_of(names: &[&str]) -> String {
    let mut bytes = 0;
    let kept = names.iter().rev().take_while(|name| {
        bytes += name.len() + 1;
        bytes <= super::TERM_BYTES_MAX + 1
    });
    let from = names.len().saturating_sub(kept.count());
    names.get(from..).unwrap_or_default().join("/")
}

/// `main.rs:45:10` is about `main.rs`.
fn without_place(lump: &str) -> &str {
    let mut lump = lump;
    while let Some((before, place)) = lump.rsplit_once(':') {
        if place.is_empty() || !place.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        lump = before;
    }
    lump
}

/// One name: `a::b::c`, `foo.bar`, `kebab-case`, `reading.rs`.
fn compound(name: &str, emit: &mut Emit<'_>) {
    let name = without_place(name).trim_matches(|letter| role(letter) == Role::Joint);
    if is_file(name) {
        emit.folded(capped(name), Piece::Path);
    }
    let atoms: Vec<&str> = atom::atoms(name).take(ATOMS_MAX + 1).collect();
    if atoms.len() < 2 || atoms.len() > ATOMS_MAX {
        return;
    }
    emit.joined(&atoms);
    // `Words::open` is also what `tome_finder::Words::open` ends in.
    if let [_, .., before, last] = atoms.as_slice()
        && name.contains(['.', ':'])
    {
        emit.joined(&[before, last]);
    }
}

/// `stem.ending`, with a letter in the ending.
fn is_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=ENDING_BYTES_MAX).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}
