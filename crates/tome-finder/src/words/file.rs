//! An index file with a trailing checksum, held in memory or read on demand.
//!
//! ```text
//! content as written by tantivy ++ "\n" ++ blake3 of it, in hex
//! ```
//!
//! Files are never memory-mapped: accessing a map of a file that was truncated or cannot be read
//! raises SIGBUS and would kill the daemon. Small files are held in memory, so that a small index
//! needs no file descriptors. Of large files, all are held except postings and the document store,
//! which is never read.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use tantivy::HasLen;
use tantivy::directory::{FileHandle, OwnedBytes};

use crate::files::read_at;

/// A newline and 64 hex digits.
const ENDING_BYTES: usize = 65;

/// Larger postings and store files are read on demand. All other files are held, because tantivy
/// reads them completely anyway.
const HELD_BYTES_MAX: u64 = 256 << 10;

/// Buffer size for verifying a file that is not held.
const CHUNK_BYTES: usize = 1 << 18;

/// Extensions of postings and document store.
const NOT_HELD: [&str; 2] = ["idx", "store"];

/// A file whose checksum was valid when it was opened.
#[derive(Debug)]
pub(crate) struct OwnFile {
    body: Body,
    length: usize,
}

#[derive(Debug)]
enum Body {
    Held(OwnedBytes),
    Read(File),
}

impl OwnFile {
    /// Opens a file and verifies its checksum.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let is_large = file.metadata()?.len() > HELD_BYTES_MAX;
        let is_of = |ending: &str| path.extension().is_some_and(|it| it == ending);
        if is_large && NOT_HELD.into_iter().any(is_of) {
            let length = check(&file)?;
            return Ok(Self { body: Body::Read(file), length });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let length = checked(&bytes)?.len();
        bytes.truncate(length);
        Ok(Self { body: Body::Held(OwnedBytes::new(bytes)), length })
    }

    /// Returns whether this file has the given length on disk.
    pub(crate) fn is_as_long_as(&self, bytes: u64) -> bool {
        (self.length + ENDING_BYTES) as u64 == bytes
    }
}

impl HasLen for OwnFile {
    fn len(&self) -> usize {
        self.length
    }
}

impl FileHandle for OwnFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match &self.body {
            Body::Held(bytes) => Ok(bytes.slice(range)),
            Body::Read(file) => {
                let mut bytes = vec![0; range.len()];
                read_at(file, &mut bytes, range.start as u64)?;
                Ok(OwnedBytes::new(bytes))
            }
        }
    }
}

#[derive(Default)]
pub(crate) struct Sum(blake3::Hasher);

impl Sum {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut sum = Self::default();
        sum.add(bytes);
        sum
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The trailer of a file.
    pub(crate) fn ending(&self) -> Vec<u8> {
        format!("\n{}", self.0.finalize().to_hex()).into_bytes()
    }
}

/// Returns the content before the trailer if the checksum matches.
pub(crate) fn checked(bytes: &[u8]) -> io::Result<&[u8]> {
    let length = bytes.len().checked_sub(ENDING_BYTES).ok_or_else(changed)?;
    let (body, ending) = bytes.split_at_checked(length).ok_or_else(changed)?;
    if Sum::of(body).ending() == ending { Ok(body) } else { Err(changed()) }
}

/// Verifies a file without holding it, and returns its length without the trailer.
fn check(file: &File) -> io::Result<usize> {
    let bytes = usize::try_from(file.metadata()?.len()).map_err(|_| changed())?;
    let length = bytes.checked_sub(ENDING_BYTES).ok_or_else(changed)?;
    let (mut sum, mut chunk, mut at) = (Sum::default(), vec![0; CHUNK_BYTES], 0);
    while at < length {
        let next = (length - at).min(CHUNK_BYTES);
        let bytes = chunk.get_mut(..next).ok_or_else(changed)?;
        read_at(file, bytes, at as u64)?;
        sum.add(bytes);
        at += next;
    }
    let mut ending = [0; ENDING_BYTES];
    read_at(file, &mut ending, length as u64)?;
    if sum.ending() == ending { Ok(length) } else { Err(changed()) }
}

fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "truncated or corrupt file")
}
