//! Backups of a home: one file with everything that cannot be rebuilt.
//!
//! ```text
//! in a backup         events, projects, notes with their history, injections, waiting events, config
//! not in a backup     contents, indexes, transcripts, topics: rebuilt from the events
//!                     notes inside repositories (their history is), API keys, the daemon's state
//!                     offline chats: they demonstrate memory, and belong to no project
//! ```
//!
//! The file is a sequence of blocks (`block.rs`), each a zstd frame of JSON lines ([`Record`])
//! behind a header with its checksum and that of the block before it. `zstd -dc` prints the lines.
//!
//! A backup is consistent while events are stored: each ledger is read in order of arrival up to the
//! event that was last when its turn came. Restoring adds and never replaces. Every step skips records
//! that exist, so running an interrupted restore again completes it.
//!
//! ```text
//! start, config, projects     may change: rewritten when a backup is continued
//! events of each ledger       blocks with marks: kept when a backup is continued
//! the rest, end               read at the end of the last run
//! ```
//!
//! An interrupted backup is continued after its last block of events (`partial.rs`): a mark there
//! records how far a ledger was read and hashes the lines of its events. If the ledger gives the same hash, it
//! is read on from there; if anything else is found, the backup starts over.

mod block;
mod collect;
mod error;
mod files;
mod notebook_merge;
mod partial;
mod partial_reader;
mod paths;
mod record;
mod restore;

pub use block::{Block, BlockReader, check_backup};
pub use error::BackupError;
pub(crate) use notebook_merge::{copy_notebook, merge_notebook};
pub use partial::{LedgerMark, PartialBackup};
pub use partial_reader::read_partial;
pub use record::{BackupCounts, Record};
pub use restore::{RestoreCounts, Restorer};
