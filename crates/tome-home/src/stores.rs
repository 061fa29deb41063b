//! The ledgers of a home: opened on demand, closed when idle.
//!
//! Each open store costs threads and file descriptors, so their number is limited: opening one more
//! closes the least recently used one that is not in use.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tome_ledger::{EventRange, Ledger, StorageEngine};
use tome_model::{Clock, InvalidInput, Millis};

use crate::durable::sync_folder;
use crate::session_index::StoredSession;
use crate::{Home, HomeError, Projects, SessionIndex, Store, session_stats};

/// Minimum interval between attempts to reopen a store that rejects writes.
const REOPEN_EVERY_MS: u64 = 1_000;

/// Soft limit of open stores: those in use stay open beyond it. A store takes up to ten file
/// descriptors, its indexes as many, and some systems allow a process only 256.
const OPEN_STORES_MAX: usize = 8;

/// The limit where descriptors are scarce.
const OPEN_MIN: usize = 2;

/// Descriptors per project: a store and its indexes.
const PROJECT_DESCRIPTORS: u64 = 20;

/// Descriptors of the indexes of a small project: only its vectors need any.
const INDEX_SET_DESCRIPTORS: u64 = 12;

/// With at most this many file descriptors, the indexes of closed stores are closed, too.
const FEW_DESCRIPTORS: u64 = 1_024;

/// Small sets of indexes that stay open. Each takes some 0.4 MB.
const INDEX_SETS_MAX: usize = 320;

/// A ledger being rewritten, and a complete one that is about to replace the old one.
const REWRITING: &str = "ledger.rewriting";
const REWRITTEN: &str = "ledger.rewritten";

/// One ledger per project, or one for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreMode {
    /// One ledger per project.
    PerProject,
    /// One ledger for all projects.
    Unified,
}

impl StoreMode {
    /// The name, as written in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PerProject => "per-project",
            Self::Unified => "unified",
        }
    }
}

impl FromStr for StoreMode {
    type Err = InvalidInput;
    fn from_str(text: &str) -> Result<Self, InvalidInput> {
        match text {
            "per-project" => Ok(Self::PerProject),
            "unified" => Ok(Self::Unified),
            _ => Err(InvalidInput::invalid(
                "store.mode",
                format!("{text:?} is not known: use per-project or unified"),
            )),
        }
    }
}

/// The stores of a home.
pub struct Stores {
    home: Home,
    mode: StoreMode,
    /// The engine of new stores; an existing one keeps its own.
    engine: StorageEngine,
    clock: Arc<dyn Clock>,
    projects: Arc<Projects>,
    sessions: OnceLock<SessionIndex>,
    /// Held while the session index is rebuilt.
    rebuilding: Mutex<()>,
    slots: Mutex<HashMap<PathBuf, Arc<Mutex<StoreSlot>>>>,
    open_max: usize,
    index_sets_max: usize,
    /// Held while a query reads more stores than may stay open.
    wide_scan: Mutex<()>,
}

/// Why a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Use,
    Upkeep,
}

/// Holds one ledger. Locked while the ledger is opened, so that it is opened once.
#[derive(Default)]
pub(crate) struct StoreSlot {
    open: Option<Store>,
    used: Millis,
    opened: Millis,
}

impl Stores {
    /// Creates the stores of a home; opens none yet.
    pub fn new(home: Home, mode: StoreMode, engine: StorageEngine, clock: Arc<dyn Clock>) -> Self {
        let projects = Arc::new(Projects::load(&home));
        restore_projects(&projects);
        let stores = Self {
            home,
            mode,
            engine,
            clock,
            projects,
            sessions: OnceLock::new(),
            rebuilding: Mutex::default(),
            slots: Mutex::default(),
            open_max: OPEN_STORES_MAX,
            index_sets_max: 0,
            wide_scan: Mutex::default(),
        };
        stores.finish_rewrites();
        stores
    }

    /// Lowers the limit of open stores to fit the process's file descriptors: a third of them for
    /// idle stores, the rest for stores in use, clients and notebooks.
    #[must_use]
    pub fn with_descriptor_limit(mut self, descriptors: u64) -> Self {
        let fitting =
            usize::try_from(descriptors / 3 / PROJECT_DESCRIPTORS).unwrap_or(OPEN_STORES_MAX);
        self.open_max = fitting.clamp(OPEN_MIN, OPEN_STORES_MAX);
        let spare = descriptors.saturating_sub(FEW_DESCRIPTORS) / 4;
        let fitting = usize::try_from(spare / INDEX_SET_DESCRIPTORS).unwrap_or(OPEN_STORES_MAX);
        self.index_sets_max = fitting.min(INDEX_SETS_MAX);
        self
    }

    /// Waits until no other query reads more stores than may stay open. Such queries run one at a time,
    /// because each opens stores that the others do not need.
    pub fn lock_wide_scan(&self) -> MutexGuard<'_, ()> {
        self.wide_scan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Like [`lock_wide_scan`](Self::lock_wide_scan); `None` if another query holds the lock.
    pub fn try_lock_wide_scan(&self) -> Option<MutexGuard<'_, ()>> {
        self.wide_scan.try_lock().ok()
    }

    /// How many small sets of indexes are kept open while their stores are closed; 0 where file
    /// descriptors are few.
    pub fn index_sets_max(&self) -> usize {
        self.index_sets_max
    }

    /// How many stores, and how many sets of indexes, are kept open.
    pub fn open_max(&self) -> usize {
        self.open_max
    }

    /// The known projects.
    pub fn projects(&self) -> &Projects {
        &self.projects
    }

    /// The known projects, for other owners.
    pub fn shared_projects(&self) -> Arc<Projects> {
        Arc::clone(&self.projects)
    }

    /// Returns the session index. Reads it on first use; rebuilds it if it is missing or damaged,
    /// which opens every store once.
    pub fn session_index(&self) -> Result<&SessionIndex, HomeError> {
        if let Some(sessions) = self.sessions.get() {
            return Ok(sessions);
        }
        let _one_at_a_time = self.rebuilding.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sessions) = self.sessions.get() {
            return Ok(sessions);
        }
        let path = self.home.session_index();
        let sessions = match SessionIndex::open(&path) {
            Some(sessions) => sessions,
            None => SessionIndex::rebuild(&path, self.load_stored_sessions())?,
        };
        Ok(self.sessions.get_or_init(|| sessions))
    }

    /// Whether `session_index` returns without I/O.
    pub fn has_session_index(&self) -> bool {
        self.sessions.get().is_some()
    }

    /// Collects the sessions of all stores in the order in which they began. Skips unreadable
    /// stores; their sessions are added at their next event.
    pub(crate) fn load_stored_sessions(&self) -> Vec<StoredSession> {
        let mut all_stats = Vec::new();
        for path in self.list_paths() {
            let was_open = self.is_open(&path);
            let read = self.open(&path).and_then(|store| {
                session_stats::catch_up_session_stats(&store)?;
                Ok(store.all_session_stats()?)
            });
            if !was_open {
                self.close(&path);
            }
            all_stats.extend(read.unwrap_or_default());
        }
        all_stats.sort_by(|a, b| (a.first_at, &a.project).cmp(&(b.first_at, &b.project)));
        let session = |stats: tome_model::SessionStats| StoredSession {
            agent: stats.agent,
            session: stats.session,
            project: stats.project,
        };
        all_stats.into_iter().map(session).collect()
    }

    /// One ledger per project, or one for all.
    pub fn mode(&self) -> StoreMode {
        self.mode
    }

    /// Opens the store of a project; creates it on first use.
    pub fn open_project(&self, root: &str) -> Result<Store, HomeError> {
        let folder = self.projects.ensure_folder(root, self.clock.now())?;
        match self.mode {
            StoreMode::PerProject => self.open(&folder.join("ledger")),
            StoreMode::Unified => self.open(&self.home.unified_ledger()),
        }
    }

    /// Returns the path of the store with a project's events, if it exists.
    pub fn find_store_path(&self, root: &str) -> Option<PathBuf> {
        let path = match self.mode {
            StoreMode::Unified => Some(self.home.unified_ledger()),
            StoreMode::PerProject => {
                self.projects.find_folder(root).map(|folder| folder.join("ledger"))
            }
        };
        path.filter(|path| path.is_dir())
    }

    /// Returns the paths of all stores, the last written first.
    pub fn list_paths(&self) -> Vec<PathBuf> {
        let mut paths = self.candidate_paths();
        paths.retain(|path| path.is_dir());
        paths.sort_by_cached_key(|path| std::cmp::Reverse(last_modified(path)));
        paths
    }

    /// Rewrites a store: `work` copies from the old ledger to a new one, which then replaces it.
    /// Blocks other users meanwhile. Returns where the old one is kept.
    pub(crate) fn rewrite_store(
        &self,
        path: &Path,
        work: impl FnOnce(&Ledger, &Ledger) -> Result<(), HomeError>,
    ) -> Result<PathBuf, HomeError> {
        let (fresh, complete) = (path.with_file_name(REWRITING), path.with_file_name(REWRITTEN));
        for leftover in [&fresh, &complete] {
            if leftover.exists() {
                std::fs::remove_dir_all(leftover).map_err(HomeError::file("remove", leftover))?;
            }
        }
        drop(self.open(path)?);
        let slot = Arc::clone(self.lock_slots().entry(path.to_path_buf()).or_default());
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let old = match slot.open.take() {
            Some(old) if Arc::strong_count(&old) == 1 => old,
            busy => {
                slot.open = busy;
                return Err(HomeError::InUse(path.to_path_buf()));
            }
        };
        std::fs::create_dir_all(&fresh).map_err(HomeError::file("create", &fresh))?;
        let new = Ledger::open_or_create(&fresh, old.engine())?;
        work(&old, &new)?;
        new.flush()?;
        drop((old, new));
        let kept = path.with_file_name(format!("ledger.before-repair-{}", self.clock.now().0));
        let folder = path.parent().unwrap_or(Path::new("."));
        for (from, to) in
            [(&fresh, &complete), (&path.to_path_buf(), &kept), (&complete, &path.to_path_buf())]
        {
            std::fs::rename(from, to).map_err(HomeError::file("rename", from))?;
            sync_folder(folder).map_err(HomeError::file("sync", folder))?;
        }
        Ok(kept)
    }

    /// Completes a `rewrite_store` that a crash interrupted after the old ledger was moved away and
    /// before the new one replaced it.
    fn finish_rewrites(&self) {
        for path in self.candidate_paths() {
            let complete = path.with_file_name(REWRITTEN);
            if !path.exists() && complete.is_dir() {
                // If this fails, opening the store fails too and reports it.
                let _ = std::fs::rename(&complete, &path);
            }
        }
    }

    fn candidate_paths(&self) -> Vec<PathBuf> {
        match self.mode {
            StoreMode::Unified => vec![self.home.unified_ledger()],
            StoreMode::PerProject => {
                self.projects.all().into_iter().map(|(_, folder)| folder.join("ledger")).collect()
            }
        }
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Opens the store at a path, or returns the open one.
    pub fn open(&self, path: &Path) -> Result<Store, HomeError> {
        self.open_as(path, Purpose::Use)
    }

    /// The same for upkeep, which must not keep a store open: visiting every open store in turn would
    /// otherwise reset the time after which each is closed as unused.
    pub fn open_for_upkeep(&self, path: &Path) -> Result<Store, HomeError> {
        self.open_as(path, Purpose::Upkeep)
    }

    fn open_as(&self, path: &Path, purpose: Purpose) -> Result<Store, HomeError> {
        let slot = Arc::clone(self.lock_slots().entry(path.to_path_buf()).or_default());
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        if purpose == Purpose::Use || slot.open.is_none() {
            slot.used = now;
        }
        slot.close_if_rejecting(now);
        if let Some(store) = &slot.open {
            return Ok(Arc::clone(store));
        }
        std::fs::create_dir_all(path).map_err(HomeError::file("create", path))?;
        let store = Arc::new(Ledger::open_or_create(path, self.engine)?);
        slot.open = Some(Arc::clone(&store));
        slot.opened = now;
        drop(slot);
        self.close_surplus();
        Ok(store)
    }

    /// Closes the least recently used stores beyond the limit. Projections catch up at the next
    /// opening.
    fn close_surplus(&self) {
        let slots: Vec<_> = self.lock_slots().values().cloned().collect();
        let used = |slot: &Arc<Mutex<StoreSlot>>| {
            let slot = slot.try_lock().ok()?;
            slot.open.as_ref().map(|_| slot.used)
        };
        let mut open: Vec<_> = slots.iter().filter_map(|slot| Some((used(slot)?, slot))).collect();
        open.sort_by_key(|(used, _)| *used);
        let mut surplus = open.len().saturating_sub(self.open_max);
        for (_, slot) in open {
            if surplus == 0 {
                return;
            }
            if let Ok(mut slot) = slot.try_lock()
                && slot.is_unused()
            {
                slot.open = None;
                surplus -= 1;
            }
        }
    }

    /// Returns the open stores.
    pub fn open_stores(&self) -> Vec<Store> {
        let slots: Vec<_> = self.lock_slots().values().cloned().collect();
        // A locked slot is being opened or closed.
        slots.iter().filter_map(|slot| slot.try_lock().ok()?.open.clone()).collect()
    }

    /// Closes the store at a path if it is not in use, for callers that open many stores once.
    pub fn close(&self, path: &Path) {
        let slot = self.lock_slots().get(path).cloned();
        if let Some(slot) = slot
            && let Ok(mut slot) = slot.try_lock()
            && slot.is_unused()
        {
            slot.open = None;
        }
    }

    /// Whether the store at a path is open.
    pub fn is_open(&self, path: &Path) -> bool {
        let slot = self.lock_slots().get(path).cloned();
        slot.is_some_and(|slot| slot.try_lock().map_or(true, |slot| slot.open.is_some()))
    }

    /// The store if it is open. Does not count as use.
    pub fn get_open(&self, path: &Path) -> Option<Store> {
        let slot = self.lock_slots().get(path).cloned()?;
        slot.try_lock().ok()?.open.clone()
    }

    /// Closes stores that were idle for `idle_ms` and are not in use. Returns how many.
    pub fn close_idle(&self, idle_ms: u64) -> usize {
        // Stores over the limit may have been in use before.
        self.close_surplus();
        let now = self.clock.now();
        let slots: Vec<_> = self.lock_slots().values().cloned().collect();
        let mut closed = 0;
        for slot in slots {
            let Ok(mut slot) = slot.try_lock() else {
                continue;
            };
            if slot.is_unused() && now.distance_ms(slot.used) >= idle_ms {
                if let Some(store) = &slot.open {
                    // Best effort: the next opening catches up.
                    let _ = session_stats::catch_up_session_stats(store);
                }
                slot.open = None;
                closed += 1;
            }
        }
        closed
    }

    pub(crate) fn lock_slots(&self) -> MutexGuard<'_, HashMap<PathBuf, Arc<Mutex<StoreSlot>>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoreSlot {
    /// Whether the store is open and in use.
    pub(crate) fn is_in_use(&self) -> bool {
        self.open.is_some() && !self.is_unused()
    }

    pub(crate) fn close(&mut self) {
        self.open = None;
    }

    /// Whether the store is open and not in use.
    fn is_unused(&self) -> bool {
        self.open.as_ref().is_some_and(|store| Arc::strong_count(store) == 1)
    }

    /// Closes a ledger that rejects writes, so that the caller reopens it: the cause (a full disk)
    /// may be over. Only if it is not in use, not more often than `REOPEN_EVERY_MS`, and only if
    /// its folder is writable: otherwise it could not be reopened, and it can still be read as it
    /// is.
    fn close_if_rejecting(&mut self, now: Millis) {
        let refuses = self
            .open
            .as_ref()
            .is_some_and(|store| store.write_failure().is_some() && Arc::strong_count(store) == 1);
        if !refuses || now.distance_ms(self.opened) < REOPEN_EVERY_MS {
            return;
        }
        self.opened = now;
        if self.open.as_ref().is_some_and(|store| tempfile::tempfile_in(store.path()).is_ok()) {
            self.open = None;
        }
    }
}

/// Restores the roots of folders whose `project.toml` is damaged, from the events in their ledgers.
fn restore_projects(projects: &Projects) {
    for folder in projects.damaged_folders() {
        let path = folder.join("ledger");
        if !path.is_dir() {
            continue;
        }
        let Ok(ledger) = Ledger::open(&path) else { continue };
        let first = ledger.events(&EventRange::default()).next();
        if let Some(Ok((_, event))) = first {
            // A failure is reported, and retried at the next start.
            let _ = projects.restore_root(&folder, &event.project);
        }
    }
}

fn last_modified(ledger: &Path) -> Option<std::time::SystemTime> {
    let files = std::fs::read_dir(ledger).into_iter().flatten().flatten();
    let newest = files.filter_map(|file| file.metadata().ok()?.modified().ok()).max();
    newest.or_else(|| ledger.metadata().ok()?.modified().ok())
}
