//! The vocabulary of a model: finds the token of a piece of a word.

/// Upper limit for the length of a piece in bytes.
pub(super) const PIECE_BYTES_MAX: usize = 64;

/// Marks a piece that continues a word.
const CONTINUATION: &[u8] = b"##";
/// Slots of the hash table: a power of two, well above the number of tokens.
const SLOTS: usize = 1 << 17;
/// An empty slot.
const EMPTY: u32 = u32::MAX;

/// Whether a piece starts a word or continues one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PiecePosition {
    WordStart,
    Continuation,
}

impl PiecePosition {
    pub(super) const fn hash_basis(self) -> u32 {
        match self {
            Self::WordStart => 0x811c_9dc5,
            Self::Continuation => 0x050c_5d1f,
        }
    }
}

/// One step of FNV-1a.
pub(super) const fn hash_step(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

/// The pieces of a vocabulary and an open-addressing hash table over them, with linear probing.
#[derive(Debug)]
pub(super) struct Vocabulary<'a> {
    /// Pieces separated by line feeds; row n of the token table belongs to piece n.
    texts: &'a [u8],
    /// Where each piece ends.
    ends: Vec<u32>,
    slots: Vec<u32>,
    longest_piece: usize,
}

impl<'a> Vocabulary<'a> {
    /// Indexes pieces that are separated by line feeds. The first `special` ones are not found,
    /// because no text contains them.
    pub(super) fn parse(texts: &'a [u8], special: usize) -> Result<Self, String> {
        let mut vocabulary =
            Self { texts, ends: Vec::new(), slots: vec![EMPTY; SLOTS], longest_piece: 0 };
        let mut end = 0;
        for line in texts.split(|byte| *byte == b'\n') {
            end += line.len();
            vocabulary.ends.push(u32::try_from(end).map_err(|_| "has too large a vocabulary")?);
            end += 1;
        }
        if 2 * vocabulary.ends.len() > SLOTS {
            return Err(format!("has {} tokens, too many", vocabulary.ends.len()));
        }
        for token in special..vocabulary.ends.len() {
            vocabulary.insert(token)?;
        }
        Ok(vocabulary)
    }

    fn insert(&mut self, token: usize) -> Result<(), String> {
        let token = u32::try_from(token).map_err(|_| "has too many tokens")?;
        let (piece, position) = self.token_piece(token).ok_or("has a malformed vocabulary")?;
        if piece.is_empty() || piece.len() > PIECE_BYTES_MAX {
            return Err(format!("token {token} has {} bytes", piece.len()));
        }
        self.longest_piece = self.longest_piece.max(piece.len());
        let hash = piece.iter().fold(position.hash_basis(), |hash, byte| hash_step(hash, *byte));
        let first = hash as usize % SLOTS;
        let (before, from) = self.slots.split_at_mut(first);
        match from.iter_mut().chain(before).find(|slot| **slot == EMPTY) {
            Some(slot) => *slot = token,
            None => return Err("has too many tokens".to_owned()),
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Length of the longest piece in bytes.
    pub(super) fn longest_piece_bytes(&self) -> usize {
        self.longest_piece
    }

    /// Looks up the token of a piece by its hash.
    pub(super) fn find_token(
        &self,
        piece: &[u8],
        position: PiecePosition,
        hash: u32,
    ) -> Option<u32> {
        let (before, from) = self.slots.split_at_checked(hash as usize % SLOTS)?;
        for token in from.iter().chain(before) {
            if *token == EMPTY {
                return None;
            }
            if self.token_piece(*token) == Some((piece, position)) {
                return Some(*token);
            }
        }
        None
    }

    fn token_piece(&self, token: u32) -> Option<(&'a [u8], PiecePosition)> {
        let token = token as usize;
        let from = match token.checked_sub(1) {
            Some(previous) => *self.ends.get(previous)? as usize + 1,
            None => 0,
        };
        let piece = self.texts.get(from..*self.ends.get(token)? as usize)?;
        Some(match piece.strip_prefix(CONTINUATION) {
            // The two signs themselves are a word.
            Some(rest) if !rest.is_empty() => (rest, PiecePosition::Continuation),
            _ => (piece, PiecePosition::WordStart),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(vocabulary: &Vocabulary<'_>, piece: &str, position: PiecePosition) -> Option<u32> {
        let hash = piece.bytes().fold(position.hash_basis(), hash_step);
        vocabulary.find_token(piece.as_bytes(), position, hash)
    }

    #[test]
    fn pieces_are_found_by_position() {
        let read = Vocabulary::parse("[PAD]\nmigrate\n##s\ns\n##".as_bytes(), 1).unwrap();
        assert_eq!((read.len(), read.longest_piece_bytes()), (5, 7));
        use PiecePosition::{Continuation, WordStart};
        assert_eq!(find(&read, "migrate", WordStart), Some(1));
        assert_eq!(find(&read, "migrate", Continuation), None);
        assert_eq!(find(&read, "s", Continuation), Some(2));
        assert_eq!(find(&read, "s", WordStart), Some(3));
        assert_eq!(find(&read, "##", WordStart), Some(4));
        assert_eq!(find(&read, "[PAD]", WordStart), None);
    }

    #[test]
    fn a_malformed_vocabulary_is_an_error() {
        assert!(Vocabulary::parse(b"a\n\nb", 0).is_err());
        assert!(Vocabulary::parse("a\n".repeat(SLOTS).as_bytes(), 0).is_err());
        assert!(Vocabulary::parse(&[b'x'; PIECE_BYTES_MAX + 1], 0).is_err());
    }
}
