//! `WordPiece`: splits a word greedily into the longest vocabulary pieces. A word that cannot be
//! split completely yields no tokens at all.

use super::model::{PIECE_BYTES_MAX, PiecePosition, StaticModel, hash_step};
use super::pretokenize::for_each_word;

/// Returns the token ids of a text in order, with duplicates.
pub(super) fn wordpiece_tokens(model: &StaticModel<'_>, text: &str) -> Vec<u32> {
    let mut tokens = Vec::new();
    for_each_word(text, |word| push_word_tokens(model, word.as_bytes(), &mut tokens));
    tokens
}

fn push_word_tokens(model: &StaticModel<'_>, word: &[u8], tokens: &mut Vec<u32>) {
    let before = tokens.len();
    let mut rest = word;
    let mut place = PiecePosition::WordStart;
    while !rest.is_empty() {
        let Some((token, after)) = find_longest_piece(model, rest, place) else {
            tokens.truncate(before);
            return;
        };
        tokens.push(token);
        rest = after;
        place = PiecePosition::Continuation;
    }
}

/// Returns the token of the longest piece at the start of the word, and the rest of the word.
fn find_longest_piece<'a>(
    model: &StaticModel<'_>,
    word: &'a [u8],
    place: PiecePosition,
) -> Option<(u32, &'a [u8])> {
    let mut hashes = [0; PIECE_BYTES_MAX];
    let mut hash = place.hash_basis();
    for (kept, byte) in hashes.iter_mut().zip(word) {
        hash = hash_step(hash, *byte);
        *kept = hash;
    }
    // Pieces consist of whole characters, so a match never splits a character.
    (1..=word.len().min(model.longest_piece_bytes())).rev().find_map(|length| {
        let (piece, after) = word.split_at_checked(length)?;
        let hash = *hashes.get(length - 1)?;
        model.find_token(piece, place, hash).map(|token| (token, after))
    })
}
