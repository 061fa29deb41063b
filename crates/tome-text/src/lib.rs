//! Text analysis: scripts, folding, tokens, stems, stop words, content words, sentences, excerpts,
//! plurals and token estimates. Each exists once in the workspace, so that an index, a query and a title agree on
//! what a word is.
//!
//! Pure functions over strings: no I/O, no state except buffers, no other crate of the workspace.

mod content_words;
mod estimate;
mod excerpt;
mod fold;
mod hidden;
mod script;
mod sentence;
mod stem;
mod stop_words;
mod token;

pub use content_words::{content_stems, content_words};
pub use estimate::{
    estimate_tokens, estimate_tokens_conservatively, head_within, tail_within, token_units,
    tokens_to_units, units_to_tokens,
};
pub use excerpt::{
    LineBreaks, collapse_whitespace, excerpt_around, extends_grapheme, first_chars, is_table_rule,
    shorten_line, truncate_bytes, truncate_chars, truncate_words,
};
pub use fold::{FoldedText, fold_char, fold_text, with_folded};
pub use hidden::{HiddenClass, is_display_control, is_invisible};
pub use script::{Script, is_han_or_kana, is_unspaced};
pub use sentence::{
    count_noun, ends_sentence, finish_sentence, normalize_sentence, sentences_around,
    split_sentences,
};
pub use stem::stem;
pub use stop_words::{CHINESE_QUESTION_WORDS, StopClass, is_han_particle, is_stop_word};
pub use token::{
    ANALYZER_VERSION, TERM_BYTES_MAX, TokenKind, count_words, plain_words, stemmed_terms, subwords,
    tokenize,
};
