//! The facts of a session whose later segments change what earlier ones told.

use std::sync::Arc;

use serde_json::json;
use tome_contents::{Contents, Extractive, SessionListing, SessionPage, SessionQuery};
use tome_home::{Home, StoreMode, Stores};
use tome_ledger::StorageEngine;
use tome_model::{FactKind, Tool};

use super::*;

const ROOT: &str = "/nowhere/app";

struct SessionFixture {
    _folder: tempfile::TempDir,
    contents: Contents,
}

impl SessionFixture {
    /// Records a session: at each time a command with its output, or a prompt without.
    fn record(steps: &[(&str, &str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(Ticking::default());
        let home = Home::at(folder.path());
        let stores = Stores::new(home, StoreMode::PerProject, StorageEngine::DEFAULT, clock);
        let store = stores.open_project(ROOT).unwrap();
        for (n, (time, text, output)) in steps.iter().enumerate() {
            let time = at(&format!("2026-03-02T{time}:00Z"));
            let mut step = draft(&format!("e{n}"), "s1", time, text);
            ROOT.clone_into(&mut step.cwd);
            let branch = if *output == "On branch main" { "main" } else { "uploads" };
            step.meta.insert("branch".into(), json!(branch));
            if !output.is_empty() {
                step.kind = EventKind::ToolResult;
                step.role = Role::Tool;
                let output = json!({"stdout": output, "stderr": ""});
                let input = json!({"command": std::mem::take(&mut step.text)});
                step.tool = Some(Tool { name: "Bash".to_owned(), input, output });
            }
            append(&store, ROOT, step);
        }
        drop(store);
        let clock = Arc::new(Ticking::default());
        let contents = Contents::new(Arc::new(stores), settings(), Arc::new(Extractive), clock);
        Self { contents, _folder: folder }
    }

    fn listing(&self) -> SessionListing {
        let query = SessionQuery { sessions_max: 5, with_facts: true, ..SessionQuery::default() };
        self.contents.session_page("s1", None).unwrap();
        self.contents.list_sessions(&query).unwrap().sessions.remove(0)
    }

    fn page(&self) -> SessionPage {
        self.contents.session_page("s1", None).unwrap()
    }

    /// The facts of a kind in the list and on the page, which have to be the same.
    #[track_caller]
    fn facts(&self, kind: FactKind) -> Vec<String> {
        let of_kind = |facts: Vec<tome_contents::SessionFact>| -> Vec<String> {
            facts.into_iter().filter(|fact| fact.kind == kind).map(|fact| fact.text).collect()
        };
        let listed = of_kind(self.listing().facts);
        assert_eq!(listed, of_kind(self.page().facts));
        listed
    }

    fn day(&self) -> String {
        let found = self.contents.find_node("toc:day:2026-03-02", None, None).unwrap().remove(0);
        let bullets: Vec<String> = found.node.bullets.into_iter().map(|one| one.text).collect();
        format!("{}\n{}", found.node.title, bullets.join("\n"))
    }
}

const ASKED: (&str, &str, &str) = ("09:00", "Send uploads in chunks of a megabyte", "");
const COMMITTED: (&str, &str, &str) =
    ("09:05", "git commit -am x", "[uploads 1a2b3c4] feat(upload)!: send chunks");

#[test]
fn a_commit_that_is_amended_hours_later_is_told_once() {
    let amended =
        ("11:05", "git commit --amend -m x", "[uploads 9f8e7d6] feat(upload): send chunks");
    let session = SessionFixture::record(&[
        ASKED,
        COMMITTED,
        ("11:00", "It breaks nothing, so drop the mark", ""),
        amended,
    ]);
    assert_eq!(session.facts(FactKind::Commit), ["feat(upload): send chunks (9f8e7d6)"]);
    assert_eq!(session.listing().title, "feat(upload): send chunks");
    assert_eq!((session.listing().commits, session.page().session.commits), (1, 1));
    assert!(!session.day().contains(")!"), "{}", session.day());
}

#[test]
fn a_commit_amended_under_its_subject_is_still_the_title() {
    let amended =
        ("11:05", "git commit --amend --no-edit", "[uploads 9f8e7d6] feat(upload)!: send chunks");
    let other = ("11:10", "git commit -am x", "[uploads 8e7d6c5] Close the file, then the socket");
    let asked = ("11:00", "Close the file before the socket", "");
    let session = SessionFixture::record(&[ASKED, COMMITTED, asked, amended, other]);
    assert_eq!(session.facts(FactKind::Commit).len(), 2);
    assert_eq!(session.listing().title, "feat(upload)!: send chunks");
}

#[test]
fn a_commit_that_is_reset_or_reverted_hours_later_is_not_told() {
    for undone in [
        ("11:05", "git reset --soft HEAD~1", "ok"),
        (
            "11:05",
            "git revert HEAD --no-edit",
            "[uploads 9f8e7d6] Revert \"feat(upload)!: send chunks\"",
        ),
    ] {
        let asked = ("11:00", "The server cannot read chunks yet, take them back", "");
        let session = SessionFixture::record(&[ASKED, COMMITTED, asked, undone]);
        let commits = session.facts(FactKind::Commit);
        assert!(commits.iter().all(|text| !text.starts_with("feat(upload)")), "{commits:?}");
        let (listing, page) = (session.listing(), session.page());
        assert_eq!(listing.title, page.session.title);
        assert!(!listing.title.starts_with("feat(upload)"), "{}", listing.title);
        assert!(!session.day().contains("feat(upload)!: send chunks\n"), "{}", session.day());
        assert_eq!(listing.commits, commits.len() as u64);
    }
}

const OPENED: (&str, &str, &str) = (
    "09:10",
    "gh pr create --title 'Send uploads in chunks' --body x",
    "https://forge.example/acme/app/pull/5",
);

#[test]
fn a_pull_request_is_listed_once_with_what_happened_to_it() {
    let viewed = ("11:01", "gh pr view 5 --json url", "https://forge.example/acme/app/pull/5");
    let renamed = (
        "11:02",
        "gh pr edit 5 --title 'Send large uploads in chunks'",
        "https://forge.example/acme/app/pull/5",
    );
    let other = ("11:03", "gh pr view 5 -R acme/lib", "https://forge.example/acme/lib/pull/5");
    let merged = ("11:04", "gh pr merge 5 --squash", "Merged pull request #5 (x)");
    let review = ("11:00", "Address the review of the pull request", "");
    let session = SessionFixture::record(&[ASKED, COMMITTED, OPENED, review, viewed, renamed]);
    let text = "Opened PR #5: Send large uploads in chunks";
    assert_eq!(session.facts(FactKind::PullRequest), [text]);
    assert_eq!(session.listing().title, "PR #5: Send large uploads in chunks");
    let session = SessionFixture::record(&[ASKED, COMMITTED, OPENED, review, other]);
    assert_eq!(
        session.facts(FactKind::PullRequest),
        ["Opened PR #5: Send uploads in chunks", "PR #5"]
    );
    let session = SessionFixture::record(&[ASKED, COMMITTED, OPENED, review, viewed, merged]);
    let told = session.facts(FactKind::PullRequest);
    assert!(matches!(told.as_slice(), [one] if one.ends_with(" (merged)")), "{told:?}");
}

#[test]
fn the_list_and_the_page_of_a_session_name_one_branch() {
    let mut steps = vec![ASKED, COMMITTED, ("11:00", "Go back to the main branch", "")];
    steps.push(("11:01", "git status", "On branch main"));
    let session = SessionFixture::record(&steps);
    assert_eq!(session.listing().branch, session.page().session.branch);
    assert_eq!(session.listing().branch.as_deref(), Some("uploads"));
}
