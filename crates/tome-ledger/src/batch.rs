//! An atomic batch of puts and deletes across families.
//!
//! All bytes are in one buffer, so that a group of thousands of events needs only a few allocations.

use std::ops::Range;

use crate::Family;

/// Puts and deletes across families that are written atomically.
#[derive(Debug, Clone, Default)]
pub struct KvBatch {
    bytes: Vec<u8>,
    ops: Vec<OpRanges>,
}

#[derive(Debug, Clone)]
struct OpRanges {
    family: Family,
    key: Range<usize>,
    value: Option<Range<usize>>,
}

/// One put or delete of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchOp<'a> {
    /// The family of the key.
    pub family: Family,
    /// The key.
    pub key: &'a [u8],
    /// The new value, or `None` to delete the key.
    pub value: Option<&'a [u8]>,
}

impl KvBatch {
    /// Sets a key.
    pub fn put(&mut self, family: Family, key: &[u8], value: &[u8]) {
        self.put_joined(family, &[key], &[value]);
    }

    /// Sets a key, with key and value given in parts. Saves the caller from concatenating them.
    pub fn put_joined(&mut self, family: Family, key: &[&[u8]], value: &[&[u8]]) {
        let key = self.push_bytes(key);
        let value = Some(self.push_bytes(value));
        self.ops.push(OpRanges { family, key, value });
    }

    /// Removes a key.
    pub fn delete(&mut self, family: Family, key: &[u8]) {
        let key = self.push_bytes(&[key]);
        self.ops.push(OpRanges { family, key, value: None });
    }

    /// The operations, in insertion order.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = BatchOp<'_>> {
        self.ops.iter().map(|op| BatchOp {
            family: op.family,
            key: self.slice(&op.key),
            value: op.value.as_ref().map(|value| self.slice(value)),
        })
    }

    /// Total bytes of keys and values.
    pub fn bytes_len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the batch has no operations.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Removes all operations and keeps the allocation, unless it is unusually large.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(crate::limits::BATCH_CAPACITY_BYTES);
        self.ops.clear();
        self.ops.shrink_to(crate::limits::BATCH_CAPACITY_BYTES / 64);
    }

    fn push_bytes(&mut self, parts: &[&[u8]]) -> Range<usize> {
        let start = self.bytes.len();
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        start..self.bytes.len()
    }

    fn slice(&self, range: &Range<usize>) -> &[u8] {
        // Ranges come from `push_bytes`, and the buffer only grows until both are cleared together.
        self.bytes.get(range.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_returns_its_puts() {
        let mut batch = KvBatch::default();
        assert!(batch.is_empty());
        batch.put(Family::Ids, b"k", b"value");
        batch.delete(Family::Events, b"gone");
        batch.put_joined(Family::Sessions, &[b"s", b"", b"t"], &[]);
        let ops: Vec<BatchOp<'_>> = batch.ops().collect();
        assert_eq!(ops.len(), 3);
        assert_eq!((ops[0].key, ops[0].value), (&b"k"[..], Some(&b"value"[..])));
        assert_eq!((ops[1].family, ops[1].value), (Family::Events, None));
        assert_eq!((ops[2].key, ops[2].value), (&b"st"[..], Some(&b""[..])));
        batch.clear();
        assert!(batch.is_empty() && batch.bytes_len() == 0);
    }
}
