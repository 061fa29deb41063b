//! Ingesting events, and releasing a store afterwards.

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
fn after_the_reply_a_store_can_be_closed_and_reopened() {
    let folder = tome_testkit::temporary_folder();
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
    // The callback is slow: whatever it still holds, it holds for a while.
    intake.submit(intake.prepare(vec![said("one").into_draft().unwrap()]), move |stored| {
        done.send(stored).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    });
    assert!(answers.recv().unwrap().iter().all(Result::is_ok));
    drop(intake);
    let stored = open().ingest(vec![said("two").into_draft().unwrap()]);
    assert!(stored.iter().all(Result::is_ok), "{stored:?}");
}
