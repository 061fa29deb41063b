//! Parsing and rendering citations.

use proptest::prelude::*;
use tome_recall::{Citation, CitationTarget};

fn parse(text: &str) -> Result<Citation, String> {
    text.parse().map_err(|error: tome_model::InvalidInput| error.to_string())
}

#[test]
fn every_form_parses_and_renders_unchanged() {
    for text in [
        "messages.jsonl#L45",
        "detail/x.md#L10",
        "detail/a/b c.md",
        "overview.md",
        "overview.md#L3",
        "sessions/0198c3f2-7b1e/messages.jsonl#L1",
        "sessions/~a%2Fb/detail/x.md#L10",
        "sessions/s1/overview.md",
        "memory/MEMORY.md#L3",
        "memory/facts/deploy#L9.md#L4294967295",
        "memory/日本.md",
        "coder/semantic/rust.md#L3",
        "toc:day:2026-11-14",
        "toc:week:2026-W46",
        "grip:1794702485884:01M7F8NJE081NE5M6R663JJXQ2",
        "projects/--home-dev-app--/sessions/s1/messages.jsonl#L7",
        "projects/--home-dev my app--.1a2b3c4d/memory/x.md",
        "projects/--app--/toc:year:2026",
        "projects/--app--/grip:1794702485884:01M7F8NJE081NE5M6R663JJXQ2",
    ] {
        assert!(Citation::looks_like_citation(text));
        assert_eq!(parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn invalid_citations_are_rejected_with_advice() {
    for (text, advice) in [
        ("", "use one of #123, messages.jsonl#L45"),
        ("#0", "use one of"),
        ("#12x", "use one of"),
        ("messages.jsonl", "say which line, from 1"),
        ("messages.jsonl#L0", "say which line, from 1"),
        ("messages.jsonl#L045", "say which line, from 1"),
        ("messages.jsonl#L4294967296", "say which line, from 1"),
        ("messages.jsonl#L-1", "say which line, from 1"),
        ("messages.jsonl#L4 ", "say which line, from 1"),
        ("detail/x.md#L0", "counted from 1"),
        ("detail/x.md#L99999999999", "counted from 1"),
        ("detail/../../secret.md", "has to name a note"),
        ("memory//x.md", "has to name a note"),
        ("memory/", "has to name a note"),
        ("memory/a\0b.md", "has to name a note"),
        ("coder/..\\x.md", "has to name a note"),
        ("sessions/s1", "use one of"),
        ("sessions/../messages.jsonl#L1", "use one of"),
        ("sessions/s1/notes.md#L1", "a session has messages.jsonl"),
        (
            "projects/--app--/messages.jsonl#L1",
            "projects/--app--/sessions/<session>/messages.jsonl#L1",
        ),
        ("projects/--app--/coder/x.md", "use coder/x.md"),
        ("projects/--app--/projects/--app--/memory/x.md", "use one of"),
        ("toc:day:2026-02-30", "toc:"),
        ("/etc/passwd", "use one of"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(advice), "{text:?}: {error}");
    }
    assert!(!Citation::looks_like_citation("abcd1111"));
    assert!(!Citation::looks_like_citation("1234"), "digits may be the id of an event");
    assert!(Citation::looks_like_citation("#1234"));
}

fn citation_target() -> impl Strategy<Value = CitationTarget> {
    let session = || proptest::option::of("[a-z0-9~%._-]{1,12}x");
    let line = || 1..=u32::MAX;
    let path = || "[a-z#L0-9 日]{1,8}(/[a-z#L0-9]{1,5}){0,2}\\.md";
    prop_oneof![
        (session(), line()).prop_map(|(session, line)| CitationTarget::Message { session, line }),
        (session(), path(), proptest::option::of(line())).prop_map(|(session, path, line)| {
            CitationTarget::Detail { session, path: format!("detail/{path}"), line }
        }),
        (path(), proptest::option::of(line()))
            .prop_map(|(path, line)| CitationTarget::Note { path, line }),
        (path(), proptest::option::of(line()))
            .prop_map(|(path, line)| CitationTarget::Lesson { path, line }),
    ]
}

proptest! {
    #[test]
    fn rendered_citations_parse(target in citation_target(), project in proptest::option::of("--[a-z -]{1,9}--")) {
        let needs_session = matches!(&target, CitationTarget::Message { session: None, .. } | CitationTarget::Detail { session: None, .. } | CitationTarget::Lesson { .. });
        let citation = Citation { project: project.filter(|_| !needs_session), target };
        prop_assert_eq!(parse(&citation.to_string()), Ok(citation));
    }

    #[test]
    fn parsed_citations_render_unchanged(text in "(projects/|sessions/|memory/|coder/|detail/|messages.jsonl|overview.md|toc:|#L|[0-9a-z./~-]|\\PC){0,12}") {
        if let Ok(citation) = parse(&text) {
            prop_assert_eq!(citation.to_string(), text);
        }
    }
}
