//! Files that were read, changed or taken back.

pub(crate) mod reverted;
pub(crate) mod touched_files;
