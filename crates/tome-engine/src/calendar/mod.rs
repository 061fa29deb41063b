//! The calendar: the contents of one project, or of all of them laid over each other.
//!
//! Contents are kept apart by project, wherever their events are stored. Whoever asks sees what has
//! arrived: the worker catches up first. Stores are read one at a time, and one that cannot be read
//! keeps none of the others from being read: it is left out and named in the answer. Who asks for
//! its project alone is told what is wrong.

mod care;
mod entry;
mod find;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tome_model::{Agent, Clock, GripId, Node, NodeId, Zone};

use crate::{EngineError, Store, Stores};

pub use care::{Checked, Finding, Rebuilt, StoreReport};
pub use entry::{Depth, Entry, Share};
pub use find::{GripInPlace, NodeInPlace};
pub use walk::{Ask, Listing, Page};

/// The contents of a home.
pub struct Calendar {
    stores: Arc<Stores>,
    clock: Arc<dyn Clock>,
    contents: Contents,
}
