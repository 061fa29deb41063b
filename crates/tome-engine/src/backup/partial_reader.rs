//! Reads an interrupted backup.

use std::io::Read;

use super::BackupError;
use super::block::{Block, BlockReader};
use super::partial::PartialBackup;
use super::record::Record;

/// Reads an interrupted backup up to its last block of events, and verifies each block. `None` if nothing
/// can be kept. Fails on files that are not backups, and on those of a later version.
pub fn read_partial(from: impl Read) -> Result<Option<PartialBackup>, BackupError> {
    let mut reader = BlockReader::new(from);
    let mut partial = PartialBackup::default();
    // Blocks without events are only worth keeping if events follow.
    let mut kept = None;
    loop {
        let block = match reader.next_block() {
            Ok(Some(block)) if is_before_rest(&block) => block,
            // The process was interrupted here, or the disk has lost what follows.
            Ok(_) | Err(BackupError::Truncated(_) | BackupError::Damaged { .. }) => {
                return Ok(kept);
            }
            Err(error) => return Err(error),
        };
        let (blocks, last_sum) = reader.position();
        partial.blocks = blocks;
        last_sum.clone_into(&mut partial.last_sum);
        partial.bytes += block.bytes.len() as u64;
        for record in block.records {
            partial.add(record);
        }
        if let Some(mark) = block.mark {
            partial.ledgers.retain(|known| known.ledger != mark.ledger);
            partial.ledgers.push(mark);
            kept = Some(partial.clone());
        }
    }
}

/// Whether a block holds events or comes before them.
fn is_before_rest(block: &Block) -> bool {
    block.records.iter().all(|record| match record {
        Record::Start { .. } | Record::Config { .. } | Record::Project(_) => true,
        Record::Event(_) => block.mark.is_some(),
        _ => false,
    })
}
