//! Sealing: removes secrets and private parts from a draft and caps its size before it is stored.
//!
//! Pure functions: no files, clock or randomness. They run in the hook before the spool and in the
//! daemon before the ledger, so sealing is idempotent. `tome_redact` finds what to remove.

mod seal;

pub use seal::Sealer;

#[cfg(test)]
mod tests;
