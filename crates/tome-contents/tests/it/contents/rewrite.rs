//! Model-written summaries of closed nodes.

use tome_contents::{
    NodeSource, ProjectNode, RewriteOutcome, list_nodes_to_rewrite, load_source, rebuild_contents,
    rewrite_summary,
};

use super::memory::Memory;
use super::*;

const EVENTS: &str = "s1 2026-03-02T09:00:00Z parser
     s1 2026-03-02T09:10:00Z bye
     s2 2026-03-03T10:00:00Z lexer";

fn summary(title: &str, support: Support) -> Summary {
    let bullets = vec![SummaryBullet { text: title.into(), support }];
    Summary { title: title.into(), bullets, keywords: vec!["k".into()], work: Vec::new() }
}

fn rewrite(ledger: &Ledger, found: &ProjectNode, title: &str) -> RewriteOutcome {
    let source = load_source(ledger, &settings(), found).unwrap().unwrap();
    let support = match &source {
        NodeSource::Segment { events, .. } => {
            let excerpt = events[0].text.clone();
            Support::Excerpts(vec![Evidence { event: 0, excerpt }])
        }
        NodeSource::Period { .. } => Support::Bullets(vec![(0, 0)]),
    };
    let summary = summary(title, support);
    rewrite_summary(ledger, found, &source, summary, "model", Millis(7)).unwrap()
}

fn listed(ledger: &Ledger) -> Vec<ProjectNode> {
    let mut nodes = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = list_nodes_to_rewrite(ledger, after.as_deref(), 1).unwrap();
        nodes.extend(page.nodes);
        after = page.more_after;
        if after.is_none() {
            return nodes;
        }
    }
}

#[test]
fn closed_nodes_are_listed_bottom_up() {
    let ledger = Memory::default().open();
    record_events(&ledger, EVENTS);
    append(&ledger, "/other project", draft("x", "s9", at("2026-01-01T00:00:00Z"), "elsewhere"));
    catch_up(&ledger, &settings());
    let ids: Vec<_> =
        listed(&ledger).iter().map(|found| short(&found.node.id).to_owned()).collect();
    // The second day, everything above it, and the other project are open.
    assert_eq!(ids, ["toc:segment:2026-03-02", "toc:day:2026-03-02"]);
}

#[test]
fn a_model_summary_stays_until_the_events_change() {
    let ledger = Memory::default().open();
    record_events(&ledger, EVENTS);
    catch_up(&ledger, &settings());
    let before = latest(&ledger);
    for found in listed(&ledger) {
        assert_eq!(rewrite(&ledger, &found, "in other words"), RewriteOutcome::Version(2));
        // A second replacement is stale.
        assert_eq!(rewrite_again(&ledger, &found), RewriteOutcome::Stale);
    }
    assert!(listed(&ledger).is_empty());
    let day = id("toc:day:2026-03-02");
    let node = ledger.node(PROJECT, &day, None).unwrap().unwrap();
    assert_eq!((node.title.as_str(), node.summarizer.as_str()), ("in other words", "model"));
    assert!(!node.bullets[0].grips.is_empty() && !node.bullets[0].unsupported);

    // Events elsewhere and a rebuild leave it alone.
    record_events(&ledger, "s2 2026-03-03T10:05:00Z more");
    catch_up(&ledger, &settings());
    let rebuilt =
        rebuild_contents(&ledger, &settings(), &EchoSummarizer, &Ticking::default()).unwrap();
    assert_eq!((rebuilt.nodes, rebuilt.removed), (0, 0));
    assert_eq!(ledger.node(PROJECT, &day, None).unwrap().unwrap(), node);
    assert!(tome_contents::verify_contents(&ledger, &settings()).unwrap().is_ok());
    // The week is made of what happened, not of other words for it.
    let week = ledger.node(PROJECT, &id("toc:week:2026-W10"), None).unwrap().unwrap();
    assert!(week.title.contains("parser,bye") && !week.title.contains("other words"));

    // A late event on that day brings back a built-in summary, as a new version.
    record_events(&ledger, "s1 2026-03-02T09:05:00Z late");
    catch_up(&ledger, &settings());
    let head = ledger.node_header(PROJECT, &day).unwrap().unwrap();
    assert_eq!((head.version, head.base), (3, 3));
    assert!(head.title.contains("parser,late,bye"), "{}", head.title);
    assert_eq!(ledger.node(PROJECT, &day, Some(2)).unwrap().unwrap(), node);
    assert_eq!(before.len(), latest(&ledger).len());
}

fn rewrite_again(ledger: &Ledger, seen: &ProjectNode) -> RewriteOutcome {
    rewrite(ledger, seen, "yet other words")
}

#[test]
fn open_or_changed_nodes_are_not_rewritten() {
    let ledger = Memory::default().open();
    record_events(&ledger, EVENTS);
    catch_up(&ledger, &settings());
    let open = ledger.node(PROJECT, &id("toc:day:2026-03-03"), None).unwrap().unwrap();
    let open = ProjectNode { project: PROJECT.into(), node: open };
    assert_eq!(rewrite(&ledger, &open, "too early"), RewriteOutcome::Stale);
    let seen = listed(&ledger).remove(0);
    let source = load_source(&ledger, &settings(), &seen).unwrap().unwrap();
    record_events(&ledger, "s1 2026-03-02T09:05:00Z late");
    catch_up(&ledger, &settings());
    let summary = summary("too late", Support::Excerpts(Vec::new()));
    let rewritten = rewrite_summary(&ledger, &seen, &source, summary, "model", Millis(7)).unwrap();
    assert_eq!(rewritten, RewriteOutcome::Stale);
    assert_eq!(load_source(&ledger, &settings(), &seen).unwrap(), None);
}
