//! Blocks: the file format of a backup.
//!
//! ```text
//! header   50 2A 4D 18   length:u32 LE   JSON {"tome_backup":1,"block":1,"bytes":…,"plain":…,"sum":"…","after":"…"}
//! body     a zstd frame of `bytes` bytes; decompressed, `plain` bytes of JSON lines
//! ```
//!
//! The header is a skippable frame of zstd, so that `zstd -dc` prints the lines of the whole file. `sum`
//! is the BLAKE3 hash of the body and `after` that of the body before it, so that no block can be
//! missing or out of place. The last record of the last block is [`Record::End`]. The header of a block
//! of events also has `"mark"` ([`LedgerMark`]): how far its ledger has been read.

use std::io::Read;

use serde::{Deserialize, Serialize};

use super::BackupError;
use super::partial::{LedgerMark, PartialBackup};
use super::record::{BackupCounts, FORMAT, Record, RecordCounter, check_record, project_root};

/// The first bytes of a skippable frame of zstd.
const SKIPPABLE: [u8; 4] = [0x50, 0x2A, 0x4D, 0x18];
/// A block is complete once its lines have this size.
const BLOCK_BYTES: usize = 1024 * 1024;
/// The largest block: an event at its limits, escaped as JSON in the worst case.
const BLOCK_BYTES_MAX: usize = 48 * 1024 * 1024;
const HEADER_BYTES_MAX: usize = 4096;
const LEVEL: i32 = 3;

#[derive(Debug, Serialize, Deserialize)]
struct BlockHeader {
    tome_backup: u64,
    block: u64,
    bytes: usize,
    plain: usize,
    sum: String,
    after: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mark: Option<LedgerMark>,
}

/// Cuts records into blocks.
pub(crate) struct BlockWriter<'o> {
    lines: Vec<u8>,
    block: u64,
    after: String,
    counter: RecordCounter,
    mark: Option<LedgerMark>,
    out: &'o mut dyn FnMut(Vec<u8>) -> Result<(), BackupError>,
}

impl<'o> BlockWriter<'o> {
    /// Creates a writer that passes each complete block to `out`. With a partial backup its first block
    /// follows the last one of that.
    pub(crate) fn new(
        partial: Option<&PartialBackup>,
        out: &'o mut dyn FnMut(Vec<u8>) -> Result<(), BackupError>,
    ) -> Self {
        let (block, after, counter) = match partial {
            None => (0, String::new(), RecordCounter::default()),
            Some(partial) => {
                let roots = partial.projects.iter().map(|project| project_root(project).to_owned());
                let counter = RecordCounter::resume(partial.events, roots);
                (partial.blocks, partial.last_sum.clone(), counter)
            }
        };
        Self { lines: Vec::new(), block, after, counter, mark: None, out }
    }

    pub(crate) fn push(&mut self, record: &Record) -> Result<(), BackupError> {
        self.push_line(record, &encode_line(record)?)
    }

    /// Adds an event and moves the mark of its ledger past it.
    pub(crate) fn push_event(
        &mut self,
        record: &Record,
        line: &[u8],
        mark: LedgerMark,
    ) -> Result<(), BackupError> {
        self.mark = Some(mark);
        self.push_line(record, line)
    }

    fn push_line(&mut self, record: &Record, line: &[u8]) -> Result<(), BackupError> {
        self.counter.add(record);
        self.lines.extend_from_slice(line);
        if self.lines.len() >= BLOCK_BYTES { self.write_block() } else { Ok(()) }
    }

    /// Ends the current block, and with it the events of a ledger.
    pub(crate) fn end_section(&mut self) -> Result<(), BackupError> {
        if !self.lines.is_empty() {
            self.write_block()?;
        }
        self.mark = None;
        Ok(())
    }

    /// Writes the last record and the last block.
    pub(crate) fn finish(mut self, unreadable: u64) -> Result<BackupCounts, BackupError> {
        let counts = BackupCounts { unreadable, ..self.counter.counts() };
        self.push(&Record::End(counts))?;
        self.end_section()?;
        Ok(counts)
    }

    fn write_block(&mut self) -> Result<(), BackupError> {
        let body = zstd::bulk::compress(&self.lines, LEVEL)?;
        let sum = blake3::hash(&body).to_hex().to_string();
        self.block += 1;
        let header = BlockHeader {
            tome_backup: FORMAT,
            block: self.block,
            bytes: body.len(),
            plain: self.lines.len(),
            sum: sum.clone(),
            after: std::mem::replace(&mut self.after, sum),
            mark: self.mark.clone(),
        };
        let header = serde_json::to_vec(&header).map_err(std::io::Error::from)?;
        let length = u32::try_from(header.len()).unwrap_or(u32::MAX);
        let mut block = Vec::with_capacity(8 + header.len() + body.len());
        block.extend_from_slice(&SKIPPABLE);
        block.extend_from_slice(&length.to_le_bytes());
        block.extend_from_slice(&header);
        block.extend_from_slice(&body);
        self.lines.clear();
        (self.out)(block)
    }
}

/// The line of a record, as it is in a block.
pub(crate) fn encode_line(record: &Record) -> Result<Vec<u8>, BackupError> {
    let mut line = serde_json::to_vec(record).map_err(std::io::Error::from)?;
    line.push(b'\n');
    Ok(line)
}

/// A block that was read and verified.
pub struct Block {
    /// Its bytes, with the header.
    pub bytes: Vec<u8>,
    /// Its records.
    pub records: Vec<Record>,
    /// How far its ledger was read, if it is a block of events.
    pub(crate) mark: Option<LedgerMark>,
}

/// Reads a backup block by block, and verifies each.
pub struct BlockReader<R> {
    from: R,
    block: u64,
    after: String,
}

impl<R: Read> BlockReader<R> {
    /// Creates a reader over a file, or over blocks that arrive one after the other.
    pub fn new(from: R) -> Self {
        Self { from, block: 0, after: String::new() }
    }

    /// Returns the next block; `None` at the end of the file.
    pub fn next_block(&mut self) -> Result<Option<Block>, BackupError> {
        let mut raw = Vec::new();
        self.read_into(&mut raw, 8)?;
        if raw.is_empty() {
            return if self.block == 0 { Err(BackupError::NotABackup) } else { Ok(None) };
        }
        let is_ours = raw.starts_with(&SKIPPABLE);
        let length = raw.get(4..8).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
        let length = match length.and_then(|length| usize::try_from(length).ok()) {
            Some(length) if is_ours && length <= HEADER_BYTES_MAX => length,
            None if self.block > 0 => return Err(BackupError::Truncated(self.block)),
            _ if self.block > 0 => return Err(self.damaged("its header cannot be read")),
            _ => return Err(BackupError::NotABackup),
        };
        self.read_exactly(&mut raw, length)?;
        let header: serde_json::Value =
            serde_json::from_slice(raw.get(8..).unwrap_or_default()).unwrap_or_default();
        match header.get("tome_backup").and_then(serde_json::Value::as_u64) {
            Some(format) if format > FORMAT => return Err(BackupError::Newer(format)),
            Some(_) => {}
            None if self.block == 0 => return Err(BackupError::NotABackup),
            None => return Err(self.damaged("its header cannot be read")),
        }
        let header: BlockHeader = serde_json::from_value(header)
            .map_err(|_| self.damaged("its header cannot be read"))?;
        if header.block != self.block + 1 || header.after != self.after {
            return Err(self.damaged("it does not follow the block before it"));
        }
        if header.bytes > BLOCK_BYTES_MAX || header.plain > BLOCK_BYTES_MAX {
            return Err(self.damaged("it is too large"));
        }
        let start = raw.len();
        self.read_exactly(&mut raw, header.bytes)?;
        let body = raw.get(start..).unwrap_or_default();
        if blake3::hash(body).to_hex().as_str() != header.sum {
            return Err(self.damaged("its checksum does not match"));
        }
        let lines = zstd::bulk::decompress(body, header.plain)
            .map_err(|_| self.damaged("it cannot be decompressed"))?;
        let records = self.parse_lines(&lines)?;
        self.block += 1;
        self.after = header.sum;
        Ok(Some(Block { bytes: raw, records, mark: header.mark }))
    }

    /// Number of blocks read, and the hash of the last one.
    pub(crate) fn position(&self) -> (u64, &str) {
        (self.block, &self.after)
    }

    fn parse_lines(&self, lines: &[u8]) -> Result<Vec<Record>, BackupError> {
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines
            .map(|line| {
                serde_json::from_slice(line)
                    .map_err(|error| self.damaged(&format!("a record cannot be read: {error}")))
            })
            .collect()
    }

    /// Reads up to `length` bytes; fewer only at the end of the input.
    fn read_into(&mut self, raw: &mut Vec<u8>, length: usize) -> Result<(), BackupError> {
        (&mut self.from).take(length as u64).read_to_end(raw)?;
        Ok(())
    }

    fn read_exactly(&mut self, raw: &mut Vec<u8>, length: usize) -> Result<(), BackupError> {
        let wanted = raw.len() + length;
        self.read_into(raw, length)?;
        if raw.len() == wanted { Ok(()) } else { Err(BackupError::Truncated(self.block)) }
    }

    fn damaged(&self, problem: &str) -> BackupError {
        BackupError::Damaged { block: self.block + 1, problem: problem.to_owned() }
    }
}

impl BlockReader<std::io::Cursor<Vec<u8>>> {
    /// Continues with a block that has arrived.
    pub fn feed(&mut self, block: Vec<u8>) {
        self.from = std::io::Cursor::new(block);
    }
}

/// Reads a whole backup and checks every block, every path and the counts. Calls `each` with every
/// record. Returns what the backup holds.
pub fn check_backup(
    from: impl Read,
    each: &mut dyn FnMut(&Record),
) -> Result<BackupCounts, BackupError> {
    let mut reader = BlockReader::new(from);
    let (mut counter, mut end) = (RecordCounter::default(), None);
    while let Some(block) = reader.next_block()? {
        for record in &block.records {
            if end.is_some() {
                return Err(reader.damaged("a record follows the last one"));
            }
            check_record(record)?;
            counter.add(record);
            if let Record::End(expected) = record {
                end = Some(*expected);
            }
            each(record);
        }
    }
    let Some(expected) = end else { return Err(BackupError::Truncated(reader.block)) };
    if (BackupCounts { unreadable: expected.unreadable, ..counter.counts() }) != expected {
        return Err(reader.damaged("the counts at the end do not match the records"));
    }
    Ok(expected)
}
