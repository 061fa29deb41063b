//! An open store.

use std::sync::Arc;

use tome_ledger::Ledger;

/// An open ledger, shared by its users.
pub type Store = Arc<Ledger>;
