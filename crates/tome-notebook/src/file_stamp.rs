//! How a file is recognized without reading it.

use cap_std::fs::Metadata;

/// Size, times and inode of a file. An equal stamp most likely means unchanged content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FileStamp {
    pub bytes: u64,
    pub modified_ms: u64,
    modified_ns: i128,
    changed_ns: i128,
    inode: u64,
}

impl FileStamp {
    /// The stamp of a file that is not written yet.
    pub fn for_unwritten_file(bytes: usize) -> Self {
        Self { bytes: bytes as u64, ..Self::default() }
    }

    /// Text form, for comparison with a stored stamp.
    pub fn to_text(self) -> String {
        format!("{}:{}:{}:{}", self.bytes, self.modified_ns, self.changed_ns, self.inode)
    }

    #[cfg(unix)]
    pub fn from_metadata(metadata: &Metadata) -> Self {
        use cap_std::fs::MetadataExt;
        let ns = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        let modified_ns = ns(metadata.mtime(), metadata.mtime_nsec());
        Self {
            bytes: metadata.len(),
            modified_ms: u64::try_from(modified_ns / 1_000_000).unwrap_or(0),
            modified_ns,
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    #[cfg(not(unix))]
    pub fn from_metadata(metadata: &Metadata) -> Self {
        let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
        let since = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let modified_ns = since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(0));
        Self {
            bytes: metadata.len(),
            modified_ms: u64::try_from(modified_ns / 1_000_000).unwrap_or(0),
            modified_ns,
            changed_ns: 0,
            inode: 0,
        }
    }
}

#[cfg(unix)]
pub(crate) fn identity(metadata: &Metadata) -> (u64, u64) {
    use cap_std::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(unix)]
pub(crate) fn identity_std(metadata: &std::fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Outside Unix an open folder cannot be removed, so it is always current.
#[cfg(not(unix))]
pub(crate) fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

#[cfg(not(unix))]
pub(crate) fn identity_std(_: &std::fs::Metadata) -> (u64, u64) {
    (0, 0)
}
