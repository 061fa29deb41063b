//! The domain model of Tome: plain types, ids, time and limits, shared by all other crates.
//!
//! No files, sockets, storage engine or wire format.

mod agent;
mod delivery;
mod draft;
mod error;
mod event;
mod event_line;
mod fact;
mod grip_id;
mod hash;
mod hex;
mod id;
mod injection;
mod level;
pub mod limits;
mod node;
mod node_id;
mod outcome;
mod period;
mod scope;
mod session_stats;
mod text;
mod time;
mod ulid;
mod zone;

pub use agent::Agent;
pub use delivery::{DeliveredDraft, DeliveryId, DeliveryPart};
pub use draft::{Draft, Identity, nests_at_most};
pub use error::InvalidInput;
pub use event::{Event, EventKind, NO_RESULT_META_KEY, Role, Tool, is_marked_failed};
pub use event_line::EventLine;
pub use fact::{Fact, FactKind, Work};
pub use grip_id::GripId;
pub use hash::hash_parts;
pub use hex::{from_hex, to_hex};
pub use id::{EventId, SessionId};
pub use injection::{INJECTION_CLOSE, INJECTION_OPEN, strip_injections};
pub use level::Level;
pub use node::{Bullet, Grip, Node};
pub use node_id::{NodeId, parse_digits};
pub use outcome::{CommandOutcome, FileAction};
pub use period::{Period, days_between};
pub use scope::Scope;
pub use session_stats::SessionStats;
pub use text::{CappedText, cap_json, cap_text, cut_mark, json_len, last_bytes, truncate_to};
pub use time::{Clock, Millis, SystemClock};
pub use ulid::parse_ulid_time;
pub use zone::Zone;
