//! An engine over a home of its own, with a fixed clock and one project, `/app`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tome_engine::{Caller, Engine, EngineSettings, ToolAnswer};
use tome_finder::Embedder;
use tome_home::{Home, HomeError, NotebookOwner, StoreMode};
use tome_model::{Clock, EventLine, Millis, Scope, Zone};
use tome_notebook::{Actor, Author};
use tome_recall::{RecallAnswer, RecallFilter, RecallLimits, RecallQuery, RecallScope, Tier};
use tome_testkit::{eventually, temporary_folder};

/// 2026-03-25T10:00:00Z.
pub const NOW: Millis = Millis(1_774_432_800_000);
pub const MINUTE_MS: u64 = 60_000;
/// Base of the timelines, on the same day.
pub const MORNING_MS: u64 = NOW.0 - 6 * 60 * MINUTE_MS;
/// 2026-03-15T09:30:00Z, a Sunday before the other timelines.
pub const SUNDAY_MS: u64 = NOW.0 - (10 * 24 * 60 + 30) * MINUTE_MS;
/// The root of the project.
pub const ROOT: &str = "/app";
/// Maximum rounds of catching up. One round may find another index outdated, so there are several.
const ROUNDS_MAX: usize = 6;

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Millis {
        NOW
    }
}

fn settings(folder: &tempfile::TempDir) -> EngineSettings {
    EngineSettings::new(Home::at(folder.path().join("home")), Zone::utc())
}

pub struct EngineFixture {
    pub engine: Engine,
    folder: tempfile::TempDir,
}

impl EngineFixture {
    pub fn new() -> Self {
        Self::open(temporary_folder())
    }

    /// A home whose vectors are computed by this embedder.
    pub fn with_embedder(embedder: Arc<dyn Embedder>) -> Self {
        let folder = temporary_folder();
        let settings = EngineSettings { embedder, ..settings(&folder) };
        Self { engine: Engine::open(settings, Arc::new(Fixed)).unwrap(), folder }
    }

    /// A home with its events in this kind of stores.
    pub fn with_mode(store_mode: StoreMode) -> Self {
        let folder = temporary_folder();
        let settings = EngineSettings { store_mode, ..settings(&folder) };
        Self { engine: Engine::open(settings, Arc::new(Fixed)).unwrap(), folder }
    }

    fn open(folder: tempfile::TempDir) -> Self {
        Self { engine: Engine::open(settings(&folder), Arc::new(Fixed)).unwrap(), folder }
    }

    /// Closes the home, lets `change` edit its files, and opens it again.
    pub fn reopen(self, change: impl FnOnce(&Self)) -> Self {
        Self::open(self.close(change))
    }

    /// Closes the home and opens it again with another embedder.
    pub fn reopen_with(self, embedder: Arc<dyn Embedder>) -> Self {
        let folder = self.close(|_| {});
        let settings = EngineSettings { embedder, ..settings(&folder) };
        Self { engine: Engine::open(settings, Arc::new(Fixed)).unwrap(), folder }
    }

    fn close(self, change: impl FnOnce(&Self)) -> tempfile::TempDir {
        // The writer of a ledger releases it shortly after its last reply.
        eventually("the stores to close", || {
            self.engine.stores().close_idle(0);
            self.engine.stores().open_stores().is_empty().then_some(())
        });
        self.engine.recall().close_unused(Duration::ZERO);
        change(&self);
        let Self { engine, folder } = self;
        drop(engine);
        folder
    }

    /// Stores events, given as fields that differ from a message of session `s1`.
    pub fn ingest(&self, events: impl IntoIterator<Item = Value>) {
        let drafts = events.into_iter().map(|fields| {
            let mut line = json!({
                "session_id": "s1", "agent": "codex", "cwd": ROOT, "kind": "user_message",
                "text": "hello", "at": MORNING_MS,
            });
            for (name, value) in fields.as_object().unwrap() {
                line[name] = value.clone();
            }
            EventLine::parse(&line.to_string()).unwrap().into_draft().unwrap()
        });
        let stored = self.engine.intake().ingest(drafts.collect());
        assert!(stored.iter().all(Result::is_ok), "{stored:?}");
    }

    pub fn write_note(&self, scope: Scope, path: &str, text: &str) {
        let cwd = (scope != Scope::Coder).then(|| ROOT.to_owned());
        let owner = NotebookOwner { scope, cwd, session: None };
        let who = Actor::Agent { agent: "codex".into(), session: None };
        let by = Author { who, tool: "memory_write".into() };
        let notebook = self.engine.notebooks().open(&owner).unwrap();
        notebook.write_note(&by, path, text, None, None).unwrap();
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns a folder of this name beside the home; creates it if it is missing.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path.canonicalize().unwrap()
    }

    /// Writes a file beside the home.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Calls a tool from session `s1` in the project. The text has no fence.
    pub fn call_tool(&self, tool: &str, arguments: &Value) -> ToolAnswer {
        self.call_tool_from(Some("s1"), tool, arguments)
    }

    /// Calls a tool from a session in the project, or from an agent that does not tell its session.
    pub fn call_tool_from(
        &self,
        session: Option<&str>,
        tool: &str,
        arguments: &Value,
    ) -> ToolAnswer {
        let caller = Caller {
            cwd: Some(ROOT.to_owned()),
            agent: Some("codex".into()),
            session: session.map(str::to_owned),
            ..Caller::default()
        };
        let tools = self.engine.tools().unwrap();
        let mut answer = tools.call(tool, &arguments.to_string(), &caller).unwrap();
        answer.text = tome_engine::strip_fence(&answer.text).to_owned();
        answer
    }

    /// The project's folder in the home.
    pub fn project(&self) -> PathBuf {
        self.home().join("projects/--app--")
    }

    /// Brings the projections of the project and the indexes of its notes up to date. An index that
    /// cannot be used is left to the next round.
    pub fn catch_up(&self) {
        match self.engine.catch_up_project(ROOT) {
            Ok(()) | Err(HomeError::Index(_)) => {}
            Err(error) => panic!("{}", error.explained()),
        }
        match self.engine.recall().catch_up_note_indexes(&|| false).map_err(HomeError::from) {
            Ok(_) | Err(HomeError::Index(_)) => {}
            Err(error) => panic!("{}", error.explained()),
        }
        if let Some(path) = self.engine.stores().find_store_path(ROOT) {
            self.engine.recall().release_writers(&self.engine.stores().open(&path).unwrap());
        }
    }

    /// A query about the project.
    pub fn query(&self, text: &str) -> RecallQuery {
        RecallQuery {
            text: text.to_owned(),
            filter: RecallFilter { project: Some(ROOT.to_owned()), ..RecallFilter::default() },
            limits: RecallLimits { hits: 10, ..RecallLimits::default() },
            ..RecallQuery::default()
        }
    }

    /// The answer, without the durations of its stages.
    pub fn search(&self, query: &RecallQuery) -> RecallAnswer {
        let mut answer = self.engine.recall().search(query).unwrap();
        answer.stages.iter_mut().for_each(|stage| stage.took = Duration::ZERO);
        answer
    }

    /// The answer once every index has read everything.
    pub fn search_indexed(&self, query: &RecallQuery) -> RecallAnswer {
        for _ in 0..ROUNDS_MAX {
            let answer = self.search(query);
            if answer.tier == Tier::Fused && answer.behind == 0 {
                return answer;
            }
            self.catch_up();
        }
        panic!("the indexes are still behind: {:#?}", self.search(query));
    }

    /// The texts of the messages that a question finds, best first.
    pub fn find_messages(&self, question: &str) -> Vec<String> {
        let mut query = self.query(question);
        query.filter.scope = RecallScope::Messages;
        query.limits.hits = 5;
        self.search(&query).hits.into_iter().map(|hit| hit.text).collect()
    }
}

/// The parts of hits by which two answers are compared.
pub fn listed(answer: &RecallAnswer) -> Vec<(&str, &str, f64, &[String])> {
    answer
        .hits
        .iter()
        .map(|hit| (hit.citation.as_str(), hit.text.as_str(), hit.score, hit.also.as_slice()))
        .collect()
}
