//! The contents through the public API: a small set of events, a summarizer that echoes its input,
//! and the result.

mod catch_up;
mod determinism;
mod later_changes;
mod memory;
mod reading;
mod rewrite;
mod segments;
mod session_facts;
mod texts;
mod verify;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use tome_contents::{
    ContentsCatchUpReport, ContentsSettings, Evidence, RollupInput, SegmentInput, Summarizer,
    Summary, SummaryBullet, SummaryError, Support, catch_up_contents, event_texts,
};
pub(crate) use tome_ledger::{Ledger, NewEvent};
use tome_model::{
    Agent, Clock, Draft, Event, EventId, EventKind, Grip, Identity, Level, Millis, Node, NodeId,
    Role, SessionId, Zone,
};

pub(crate) const PROJECT: &str = "/home/dev/app";

/// A clock that advances one millisecond per call.
#[derive(Default)]
pub(crate) struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Millis {
        Millis(1_000_000 + self.0.fetch_add(1, Ordering::SeqCst))
    }
}

/// A summarizer that echoes its input, so that any difference shows.
pub(crate) struct EchoSummarizer;

impl Summarizer for EchoSummarizer {
    fn name(&self) -> &'static str {
        "extractive"
    }

    fn summarize_segment(&self, input: &SegmentInput<'_>) -> Result<Summary, SummaryError> {
        let texts = |events: &[Event]| {
            let texts: Vec<String> = events.iter().map(|event| event.text.clone()).collect();
            texts.join(",")
        };
        let mut title = texts(input.events);
        if !input.overlap.is_empty() {
            write!(title, " after {}", texts(input.overlap)).unwrap();
        }
        for around in [input.earlier_request, input.next_prompt].into_iter().flatten() {
            write!(title, " around {}", around.text).unwrap();
        }
        // The last ones, so that a growing segment needs other grips.
        let spoken = input.events.iter().enumerate().rev().take(2);
        let bullets = spoken.filter_map(|(event, one)| {
            let text: String = event_texts(one).next()?.chars().take(40).collect();
            let evidence = Evidence { event, excerpt: text.clone() };
            Some(SummaryBullet { text, support: Support::Excerpts(vec![evidence]) })
        });
        Ok(Summary {
            title,
            bullets: bullets.collect(),
            keywords: vec!["plain".into()],
            work: Vec::new(),
        })
    }

    fn summarize_period(&self, input: &RollupInput<'_>) -> Result<Summary, SummaryError> {
        let titles: Vec<&str> = input.children.iter().map(|child| child.title.as_str()).collect();
        let bullets = input.children.iter().enumerate().filter_map(|(index, child)| {
            let text = child.bullets.first()?.text.clone();
            Some(SummaryBullet { text, support: Support::Bullets(vec![(index, 0)]) })
        });
        Ok(Summary {
            title: format!("{}: {}", input.period, titles.join("; ")),
            bullets: bullets.take(5).collect(),
            keywords: Vec::new(),
            work: Vec::new(),
        })
    }
}

pub(crate) fn at(text: &str) -> Millis {
    Millis::parse("at", text).unwrap()
}

pub(crate) fn id(text: &str) -> NodeId {
    NodeId::parse(text).unwrap()
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::parse(name).unwrap()
}

pub(crate) fn draft(name: &str, session: &str, at: Millis, text: &str) -> Draft {
    Draft {
        identity: Identity::Fixed(EventId::parse(name).unwrap()),
        at,
        session: SessionId::parse(session).unwrap(),
        agent: Agent::parse("codex").unwrap(),
        cwd: PROJECT.into(),
        project: None,
        kind: EventKind::UserMessage,
        role: Role::User,
        text: text.into(),
        tool: None,
        meta: serde_json::Map::new(),
    }
}

pub(crate) fn append(ledger: &Ledger, project: &str, draft: Draft) {
    let new = NewEvent::encode(draft, project.to_owned(), Millis(1));
    ledger.append(vec![new]).unwrap();
}

/// Records events from lines such as `s1 2026-03-02T09:00:00Z set up the parser`; the text is also
/// the id.
pub(crate) fn record_events(ledger: &Ledger, lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.splitn(3, ' ');
        let (session, time) = (words.next().unwrap(), words.next().unwrap());
        let text = words.next().unwrap();
        let mut draft = draft(&text.replace(' ', "-"), session, at(time), text);
        if text == "bye" {
            draft.kind = EventKind::SessionEnd;
        }
        append(ledger, PROJECT, draft);
    }
}

pub(crate) fn settings() -> ContentsSettings {
    ContentsSettings::in_zone(Zone::utc())
}

pub(crate) fn catch_up(ledger: &Ledger, settings: &ContentsSettings) -> ContentsCatchUpReport {
    catch_up_contents(ledger, settings, &EchoSummarizer, &Ticking::default()).unwrap()
}

/// The latest nodes of all projects and their grips, without fields that depend on history.
pub(crate) fn latest(ledger: &Ledger) -> BTreeMap<(String, NodeId), (Node, Vec<Grip>)> {
    let mut found = BTreeMap::new();
    for project in ledger.contents_projects().unwrap() {
        for head in ledger.node_headers(&project, "", None) {
            let head = head.unwrap();
            let Some(mut node) = ledger.node(&project, &head.id, None).unwrap() else {
                continue;
            };
            assert!(head.matches_node(&node), "{head:?} {node:?}");
            (node.version, node.made_at) = (0, Millis(0));
            let grips = node.grips();
            let grips = grips.map(|grip| ledger.grip(&project, grip).unwrap().unwrap());
            let grips = grips.collect();
            found.insert((project.clone(), head.id), (node, grips));
        }
    }
    found
}

/// One line per node: id, version, state, title.
pub(crate) fn shown(ledger: &Ledger, project: &str) -> String {
    let mut lines = String::new();
    for head in ledger.node_headers(project, "", None).map(Result::unwrap) {
        let state = match (head.removed, head.open) {
            (true, _) => "gone",
            (_, true) => "open",
            (_, false) => "closed",
        };
        let id = short(&head.id);
        writeln!(lines, "{id} v{} {state} {}", head.version, head.title).unwrap();
    }
    lines
}

/// An id without the hash at the end of a segment's.
pub(crate) fn short(id: &NodeId) -> &str {
    match id.level() {
        Level::Segment => id.as_str().rsplit_once(':').unwrap().0,
        _ => id.as_str(),
    }
}
