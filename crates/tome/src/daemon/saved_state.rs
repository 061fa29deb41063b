//! State of the daemon that survives restarts and crashes in a JSON file, which is replaced as a whole.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tome_home::{HomeError, write_atomic};

pub struct SavedState<T> {
    path: PathBuf,
    state: Mutex<T>,
}

impl<T: Serialize + DeserializeOwned> SavedState<T> {
    /// Reads the file. `start` makes the state from its content; `None` if it is missing or unreadable.
    pub fn open(path: PathBuf, start: impl FnOnce(Option<T>) -> T) -> Self {
        let bytes = std::fs::read(&path).ok();
        let read = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self { path, state: Mutex::new(start(read)) }
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn save(&self, state: &T) -> Result<(), HomeError> {
        write_atomic(&self.path, &serde_json::to_vec(state).unwrap_or_default())
    }
}
