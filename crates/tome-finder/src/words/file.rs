//! A file of an index, with a checksum at its end, held in memory or read piece by piece.
//!
//! ```text
//! what tantivy wrote ++ "\n" ++ blake3 of it, in hexadecimal
//! ```
//!
//! It is never mapped: who touches a map of a file that was cut short meanwhile, or that the disk cannot
//! give, is ended by the system, and the whole daemon with it. Small files are held, so that an index
//! of a few thousand entries takes no file descriptors; of large ones all are but the lists of entries, and
//! what tantivy stores of each (nothing, in many bytes), which nobody reads.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use tantivy::HasLen;
use tantivy::directory::{FileHandle, OwnedBytes};

use crate::files::read_at;

/// A newline and 64 digits.
const ENDING_BYTES: usize = 65;

/// What such a file may have to be held; all others are held anyway, because tantivy reads them whole.
const HELD_BYTES_MAX: u64 = 256 << 10;

/// What is read at once of a file that is only checked.
const CHUNK_BYTES: usize = 1 << 18;

/// The endings of the files that have the lists of entries, and what is stored of each.
const NOT_HELD: [&str; 2] = ["idx", "store"];

/// A file that was whole when it was opened.
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
    /// Opens a file and checks all of it.
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

    /// Whether a file of so many bytes on disk can be this one.
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

/// The checksum of what is written.
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

    /// What stands at the end of a file.
    pub(crate) fn ending(&self) -> Vec<u8> {
        format!("\n{}", self.0.finalize().to_hex()).into_bytes()
    }
}

/// What is before the checksum, if it is what was summed up.
pub(crate) fn checked(bytes: &[u8]) -> io::Result<&[u8]> {
    let length = bytes.len().checked_sub(ENDING_BYTES).ok_or_else(changed)?;
    let (body, ending) = bytes.split_at_checked(length).ok_or_else(changed)?;
    if Sum::of(body).ending() == ending { Ok(body) } else { Err(changed()) }
}

/// Checks a file without holding it; how long it is before its checksum.
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
    io::Error::new(io::ErrorKind::InvalidData, "it is cut short, or not what was written")
}
