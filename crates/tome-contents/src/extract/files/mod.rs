//! Files that were read, changed or reverted.

pub(crate) mod file_tool;
pub(crate) mod reverted;
pub(crate) mod touched_files;
