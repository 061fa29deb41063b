//! An index file with a trailing checksum, held in memory or read on demand.
//!
//! ```text
//! content as written by tantivy ++ "\n" ++ blake3 of it, in hex
//! ```
//!
//! Files are never memory-mapped: accessing a map of a file that was truncated or cannot be read
//! raises SIGBUS and would kill the daemon. Small files are held in memory, so that a small index
//! needs no file descriptors. Large files are held, too, except postings and the document store,
//! which is never read.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use tantivy::HasLen;
use tantivy::directory::{FileHandle, OwnedBytes};

use crate::files::read_at;

/// A newline and 64 hex digits.
const TRAILER_BYTES: usize = 65;

/// Larger postings and store files are read on demand. All other files are held, because tantivy
/// reads them completely anyway.
const IN_MEMORY_BYTES_MAX: u64 = 256 << 10;

/// Buffer size for verifying a file that is not held.
const CHUNK_BYTES: usize = 1 << 18;

/// Extensions of postings and document store.
const ON_DISK_EXTENSIONS: [&str; 2] = ["idx", "store"];

/// A file whose checksum was valid when it was opened.
#[derive(Debug)]
pub(crate) struct ChecksummedFile {
    body: FileBody,
    length: usize,
}

#[derive(Debug)]
enum FileBody {
    InMemory(OwnedBytes),
    OnDisk(File),
}

impl ChecksummedFile {
    /// Opens a file and verifies its checksum.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let is_large = file.metadata()?.len() > IN_MEMORY_BYTES_MAX;
        let is_of = |ending: &str| path.extension().is_some_and(|it| it == ending);
        if is_large && ON_DISK_EXTENSIONS.into_iter().any(is_of) {
            let length = verify_file(&file)?;
            return Ok(Self { body: FileBody::OnDisk(file), length });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let length = verify_trailer(&bytes)?.len();
        bytes.truncate(length);
        Ok(Self { body: FileBody::InMemory(OwnedBytes::new(bytes)), length })
    }

    /// Returns whether this file has the given length on disk.
    pub(crate) fn has_disk_length(&self, bytes: u64) -> bool {
        (self.length + TRAILER_BYTES) as u64 == bytes
    }
}

impl HasLen for ChecksummedFile {
    fn len(&self) -> usize {
        self.length
    }
}

impl FileHandle for ChecksummedFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match &self.body {
            FileBody::InMemory(bytes) => Ok(bytes.slice(range)),
            FileBody::OnDisk(file) => {
                let mut bytes = vec![0; range.len()];
                read_at(file, &mut bytes, range.start as u64)?;
                Ok(OwnedBytes::new(bytes))
            }
        }
    }
}

#[derive(Default)]
pub(crate) struct FileChecksum(blake3::Hasher);

impl FileChecksum {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut sum = Self::default();
        sum.update(bytes);
        sum
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn trailer(&self) -> Vec<u8> {
        format!("\n{}", self.0.finalize().to_hex()).into_bytes()
    }
}

/// Returns the content before the trailer if the checksum matches.
pub(crate) fn verify_trailer(bytes: &[u8]) -> io::Result<&[u8]> {
    let length = bytes.len().checked_sub(TRAILER_BYTES).ok_or_else(corrupt_file_error)?;
    let (body, ending) = bytes.split_at_checked(length).ok_or_else(corrupt_file_error)?;
    if FileChecksum::from_bytes(body).trailer() == ending {
        Ok(body)
    } else {
        Err(corrupt_file_error())
    }
}

/// Verifies a file without holding it, and returns its length without the trailer.
fn verify_file(file: &File) -> io::Result<usize> {
    let bytes = usize::try_from(file.metadata()?.len()).map_err(|_| corrupt_file_error())?;
    let length = bytes.checked_sub(TRAILER_BYTES).ok_or_else(corrupt_file_error)?;
    let (mut sum, mut chunk, mut at) = (FileChecksum::default(), vec![0; CHUNK_BYTES], 0);
    while at < length {
        let next = (length - at).min(CHUNK_BYTES);
        let bytes = chunk.get_mut(..next).ok_or_else(corrupt_file_error)?;
        read_at(file, bytes, at as u64)?;
        sum.update(bytes);
        at += next;
    }
    let mut ending = [0; TRAILER_BYTES];
    read_at(file, &mut ending, length as u64)?;
    if sum.trailer() == ending { Ok(length) } else { Err(corrupt_file_error()) }
}

fn corrupt_file_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "truncated or corrupt file")
}
