//! `WordPiece`: splits a word greedily into the longest vocabulary pieces. A word that cannot be
//! split completely yields no tokens at all.

use super::pretokenize::for_each_word;
use super::vocabulary::{PIECE_BYTES_MAX, PiecePosition, Vocabulary, hash_step};

/// Returns the token ids of a text in order, with duplicates.
pub(super) fn wordpiece_tokens(vocabulary: &Vocabulary<'_>, text: &str) -> Vec<u32> {
    let mut tokens = Vec::new();
    for_each_word(text, |word| push_word_tokens(vocabulary, word.as_bytes(), &mut tokens));
    tokens
}

fn push_word_tokens(vocabulary: &Vocabulary<'_>, word: &[u8], tokens: &mut Vec<u32>) {
    let before = tokens.len();
    let mut rest = word;
    let mut position = PiecePosition::WordStart;
    while !rest.is_empty() {
        let Some((token, after)) = find_longest_piece(vocabulary, rest, position) else {
            tokens.truncate(before);
            return;
        };
        tokens.push(token);
        rest = after;
        position = PiecePosition::Continuation;
    }
}

/// Returns the token of the longest piece at the start of the word, and the rest of the word.
fn find_longest_piece<'a>(
    vocabulary: &Vocabulary<'_>,
    word: &'a [u8],
    position: PiecePosition,
) -> Option<(u32, &'a [u8])> {
    let mut hashes = [0; PIECE_BYTES_MAX];
    let mut hash = position.hash_basis();
    for (kept, byte) in hashes.iter_mut().zip(word) {
        hash = hash_step(hash, *byte);
        *kept = hash;
    }
    // Pieces consist of whole characters, so a match never splits a character.
    (1..=word.len().min(vocabulary.longest_piece_bytes())).rev().find_map(|length| {
        let (piece, after) = word.split_at_checked(length)?;
        let hash = *hashes.get(length - 1)?;
        vocabulary.find_token(piece, position, hash).map(|token| (token, after))
    })
}
