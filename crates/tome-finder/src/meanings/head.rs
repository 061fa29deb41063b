//! The head: a small file that says how much of the other files counts. It is replaced last, so that
//! what a commit wrote is there as a whole or not at all.
//!
//! ```text
//! {"scheme":1,"embedder":"…","dimensions":256,"generation":1,"rows":2,"log_bytes":90,"cursor":"…"}
//! <blake3 of the line before, in hexadecimal>
//! ```

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::FinderError;
use crate::files::{damaged, failed, replace};

pub(super) const HEAD: &str = "head";

/// The layout of the files beside the head, how their vectors are cut to bits, and of which
/// parts of a text they are made.
const SCHEME: u32 = 3;

/// A head longer than this was not written here: the cursor is a short text.
const HEAD_BYTES_MAX: u64 = 1 << 20;

/// What counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) scheme: u32,
    pub(super) embedder: String,
    pub(super) dimensions: usize,
    /// Part of the names of the other files; the next one when they are written anew.
    pub(super) generation: u64,
    pub(super) rows: u64,
    pub(super) log_bytes: u64,
    pub(super) cursor: String,
}

impl Head {
    /// Of an index that has nothing yet.
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

    /// Reads the head of a folder. No file: no index.
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
            return Err(damaged(&path, "is not the head of an index"));
        }
        let text = std::fs::read(&path).map_err(|error| failed(&path, &error))?;
        let head = Self::parsed(&text).ok_or_else(|| {
            damaged(&path, "is not the head of an index, or was changed by somebody")
        })?;
        if head.scheme != SCHEME {
            let problem = format!("has scheme {}, but {SCHEME} is needed", head.scheme);
            return Err(damaged(&path, problem));
        }
        Ok(head)
    }

    fn parsed(text: &[u8]) -> Option<Self> {
        let text = str::from_utf8(text).ok()?;
        let (line, sum) = text.strip_suffix('\n')?.split_once('\n')?;
        if blake3::hash(line.as_bytes()).to_hex().as_str() != sum {
            return None;
        }
        serde_json::from_str(line).ok()
    }

    /// The bytes of the file.
    pub(super) fn text(&self) -> String {
        // A struct of numbers and strings has nothing that JSON could refuse.
        let line = serde_json::to_string(self).unwrap_or_default();
        let sum = blake3::hash(line.as_bytes()).to_hex();
        format!("{line}\n{sum}\n")
    }

    /// Puts it in place of the one before.
    pub(super) fn write(&self, folder: &Path) -> Result<(), FinderError> {
        replace(folder, HEAD, self.text().as_bytes())
            .map_err(|error| failed(&folder.join(HEAD), &error))
    }
}
