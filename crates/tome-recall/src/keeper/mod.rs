//! The indexer: keeps the indexes up to date with the ledger and the notebooks, and gives access to
//! them.

mod chunks;
mod desk;
mod entries;
mod files;
mod follow;
mod hands;
mod pages;
mod report;
mod sessions;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tome_finder::Embedder;
use tome_ledger::Ledger;
use tome_model::Event;

use crate::RecallError;
use crate::SessionCopies;
use tome_home::{Home, Notebooks, StoreMode, Stores};

pub(crate) use chunks::chunks;
pub(crate) use desk::{Desk, DeskOf, Pair};
pub(crate) use entries::{beside, cut, joined, of_node, said_in};
pub(crate) use files::{FileFound, known_files};
pub use follow::Followed;
pub(crate) use follow::number;
pub(crate) use pages::Page;
pub use report::DeskReport;
pub(crate) use sessions::Sessions;

pub(crate) struct Keeper {
    pub home: Home,
    pub stores: Arc<Stores>,
    pub notebooks: Arc<Notebooks>,
    pub copies: Arc<SessionCopies>,
    pub embedder: Arc<dyn Embedder>,
    pub desks: Mutex<HashMap<PathBuf, Arc<Desk>>>,
    /// Counts uses of index sets, for least-recently-used eviction.
    pub uses: AtomicU64,
    pub sessions: Sessions,
    /// Held while a batch is read and indexed, to bound memory.
    pub portions: Mutex<()>,
}

impl Keeper {
    /// The index set of a project; `None` if the project is unknown.
    pub(crate) fn of_project(&self, root: &str) -> Option<Arc<Desk>> {
        if self.stores.mode() == StoreMode::Unified {
            return Some(self.unified());
        }
        let folder = self.stores.projects().known_folder(root)?;
        let ledger = Some(folder.join("ledger")).filter(|ledger| ledger.is_dir());
        Some(self.desk(DeskOf::Project(root.to_owned()), folder.join("finder"), ledger))
    }

    fn unified(&self) -> Arc<Desk> {
        let ledger = self.home.unified_ledger();
        let folder = ledger.with_file_name("finder");
        let ledger = Some(ledger).filter(|ledger| ledger.is_dir());
        self.desk(DeskOf::Unified, folder, ledger)
    }

    pub(crate) fn coder(&self) -> Arc<Desk> {
        self.desk(DeskOf::Coder, self.home.root().join("finder"), None)
    }

    pub(crate) fn of_ledger(&self, ledger: &Path) -> Option<Arc<Desk>> {
        if self.stores.mode() == StoreMode::Unified {
            return Some(self.unified());
        }
        let folder = ledger.parent()?;
        let (root, _) = self.stores.projects().all().into_iter().find(|(_, at)| at == folder)?;
        self.of_project(&root)
    }

    /// All index sets, except those of the coder and of offline chats.
    pub(crate) fn all(&self) -> Vec<Arc<Desk>> {
        if self.stores.mode() == StoreMode::Unified {
            return vec![self.unified()];
        }
        let mut roots = self.stores.projects().all();
        roots.retain(|(root, _)| !self.home.is_offline_chats(root));
        roots.into_iter().filter_map(|(root, _)| self.of_project(&root)).collect()
    }

    /// Runs `look` on an index set, and then closes the least recently used sets if too many are
    /// open, because each takes file descriptors and memory. Indexes still in use stay alive.
    pub(crate) fn look<T>(&self, desk: &Desk, look: impl FnOnce(&Desk) -> T) -> T {
        desk.used.store(self.uses.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        let found = look(desk);
        let mut open = self.known_desks();
        open.retain(|desk| desk.is_open());
        let surplus = open.len().saturating_sub(self.stores.open_max());
        if surplus > 0 {
            open.sort_by_key(|desk| desk.used.load(Ordering::Relaxed));
            open.iter().take(surplus).for_each(|desk| desk.close());
        }
        found
    }

    /// The index sets used so far.
    pub(crate) fn known_desks(&self) -> Vec<Arc<Desk>> {
        let desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        desks.values().map(Arc::clone).collect()
    }

    /// Returns the index set in a folder, replacing it if it has got a ledger since.
    fn desk(&self, of: DeskOf, folder: PathBuf, ledger: Option<PathBuf>) -> Arc<Desk> {
        let mut desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        let known = desks.get(&folder).filter(|desk| desk.ledger == ledger).map(Arc::clone);
        known.unwrap_or_else(|| {
            let desk = Arc::new(Desk::new(of, &folder, ledger));
            desks.insert(folder, Arc::clone(&desk));
            desk
        })
    }

    /// The lines of events in the copies of their sessions; 0 where it is not known.
    fn lines_of(&self, ledger: &Ledger, events: &[&Event]) -> Result<Vec<u32>, RecallError> {
        Ok(self.copies.lines(ledger, events)?)
    }
}
