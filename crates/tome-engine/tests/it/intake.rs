//! What is taken in, and who holds a store meanwhile.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use tome_engine::{Intake, Sealer};
use tome_home::{Home, StoreMode, Stores};
use tome_ledger::Engine;
use tome_model::{Clock, EventLine, Millis, SystemClock};
use tome_redact::Redactor;

fn said(id: &str) -> EventLine {
    EventLine {
        id: Some(id.into()),
        at: Millis(1_000_000),
        session_id: "s1".into(),
        agent: "codex".into(),
        cwd: "/nowhere/app".into(),
        kind: "user_message".into(),
        text: "hello".into(),
        ..EventLine::default()
    }
}

#[test]
fn whoever_has_the_answer_can_close_the_store_and_open_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let open = || {
        let home = Home::at(folder.path());
        let mode = StoreMode::PerProject;
        let stores = Arc::new(Stores::new(home, mode, Engine::DEFAULT, Arc::clone(&clock)));
        let sealer = Sealer::new(Redactor::new(&[]).unwrap(), 65_536);
        Intake::new(sealer, stores, Arc::clone(&clock))
    };
    let intake = open();
    let (done, answers) = mpsc::channel();
    // The one who answers is slow to end: whatever it still holds then, it holds for long.
    intake.submit(intake.prepare(vec![said("one").into_draft().unwrap()]), move |stored| {
        done.send(stored).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    });
    assert!(answers.recv().unwrap().iter().all(Result::is_ok));
    drop(intake);
    let stored = open().ingest(vec![said("two").into_draft().unwrap()]);
    assert!(stored.iter().all(Result::is_ok), "{stored:?}");
}
