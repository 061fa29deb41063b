//! The head: a small file that records how much of the other files is committed. Replacing it is
//! the last step of a commit, which makes commits atomic.
//!
//! ```text
//! {"scheme":3,"embedder":"…","dimensions":256,"generation":1,"rows":2,"log_bytes":90,"cursor":"…"}
//! <blake3 of the line above, in hex>
//! ```

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::FinderError;
use crate::files::{damaged, io_failed, replace_file};

pub(super) const HEAD: &str = "head";

/// Version of the file layout, of the vector quantization, and of the way texts are chunked.
const SCHEME: u32 = 3;

/// Sanity limit; the cursor is short.
const HEAD_BYTES_MAX: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IndexHead {
    pub(super) scheme: u32,
    pub(super) embedder: String,
    pub(super) dimensions: usize,
    /// Suffix of the other files' names; compaction increments it.
    pub(super) generation: u64,
    pub(super) rows: u64,
    pub(super) log_bytes: u64,
    pub(super) cursor: String,
}

impl IndexHead {
    /// Head of an empty index.
    pub(super) fn new(embedder: &str, dimensions: usize) -> Self {
        Self {
            scheme: SCHEME,
            embedder: embedder.to_owned(),
            dimensions,
            generation: 1,
            rows: 0,
            log_bytes: 0,
            cursor: String::new(),
        }
    }

    /// Reads the head from a folder; `Missing` if there is no such file.
    pub(super) fn read(folder: &Path) -> Result<Self, FinderError> {
        let path = folder.join(HEAD);
        let there = match std::fs::metadata(&path) {
            Ok(there) => there,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(FinderError::Missing(folder.to_owned()));
            }
            // The folder itself may be a file.
            Err(error) => return Err(damaged(&path, error.to_string())),
        };
        if !there.is_file() || there.len() > HEAD_BYTES_MAX {
            return Err(damaged(&path, "is not an index head"));
        }
        let text = std::fs::read(&path).map_err(|error| io_failed(&path, &error))?;
        let head = Self::parse(&text)
            .ok_or_else(|| damaged(&path, "is not an index head, or was modified"))?;
        if head.scheme != SCHEME {
            let problem = format!("has format {}, expected {SCHEME}", head.scheme);
            return Err(damaged(&path, problem));
        }
        Ok(head)
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let text = str::from_utf8(text).ok()?;
        let (line, sum) = text.strip_suffix('\n')?.split_once('\n')?;
        if blake3::hash(line.as_bytes()).to_hex().as_str() != sum {
            return None;
        }
        serde_json::from_str(line).ok()
    }

    pub(super) fn render(&self) -> String {
        // Serializing a struct of numbers and strings cannot fail.
        let line = serde_json::to_string(self).unwrap_or_default();
        let sum = blake3::hash(line.as_bytes()).to_hex();
        format!("{line}\n{sum}\n")
    }

    /// Replaces the head file atomically.
    pub(super) fn write(&self, folder: &Path) -> Result<(), FinderError> {
        replace_file(folder, HEAD, self.render().as_bytes())
            .map_err(|error| io_failed(&folder.join(HEAD), &error))
    }
}
