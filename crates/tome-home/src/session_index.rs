//! Maps each session to its project, in one file per home.
//!
//! A session belongs to the project of its first event and stays there, even if its working
//! directory moves or folders are removed. So all its events go to one ledger, which detects
//! duplicates, and an event id exists once per home.
//!
//! `run/sessions.jsonl` has one line per session; the first line of a session counts:
//!
//! `{"v":1,"agent":"codex","session":"0198c3f2-…","project":"/home/dev/app"}`
//!
//! A line is synced before the first event of its session is stored, so a crash never leaves a
//! stored session without its line. A further line of the same session with another project means
//! that some of its events are stored there too: damage by earlier versions, which repair clears
//! with a line with `"only":true`. The file is a projection: if it is missing or damaged, it is
//! rebuilt from the stores.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tome_model::{Agent, SessionId, hash_parts};

use crate::durable::sync_folder;
use crate::{HomeError, write_atomic};

/// Version of the line format.
const VERSION: u32 = 1;

/// Hash of an agent and a session id: a home may have a million sessions, and ids are long.
type SessionHash = [u8; 16];

/// Maps sessions to projects.
#[derive(Debug)]
pub struct SessionIndex {
    path: PathBuf,
    state: Mutex<SessionTable>,
    /// Whether the table has unwritten lines.
    is_unwritten: AtomicBool,
}

/// A session with events in several projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitSession {
    /// The agent that ran it.
    pub agent: Agent,
    /// The session's id.
    pub session: SessionId,
    /// The project it belongs to.
    pub project: String,
    /// Other projects that hold events of it.
    pub elsewhere: Vec<String>,
}

/// A session in a project, as found in the stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredSession {
    pub(crate) agent: Agent,
    pub(crate) session: SessionId,
    pub(crate) project: String,
}

#[derive(Debug, Default)]
struct SessionTable {
    known: HashMap<SessionHash, u32>,
    /// Project roots; sessions refer to them by index.
    roots: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    split: HashMap<SessionHash, SplitSession>,
    unwritten: Vec<u8>,
    /// Whether the file may end in a partial line left by an earlier write.
    is_torn: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct SessionLine {
    v: u32,
    agent: Agent,
    session: SessionId,
    project: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    only: bool,
}

impl SessionIndex {
    /// Reads the index at a path. `None` if it is missing or damaged and must be rebuilt. A partial
    /// last line is not damage: no event of its session was stored.
    pub fn open(path: &Path) -> Option<Self> {
        let bytes = std::fs::read(path).ok()?;
        let mut state = SessionTable::default();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let (lines, torn) = bytes.split_at_checked(whole)?;
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
        {
            let line: SessionLine = serde_json::from_slice(line).ok()?;
            if line.v != VERSION {
                return None;
            }
            state.add_line(line);
        }
        state.is_torn = !torn.is_empty();
        Some(Self::from_table(path, state))
    }

    /// Writes a new index from the stores' sessions, which must come in the order in which they
    /// began.
    pub(crate) fn rebuild(
        path: &Path,
        stored: impl IntoIterator<Item = StoredSession>,
    ) -> Result<Self, HomeError> {
        let mut state = SessionTable::default();
        let mut bytes = Vec::new();
        for StoredSession { agent, session, project } in stored {
            if is_unknown(&session) {
                continue;
            }
            let line = SessionLine { v: VERSION, agent, session, project, only: false };
            line.append_to(&mut bytes);
            state.add_line(line);
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(HomeError::file("create", folder))?;
        write_atomic(path, &bytes)?;
        Ok(Self::from_table(path, state))
    }

    fn from_table(path: &Path, state: SessionTable) -> Self {
        Self {
            path: path.to_path_buf(),
            state: Mutex::new(state),
            is_unwritten: AtomicBool::new(false),
        }
    }

    /// Returns the project of a known session.
    pub fn find_project(&self, agent: &Agent, session: &SessionId) -> Option<String> {
        let state = self.lock();
        let number = state.known.get(&hash_session(agent, session))?;
        state.root_by_number(*number)
    }

    /// Returns all sessions with the projects that hold events of them, sorted by session and
    /// project. Read from the file: ids of all sessions are not kept in memory.
    pub fn load_sessions(&self) -> Result<Vec<(SessionId, String)>, HomeError> {
        let mut bytes = std::fs::read(&self.path).map_err(HomeError::file("read", &self.path))?;
        let complete_len = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        bytes.truncate(complete_len);
        bytes.extend_from_slice(&self.lock().unwritten);
        let mut projects: HashMap<(Agent, SessionId), Vec<String>> = HashMap::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(line) = serde_json::from_slice::<SessionLine>(line) else { continue };
            let roots = projects.entry((line.agent, line.session)).or_default();
            if line.only {
                roots.clear();
            }
            roots.push(line.project);
        }
        let mut sessions: Vec<(SessionId, String)> = projects
            .into_iter()
            .flat_map(|((_, id), roots)| roots.into_iter().map(move |root| (id.clone(), root)))
            .collect();
        sessions.sort();
        sessions.dedup();
        Ok(sessions)
    }

    /// The project of a session: the known one, or else the one that `resolve` finds, which is then
    /// the session's. It is durable after the next `write_new`. Payloads that name no session share
    /// an id and nothing else; each belongs to its own folder.
    pub fn assign_project<E>(
        &self,
        agent: &Agent,
        session: &SessionId,
        resolve: impl FnOnce() -> Result<String, E>,
    ) -> Result<String, E> {
        if is_unknown(session) {
            return resolve();
        }
        if let Some(known) = self.find_project(agent, session) {
            return Ok(known);
        }
        // Resolving reads the disk, so not under the lock.
        let project = resolve()?;
        let mut state = self.lock();
        // Another thread may have been faster.
        let number = state.known.get(&hash_session(agent, session)).copied();
        if let Some(known) = number.and_then(|number| state.root_by_number(number)) {
            return Ok(known);
        }
        let line = SessionLine {
            v: VERSION,
            agent: agent.clone(),
            session: session.clone(),
            project: project.clone(),
            only: false,
        };
        line.append_to(&mut state.unwritten);
        state.add_line(line);
        self.is_unwritten.store(true, Ordering::Release);
        Ok(project)
    }

    /// Whether every known session is on disk.
    pub fn is_written(&self) -> bool {
        !self.is_unwritten.load(Ordering::Acquire)
    }

    /// Writes and syncs the sessions that are new. Call this before storing an event. After a
    /// failure the lines are kept and written the next time.
    pub fn flush(&self) -> Result<(), HomeError> {
        if self.is_written() {
            return Ok(());
        }
        let mut state = self.lock();
        if state.unwritten.is_empty() {
            return Ok(());
        }
        let appended = self.append_unwritten(&state);
        // A failed write may leave a partial line, which the next attempt truncates.
        state.is_torn = appended.is_err();
        appended.map_err(HomeError::file("write", &self.path))?;
        state.unwritten.clear();
        self.is_unwritten.store(false, Ordering::Release);
        Ok(())
    }

    fn append_unwritten(&self, state: &SessionTable) -> std::io::Result<()> {
        let is_new = !self.path.exists();
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        if state.is_torn {
            let text = std::fs::read(&self.path)?;
            let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
            file.set_len(whole as u64)?;
        }
        file.write_all(&state.unwritten)?;
        file.sync_data()?;
        match self.path.parent() {
            Some(folder) if is_new => sync_folder(folder),
            _ => Ok(()),
        }
    }

    /// Sessions with events in several projects, sorted by agent and session.
    pub fn split_sessions(&self) -> Vec<SplitSession> {
        let mut split: Vec<SplitSession> = self.lock().split.values().cloned().collect();
        split.sort_by(|a, b| (&a.agent, &a.session).cmp(&(&b.agent, &b.session)));
        split
    }

    /// Records that all events of a session are now in one project.
    pub(crate) fn record_merge(
        &self,
        agent: &Agent,
        session: &SessionId,
        project: &str,
    ) -> Result<(), HomeError> {
        let line = SessionLine {
            v: VERSION,
            agent: agent.clone(),
            session: session.clone(),
            project: project.to_owned(),
            only: true,
        };
        {
            let mut state = self.lock();
            line.append_to(&mut state.unwritten);
            state.add_line(line);
            self.is_unwritten.store(true, Ordering::Release);
        }
        self.flush()
    }

    fn lock(&self) -> MutexGuard<'_, SessionTable> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionTable {
    fn add_line(&mut self, line: SessionLine) {
        let key = hash_session(&line.agent, &line.session);
        let number = self.intern_root(&line.project);
        if line.only {
            self.known.insert(key, number);
            self.split.remove(&key);
            return;
        }
        let first = *self.known.entry(key).or_insert(number);
        if first == number {
            return;
        }
        let Some(project) = self.root_by_number(first) else { return };
        let split = self.split.entry(key).or_insert_with(|| SplitSession {
            agent: line.agent,
            session: line.session,
            project,
            elsewhere: Vec::new(),
        });
        if !split.elsewhere.contains(&line.project) {
            split.elsewhere.push(line.project);
        }
    }

    fn intern_root(&mut self, root: &str) -> u32 {
        if let Some(number) = self.numbers.get(root) {
            return *number;
        }
        let number = u32::try_from(self.roots.len()).unwrap_or(u32::MAX);
        let root: Arc<str> = root.into();
        self.roots.push(Arc::clone(&root));
        self.numbers.insert(root, number);
        number
    }

    fn root_by_number(&self, number: u32) -> Option<String> {
        self.roots.get(number as usize).map(|root| root.as_ref().to_owned())
    }
}

impl SessionLine {
    fn append_to(&self, bytes: &mut Vec<u8>) {
        // Serializing strings and numbers cannot fail.
        bytes.extend(serde_json::to_vec(self).unwrap_or_default());
        bytes.push(b'\n');
    }
}

/// Finds the sessions that the stores hold in several projects. The index decides which project a
/// known session belongs to.
pub(crate) fn find_split_sessions(
    stored: Vec<StoredSession>,
    index: &SessionIndex,
) -> Vec<SplitSession> {
    let mut state = SessionTable::default();
    for StoredSession { agent, session, project } in stored {
        if is_unknown(&session) {
            continue;
        }
        if let Some(known) = index.find_project(&agent, &session) {
            let (agent, session) = (agent.clone(), session.clone());
            state.add_line(SessionLine { v: VERSION, agent, session, project: known, only: false });
        }
        state.add_line(SessionLine { v: VERSION, agent, session, project, only: false });
    }
    let mut split: Vec<SplitSession> = state.split.into_values().collect();
    split.sort_by(|a, b| (&a.agent, &a.session).cmp(&(&b.agent, &b.session)));
    split
}

fn is_unknown(session: &SessionId) -> bool {
    session.as_str() == SessionId::UNKNOWN
}

fn hash_session(agent: &Agent, session: &SessionId) -> SessionHash {
    hash_parts("tome session index v1", &[agent.as_str(), session.as_str()]).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(path: &Path) -> SessionIndex {
        SessionIndex::open(path).unwrap_or_else(|| SessionIndex::rebuild(path, []).unwrap())
    }

    fn agent(name: &str) -> Agent {
        Agent::parse(name).unwrap()
    }

    fn session(id: &str) -> SessionId {
        SessionId::parse(id).unwrap()
    }

    fn stored(id: &str, project: &str) -> StoredSession {
        StoredSession { agent: agent("codex"), session: session(id), project: project.to_owned() }
    }

    fn at(root: &str) -> Result<String, std::convert::Infallible> {
        Ok(root.to_owned())
    }

    #[test]
    fn a_session_keeps_its_project_over_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.jsonl");
        let codex = agent("codex");
        let first = index(&path);
        assert_eq!(first.assign_project(&codex, &session("s"), || at("/a")), at("/a"));
        assert_eq!(first.assign_project(&codex, &session("s"), || at("/b")), at("/a"));
        assert_eq!(first.assign_project(&agent("gemini"), &session("s"), || at("/b")), at("/b"));
        assert!(!first.is_written());
        first.flush().unwrap();
        let again = index(&path);
        assert_eq!(again.find_project(&codex, &session("s")).as_deref(), Some("/a"));
        assert_eq!(again.find_project(&agent("gemini"), &session("s")).as_deref(), Some("/b"));
        let entry = |id: &str, root: &str| (session(id), root.to_owned());
        assert_eq!(again.load_sessions().unwrap(), [entry("s", "/a"), entry("s", "/b")]);
        assert_eq!(again.assign_project(&codex, &session("r"), || at("/c")), at("/c"));
        let unwritten = [entry("r", "/c"), entry("s", "/a"), entry("s", "/b")];
        assert_eq!(again.load_sessions().unwrap(), unwritten);
        assert_eq!(again.assign_project(&codex, &session("unknown"), || at("/c")), at("/c"));
        assert_eq!(again.assign_project(&codex, &session("unknown"), || at("/d")), at("/d"));
    }

    #[test]
    fn a_torn_line_is_dropped_and_a_damaged_one_requires_a_rebuild() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.jsonl");
        let codex = agent("codex");
        let first = index(&path);
        first.assign_project(&codex, &session("s"), || at("/a")).unwrap();
        first.flush().unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        write_atomic(&path, format!("{whole}{{\"v\":1,\"agent\":\"co").as_bytes()).unwrap();
        let torn = index(&path);
        torn.assign_project(&codex, &session("t"), || at("/b")).unwrap();
        torn.flush().unwrap();
        let again = index(&path);
        assert_eq!(again.find_project(&codex, &session("s")).as_deref(), Some("/a"));
        assert_eq!(again.find_project(&codex, &session("t")).as_deref(), Some("/b"));
        write_atomic(&path, format!("no json\n{whole}").as_bytes()).unwrap();
        assert!(SessionIndex::open(&path).is_none());
    }

    #[test]
    fn split_sessions_are_listed_until_merged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.jsonl");
        let all = [stored("s", "/a"), stored("t", "/a"), stored("s", "/a/b"), stored("s", "/a/b")];
        SessionIndex::rebuild(&path, all).unwrap();
        let read = index(&path);
        let split = read.split_sessions();
        assert_eq!(split.len(), 1);
        assert_eq!(
            (split[0].project.as_str(), &split[0].elsewhere[..]),
            ("/a", &["/a/b".to_owned()][..])
        );
        assert_eq!(read.load_sessions().unwrap().len(), 3);
        read.record_merge(&split[0].agent, &split[0].session, "/a").unwrap();
        assert_eq!(read.load_sessions().unwrap().len(), 2);
        assert_eq!(index(&path).split_sessions(), []);
    }
}
