//! Tokens of a text, for indexes and queries.
//!
//! A text is folded (compatibility forms, case, Latin accents) and split into runs, a run into
//! atoms, an atom into words. Whole identifiers and paths are emitted in addition to their words.
//! Linear in the text; no term is longer than [`TERM_BYTES_MAX`].

mod atom;
mod class;
mod compound;

use std::collections::HashSet;

use crate::fold::compatibility_form;
use crate::script::Script;
use crate::stem::stem;

pub use atom::subwords;

/// Raise with every change to the output of [`tokenize`] or [`stem`]; indexes built by another
/// version are rebuilt.
pub const ANALYZER_VERSION: u32 = 2;

/// Longer terms are truncated.
pub const TERM_BYTES_MAX: usize = 64;

/// Kinds of tokens. No token contains white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A word, not stemmed; or two adjacent characters of an unspaced script.
    Word,
    /// A single character of an unspaced script that has neighbors.
    Character,
    /// A whole identifier, error code, hash or version.
    Identifier,
    /// A path, the end of one, or a file name.
    Path,
}

/// Receives the tokens of a text.
type EmitToken<'a> = &'a mut dyn FnMut(TokenKind, &str);

/// Passes every token of a text to `emit`, in order.
pub fn tokenize(text: &str, emit: EmitToken<'_>) {
    compound::tokenize_folded(&compatibility_form(text), emit);
}

/// Returns the distinct stems of a text's words, in order.
pub fn stemmed_terms(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut terms = Vec::new();
    tokenize(text, &mut |kind, word| {
        if kind == TokenKind::Word {
            let stem = stem(word);
            if !seen.contains(stem.as_ref()) {
                seen.insert(stem.clone().into_owned());
                terms.push(stem.into_owned());
            }
        }
    });
    terms
}

/// Returns the lowercase words of a text, split at anything that is not alphanumeric.
pub fn plain_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Counts words. Two characters of a fully unspaced script count as one.
pub fn count_words(text: &str) -> usize {
    let is_run_on = |c: char| !matches!(Script::from_char(c), Script::Other | Script::Hangul);
    let unspaced = text.chars().filter(|c| is_run_on(*c)).count();
    let is_word = |word: &&str| word.contains(|c: char| c.is_alphanumeric() && !is_run_on(c));
    text.split_whitespace().filter(is_word).count() + unspaced / 2
}

/// Truncates a term that is too long.
fn truncate_term(term: &str) -> &str {
    term.get(..term.floor_char_boundary(TERM_BYTES_MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
