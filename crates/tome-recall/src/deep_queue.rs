//! The order in which stores get deep vectors: the newest event of all stores first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tome_model::Millis;

/// Stores that lack deep vectors, with the time of the newest event without one.
#[derive(Debug, Default)]
pub struct DeepQueue {
    newest: BTreeMap<PathBuf, Millis>,
}

impl DeepQueue {
    /// Sets the time of the newest event without a deep vector; `None` removes the store.
    pub fn set(&mut self, store: &Path, newest: Option<Millis>) {
        match newest {
            Some(newest) => self.newest.insert(store.to_owned(), newest),
            None => self.newest.remove(store),
        };
    }

    /// The store to continue with, and the time back to which no other store has a newer event.
    pub fn next(&self) -> Option<(PathBuf, Millis)> {
        let (store, _) = self.newest.iter().max_by_key(|(_, at)| **at)?;
        let others = self.newest.iter().filter(|(other, _)| *other != store);
        let since = others.map(|(_, at)| *at).max().unwrap_or_default();
        Some((store.clone(), since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_event_of_all_stores_is_next() {
        let mut queue = DeepQueue::default();
        assert_eq!(queue.next(), None);
        for (store, at) in [("a", 30), ("b", 50), ("c", 40)] {
            queue.set(Path::new(store), Some(Millis(at)));
        }
        assert_eq!(queue.next(), Some((PathBuf::from("b"), Millis(40))));
        queue.set(Path::new("b"), Some(Millis(35)));
        assert_eq!(queue.next(), Some((PathBuf::from("c"), Millis(35))));
        queue.set(Path::new("c"), None);
        queue.set(Path::new("b"), None);
        assert_eq!(queue.next(), Some((PathBuf::from("a"), Millis(0))));
        queue.set(Path::new("a"), None);
        assert_eq!(queue.next(), None);
    }
}
