//! Limits of the ledger, each with its reason.

/// Maximum size of an encoded event before compression. Text, tool input and tool output at their
/// highest configurable limit (4 MiB each) fit; a decompression bomb does not.
pub(crate) const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Maximum nesting of JSON; deeper values could be written but not be parsed again.
pub(crate) const JSON_DEPTH_MAX: usize = 100;

/// Shorter values are compressed by the engine, in blocks: for events of 1 KB that takes a third of
/// the time and 10 % less space than zstd per value, and needs no dictionary that would have to be
/// kept forever.
pub(crate) const COMPRESS_BYTES_MIN: usize = 4 * 1024;

/// Maximum bytes of appends that share one sync, which limits the wait of the first caller.
pub(crate) const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Maximum events of appends that share one sync.
pub(crate) const GROUP_EVENTS_MAX: usize = 16 * 1024;

/// Approximate size of the batches of a group: the engine keeps a whole batch in memory.
pub(crate) const BATCH_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Capacity that a cleared batch keeps.
pub(crate) const BATCH_CAPACITY_BYTES: usize = 64 * 1024;

/// Maximum bytes of queued appends; further callers block.
pub(crate) const QUEUE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Occurrences of the same words that are checked one by one. More frequent words come from scripts;
/// their occurrences are found through `sightings`.
pub(crate) const OCCURRENCES_PROBED: u32 = 8;

/// Maximum occurrences of the same words in one session.
pub(crate) const OCCURRENCES_MAX: u32 = 1 << 30;

/// Maximum length of a projection's name, which is a key.
pub(crate) const PROJECTION_NAME_BYTES_MAX: usize = 128;

/// Copies of torn journals that are kept for inspection: the latest ones.
pub(crate) const TORN_JOURNALS_MAX: usize = 3;

/// Change numbers reserved per opening of a store: more than it uses. Enough for four billion openings.
pub(crate) const CHANGES_RESERVED: u64 = 1 << 32;

/// How long deliveries are remembered. A spooled delivery waits until a daemon runs, and a machine may
/// be off for weeks. A later one is still recognized by its content.
pub(crate) const DELIVERIES_TTL_MS: u64 = 30 * 24 * 3_600 * 1_000;

/// Expired deliveries are pruned once per this many new ones, in portions that do not delay their
/// batch. A portion is larger than what was added since, so pruning keeps up.
pub(crate) const DELIVERIES_PRUNE_INTERVAL: u64 = 256;
pub(crate) const DELIVERIES_PRUNE_BATCH: usize = 1024;

/// Findings of damage kept per open store: enough to see the pattern without using much memory.
pub(crate) const DAMAGE_ENTRIES_MAX: usize = 64;

/// Maximum size of the counts file; it has about a hundred bytes, so a longer one is damaged.
pub(crate) const COUNTS_BYTES_MAX: u64 = 4 * 1024;

/// Consecutive bad blocks after which a scan gives up the rest of a table: an unreadable index block
/// may fail forever.
pub(crate) const BAD_BLOCKS_MAX: usize = 100_000;

/// Maximum damaged stores that repairs set aside for inspection.
pub(crate) const DAMAGED_FOLDERS_MAX: u32 = 1_000;
