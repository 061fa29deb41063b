//! A delivery: one run of a hook, and everything that it hands over.
//!
//! The hook names its delivery when it starts, and the name travels with the drafts on every path: over
//! the socket, to a detached process, through the spool, into the record of losses. Whoever meets the
//! same name twice meets the same delivery, however it got there.

use std::fmt;

use crate::{Draft, Millis, ModelError, ulid};

/// The name of a delivery: a ULID, so that names sort by the time at which their hooks started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId(u128);

/// Bits of a ULID that are not its time.
const RANDOM_BITS: u32 = 80;

impl DeliveryId {
    /// Names a delivery by the time at which its hook started and 80 random bits.
    pub fn new(started: Millis, random: [u8; 10]) -> Self {
        let time = u128::from(started.0.min((1 << 48) - 1)) << RANDOM_BITS;
        let random = random.iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
        Self(time | random)
    }

    /// When its hook started.
    pub fn started(self) -> Millis {
        Millis(u64::try_from(self.0 >> RANDOM_BITS).unwrap_or(u64::MAX))
    }

    /// The lowest name that a hook started at this moment can have.
    pub fn first_at(moment: Millis) -> Self {
        Self::new(moment, [0; 10])
    }

    /// The sixteen bytes of the name; they sort as names do.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The name of sixteen bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// Reads a name as it is printed.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let bits = ulid::parse(text).and_then(|text| ulid::read(&text));
        bits.map(Self).ok_or_else(|| ModelError::invalid("delivery", "is not a ULID"))
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&ulid::write(self.0))
    }
}

/// One of the drafts of a delivery: written `<delivery>-<part>`, with parts counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryPart {
    /// The delivery.
    pub id: DeliveryId,
    /// The place of the draft among those of its delivery.
    pub part: u16,
}

impl DeliveryPart {
    /// Reads a part as it is printed.
    pub fn parse(text: &str) -> Result<Self, ModelError> {
        let invalid = || ModelError::invalid("delivery", "is not a ULID, a dash and a number");
        let (id, part) = text.split_once('-').ok_or_else(invalid)?;
        Ok(Self { id: DeliveryId::parse(id)?, part: part.parse().map_err(|_| invalid())? })
    }
}

impl fmt::Display for DeliveryPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.id, self.part)
    }
}

/// A draft and the delivery that brought it.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivered {
    /// The draft.
    pub draft: Draft,
    /// The delivery; `None` for drafts that no hook brought.
    pub delivery: Option<DeliveryPart>,
}

impl Delivered {
    /// The drafts of one delivery, numbered in order.
    pub fn number(id: DeliveryId, drafts: Vec<Draft>) -> Vec<Self> {
        (0..)
            .zip(drafts)
            .map(|(part, draft)| Self { draft, delivery: Some(DeliveryPart { id, part }) })
            .collect()
    }
}

impl From<Draft> for Delivered {
    fn from(draft: Draft) -> Self {
        Self { draft, delivery: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_printed_and_sort_by_time() {
        let early = DeliveryId::new(Millis(1_794_702_485_884), [0xff; 10]);
        let late = DeliveryId::new(Millis(1_794_702_485_885), [0; 10]);
        assert!(early < late && early.to_string() < late.to_string());
        assert_eq!(late, DeliveryId::first_at(Millis(1_794_702_485_885)));
        for id in [early, late] {
            assert_eq!(DeliveryId::parse(&id.to_string()).unwrap(), id);
            assert_eq!(DeliveryId::from_bytes(id.to_bytes()), id);
            assert!(DeliveryId::first_at(id.started()) <= id);
            let part = DeliveryPart { id, part: 7 };
            assert_eq!(DeliveryPart::parse(&part.to_string()).unwrap(), part);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let id = DeliveryId::new(Millis(1), [3; 10]).to_string();
        for bad in ["", "-", "0-0", "x", &id, &format!("{id}-"), &format!("{id}-70000")] {
            assert!(DeliveryPart::parse(bad).is_err(), "{bad}");
        }
    }
}
