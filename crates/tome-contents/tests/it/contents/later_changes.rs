//! Which later turn changed what a page tells.

use std::sync::Arc;

use tome_contents::{Contents, Extractive};
use tome_home::{Home, StoreMode, Stores};
use tome_ledger::StorageEngine;
use tome_model::Tool;

use super::*;

/// A session of turns: a time, a prompt, a file that is edited and an answer.
struct SessionFixture {
    _folder: tempfile::TempDir,
    contents: Contents,
}

fn session_fixture(turns: &[(&str, &str, &str, &str)]) -> SessionFixture {
    let folder = tempfile::tempdir().unwrap();
    let clock: Arc<Ticking> = Arc::default();
    let home = Home::at(folder.path());
    let stores = Stores::new(home, StoreMode::PerProject, StorageEngine::DEFAULT, clock.clone());
    let store = stores.open_project(PROJECT).unwrap();
    for (turn, (time, prompt, file, answer)) in turns.iter().enumerate() {
        let minute = |minute: u64| Millis(at(time).0 + minute * 60_000);
        let mut asked = draft(&format!("p{turn}"), "s1", minute(0), prompt);
        asked.kind = EventKind::UserMessage;
        let mut edited = draft(&format!("e{turn}"), "s1", minute(1), "");
        (edited.kind, edited.role) = (EventKind::ToolResult, Role::Tool);
        edited.tool = Some(Tool {
            name: "Edit".to_owned(),
            input: serde_json::json!({"file_path": file, "old_string": "a", "new_string": "b"}),
            output: serde_json::json!("The file has been updated."),
        });
        let mut answered = draft(&format!("a{turn}"), "s1", minute(2), answer);
        (answered.kind, answered.role) = (EventKind::AssistantMessage, Role::Assistant);
        for event in [asked, edited, answered] {
            append(&store, PROJECT, event);
        }
    }
    drop(store);
    let contents = Contents::new(
        Arc::new(stores),
        settings(),
        Arc::new(Extractive),
        Arc::new(Ticking::default()),
    );
    SessionFixture { _folder: folder, contents }
}

impl SessionFixture {
    /// The bullets of a day, each with the number of the turn that changed it.
    fn day(&self) -> Vec<(String, Option<u64>)> {
        let found = self.contents.find_node("toc:day:2026-03-02", None, None).unwrap().remove(0);
        assert_eq!(found.node.bullets.len(), found.evidence.len());
        let changes = found.evidence.into_iter().map(|one| Some(one.later_change?.number));
        found.node.bullets.into_iter().map(|bullet| bullet.text).zip(changes).collect()
    }

    fn conclusions(&self) -> Vec<String> {
        let page = self.contents.session_page("s1", None).unwrap();
        page.turns.into_iter().filter_map(|turn| turn.conclusion).collect()
    }
}

const FIRST: (&str, &str, &str, &str) = (
    "2026-03-02T09:00:00Z",
    "Give the toolbar an export button with a blue border",
    "src/toolbar.css",
    "The toolbar has an export button now: its blue border is 2 px wide, and its label no longer wraps.",
);

#[test]
fn a_later_turn_about_the_same_file_and_subject_is_named() {
    let fixture = session_fixture(&[
        FIRST,
        (
            "2026-03-02T11:00:00Z",
            "Round the border of the export button in the toolbar",
            "src/toolbar.css",
            "The corners of the button are rounded by 6 px, and its border is grey instead of blue.",
        ),
    ]);
    // Events are numbered from 1; the second prompt is the fourth one.
    let day = fixture.day();
    let first = day.iter().find(|(text, _)| text.contains("2 px")).unwrap();
    assert_eq!(first.1, Some(4), "{day:?}");
    let second = day.iter().find(|(text, _)| text.contains("6 px")).unwrap();
    assert_eq!(second.1, None, "{day:?}");
    let conclusions = fixture.conclusions();
    assert!(conclusions[0].ends_with(" (files changed again in turn 2)"), "{conclusions:?}");
    assert!(!conclusions[1].contains("changed again"), "{conclusions:?}");
}

#[test]
fn a_later_turn_about_something_else_or_in_another_file_is_not_named() {
    let other_subject = (
        "2026-03-02T11:00:00Z",
        "Translate the menu into French",
        "src/toolbar.css",
        "All 14 entries of the menu are translated into French, with accents in the stylesheet.",
    );
    let other_file = (
        "2026-03-02T13:00:00Z",
        "Describe the border of the export button in the manual",
        "docs/manual.md",
        "The manual describes the export button and its border in a section of its own.",
    );
    let fixture = session_fixture(&[FIRST, other_subject, other_file]);
    let day = fixture.day();
    assert!(day.iter().any(|(text, _)| text.contains("2 px")), "{day:?}");
    assert!(day.iter().all(|(_, changed)| changed.is_none()), "{day:?}");
    assert!(fixture.conclusions().iter().all(|text| !text.contains("changed again")));
}
