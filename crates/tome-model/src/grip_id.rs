//! Ids of grips: `grip:<ms>:<ulid>`. Only well-formed ids can be built.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::node_id::malformed;
use crate::ulid::{self, derive_ulid};
use crate::{EventId, InvalidInput, Millis};

/// `grip:`, the 20 digits of the largest number, a colon and a ULID.
const LEN_MAX: usize = 52;

/// The id of a grip. It needs no allocation: a page of the contents holds thousands.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GripId {
    /// The text, padded with zeros, so that ids sort as their texts do.
    bytes: [u8; LEN_MAX],
    len: u8,
}

impl GripId {
    /// The id of an excerpt of an event. Deterministic.
    pub fn from_excerpt(at: Millis, event: &EventId, excerpt: &str) -> Self {
        let name = derive_ulid(at, "tome grip id v1", &[event.as_str(), excerpt]);
        Self::from_canonical(&format!("grip:{}:{name}", at.0))
    }

    /// Parses an id as written by a person or an agent.
    pub fn parse(id: &str) -> Result<Self, InvalidInput> {
        let id = id.trim();
        if is_canonical(id) {
            return Ok(Self::from_canonical(id));
        }
        // Only the letters may be written in another way.
        let name = id.split(':').nth(2).unwrap_or_default();
        let upper =
            id.strip_suffix(name).map(|before| before.to_owned() + &name.to_ascii_uppercase());
        upper
            .filter(|id| is_canonical(id))
            .map(|id| Self::from_canonical(&id))
            .ok_or_else(|| malformed("grip", id, "grip:1794702485884:01KA1B2C3D4E5F6G7H8J9KABCD"))
    }

    /// Stores an id as Tome writes it, which is never longer than the array.
    fn from_canonical(id: &str) -> Self {
        let mut bytes = [0; LEN_MAX];
        bytes.iter_mut().zip(id.bytes()).for_each(|(to, from)| *to = from);
        Self { bytes, len: u8::try_from(id.len().min(LEN_MAX)).unwrap_or(0) }
    }

    /// Time of the event.
    pub fn at(&self) -> Millis {
        let ms = self.as_str().split(':').nth(1).and_then(|ms| ms.parse().ok());
        Millis(ms.unwrap_or_default())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        let text = self.bytes.get(..usize::from(self.len)).unwrap_or_default();
        std::str::from_utf8(text).unwrap_or_default()
    }
}

/// Whether a text is an id as Tome writes it. Its number has no other form, so that a grip has one id.
fn is_canonical(id: &str) -> bool {
    let parts = id.strip_prefix("grip:").and_then(|rest| rest.split_once(':'));
    parts.is_some_and(|(ms, name)| {
        let plain = ms.bytes().all(|byte| byte.is_ascii_digit());
        let short = ms == "0" || !ms.starts_with('0');
        plain && short && ms.parse::<u64>().is_ok() && ulid::is_ulid(name)
    })
}

impl Hash for GripId {
    /// The last half of a ULID is a hash already.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let end = usize::from(self.len);
        state.write(self.bytes.get(end.saturating_sub(8)..end).unwrap_or_default());
    }
}

impl fmt::Debug for GripId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GripId").field(&self.as_str()).finish()
    }
}

impl fmt::Display for GripId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl TryFrom<String> for GripId {
    type Error = InvalidInput;
    fn try_from(id: String) -> Result<Self, InvalidInput> {
        Self::parse(&id)
    }
}

impl From<GripId> for String {
    fn from(id: GripId) -> Self {
        id.as_str().to_owned()
    }
}

impl Serialize for GripId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for GripId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(GripIdVisitor)
    }
}

struct GripIdVisitor;

impl Visitor<'_> for GripIdVisitor {
    type Value = GripId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a grip")
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<GripId, E> {
        GripId::parse(id).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const ULID: &str = "01KA1B2C3D4E5F6G7H8J9KABCD";

    #[test]
    fn an_id_has_one_form() {
        let id = format!("grip:1794702485884:{ULID}");
        let parsed = GripId::parse(&id).unwrap();
        assert_eq!(parsed.as_str(), id);
        assert_eq!(parsed.at(), Millis(1_794_702_485_884));
        assert_eq!(
            GripId::parse(&format!(" grip:1794702485884:{} ", ULID.to_lowercase())),
            Ok(parsed)
        );
        for bad in [
            String::new(),
            "grip:1".to_owned(),
            "grip:1:".to_owned(),
            format!("grip:01:{ULID}"),
            format!("grip:+1:{ULID}"),
            format!("grip::{ULID}"),
            format!("grip:18446744073709551616:{ULID}"),
            format!("grip:1:{ULID}:1"),
            format!("GRIP:1:{ULID}"),
        ] {
            assert!(GripId::parse(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ids_are_compared_as_their_texts() {
        let texts = [0, 9, 10, u64::MAX].map(|ms| format!("grip:{ms}:{ULID}"));
        let ids: Vec<GripId> = texts.iter().map(|text| GripId::parse(text).unwrap()).collect();
        for (a, x) in ids.iter().zip(&texts) {
            assert_eq!(a.to_string(), *x);
            for (b, y) in ids.iter().zip(&texts) {
                assert_eq!(a.cmp(b), x.cmp(y));
            }
        }
        assert_eq!(ids.into_iter().collect::<HashSet<_>>().len(), 4);
    }
}
