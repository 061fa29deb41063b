//! Sealing: makes a draft fit to be stored. Secrets and private parts are cut, text is capped.
//!
//! Pure functions: no file, no clock, no chance. They run in the hook before the spool and in the
//! daemon before the ledger, so doing them twice changes nothing. `tome_redact` finds what to cut.

mod seal;

pub use seal::Sealer;

#[cfg(test)]
mod tests;
