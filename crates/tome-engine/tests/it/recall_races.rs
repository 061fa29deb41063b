//! Queries during an index rebuild: an answer is complete, or names what it could not search.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tome_contents::{Contents, ContentsSettings, Extractive};
use tome_engine::{Intake, Sealer};
use tome_finder::{EmbedError, Embedder, StaticEmbedder};
use tome_home::{Home, NotebookOwner, Notebooks, Store, StoreMode, Stores};
use tome_ledger::StorageEngine;
use tome_model::{Clock, EventLine, Millis, Scope, Zone};
use tome_notebook::{Actor, Author, NotebookRules};
use tome_recall::{Across, Recall, RecallFilter, RecallLimits, RecallQuery, Transcripts};
use tome_redact::Redactor;

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Millis {
        Millis(1_774_432_800_000)
    }
}

/// The built-in embedder, which blocks when the page index is created for the second time.
struct Gated {
    created: AtomicUsize,
    reached: Mutex<Sender<()>>,
    opened: Mutex<Receiver<()>>,
}

/// Creating an index probes the embedder once; the event and page indexes are created twice each.
const LAST_CREATION: usize = 3;

impl Embedder for Gated {
    fn name(&self) -> &str {
        StaticEmbedder.name()
    }

    fn dimensions(&self) -> usize {
        StaticEmbedder.dimensions()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let is_probe = texts == ["Does it answer?"];
        if is_probe && self.created.fetch_add(1, Ordering::SeqCst) == LAST_CREATION {
            self.reached.lock().unwrap().send(()).unwrap();
            self.opened.lock().unwrap().recv().unwrap();
        }
        StaticEmbedder.embed(texts)
    }
}

fn store_event(stores: &Arc<Stores>, root: &str, text: &str) -> Store {
    let sealer = Sealer::new(Redactor::new(&[]).unwrap(), 256 * 1024);
    let intake = Intake::new(sealer, Arc::clone(stores), Arc::new(Fixed));
    let name = Path::new(root).file_name().and_then(|name| name.to_str()).unwrap();
    let line = json!({
        "id": format!("event-{name}"), "session_id": format!("session-{name}"), "agent": "codex", "cwd": root,
        "kind": "user_message", "at": 1_774_432_800_000_u64, "text": text,
    });
    let draft = EventLine::parse(&line.to_string()).unwrap().into_draft().unwrap();
    assert!(intake.ingest(vec![draft]).iter().all(Result::is_ok));
    stores.open_project(root).unwrap()
}

fn open_recall(
    folder: &Path,
    embedder: Arc<dyn Embedder>,
) -> (Recall, Arc<Stores>, Arc<Notebooks>) {
    let home = Home::at(folder.join("home"));
    let clock: Arc<dyn Clock> = Arc::new(Fixed);
    let mode = StoreMode::PerProject;
    let stores =
        Arc::new(Stores::new(home.clone(), mode, StorageEngine::DEFAULT, Arc::clone(&clock)));
    let projects = stores.shared_projects();
    let transcripts = Arc::new(Transcripts::new(Arc::clone(&projects), Arc::clone(&clock)));
    let settings = ContentsSettings::in_zone(Zone::utc());
    let contents =
        Contents::new(Arc::clone(&stores), settings, Arc::new(Extractive), Arc::clone(&clock));
    let notebooks = Arc::new(Notebooks::new(
        home.clone(),
        projects,
        NotebookRules::default(),
        Arc::clone(&clock),
    ));
    let recall = Recall::new(
        home,
        Arc::clone(&stores),
        Arc::clone(&notebooks),
        Arc::new(contents),
        transcripts,
        embedder,
        clock,
    );
    (recall, stores, notebooks)
}

/// A project with an index must not rank higher than one without.
#[test]
fn stores_with_and_without_an_index_rank_alike() {
    let folder = tome_testkit::temporary_folder();
    let (recall, stores, _) = open_recall(folder.path(), Arc::new(StaticEmbedder));
    let root = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in ["one", "two", "three"] {
        let text = format!("the lighthouse of {name} blinks because of zebra{name}");
        let store = store_event(&stores, &root(name), &text);
        if name != "three" {
            recall.catch_up_indexes(&store, &|| false).unwrap();
        }
    }
    let question = RecallQuery {
        text: "lighthouse zebrathree".into(),
        filter: RecallFilter {
            across: Across::All,
            project: Some(root("one")),
            ..RecallFilter::default()
        },
        limits: RecallLimits { hits: 3, ..RecallLimits::default() },
        ..RecallQuery::default()
    };
    let answer = recall.search(&question).unwrap();
    let texts: Vec<&str> = answer.hits.iter().map(|hit| hit.text.as_str()).collect();
    assert!(texts[0].contains("zebrathree"), "{texts:?}");
}

#[test]
fn notes_are_found_during_an_index_rebuild() {
    let folder = tome_testkit::temporary_folder();
    let (reached, at_gate) = channel();
    let (open_gate, opened) = channel();
    let embedder = Gated {
        created: AtomicUsize::new(0),
        reached: Mutex::new(reached),
        opened: Mutex::new(opened),
    };
    let (recall, stores, notebooks) = open_recall(folder.path(), Arc::new(embedder));
    let root = folder.path().join("app").to_str().unwrap().to_owned();
    let store = store_event(&stores, &root, "the lexer waits for the cache");
    let whose = NotebookOwner { scope: Scope::Project, cwd: Some(root.clone()), session: None };
    let notebook = notebooks.open(&whose).unwrap();
    let by = Author {
        who: Actor::Agent { agent: "codex".into(), session: None },
        tool: "memory_write".into(),
    };
    let text = "# Facts\n\nThe journal is kept ninety days.\n";
    notebook.write_note(&by, "facts/project.md", text, None, None).unwrap();
    recall.catch_up_indexes(&store, &|| false).unwrap();
    let question = RecallQuery {
        text: "ninety days".into(),
        filter: RecallFilter { project: Some(root.clone()), ..RecallFilter::default() },
        limits: RecallLimits { hits: 5, ..RecallLimits::default() },
        ..RecallQuery::default()
    };
    let citations = || {
        let answer = recall.search(&question).unwrap();
        answer.hits.into_iter().map(|hit| hit.text).collect::<Vec<_>>()
    };
    let before = citations();
    assert!(before.iter().any(|text| text.contains("ninety days")), "{before:?}");
    let finder = store.path().with_file_name("finder");
    std::fs::remove_dir_all(finder).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| recall.catch_up_indexes(&store, &|| false).unwrap());
        at_gate.recv().unwrap();
        let meanwhile = citations();
        open_gate.send(()).unwrap();
        assert!(meanwhile.iter().any(|text| text.contains("ninety days")), "{meanwhile:?}");
    });
    assert_eq!(citations(), before);
}
