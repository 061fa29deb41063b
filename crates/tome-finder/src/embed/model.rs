//! File format of the embedding model, written by `scripts/embedding-model.py`. Integers are
//! little-endian.
//!
//! ```text
//! "tomembed"               8 bytes
//! version                  u8       1
//! longest                  u8       length of the longest piece in bytes
//! dimensions               u16
//! tokens                   u32
//! texts                    u32      total bytes of all pieces
//! checksum                 u32      CRC-32 of everything after it
//! scales                   f32 * tokens
//! rows                     i8 * tokens * dimensions     value = i8 * scale of the row
//! ends                     u32 * tokens                 end offset of a piece in the texts; it starts where the
//!                                                       previous one ends. Highest bit: continues a word
//! slots                    u16 * 65536                  token id + 1; 0: empty slot
//! texts                    UTF-8
//! ```
//!
//! The slots form an open-addressing hash table with linear probing. The hash is FNV-1a, with one
//! basis for pieces that start a word and another for continuations. Nothing is parsed at startup:
//! the layout is checked at compile time.

pub(super) static MODEL: StaticModel<'static> = match StaticModel::parse(include_bytes!(
    "../../model/potion-base-8m.bin"
)) {
    Some(model) => model,
    None => {
        panic!(
            "model/potion-base-8m.bin has an unknown format: rebuild it with scripts/embedding-model.py"
        )
    }
};

/// Upper limit for the length of a piece in any vocabulary.
pub(super) const PIECE_BYTES_MAX: usize = 64;

const MAGIC: &[u8; 8] = b"tomembed";
const VERSION: u8 = 1;
const SLOTS: usize = 1 << 16;
const CONTINUATION_BIT: u32 = 1 << 31;

pub(super) struct StaticModel<'a> {
    dimensions: usize,
    longest_piece: usize,
    scales: &'a [[u8; 4]],
    rows: &'a [u8],
    ends: &'a [[u8; 4]],
    slots: &'a [[u8; 2]],
    texts: &'a [u8],
    #[cfg(test)]
    checksum: u32,
    #[cfg(test)]
    body: &'a [u8],
}

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

impl<'a> StaticModel<'a> {
    /// Locates the sections of a model file. `None` if it is malformed or of another version.
    const fn parse(file: &'a [u8]) -> Option<Self> {
        let Some((magic, rest)) = file.split_first_chunk::<8>() else { return None };
        let Some((&[version, longest], rest)) = rest.split_first_chunk::<2>() else { return None };
        let Some((dimensions, rest)) = rest.split_first_chunk::<2>() else { return None };
        let Some((tokens, rest)) = rest.split_first_chunk::<4>() else { return None };
        let Some((texts, rest)) = rest.split_first_chunk::<4>() else { return None };
        let Some((_checksum, body)) = rest.split_first_chunk::<4>() else { return None };
        let dimensions = u16::from_le_bytes(*dimensions) as usize;
        let tokens = u32::from_le_bytes(*tokens) as usize;
        let Some((scales, rest)) = body.split_at_checked(tokens * 4) else { return None };
        let Some((rows, rest)) = rest.split_at_checked(tokens * dimensions) else { return None };
        let Some((ends, rest)) = rest.split_at_checked(tokens * 4) else { return None };
        let Some((slots, rest)) = rest.split_at_checked(SLOTS * 2) else { return None };
        let is_magic = u64::from_le_bytes(*magic) == u64::from_le_bytes(*MAGIC);
        let fits = rest.len() == u32::from_le_bytes(*texts) as usize
            && longest as usize <= PIECE_BYTES_MAX
            && dimensions > 0;
        if !is_magic || version != VERSION || !fits {
            return None;
        }
        Some(Self {
            dimensions,
            longest_piece: longest as usize,
            scales: scales.as_chunks().0,
            rows,
            ends: ends.as_chunks().0,
            slots: slots.as_chunks().0,
            texts: rest,
            #[cfg(test)]
            checksum: u32::from_le_bytes(*_checksum),
            #[cfg(test)]
            body,
        })
    }

    pub(super) const fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Length of the longest piece in bytes.
    pub(super) const fn longest_piece_bytes(&self) -> usize {
        self.longest_piece
    }

    /// Scale and quantized values of a token's row.
    pub(super) fn row(&self, token: u32) -> Option<(f32, &'a [u8])> {
        let token = usize::try_from(token).ok()?;
        let scale = f32::from_le_bytes(*self.scales.get(token)?);
        let from = token * self.dimensions;
        Some((scale, self.rows.get(from..from + self.dimensions)?))
    }

    /// Looks up the token of a piece by its hash.
    pub(super) fn find_token(&self, piece: &[u8], place: PiecePosition, hash: u32) -> Option<u32> {
        let first = usize::try_from(hash).ok()? % SLOTS;
        let (before, from) = self.slots.split_at_checked(first)?;
        for slot in from.iter().chain(before) {
            let token = u32::from(u16::from_le_bytes(*slot)).checked_sub(1)?;
            if self.token_piece(token) == Some((piece, place)) {
                return Some(token);
            }
        }
        None
    }

    fn token_piece(&self, token: u32) -> Option<(&'a [u8], PiecePosition)> {
        let token = usize::try_from(token).ok()?;
        let end = |token: usize| self.ends.get(token).map(|end| u32::from_le_bytes(*end));
        let from = if token == 0 { 0 } else { end(token - 1)? & !CONTINUATION_BIT };
        let to = end(token)?;
        let place = if to & CONTINUATION_BIT == 0 {
            PiecePosition::WordStart
        } else {
            PiecePosition::Continuation
        };
        let texts = usize::try_from(from).ok()?..usize::try_from(to & !CONTINUATION_BIT).ok()?;
        Some((self.texts.get(texts)?, place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CRC-32 as zip and zlib compute it.
    fn crc32(bytes: &[u8]) -> u32 {
        let table: Vec<u32> = (0..256u32)
            .map(|byte| {
                (0..8).fold(byte, |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
            })
            .collect();
        !bytes.iter().fold(!0, |crc: u32, byte| {
            table[(crc & 0xff) as usize ^ usize::from(*byte)] ^ (crc >> 8)
        })
    }

    #[test]
    fn the_committed_file_is_as_the_script_wrote_it() {
        assert_eq!(crc32(MODEL.body), MODEL.checksum);
    }

    #[test]
    fn every_piece_is_found_by_its_hash() {
        let mut found = 0;
        for token in 0..u32::try_from(MODEL.ends.len()).unwrap() {
            let (piece, place) = MODEL.token_piece(token).unwrap();
            // The five special tokens ([UNK] and so on) have no text here, so no input can produce
            // them.
            if piece.is_empty() {
                continue;
            }
            let hash = piece.iter().fold(place.hash_basis(), |hash, byte| hash_step(hash, *byte));
            assert_eq!(MODEL.find_token(piece, place, hash), Some(token), "{piece:?}");
            assert!(piece.len() <= MODEL.longest_piece_bytes());
            found += 1;
        }
        assert_eq!(found, 29_523);
    }

    #[test]
    fn a_cut_or_foreign_file_is_no_model() {
        let file = include_bytes!("../../model/potion-base-8m.bin");
        for length in [0, 7, 8, 20, 23, 24, 1_000, file.len() - 1] {
            assert!(StaticModel::parse(&file[..length]).is_none(), "{length}");
        }
        for changed in [0, 7, 8, 9, 10, 11, 12, 15, 16, 19] {
            let mut head = file.to_vec();
            head[changed] ^= 0x40;
            assert!(StaticModel::parse(&head).is_none(), "{changed}");
        }
    }
}
