//! Every cap of the ledger, with its reason.

/// One event, encoded and not yet compressed. Text, tool input and tool output at the highest cap
/// that can be configured (4 MiB each) and everything else fit; a decompression bomb does not.
pub(crate) const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// JSON nested deeper than this is refused: it could be written and never be read again.
pub(crate) const JSON_DEPTH_MAX: usize = 100;

/// Values shorter than this are left to the engine, which compresses whole blocks of them: on
/// events of 1 KB that takes a third of the time and 10 % less room than zstd one by one, and
/// neither needs a dictionary that would have to be kept for ever.
pub(crate) const COMPRESS_BYTES_MIN: usize = 4 * 1024;

/// A group of appends that shares one sync is closed at this size, so that whoever came first does
/// not wait for an endless stream behind it.
pub(crate) const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The same in events.
pub(crate) const GROUP_EVENTS_MAX: usize = 16 * 1024;

/// A group is written in batches of about this size: the engine keeps a whole batch in memory.
pub(crate) const BATCH_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The room that an emptied batch keeps for the next one.
pub(crate) const BATCH_ROOM_BYTES: usize = 64 * 1024;

/// Appends that wait for the writer may hold this much memory; whoever comes then has to wait.
pub(crate) const QUEUE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// This many occurrences of the same words are looked at one by one. The person who says the same
/// thing more often than that is a script, and its occurrences are found through an index.
pub(crate) const OCCURRENCES_PROBED: u32 = 8;

/// Nobody says the same words this often in one session.
pub(crate) const OCCURRENCES_MAX: u32 = 1 << 30;

/// Names of workers are keys.
pub(crate) const WORKER_BYTES_MAX: usize = 128;

/// Copies of journals that power loss has torn are kept for a person to look at: the latest few.
pub(crate) const TORN_JOURNALS_MAX: usize = 3;

/// Numbers of changed nodes that one opening of a store may give: more than it ever will. A store
/// can be opened some four billion times.
pub(crate) const CHANGES_RESERVED: u64 = 1 << 32;

/// Deliveries are remembered for this long. A line of the spool waits until a daemon runs: a machine may
/// be switched off for weeks. One that comes later still is recognised by what it says.
pub(crate) const DELIVERIES_KEPT_MS: u64 = 30 * 24 * 3_600 * 1_000;

/// Entries of old deliveries are looked for once in so many new ones, and removed in portions that
/// do not delay the batch they are part of; a portion is larger than what was added since.
pub(crate) const DELIVERIES_PRUNED_EVERY: u64 = 256;
pub(crate) const DELIVERIES_PRUNED_MAX: usize = 1024;

/// Pieces of damage that an open store keeps apart: enough to see the pattern, and a store that is
/// all damage takes no memory.
pub(crate) const DAMAGE_ENTRIES_MAX: usize = 64;

/// The file of counts has some hundred bytes; a longer one is damaged.
pub(crate) const COUNTS_BYTES_MAX: u64 = 4 * 1024;

/// Blocks in a row that a scan may skip in one table before it gives the rest of the table up: an
/// index block that cannot be read may fail forever.
pub(crate) const BAD_BLOCKS_MAX: usize = 100_000;

/// Folders that repairs have set aside, for a person to look at.
pub(crate) const DAMAGED_FOLDERS_MAX: u32 = 1_000;
