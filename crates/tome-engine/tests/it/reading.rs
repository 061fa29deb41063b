//! In and back: several projects, one question.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tome_engine::{Home, Intake, Question, Redactor, Sealer, StoreMode, Stores, catch_up};
use tome_ledger::Outcome;
use tome_model::{Clock, Draft, EventLine, Millis};

/// A clock that moves one millisecond each time it is looked at.
#[derive(Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Millis {
        Millis(1_000_000 + self.0.fetch_add(1, Ordering::SeqCst))
    }
}

struct Scene {
    _folder: tempfile::TempDir,
    stores: Arc<Stores>,
    intake: Intake,
}

fn scene(mode: StoreMode) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(Ticking::default());
    let stores = Arc::new(Stores::new(
        Home::at(folder.path()),
        mode,
        Arc::clone(&clock),
    ));
    let sealer = Sealer::new(Redactor::new(&[]).unwrap(), 65_536);
    Scene {
        _folder: folder,
        intake: Intake::new(sealer, Arc::clone(&stores), clock),
        stores,
    }
}

fn draft(cwd: &str, at: u64) -> Draft {
    let line = EventLine {
        at: Millis(at),
        session_id: format!("s{cwd}"),
        agent: "codex".into(),
        cwd: cwd.into(),
        kind: "user_message".into(),
        text: format!("{at} in {cwd}"),
        ..EventLine::default()
    };
    line.into_draft().unwrap()
}

fn texts(scene: &Scene, question: &Question) -> Vec<String> {
    let answer = scene.stores.read(question).unwrap();
    answer.events.into_iter().map(|event| event.text).collect()
}

fn everything() -> Question {
    Question {
        events_max: 1_000,
        bytes_max: usize::MAX,
        ..Question::default()
    }
}

#[test]
fn projects_are_merged_by_when_it_happened() {
    for mode in [StoreMode::PerProject, StoreMode::Unified] {
        let scene = scene(mode);
        let drafts = vec![
            draft("/nowhere/a", 30),
            draft("/nowhere/b", 20),
            draft("/nowhere/a", 10),
        ];
        assert!(scene.intake.ingest(drafts.clone()).iter().all(|one| {
            one.as_ref()
                .is_ok_and(|appended| appended.outcome == Outcome::Stored)
        }));
        assert!(scene.intake.ingest(drafts).iter().all(|one| {
            one.as_ref()
                .is_ok_and(|appended| appended.outcome == Outcome::Duplicate)
        }));
        let all = ["10 in /nowhere/a", "20 in /nowhere/b", "30 in /nowhere/a"];
        assert_eq!(texts(&scene, &everything()), all);
        let newest = Question {
            newest_first: true,
            ..everything()
        };
        assert_eq!(texts(&scene, &newest), [all[2], all[1], all[0]]);
        let one = Question {
            project: Some("/nowhere/b".into()),
            ..everything()
        };
        assert_eq!(texts(&scene, &one), [all[1]]);
        let range = Question {
            from: Some(Millis(20)),
            to: Some(Millis(30)),
            ..everything()
        };
        assert_eq!(texts(&scene, &range), [all[1]]);
    }
}

#[test]
fn pages_add_up_to_the_whole_in_both_directions() {
    let scene = scene(StoreMode::PerProject);
    let cwds = ["/nowhere/a", "/nowhere/b", "/nowhere/c"];
    // Several at the same moment, so that only the id tells them apart.
    let drafts = (0..60)
        .map(|n| draft(cwds[n % 3], (n / 6) as u64))
        .collect();
    scene.intake.ingest(drafts);
    for newest_first in [false, true] {
        let whole = texts(
            &scene,
            &Question {
                newest_first,
                ..everything()
            },
        );
        let mut paged = Vec::new();
        let mut question = Question {
            newest_first,
            events_max: 7,
            bytes_max: usize::MAX,
            ..Question::default()
        };
        loop {
            let answer = scene.stores.read(&question).unwrap();
            paged.extend(answer.events.into_iter().map(|event| event.text));
            match answer.more_after {
                Some(after) => question.after = Some(after),
                None => break,
            }
        }
        assert_eq!(paged, whole);
    }
}

#[test]
fn a_session_is_counted_once_however_often_the_worker_runs() {
    let scene = scene(StoreMode::PerProject);
    scene
        .intake
        .ingest((0..5).map(|at| draft("/nowhere/a", at)).collect());
    let store = scene.stores.of_project("/nowhere/a").unwrap();
    assert_eq!(catch_up(&store).unwrap(), 5);
    assert_eq!(catch_up(&store).unwrap(), 0);
    scene.intake.ingest(vec![draft("/nowhere/a", 9)]);
    assert_eq!(catch_up(&store).unwrap(), 1);
    let tallies = store.session_tallies().unwrap();
    assert_eq!(tallies.len(), 1);
    assert_eq!(
        (tallies[0].events, tallies[0].first_at, tallies[0].last_at),
        (6, Millis(0), Millis(9))
    );
}

#[test]
fn a_store_that_nobody_uses_is_closed_and_opens_again() {
    let scene = scene(StoreMode::PerProject);
    scene.intake.ingest(vec![draft("/nowhere/a", 1)]);
    assert_eq!(scene.stores.open_now().len(), 1);
    let held = scene.stores.of_project("/nowhere/a").unwrap();
    assert_eq!(scene.stores.close_idle(0), 0);
    drop(held);
    assert_eq!(scene.stores.close_idle(0), 1);
    assert!(scene.stores.open_now().is_empty());
    assert_eq!(texts(&scene, &everything()), ["1 in /nowhere/a"]);
}
