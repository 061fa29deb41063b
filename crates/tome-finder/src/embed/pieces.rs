//! `WordPiece`: splits a word greedily into the longest vocabulary pieces. A word that cannot be
//! split completely yields no tokens at all.

use super::characters::words;
use super::model::{Model, PIECE_BYTES_MAX, Place, hashed};

/// Returns the token ids of a text in order, with duplicates.
pub(super) fn tokens(model: &Model<'_>, text: &str) -> Vec<u32> {
    let mut tokens = Vec::new();
    words(text, |word| cut(model, word.as_bytes(), &mut tokens));
    tokens
}

fn cut(model: &Model<'_>, word: &[u8], tokens: &mut Vec<u32>) {
    let before = tokens.len();
    let mut rest = word;
    let mut place = Place::Begins;
    while !rest.is_empty() {
        let Some((token, after)) = longest(model, rest, place) else {
            tokens.truncate(before);
            return;
        };
        tokens.push(token);
        rest = after;
        place = Place::Continues;
    }
}

/// Returns the token of the longest piece at the start of the word, and the rest of the word.
fn longest<'a>(model: &Model<'_>, word: &'a [u8], place: Place) -> Option<(u32, &'a [u8])> {
    let mut hashes = [0; PIECE_BYTES_MAX];
    let mut hash = place.basis();
    for (kept, byte) in hashes.iter_mut().zip(word) {
        hash = hashed(hash, *byte);
        *kept = hash;
    }
    // Pieces consist of whole characters, so a match never splits a character.
    (1..=word.len().min(model.longest())).rev().find_map(|length| {
        let (piece, after) = word.split_at_checked(length)?;
        let hash = *hashes.get(length - 1)?;
        model.token(piece, place, hash).map(|token| (token, after))
    })
}
