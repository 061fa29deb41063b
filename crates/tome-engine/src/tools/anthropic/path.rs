//! Paths below `/memories`, mapped to paths in the notebook.

use super::super::answer::{ToolError, truncate_bytes};

/// Bytes shown of an invalid path.
const SHOWN_BYTES_MAX: usize = 300;

const MEMORY_ROOT: &str = "/memories";

/// A path below `/memories`, normalized: no dots, no doubled slashes.
pub(super) struct MemoryPath(String);

impl MemoryPath {
    pub(super) fn parse(given: &str) -> Result<Self, ToolError> {
        let shown = truncate_bytes(given, SHOWN_BYTES_MAX);
        let below = given
            .strip_prefix(MEMORY_ROOT)
            .filter(|below| below.is_empty() || below.starts_with('/'))
            .ok_or_else(|| {
                ToolError::invalid(format!("Path must start with /memories, got: {shown}"))
            })?;
        let lower = below.to_ascii_lowercase();
        let encoded = ["%2e", "%2f", "%5c", "%00"].iter().any(|code| lower.contains(code));
        if encoded || below.contains('\\') || below.split('/').any(|part| part == "..") {
            let message = format!("Path {shown} would escape /memories directory");
            return Err(ToolError::invalid(message));
        }
        let parts: Vec<&str> = below.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        Ok(Self(parts.join("/")))
    }

    /// Path in the notebook; empty for `/memories` itself.
    pub(super) fn notebook_path(&self) -> &str {
        &self.0
    }

    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The part of a note's path below this folder.
    pub(super) fn strip_from<'n>(&self, note: &'n str) -> Option<&'n str> {
        if self.is_root() {
            return Some(note);
        }
        note.strip_prefix(self.notebook_path())?.strip_prefix('/')
    }

    /// Whether the extension is that of a note.
    pub(super) fn is_note_name(&self) -> bool {
        self.0.to_ascii_lowercase().ends_with(".md")
    }
}

impl std::fmt::Display for MemoryPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(MEMORY_ROOT)?;
        if !self.is_root() {
            write!(f, "/{}", truncate_bytes(&self.0, SHOWN_BYTES_MAX))?;
        }
        Ok(())
    }
}
