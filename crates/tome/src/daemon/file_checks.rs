//! What the last integrity checks of the stores' files found.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tome_home::Damage;
use tome_model::Millis;

/// The damage found by the last check of each store's files.
#[derive(Default)]
pub struct FileChecks(Mutex<HashMap<PathBuf, (Millis, Vec<Damage>)>>);

impl FileChecks {
    pub fn get(&self, path: &Path) -> Option<(Millis, Vec<Damage>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    pub fn set(&self, path: &Path, checked: Option<(Millis, Vec<Damage>)>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match checked {
            Some(checked) => known.insert(path.to_owned(), checked),
            None => known.remove(path),
        };
    }
}
