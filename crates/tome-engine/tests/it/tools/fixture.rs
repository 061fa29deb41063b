//! A home, a repository and the tools over them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tome_contents::{Contents, ContentsSettings, Extractive};
use tome_engine::{Caller, Intake, Sealer, ToolAnswer, ToolFailure, Tools, Topics};
use tome_finder::StaticEmbedder;
use tome_home::{Home, NotebookOwner, Notebooks, StoreMode, Stores};
use tome_ledger::StorageEngine;
use tome_model::{Clock, EventLine, Millis, Scope, Zone};
use tome_notebook::NotebookRules;
use tome_recall::{Recall, Transcripts};
use tome_redact::Redactor;
use tome_testkit::TickingClock;

/// 2026-03-25.
const NOW: Millis = Millis(1_774_432_800_000);

pub struct ToolsFixture {
    folder: tempfile::TempDir,
    pub home: PathBuf,
    pub repo: PathBuf,
    pub notebooks: Arc<Notebooks>,
    stores: Arc<Stores>,
    pub tools: Tools,
    pub caller: Caller,
}

pub fn tools_fixture() -> ToolsFixture {
    let folder = tome_testkit::temporary_folder();
    let top = folder.path().canonicalize().unwrap();
    let (home, repo) = (top.join("home"), top.join("repo"));
    std::fs::create_dir_all(repo.join(".git")).unwrap();
    std::fs::write(repo.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(top.join("outside.md"), "mine\n").unwrap();
    let at = Home::at(&home);
    let clock: Arc<dyn Clock> = Arc::new(TickingClock::starting_at(NOW));
    let mode = StoreMode::PerProject;
    let stores =
        Arc::new(Stores::new(at.clone(), mode, StorageEngine::DEFAULT, Arc::clone(&clock)));
    let projects = stores.shared_projects();
    let copies = Arc::new(Transcripts::new(Arc::clone(&projects), Arc::clone(&clock)));
    let settings = ContentsSettings::in_zone(Zone::utc());
    let summarizer = Arc::new(Extractive);
    let contents = Contents::new(Arc::clone(&stores), settings, summarizer, Arc::clone(&clock));
    let contents = Arc::new(contents);
    let rules = NotebookRules::default();
    let notebooks = Arc::new(Notebooks::new(at.clone(), projects, rules, Arc::clone(&clock)));
    let recall = Recall::new(
        at,
        Arc::clone(&stores),
        Arc::clone(&notebooks),
        Arc::clone(&contents),
        copies,
        Arc::new(StaticEmbedder),
        Arc::clone(&clock),
    );
    let topics =
        Topics::new(Arc::clone(&stores), Arc::clone(&contents), Arc::new(StaticEmbedder), clock);
    let redactor = Arc::new(Redactor::new(&[]).unwrap());
    let caller = Caller {
        cwd: Some(repo.to_str().unwrap().to_owned()),
        agent: Some("codex".into()),
        session: Some("s1".into()),
        command: None,
    };
    let tools = Tools::new(Arc::clone(&notebooks), redactor).with_contents(contents);
    let tools = tools.with_recall(Arc::new(recall)).with_topics(Arc::new(topics));
    ToolsFixture { folder, home, repo, notebooks, stores, tools, caller }
}

#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads better without a &")]
impl ToolsFixture {
    /// Records an event in the repository on 2026-03-25 at 10:00, and lets the contents catch up.
    pub fn record_event(&self, text: &str) {
        self.record(serde_json::json!({ "id": "e1", "kind": "user_message", "text": text }));
    }

    /// Records an edit of a file in the repository.
    pub fn record_edit(&self, path: &str) {
        self.record(serde_json::json!({
            "id": "e2", "kind": "tool_result", "text": "", "at": 1_774_432_801_000_u64,
            "tool": { "name": "Edit", "input": { "file_path": self.repo.join(path) }, "output": "ok" },
        }));
    }

    fn record(&self, fields: Value) {
        let sealer = Sealer::new(Redactor::new(&[]).unwrap(), 256 * 1024);
        let intake =
            Intake::new(sealer, Arc::clone(&self.stores), Arc::new(TickingClock::starting_at(NOW)));
        let mut line = serde_json::json!({
            "session_id": "s1", "agent": "codex", "cwd": self.repo, "at": 1_774_432_800_000_u64,
        });
        for (name, value) in fields.as_object().unwrap() {
            line[name] = value.clone();
        }
        let draft = EventLine::parse(&line.to_string()).unwrap().into_draft().unwrap();
        assert!(intake.ingest(vec![draft]).iter().all(Result::is_ok));
        self.call_ok("get_toc_root", serde_json::json!({}));
    }

    /// The folder that holds the home, the repository and what lies next to them.
    pub fn top(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub fn answer(&self, tool: &str, arguments: &Value) -> ToolAnswer {
        let mut answer = self.tools.call(tool, &arguments.to_string(), &self.caller).unwrap();
        // Removes the fence around quoted text.
        answer.text = tome_engine::strip_fence(&answer.text).to_owned();
        answer
    }

    /// Calls a tool; the call must succeed.
    pub fn call_ok(&self, tool: &str, arguments: Value) -> ToolAnswer {
        let answer = self.answer(tool, &arguments);
        assert_eq!(answer.failure, None, "{tool} {arguments}: {}", answer.text);
        answer
    }

    /// The text of a successful call.
    pub fn call_text(&self, tool: &str, arguments: Value) -> String {
        self.call_ok(tool, arguments).text
    }

    /// The text of a rejected call, which must change nothing.
    pub fn call_rejected(&self, tool: &str, arguments: Value, failure: ToolFailure) -> String {
        let before = files_in(&self.top());
        let answer = self.answer(tool, &arguments);
        assert_eq!(answer.failure, Some(failure), "{tool} {arguments}: {}", answer.text);
        assert_eq!(answer.json["kind"], failure.as_str());
        assert!(answer.text.contains(answer.json["error"].as_str().unwrap()));
        assert!(files_in(&self.top()) == before, "{tool} {arguments} changed something");
        answer.text
    }

    pub fn project(&self) -> NotebookOwner {
        NotebookOwner { scope: Scope::Project, cwd: self.caller.cwd.clone(), session: None }
    }

    pub fn note_text(&self, path: &str) -> String {
        let read = self.call_ok("memory_read", serde_json::json!({ "path": path }));
        read.json["content"].as_str().unwrap().to_owned()
    }
}

/// All files and folders below, with contents.
pub fn files_in(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_path_buf()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.symlink_metadata().unwrap().is_dir() {
                left.push(path.clone());
                found.insert(path, None);
            } else {
                let bytes = std::fs::read(&path).unwrap_or_default();
                found.insert(path, Some(bytes));
            }
        }
    }
    found
}
