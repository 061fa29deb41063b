//! How a value is packed.
//!
//! ```text
//! version:u8 ++ tag:u8 ++ body
//!   tag 0   body is the encoded value
//!   tag 1   body is len:u32be ++ one zstd frame that unpacks to `len` bytes
//! ```
//!
//! What `version` means is the business of whoever owns the family. An unknown version or tag is
//! `LedgerError::UnknownVersion`, never a default. Unpacking is bounded by `EVENT_BYTES_MAX`.
//! There is no checksum of its own: both engines check their blocks.

use std::borrow::Cow;
use std::cell::RefCell;

use serde::{Deserialize, Serialize};
use zstd::bulk::{Compressor, Decompressor};

use crate::error::readable;
use crate::limits::{COMPRESS_BYTES_MIN, EVENT_BYTES_MAX};
use crate::{Family, KvError, LedgerError};

const TAG_RAW: u8 = 0;
const TAG_ZSTD: u8 = 1;

/// The fastest level: higher ones win a few percent of room and cost a multiple of the time.
const LEVEL: i32 = 1;

/// The room that a thread keeps for the next value.
const SCRATCH_BYTES: usize = 64 * 1024;

/// Where a value stands, for messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) family: Family,
    pub(crate) key: &'a [u8],
}

impl Place<'_> {
    pub(crate) fn corrupt(&self, problem: impl Into<KvError>) -> LedgerError {
        LedgerError::corrupt(self.family, self.key, problem)
    }

    fn unknown(&self, what: &'static str, found: u8) -> LedgerError {
        LedgerError::UnknownVersion { family: self.family, key: readable(self.key), what, found }
    }
}

/// Contexts are large and slow to make, so each thread keeps its own.
struct Tools {
    compressor: Option<Compressor<'static>>,
    decompressor: Option<Decompressor<'static>>,
    encoded: Vec<u8>,
    packed: Vec<u8>,
}

thread_local! {
    static TOOLS: RefCell<Tools> = const {
        RefCell::new(Tools { compressor: None, decompressor: None, encoded: Vec::new(), packed: Vec::new() })
    };
}

/// Encodes and packs a value. The error says what is wrong with the value.
pub(crate) fn pack(version: u8, value: &impl Serialize) -> Result<Vec<u8>, String> {
    TOOLS.with_borrow_mut(|tools| {
        tools.encoded.clear();
        tools.encoded = postcard::to_extend(value, std::mem::take(&mut tools.encoded))
            .map_err(|error| error.to_string())?;
        if tools.encoded.len() > EVENT_BYTES_MAX {
            return Err(format!(
                "it is {} bytes long, at most {EVENT_BYTES_MAX} are taken: shorten it",
                tools.encoded.len()
            ));
        }
        let value = if tools.compress()? {
            join(&[version, TAG_ZSTD], &len_u32(&tools.encoded), &tools.packed)
        } else {
            join(&[version, TAG_RAW], &[], &tools.encoded)
        };
        tools.forget_large();
        Ok(value)
    })
}

/// The body of a packed value whose version is one of `known`, and that version.
pub(crate) fn unpack<'a>(
    place: Place<'_>,
    known: &[u8],
    bytes: &'a [u8],
) -> Result<(u8, Cow<'a, [u8]>), LedgerError> {
    let (&version, rest) = bytes.split_first().ok_or_else(|| place.corrupt("it is empty"))?;
    if !known.contains(&version) {
        return Err(place.unknown("version", version));
    }
    let (&tag, body) = rest.split_first().ok_or_else(|| place.corrupt("it ends early"))?;
    match tag {
        TAG_RAW => Ok((version, Cow::Borrowed(body))),
        TAG_ZSTD => Ok((version, Cow::Owned(decompress(place, body)?))),
        _ => Err(place.unknown("tag", tag)),
    }
}

/// Decodes the body of a value; nothing may be left over.
pub(crate) fn decode<'a, T: Deserialize<'a>>(
    place: Place<'_>,
    body: &'a [u8],
) -> Result<T, LedgerError> {
    let (value, rest) = postcard::take_from_bytes(body).map_err(|error| place.corrupt(error))?;
    if rest.is_empty() {
        Ok(value)
    } else {
        Err(place.corrupt(format!("{} bytes are left over", rest.len())))
    }
}

fn decompress(place: Place<'_>, body: &[u8]) -> Result<Vec<u8>, LedgerError> {
    let (len, frame) =
        body.split_first_chunk::<4>().ok_or_else(|| place.corrupt("it ends early"))?;
    let len = usize::try_from(u32::from_be_bytes(*len)).unwrap_or(usize::MAX);
    if len > EVENT_BYTES_MAX {
        return Err(place.corrupt(format!("it says it unpacks to {len} bytes")));
    }
    let bytes = TOOLS
        .with_borrow_mut(|tools| tools.decompressor()?.decompress(frame, len))
        .map_err(|error| place.corrupt(error))?;
    if bytes.len() != len {
        return Err(place.corrupt(format!("it unpacks to {} bytes, not {len}", bytes.len())));
    }
    Ok(bytes)
}

impl Tools {
    /// Compresses what was encoded last, and says whether that makes it shorter.
    fn compress(&mut self) -> Result<bool, String> {
        if self.encoded.len() < COMPRESS_BYTES_MIN {
            return Ok(false);
        }
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            none => none.insert(new_compressor().map_err(|error| error.to_string())?),
        };
        self.packed.clear();
        self.packed.reserve(zstd::zstd_safe::compress_bound(self.encoded.len()));
        compressor
            .compress_to_buffer(&self.encoded, &mut self.packed)
            .map_err(|error| error.to_string())?;
        Ok(self.packed.len() + 4 < self.encoded.len())
    }

    fn decompressor(&mut self) -> std::io::Result<&mut Decompressor<'static>> {
        Ok(match &mut self.decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new()?),
        })
    }

    /// One huge event must not make its thread large for ever.
    fn forget_large(&mut self) {
        self.encoded.clear();
        self.encoded.shrink_to(SCRATCH_BYTES);
        self.packed.clear();
        self.packed.shrink_to(SCRATCH_BYTES);
    }
}

fn new_compressor() -> std::io::Result<Compressor<'static>> {
    let mut compressor = Compressor::new(LEVEL)?;
    // The length stands in front of the frame, where it is checked before anything is allocated.
    compressor.set_parameter(zstd::zstd_safe::CParameter::ContentSizeFlag(false))?;
    compressor.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(false))?;
    Ok(compressor)
}

fn len_u32(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes()
}

fn join(head: &[u8], len: &[u8], body: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(head.len() + len.len() + body.len());
    value.extend_from_slice(head);
    value.extend_from_slice(len);
    value.extend_from_slice(body);
    value
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLACE: Place<'static> = Place { family: Family::Events, key: b"k" };

    fn round_trip(value: &str) -> (Vec<u8>, String) {
        let packed = pack(7, &value).unwrap();
        let (version, body) = unpack(PLACE, &[7], &packed).unwrap();
        assert_eq!(version, 7);
        let back: String = decode(PLACE, &body).unwrap();
        (packed, back)
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(text in "\\PC{0,100}", times in 1usize..200) {
            let text = text.repeat(times);
            prop_assert_eq!(round_trip(&text).1, text);
        }

        #[test]
        fn garbage_is_an_error(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), tag in 0u8..3) {
            if let Some(second) = bytes.get_mut(1) { *second = tag; }
            if let Some(first) = bytes.get_mut(0) { *first %= 3; }
            if let Ok((version, body)) = unpack(PLACE, &[1], &bytes) {
                prop_assert_eq!(version, 1);
                prop_assert!(decode::<Vec<String>>(PLACE, &body).is_ok() || tag < 2);
            }
        }
    }

    #[test]
    fn long_values_are_compressed_and_short_ones_are_not() {
        let (packed, back) = round_trip(&"the same words again and again ".repeat(200));
        assert_eq!(packed[1], TAG_ZSTD);
        assert!(packed.len() < 200 && back.len() == 6200);
        assert_eq!(round_trip("short").0[1], TAG_RAW);
    }

    #[test]
    fn unknown_numbers_are_named() {
        let error = unpack(PLACE, &[1], &[2, 0]).unwrap_err().to_string();
        assert_eq!(error, "events k: version 2 is not known here: upgrade Tome");
        let error = unpack(PLACE, &[1], &[1, 9]).unwrap_err().to_string();
        assert_eq!(error, "events k: tag 9 is not known here: upgrade Tome");
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let mut packed = pack(1, &"x".repeat(COMPRESS_BYTES_MIN)).unwrap();
        packed[2..6].copy_from_slice(&u32::MAX.to_be_bytes());
        let error = unpack(PLACE, &[1], &packed).unwrap_err().to_string();
        assert!(error.contains("unpacks to 4294967295 bytes"), "{error}");
        // A frame that unpacks to more than its length says is refused as well.
        packed[2..6].copy_from_slice(&10u32.to_be_bytes());
        assert!(unpack(PLACE, &[1], &packed).is_err());
        let huge = "x".repeat(EVENT_BYTES_MAX);
        assert!(pack(1, &huge).unwrap_err().contains("shorten it"));
    }
}
