//! Scans a fjall keyspace past unreadable blocks.
//!
//! fjall's scan merges all tables and ends at the first bad block of any of them. This one starts with
//! that scan and, on damage, continues table by table: unreadable blocks are recorded and skipped, and
//! the rest is merged as before.

use std::ops::Bound;

use fjall::{AbstractTree, Keyspace, UserKey};
use lsm_tree::InternalValue;

use crate::damage::DamageLog;
use crate::limits::BAD_BLOCKS_MAX;
use crate::{DamagedBlock, Family, KeyRange, KvError, KvPair, ScanDirection};

type TableItems = Box<dyn DoubleEndedIterator<Item = lsm_tree::Result<InternalValue>> + Send>;

pub(super) struct DamageScan<'a> {
    keyspace: &'a Keyspace,
    family: Family,
    direction: ScanDirection,
    /// The rest of the range.
    span: KeyRange,
    damage: &'a DamageLog,
    /// Moves memtables into tables, before the tables are read one by one.
    flush: Box<dyn Fn() -> Result<(), KvError> + Send + 'a>,
    stage: ScanStage,
}

enum ScanStage {
    /// No damage so far.
    Merged(fjall::Iter),
    /// Damage was found.
    ByTable(Vec<TableCursor>),
    /// An error other than damage ended the scan.
    Ended,
}

/// A table and its next item.
struct TableCursor {
    items: TableItems,
    next: Option<InternalValue>,
    bad_in_a_row: usize,
}

impl<'a> DamageScan<'a> {
    pub(super) fn new(
        keyspace: &'a Keyspace,
        family: Family,
        span: KeyRange,
        direction: ScanDirection,
        damage: &'a DamageLog,
        flush: impl Fn() -> Result<(), KvError> + Send + 'a,
    ) -> Self {
        let bounds = (span.from.clone(), span.to.clone());
        let merged = keyspace.range::<Vec<u8>, (Bound<Vec<u8>>, Bound<Vec<u8>>)>(bounds);
        let (flush, stage) = (Box::new(flush), ScanStage::Merged(merged));
        Self { keyspace, family, direction, span, damage, flush, stage }
    }

    /// Restarts after the last returned key, table by table.
    fn switch_to_tables(&mut self) -> Result<(), KvError> {
        (self.flush)()?;
        let bound = |bound: &Bound<Vec<u8>>| match bound {
            Bound::Included(key) => Bound::Included(UserKey::from(key.as_slice())),
            Bound::Excluded(key) => Bound::Excluded(UserKey::from(key.as_slice())),
            Bound::Unbounded => Bound::Unbounded,
        };
        let bounds = (bound(&self.span.from), bound(&self.span.to));
        let mut sources = Vec::new();
        if !self.span.is_empty() {
            for table in self.keyspace.tree.current_version().iter_tables() {
                let items: TableItems = Box::new(table.range(bounds.clone()));
                let mut source = TableCursor { items, next: None, bad_in_a_row: 0 };
                source.advance(self.direction, self.family, self.damage)?;
                sources.push(source);
            }
        }
        self.stage = ScanStage::ByTable(sources);
        Ok(())
    }

    /// Excludes everything up to this key from the rest of the range.
    fn exclude_up_to(&mut self, key: &[u8]) {
        let passed = Bound::Excluded(key.to_vec());
        match self.direction {
            ScanDirection::Forward => self.span.from = passed,
            ScanDirection::Backward => self.span.to = passed,
        }
    }

    /// Returns the next pair of all tables. For equal keys, the newest version wins.
    fn next_by_table(&mut self) -> Result<Option<KvPair>, KvError> {
        let ScanStage::ByTable(sources) = &mut self.stage else { return Ok(None) };
        loop {
            let keys = sources.iter().filter_map(|source| source.next.as_ref());
            let keys = keys.map(|item| &item.key.user_key);
            let next = match self.direction {
                ScanDirection::Forward => keys.min(),
                ScanDirection::Backward => keys.max(),
            };
            let Some(key) = next.cloned() else { return Ok(None) };
            let mut newest: Option<InternalValue> = None;
            for source in sources.iter_mut() {
                while let Some(item) = source.next.take_if(|item| item.key.user_key == key) {
                    if newest.as_ref().is_none_or(|newest| item.key.seqno > newest.key.seqno) {
                        newest = Some(item);
                    }
                    source.advance(self.direction, self.family, self.damage)?;
                }
            }
            match newest {
                Some(item) if !item.is_tombstone() => {
                    return Ok(Some((key.to_vec(), item.value.to_vec())));
                }
                _ => {}
            }
        }
    }

    fn fail(&mut self, error: KvError) -> Result<KvPair, KvError> {
        self.stage = ScanStage::Ended;
        Err(error)
    }
}

impl TableCursor {
    fn advance(
        &mut self,
        direction: ScanDirection,
        family: Family,
        damage: &DamageLog,
    ) -> Result<(), KvError> {
        loop {
            let next = match direction {
                ScanDirection::Forward => self.items.next(),
                ScanDirection::Backward => self.items.next_back(),
            };
            match next {
                None => return Ok(()),
                Some(Ok(item)) => {
                    (self.next, self.bad_in_a_row) = (Some(item), 0);
                    return Ok(());
                }
                Some(Err(error)) => {
                    let error = fjall::Error::from(error);
                    if !is_damage(&error) {
                        return Err(error.into());
                    }
                    damage.record(to_damaged_block(family, &error).to_string());
                    self.bad_in_a_row += 1;
                    if self.bad_in_a_row > BAD_BLOCKS_MAX {
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl Iterator for DamageScan<'_> {
    type Item = Result<KvPair, KvError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let ScanStage::Merged(merged) = &mut self.stage {
            let guard = match self.direction {
                ScanDirection::Forward => merged.next(),
                ScanDirection::Backward => merged.next_back(),
            };
            match guard?.into_inner() {
                Ok((key, value)) => {
                    self.exclude_up_to(&key);
                    return Some(Ok((key.to_vec(), value.to_vec())));
                }
                Err(error) if is_damage(&error) => {
                    self.damage.record(to_damaged_block(self.family, &error).to_string());
                    if let Err(error) = self.switch_to_tables() {
                        return Some(self.fail(error));
                    }
                }
                Err(error) => return Some(self.fail(error.into())),
            }
        }
        match self.next_by_table() {
            Ok(pair) => pair.map(Ok),
            Err(error) => Some(self.fail(error)),
        }
    }
}

/// Whether an error means that bytes on disk differ from what was written. Other failures, such as
/// running out of file descriptors, are not damage.
pub(super) fn is_damage(error: &fjall::Error) -> bool {
    use std::io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
    /// The disk could not read a sector.
    const EIO: i32 = 5;
    let is_bad_file = |error: &std::io::Error| {
        matches!(error.kind(), InvalidData | NotFound | UnexpectedEof)
            || error.raw_os_error() == Some(EIO)
    };
    match error {
        fjall::Error::Storage(lsm_tree::Error::Io(error)) | fjall::Error::Io(error) => {
            is_bad_file(error)
        }
        fjall::Error::Storage(_)
        | fjall::Error::Decompress(_)
        | fjall::Error::InvalidTag(_)
        | fjall::Error::InvalidTrailer
        | fjall::Error::Unrecoverable => true,
        _ => false,
    }
}

pub(super) fn to_damaged_block(family: Family, error: &fjall::Error) -> DamagedBlock {
    let problem = match error {
        fjall::Error::Storage(lsm_tree::Error::ChecksumMismatch { .. }) => {
            "a block does not match its checksum".to_owned()
        }
        fjall::Error::Storage(lsm_tree::Error::Io(error)) | fjall::Error::Io(error) => {
            format!("a block cannot be read: {error}")
        }
        fjall::Error::Storage(error) => format!("a block cannot be read: {error:?}"),
        error => format!("a block cannot be read: {error:?}"),
    };
    DamagedBlock { family, problem }
}
