//! Notes, found as they are on disk.

use std::path::Path;
use std::sync::Arc;

use expect_test::{Expect, expect};
use tome_finder::{Filter, Key, Source};
use tome_model::{Millis, Scope};
use tome_notebook::Notebook;

use super::super::{Hunt, Needle, Owner, Scan, scan_notebook};
use super::{Still, filtered, hunted, shown};

struct Notes {
    folder: tempfile::TempDir,
    notebook: Notebook,
}

const OWNER: Owner<'static> = Owner { project: "/app", session: "" };

impl Notes {
    fn new(scope: Scope) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let notebook = Notebook::at(scope, folder.path(), Arc::new(Still));
        Self { folder, notebook }
    }

    /// With an editor, past the notebook.
    fn save(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).unwrap();
        #[allow(clippy::disallowed_methods)]
        std::fs::write(path, text).unwrap();
    }

    fn scan(&self, query: &str) -> Scan {
        hunted(query, 10, |hunt| scan_notebook(&self.notebook, OWNER, hunt).unwrap())
    }

    fn check(&self, query: &str, expected: &Expect) {
        let scan = self.scan(query);
        let lines: Vec<String> = scan
            .seen
            .iter()
            .map(|seen| {
                let Key::Named(path) = &seen.key else { panic!("{:?}", seen.key) };
                format!("{path}#L{} [{}] {}", seen.line, seen.title, seen.snippet)
            })
            .collect();
        expected.assert_eq(&lines.join("\n"));
    }
}

#[test]
fn a_hand_edit_is_found_at_once() {
    let notes = Notes::new(Scope::Project);
    assert_eq!(notes.scan("jwt"), Scan::default());
    notes.save("auth.md", "---\nname: Auth\ndescription: How people sign in\n---\n\n# Login\n\nby cookie\n\n## Tokens\n\nfirst\nrotate the JWT\n");
    notes.check(
        "jwt",
        &expect!["auth.md#L13 [Auth › Login › Tokens] ## Tokens first rotate the JWT"],
    );
    notes.save("auth.md", "# Login\nby cookie, no longer with a JWT");
    notes.check(
        "jwt",
        &expect!["auth.md#L2 [auth › Login] # Login by cookie, no longer with a JWT"],
    );
    std::fs::remove_file(notes.folder.path().join("auth.md")).unwrap();
    assert!(notes.scan("jwt").seen.is_empty());
}

#[test]
fn what_a_note_says_of_itself_finds_it_once() {
    let notes = Notes::new(Scope::Project);
    notes.save(
        "prefs.md",
        "---\nname: Editor\ndescription: Solarized theme, tabs\ntype: user\n---\n\nfirst\n\n# A\n\nsecond\n\n# B\nthird\n",
    );
    notes.check("solarized", &expect!["prefs.md#L3 [Editor] description: Solarized theme, tabs"]);
    notes.check("prefs", &expect!["prefs.md#L1 [Editor] Editor Solarized theme, tabs"]);
    notes.check(
        "editor third",
        &expect![[r#"
        prefs.md#L14 [Editor › B] # B third
        prefs.md#L2 [Editor] name: Editor"#]],
    );
    assert!(notes.scan("type").seen.is_empty(), "a key is no text");
}

#[test]
fn the_keywords_of_a_detail_find_it() {
    let notes = Notes::new(Scope::Session);
    notes.save(
        "detail/auth.md",
        "# Design\n\n<!--\nMETA:\n- created: 2026-01-15T10:30:00Z\n- keywords: [\"oauth\", \"pkce\"]\n-->\n\nby code\n",
    );
    notes.save("overview.md", "# Working Memory\n\n## Current Task\nport it to PKCE\n");
    notes.check(
        "pkce",
        &expect![[r##"
            overview.md#L4 [Working Memory › Current Task] # Working Memory ## Current Task port it to PKCE
            detail/auth.md#L6 [Design] - keywords: ["oauth", "pkce"]"##]],
    );
    let scan = notes.scan("pkce");
    assert!(scan.seen.iter().all(|seen| seen.source == Source::Detail && seen.at > Millis(0)));
    assert!(notes.scan("created").seen.is_empty());
}

#[test]
fn every_line_that_is_named_holds_the_match() {
    let notes = Notes::new(Scope::Project);
    for n in 0..60 {
        let filler = "some words of no use\n".repeat(n % 50);
        notes.save(
            &format!("n{n}.md"),
            format!("# Note {n}\r\n\r\n{filler}the Needle é {n}\r\n{filler}"),
        );
    }
    let scan = hunted("needle é", 50, |hunt| scan_notebook(&notes.notebook, OWNER, hunt).unwrap());
    assert_eq!((scan.seen.len(), scan.matched, scan.looked), (50, 60, 60));
    for seen in &scan.seen {
        let Key::Named(path) = &seen.key else { panic!() };
        let text = notes.notebook.read(path).unwrap().text;
        let line = text.lines().nth(seen.line as usize - 1).unwrap();
        assert!(line.contains("the Needle é"), "{line}");
        assert!(seen.snippet.contains("Needle é") && seen.snippet.chars().count() <= 300);
        assert_eq!(&text[seen.part.from as usize..seen.part.to as usize], "Needle é");
    }
}

#[test]
fn limits_filters_and_what_cannot_be_read() {
    let notes = Notes::new(Scope::Project);
    notes.save("a.md", "the needle");
    notes.save("b.md", "a needle here");
    notes.save("broken.md", b"\xff\xfe needle");
    let scan = notes.scan("needle");
    assert_eq!((scan.seen.len(), scan.unread.len()), (2, 1), "{:?}", scan.unread);
    assert!(scan.unread[0].contains("broken.md"));
    for (limit, kept) in [(0, 0), (1, 1), (usize::MAX, 2)] {
        let scan =
            hunted("needle", limit, |hunt| scan_notebook(&notes.notebook, OWNER, hunt).unwrap());
        assert_eq!((scan.seen.len(), scan.matched), (kept, 2));
    }
    for (filter, kept) in [
        (Filter { project: Some("/app".into()), ..Filter::default() }, 2),
        (Filter { project: Some("/other".into()), ..Filter::default() }, 0),
        (Filter { sources: vec![Source::Note], ..Filter::default() }, 2),
        (Filter { sources: vec![Source::Event], ..Filter::default() }, 0),
        (Filter { agents: vec!["codex".into()], ..Filter::default() }, 0),
        (Filter { kinds: vec!["user_message".into()], ..Filter::default() }, 0),
        (Filter { until: Some(Millis(1)), ..Filter::default() }, 0),
        (Filter { since: Some(Millis(1)), ..Filter::default() }, 2),
    ] {
        let scan = filtered("needle", 5, &filter, |hunt| {
            scan_notebook(&notes.notebook, OWNER, hunt).unwrap()
        });
        assert_eq!(scan.seen.len(), kept, "{filter:?}");
    }
    let needle = Needle::new("needle");
    let hunt = Hunt { needle: &needle, filter: &Filter::default(), limit: 5, stop: &|| true };
    let scan = scan_notebook(&notes.notebook, OWNER, hunt).unwrap();
    assert_eq!((scan.cut, scan.looked), (true, 0));
    assert_eq!(shown(&scan), []);
}

#[test]
fn the_sources_follow_the_notebook() {
    let coder = Notes::new(Scope::Coder);
    coder.save("semantic/rust.md", "# Rust\n\n## Borrowing\nclone the needle\n");
    let scan = coder.scan("needle");
    assert_eq!(scan.seen.len(), 1);
    assert_eq!(scan.seen[0].source, Source::Insight);
}
