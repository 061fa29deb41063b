//! Shared helpers: short ways to build events, and each test once per engine.

use std::path::Path;

use serde_json::{Map, json};
use tempfile::TempDir;
use tome_ledger::{
    AppendOutcome, AppendedEvent, EventRange, Ledger, LedgerError, NewEvent, StorageEngine,
};
use tome_model::{Draft, Event, EventId, EventKind, Identity, Millis, Role, SessionId, Tool};
use tome_testkit::prompt_draft;

/// Turns each function into a test for every engine of this build.
macro_rules! on_every_engine {
    ($($name:ident),+ $(,)?) => {
        mod fjall {
            $(#[test] fn $name() { super::$name(tome_ledger::StorageEngine::Fjall); })+
        }
        #[cfg(feature = "rocksdb")]
        mod rocksdb {
            $(#[test] fn $name() { super::$name(tome_ledger::StorageEngine::RocksDb); })+
        }
    };
}

pub(crate) const PROJECT: &str = "/home/dev/app";
pub(crate) const ARRIVED: Millis = Millis(1_794_702_500_000);

/// A ledger in a temporary folder.
pub(crate) struct Harness {
    pub(crate) home: TempDir,
    pub(crate) engine: StorageEngine,
}

impl Harness {
    pub(crate) fn new(engine: StorageEngine) -> Self {
        let home = tempfile::tempdir().unwrap();
        Self { home, engine }
    }

    pub(crate) fn dir(&self) -> std::path::PathBuf {
        self.home.path().join("ledger")
    }

    pub(crate) fn open(&self) -> Ledger {
        Ledger::open_with(&self.dir(), self.engine).unwrap()
    }
}

pub(crate) fn id(text: &str) -> EventId {
    EventId::parse(text).unwrap()
}

pub(crate) fn session(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

/// A prompt with an explicit id.
pub(crate) fn draft(name: &str, at: u64, text: &str) -> Draft {
    let cwd = "/home/dev/app/src".to_owned();
    Draft { cwd, ..prompt_draft(name, "s1", Millis(at), text) }
}

/// A prompt that is identified by its words.
pub(crate) fn words(text: &str, at: u64) -> Draft {
    let mut draft = draft("unused", at, text);
    draft.identity = Identity::from_words(&draft.agent, &draft.session, draft.role, text);
    draft
}

/// A tool result with every field set.
pub(crate) fn tool(name: &str, at: u64) -> Draft {
    let mut draft = draft(name, at, "ran the tests");
    draft.kind = EventKind::ToolResult;
    draft.role = Role::Tool;
    draft.tool = Some(Tool {
        name: "Bash".into(),
        input: json!({"command": "cargo test", "timeout": 1.5}),
        output: json!(["ok", null, {"passed": 17}]),
    });
    draft.meta = Map::from_iter([("exit".to_owned(), json!(0))]);
    draft
}

pub(crate) fn new_event(draft: Draft) -> NewEvent {
    NewEvent::encode(draft, PROJECT.into(), ARRIVED)
}

pub(crate) fn new_events(drafts: impl IntoIterator<Item = Draft>) -> Vec<NewEvent> {
    drafts.into_iter().map(new_event).collect()
}

/// The event that a draft becomes.
pub(crate) fn stored(draft: Draft, id: EventId) -> Event {
    draft.into_event(id, PROJECT.into(), ARRIVED)
}

pub(crate) fn outcomes(appended: &[AppendedEvent]) -> Vec<AppendOutcome> {
    appended.iter().map(|one| one.outcome).collect()
}

pub(crate) fn read_all(ledger: &Ledger, range: &EventRange) -> Vec<Event> {
    let events = ledger.events(range);
    events.map(|found| found.unwrap().1).collect()
}

/// The ids of a range, joined in one line.
pub(crate) fn ids_of(ledger: &Ledger, range: &EventRange) -> String {
    let ids: Vec<String> =
        read_all(ledger, range).iter().map(|event| event.id.to_string()).collect();
    ids.join(" ")
}

pub(crate) fn open_error(dir: &Path, engine: Option<StorageEngine>) -> LedgerError {
    let opened = match engine {
        Some(engine) => Ledger::open_with(dir, engine),
        None => Ledger::open(dir),
    };
    match opened {
        Ok(_) => panic!("{} opened", dir.display()),
        Err(error) => error,
    }
}

/// Copies a file and keeps trailing zeros sparse: a journal has 64 MB of them.
fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    let bytes = std::fs::read(from)?;
    let mut content = bytes.as_slice();
    while let Some(rest) = content.strip_suffix(&[0; 4096]) {
        content = rest;
    }
    let mut file = std::fs::File::create(to)?;
    std::io::Write::write_all(&mut file, content)?;
    file.set_len(bytes.len() as u64)
}

fn try_copy_dir(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            try_copy_dir(&entry.path(), &target)?;
        } else {
            copy_file(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Copies a folder. An open store may delete a file meanwhile that it has replaced; the copy then
/// begins again, because it would be of two moments.
pub(crate) fn copy_dir(from: &Path, to: &Path) {
    for _ in 0..20 {
        match try_copy_dir(from, to) {
            Ok(()) => return,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                std::fs::remove_dir_all(to).unwrap();
            }
            Err(error) => panic!("cannot copy {}: {error}", from.display()),
        }
    }
    panic!("{} keeps changing", from.display());
}
