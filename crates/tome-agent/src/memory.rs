//! The memory of a session in a home that Tome may be using at the same time.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tome_client::{ClientSettings, DaemonConnector, DaemonMemory};
use tome_engine::{InjectionText, ToolAnswer};
use tome_memory::{
    LocalMemory, LocalMemorySettings, Memory, MemoryError, MemoryTools, SessionEvent, SessionInfo,
};
use tome_model::{Event, Millis, Zone};

/// Settings of a [`HomeMemory`].
#[derive(Debug, Clone)]
pub struct HomeMemorySettings {
    /// The session this memory belongs to.
    pub session: SessionInfo,
    /// The home, and how to reach its daemon. With a program to start the daemon with, the memory never
    /// opens the home itself.
    pub client: ClientSettings,
    /// Time zone in which days begin and end, for a home that this process opens itself.
    pub zone: Zone,
}

impl HomeMemorySettings {
    /// Uses the daemon of this home if it is running, and the system's clock and time zone.
    pub fn new(home: impl Into<PathBuf>, session: SessionInfo) -> Self {
        Self { session, client: ClientSettings::new(home), zone: Zone::system() }
    }
}

/// A [`Memory`] over a home, whether or not its daemon is running.
///
/// A home has one writer. While the daemon is running, calls go to the daemon. If it is not running when
/// a call is made, this process opens the home and keeps it until the memory is dropped; a daemon that
/// starts meanwhile leaves new events of the same project in the spool until then.
pub struct HomeMemory {
    daemon: DaemonMemory,
    local_settings: LocalMemorySettings,
    local: Mutex<Option<Arc<LocalMemory>>>,
}

impl HomeMemory {
    /// Opens the memory of a session: over the daemon if it is running, otherwise in this process.
    pub fn open(settings: HomeMemorySettings) -> Result<Self, MemoryError> {
        let HomeMemorySettings { session, client, zone } = settings;
        let local_settings = LocalMemorySettings {
            home: client.home.root().to_path_buf(),
            session: session.clone(),
            clock: Arc::clone(&client.clock),
            zone,
        };
        let may_start = client.autostart && client.program.is_some();
        let is_local = client.endpoint.is_none();
        let daemon = DaemonMemory::new(DaemonConnector::new(client), session)
            .map_err(|error| MemoryError::Unavailable(error.to_string()))?;
        let memory = Self { daemon, local_settings, local: Mutex::new(None) };
        if is_local && !may_start && !memory.daemon.is_daemon_running()? {
            memory.open_local()?;
        }
        Ok(memory)
    }

    /// Whether this process has opened the home, because no daemon was running.
    pub fn is_local(&self) -> bool {
        self.find_local().is_some()
    }

    fn find_local(&self) -> Option<Arc<LocalMemory>> {
        self.local.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn open_local(&self) -> Result<Arc<LocalMemory>, MemoryError> {
        let mut local = self.local.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(local) = &*local {
            return Ok(Arc::clone(local));
        }
        let opened = Arc::new(LocalMemory::open(self.local_settings.clone())?);
        Ok(Arc::clone(local.insert(opened)))
    }

    /// Calls the daemon, or this process's memory once no daemon is running. A call that found no daemon
    /// has changed nothing or may be repeated, so it is never made twice if it adds something.
    fn call<T>(
        &self,
        call: impl Fn(&dyn Memory) -> Result<T, MemoryError>,
    ) -> Result<T, MemoryError> {
        if let Some(local) = self.find_local() {
            return call(&*local);
        }
        match call(&self.daemon) {
            // A daemon that is starting or exiting has the home open, too.
            Err(MemoryError::NotRunning) if self.daemon.is_daemon_running()? => call(&self.daemon),
            Err(MemoryError::NotRunning) => call(&*self.open_local()?),
            answer => answer,
        }
    }
}

impl MemoryTools for HomeMemory {
    fn call_tool(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError> {
        self.call(|memory| memory.call_tool(tool, arguments))
    }
}

impl Memory for HomeMemory {
    fn session(&self) -> &SessionInfo {
        self.daemon.session()
    }

    fn now(&self) -> Millis {
        self.daemon.now()
    }

    fn record_events(&self, events: &[SessionEvent]) -> Result<(), MemoryError> {
        self.call(|memory| memory.record_events(events))
    }

    fn recent_events(&self, newest_max: usize) -> Result<Vec<Event>, MemoryError> {
        self.call(|memory| memory.recent_events(newest_max))
    }

    fn record_injection(&self, why: &str, injection: &InjectionText) -> Result<(), MemoryError> {
        self.call(|memory| memory.record_injection(why, injection))
    }
}
