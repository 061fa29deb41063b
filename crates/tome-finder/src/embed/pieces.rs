//! `WordPiece`: a word as the longest pieces of the vocabulary, from its beginning on. A word that
//! does not come out even is nothing: no token at all.

use super::characters::words;
use super::model::{Model, PIECE_BYTES_MAX, Place, hashed};

/// The tokens of a text, in order.
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

/// The longest piece that the word begins with, and what comes after it.
fn longest<'a>(model: &Model<'_>, word: &'a [u8], place: Place) -> Option<(u32, &'a [u8])> {
    let mut hashes = [0; PIECE_BYTES_MAX];
    let mut hash = place.basis();
    for (kept, byte) in hashes.iter_mut().zip(word) {
        hash = hashed(hash, *byte);
        *kept = hash;
    }
    // Pieces are whole characters, so what equals one is cut between characters.
    (1..=word.len().min(model.longest())).rev().find_map(|length| {
        let (piece, after) = word.split_at_checked(length)?;
        let hash = *hashes.get(length - 1)?;
        model.token(piece, place, hash).map(|token| (token, after))
    })
}
