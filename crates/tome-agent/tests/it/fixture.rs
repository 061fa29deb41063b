//! A separate home for each test, with a controlled clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tome_agent::event::{Clock, Millis, Zone};
use tome_agent::{LocalMemory, LocalMemorySettings, SessionInfo};

pub struct Fixture {
    home: tempfile::TempDir,
    clock: Arc<Ticking>,
}

/// Advances by one second with every read.
pub struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Millis {
        Millis(self.0.fetch_add(1_000, Ordering::Relaxed))
    }
}

impl Fixture {
    pub fn new() -> Self {
        let clock = Arc::new(Ticking(AtomicU64::new(1_794_735_000_000)));
        let fixture = Self { home: tempfile::tempdir().unwrap(), clock };
        std::fs::create_dir(fixture.project()).unwrap();
        fixture
    }

    pub fn project(&self) -> String {
        self.home.path().join("app").to_str().unwrap().to_owned()
    }

    pub fn turn_back(&self, millis: u64) {
        self.clock.0.fetch_sub(millis, Ordering::Relaxed);
    }

    pub fn open(&self, session: &str) -> LocalMemory {
        let who = SessionInfo::new(session, self.project()).unwrap();
        let mut settings = LocalMemorySettings::new(self.home.path().join("tome"), who);
        settings.clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        settings.zone = Zone::utc();
        LocalMemory::open(settings).unwrap()
    }

    /// Returns the files below the home whose paths end with `ending`.
    pub fn files(&self, ending: &str) -> Vec<std::path::PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.home.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                match entry.path() {
                    path if path.is_dir() => folders.push(path),
                    path if path.to_str().unwrap().ends_with(ending) => found.push(path),
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }
}
