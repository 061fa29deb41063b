//! The file of the embedding model, as `scripts/embedding-model.py` makes it. Numbers are little-endian.
//!
//! ```text
//! "tomembed"               8 bytes
//! version                  u8       1
//! longest                  u8       bytes of the longest piece
//! dimensions               u16
//! tokens                   u32
//! texts                    u32      bytes of all pieces together
//! checksum                 u32      CRC-32 of all that follows
//! scales                   f32 * tokens
//! rows                     i8 * tokens * dimensions     a number is its i8 times the scale of its row
//! ends                     u32 * tokens                 where a piece ends in the texts; it begins where the
//!                                                       one before ends. Highest bit: it continues a word
//! slots                    u16 * 65536                  a token's number + 1; 0: free
//! texts                    UTF-8
//! ```
//!
//! A piece is looked for in the slots from its hash (FNV-1a, with one basis for pieces that begin a word and
//! another for those that continue one) on, until a free one. Nothing is read, copied or built when
//! the program starts: the layout is checked when it is compiled.

/// The file.
pub(super) static MODEL: Model<'static> =
    match Model::read(include_bytes!("../../model/potion-base-8m.bin")) {
        Some(model) => model,
        None => {
            panic!("model/potion-base-8m.bin is not a model that this version reads: make it again")
        }
    };

/// Pieces longer than this are in no vocabulary.
pub(super) const PIECE_BYTES_MAX: usize = 64;

const MAGIC: &[u8; 8] = b"tomembed";
const VERSION: u8 = 1;
const SLOTS: usize = 1 << 16;
const CONTINUES: u32 = 1 << 31;

/// A model in memory, borrowed.
pub(super) struct Model<'a> {
    dimensions: usize,
    longest: usize,
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

/// Whether a piece begins a word or goes on with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Begins,
    Continues,
}

impl Place {
    /// The hash of a piece before its first byte.
    pub(super) const fn basis(self) -> u32 {
        match self {
            Self::Begins => 0x811c_9dc5,
            Self::Continues => 0x050c_5d1f,
        }
    }
}

/// The hash with one byte more.
pub(super) const fn hashed(hash: u32, byte: u8) -> u32 {
    (hash ^ byte as u32).wrapping_mul(0x0100_0193)
}

impl<'a> Model<'a> {
    /// Finds the parts of a file; `None` if it is none, or of another version.
    const fn read(file: &'a [u8]) -> Option<Self> {
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
            longest: longest as usize,
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

    /// How many numbers a row has.
    pub(super) const fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The bytes of its longest piece.
    pub(super) const fn longest(&self) -> usize {
        self.longest
    }

    /// A token's row: the scale, and the numbers before scaling.
    pub(super) fn row(&self, token: u32) -> Option<(f32, &'a [u8])> {
        let token = usize::try_from(token).ok()?;
        let scale = f32::from_le_bytes(*self.scales.get(token)?);
        let from = token * self.dimensions;
        Some((scale, self.rows.get(from..from + self.dimensions)?))
    }

    /// The token of a piece with this hash.
    pub(super) fn token(&self, piece: &[u8], place: Place, hash: u32) -> Option<u32> {
        let first = usize::try_from(hash).ok()? % SLOTS;
        let (before, from) = self.slots.split_at_checked(first)?;
        for slot in from.iter().chain(before) {
            let token = u32::from(u16::from_le_bytes(*slot)).checked_sub(1)?;
            if self.piece(token) == Some((piece, place)) {
                return Some(token);
            }
        }
        None
    }

    /// The bytes of a token's piece, and its place.
    fn piece(&self, token: u32) -> Option<(&'a [u8], Place)> {
        let token = usize::try_from(token).ok()?;
        let end = |token: usize| self.ends.get(token).map(|end| u32::from_le_bytes(*end));
        let from = if token == 0 { 0 } else { end(token - 1)? & !CONTINUES };
        let to = end(token)?;
        let place = if to & CONTINUES == 0 { Place::Begins } else { Place::Continues };
        let texts = usize::try_from(from).ok()?..usize::try_from(to & !CONTINUES).ok()?;
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
            let (piece, place) = MODEL.piece(token).unwrap();
            // The five marks ([UNK] and so on) have no text here: no text may give them.
            if piece.is_empty() {
                continue;
            }
            let hash = piece.iter().fold(place.basis(), |hash, byte| hashed(hash, *byte));
            assert_eq!(MODEL.token(piece, place, hash), Some(token), "{piece:?}");
            assert!(piece.len() <= MODEL.longest());
            found += 1;
        }
        assert_eq!(found, 29_523);
    }

    #[test]
    fn a_cut_or_foreign_file_is_no_model() {
        let file = include_bytes!("../../model/potion-base-8m.bin");
        for length in [0, 7, 8, 20, 23, 24, 1_000, file.len() - 1] {
            assert!(Model::read(&file[..length]).is_none(), "{length}");
        }
        for changed in [0, 7, 8, 9, 10, 11, 12, 15, 16, 19] {
            let mut head = file.to_vec();
            head[changed] ^= 0x40;
            assert!(Model::read(&head).is_none(), "{changed}");
        }
    }
}
