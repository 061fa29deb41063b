//! Opening citations: every kind, and advice where there is nothing to open.

use std::sync::Arc;

use serde_json::json;
use tome_contents::LocatedNode;
use tome_home::HomeError;
use tome_model::{Event, InvalidInput, Scope};
use tome_recall::{Citation, Citations, CitedContent, OpenedCitation, Viewpoint};

use crate::contents::lexer_session;
use crate::engine_fixture::{EngineFixture, MORNING_MS, ROOT};

/// Two sessions of the project, the second one newer, and one in another project.
fn recorded() -> EngineFixture {
    let fixture = EngineFixture::new();
    fixture.ingest([
        json!({"id": "e1", "text": "one"}),
        json!({"id": "e2", "text": "two words", "at": MORNING_MS + 1}),
        json!({"id": "n1", "session_id": "new/er", "text": "newest", "at": MORNING_MS + 9}),
        json!({"id": "o1", "cwd": "/other", "session_id": "far", "text": "elsewhere"}),
    ]);
    fixture
}

fn open_from(
    fixture: &EngineFixture,
    (project, session): (Option<&str>, Option<&str>),
    citation: &str,
) -> Result<OpenedCitation, HomeError> {
    let engine = &fixture.engine;
    let (notebooks, contents) = (Arc::clone(engine.notebooks()), Arc::clone(engine.contents()));
    let citations = Citations::new(notebooks, contents, Arc::clone(engine.transcripts()));
    let citation: Citation = citation.parse().map_err(|error: InvalidInput| error)?;
    let viewpoint =
        Viewpoint { project: project.map(str::to_owned), session: session.map(str::to_owned) };
    citations.open(&citation, &viewpoint)
}

fn open(
    fixture: &EngineFixture,
    session: Option<&str>,
    citation: &str,
) -> Result<OpenedCitation, HomeError> {
    open_from(fixture, (Some(ROOT), session), citation)
}

fn cited_event(opened: OpenedCitation) -> Event {
    match opened.content {
        CitedContent::Event(event) => *event,
        other => panic!("no event: {other:?}"),
    }
}

#[test]
fn a_line_of_another_session_or_project_opens() {
    let fixture = recorded();
    let event = cited_event(open(&fixture, None, "sessions/s1/messages.jsonl#L1").unwrap());
    assert_eq!(event.id.as_str(), "e1");
    let escaped = "sessions/~new%2Fer/messages.jsonl#L1";
    let event = cited_event(open(&fixture, Some("s1"), escaped).unwrap());
    assert_eq!((event.id.as_str(), event.session.as_str()), ("n1", "new/er"));
    let far = "projects/--other--/sessions/far/messages.jsonl#L1";
    // Also from an unrelated folder.
    for project in [Some(ROOT), None] {
        let event = cited_event(open_from(&fixture, (project, None), far).unwrap());
        assert_eq!(event.text, "elsewhere");
    }
}

/// The first of the shown lines, the lines, and the number of lines in the note.
fn shown_lines(opened: OpenedCitation) -> (u32, Vec<String>, u32) {
    match opened.content {
        CitedContent::Lines { first, lines, total } => (first, lines, total),
        other => panic!("no lines: {other:?}"),
    }
}

#[test]
fn notes_open_at_the_cited_line() {
    let fixture = recorded();
    let twenty: String = (1..=20).map(|n| format!("- point {n}\n")).collect();
    fixture.write_note(Scope::Project, "plan.md", &twenty);
    fixture.write_note(Scope::Coder, "semantic/rust.md", &twenty);
    let detail = json!({"path": "detail/design.md", "content": twenty, "scope": "session"});
    assert_eq!(fixture.call_tool("memory_write", &detail).failure, None);
    for citation in ["memory/plan.md", "sessions/s1/detail/design.md", "coder/semantic/rust.md"] {
        let whole = open(&fixture, None, citation).unwrap();
        assert_eq!(whole.line, None);
        let (first, _, total) = shown_lines(whole);
        assert_eq!(first, 1);
        let cited = open(&fixture, None, &format!("{citation}#L{}", total - 5)).unwrap();
        assert_eq!(cited.line, Some(total - 5));
        let (first, lines, _) = shown_lines(cited);
        assert_eq!((first, lines.len()), (total - 8, 9), "{lines:?}");
        assert_eq!(lines[3], "- point 15");
        let behind = open(&fixture, None, &format!("{citation}#L{}", total + 1)).unwrap_err();
        assert!(matches!(behind, HomeError::NotFound(_)), "{behind:?}");
        assert!(behind.to_string().contains("lines, not"), "{behind}");
    }
    let short = open(&fixture, Some("s1"), "detail/design.md#L1").unwrap();
    assert_eq!(short.session.unwrap().as_str(), "s1");
    let overview = open(&fixture, Some("s1"), "overview.md#L3").unwrap();
    assert_eq!(shown_lines(overview).1[2], "## Current Task");
    let far = open_from(&fixture, (None, None), "projects/--app--/memory/plan.md#L2").unwrap();
    assert_eq!(far.project, ROOT);
}

#[test]
fn nodes_and_their_sources_open_with_or_without_a_project() {
    let fixture = EngineFixture::new();
    fixture.ingest(lexer_session("s1", 0));
    let day = "toc:day:2026-03-15";
    let nodes = |citation: &str| -> Vec<LocatedNode> {
        match open(&fixture, None, citation).unwrap().content {
            CitedContent::Nodes(nodes) => nodes,
            other => panic!("no nodes: {other:?}"),
        }
    };
    let node = nodes(day).remove(0).node;
    assert_eq!(node.id.as_str(), day);
    let grip = node.bullets[0].grips[0].as_str().to_owned();
    let near = open(&fixture, None, &grip).unwrap().content;
    assert!(matches!(&near, CitedContent::Grip(found) if found.grip.id.as_str() == grip));
    let far = open(&fixture, None, &format!("projects/--app--/{grip}")).unwrap().content;
    assert_eq!(near, far);
    assert_eq!(nodes(&format!("projects/--app--/{day}"))[0].node.id.as_str(), day);
    let unknown = open(&fixture, None, &format!("projects/--nobody--/{day}")).unwrap_err();
    assert!(matches!(unknown, HomeError::NotFound(_)), "{unknown:?}");
    assert!(unknown.to_string().contains("--nobody--"), "{unknown}");
}

#[test]
fn an_unopenable_citation_explains_the_remedy() {
    let fixture = recorded();
    for (session, citation, words) in [
        (Some("s1"), "messages.jsonl#L9", "has 2 lines, not 9"),
        (Some("nobody"), "messages.jsonl#L1", "no session nobody"),
        (Some("nobody"), "messages.jsonl#L1", "tome events"),
        (None, "sessions/nobody/overview.md", "no session nobody"),
        (None, "sessions/~~00ff/messages.jsonl#L1", "no session in sessions/~~00ff"),
        (Some("s1"), "detail/none.md#L1", "detail/none.md"),
        (None, "memory/none.md#L1", "none.md"),
        (None, "projects/--nobody--/memory/x.md", "projects/--nobody--"),
    ] {
        let error = open(&fixture, session, citation).unwrap_err();
        assert!(is_not_found(&error), "{citation}: {error:?}");
        assert!(error.explained().contains(words), "{citation}: {}", error.explained());
    }
    for (session, citation, words) in [
        (None, "messages.jsonl", "say which line"),
        (None, "memory/../../etc/passwd.md", "has to name a note"),
        (None, "memory/.history/history.md#L1", ".history"),
        (None, "sessions/s1/../../project.toml", "a session has"),
    ] {
        let error = open(&fixture, session, citation).unwrap_err();
        assert!(!is_not_found(&error), "{citation}: {error:?}");
        assert!(error.explained().contains(words), "{citation}: {}", error.explained());
    }
    let nobody = fixture.project().join("sessions/nobody");
    assert!(!nobody.exists(), "asking makes nothing");
}

fn is_not_found(error: &HomeError) -> bool {
    let missing_note = |error: &HomeError| {
        matches!(error, HomeError::Notebook(tome_notebook::NotebookError::NotFound { .. }))
    };
    matches!(error, HomeError::NotFound(_)) || missing_note(error)
}
