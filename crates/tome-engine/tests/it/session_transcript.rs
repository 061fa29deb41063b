//! The transcript of a session: every event once, in order, whatever happens to the file.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use tome_engine::{Intake, Sealer};
use tome_home::{EventQuery, Home, Projection, Store, StoreMode, Stores};
use tome_ledger::StorageEngine;
use tome_model::{Clock, Event, EventLine, Millis, SessionId};
use tome_recall::{SessionTranscriptLine, Transcripts};
use tome_redact::Redactor;
use tome_testkit::TickingClock;

struct TranscriptFixture {
    _folder: tempfile::TempDir,
    stores: Arc<Stores>,
    intake: Intake,
    transcripts: Transcripts,
    clock: Arc<dyn Clock>,
    recorded: u64,
}

const ROOT: &str = "/nowhere/app";

impl TranscriptFixture {
    fn new(mode: StoreMode) -> Self {
        let folder = tome_testkit::temporary_folder();
        let clock: Arc<dyn Clock> = Arc::new(TickingClock::starting_at(Millis(1_000_000)));
        let home = Home::at(folder.path());
        let stores = Arc::new(Stores::new(home, mode, StorageEngine::DEFAULT, Arc::clone(&clock)));
        let sealer = Sealer::new(Redactor::new(&[]).unwrap(), 65_536);
        let intake = Intake::new(sealer, Arc::clone(&stores), Arc::clone(&clock));
        let transcripts = Transcripts::new(stores.shared_projects(), Arc::clone(&clock));
        Self { _folder: folder, stores, intake, transcripts, clock, recorded: 0 }
    }

    /// Simulates a restart of the daemon.
    fn restart(&mut self) {
        self.transcripts = Transcripts::new(self.stores.shared_projects(), Arc::clone(&self.clock));
    }

    /// Records a message; each one happened earlier than the one before it.
    fn record(&mut self, root: &str, session: &str, text: &str) {
        self.recorded += 1;
        let line = EventLine {
            id: Some(format!("e\"{}\\", self.recorded)),
            at: Millis(1_000_000 - self.recorded),
            session_id: session.into(),
            // A session belongs to one project, but two agents may use the same id.
            agent: if root == ROOT { "codex" } else { "gemini" }.into(),
            cwd: root.into(),
            kind: "user_message".into(),
            text: text.into(),
            ..EventLine::default()
        };
        let stored = self.intake.ingest(vec![line.into_draft().unwrap()]);
        assert!(stored.iter().all(Result::is_ok), "{stored:?}");
    }

    fn store(&self, root: &str) -> Store {
        self.stores.open_project(root).unwrap()
    }

    fn catch_up(&self) {
        let copied = self.transcripts.write_new(&self.store(ROOT)).unwrap();
        assert_eq!(copied.failed, Vec::<String>::new());
        assert!(!Projection::is_behind(&self.transcripts, &self.store(ROOT)).unwrap());
    }

    fn file(&self, root: &str, name: &str) -> PathBuf {
        self.transcripts.file_path(root, &session(name))
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(ROOT, name)).unwrap()
    }

    /// Appends to a session's file, as another program might.
    fn append_raw(&self, name: &str, bytes: &[u8]) {
        let file = self.file(ROOT, name);
        let file = std::fs::OpenOptions::new().append(true).open(file);
        file.unwrap().write_all(bytes).unwrap();
    }

    /// A session's events in order of arrival.
    fn events(&self, root: &str, name: &str) -> Vec<Event> {
        let question = EventQuery {
            session: Some(session(name)),
            project: Some(root.into()),
            events_max: 1_000,
            bytes_max: usize::MAX,
            ..EventQuery::default()
        };
        let mut events = self.stores.query_events(&question).unwrap().events;
        events.sort_by_key(|event| std::cmp::Reverse(event.at));
        events
    }

    /// Checks a file: every event once and in order, at its reported line.
    fn check(&self, root: &str, name: &str) {
        let events = self.events(root, name);
        let text = std::fs::read(self.file(root, name)).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        let expected: Vec<String> =
            events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
        let found = |line: &&&str| expected.iter().any(|one| one == *line);
        let copied: Vec<&str> = lines.iter().filter(found).copied().collect();
        assert_eq!(copied, expected, "in {text}");
        let numbers = self
            .transcripts
            .find_lines(&self.store(root), &events.iter().collect::<Vec<_>>())
            .unwrap();
        for ((number, event), line) in numbers.iter().zip(&events).zip(&expected) {
            assert_eq!(lines[*number as usize - 1], line);
            let there =
                self.transcripts.read_line(&self.store(root), root, &session(name), *number);
            assert_eq!(there.unwrap(), SessionTranscriptLine::Event(Box::new(event.clone())));
        }
    }
}

fn session(name: &str) -> SessionId {
    SessionId::parse(name).unwrap()
}

#[test]
fn one_line_per_event_in_order_of_arrival() {
    for mode in [StoreMode::PerProject, StoreMode::Unified] {
        let mut fixture = TranscriptFixture::new(mode);
        for text in ["first\nand its second line", "日本 \u{2028} \u{1b}[31m", "last"] {
            fixture.record(ROOT, "s1", text);
            fixture.record(ROOT, "s 2/..", text);
        }
        fixture.catch_up();
        fixture.check(ROOT, "s1");
        fixture.check(ROOT, "s 2/..");
        let text = fixture.text("s1");
        assert_eq!((text.lines().count(), text.ends_with("}\n")), (3, true));
        assert!(text.starts_with(r#"{"id":"e\"1\\","at":"1970-01-01T00:16:39.999Z","arrived":"#));
        assert!(fixture.file(ROOT, "s 2/..").ends_with("sessions/~s%202%2F%2E%2E/messages.jsonl"));
        // Existing lines never change.
        fixture.record(ROOT, "s1", "more");
        fixture.catch_up();
        assert!(fixture.text("s1").starts_with(&text));
        fixture.check(ROOT, "s1");
    }
}

#[test]
fn the_overview_is_created_once_and_then_left_alone() {
    let mut fixture = TranscriptFixture::new(StoreMode::PerProject);
    fixture.record(ROOT, "s1", "x");
    fixture.catch_up();
    let memory = fixture.file(ROOT, "s1").with_file_name("working-memory");
    let overview = std::fs::read_to_string(memory.join("overview.md")).unwrap();
    let sections: Vec<&str> =
        overview.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let five =
        ["Current Task", "Key Decisions", "Known Context", "Pending Issues", "Recent Operations"];
    assert_eq!(sections, five);
    assert!(memory.join("detail").read_dir().unwrap().next().is_none());
    std::fs::write(memory.join("overview.md"), "# mine\r\n").unwrap();
    std::fs::remove_dir(memory.join("detail")).unwrap();
    fixture.restart();
    fixture.record(ROOT, "s1", "y");
    fixture.catch_up();
    assert_eq!(std::fs::read_to_string(memory.join("overview.md")).unwrap(), "# mine\r\n");
    assert!(!memory.join("detail").exists(), "the folder belongs to the user now");
    let left: Vec<_> = memory.parent().unwrap().read_dir().unwrap().collect();
    assert_eq!(left.len(), 2, "unexpected files: {left:?}");
}

#[test]
fn a_torn_line_is_terminated_and_keeps_its_number() {
    // Inside a text, after a brace that does not end the line, and right before the newline.
    for keep in [10, 0, usize::MAX] {
        let mut fixture = TranscriptFixture::new(StoreMode::PerProject);
        fixture.record(ROOT, "s1", "one");
        fixture.catch_up();
        fixture.record(ROOT, "s1", "two");
        let next = serde_json::to_string(&fixture.events(ROOT, "s1")[1]).unwrap();
        let torn = match keep {
            0 => format!("{}}}", &next[..30]),
            keep => next[..keep.min(next.len())].to_owned(),
        };
        fixture.append_raw("s1", torn.as_bytes());
        fixture.restart();
        fixture.catch_up();
        fixture.check(ROOT, "s1");
        let lines: Vec<String> = fixture.text("s1").lines().map(str::to_owned).collect();
        if keep == usize::MAX {
            assert_eq!(lines.len(), 2, "only the newline was missing");
        } else {
            assert_eq!(lines[1].trim_end(), torn);
            assert_eq!(lines[2], next);
        }
        // It is not taken for an event later.
        fixture.record(ROOT, "s1", "three");
        fixture.restart();
        fixture.catch_up();
        fixture.check(ROOT, "s1");
        assert_eq!(fixture.text("s1").lines().count(), lines.len() + 1);
    }
}

#[test]
fn lines_written_before_a_crash_are_not_written_twice() {
    let mut fixture = TranscriptFixture::new(StoreMode::PerProject);
    fixture.record(ROOT, "s1", "one");
    fixture.catch_up();
    fixture.record(ROOT, "s1", "two");
    fixture.record(ROOT, "s1", "three");
    // Writes lines beyond the cursor, like a daemon that is killed before it moves the cursor.
    fixture.transcripts.rebuild(&fixture.store(ROOT), None).unwrap();
    assert_eq!(fixture.text("s1").lines().count(), 3);
    fixture.restart();
    fixture.record(ROOT, "s1", "four");
    fixture.catch_up();
    assert_eq!(fixture.text("s1").lines().count(), 4);
    fixture.check(ROOT, "s1");
}

#[test]
fn lines_lost_in_a_power_failure_are_rewritten() {
    let mut fixture = TranscriptFixture::new(StoreMode::PerProject);
    fixture.record(ROOT, "s1", "one");
    fixture.catch_up();
    fixture.record(ROOT, "s1", "two");
    fixture.record(ROOT, "s1", "three");
    fixture.transcripts.rebuild(&fixture.store(ROOT), None).unwrap();
    // The file has its length, but zeros where a page was never written.
    let mut bytes = std::fs::read(fixture.file(ROOT, "s1")).unwrap();
    let second = fixture.text("s1").lines().next().unwrap().len() + 1;
    bytes[second + 40..second + 90].fill(0);
    std::fs::write(fixture.file(ROOT, "s1"), &bytes).unwrap();
    fixture.restart();
    fixture.catch_up();
    let text = fixture.text("s1");
    assert_eq!(text.lines().count(), 4, "{text}");
    fixture.check(ROOT, "s1");
}

#[test]
fn foreign_lines_keep_their_numbers() {
    let mut fixture = TranscriptFixture::new(StoreMode::PerProject);
    fixture.record(ROOT, "s1", "one");
    fixture.catch_up();
    fixture.append_raw("s1", b"a note by hand\n{\"id\":\"e\\\"1\\\\\",\"again\":true}\n\nno end");
    fixture.record(ROOT, "s1", "two");
    fixture.catch_up();
    fixture.check(ROOT, "s1");
    let numbers = |fixture: &TranscriptFixture| {
        let events = fixture.events(ROOT, "s1");
        fixture
            .transcripts
            .find_lines(&fixture.store(ROOT), &events.iter().collect::<Vec<_>>())
            .unwrap()
    };
    assert_eq!(numbers(&fixture), [1, 6]);
    let line = |fixture: &TranscriptFixture, n| {
        fixture.transcripts.read_line(&fixture.store(ROOT), ROOT, &session("s1"), n).unwrap()
    };
    assert_eq!(line(&fixture, 2), SessionTranscriptLine::Foreign("a note by hand".into()));
    assert_eq!(line(&fixture, 5), SessionTranscriptLine::Foreign("no end".into()));
    assert_eq!(line(&fixture, 7), SessionTranscriptLine::Missing { lines: 6 });
    assert_eq!(line(&fixture, 0), SessionTranscriptLine::Missing { lines: 6 });
    // Also after a rebuild.
    let before = fixture.text("s1");
    let rebuilt = fixture.transcripts.rebuild(&fixture.store(ROOT), Some(ROOT)).unwrap();
    assert_eq!((rebuilt.files, rebuilt.changed, rebuilt.events, rebuilt.foreign), (1, 0, 2, 4));
    assert_eq!(fixture.text("s1"), before);
    assert_eq!(fixture.transcripts.rebuild(&fixture.store(ROOT), Some("/else")).unwrap().files, 0);
}

#[test]
fn a_missing_or_truncated_file_is_rebuilt() {
    type DamageFn = fn(&str) -> Option<String>;
    let damages: [DamageFn; 5] = [
        |_| None,
        |_| Some(String::new()),
        |text| Some(text.lines().take(2).map(|line| format!("{line}\n")).collect()),
        |text| Some(text.lines().skip(1).map(|line| format!("{line}\n")).collect()),
        |text| Some(text[..text.len() - 20].to_owned()),
    ];
    for (n, damage) in damages.into_iter().enumerate() {
        for is_new in [true, false] {
            let mut fixture = TranscriptFixture::new(StoreMode::PerProject);
            for text in ["one", "two", "three"] {
                fixture.record(ROOT, "s1", text);
            }
            fixture.catch_up();
            let whole = fixture.text("s1");
            let file = fixture.file(ROOT, "s1");
            match damage(&whole) {
                Some(text) => std::fs::write(&file, text).unwrap(),
                None => std::fs::remove_file(&file).unwrap(),
            }
            if is_new {
                fixture.restart();
            }
            // The damage is noticed when a line is read or more is written.
            if n % 2 == 0 {
                let there = fixture
                    .transcripts
                    .read_line(&fixture.store(ROOT), ROOT, &session("s1"), 3)
                    .unwrap();
                assert!(matches!(there, SessionTranscriptLine::Event(_)) || n == 4, "{there:?}");
            } else {
                fixture.record(ROOT, "s1", "four");
                fixture.catch_up();
            }
            fixture.check(ROOT, "s1");
            assert!(n == 4 || fixture.text("s1").starts_with(&whole), "damage {n}");
        }
    }
}

#[test]
fn a_session_in_two_projects_has_a_transcript_in_each() {
    for mode in [StoreMode::PerProject, StoreMode::Unified] {
        let mut fixture = TranscriptFixture::new(mode);
        let other = "/nowhere/other";
        for n in 0..3 {
            fixture.record(ROOT, "s1", &format!("here {n}"));
            fixture.record(other, "s1", &format!("there {n}"));
        }
        fixture.transcripts.write_new(&fixture.store(ROOT)).unwrap();
        fixture.transcripts.write_new(&fixture.store(other)).unwrap();
        fixture.check(ROOT, "s1");
        fixture.check(other, "s1");
        let lines = |fixture: &TranscriptFixture, root: &str| {
            std::fs::read_to_string(fixture.file(root, "s1")).unwrap().lines().count()
        };
        assert_eq!((lines(&fixture, ROOT), lines(&fixture, other)), (3, 3));
        // Events of the other project are not missing in this one.
        fixture.restart();
        let before = std::fs::metadata(fixture.file(ROOT, "s1")).unwrap().modified().unwrap();
        fixture.check(ROOT, "s1");
        let after = std::fs::metadata(fixture.file(ROOT, "s1")).unwrap().modified().unwrap();
        assert_eq!(before, after);
        let found = fixture.transcripts.find_session(&fixture.store(ROOT), "s1").unwrap();
        assert_eq!(found, Some(session("s1")));
    }
}

#[test]
fn an_unwritable_session_does_not_block_others() {
    let mut fixture = TranscriptFixture::new(StoreMode::PerProject);
    fixture.record(ROOT, "bad", "x");
    let file = fixture.file(ROOT, "bad");
    std::fs::create_dir_all(&file).unwrap();
    let error = fixture.transcripts.write_new(&fixture.store(ROOT)).unwrap_err().to_string();
    assert!(error.contains("messages.jsonl") && error.contains("move it away"), "{error}");
    fixture.record(ROOT, "good", "y");
    let copied = fixture.transcripts.write_new(&fixture.store(ROOT)).unwrap();
    assert_eq!((copied.events, copied.failed.len()), (2, 1));
    fixture.check(ROOT, "good");
    std::fs::remove_dir(&file).unwrap();
    fixture.record(ROOT, "bad", "z");
    fixture.catch_up();
    fixture.check(ROOT, "bad");
    assert_eq!(fixture.text("bad").lines().count(), 2);
}

#[test]
fn sessions_are_found_by_folder_name() {
    let mut fixture = TranscriptFixture::new(StoreMode::PerProject);
    let long = "x/".repeat(100);
    for name in ["plain-1", "a b", ".hidden", &long] {
        fixture.record(ROOT, name, "x");
        fixture.catch_up();
        let folder = fixture.file(ROOT, name).parent().unwrap().file_name().unwrap().to_owned();
        let found =
            fixture.transcripts.find_session(&fixture.store(ROOT), folder.to_str().unwrap());
        assert_eq!(found.unwrap(), Some(session(name)));
    }
    let line =
        fixture.transcripts.read_line(&fixture.store(ROOT), ROOT, &session("nobody"), 1).unwrap();
    assert_eq!(line, SessionTranscriptLine::Missing { lines: 0 });
    assert!(!fixture.file(ROOT, "nobody").parent().unwrap().exists(), "reading creates nothing");
    for unknown in ["nobody", "..", "~a%20c", "", "a/b"] {
        let found = fixture.transcripts.find_session(&fixture.store(ROOT), unknown).unwrap();
        assert_eq!(found, None);
    }
}

/// An operation on the files of two sessions.
#[derive(Debug, Clone)]
enum Step {
    Record(u8, String),
    CatchUp,
    Restart,
    /// Written, but the cursor did not move.
    RebuildOnly,
    AppendRaw(u8, String),
    CutAt(u8, prop::sample::Index),
    Delete(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let text = || "[a{}\"\\\\\n]{0,6}";
    prop_oneof![
        6 => (0u8..2, text()).prop_map(|(of, text)| Step::Record(of, text)),
        4 => Just(Step::CatchUp),
        2 => Just(Step::Restart),
        2 => Just(Step::RebuildOnly),
        2 => (0u8..2, text()).prop_map(|(of, text)| Step::AppendRaw(of, text)),
        2 => (0u8..2, any::<prop::sample::Index>()).prop_map(|(of, at)| Step::CutAt(of, at)),
        1 => (0u8..2).prop_map(Step::Delete),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[test]
    fn every_event_is_stored_exactly_once_despite_damage(steps in proptest::collection::vec(step(), 1..24)) {
        let mut fixture = TranscriptFixture::new(StoreMode::PerProject);
        let name = |of: u8| format!("s{of}");
        fixture.record(ROOT, "s0", "x");
        fixture.record(ROOT, "s1", "x");
        fixture.catch_up();
        for step in steps {
            match step {
                Step::Record(of, text) => fixture.record(ROOT, &name(of), &text),
                Step::CatchUp => fixture.catch_up(),
                Step::Restart => fixture.restart(),
                Step::RebuildOnly => { fixture.transcripts.rebuild(&fixture.store(ROOT), None).unwrap(); }
                Step::AppendRaw(of, text) => if fixture.file(ROOT, &name(of)).exists() {
                    fixture.append_raw(&name(of), text.as_bytes());
                },
                Step::CutAt(of, at) => if let Ok(bytes) = std::fs::read(fixture.file(ROOT, &name(of))) {
                    let keep = at.index(bytes.len() + 1);
                    std::fs::write(fixture.file(ROOT, &name(of)), &bytes[..keep]).unwrap();
                },
                Step::Delete(of) => { let _ = std::fs::remove_file(fixture.file(ROOT, &name(of))); }
            }
        }
        fixture.restart();
        fixture.record(ROOT, "s0", "y");
        fixture.record(ROOT, "s1", "y");
        fixture.catch_up();
        fixture.check(ROOT, "s0");
        fixture.check(ROOT, "s1");
    }
}
