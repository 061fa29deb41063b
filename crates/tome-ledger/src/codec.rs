//! The encoding of stored values.
//!
//! ```text
//! version:u8 ++ tag:u8 ++ body
//!   tag 0   body is the encoded value
//!   tag 1   body is len:u32be ++ one zstd frame that unpacks to `len` bytes
//! ```
//!
//! The meaning of `version` belongs to the family's owner. An unknown version or tag is an
//! `LedgerError::UnknownVersion`, never a default. Decompression is bounded by `EVENT_BYTES_MAX`.
//! Values have no checksum, because both engines check their blocks.

use std::borrow::Cow;
use std::cell::RefCell;

use serde::{Deserialize, Serialize};
use zstd::bulk::{Compressor, Decompressor};

use crate::error::escape_key;
use crate::limits::{COMPRESS_BYTES_MIN, EVENT_BYTES_MAX};
use crate::{Family, KvError, LedgerError};

const TAG_RAW: u8 = 0;
const TAG_ZSTD: u8 = 1;

/// The fastest level: higher ones save a few percent of space and take several times as long.
const ZSTD_LEVEL: i32 = 1;

/// Buffer capacity that a thread keeps for the next value.
const SCRATCH_BYTES: usize = 64 * 1024;

/// Where a value is stored, for error messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KvLocation<'a> {
    pub(crate) family: Family,
    pub(crate) key: &'a [u8],
}

impl KvLocation<'_> {
    pub(crate) fn corrupt(&self, problem: impl Into<KvError>) -> LedgerError {
        LedgerError::corrupt(self.family, self.key, problem)
    }

    fn unknown_version(&self, what: &'static str, found: u8) -> LedgerError {
        LedgerError::UnknownVersion { family: self.family, key: escape_key(self.key), what, found }
    }
}

/// Per-thread zstd contexts and buffers. Contexts are large and slow to create.
struct CodecBuffers {
    compressor: Option<Compressor<'static>>,
    decompressor: Option<Decompressor<'static>>,
    encoded: Vec<u8>,
    packed: Vec<u8>,
}

thread_local! {
    static TOOLS: RefCell<CodecBuffers> = const {
        RefCell::new(CodecBuffers { compressor: None, decompressor: None, encoded: Vec::new(), packed: Vec::new() })
    };
}

/// Encodes and packs a value. The error describes the problem with the value.
pub(crate) fn pack(version: u8, value: &impl Serialize) -> Result<Vec<u8>, String> {
    TOOLS.with_borrow_mut(|tools| {
        tools.encoded.clear();
        tools.encoded = postcard::to_extend(value, std::mem::take(&mut tools.encoded))
            .map_err(|error| error.to_string())?;
        if tools.encoded.len() > EVENT_BYTES_MAX {
            return Err(format!(
                "it is {} bytes long, but at most {EVENT_BYTES_MAX} are allowed: shorten it",
                tools.encoded.len()
            ));
        }
        let value = if tools.compress()? {
            concat_parts(&[version, TAG_ZSTD], &encode_len(&tools.encoded), &tools.packed)
        } else {
            concat_parts(&[version, TAG_RAW], &[], &tools.encoded)
        };
        tools.shrink_buffers();
        Ok(value)
    })
}

/// Unpacks a value whose version is one of `known`. Returns the version and the body.
pub(crate) fn unpack<'a>(
    location: KvLocation<'_>,
    known: &[u8],
    bytes: &'a [u8],
) -> Result<(u8, Cow<'a, [u8]>), LedgerError> {
    let (&version, rest) = bytes.split_first().ok_or_else(|| location.corrupt("it is empty"))?;
    if !known.contains(&version) {
        return Err(location.unknown_version("version", version));
    }
    let (&tag, body) = rest.split_first().ok_or_else(|| location.corrupt("it ends early"))?;
    match tag {
        TAG_RAW => Ok((version, Cow::Borrowed(body))),
        TAG_ZSTD => Ok((version, Cow::Owned(decompress(location, body)?))),
        _ => Err(location.unknown_version("tag", tag)),
    }
}

/// Decodes the body of a value; trailing bytes are an error.
pub(crate) fn decode<'a, T: Deserialize<'a>>(
    location: KvLocation<'_>,
    body: &'a [u8],
) -> Result<T, LedgerError> {
    let (value, rest) = postcard::take_from_bytes(body).map_err(|error| location.corrupt(error))?;
    if rest.is_empty() {
        Ok(value)
    } else {
        Err(location.corrupt(format!("{} bytes are left over", rest.len())))
    }
}

fn decompress(location: KvLocation<'_>, body: &[u8]) -> Result<Vec<u8>, LedgerError> {
    let (len, frame) =
        body.split_first_chunk::<4>().ok_or_else(|| location.corrupt("it ends early"))?;
    let len = usize::try_from(u32::from_be_bytes(*len)).unwrap_or(usize::MAX);
    if len > EVENT_BYTES_MAX {
        return Err(location.corrupt(format!("it claims to unpack to {len} bytes")));
    }
    let bytes = TOOLS
        .with_borrow_mut(|tools| tools.decompressor()?.decompress(frame, len))
        .map_err(|error| location.corrupt(error))?;
    if bytes.len() != len {
        return Err(location.corrupt(format!("it unpacks to {} bytes, not {len}", bytes.len())));
    }
    Ok(bytes)
}

impl CodecBuffers {
    /// Compresses the encoded value. Returns whether that makes it shorter.
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

    /// Shrinks the buffers, so that one huge event does not keep its memory forever.
    fn shrink_buffers(&mut self) {
        self.encoded.clear();
        self.encoded.shrink_to(SCRATCH_BYTES);
        self.packed.clear();
        self.packed.shrink_to(SCRATCH_BYTES);
    }
}

fn new_compressor() -> std::io::Result<Compressor<'static>> {
    let mut compressor = Compressor::new(ZSTD_LEVEL)?;
    // The length precedes the frame, where it is checked before anything is allocated.
    compressor.set_parameter(zstd::zstd_safe::CParameter::ContentSizeFlag(false))?;
    compressor.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(false))?;
    Ok(compressor)
}

fn encode_len(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes()
}

fn concat_parts(head: &[u8], len: &[u8], body: &[u8]) -> Vec<u8> {
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

    const LOCATION: KvLocation<'static> = KvLocation { family: Family::Events, key: b"k" };

    fn round_trip(value: &str) -> (Vec<u8>, String) {
        let packed = pack(7, &value).unwrap();
        let (version, body) = unpack(LOCATION, &[7], &packed).unwrap();
        assert_eq!(version, 7);
        let back: String = decode(LOCATION, &body).unwrap();
        (packed, back)
    }

    proptest! {
        #[test]
        fn packed_values_round_trip(text in "\\PC{0,100}", times in 1usize..200) {
            let text = text.repeat(times);
            prop_assert_eq!(round_trip(&text).1, text);
        }

        #[test]
        fn garbage_is_an_error(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), tag in 0u8..3) {
            if let Some(second) = bytes.get_mut(1) { *second = tag; }
            if let Some(first) = bytes.get_mut(0) { *first %= 3; }
            if let Ok((version, body)) = unpack(LOCATION, &[1], &bytes) {
                prop_assert_eq!(version, 1);
                prop_assert!(decode::<Vec<String>>(LOCATION, &body).is_ok() || tag < 2);
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
    fn unknown_versions_are_reported() {
        let error = unpack(LOCATION, &[1], &[2, 0]).unwrap_err().to_string();
        assert_eq!(error, "events k: unknown version 2: upgrade Tome");
        let error = unpack(LOCATION, &[1], &[1, 9]).unwrap_err().to_string();
        assert_eq!(error, "events k: unknown tag 9: upgrade Tome");
    }

    #[test]
    fn a_decompression_bomb_is_rejected() {
        let mut packed = pack(1, &"x".repeat(COMPRESS_BYTES_MIN)).unwrap();
        packed[2..6].copy_from_slice(&u32::MAX.to_be_bytes());
        let error = unpack(LOCATION, &[1], &packed).unwrap_err().to_string();
        assert!(error.contains("unpack to 4294967295 bytes"), "{error}");
        // A frame that unpacks to more than its stated length is rejected, too.
        packed[2..6].copy_from_slice(&10u32.to_be_bytes());
        assert!(unpack(LOCATION, &[1], &packed).is_err());
        let huge = "x".repeat(EVENT_BYTES_MAX);
        assert!(pack(1, &huge).unwrap_err().contains("shorten it"));
    }
}
