//! Deliveries: a run of a hook and the drafts it hands over.
//!
//! The hook generates an id when it starts, and the id travels with the drafts on every path: over
//! the socket, to a detached process, through the spool, into the record of losses. The same id
//! always means the same delivery.

use std::fmt;

use crate::{Draft, InvalidInput, Millis, ulid};

/// The id of a delivery: a ULID, so that ids sort by the time the hook started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId(u128);

/// Bits of a ULID after the time.
const RANDOM_BITS: u32 = 80;

impl DeliveryId {
    /// Creates an id from the time the hook started and 80 random bits.
    pub fn new(started: Millis, random: [u8; 10]) -> Self {
        let time = u128::from(started.0.min((1 << 48) - 1)) << RANDOM_BITS;
        let random = random.iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
        Self(time | random)
    }

    /// When the hook started.
    pub fn started_at(self) -> Millis {
        Millis(u64::try_from(self.0 >> RANDOM_BITS).unwrap_or(u64::MAX))
    }

    /// The lowest id of a hook started at this moment.
    pub fn first_at(moment: Millis) -> Self {
        Self::new(moment, [0; 10])
    }

    /// Encodes the id as 16 bytes with the same order.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Decodes an id from 16 bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// Parses the printed form.
    pub fn parse(text: &str) -> Result<Self, InvalidInput> {
        let bits = ulid::parse(text).and_then(|text| ulid::decode(&text));
        bits.map(Self).ok_or_else(|| InvalidInput::invalid("delivery", "is not a ULID"))
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&ulid::encode(self.0))
    }
}

/// A draft of a delivery, printed as `<delivery>-<part>`, with parts counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryPart {
    /// The delivery.
    pub id: DeliveryId,
    /// Index of the draft in its delivery.
    pub part: u16,
}

impl DeliveryPart {
    /// Parses the printed form.
    pub fn parse(text: &str) -> Result<Self, InvalidInput> {
        let invalid = || InvalidInput::invalid("delivery", "is not a ULID, a dash and a number");
        let (id, part) = text.split_once('-').ok_or_else(invalid)?;
        Ok(Self { id: DeliveryId::parse(id)?, part: part.parse().map_err(|_| invalid())? })
    }
}

impl fmt::Display for DeliveryPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.id, self.part)
    }
}

/// A draft with its delivery.
#[derive(Debug, Clone, PartialEq)]
pub struct DeliveredDraft {
    /// The draft.
    pub draft: Draft,
    /// The delivery; `None` for drafts that do not come from a hook.
    pub delivery: Option<DeliveryPart>,
}

impl DeliveredDraft {
    /// Numbers the drafts of one delivery in order.
    pub fn number_drafts(id: DeliveryId, drafts: Vec<Draft>) -> Vec<Self> {
        (0..)
            .zip(drafts)
            .map(|(part, draft)| Self { draft, delivery: Some(DeliveryPart { id, part }) })
            .collect()
    }
}

impl From<Draft> for DeliveredDraft {
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
            assert!(DeliveryId::first_at(id.started_at()) <= id);
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
