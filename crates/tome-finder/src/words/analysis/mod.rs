//! Cutting a text into terms: the same for what is put in and for what is asked.
//!
//! A text is folded (compatibility forms, case, accents of Latin letters) and cut into lumps, a lump
//! into atoms, an atom into words. What is more than a word, whole identifiers and paths, comes out
//! beside its words. Every step is linear in the text, and no term is longer than [`TERM_BYTES_MAX`].

mod atom;
mod fold;
mod lump;
mod script;
mod stop;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;

use tantivy::tokenizer::{Language, Stemmer, TextAnalyzer, WhitespaceTokenizer};

pub use script::is_dense as is_spaceless;
pub(crate) use stop::is_stop;

/// Goes up with every change of what comes out here: an index made by another cut is made again.
pub(crate) const CUT_VERSION: u32 = 1;

/// A term is cut off here, on a character: longer ones are nothing that anybody would type.
pub(crate) const TERM_BYTES_MAX: usize = 64;

/// What a text is cut into. None of it contains white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Piece {
    /// A word, not stemmed yet; or two neighbouring characters of a script that has no spaces.
    Word,
    /// One character of such a script, where it has neighbours.
    Single,
    /// A whole identifier, error code, hash or version.
    Identifier,
    /// A path, the end of one, or the name of a file.
    Path,
}

/// Who is given the pieces of a text.
type Take<'a> = &'a mut dyn FnMut(Piece, &str);

/// Cuts a text and hands over every piece, in order.
pub(crate) fn cut(text: &str, take: Take<'_>) {
    let folded = fold::compatible(text);
    lump::each(&folded, take);
}

/// The distinct terms of a text, in order, as the index has them in its field of words.
pub fn terms(text: &str) -> Vec<String> {
    let mut words = String::new();
    cut(text, &mut |piece, word| {
        if piece == Piece::Word {
            words.push_str(word);
            words.push(' ');
        }
    });
    let mut seen = HashSet::new();
    let mut distinct = Vec::new();
    stemmed(&words, &mut |term| {
        if seen.insert(term.to_owned()) {
            distinct.push(term.to_owned());
        }
    });
    distinct
}

/// Stems words that are parted by white space.
pub(crate) fn stemmed(words: &str, take: &mut dyn FnMut(&str)) {
    thread_local! {
        static ANALYZER: RefCell<TextAnalyzer> = RefCell::new(words_analyzer());
    }
    ANALYZER.with_borrow_mut(|analyzer| {
        analyzer.token_stream(words).process(&mut |token| take(&token.text));
    });
}

/// The stem of one word.
pub(crate) fn stem(word: &str) -> String {
    let mut root = String::new();
    stemmed(word, &mut |term| root = term.to_owned());
    root
}

/// What the index does with words that are parted by white space: it stems them.
///
/// Identifiers and paths are parted likewise, and left as they are (tantivy's own cut at white space).
pub(crate) fn words_analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(WhitespaceTokenizer::default())
        .filter(Stemmer::new(Language::English))
        .build()
}

/// The beginning of a term that is too long, on a character.
pub(crate) fn capped(term: &str) -> &str {
    let end = term.floor_char_boundary(TERM_BYTES_MAX.min(term.len()));
    term.get(..end).unwrap_or_default()
}

/// Owned only where it had to be changed.
type Folded<'a> = Cow<'a, str>;

#[cfg(test)]
mod tests;
