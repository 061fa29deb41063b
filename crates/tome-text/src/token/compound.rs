//! Runs of characters without a gap: `src/daemon/reading.rs:45`, `a::b::c`, `well-known`.
//!
//! A run yields the words of its atoms and, as a whole, an identifier or a path.

use super::atom::{TermSink, emit_atom, split_atoms};
use super::class::CharClass;
use super::{EmitToken, TokenKind, truncate_term};

/// A longer run is neither identifier nor path; only its words are emitted.
const RUN_BYTES_MAX: usize = 512;

/// A name of more atoms is not an identifier.
const ATOMS_MAX: usize = 12;

/// Bytes of a file extension.
const EXTENSION_BYTES_MAX: usize = 6;

/// Passes every token of a folded text to `emit`.
pub(super) fn tokenize_folded(text: &str, emit: EmitToken<'_>) {
    let mut sink = TermSink::new(emit);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let class = run_class(first);
        let end = rest.find(|c| run_class(c) != class).unwrap_or(rest.len());
        let (run, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        match class {
            CharClass::Unspaced => emit_bigrams(run, &mut sink),
            CharClass::Word | CharClass::Joint => emit_run(run, after, &mut sink),
            CharClass::Gap => {}
        }
        rest = after;
    }
}

/// Joints belong to the surrounding run.
fn run_class(c: char) -> CharClass {
    match CharClass::from_char(c) {
        CharClass::Joint => CharClass::Word,
        class => class,
    }
}

/// Emits adjacent pairs, which stand for words, and single characters for queries of one character.
fn emit_bigrams(run: &str, sink: &mut TermSink<'_>) {
    let mut before: Option<(usize, char)> = None;
    let mut alone = true;
    for (at, letter) in run.char_indices() {
        let end = at + letter.len_utf8();
        if let Some((from, _)) = before {
            alone = false;
            sink.push(run.get(from..end).unwrap_or_default(), TokenKind::Word);
        }
        before = Some((at, letter));
    }
    if alone {
        sink.push(run, TokenKind::Word);
        return;
    }
    for (at, letter) in run.char_indices() {
        sink.push(run.get(at..at + letter.len_utf8()).unwrap_or_default(), TokenKind::Character);
    }
}

fn emit_run(run: &str, after: &str, sink: &mut TermSink<'_>) {
    let run = run.trim_matches(is_joint);
    if run.is_empty() {
        return;
    }
    if run.len() <= RUN_BYTES_MAX {
        if run.contains(['/', '\\']) {
            emit_path(run, sink);
        } else {
            emit_name(run, sink);
        }
    }
    for atom in split_atoms(run) {
        emit_atom(atom, sink);
    }
    emit_language(run, after, sink);
}

fn is_joint(c: char) -> bool {
    CharClass::from_char(c) == CharClass::Joint
}

/// `c++` and `c#`: languages whose names are mostly punctuation.
fn emit_language(run: &str, after: &str, sink: &mut TermSink<'_>) {
    let sign = ["++", "#"].into_iter().find(|sign| after.starts_with(sign));
    if let (Some(sign), 1) = (sign, run.len()) {
        sink.push(&format!("{run}{sign}"), TokenKind::Identifier);
    }
}

/// Emits the whole path, its last two components, and file names.
fn emit_path(run: &str, sink: &mut TermSink<'_>) {
    let path = run.split_once("://").map_or(run, |(_, path)| path);
    let path = strip_position(path);
    let names: Vec<&str> = path.split(['/', '\\']).filter(|name| !name.is_empty()).collect();
    for name in &names {
        emit_name(name, sink);
    }
    if names.len() < 2 {
        return;
    }
    sink.push(&path_suffix(&names), TokenKind::Path);
    if let [.., _, folder, file] = names.as_slice() {
        sink.push(&format!("{folder}/{file}"), TokenKind::Path);
    }
}

/// Joins as many trailing components of a path as fit into a term.
fn path_suffix(names: &[&str]) -> String {
    let mut bytes = 0;
    let kept = names.iter().rev().take_while(|name| {
        bytes += name.len() + 1;
        bytes <= super::TERM_BYTES_MAX + 1
    });
    let from = names.len().saturating_sub(kept.count());
    names.get(from..).unwrap_or_default().join("/")
}

/// Strips the position from `main.rs:45:10`.
fn strip_position(path: &str) -> &str {
    let mut path = path;
    while let Some((before, number)) = path.rsplit_once(':') {
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        path = before;
    }
    path
}

/// Emits a name: `a::b::c`, `foo.bar`, `kebab-case`, `reading.rs`.
fn emit_name(name: &str, sink: &mut TermSink<'_>) {
    let name = strip_position(name).trim_matches(is_joint);
    if is_file_name(name) {
        sink.push(truncate_term(name), TokenKind::Path);
    }
    let atoms: Vec<&str> = split_atoms(name).take(ATOMS_MAX + 1).collect();
    if atoms.len() < 2 || atoms.len() > ATOMS_MAX {
        return;
    }
    sink.push_joined(&atoms);
    // `tome_finder::Words::open` also matches `Words::open`.
    if let [_, .., before, last] = atoms.as_slice()
        && name.contains(['.', ':'])
    {
        sink.push_joined(&[before, last]);
    }
}

/// Whether a name is `stem.extension` with a letter in the extension.
fn is_file_name(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=EXTENSION_BYTES_MAX).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
    })
}
