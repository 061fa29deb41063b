//! Checks the roots of projects that come from outside.

use tome_model::{InvalidInput, limits};

use crate::HomeError;

/// A root that no event can have was not written by Tome.
pub(crate) fn check_root(root: &str) -> Result<(), HomeError> {
    let bytes = root.as_bytes();
    let has_drive =
        bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
    let is_absolute = root.starts_with(['/', '\\']) || has_drive;
    if is_absolute && root.len() <= limits::PATH_BYTES_MAX && !root.contains('\0') {
        return Ok(());
    }
    let shown = tome_model::truncate_to(root, 80);
    Err(InvalidInput::invalid("project", format!("{shown:?} is not an absolute path")).into())
}
